"""How many lines each part of the house has, beside its limit and the goal; tests/test_house.py holds the limits.

python scripts/size.py
python scripts/size.py --walks                                   # the way of a page, a record, a label, a request
python scripts/size.py --walks --src ../before/src --src src     # a column for each tree, such as an earlier one
python scripts/size.py --walks --files

A walk is the functions and files of mainmatter that run, by `sys.setprofile`, while something is done a second time
(`STATEMENTS`), or in all processes from the start of a command to its end (`COMMANDS`). After them come names that
several classes have, private functions that one place of their file calls, and modules that one other module imports.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Part:
    """A part of the house.

    Attributes:
        name: what it is called.
        places: its folders and files, below the root of the repository; "*.py" in one takes no subfolders.
        limit: how many lines its Python files may have. Lower it with the lines; raising it needs a line in
            docs/explanation/budgets.md that says what users get for it.
        goal: how many it is to have.
    """

    name: str
    places: tuple[str, ...]
    limit: int
    goal: int

    def lines(self) -> int:
        """The lines of its Python files, with docstrings and empty ones."""
        files = {
            file
            for place in self.places
            for file in (ROOT.glob(place) if "*" in place else (ROOT / place).rglob("*.py"))
        }
        return sum(file.read_bytes().count(b"\n") for file in files)


_CORE = ("*.py", "html", "text", "inputs", "render", "main", "models")
PARTS = (
    Part("core", tuple(f"src/mainmatter/{place}" for place in _CORE), 18_670, 13_500),
    Part("papers", ("src/mainmatter/papers",), 8_390, 6_500),
    Part("isolation", ("src/mainmatter/isolation",), 1_320, 1_000),
    Part("lab", ("src/mainmatter/lab",), 5_700, 3_650),
    Part("corpus", ("src/mainmatter/corpus",), 12_560, 6_000),
    Part("workbench", ("src/mainmatter/workbench",), 10_470, 6_000),
    Part("cli", ("src/mainmatter/cli",), 3_000, 2_000),
    Part("reproduce, bench", ("reproduce", "bench"), 9_480, 6_500),
    Part("tests", ("tests",), 58_720, 45_000),
    Part("scripts", ("scripts",), 5_050, 4_850),
)

# Two stores with five pages each: whoever runs `teach()` labels the pages of one, and teaches `main` with them.
_STORES = """
import mainmatter, tempfile
from click.testing import CliRunner
from mainmatter.cli import group
from mainmatter.records import Page
from mainmatter.workbench.labels import Label, Store

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
    "a page, by `clean(html).markdown`": (
        f"import mainmatter; page = open({str(ROOT / 'tests/pages/river.html')!r}, 'rb').read()",
        "mainmatter.clean(page).markdown",
    ),
    "a label to a model, from `Store.set_labels` to what `mainmatter teach` saves": (_STORES, "teach()"),
}
# Whole commands, of which child processes do most: what runs in any of them is counted, their starting included.
_SERVER = f"""
from pathlib import Path
from fastapi.testclient import TestClient
from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings
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
    """The walks of a tree and what its names say, by what they are."""
    files = sorted((src / "mainmatter").rglob("*.py"))
    trees = {path.relative_to(src / "mainmatter").as_posix(): ast.parse(path.read_text("utf-8")) for path in files}
    figures = {what: _passed(trace(src, *statements)) for what, statements in STATEMENTS.items()}
    figures |= {what: _passed(trace_command(src, arguments)) for what, arguments in COMMANDS.items()}
    figures["class names that mean two things"] = ", ".join(classes_defined_twice(trees)) or "0"
    once, private = private_functions_called_once(trees)
    figures["private functions called once"] = f"{once:,} of {private:,}"
    figures["modules imported by one other"] = f"{len(modules_imported_once(trees)):,} of {len(files):,}"
    return figures


def _passed(traced: tuple[int, list[str]] | None) -> str:
    return "-" if traced is None else f"{traced[0]:,} functions in {len(traced[1])} files"


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
@click.option("--walks", is_flag=True, help="Instead, how many functions and files things pass through.")
@click.option("--src", "sources", multiple=True, type=click.Path(exists=True, path_type=Path), help="A tree's src.")
@click.option("--files", is_flag=True, help="With --walks: name the files, and nothing else.")
def main(walks: bool, sources: tuple[Path, ...], files: bool) -> None:
    """Print the lines of each part, or the walks."""
    if (sources or files) and not walks:
        raise click.UsageError("--src and --files go with --walks")
    if not walks:
        click.echo(f"{'':18}{'lines':>8}{'limit':>8}{'goal':>8}")
        for part in PARTS:
            click.echo(f"{part.name:18}{part.lines():8,}{part.limit:8,}{part.goal:8,}")
        return
    trees = [path.resolve() for path in sources or (ROOT / "src",)]
    if files:
        for src in trees:
            for what, statements in STATEMENTS.items():
                traced = trace(src, *statements)
                click.echo(f"{what}: {' '.join(traced[1]) if traced else '-'}")
        return
    columns = [measure(src) for src in trees]
    click.echo(f"| | {' | '.join(map(str, sources or ('src',)))} |")
    click.echo("| --- " * (1 + len(columns)) + "|")
    for what in columns[0]:
        click.echo(f"| {what} | {' | '.join(column[what] for column in columns)} |")


if __name__ == "__main__":
    main()
