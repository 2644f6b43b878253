"""--dial, --comments and --without, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import commenting
from commenting import COMMENTS, END, MAIN, PAGE
from mainmatter.cli import group

if TYPE_CHECKING:
    from click.testing import Result

EXPLAINED = """\
page type: article, confidence: 0.88
   0 dropped  0.20  boilerplate  paragraph  a menu, or short
                    menu
   1 kept     0.85  headline     heading    text
                    How to fly a kite
   2 kept     1.00  main         paragraph  text
                    Go where the wind is.
   3 dropped  0.55  boilerplate  table-row  tables are not wanted; text
                    string wood
   4 kept     0.45  main         code       text
                    run(fast)
   5 kept     1.00  caption      caption    a caption: kept, as captions are wanted; text
                    A kite, seen from below
   6 dropped  0.65  comment      heading    a comment: dropped, as comments are unless asked for; text
                    Comment by Bo
   7 dropped  0.95  comment      list-item  a comment: dropped, as comments are unless asked for; text
                    Comment: mine sank.
   8 dropped  0.90  comment      list-item  a comment: dropped, as comments are unless asked for; text
                    Comment: mine too.
   9 kept     0.90  main         paragraph  text
                    Then let go of it.
commenting: kept 5 of 10 blocks, 88 of 153 characters (58%)
"""


@pytest.fixture(autouse=True)
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with a page, and a method that has all controls."""
    commenting.register(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_text(PAGE, encoding="utf-8")


def run(command: str, *args: str) -> Result:
    return CliRunner().invoke(group, [command, "page.html", *args])


def clean(*args: str) -> str:
    result = run("clean", "-m", "commenting", *args)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_comments() -> None:
    assert clean() == clean("--comments", "drop") == f"{MAIN}\n\n{END}\n"
    assert clean("--comments", "keep") == f"{MAIN}\n\n{COMMENTS}\n\n{END}\n"
    assert clean("--comments", "mark") == f"{MAIN}\n\n{END}\n\n--- Comments ---\n\n{COMMENTS}\n"


def test_without_some_kinds_of_blocks() -> None:
    assert clean("--without", "tables") == f"{MAIN}\n\n{END}\n".replace("string\twood\n\n", "")
    few = clean("--without", "headings", "--without", "tables", "--without", "captions", "--without", "code")
    assert few == "Go where the wind is.\n\nThen let go of it.\n"


def test_with_and_without_what_a_block_is() -> None:
    Path("page.html").write_text(f"<p>By Ann Otter</p>{PAGE}", encoding="utf-8")
    assert clean() == clean("--without", "comments", "--without", "bylines") == f"{MAIN}\n\n{END}\n"
    assert clean("--with", "bylines") == clean("--with", "bylines", "--with", "captions")
    assert clean("--with", "bylines") == f"By Ann Otter\n\n{MAIN}\n\n{END}\n"
    assert clean("--without", "headline") == f"{MAIN}\n\n{END}\n".replace("How to fly a kite\n\n", "")
    assert clean("--with", "comments") == clean("--with", "comments", "--comments", "keep")
    assert clean("--with", "comments") == clean("--comments", "keep")
    assert clean("--with", "comments", "--comments", "mark") == clean("--comments", "mark")
    assert run("clean", "-m", "commenting:comments=keep", "--without", "comments").stdout == clean()


def test_the_dial() -> None:
    assert "run(fast)" in clean("--dial", "1")
    assert "run(fast)" not in clean("--dial", "0")


def test_every_format_and_several_pages() -> None:
    Path("other.html").write_text("<p>Comment: a</p><p>A long text of some kind.</p>", encoding="utf-8")
    result = run("clean", "other.html", "-m", "commenting", "-f", "json", "-j", "1", "--comments", "mark")
    lines = result.stdout.splitlines()
    assert [json.loads(line)["comments"] for line in lines] == [COMMENTS, "Comment: a"]
    assert clean("-f", "markdown", "--comments", "mark").count("## Comments") == 1


def test_options_win_over_parameters_in_the_name() -> None:
    both = run("clean", "-m", "commenting:comments=keep,tables=False", "--comments", "drop", "--without", "code")
    assert both.stdout == f"{MAIN}\n\n{END}\n".replace("string\twood\n\nrun(fast)\n\n", "")


def test_explain_shows_the_page_and_labels() -> None:
    result = run("explain", "-m", "commenting", "--without", "tables")
    assert (result.exit_code, result.stdout, result.stderr) == (0, EXPLAINED, "")


def test_explain_takes_the_same_options() -> None:
    kept = run("explain", "-m", "commenting", "--comments", "mark", "--dial", "0.9", "--only", "kept").stdout
    assert "   6 kept     0.65  comment      heading    a comment: kept, as comments are wanted; text\n" in kept
    assert kept.endswith("commenting: kept 9 of 10 blocks, 149 of 153 characters (97%)\n")


@pytest.mark.parametrize("command", ["clean", "explain", "plot"])
@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("--dial", "0.3"), "dial"),
        (("--comments", "keep"), "choice about comments"),
        (("--without", "tables"), "switch for tables"),
        (("--with", "bylines"), "switch for bylines"),
        (("--with", "comments"), "choice about comments"),
    ],
)
def test_a_method_without_such_a_control(args: tuple[str, ...], what: str, command: str) -> None:
    result = run(command, "-m", "density:c1=0.5", *args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: method 'density' has no {what}; methods that have one: ")
    assert "commenting" in result.stderr.partition("have one: ")[2].strip().split(", ")
    assert "density" not in result.stderr.partition("have one: ")[2]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-m", "nothing", "--dial", "0.3"), "Error: unknown method 'nothing'; known: "),
        (
            ("-m", "commenting:c3=1", "--dial", "0.3"),
            "Error: method 'commenting' has no parameter 'c3'; it has: ",
        ),
        (
            ("-m", "commenting:dial=2"),
            "Error: method 'commenting': dial must be from 0 (only what is sure) to 1 (all text)",
        ),
        (("-m", "commenting", "--dial", "nan"), "Error: method 'commenting': dial must be a number, not nan"),
    ],
)
def test_wrong_values(args: tuple[str, ...], message: str) -> None:
    result = run("clean", *args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(message)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--dial", "1.5"), "1.5 is not in the range 0<=x<=1."),
        (("--dial", "much"), "'much' is not a valid float"),
        (("--comments", "hide"), "'hide' is not one of 'drop', 'keep', 'mark'."),
        (("--without", "pictures"), "'pictures' is not one of 'headline', 'bylines', "),
        (("--with", "headings"), "'headings' is not one of 'bylines', 'captions', 'comments'."),
        (("--with", "bylines", "--without", "bylines"), "--with bylines and --without bylines contradict each other"),
        (("--without", "comments", "--comments", "mark"), "--without comments and --comments mark contradict each"),
        (("--with", "comments", "--comments", "drop"), "--with comments and --comments drop contradict each other"),
    ],
)
def test_wrong_use_exits_with_2(args: tuple[str, ...], message: str) -> None:
    result = run("clean", "-m", "commenting", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
