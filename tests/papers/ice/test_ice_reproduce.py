"""The pages about ICE's tables and figures, made from pages of our own."""

from __future__ import annotations

import random
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.evaluation import Evaluation
from mainmatter.lab.reproduction import Run
from mainmatter.papers.ice import reproduce
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("rapidfuzz")
pytest.importorskip("wordfreq")

NOUNS = "river stone bridge winter letter garden window summer morning village".split()


class SmallRun(Run):
    def load(self, name: str) -> list[GoldPage]:
        self.used[name] = 12
        return [self._page(seed) for seed in range(12)]

    def _page(self, seed: int) -> GoldPage:
        rng = random.Random(seed)
        texts = [
            " ".join(f"The {rng.choice(NOUNS)} is on the {rng.choice(NOUNS)}, and it was old." for _ in range(3))
            for _ in range(3)
        ]
        menu = "".join(f"<li><a href=x>{rng.choice(NOUNS).title()}</a></li>" for _ in range(8))
        html = f"<ul>{menu}</ul>" + "".join(f"<p>{text}</p>" for text in texts)
        marked = "\n".join(f"<p> {text}" for text in texts)
        return GoldPage(Page(html, f"https://s{seed}.example/", str(seed)), Gold("\n".join(texts), marked), {})


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


def run() -> SmallRun:
    return SmallRun(Path(), 1, progress, lambda line: None)


def test_the_tree() -> None:
    report = reproduce.decision_tree(run())
    text = "\n\n".join(report.parts)
    assert "3,467 (59%)" in text
    assert "36 (27%)" in text  # 3 of 11 blocks a page are p
    assert "22.57" in text
    assert "| the paper's features " in text
    assert ": p (36.0/1.4)" in text


def test_table_1() -> None:
    report = reproduce.table_1(run())
    text = "\n\n".join(report.parts)
    assert "16.7 90.4 **62.2**" in text
    rows = [line for line in text.splitlines() if line.startswith("| the paper's tree, trained on the test set")]
    assert "100.0 100.0 **100.0**" in rows[0]
    assert text.count("| ice-baseline ") == 2
    assert text.count("| ice-regex") == 2


def test_best_on() -> None:
    def evaluation(*combined: float | None) -> Evaluation:
        rows = [
            (str(i), {"cleaneval": None if each is None else {"combined": each}}) for i, each in enumerate(combined)
        ]
        return Evaluation("m", "d", {}, {}, rows)

    shares = reproduce._best_on([evaluation(1, 5, 2, 7), evaluation(1, 4, 3, 8), evaluation(0, 5, 1, 8)])
    assert shares == pytest.approx([(0.5 + 0.5) / 4, (0.5 + 1 + 0.5) / 4, (0.5 + 0.5) / 4])
    # A page without a figure is nobody's, and moves no other; neither does one that a method never got.
    assert reproduce._best_on([evaluation(None, 5, 2), evaluation(1, 4, 3)]) == pytest.approx([1 / 3, 2 / 3])
    assert reproduce._best_on([evaluation(None, 5, 2), evaluation(None, 4, 3)]) == pytest.approx([1 / 2, 1 / 2])
    without_first = evaluation(0, 5, 2)
    del without_first.pages[0]
    assert reproduce._best_on([without_first, evaluation(1, 4, 3)]) == pytest.approx([1 / 3, 2 / 3])


SENTENCE = "The river rose by two metres in the night, and the old bridge had to be closed."


class ThreePages(Run):
    def load(self, name: str) -> list[GoldPage]:
        self.used[name] = 3
        menu = "<ul><li><a href=/>Home</a><li><a href=/n>News</a></ul>"
        return [
            GoldPage(
                Page(f"{menu}<p>{SENTENCE * n}</p>{menu}", id=str(n)), Gold(SENTENCE * n, f"<p> {SENTENCE * n}"), {}
            )
            for n in (1, 2, 3)
        ]


def test_the_genetic_search(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("regex")
    pytest.importorskip("matplotlib")
    small = {"population": 12, "generations": 3, "sample": 2}
    monkeypatch.setattr(reproduce, "_SEARCHES", {"bounded": small, "paper": {**small, "timeout": 0.05}})
    said: list[str] = []
    report = reproduce.regex(ThreePages(Path(), 1, progress, said.append))
    text = "\n".join(report.parts)
    assert said == ["searching with the literals 'bounded'", "searching with the literals 'paper'"]
    assert "| return everything: the paper's outcome" in text
    assert "| ice-regex as it ships" in text
    assert "62.2" in text
    assert "none needed" in text
    assert "0.05 s a page" in text
    assert r"^(?:<\S*+ ([^\n]*+))" in text
    assert list(report.pictures) == ["ice-regex.png"]
