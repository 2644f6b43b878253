"""Imports point one way, the parser has one door, and the core stays light (CONTRIBUTING.md, rules)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mainmatter

ROOT = Path(mainmatter.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# The layers of the house, which nothing else lists: a module imports from its own package and from what stands above it
# here. A new file or package of the root needs a place. The package never imports bench/ and reproduce/, which use it.
LAYERS: list[set[str]] = [
    {"compiled", "cython", "errors", "files"},
    {"isolation"},
    {"records"},
    {"limits", "models"},
    {"html"},
    {"inputs", "text"},
    {"render", "method"},
    {"papers"},
    {"main"},
    {"registry"},
    {"api"},
    {"lab"},
    {"corpus"},
    {"__init__"},
    {"workbench"},
    {"cli"},
    {"__main__"},
]
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}

# An Extraction renders itself: it looks its formats up by name, when asked, and cuts itself into chunks.
EXCEPTIONS = {("records", "registry"), ("records", "render")}

HEAVY = (
    "HanTa click cv2 datasketch fastapi fastwarc fsspec jinja2 lxml matplotlib mcp pandas playwright "
    "prometheus_client protego py3langid pyarrow pydantic pyspark rapidfuzz ray regex resiliparse scipy "
    "selectolax sklearn starlette tantivy trafilatura urllib3 uvicorn wordfreq"
).split()


def imported_modules(path: Path) -> list[str]:
    """The full names of all modules that a file imports, anywhere in it, for types or not."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            assert node.module is not None
            if node.module == "pickle" and [alias.name for alias in node.names] == ["PickleBuffer"]:
                continue  # which reads none
            if node.module == "mainmatter":  # a file or package of it, or what it offers itself
                found += [f"mainmatter.{alias.name}" if alias.name in LAYER else "mainmatter" for alias in node.names]
            else:
                found.append(node.module)
    return found


def part(module: str) -> str:
    """The file or package of mainmatter that a module belongs to."""
    steps = module.split(".")
    return steps[1] if len(steps) > 1 else "__init__"


def name_of(path: Path) -> str:
    return part(".".join(["mainmatter", *path.relative_to(ROOT).with_suffix("").parts]))


def test_the_files_are_found() -> None:
    assert len(FILES) > 30
    assert imported_modules(ROOT / "limits.py") == [
        "__future__",
        "dataclasses",
        "typing",
        "mainmatter.errors",
        "mainmatter.records",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    importer = name_of(path)
    assert importer in LAYER, f"give {importer} a place in LAYERS"
    for module in imported_modules(path):
        root = module.partition(".")[0]
        assert root not in ("bench", "reproduce"), f"{path.relative_to(ROOT)} must not import {module}"
        if root != "mainmatter":
            continue
        imported = part(module)
        if imported == importer or (importer, imported) in EXCEPTIONS:
            continue
        assert LAYER[imported] < LAYER[importer], f"{path.relative_to(ROOT)} must not import {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_one_file_names_the_parser(path: Path) -> None:
    names = {module.partition(".")[0] for module in imported_modules(path)}
    if path.relative_to(ROOT) == Path("html/parse.py"):
        assert "turbohtml" in names
    elif name_of(path) != "lab":  # there it is a peer
        assert "turbohtml" not in names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_have_no_names_that_say_nothing_and_read_no_pickles(path: Path) -> None:
    assert path.stem not in ("utils", "util", "helpers", "helper", "common", "misc", "base")
    names = {module.partition(".")[0] for module in imported_modules(path)}
    assert names.isdisjoint({"pickle", "marshal", "shelve", "dill", "cloudpickle"})


def loaded_after(code: str) -> set[str]:
    """The top-level modules that are loaded after some code ran in a new interpreter."""
    command = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_and_cleaning_load_nothing_heavy() -> None:
    loaded = loaded_after("import mainmatter\nmainmatter.clean")
    assert {"mainmatter", "numpy", "turbohtml"} <= loaded
    assert loaded.isdisjoint(HEAVY)
    page = "<h1>Title</h1><p>Some words of a text that is long enough, and a few more words.</p>"
    loaded = loaded_after(
        "import mainmatter\n"
        "from mainmatter.registry import FORMATS\n"
        "for method in mainmatter.method_names():\n"
        "    for format in FORMATS:\n"
        f"        mainmatter.clean({page!r}, method=method).render(format)\n"
    )
    assert loaded.isdisjoint(HEAVY)


def test_a_page_of_its_own_loads_no_method_that_is_not_asked_for() -> None:
    code = """
import mainmatter, sys
mainmatter.clean("x", method="density")
print(*(name for name in sys.modules if name.startswith(("mainmatter.papers.", "mainmatter.main"))))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {".".join(name.split(".")[:3]) for name in run.stdout.split()} == {"mainmatter.papers.density"}


@pytest.mark.parametrize("argument", ["", "--help", "--version"])
def test_help_waits_for_nothing_that_cleaning_needs(argument: str) -> None:
    code = "import mainmatter\n"
    if argument:
        code += f"from mainmatter.cli import group\ngroup([{argument!r}], standalone_mode=False)\n"
    loaded = loaded_after(code)
    assert "mainmatter" in loaded
    assert loaded.isdisjoint({"numpy", "turbohtml"})


def test_public_names_exist() -> None:
    assert len(set(mainmatter.__all__)) == len(mainmatter.__all__) <= 24
    assert {*mainmatter.__all__, "__version__"} <= {*dir(mainmatter)}
    assert all(hasattr(mainmatter, name) for name in mainmatter.__all__)
    assert mainmatter.records.Page is mainmatter.Page  # modules of the core can be used without importing them
    assert not hasattr(mainmatter, "nothing")
    assert mainmatter.__version__.count(".") == 2
