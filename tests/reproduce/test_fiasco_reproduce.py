"""The reproductions of FIASCO: on pages of our own, so that the figures are known, and on a few real ones."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter import read
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.metrics.bag import Counts
from mainmatter.papers.fiasco.elements import Belonging, find_elements
from mainmatter.papers.fiasco.features import LINGUISTIC
from mainmatter.papers.fiasco.method import Fiasco
from mainmatter.records import Gold, Page
from reproduce import fiasco as reproduce
from reproduce.fiasco import DATA, NodeScores, data_note, observe
from reproduce.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reproduce.run import ResultsPage

SHARED = Path(__file__).parents[3] / "shared/data"
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
    main, labels, rates, _ = run_on(reproduce.alignment, cleaneval_dev=pages, wcxb_dev=simple_pages(1))
    assert labels["cleaneval-dev"]["pages"] == "4"
    for column in ("words", "dice 0.4", "dice 0.9"):
        assert labels["cleaneval-dev"][column] == f"{(3 + 38 / 39) / 4:.4f}"
        assert labels["wcxb-dev"][column] == "1.0000"
    # The pages with 20 clean words have four target nodes, the other one five.
    for setting in ("as the paper", "ours"):
        assert rates[f"cleaneval-dev, {setting}"]["1 to 4 target nodes"] == "3"
        assert rates[f"cleaneval-dev, {setting}"]["fully"] == "1"
        assert rates[f"cleaneval-dev, {setting}"]["mean share of paragraphs found"] == "100.0%"
    assert list(main["cleaneval-dev: pages with more than 80 % of the paragraphs aligned"].values())[1:] == [
        "about 67%",
        "100%",
        "100%",
    ]


def test_thirds() -> None:
    found = [(1.0, 4), (1.0, 5), (0.81, 5), (0.8, 5), (0.1, 9)]
    assert reproduce._thirds(found) == (1, 1, 1, 2)


def test_thresholds_of_labels() -> None:
    # Of the gold paragraph's four words two are in a block of four: a coefficient of 0.5, and F1 too. By
    # words, not more than half of the block is aligned.
    pages = [page(0, ["one two three four"])]
    other = [GoldPage(pages[0].page, Gold(text="one two five six"), {})]
    row = run_on(reproduce.alignment, cleaneval_dev=other, wcxb_dev=pages)[1]["cleaneval-dev"]
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
    main, systems = run_on(reproduce.system, cleaneval_dev=simple_pages(), readability=simple_pages())
    dump = systems["plain text dump"]
    precision = (20 / 23 + 40 / 43) / 2
    assert dump["precision"] == f"{100 * precision:.2f}"
    assert dump["recall"] == "100.00"
    assert dump["F of the means"] == f"{200 * precision / (1 + precision):.2f}"
    assert dump["mean of F"] == f"{100 * (40 / 43 + 80 / 83) / 2:.2f}"
    assert dump["micro F"] == f"{100 * 2 * 60 / (60 + 66):.2f}"
    assert dump["pages with recall below 1%"] == "0"
    # Clean and dirty texts differ in all that is looked at: each system gets all of them right.
    paper = "as the paper: linguistic and structural features"
    for name in (paper, "ours", f"{paper}, without lost pages (12 left)"):
        assert [systems[name][column] for column in ("precision", "recall", "mean of F")] == ["100.00"] * 3
    assert systems[paper]["paper: P R F"] == "87.63 51.87 65.16"
    assert list(main["precision, recall, F: whole system"].values())[1:] == [
        "87.63 51.87 65.16",
        "100.00 100.00 100.00",
        "100.00 100.00 100.00",
    ]
    assert "as the paper: all features" not in systems


def test_pages_that_are_lost() -> None:
    # Of a hundred words one is found, or none; the page without gold text lost nothing.
    assert [reproduce._is_lost(Counts(found, 9, gold)) for found, gold in ((1, 100), (1, 101), (0, 1), (0, 0))] == [
        False,
        True,
        True,
        False,
    ]


def test_texts_are_cut_out_of_blocks() -> None:
    gold_page = GoldPage(Page("<p>one two <a href=x>three</a></p><p>four"), Gold(text="one two"), {})
    elements = find_elements(read(gold_page.page))
    belonging = Belonging.of(elements, 2)
    cut = reproduce._compare(
        reproduce._Cleaned(gold_page, [(np.array([True, False, False]), belonging), (np.array([True, False]), None)])
    )
    assert cut == [Counts(2, 4, 2), Counts(2, 2, 2), Counts(2, 3, 2)]
    words = reproduce._compare(
        reproduce._Cleaned(GoldPage(Page("<p>中文。"), Gold(text="中文"), {}), [], by_words=True)
    )
    assert words == [Counts(2, 2, 2)]


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
    monkeypatch.setattr(reproduce, "_SITE_FOLDS", 2)
    # The text of the last page looks clean and is not in its gold text, so that only table 2 counts it.
    odd = GoldPage(page(9, [LONG], "").page, Gold(text="Nothing of this is there"), {})
    menu = "<ul><li>Home<li>Sitemap<li>Copyright</ul>"  # else no structural feature would tell nodes apart
    pages = [page(number, [LONG, OTHER][: 1 + number % 2], menu) for number in range(6)]
    main, all_pages, well_aligned = run_on(reproduce.feature_subsets, cleaneval_dev=[*pages, odd])
    for table in (all_pages, well_aligned):
        for name, row in table.items():
            paper, *here = list(row.values())[1:]
            assert bool(paper) == (name not in ("Linguistic only", "Structural only") and "ayout" not in name)
            if name in ("All", "POS only", "All \\ {visual}", "Only POS and visual"):
                assert here == ["needs HanTa"] * 3
            elif name in ("All \\ {POS}", "Visual only") or "ayout" in name:
                assert here == ["needs opencv-python-headless"] * 3
            else:
                assert all("%" in cell for cell in here)
    # Six pages have 3 dirty nodes each, and 9 clean ones together; to these comes one that is dirty, and looks clean.
    assert list(well_aligned["Linguistic only"].values())[2:] == ["100.00% 1.00 1.00 1.00"] * 3
    assert all_pages["Linguistic only"]["ours"] == f"{27 / 28:.2%} {9 / 10:.2f} 1.00 {18 / 19:.2f}"
    [row] = [row for name, row in main.items() if name.startswith("table 3") and "POS" in name]
    assert [row[column] for column in ("the paper", "as the paper")] == ["93.13%", "100.00%"]


def test_the_share_of_pages_that_align_best() -> None:
    assert (reproduce._WELL_ALIGNED_PAGES, reproduce._PAPERS_PAGES) == (117, 158)


def test_folds_of_nodes_and_of_sites() -> None:
    method = Fiasco(features="structural")
    pages = [page(number, [LONG] * 4) for number in range(4)]
    [observed] = observe(OwnRun(SHARED, 1, silent, lambda _: None), [method], pages)
    by_nodes = reproduce.make_folds(method, observed, 100, 4)
    assert sorted(len(fold.test) for fold in by_nodes) == [7] * 4
    assert all(len(fold.learn) == 21 for fold in by_nodes)
    by_sites = reproduce.make_folds(method, observed, 100, [[0], [1, 2]])
    assert [len(fold.test) for fold in by_sites] == [7, 14]
    assert sum(len(fold.test) for fold in reproduce.make_folds(method, observed, 10, 2)) == 10
    assert reproduce.judge_folds(method, by_nodes).accuracy > 0.5


def test_why_gamma_is_so_high() -> None:
    gammas = (0.5, 8.0)
    curves = [[0.9, 0.8], *[[0.9, 0.85]] * 10, [0.7, 0.69]]
    finding = reproduce._gamma_finding(gammas, curves)
    assert "folds of sites) is 10.0 points below" in finding
    assert "folds of nodes) 1.0." in finding
    assert "plain lengths 5.0" in finding
    assert reproduce._gamma_finding((0.5,), [[0.9]]) == ""


def test_chinese_pages() -> None:
    texts = ("这是中文。", "これは日本語です。漢字", "English 中文 text", "")
    found = [reproduce._is_chinese(GoldPage(Page(""), Gold(text=text), {})) for text in texts]
    assert found == [True, False, False, False]


def test_the_regions_of_table_1_are_those_of_the_page() -> None:
    texts = read(Page(reproduce._FIGURE)).texts
    assert len(texts) == 5
    assert texts[2] == "The bridge is closed"
    assert [block for _, _, block, _ in reproduce._REGIONS] == [0, 1, 3, 4]


def test_keywords_and_scale_are_those_of_the_pages_learned_from() -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    pages = [*simple_pages(4), page(4, [LONG * 20])]
    method = Fiasco()
    [observed] = observe(OwnRun(SHARED, 1, silent, lambda _: None), [method], pages)
    [fold] = reproduce.make_folds(method, observed, 100, [[4]])
    length = LINGUISTIC.index("own_chars")
    assert (fold.learn.shape[0], fold.test.shape[0]) == (3 * 4 + 6, 4)
    # Were the longest text part of the scale, those learned from would not reach its end.
    assert (fold.learn[:, length].min(), fold.learn[:, length].max()) == (-1, 1)
    assert fold.learn_positive.sum() == 6
    assert fold.test_positive.tolist() == [False] * 3 + [True]


def test_kernels_on_simple_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    monkeypatch.setattr(reproduce, "_STUDY_GAMMAS", (0.5, 8.0))
    monkeypatch.setattr(reproduce, "_GRIDS", dict.fromkeys(reproduce._GRIDS, ([1.0, 1e-6], [0.1])))
    main, classifiers, sites, nodes, paper_grid, our_grid = run_on(reproduce.kernels, cleaneval_dev=simple_pages())
    # 18 of 27 nodes are dirty: all that a machine finds whose errors cost nothing.
    assert classifiers["rbf"]["ours: worst"] == "66.7%"
    assert classifiers["rbf"]["ours: best"] == classifiers["rbf"]["as the paper: best"] == "100.0% (C 1, gamma 0.1)"
    assert classifiers["linear"]["ours: best"] == "100.0% (C 1)"
    assert classifiers["a decision tree"]["ours: best"] == "100.0%"
    assert (our_grid["1"]["0.1"], our_grid["1e-06"]["0.1"], paper_grid["1"]["0.1"]) == ("100.0", "66.7", "100.0")
    assert list(sites) == list(nodes) == [name for name, _ in reproduce._VARIANTS]
    assert main["bagged or boosted trees"]["the paper"] == "80%"


def test_the_grid_ends_where_machines_take_minutes() -> None:
    assert (min(reproduce._COSTS), max(reproduce._COSTS)) == (2**-5, 2**9)
    assert reproduce._PAPERS_GAMMA in reproduce._STUDY_GAMMAS
    assert max(reproduce._STUDY_GAMMAS) == 128


needs_data = pytest.mark.skipif(not (SHARED / "readability.parquet").is_file(), reason=f"{SHARED} is not there")


@pytest.mark.data
@needs_data
def test_real_pages() -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("wordfreq")
    run = Run(SHARED, 1, silent, lambda _: None, pages=8)
    _, labels, rates, _ = tables(reproduce.alignment(run))
    for name in ("cleaneval-dev", "wcxb-dev"):
        assert labels[name]["pages"] == "8"
        assert 0.8 < float(labels[name]["words"]) <= 1
        for setting in ("as the paper", "ours"):
            assert sum(int(cell) for cell in list(rates[f"{name}, {setting}"].values())[1:5]) == 8
    report = reproduce.system(run)
    assert any("(16 pages)" in part for part in report.parts)
    _, systems = tables(report)
    dump, ours, paper = (
        {name: float(cell) for name, cell in systems[system].items() if name in ("precision", "recall")}
        for system in ("plain text dump", "ours", "as the paper: linguistic and structural features")
    )
    assert dump["recall"] > ours["recall"] > paper["recall"]
    assert dump["precision"] < ours["precision"]
