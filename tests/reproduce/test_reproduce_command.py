"""`python -m reproduce`, through the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import pytest
from click.testing import CliRunner

import reproduce.__main__
from reproduce.papers import REPRODUCTIONS, load_reproduction
from reproduce.run import ResultsPage

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from reproduce.run import Run


def run(*arguments: object) -> Result:
    return CliRunner().invoke(reproduce.__main__.command, [*map(str, arguments)])


def _reproduce(run: Run) -> ResultsPage:
    pages = run.load("gold-folder")
    report = ResultsPage("A table of a paper")
    report.table([["what", "paper", "ours"], ["pages", "59", str(len(run.map("counting", str, pages)))]])
    figure, axes = plt.subplots()
    axes.plot([1, 2])
    report.picture("curve", "A curve", figure)
    plt.close(figure)
    report.text("That is all.")
    return report


def test_a_page_and_its_pictures_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce.__main__, "load_reproduction", lambda name: _reproduce)
    monkeypatch.setattr("reproduce.run.load_dataset", lambda name, data: [1] * 20)
    result = run("alignment", "-o", tmp_path / "out", "--pages", 5, "-j", 1)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "alignment.md").read_text(encoding="utf-8")
    assert page.startswith("# A table of a paper\n\n| what  | paper | ours |\n")
    assert "| pages |    59 |    5 |" in page
    assert "from gold-folder (5 pages):" in page
    assert "python -m reproduce alignment --data . --pages 5\n" in page
    assert (tmp_path / "out" / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_name_it_lists_what_there_is() -> None:
    result = run()
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if not line.startswith(" ")] == list(REPRODUCTIONS)


def test_unknown_names_before_any_work() -> None:
    result = run("ice-table-1", "ice-table-2")
    assert result.exit_code == 1
    assert "did you mean 'ice-table-1'" in result.stderr


@pytest.mark.parametrize("name", sorted(REPRODUCTIONS))
def test_every_reproduction_is_there(name: str) -> None:
    assert callable(load_reproduction(name))
