# Two commands for everybody: `make demo` and `make test`. Both set up what they need, with uv where it is there,
# else with venv and pip. The other two are for those who work on the code.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo test check bench docs clean

demo: $(VENV)/installed
	@$(BIN)/python examples/demo.py

test: $(VENV)/installed-dev check
	$(BIN)/python -m pytest -n auto --dist loadfile

# Formatting, lint, types, documentation.
check: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

# Speed and accuracy beside the peers; DATA is the folder of gold standards.
bench: $(VENV)/installed-dev
	$(BIN)/mainmatter bench speed --data $(DATA)
	$(BIN)/mainmatter evaluate density ice-baseline ice-elaborate ice-heuristic resiliparse trafilatura turbohtml \
		--on cleaneval-final --on wcxb-dev --on l3s-gn1 --on daniel-a --data $(DATA)

docs: $(VENV)/installed-dev
	$(BIN)/mkdocs serve

clean:
	rm -rf $(VENV) demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/installed: EXTRAS = eval,plot
$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(INSTALL)

$(VENV)/installed-dev: EXTRAS = dev
$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(INSTALL)
	@touch $(VENV)/installed

$(BIN)/python:
ifdef UV
	$(UV) venv --quiet $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif

ifdef UV
INSTALL = $(UV) pip install --quiet --python $(BIN)/python --editable '.[$(EXTRAS)]' && touch $@
else
INSTALL = $(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]' && touch $@
endif
