"""Cells of the bench: measured once, kept in files, shown in tables and a picture."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle
from threading import Event
from typing import TYPE_CHECKING, Self

import pytest

from bench import accuracy
from bench.accuracy import (
    ContestantResult,
    TradeoffPoint,
    main_table,
    measure_accuracy,
    metrics_for,
    panels_of,
    read_cell,
    to_markdown,
    write_report,
)
from bench.contestant import Turn
from mainmatter.errors import InputError
from mainmatter.lab.datasets import GoldPage
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# ice-baseline keeps all: on page a it finds the 2 gold words among 4, and on page b all is right.
PAGES = [
    GoldPage(Page(b"<p>one two three four</p>", id="a"), Gold("One two."), {"page_type": "article"}),
    GoldPage(Page(b"<p>five</p><p>six</p>", id="b"), Gold("five six"), {"page_type": "forum"}),
]


def cell(name: str, dataset: str, f1: float, milliseconds: float = 2.0, **changes: object) -> ContestantResult:
    groups = {
        "page_type=article": {"bag": {"pages": 3, "f1": f1 + 0.01}},
        "page_type=forum": {"bag": {"pages": 2, "f1": f1 - 0.01}},
    }
    made = ContestantResult(
        name, "1.0", dataset, "abc", 5, {"bag": {"pages": 5, "f1": f1}}, groups, milliseconds, 1.0, []
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_a_cell_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[ContestantResult] = []
    pages: list[None] = []

    def measure() -> list[ContestantResult]:
        return measure_accuracy(
            ["ice-baseline"], "tiny", PAGES, tmp_path, on_page=lambda: pages.append(None), on_cell=told.append
        )

    (first,) = measure()
    assert first.scores["bag"]["f1"] == pytest.approx((2 / 3 + 1) / 2)
    assert first.groups["page_type=forum"]["bag"]["f1"] == 1.0
    assert (first.pages, first.failures, len(pages)) == (2, [], 2)
    assert first.ms_per_page > 0
    (file,) = (tmp_path / "cells").iterdir()
    assert file.name.startswith("ice-baseline--tiny--")
    assert read_cell(file) == first
    assert measure() == [first]  # to the microsecond: it was read
    assert (told, len(pages)) == ([first], 4)
    file.write_text("{", encoding="utf-8")  # half a file is none
    assert measure()[0].scores == first.scores
    assert len(told) == 2
    monkeypatch.setattr(accuracy, "version_of", lambda name: "another")
    measure()
    assert len(told) == 3


def test_an_error_stops_the_others_and_leaves_no_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Endless:
        """The first breaks once the second is at work; the second would never end."""

        def __init__(self, name: str, **_: object) -> None:
            self.name = name

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            seen.append(f"{self.name} goes")

        def take(self, page: GoldPage, _: object) -> Turn:
            if self.name == "density":
                working.wait(10)
                raise InputError("density breaks")
            working.set()
            return Turn(0.001, {"bag": None})

    working = Event()
    monkeypatch.setattr(accuracy, "Contestant", Endless)
    with pytest.raises(InputError, match="density breaks"):
        measure_accuracy(["density", "ice-tree"], "tiny", Forever(PAGES), tmp_path, workers=2)
    assert sorted(seen) == ["density goes", "ice-tree goes"]
    assert not (tmp_path / "cells").exists()


class Forever(list[GoldPage]):
    """Pages without end, for those who loop over them twice."""

    loops = 0

    def __iter__(self) -> Iterator[GoldPage]:
        self.loops += 1
        return cycle(list(super().__iter__())) if self.loops > 2 else super().__iter__()


def test_a_cell_is_measured_again_when_the_metrics_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lab" / "metrics").mkdir(parents=True)
    monkeypatch.setattr(accuracy, "PACKAGE", tmp_path)
    file = accuracy._file_name("density", "tiny", "1.0", "abc", 30)
    assert accuracy._file_name("density", "tiny", "1.0", "abc", 30) == file
    (tmp_path / "lab" / "metrics" / "z.py").write_text("2")
    assert accuracy._file_name("density", "tiny", "1.0", "abc", 30) != file


@pytest.mark.parametrize(
    ("gold", "metrics"),
    [
        (Gold("a"), ("bag",)),
        (Gold("a", must_have=("a",)), ("bag",)),
        (Gold("a", "<p> a"), ("bag", "align")),
        (Gold(must_have=("a",)), ("snippet",)),
    ],
)
def test_what_a_set_is_measured_by(gold: Gold, metrics: tuple[str, ...]) -> None:
    assert metrics_for([GoldPage(Page("a"), gold, {})]) == metrics


# The report


def test_table_of_all_sets() -> None:
    snippets = {"snippet": {"pages": 5, "f1": 0.5}}
    aligned = {"bag": {"pages": 5, "f1": 0.7}, "align": {"pages": 5, "words_f1": 0.6, "words_f1_micro": 0.65}}
    cells = [
        cell("density", "wcxb-dev", 0.8, 3.14),
        cell("turbohtml", "wcxb-dev", 0.75, failures=[("7", "ValueError: no")]),
        cell("density", "cleaneval-dev", 0.7, scores=aligned, groups={}),
        cell("turbohtml", "trafilatura-eval-a", 0.5, scores=snippets, groups={}),
    ]
    head, _, *rows = main_table(cells).splitlines()
    assert [column.strip() for column in head.strip("|").split("|")] == [
        "contestant",
        "wcxb-dev",
        "cleaneval-dev",
        "trafilatura-eval-a (snippets)",
        "cleaneval-dev (micro words)",
        "ms/page on wcxb-dev",
        "failures",
    ]
    assert [row.split() for row in rows] == [
        "| density | 0.800 | 0.700 | - | 0.650 | 3.1 | 0 |".split(),
        "| turbohtml | 0.750 | - | 0.500 | - | 2.0 | 1 |".split(),
    ]


def test_page_says_what_was_measured_and_how() -> None:
    page = to_markdown(
        [cell("density", "wcxb-dev", 0.8), cell("turbohtml", "wcxb-dev", 0.7, failures=[("7", "ValueError: no")])],
        "python -m bench accuracy",
    )
    assert page.startswith("# Accuracy and time beside other tools\n\n```sh\npython -m bench accuracy\n```\n")
    assert "## wcxb-dev by page type\n\n| contestant | article (3) | forum (2) |\n" in page
    assert "\n| density    |       0.810 |     0.790 |\n" in page
    assert "Versions: density 1.0, turbohtml 1.0." in page
    assert "wcxb-dev (5 pages, abc)" in page
    assert page.endswith("- turbohtml on wcxb-dev: 1 pages; the first, 7: ValueError: no\n")
    assert "## Failures" not in to_markdown([cell("density", "wcxb-dev", 0.8)], "")


def test_picture_shows_one_set_and_the_mean_of_all() -> None:
    cells = [
        cell("density", "dragnet", 0.6, 9.0),
        cell("density", "wcxb-dev", 0.8, 3.0),
        cell("turbohtml", "dragnet", 0.5, 9.0),
        cell("turbohtml", "wcxb-dev", 0.7, 2.0),
        cell("justext", "wcxb-dev", 0.9, 4.0),
    ]
    one, mean = panels_of(cells)
    assert one == (
        "wcxb-dev",
        [
            TradeoffPoint("density", 3.0, 0.8, True),
            TradeoffPoint("turbohtml", 2.0, 0.7, False),
            TradeoffPoint("justext", 4.0, 0.9, False),
        ],
    )
    assert mean[0] == "mean of 2 sets (time on wcxb-dev)"
    assert [point.name for point in mean[1]] == ["density", "turbohtml"]  # justext did not do all
    assert [point.score for point in mean[1]] == pytest.approx([0.7, 0.6])
    assert [title for title, _ in panels_of(cells[:1])] == ["dragnet"]


def test_report_is_four_files(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = write_report([cell("density", "wcxb-dev", 0.8)], tmp_path, "the command")
    assert [file.name for file in written] == ["accuracy.md", "accuracy.json", "accuracy.svg", "accuracy.png"]
    figures = json.loads(written[1].read_text(encoding="utf-8"))
    assert figures["command"] == "the command"
    assert figures["cells"][0]["scores"] == {"bag": {"pages": 5, "f1": 0.8}}
    assert "density" in written[2].read_text(encoding="utf-8")
    assert written[3].read_bytes().startswith(b"\x89PNG")
