"""The pages about ICE's tables and figures, made from pages of our own."""

from __future__ import annotations

import random
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.evaluation import Evaluation
from mainmatter.records import Gold, Page
from reproduce import ice as reproduce
from reproduce.run import Run, read_comparison

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
    return SmallRun(Path(), 1, progress, lambda line: None, quick=True)


def test_the_tree() -> None:
    report = reproduce.decision_tree(run())
    text = "\n\n".join(report.parts)
    assert "3,467 (59%)" in text
    assert text.count("36 (27%)") == 2  # 3 of 11 blocks a page are p, by both labels
    compared = read_comparison(text)
    assert compared[0] == ["ten-fold error by block, %, cleaneval-dev", "22.57", "0.00", "72.73"]
    assert compared[2][1:] == ["59", "73", "73"]
    assert "| as the paper " in text
    assert ": p (36.0/1.4)" in text


def test_table_1() -> None:
    report = reproduce.table_1(run())
    text = "\n\n".join(report.parts)
    assert "16.7 90.4 **62.2**" in text
    compared = {row[0]: row[1:] for row in read_comparison(text)}
    assert [row[0] for row in compared.values()] == "78.3 57.3 69.9 73.7 68.5 52.4 60.6 62.2".split()
    assert compared["ice_dt, combined, cleaneval-dev"][1] == "100.0"
    # Each page is one line of HTML, of which all is kept.
    assert compared["ice_hr, text-only, cleaneval-dev"][1] == compared["ice_bl, text-only, cleaneval-dev"][1] == "91.8"
    before, _, after = text.partition("## cleaneval-final")
    assert "| ice-tree, as the paper " in before
    assert "| ice-lm, as the paper, but ten-fold " in before
    # Nothing of the paper beside the other set.
    assert ", paper " in before
    assert ", paper " not in after
    assert after.count("| ice-elaborate, ") == 2


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


def test_the_genetic_search() -> None:
    pytest.importorskip("regex")
    pytest.importorskip("matplotlib")
    said: list[str] = []
    report = reproduce.regex(ThreePages(Path(), 1, progress, said.append, quick=True))
    text = "\n".join(report.parts)
    assert said == ["a small search as the paper's", "a small search of ours"]
    compared = read_comparison("\n\n".join(report.parts))
    assert [row[1] for row in compared] == ["no better than the baseline", "62.2", "", ""]
    assert compared[1][2] == compared[1][3]
    assert "| ours: `ice-regex` as it ships" in text
    assert "none needed" in text
    assert "0.02 s a page" in text
    assert r"^(?:<\S*+ ([^\n]*+))" in text
    assert "<.*?>|([^<]+)" in text
    assert list(report.pictures) == ["ice-regex.png"]
