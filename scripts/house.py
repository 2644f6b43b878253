"""Measure the house: how much there is to know, how far a thing travels, which names mean two things; as Markdown.

python scripts/house.py                                   # this tree
python scripts/house.py --src ../before/src --src src     # a column for each tree, such as one of an earlier commit

What is counted: physical lines of .py files; the functions and files of mainmatter that run, by `sys.setprofile`, while
something is done a second time (`STATEMENTS`), or in all processes from the start of a command to its end (`COMMANDS`);
names that several classes of the source have; functions of a module whose name begins with `_` and that one place of
their file names; modules that one other module imports.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]

# What one reads in order to change `main`: the files of the root, and these packages as far as a tree has them. The
# second line is how they were called before the present layout.
CORE = ("html", "text", "render", "main", "inputs", "models")
CORE_BEFORE = ("features", "methods", "learners")
LEFT_OUT = ("html/browser",)  # pages laid out by Chromium: a study, and no part of the way of a page

# Two stores with five pages each: whoever runs `teach()` labels the pages of one, and teaches `main` with them.
_STORES = """
import mainmatter, tempfile
from click.testing import CliRunner
from mainmatter.cli import group
from mainmatter.records import Page
try:
    from mainmatter.workbench.labels import Label, Store
except ImportError:  # before the present layout
    from mainmatter.annotation import Label, Store

TEXT = "The ferry leaves from pier {0} at seven, and comes back as late as the tide of day {0} allows."
folder = tempfile.mkdtemp()
stores = [Store(f"{folder}/{number}.db") for number in range(2)]
for store in stores:
    for number in range(5):
        html = f"<ul><li><a href=/>Home</a></ul><p>{TEXT.format(number)}</p><p>All rights are reserved.</p>"
        store.add_page(Page(html, f"https://{number}.example/"), "house")

def teach():
    store = stores.pop()
    for page in store.pages():
        labels = {each.ref: Label("ferry" in each.block.text) for each in store.blocks(page.id)}
        store.set_labels(page.id, "Ada", labels)
        store.set_done(page.id, "Ada", True)
    arguments = ["teach", str(store.path), "-o", f"{store.path}-model", "-m", "main:epochs=1", "--no-points"]
    found = CliRunner().invoke(group, arguments)
    assert found.exit_code == 0, found.output
"""

# What is traced: how to get ready, and the statement that is run twice, the second time under the trace.
STATEMENTS = {
    "a page, by `clean(html).text`": (
        f"import mainmatter; page = open({str(ROOT / 'tests/pages/river.html')!r}, 'rb').read()",
        "mainmatter.clean(page).text",
    ),
    "a label to a model, from `Store.set_labels` to what `mainmatter teach` saves": (_STORES, "teach()"),
}
# Whole commands, of which child processes do most: what runs in any of them is counted, their starting included.
_SERVER = f"""
from pathlib import Path
from fastapi.testclient import TestClient
try:
    from mainmatter.workbench.app import make_app
    from mainmatter.workbench.settings import Settings
except ImportError:  # before the present layout
    from mainmatter.serve.app import make_app
    from mainmatter.serve.settings import Settings
with TestClient(make_app(Settings(folder=Path("labels"), workers=1)), base_url="http://127.0.0.1") as client:
    answer = client.post("/api/clean", json={{"html": Path({str(ROOT / "tests/pages/river.html")!r}).read_text()}})
    assert answer.status_code == 200, answer.text
"""
COMMANDS = {
    "one record in `mainmatter corpus`, in all processes": (
        "-m", "mainmatter", "corpus", str(ROOT / "tests/pages/river.html"), "-o", "out", "-j", "1",
    ),
    "one request to `/api/clean`, in all processes": ("-c", _SERVER),
}  # fmt: skip
# Python runs a file of this name when it starts, in child processes too.
_SITE_CUSTOMIZE = """
import os, sys, threading
seen, root, notes = set(), os.environ["TRACED"], os.environ["NOTES"]
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code not in seen and code.co_filename.startswith(root) and code.co_name != "<module>":
        seen.add(code)
        with open(notes, "a") as file:
            file.write(f"{code.co_filename.removeprefix(root)}\\t{code.co_qualname}\\t{code.co_firstlineno}\\n")
threading.setprofile(note)
sys.setprofile(note)
"""
_TRACE = """
import json, sys, threading
from pathlib import Path
{prelude}
root = str(Path(sys.modules["mainmatter"].__file__).parent) + "/"
{statement}
seen = set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root):
        seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))
threading.setprofile(note)
sys.setprofile(note)
{statement}
sys.setprofile(None)
print("\\n" + json.dumps([len(seen), sorted({{name.removeprefix(root) for name, _, _ in seen}})]))
"""


def trace(src: Path, prelude: str, statement: str) -> tuple[int, list[str]] | None:
    """How many functions of mainmatter something passes through, and of which files; None if it cannot be done."""
    code = _TRACE.format(prelude=prelude, statement=statement)
    environment = {**os.environ, "PYTHONPATH": str(src)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        click.echo(f"{src}: {run.stderr.strip().splitlines()[-1]}", err=True)
        return None
    functions, files = json.loads(run.stdout.splitlines()[-1])
    return functions, files


def trace_command(src: Path, arguments: Sequence[str]) -> tuple[int, list[str]] | None:
    """The same for a command, in whichever process something runs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(_SITE_CUSTOMIZE, "utf-8")
        notes = Path(folder, "notes")
        paths = {"PYTHONPATH": f"{folder}{os.pathsep}{src}", "TRACED": f"{src / 'mainmatter'}/", "NOTES": str(notes)}
        run = subprocess.run(
            [sys.executable, *arguments],
            env=os.environ | paths,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            click.echo(f"{src}: {run.stderr.strip().splitlines()[-1]}", err=True)
            return None
        functions = set(notes.read_text("utf-8").splitlines())
        return len(functions), sorted({line.partition("\t")[0] for line in functions})


def measure(src: Path) -> dict[str, str]:
    """All figures of a tree, by what they are."""
    package = src / "mainmatter"
    files = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}
    trees = {name: ast.parse(text) for name, text in files.items()}
    figures = {"source": _size(list(files.values()))}
    parts = CORE if (package / "main").is_dir() else (*CORE, *CORE_BEFORE)
    core = {
        name: text
        for name, text in files.items()
        if ("/" not in name or name.partition("/")[0] in parts) and not name.startswith(LEFT_OUT)
    }
    figures["to know in order to change `main`"] = _size(list(core.values()))
    for what, (prelude, statement) in STATEMENTS.items():
        traced = trace(src, prelude, statement)
        figures[what] = _passed(traced)
    for what, arguments in COMMANDS.items():
        figures[what] = _passed(trace_command(src, arguments))
    twice = classes_defined_twice(trees)
    figures["class names that mean two things"] = f"{len(twice)}" + (f": {', '.join(twice)}" if twice else "")
    once, private = private_functions_called_once(trees)
    figures["private functions called once"] = f"{once:,} of {private:,}"
    figures["modules imported by one other"] = f"{len(modules_imported_once(trees)):,} of {len(files):,}"
    return figures


def _passed(traced: tuple[int, list[str]] | None) -> str:
    return "-" if traced is None else f"{traced[0]:,} functions in {len(traced[1])} files"


def _size(texts: list[str]) -> str:
    return f"{sum(text.count(chr(10)) for text in texts):,} lines in {len(texts)} files"


def classes_defined_twice(trees: dict[str, ast.Module]) -> list[str]:
    """The names that several classes of the source have."""
    names = Counter(node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return sorted(name for name, count in names.items() if count > 1)


def private_functions_called_once(trees: dict[str, ast.Module]) -> tuple[int, int]:
    """How many private functions of a module one place of their file names, and how many there are."""
    once = private = 0
    for tree in trees.values():
        named = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        mine = [name for name in functions if name.startswith("_") and not name.endswith("__")]
        private += len(mine)
        once += sum(named[name] == 1 for name in mine)
    return once, private


def modules_imported_once(trees: dict[str, ast.Module]) -> list[str]:
    """The modules that exactly one other module imports, at its top or anywhere in it."""
    modules = {name: name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in trees}
    known = set(modules.values())
    importers: dict[str, set[str]] = {module: set() for module in known}
    for name, tree in trees.items():
        for node in ast.walk(tree):
            found = []
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                found = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for imported in found:
                module = imported.removeprefix("mainmatter.")
                if module != imported and module in known and module != modules[name]:
                    importers[module].add(name)
    return sorted(module for module, by in importers.items() if len(by) == 1)


@click.command(help=__doc__.split("\n\n", maxsplit=1)[0])
@click.option("--src", "sources", multiple=True, type=click.Path(exists=True, path_type=Path), help="A tree's src.")
@click.option("--files", is_flag=True, help="Name the files that each thing passes through, and nothing else.")
def main(sources: tuple[Path, ...], files: bool) -> None:
    """Measure the house."""
    trees = [path.resolve() for path in sources or (ROOT / "src",)]
    if files:
        for src in trees:
            for what, (prelude, statement) in STATEMENTS.items():
                traced = trace(src, prelude, statement)
                click.echo(f"{what}: {' '.join(traced[1]) if traced else '-'}")
        return
    columns = [measure(src) for src in trees]
    click.echo(f"| | {' | '.join(map(str, sources or ('src',)))} |")
    click.echo("| --- " * (1 + len(columns)) + "|")
    for what in columns[0]:
        click.echo(f"| {what} | {' | '.join(column[what] for column in columns)} |")


if __name__ == "__main__":
    main()
