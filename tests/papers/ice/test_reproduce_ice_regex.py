"""The page about ICE 3.5, made from pages of our own."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.reproduction import Run
from mainmatter.papers.ice import reproduce_regex as ice_regex
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SENTENCE = "The river rose by two metres in the night, and the old bridge had to be closed."


class SmallRun(Run):
    def load(self, name: str) -> list[GoldPage]:
        self.used[name] = 3
        menu = "<ul><li><a href=/>Home</a><li><a href=/n>News</a></ul>"
        return [
            GoldPage(
                Page(f"{menu}<p>{SENTENCE * n}</p>{menu}", id=str(n)), Gold(SENTENCE * n, f"<p> {SENTENCE * n}"), {}
            )
            for n in (1, 2, 3)
        ]


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


def test_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("regex")
    pytest.importorskip("matplotlib")
    pytest.importorskip("rapidfuzz")
    small = {"population": 12, "generations": 3, "sample": 2}
    monkeypatch.setattr(ice_regex, "_SEARCHES", {"bounded": small, "paper": {**small, "timeout": 0.05}})
    said: list[str] = []
    report = ice_regex.reproduce(SmallRun(Path(), 1, progress, said.append))
    text = "\n".join(report.parts)
    assert said == ["searching with the literals 'bounded'", "searching with the literals 'paper'"]
    assert "| return everything: the paper's outcome" in text
    assert "| ice-regex as it ships" in text
    assert "62.2" in text
    assert "none needed" in text
    assert "0.05 s a page" in text
    assert r"^(?:<\S*+ ([^\n]*+))" in text
    assert list(report.pictures) == ["ice-regex.png"]
