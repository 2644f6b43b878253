# Two commands for everybody: `make demo` and `make test`. Both set up what they need, with uv where it is there,
# else with venv and pip. The others are for those who work on the code.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
# Compiles what changed since it was compiled; installing has done so before.
COMPILE = $(BIN)/python hatch_build.py
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo test test-fast test-slow coverage chromium test-integrations test-libraries test-pipelines check check-python check-scripts check-docs dist bench quality \
	models results results-papers results-accuracy results-speed results-fidelity results-robustness results-teaching docs clean fuzz lock image

demo: $(VENV)/installed
	@$(COMPILE)
	@$(BIN)/python examples/demo.py

test: $(VENV)/installed-dev chromium check
	$(COMPILE)
	$(BIN)/python -m pytest -n auto --dist loadfile

# The core alone, without a browser, in less than a minute on two cores: what reads pages, judges them and writes them.
CORE_TESTS := tests/html tests/text tests/render tests/main tests/contract tests/test_clean.py tests/test_errors.py tests/test_imports.py \
	tests/test_registry.py
test-fast: $(VENV)/installed-dev
	$(COMPILE)
	$(BIN)/python -m pytest -q -n auto --dist loadfile --ignore tests/html/browser $(CORE_TESTS)

# What nobody waits for, by CI each night: hostile pages at their full size, kills in a row, licences, and an hour of fuzzing. One test has
# pip resolve an extra, and is skipped without a package registry.
test-slow: $(VENV)/installed-dev
	$(COMPILE)
	$(BIN)/python -m pytest -n auto --dist loadfile tests/slow
	$(MAKE) fuzz SECONDS=3600

# Which lines the tests run: a table here, pages under COVERAGE. TESTS=tests/html measures what the tests of one folder run.
COVERAGE ?= $(VENV)/coverage
TESTS ?= tests
coverage: export COVERAGE_FILE = $(abspath $(COVERAGE))/data
coverage: export MAINMATTER_PURE = 1 # lines of compiled code are not counted
coverage: $(VENV)/installed-dev chromium
	rm -rf $(COVERAGE)
	$(BIN)/python -m pytest -n auto --dist loadfile --cov --cov-report term --cov-report markdown:$(COVERAGE)/report.md \
		--cov-report html:$(COVERAGE)/html $(TESTS)

# What renders pages and runs the tests of the workbench: Debian's Chromium, where it is missing and may be installed.
chromium: | $(BIN)/python
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing chromium" && \
		(timeout 60 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 240 apt-get install -y -qq chromium) \
			>$(VENV)/chromium.log 2>&1; \
	} || echo "Chromium is not here and could not be installed: tests that need a browser will be skipped"

test-integrations: test-libraries test-pipelines

# Engines, S3, peers and libraries that read our corpora or call us: 1.5 GB more in $(VENV); Spark needs Java. What is skipped is shown.
PIPELINES := dolma llama_index nemo_curator
test-libraries: $(VENV)/installed-integrations
	$(COMPILE)
	$(BIN)/python -m pytest -n auto --dist loadfile $(PIPELINES:%=--ignore tests/integrations/adapters/test_%.py) tests/integrations

# dolma and NeMo Curator (6 GB) pin other versions than ours, and LlamaIndex brings many packages: their tests run in environments of
# their own; needs uv.
test-pipelines: $(VENV)-dolma/installed $(VENV)-llama-index/installed $(VENV)-nemo/installed
	$(VENV)-dolma/bin/python -m pytest -q tests/integrations/adapters/test_dolma.py
	$(VENV)-llama-index/bin/python -m pytest -q tests/integrations/adapters/test_llama_index.py
	$(VENV)-nemo/bin/python -m pytest -q tests/integrations/adapters/test_nemo_curator.py

# Formatting, lint, types. The documentation is built by itself, since that needs an environment of its own.
check: check-python check-scripts

check-python: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check-docs: $(VENV)-docs/installed
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/mkdocs build --strict --site-dir $(VENV)-docs/site 2>$(VENV)-docs/log || (cat $(VENV)-docs/log; false)

# Types of the workbench's scripts (tsconfig.json), by npm's TypeScript, which is kept in the environment.
TYPESCRIPT := 7.0.2
TSC := $(VENV)/typescript-$(TYPESCRIPT)/node_modules/.bin/tsc
check-scripts: | $(BIN)/python
	@unchecked() { echo "The workbench's scripts were not type-checked: $$1"; exit 0; }; \
	command -v node >/dev/null && command -v npm >/dev/null || unchecked "node and npm are not here"; \
	$(TSC) --version >/dev/null 2>&1 || { npm install --prefix $(VENV)/typescript-$(TYPESCRIPT) --no-save --no-package-lock \
		--ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries 1 --fetch-retry-mintimeout 1000 typescript@$(TYPESCRIPT) && \
		$(TSC) --version; } >$(VENV)/typescript.log 2>&1 || \
		unchecked "npm did not install typescript $(TYPESCRIPT): $$(grep -m 1 -i err $(VENV)/typescript.log)"; \
	echo $(TSC) --project tsconfig.json; $(TSC) --project tsconfig.json

# What a release uploads beside compiled wheels (.github/workflows/wheels.yml), in dist/: the source distribution, and a wheel in pure
# Python. Both are checked, and installed in environments of their own, where they clean a page; the source is compiled there if it can be.
# dist/sbom.cdx.json lists what the wheel brings with it (CycloneDX); writing it checks it against its schema.
dist: $(VENV)-dist/installed
	rm -rf dist $(VENV)-dist/from-*
	MAINMATTER_PURE=1 $(VENV)-dist/bin/python -m build --no-isolation --outdir dist
	$(VENV)-dist/bin/python -m twine check --strict dist/*
	@set -e; for file in dist/*; do \
		venv=$(VENV)-dist/from-$${file##*.}; $(PYTHON) -m venv --without-pip $$venv; \
		$(VENV)-dist/bin/python -m pip --python $$venv/bin/python install --quiet $$file; \
		echo "$$file"; $$venv/bin/python -I scripts/smoke.py; \
	done
	$(VENV)-dist/bin/cyclonedx-py environment --mc-type library --pyproject pyproject.toml --output-reproducible --output-file dist/sbom.cdx.json \
		$(VENV)-dist/from-whl

# Mutated inputs for everything that reads what strangers wrote. REPLAY=FILE reads one again that showed a bug.
SECONDS ?= 60
fuzz: $(VENV)/installed-dev
	$(COMPILE)
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(REPLAY),--replay $(REPLAY),--seconds $(SECONDS) $(TARGETS))

# The images of the Dockerfile, built and tried.
IMAGE := docker run --rm --volume "$(CURDIR)/examples:/data:ro"
image:
	docker build --target corpus --tag mainmatter:corpus .
	docker build --tag mainmatter .
	$(IMAGE) mainmatter:corpus --version | grep -F '(compiled)'
	$(IMAGE) mainmatter:corpus clean site/de/nebelhorn.html | grep -m 1 Nebelhorn
	$(IMAGE) mainmatter:corpus corpus crawl.warc.gz --output /tmp/corpus
	@set -e; container=$$(docker run --detach --rm --env MAINMATTER_TOKEN=only-a-trial mainmatter); \
	trap "docker stop $$container >/dev/null" EXIT; \
	for second in $$(seq 90); do \
		health=$$(docker inspect --format '{{.State.Health.Status}}' $$container); \
		test "$$health" = healthy && echo "the server is healthy after $$second s" && exit; sleep 1; \
	done; \
	docker logs $$container; echo "the server is $$health"; exit 1

# Speed, memory and accuracy beside the peers; DATA is the folder of gold standards, BENCH gets tables and plots.
BENCH ?= $(VENV)/bench
bench: $(VENV)/installed-integrations
	$(COMPILE)
	$(BIN)/python -m bench speed --data $(DATA)
	$(BIN)/python -m bench speed --profile --data $(DATA)
	$(BIN)/python -m bench speed --workers 2 --data $(DATA)
	$(BIN)/python -m bench speed --threads 2 --data $(DATA)
	$(BIN)/python -m bench memory --data $(DATA)
	$(BIN)/python -m bench accuracy --data $(DATA) -o $(BENCH)

# The pages that we wrote, and the floors under the figures.
quality: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q tests/quality tests/bench/test_gate.py
	$(BIN)/python -m bench gate --data $(DATA) check

# Train the models that ship.
MODELS := src/mainmatter/models
# cleaneval-dev is free for research only: the presets of the papers alone may learn from it.
SMALL_SETS := --on readability --data $(DATA)
HOUSE_SETS := --on house-a --on house-wcxb --on fundus-a --on magic-a --on forum52-a --on zh-news-a
ALL_SETS := $(SMALL_SETS) --on wcxb-dev $(HOUSE_SETS)
# `ncleaner` is measured on wcxb-dev, whose pages house-wcxb has, and `fiasco` on the Chinese pages of magic-a and zh-news-a.
FOR_NCLEANER := $(SMALL_SETS) --on house-a --on fundus-a --on magic-a --on forum52-a --on zh-news-a
FOR_FIASCO := $(SMALL_SETS) --on wcxb-dev --on house-a --on house-wcxb --on fundus-a --on forum52-a
# `--pages` limits, for each set, the size of the n-gram models and the time that the search of `ice-regex` takes, which would be hours.
models: $(VENV)/installed-dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/mainmatter train main:seed=1 --from-scratch $(HOUSE_SETS) $(SMALL_SETS) --on wcxb-dev -o $(MODELS)/main
	$(BIN)/python scripts/digests.py models
	OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/make_rehearsal.py --data $(DATA)
	$(BIN)/mainmatter train ncleaner $(FOR_NCLEANER) --pages 60 --valid wcxb-dev -o $(MODELS)/ncleaner
	$(BIN)/mainmatter train ncleaner:lexical=False $(FOR_NCLEANER) --pages 60 --valid wcxb-dev -o $(MODELS)/ncleaner-non-lexical
	$(BIN)/mainmatter train ncleaner:preset=paper --on cleaneval-dev $(SMALL_SETS) --valid wcxb-dev -o $(MODELS)/ncleaner-paper
	$(BIN)/mainmatter train ncleaner:preset=paper,lexical=False --on cleaneval-dev $(SMALL_SETS) --valid wcxb-dev -o $(MODELS)/ncleaner-paper-non-lexical
	$(BIN)/mainmatter train fiasco $(FOR_FIASCO) -o $(MODELS)/fiasco
	$(BIN)/mainmatter train fiasco:preset=paper --labels dice --on cleaneval-dev --data $(DATA) -o $(MODELS)/fiasco-paper
	$(BIN)/mainmatter train ice-tree $(ALL_SETS) -o $(MODELS)/ice-tree
	$(BIN)/mainmatter train ice-lm $(ALL_SETS) -o $(MODELS)/ice-lm
	$(BIN)/mainmatter train ice-regex:seed=2 $(SMALL_SETS) --on wcxb-dev --pages 150 -o $(MODELS)/ice-regex
	$(BIN)/mainmatter train ice-tree:preset=paper --on cleaneval-dev --data $(DATA) -o $(MODELS)/ice-tree-paper
	$(BIN)/mainmatter train ice-lm:preset=paper --on cleaneval-dev --data $(DATA) -o $(MODELS)/ice-lm-paper
	$(BIN)/mainmatter train ice-regex:preset=paper --on cleaneval-dev --no-check --data $(DATA) -o $(MODELS)/ice-regex-paper
	$(BIN)/python scripts/digests.py models

# Redo what docs/results/index.md reports, half a day on two cores. The papers' pages go into docs/results, tables and pictures of the
# others into RESULTS; the rest is printed. It reads the sets for tests only: do it when all choices are made, and choose nothing by it.
RESULTS ?= $(VENV)/results
results: results-papers results-accuracy results-speed results-fidelity results-robustness

# Two hours.
results-papers: $(VENV)/installed-dev
	$(BIN)/python -m reproduce --all --data $(DATA) -o docs/results
	$(BIN)/python -m reproduce --index

# Hours: `main` is trained five times, three other methods three times each, and ten tools read some 8,000 pages. On sets that a method has
# learned from, its figures are those of the cross-validation.
results-accuracy: $(VENV)/installed-integrations
	mkdir -p $(RESULTS)
	$(BIN)/python scripts/cross_validate.py main --data $(DATA) --save $(RESULTS)/folds -o $(RESULTS)/main.json
	$(BIN)/python scripts/cross_validate.py fiasco ice-lm ice-tree --folds 3 --data $(DATA) -o $(RESULTS)/papers.json
	$(BIN)/python -m bench accuracy --test-sets --data $(DATA) -o $(RESULTS)
	$(BIN)/mainmatter evaluate main trafilatura turbohtml --on wcxb-dev --metric metadata --data $(DATA)

results-speed: CRAWL = $(RESULTS)/crawl.warc.gz
results-speed: $(VENV)/installed-integrations
	mkdir -p $(RESULTS)
	$(BIN)/python -m bench speed --data $(DATA)
	$(BIN)/python -m bench speed --profile --data $(DATA)
	$(BIN)/python -m bench speed --workers 2 --data $(DATA)
	$(BIN)/python scripts/make_crawl.py --data $(DATA) --on wcxb-dev --on trafilatura-eval-a --on readability --pages 2000 -o $(CRAWL)
	$(BIN)/python -m bench corpus $(CRAWL) -j 1

results-fidelity: $(VENV)/installed-integrations
	$(BIN)/python -m bench fidelity --data $(DATA) -o $(RESULTS)

# Hostile pages, and a corpus that is killed again and again.
results-robustness: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q -rP tests/slow/test_hostile.py
	$(BIN)/python scripts/kill_test.py examples/crawl.warc.gz --kills 20 --seed 5 --shard-size 4

# Many hours, so by itself: 66 trials, and simulated annotators.
results-teaching: $(VENV)/installed-dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/teaching_curve.py run --data $(DATA) --work $(RESULTS)/teaching
	OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/teaching_curve.py report --work $(RESULTS)/teaching
	OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/simulate_annotator.py --data $(DATA) --work $(RESULTS)/annotators

docs: $(VENV)-docs/installed
	$(VENV)-docs/bin/mkdocs serve

clean:
	rm -rf $(VENV) $(VENV)-dist $(VENV)-docs $(VENV)-dolma $(VENV)-llama-index $(VENV)-nemo dist demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis

# What `make demo` and `make test` install: first the packages, then mainmatter, whose hot modules are compiled meanwhile. What pip and uv
# print goes into a log, and is shown if they fail. Bytecode is written for what is imported, not for all that is installed.
QUIETLY = >$(VENV)/install.log 2>&1 || { cat $(VENV)/install.log; exit 1; }
ifdef UV
PIP_INSTALL = $(UV) pip install --python $(BIN)/python
else
PIP_INSTALL = $(BIN)/python -m pip install --no-compile --disable-pip-version-check
endif

$(VENV)/installed: EXTRAS = corpus search
$(VENV)/installed: ABOUT = 400 MB
$(VENV)/installed-dev: EXTRAS = dev
$(VENV)/installed-dev: ABOUT = 1.1 GB
$(VENV)/installed-integrations: EXTRAS = integrations
$(VENV)/installed-integrations: ABOUT = 2.6 GB
$(VENV)/installed-integrations: | $(VENV)/installed-dev
$(VENV)/installed $(VENV)/installed-dev $(VENV)/installed-integrations: pyproject.toml hatch_build.py | $(BIN)/python
	@echo "installing the packages that are needed for this into $(VENV), $(ABOUT)"
	@$(BIN)/python scripts/requirements_of.py $(EXTRAS) >$(VENV)/requirements.txt
	@$(PIP_INSTALL) --requirement $(VENV)/requirements.txt $(QUIETLY)
	@$(BIN)/python -c 'import hatch_build; hatch_build.announce()'
	@$(PIP_INSTALL) --no-deps --editable . $(QUIETLY)
	@touch $(VENV)/installed $@

$(VENV)-dist/installed: requirements/build.txt requirements/release.txt
	$(PYTHON) -m venv --clear $(VENV)-dist
	$(VENV)-dist/bin/python -m pip install --quiet --require-hashes -r requirements/build.txt -r requirements/release.txt && touch $@

# Choose the versions of what builds and releases anew, with the digests of all their files; needs uv.
LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --upgrade
lock:
	$(LOCK) requirements/build.in -o requirements/build.txt
	$(LOCK) requirements/release.in -o requirements/release.txt

$(VENV)-docs/installed: pyproject.toml scripts/requirements_of.py
	$(PYTHON) -m venv --clear $(VENV)-docs
	$(PYTHON) scripts/requirements_of.py docs >$(VENV)-docs/requirements.txt
	$(VENV)-docs/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --requirement $(VENV)-docs/requirements.txt && touch $@

# dolma needs urllib3 before 2, we a later one, for URLs alone: so it gets none of our dependencies but the parser.
$(VENV)-dolma/installed: pyproject.toml
	$(UV) venv --quiet --clear --python 3.11 $(VENV)-dolma
	$(UV) pip install --quiet --python $(VENV)-dolma/bin/python 'dolma[warc]==1.2.1' dateparser turbohtml hypothesis pytest
	$(UV) pip install --quiet --python $(VENV)-dolma/bin/python --no-deps --editable . && touch $@

$(VENV)-llama-index/installed: pyproject.toml
	$(UV) venv --quiet --clear $(VENV)-llama-index
	$(UV) pip install --quiet --python $(VENV)-llama-index/bin/python 'llama-index-core==0.14.25' hypothesis pytest --editable . && touch $@

$(VENV)-nemo/installed: pyproject.toml
	$(UV) venv --quiet --clear --python 3.11 $(VENV)-nemo
	$(UV) pip install --quiet --python $(VENV)-nemo/bin/python 'nemo-curator[text_cpu]==1.4.0' hypothesis pytest --editable . && touch $@

$(BIN)/python:
	@echo "creating the environment $(VENV)"
ifdef UV
	@$(UV) venv --quiet --seed $(VENV)
else
	@$(PYTHON) -m venv $(VENV)
endif
