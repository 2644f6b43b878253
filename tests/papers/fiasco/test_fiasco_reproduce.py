"""The reproductions of FIASCO: on pages of our own, so that the figures are known, and on a few real ones."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.metrics.bag import Counts
from mainmatter.lab.reproduction import Run
from mainmatter.papers.fiasco import reproduce
from mainmatter.papers.fiasco.features import LINGUISTIC
from mainmatter.papers.fiasco.reproduce import DATA, NodeScores, data_note, observe
from mainmatter.records import Gold, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mainmatter.lab.reproduction import ResultsPage

SHARED = Path(__file__).parents[4] / "shared/data"
LONG = "The river rose by two metres in the night, and the old bridge had to be closed to all traffic."
OTHER = "Nobody was hurt, said the mayor, who had been woken by a call from the fire brigade shortly before dawn."


def test_a_judgement_by_hand() -> None:
    found = NodeScores.of(np.array([True, True, False, False]), np.array([True, False, True, False]))
    assert (found.accuracy, found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5, 0.5)
    nothing = NodeScores.of(np.array([False]), np.array([True]))
    assert (nothing.accuracy, nothing.precision, nothing.recall, nothing.f1) == (0, 0, 0, 0)
    assert found.cells() == ["50.00%", "0.50", "0.50", "0.50"]


@contextmanager
def silent(_label: str, _total: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


def page(number: int, lines: list[str], navigation: str = "<p>Home<p>Sitemap<p>Copyright") -> GoldPage:
    html = f"{navigation}{''.join(f'<p>{line}' for line in lines)}"
    return GoldPage(Page(html, f"http://site{number}.com/", str(number)), Gold(text="\n".join(lines)), {})


def simple_pages(count: int = 6) -> list[GoldPage]:
    """Three dirty words on each page, and 20 clean ones on those of even numbers, else 40."""
    return [page(number, [LONG, OTHER][: 1 + number % 2]) for number in range(count)]


@dataclass
class OwnRun(Run):
    """A run on pages of our own."""

    sets: dict[str, list[GoldPage]] = field(default_factory=dict)

    def load(self, name: str) -> list[GoldPage]:
        return self.sets.get(name, [])


def run_on(function: Callable[[Run], ResultsPage], **sets: list[GoldPage]) -> list[dict[str, dict[str, str]]]:
    """The tables of a report: rows by their first cell, cells by their heading."""
    named = {name.replace("_", "-"): pages for name, pages in sets.items()}
    return tables(function(OwnRun(SHARED, 1, silent, lambda _: None, sets=named)))


def tables(report: ResultsPage) -> list[dict[str, dict[str, str]]]:
    found = []
    for part in report.parts:
        if "|---" in part:
            cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()]
            rows = [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]
            found.append({row[cells[0][0]]: row for row in rows})
    return found


def test_labels_of_simple_pages() -> None:
    # The gold text of the last page lacks the last of 20 words: 2 * 19 / 39 = 0.974 is the coefficient, and F1 too.
    pages = [*simple_pages(3), GoldPage(page(3, [LONG]).page, Gold(text=LONG.removesuffix(" traffic.")), {})]
    labels, rates, _ = run_on(reproduce.alignment, cleaneval_dev=pages, wcxb_dev=simple_pages(1))
    assert labels["cleaneval-dev"]["pages"] == "4"
    for column in ("words", "dice 0.4", "dice 0.9"):
        assert labels["cleaneval-dev"][column] == f"{(3 + 38 / 39) / 4:.4f}"
        assert labels["wcxb-dev"][column] == "1.0000"
    # The pages with 20 clean words have four target nodes, the other one five.
    assert rates["cleaneval-dev"]["1 to 4 target nodes"] == "3"
    assert rates["cleaneval-dev"]["fully"] == "1"
    assert rates["cleaneval-dev"]["mean share of paragraphs found"] == "100.0%"


def test_thresholds_of_labels() -> None:
    # Of the gold paragraph's four words two are in a block of four: a coefficient of 0.5, and F1 too. By
    # words, not more than half of the block is aligned.
    pages = [page(0, ["one two three four"])]
    other = [GoldPage(pages[0].page, Gold(text="one two five six"), {})]
    row = run_on(reproduce.alignment, cleaneval_dev=other, wcxb_dev=pages)[0]["cleaneval-dev"]
    by_dice = [row[f"dice {threshold}"] for threshold in (0.4, 0.5, 0.6)]
    assert (row["words"], by_dice) == ("0.0000", ["0.5000", "0.5000", "0.0000"])


def test_figures_of_the_system_by_hand() -> None:
    # Precision 1/2, 1, 0 and recall 1, 1/2, 0; F 2/3, 2/3, 0; over all words 3 of 4 and 3 of 9.
    counts = [Counts(1, 2, 1), Counts(2, 2, 4), Counts(0, 0, 4)]
    assert reproduce._figures(counts) == ["50.00", "50.00", "50.00", "44.44", "46.15", "1"]


def test_the_system_on_simple_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    monkeypatch.setitem(sys.modules, "cv2", None)  # rows that need rendered pages are left out
    [systems] = run_on(reproduce.system, cleaneval_dev=simple_pages(), readability=simple_pages())
    dump = systems["plain text dump"]
    precision = (20 / 23 + 40 / 43) / 2
    assert dump["precision"] == f"{100 * precision:.2f}"
    assert dump["recall"] == "100.00"
    assert dump["F of the means"] == f"{200 * precision / (1 + precision):.2f}"
    assert dump["mean of F"] == f"{100 * (40 / 43 + 80 / 83) / 2:.2f}"
    assert dump["micro F"] == f"{100 * 2 * 60 / (60 + 66):.2f}"
    assert dump["pages with recall below 1%"] == "0"
    # Clean and dirty texts differ in all that is looked at: each system gets all of them right.
    for name in ("our parameters", "the paper's C, gamma and pruning"):
        assert [systems[name][column] for column in ("precision", "recall", "mean of F")] == ["100.00"] * 3
    assert systems["the paper's C, gamma and pruning"]["paper: P R F"] == "87.63 51.87 65.16"


def test_the_note_counts_the_pages() -> None:
    note = data_note(simple_pages(5))
    assert "(5 pages)" in note
    assert all(name in note for name in DATA)


def test_subsets_on_simple_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    monkeypatch.setitem(sys.modules, "HanTa", None)
    monkeypatch.setitem(sys.modules, "HanTa.HanoverTagger", None)
    monkeypatch.setitem(sys.modules, "cv2", None)
    monkeypatch.setattr(reproduce, "_SUBSET_FOLDS", 2)
    # The text of the last page looks clean and is not in its gold text, so that only table 2 counts it.
    odd = GoldPage(page(9, [LONG], "").page, Gold(text="Nothing of this is there"), {})
    all_pages, well_aligned = run_on(reproduce.feature_subsets, cleaneval_dev=[*simple_pages(), odd])
    for table in (all_pages, well_aligned):
        for name, row in table.items():
            paper, *ours = list(row.values())[1:]
            assert bool(paper) == (name not in ("Linguistic only", "Structural only") and "ayout" not in name)
            if name in ("All", "POS only", "All \\ {visual}", "Only POS and visual"):
                assert ours == ["needs HanTa"] * 2
            elif name in ("All \\ {POS}", "Visual only") or "ayout" in name:
                assert ours == ["needs opencv-python-headless"] * 2
            else:
                assert all("%" in cell for cell in ours)
    # Six pages have 3 dirty nodes each, and 9 clean ones together; to these comes one that is dirty, and looks clean.
    assert list(well_aligned["Linguistic only"].values())[2:] == ["100.00% 1.00 1.00 1.00"] * 2
    assert list(all_pages["Linguistic only"].values())[3] == f"{27 / 28:.2%} {9 / 10:.2f} 1.00 {18 / 19:.2f}"


def test_keywords_and_scale_are_those_of_the_pages_learned_from() -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    pages = [*simple_pages(4), page(4, [LONG * 20])]
    observed = observe(OwnRun(SHARED, 1, silent, lambda _: None), "linguistic+structural", pages, "words")
    fold = reproduce._make_fold(observed, [4])
    length = LINGUISTIC.index("own_chars")
    assert (fold.learn.shape[0], fold.test.shape[0]) == (3 * 4 + 6, 4)
    # Were the longest text part of the scale, those learned from would not reach its end.
    assert (fold.learn[:, length].min(), fold.learn[:, length].max()) == (-1, 1)
    assert fold.learn_positive.sum() == 6
    assert fold.test_positive.tolist() == [False] * 3 + [True]


def test_kernels_on_simple_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    monkeypatch.setattr(reproduce, "_COSTS", [1.0, 1e-6])
    monkeypatch.setattr(reproduce, "_GAMMAS", [0.1])
    monkeypatch.setattr(reproduce, "_GRIDS", dict.fromkeys(reproduce._GRIDS, ([1.0, 1e-6], [0.1])))
    classifiers, grid = run_on(reproduce.kernels, cleaneval_dev=simple_pages())
    # 18 of 27 nodes are dirty: all that a machine finds whose errors cost nothing.
    assert list(classifiers["rbf"].values())[1:] == ["1", "0.1", "66.7%", "100.0%", "89.1%"]
    assert classifiers["linear"]["best gamma"] == ""
    assert classifiers["a decision tree"]["best accuracy"] == "100.0%"
    assert (grid["1"]["0.1"], grid["1e-06"]["0.1"]) == ("100.0", "66.7")


needs_data = pytest.mark.skipif(not (SHARED / "readability.parquet").is_file(), reason=f"{SHARED} is not there")


@pytest.mark.data
@needs_data
def test_real_pages() -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    run = Run(SHARED, 1, silent, lambda _: None, pages=8)
    labels, rates, _ = tables(reproduce.alignment(run))
    for name in ("cleaneval-dev", "wcxb-dev"):
        assert labels[name]["pages"] == "8"
        assert 0.8 < float(labels[name]["words"]) <= 1
        assert sum(int(cell) for cell in list(rates[name].values())[1:5]) == 8
    report = reproduce.system(run)
    assert "(16 pages)" in report.parts[0]
    [systems] = tables(report)
    dump, ours, paper = (
        {name: float(cell) for name, cell in systems[system].items() if name in ("precision", "recall")}
        for system in ("plain text dump", "our parameters", "the paper's C, gamma and pruning")
    )
    assert dump["recall"] > ours["recall"] > paper["recall"]
    assert dump["precision"] < ours["precision"]
