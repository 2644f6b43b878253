"""Change one thing in the source, run the tests that belong to it, and see whether one of them fails.

python scripts/mutate.py --constants-only                 # all packages of `PACKAGES`
python scripts/mutate.py --only 'html/*' --limit 40 --seed 1
python scripts/mutate.py --again earlier.txt              # only what survived, by the output of an earlier run
python scripts/mutate.py --only 'lab/training/examples.py' --list

A mutant that no test kills stands for a rule that could be changed without anybody noticing. Mutations, one at a time:

constant    a number in a module-level UPPER_CASE assignment, or the default of a field or parameter, a little lower and
            a little higher: by one, from 100 on and for fractions by a tenth
literal     a number that something is compared with, likewise, but never below zero
compare     < to <=, == to !=, `in` to `not in`, and so on
boolean     `and` to `or` and back
not         `not x` to `x`

Each mutant is tested in a copy of src by the tests that belong to its module: tests/a/test_b.py for a/b.py, or what
`TESTS` says. Tests that need the gold standards are left out. Exit status: 0 if all mutants were killed, 1 if some
survived, 2 if the tests fail without any mutation.

Why not mutmut? Version 3.8 puts the mutants of a function beside it and chooses one while the tests run. So it sees
function bodies alone: of `_CHANCE = 0.3`, of a dataclass's `dial: float = 0.5` and of functions with a decorator, such
as properties, it makes no mutant, and thresholds are what we want to hold. Of the rest it would make many thousands,
each tested by all tests that reach it, here mostly tests of whole pages. What it does well, we do too: pytest and the
libraries are imported once, and a child process is forked for each mutant, which saves some seconds each.
"""

from __future__ import annotations

import ast
import compileall
import contextlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "mainmatter"

# The layout, in one place: which files are mutated, by package, and which tests belong to a file where they are not
# where the names say. The first pattern that fits counts.
PACKAGES = {
    "main": ("main/*.py",),
    "papers": (
        "papers/*/method.py",
        "papers/ice/baseline.py",
        "papers/ice/elaborate.py",
        "papers/ice/heuristic.py",
        "papers/ice/lm.py",
        "papers/ice/regex.py",
        "papers/ice/tree.py",
        "papers/template/site_*.py",
    ),
    "html": ("html/*.py",),
    "text": ("text/*.py",),
    "training": ("lab/training/examples.py", "lab/training/train.py"),
    "core": ("method.py",),
}
_METADATA = ("html/test_metadata_limits.py", "html/test_metadata.py")
_SCRIPTED = ("html/test_scripted_limits.py", "html/test_scripted.py")
TESTS = {
    "main/method.py": ("main/test_main_thresholds.py", "main/test_main*.py"),
    "main/choice.py": ("main/test_choice*.py", "main/test_main_thresholds.py", "main/test_main.py"),
    "main/dumps.py": ("main/test_main_dumps.py",),
    "main/examples.py": ("main/test_examples.py", "main/test_main*.py"),
    "main/features.py": ("main/test_features*.py", "main/test_reasons.py"),
    "main/names.py": ("main/test_names*.py",),
    "main/net.py": ("main/test_net.py", "main/test_training.py"),
    "main/reasons.py": ("main/test_reasons.py", "main/test_choice_controls.py", "main/test_site.py"),
    "main/training.py": ("main/test_training.py", "main/test_main_thresholds.py"),
    "papers/ice/lm.py": ("papers/ice/test_ice_lm*.py",),
    "papers/ice/tree.py": ("papers/ice/test_ice_tree*.py",),
    "papers/ncleaner/method.py": ("papers/ncleaner/test_ncleaner.py", "papers/ncleaner/test_ncleaner_shipped.py"),
    "papers/template/site_counts.py": ("papers/template/test_site_counts.py", "papers/template/test_template.py"),
    "html/declared.py": _METADATA,
    "html/metadata.py": _METADATA,
    "html/scripted.py": _SCRIPTED,
    "html/parse.py": ("html/test_parse.py", "html/test_segment*.py"),
    "render/build.py": ("render/test_build.py",),
    "html/read.py": ("html/test_read*.py", "html/test_segment.py", "html/test_scripted.py"),
    "html/robots.py": ("html/test_robots.py", "corpus/test_filters.py"),
    "html/segment.py": ("html/test_segment*.py", "render/test_build.py"),
    "text/tokens.py": ("text/test_tokens*.py", "lab/training/test_dice.py"),
    "method.py": ("test_method.py", "main/test_choice_controls.py", "papers/ice/test_ice_lm.py"),
    "lab/training/examples.py": (
        "lab/training/test_align.py",
        "lab/training/test_dice.py",
        "lab/training/test_labels_to_examples.py",
    ),
}

# Numbers that decide how fast something is done, or in how much memory, and nothing else: tests hold that results are
# the same on small and on large pages, and no test can tell these numbers.
SPEED_ONLY = {
    "_CELLS": "rows of a table that is filled at once, as many as fit into the processor's cache",
    "_FIRST_LOOK": "how many subtrees are compared before all others",
    "_LARGEST_PRODUCT": "the size of the tiles of a product of matrices",
    "_MANY_ROWS": "from here on equal rows are judged once",
    "_MOST_ROWS_AT_ONCE": "the size of the tiles of a product of matrices",
    "_ROWS_AS_ONE": "how many rows are added up as one",
    "_BLOCKS_AT_ONCE": "how many blocks are looked at at once",
    "workers": "how many processes share the work",
}

# Mutants that no test can kill, since they do the same: the line, what becomes of it, and why that is no difference.
SAME_BEHAVIOUR: dict[tuple[str, str], str] = {
    ("and right[0] > left[0] + left[2]", "and right[0] >= left[0] + left[2]"): (
        "of runs that touch each other it moves words from one to the other, each to where it stands already"
    ),
    (
        '_FIELD, _FULL = np.dtype("<u2"), 0x10000 # a field of the sums, and what it cannot count',
        '_FIELD, _FULL = np.dtype("<u2"), 58982 # a field of the sums, and what it cannot count',
    ): "long texts are counted in the slower way a little earlier",
    (
        "if len(encoded) == 2 * len(text):",
        "if len(encoded) == 1 * len(text):",
    ): "all texts are encoded in the slower way",
    ("_LEVELS_OF_HEADINGS = 7 # 0 is no heading", "_LEVELS_OF_HEADINGS = 8 # 0 is no heading"): (
        "the table of looks has a row more, for a level that no heading has"
    ),
    (
        "if 2 * len(line) <= letters or (line.isascii() and len(line) < letters + self.min_words):",
        "if 3 * len(line) <= letters or (line.isascii() and len(line) < letters + self.min_words):",
    ): "more lines are counted that are too short",
    (
        "FIRST_YEAR, LAST_YEAR = 1990, 2099 # outside are placeholders such as 0001-01-01 and 1970-01-01",
        "FIRST_YEAR, LAST_YEAR = 1990, 2308 # outside are placeholders such as 0001-01-01 and 1970-01-01",
    ): "no pattern finds a year from 2100 on",
    (
        'yield as_markup(value) if level < 2 else f"<ul><li>{as_markup(value)}</ul>"',
        'yield as_markup(value) if level < 1 else f"<ul><li>{as_markup(value)}</ul>"',
    ): "at the first level there are items, not texts",
    **dict.fromkeys(
        (
            ('_INLINE_MOVE: _Move = (_INLINE, b"", 0)', '_INLINE_MOVE: _Move = (_INLINE, b"", 1)'),
            ('_SKIP_MOVE: _Move = (_SKIP, b"", 0)', '_SKIP_MOVE: _Move = (_SKIP, b"", 1)'),
            ('"template": (_TEMPLATE_IN_FORMULA, b"", 0),', '"template": (_TEMPLATE_IN_FORMULA, b"", 1),'),
            ('_MOVE_IN_FORMULA: _Move = (_IN_FORMULA, b"", 0)', '_MOVE_IN_FORMULA: _Move = (_IN_FORMULA, b"", 1)'),
        ),
        "the number of a tag is asked of elements that hold blocks alone",
    ),
    ("if blank_lines > 1:", "if blank_lines > 0:"): "of one blank line, one less is nothing to add",
    **{
        (
            "threshold_: tuple[float, float] = field(init=False, repr=False, default=(0.0, 0.0))",
            f"threshold_: tuple[float, float] = field(init=False, repr=False, default={other})",
        ): "whoever has models to judge by has a threshold of its own, learned or restored with them"
        for other in ("(1, 0.0)", "(0.0, 1)")
    },
}

# Imported before forking; what of it is not installed is not needed.
_LIBRARIES = (
    "hypothesis",
    "hypothesis.strategies",
    "numpy",
    "pyarrow",
    "rapidfuzz.distance",
    "scipy.stats",
    "turbohtml",
)
_OPERATORS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_CONSTANTS = ("constant", "literal")
_LARGE = 100  # from here on, numbers are changed by a tenth and not by one
_LEAST_TIME = 20.0  # seconds


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the bytes from `start` to `end` become `text`."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    text: str

    def mutate(self, source: bytes) -> bytes:
        """The source with this change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def lines(self, source: bytes) -> tuple[str, str]:
        """The line that is changed, before and after."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end)
        before = source[first:last].decode()
        after = self.mutate(source)[first : last + len(self.text.encode()) - (self.end - self.start)].decode()
        return " ".join(before.split()), " ".join(after.split())


class _Finder(ast.NodeVisitor):
    """All mutants of a file."""

    def __init__(self, file: str, source: bytes) -> None:
        self.mutants: list[Mutant] = []
        self._file, self._source = file, source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def find(self) -> list[Mutant]:
        tree = ast.parse(self._source)
        for statement in tree.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and _is_constant(statement):
                self._change_numbers(statement.value, "constant")
        self.visit(tree)
        return sorted(set(self.mutants), key=lambda mutant: (mutant.start, mutant.end, mutant.kind, mutant.text))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and _names(statement).isdisjoint(SPEED_ONLY):
                self._change_numbers(statement.value, "constant")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for name, default in _defaults(node.args):
            if name not in SPEED_ONLY:
                self._change_numbers(default, "constant")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            old, new = _OPERATORS[type(operator)]
            start, end = self._end(left), self._start(right)
            pattern = re.escape(old.encode()).replace(rb"\ ", rb"\s+")
            if found := re.search(pattern, self._source[start:end]):
                self._add(node, "compare", start + found.start(), start + found.end(), new)
            if isinstance(operator, _ORDERS):
                for side in (left, right):
                    self._change_numbers(side, "literal")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = " or " if isinstance(node.op, ast.And) else " and "
        parts = [f"({self._text(value)})" for value in node.values]
        self._add(node, "boolean", self._start(node), self._end(node), f"({word.join(parts)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, "not", self._start(node), self._end(node), f"({self._text(node.operand)})")
        self.generic_visit(node)

    def _change_numbers(self, tree: ast.expr | None, kind: str) -> None:
        """Change the numbers of an expression: of a comparison those that are compared themselves."""
        for node, value in _numbers(tree, deep=kind == "constant") if tree is not None else ():
            for text in _other_numbers(value, kind):
                self._add(node, kind, self._start(node), self._end(node), text)

    def _add(self, node: ast.expr, kind: str, start: int, end: int, text: str) -> None:
        self.mutants.append(Mutant(self._file, node.lineno, kind, start, end, text))

    def _text(self, node: ast.expr) -> str:
        return self._source[self._start(node) : self._end(node)].decode()

    def _start(self, node: ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset


def _names(statement: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _is_constant(statement: ast.Assign | ast.AnnAssign) -> bool:
    """Whether an assignment gives names in upper case, and none of them decides about speed alone."""
    names = _names(statement)
    is_upper = bool(names) and all(re.fullmatch(r"_*[A-Z][A-Z0-9_]*", name) for name in names)
    return is_upper and names.isdisjoint(SPEED_ONLY)


def _defaults(given: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have a default, and what it is."""
    positional = [*given.posonlyargs, *given.args]
    for argument, default in zip(reversed(positional), reversed(given.defaults), strict=False):
        yield argument.arg, default
    for argument, keyword_default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if keyword_default is not None:
            yield argument.arg, keyword_default


def _numbers(tree: ast.expr, *, deep: bool) -> Iterator[tuple[ast.Constant, float]]:
    """The numbers in an expression; unless deep, those that are part of a sum, a product or a minus sign alone.

    Not those that count or name things: a subscript, the arguments of `range` and of regular expressions' functions.
    """
    if isinstance(tree, ast.Constant):
        if isinstance(tree.value, int | float) and not isinstance(tree.value, bool):
            yield tree, tree.value
        return
    called = ast.unparse(tree.func).rpartition(".")[2] if isinstance(tree, ast.Call) else ""
    if isinstance(tree, ast.Subscript) or called in ("range", "enumerate", "compile"):
        return
    if deep or isinstance(tree, ast.BinOp | ast.UnaryOp):
        for child in ast.iter_child_nodes(tree):
            if isinstance(child, ast.expr | ast.keyword):
                yield from _numbers(child.value if isinstance(child, ast.keyword) else child, deep=deep)


def _other_numbers(value: float, kind: str) -> list[str]:
    """What a number is changed to. Nothing is less than none: beyond zero `compare` finds out enough."""
    if value == 0:
        return ["1"]
    if isinstance(value, int) and abs(value) < _LARGE:
        others: list[float] = [value - 1, value + 1]
    elif isinstance(value, int):
        others = [value * 9 // 10, value * 11 // 10]
    else:
        others = [float(f"{value * 0.9:.6g}"), float(f"{value * 1.1:.6g}")]
    return [f"{other!r}" if other >= 0 else f"({other!r})" for other in others if kind == "constant" or other >= 0]


def find_mutants(file: str, source: bytes) -> list[Mutant]:
    """All mutants of one file, in the order of their places."""
    return _Finder(file, source).find()


def tests_of(file: str) -> list[str]:
    """The tests that belong to a module: its own ones, else those of its folder.

    Names of tests may have that of their folder before them: tests/papers/ice/test_ice_tree.py, and test_fiasco.py for
    papers/fiasco/method.py.
    """
    tests = ROOT / "tests"
    for pattern, paths in TESTS.items():
        if _fits(file, pattern):
            return list(dict.fromkeys(str(found) for path in paths for found in sorted(tests.glob(path))))
    folder, name = tests / Path(file).parent, Path(file).stem
    names = (name, f"{folder.name}_{name}", folder.name if name == "method" else name)
    own = [folder / f"test_{name}.py" for name in dict.fromkeys(names)]
    return [str(path) for path in own if path.exists()] or ([str(folder)] if folder.is_dir() else [])


def _fits(file: str, pattern: str) -> bool:
    """Whether a pattern, in which a star stands for a name or a part of it, is that of a file."""
    return file.count("/") == pattern.count("/") and PurePosixPath(file).match(pattern)


def package_of(file: str) -> str | None:
    """The package that a file is counted for; None if it is not looked at."""
    return next((name for name, paths in PACKAGES.items() if any(_fits(file, path) for path in paths)), None)


class Laboratory:
    """A copy of the source in which one file at a time is changed, and children that run tests on it."""

    def __init__(self, folder: Path) -> None:
        self._copy, self._log = folder / "src", folder / "log"
        shutil.copytree(SOURCE, self._copy / "mainmatter", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(self._copy, quiet=1)
        self._limits: dict[tuple[str, ...], float] = {}

    def check(self, tests: list[str]) -> bool:
        """Whether tests pass without any mutation; how long they take gives mutants their time."""
        if tuple(tests) not in self._limits:
            start = time.monotonic()
            if self._run(tests, 600, write_compiled=True) != "survived":
                click.echo(self._log.read_text(), err=True)
                return False
            self._limits[tuple(tests)] = max(_LEAST_TIME, 4 * (time.monotonic() - start))
        return True

    def try_mutant(self, mutant: Mutant, tests: list[str]) -> str:
        """Test one mutant: "killed", "survived" or "timeout"."""
        path = self._copy / "mainmatter" / mutant.file
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(mutant.mutate(source))
        # Another time than that of the compiled file, which is not written anew: so the change is seen, and gone again.
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10**10))
        try:
            return self._run(tests, self._limits[tuple(tests)])
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _run(self, tests: list[str], seconds: float, *, write_compiled: bool = False) -> str:
        child = os.fork()
        if child == 0:
            sys.dont_write_bytecode = not write_compiled  # tests may be, mutants must not
            self._test_in_child(tests)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "timeout"

    def _test_in_child(self, tests: list[str]) -> None:
        """Run tests on the copy, and end."""
        status = 3
        with contextlib.suppress(BaseException):
            os.setsid()
            os.chdir(ROOT)
            log = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(log, stream)
            sys.path.insert(0, str(self._copy))
            os.environ["PYTHONPATH"] = str(self._copy)
            import pytest

            # Libraries that were imported before have no rewritten assertions, and need none.
            options = (
                "-x",
                "-q",
                "--no-header",
                "-p",
                "no:cacheprovider",
                "-W",
                "ignore::pytest.PytestAssertRewriteWarning",
            )
            status = pytest.main([*options, "-m", "not data", *tests])
            sys.stdout.flush()
        os._exit(int(status))


@click.command()
@click.option("--only", multiple=True, help="Files below src/mainmatter, as patterns such as 'html/*'.")
@click.option("--constants-only", is_flag=True, help="Only numbers: named ones, and those that are compared with.")
@click.option("--limit", type=click.IntRange(1), help="So many mutants at most, drawn at random.")
@click.option("--seed", default=0, show_default=True, help="Of what is drawn.")
@click.option("--again", type=click.Path(exists=True, path_type=Path), help="Only what survived, by an earlier output.")
@click.option("--list", "list_only", is_flag=True, help="Say what would be tested, and stop.")
@click.option("--verbose", is_flag=True, help="Tell of killed mutants, too.")
def main(
    only: tuple[str, ...],
    constants_only: bool,
    limit: int | None,
    seed: int,
    again: Path | None,
    list_only: bool,
    verbose: bool,
) -> None:
    """Mutate the source, one change at a time, and tell which changes no test notices."""
    mutants = choose(only, constants_only, limit, seed)
    if again is not None:
        survived = set(re.findall(r"^survived: .*\n    - (.*)\n    \+ (.*)$", again.read_text("utf-8"), re.MULTILINE))
        mutants = [mutant for mutant in mutants if mutant.lines((SOURCE / mutant.file).read_bytes()) in survived]
    if list_only:
        for mutant in mutants:
            click.echo(_told(mutant))
        click.echo(f"{len(mutants)} mutants")
        return
    counts = _try_all(mutants, verbose)
    click.echo(summary(counts))
    sys.exit(any(outcome == "survived" and count for (_, outcome), count in counts.items()))


def choose(only: tuple[str, ...], constants_only: bool, limit: int | None, seed: int) -> list[Mutant]:
    """The mutants to test, less those that are known to change nothing."""
    mutants: list[Mutant] = []
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        if package_of(file) is None or (only and not any(_fits(file, pattern) for pattern in only)):
            continue
        source = path.read_bytes()
        mutants += [
            mutant
            for mutant in find_mutants(file, source)
            if (mutant.kind in _CONSTANTS or not constants_only) and mutant.lines(source) not in SAME_BEHAVIOUR
        ]
    if limit is None or limit >= len(mutants):
        return mutants
    chosen = sorted(random.Random(seed).sample(range(len(mutants)), limit))  # nothing is secret here
    return [mutants[number] for number in chosen]


def summary(counts: Counter[tuple[str, str]]) -> str:
    """A table of outcomes by package, in Markdown."""
    rows = ["| package | mutants | killed | of them by time | survived |", "| --- | ---: | ---: | ---: | ---: |"]
    for name in [*PACKAGES, "all"]:
        of = {
            outcome: sum(
                count for (package, told), count in counts.items() if told == outcome and name in (package, "all")
            )
            for outcome in ("killed", "timeout", "survived")
        }
        killed = of["killed"] + of["timeout"]
        if killed + of["survived"]:
            rows.append(f"| {name} | {killed + of['survived']} | {killed} | {of['timeout']} | {of['survived']} |")
    return "\n".join(rows)


def _try_all(mutants: list[Mutant], verbose: bool) -> Counter[tuple[str, str]]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork
    import pytest  # noqa: F401 - for the children

    for name in _LIBRARIES:
        with contextlib.suppress(ImportError):
            __import__(name)
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder))
        for mutant in mutants:
            tests = tests_of(mutant.file)
            if tests and not laboratory.check(tests):
                click.echo(f"{' '.join(tests)}: fail without any mutation", err=True)
                sys.exit(2)
            outcome = laboratory.try_mutant(mutant, tests) if tests else "survived"
            counts[str(package_of(mutant.file)), outcome] += 1
            if verbose or outcome == "survived":
                click.echo(f"{outcome}: {_told(mutant)}")
    return counts


def _told(mutant: Mutant) -> str:
    before, after = mutant.lines((SOURCE / mutant.file).read_bytes())
    return f"{mutant.file}:{mutant.line} ({mutant.kind})\n    - {before}\n    + {after}"


if __name__ == "__main__":
    main()
