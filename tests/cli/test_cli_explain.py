"""`mainmatter explain`, through the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from mainmatter.cli import group

if TYPE_CHECKING:
    from click.testing import Result

PAGES = Path(__file__).parents[1] / "pages"
DENSITY = """\
   0 dropped  0.04  list-item  outside the dense region
                    Home
   1 dropped  0.04  list-item  outside the dense region
                    About
   2 dropped  0.13  heading    outside the dense region
                    The river rises
   3 kept     0.96  paragraph  long, and near the dense region's other texts
                    The river rose by two metres in the nig…
   4 kept     1.00  paragraph  the longest text, where the dense region starts
                    By the morning the water had reached th…
   5 dropped  0.04  paragraph  outside the dense region
                    More
   6 dropped  0.07  paragraph  outside the dense region
                    Café Zoë
density: kept 2 of 7 blocks, 219 of 255 characters (86%)
"""


def explain(*args: str | Path, **options: Any) -> Result:
    return CliRunner().invoke(group, ["explain", *map(str, args)], **options)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")


def test_every_block_with_verdict_score_kind_reason_and_excerpt() -> None:
    result = explain(PAGES / "river.html", "-m", "density")
    assert (result.exit_code, result.stdout, result.stderr) == (0, DENSITY, "")


def test_the_default_tells_type_confidence_labels_and_signals() -> None:
    first, *blocks, last = explain(PAGES / "river.html").stdout.splitlines()
    assert re.fullmatch(r"page type: [a-z]+, confidence: [01]\.\d\d, threshold: [01]\.\d\d", first)
    number = r"[+-]\d+\.\d"
    signals = rf"(for|against) [a-z ]+ {number}(, [a-z ]+ {number})*"
    verdict = r" +\d+ (kept     [01]\.\d\d  (main    |headline)   |dropped  [01]\.\d\d  boilerplate)"
    share = r"[01]\.\d\d(\d\d)?"
    dial = r"kept (at any dial|only at dial 1|from dial [01]\.\d\d on)"
    reason = (
        rf"(the page's headline; )?probability {share}, threshold {share}; {dial}; "
        rf"({signals}(; {signals})?|no signal stands out)"
    )
    for line in blocks[::2]:
        assert re.fullmatch(rf"{verdict}  [a-z-]+ +{reason}", line), line
    assert re.fullmatch(r"main: kept \d of 7 blocks, \d+ of 255 characters \(\d+%\)", last)


def test_excerpts_use_the_width_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    assert " " * 20 + "The river…\n" in explain(PAGES / "river.html", "-m", "density").stdout


def test_only_kept_or_only_dropped() -> None:
    kept = explain(PAGES / "river.html", "-m", "density", "--only", "kept").stdout.splitlines()
    dropped = explain(PAGES / "river.html", "-m", "density", "--only", "dropped").stdout.splitlines()
    everything = DENSITY.splitlines()
    assert kept == [*everything[6:10], everything[-1]]
    assert dropped == [*everything[:6], *everything[10:]]


def test_verdicts_are_coloured() -> None:
    result = explain(PAGES / "river.html", "-m", "density", color=True)
    assert "\x1b[32mkept   \x1b[0m" in result.stdout
    assert "\x1b[31mdropped\x1b[0m" in result.stdout


def test_parameters_and_standard_input() -> None:
    page = (PAGES / "river.html").read_bytes()
    result = explain("-", "-m", "density:c1=0.99", input=page)
    assert result.stdout.endswith("density: kept 1 of 7 blocks, 112 of 255 characters (44%)\n")


def test_page_without_blocks() -> None:
    assert explain("-", "-m", "density", input=b"").stdout == "density: kept 0 of 0 blocks, 0 of 0 characters (0%)\n"


def test_folder_with_several_pages(tmp_path: Path) -> None:
    (tmp_path / "a.html").touch()
    (tmp_path / "b.html").touch()
    result = explain(tmp_path)
    assert result.exit_code == 2
    assert f"Invalid value for PAGE: {tmp_path} holds 2 pages; name one" in result.stderr


def test_page_over_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"x" * 1_000_001)
    result = explain(tmp_path / "a.html", "--max-size", "1")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {tmp_path}/a.html has more than 1.0 MB; raise the limit with ")
