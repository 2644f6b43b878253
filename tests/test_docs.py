"""The documentation tells the truth: its examples run, and docs/reference/cli.md is what --help says.

A ```python block with `>>>` in it is run with doctest. In a ```console block, lines that begin with `$ ` are run with
bash, and the lines below are what they print, where a line `...` stands for any lines: all of standard output, and of
standard error what the page wants to show, since a slow run tells more there. A command without such lines only has to
succeed. All of them run in one folder with a copy of the repository's examples, so that
those of a page find what the ones above them wrote. Blocks whose first command needs the gold standards, the network or
an installation are skipped.
"""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import mainmatter
from reproduce import papers
from script_modules import load_script

ROOT = Path(__file__).parents[1]
FILES = [file for file in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if file.is_file()]
SKIPPED = re.compile(r"\.\./shared|--data\b|https?://|\bpip install\b|\buv (sync|add|pip|tool)\b|\bmake\b|\bgit\b")
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A fenced block of a page."""

    file: Path
    line: int
    language: str
    body: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def examples_of(file: Path) -> list[Example]:
    text = file.read_text(encoding="utf-8")
    found = []
    for fence in FENCE.finditer(text):
        body = "".join(line.removeprefix(fence["indent"]) for line in fence["body"].splitlines(keepends=True))
        language = fence["language"].split()[0] if fence["language"].strip() else ""
        found.append(Example(file, text.count("\n", 0, fence.start()) + 1, language, body))
    return found


def commands_of(block: str) -> list[tuple[str, list[str]]]:
    """Each command of a console block with the lines that it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line.removeprefix("> "), [])
        elif line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif found:
            found[-1][1].append(line.rstrip())
    return [(command, _without_blank_end(lines)) for command, lines in found]


def _without_blank_end(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def matches(expected: list[str], printed: str) -> bool:
    lines = _without_blank_end([line.rstrip() for line in printed.splitlines()])
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


EXAMPLES = [example for file in FILES for example in examples_of(file)]
CONSOLE = [e for e in EXAMPLES if e.language == "console" and commands_of(e.body)]
PYTHON = [e for e in EXAMPLES if e.language == "python" and ">>>" in e.body]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples have as the repository's root: they write into demo-output, and the checkout's is a user's."""
    folder = tmp_path_factory.mktemp("root")
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "tests").symlink_to(ROOT / "tests")  # which they only read
    return folder


@pytest.mark.parametrize("example", CONSOLE, ids=str)
def test_console_example(example: Example, root: Path) -> None:
    commands = commands_of(example.body)
    if SKIPPED.search(commands[0][0]):
        pytest.skip("needs the gold standards, the network or an installation")
    env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    env |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', '')}", "PYTHONIOENCODING": "utf-8"}
    for command, expected in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=1200,
            check=False,
        )
        printed = f"$ {command}\nprints:\n{done.stdout}\nand to standard error:\n{done.stderr}"
        if expected:
            told = {line.rstrip() for line in done.stderr.splitlines()}
            assert matches([line for line in expected if line not in told], done.stdout), printed
        else:
            assert done.returncode == 0, printed


@pytest.mark.parametrize("example", PYTHON, ids=str)
def test_python_example(example: Example, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "adapters.datatrove" in example.body:
        pytest.importorskip("datatrove")  # which is not part of the light environment of `make test`
    monkeypatch.chdir(root)
    test = doctest.DocTestParser().get_doctest(example.body, {}, str(example), str(example.file), example.line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_package_docstring_runs() -> None:
    assert doctest.testmod(importlib.import_module("mainmatter")).failed == 0


def test_cli_page_is_what_help_says() -> None:
    script = load_script("update_docs")
    written = script.CLI_PAGE.read_text(encoding="utf-8")
    assert written == script.cli_docs(), "out of date; run: python scripts/update_docs.py"


def test_http_page_is_what_the_server_describes() -> None:
    pytest.importorskip("fastapi")
    script = load_script("update_docs")
    written = script.HTTP_PAGE.read_text(encoding="utf-8")
    assert written == script.http_docs(), "out of date; run: python scripts/update_docs.py"


def test_python_page_has_all_that_we_export() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    shown = {name.rpartition(".")[2] for name in re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)}
    shown |= set(re.findall(r"`mainmatter\.(\w+)` is another name", page))
    assert set(mainmatter.__all__) <= shown


def test_index_of_the_papers_is_up_to_date() -> None:
    written = papers.INDEX.read_text(encoding="utf-8")
    assert written == papers.paper_index(), "out of date; run: python -m reproduce --index"
    written = papers.OVERVIEW.read_text(encoding="utf-8")
    assert papers.results_table() in written
    assert written == papers.with_results_table(written), "out of date; run: python -m reproduce --index"


@pytest.mark.parametrize("command", ["", "clean", "evaluate", "explain", "methods", "plot"])
def test_cli_page_has_every_command(command: str) -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    name = f"mainmatter {command}".strip()
    assert f"\n## {name}\n\n```text\nUsage: {name} [OPTIONS]" in page


# The convention itself


def test_commands_of_a_block() -> None:
    assert commands_of("$ echo a \\\n> b\na b\n\n$ true\n$ x\n...\nend\n\n") == [
        ("echo a \\\nb", ["a b"]),
        ("true", []),
        ("x", ["...", "end"]),
    ]


@pytest.mark.parametrize(
    ("expected", "printed", "answer"),
    [
        (["a", "b"], "a  \nb\n\n", True),
        (["a", "...", "d"], "a\nb\nc\nd\n", True),
        (["a", "..."], "a\n", True),
        (["a"], "a\nb\n", False),
        (["a.c"], "abc\n", False),
        (["..."], "anything\n", True),
    ],
)
def test_matching(expected: list[str], printed: str, answer: bool) -> None:
    assert matches(expected, printed) is answer
