"""`mainmatter index` and `mainmatter search`, through the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mainmatter.cli import group, printing

if TYPE_CHECKING:
    from click.testing import Result

ROWS = [
    {
        "id": "a",
        "url": "https://x.example/a",
        "title": "The tide\nclock",
        "text": "The clock shows the tide. \x1b[31mRed",
    },
    {"id": "b", "url": None, "title": None, "text": "A tide of paper."},
    {"id": "c", "url": None, "title": None, "text": ""},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with a collection, out/."""
    (tmp_path / "out").mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "out" / "part-00000.jsonl").write_text(lines, "utf-8")
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, color: bool = False) -> Result:
    return CliRunner().invoke(group, arguments, color=color)


def test_index_then_search() -> None:
    result = run("index", "out", "-o", "made/index")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("2 documents indexed, 1 without text left out, ")
    assert result.stdout.endswith("bytes, written to made/index\n")
    result = run("search", "made/index", "tide", "clock")
    assert result.exit_code == 0
    assert result.stderr == "2 documents found\n"
    first, url, snippet, empty, second, other, *_ = result.stdout.splitlines()
    assert first.startswith(" 1. The tide clock  (")
    assert url == "    https://x.example/a"
    assert snippet.startswith("    The clock shows the tide.")
    assert empty == ""
    assert second.startswith(" 2. b  (")
    assert other == "    A tide of paper."


def test_the_index_of_a_corpus_lies_in_it() -> None:
    result = run("index", "out")
    assert result.stdout.endswith("bytes, written to out/__index\n")
    assert run("search", "out", "tide").stderr == "2 documents found\n"
    assert run("index", "out").exit_code == 0  # it is replaced, and is no part of what is indexed
    for inputs in (("out", "out"), ("out/part-00000.jsonl",)):
        result = run("index", *inputs)
        assert result.exit_code == 2
        assert "name a folder for the index with -o" in result.stderr


def test_limit_and_json() -> None:
    run("index", "out", "-o", "index")
    result = run("search", "index", "tide", "-n", "1")
    assert result.stderr == "2 documents found, 1 shown\n"
    result = run("search", "index", "tide", "--json")
    hits = [json.loads(line) for line in result.stdout.splitlines()]
    assert [list(hit) for hit in hits] == [["rank", "score", "id", "url", "title", "snippet"]] * 2
    assert [hit["rank"] for hit in hits] == [1, 2]
    assert result.stderr == ""


def test_words_stand_out_on_a_terminal_and_pages_cannot_command_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run("index", "out", "-o", "index")
    monkeypatch.setattr("mainmatter.cli.search.harmless", lambda text: text.translate(printing._CONTROLS))
    result = run("search", "index", "clock", color=True)
    assert "\x1b[33mclock\x1b[0m" in result.stdout
    assert "\x1b[31mRed" not in result.stdout
    assert "\N{REPLACEMENT CHARACTER}[31mRed" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search", "nowhere", "x"), "no such index"),
        (("search", "out", "x"), "not an index"),
        (("index", "nowhere", "-o", "index"), "no such file or folder"),
        (("index", "out", "-o", "out"), "has files that are not from an index"),
        (("search", "index", "(tide"), "cannot be understood"),
        (("search", "index", "?"), "has no word"),
    ],
)
def test_what_goes_wrong_is_said(arguments: tuple[str, ...], words: str) -> None:
    if arguments[:2] == ("search", "index"):
        run("index", "out", "-o", "index")
    result = run(*arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_nothing_found_is_no_error() -> None:
    run("index", "out", "-o", "index", "--stem", "en")
    result = run("search", "index", "zeppelin")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "0 documents found\n")


@pytest.mark.parametrize("name", ["out", "out/part-00000.jsonl"])
def test_an_unfinished_corpus_is_refused_unless_asked_for(name: str) -> None:
    Path("out/__run").mkdir()
    Path("out/__run/plan.json").write_text('{"shards": 4}')
    result = run("index", name, "-o", "index")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: out: the corpus is not finished: 1 of 4 parts are written; resume it with the same mainmatter corpus "
        "command, or index the finished parts with --unfinished\n"
    )
    assert not Path("index").exists()
    assert run("index", name, "-o", "index", "--unfinished").stdout.startswith("2 documents indexed")
    Path("out/__about").mkdir()
    Path("out/__about/summary.json").write_text("{}")
    assert run("index", name, "-o", "index").exit_code == 0


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)
    result = run("index", "out", "-o", "index")
    assert result.exit_code == 1
    assert "pip install 'mainmatter[search]'" in result.stderr
    assert not Path("index").exists()
