"""What the FIASCO reproductions share: the data, and how well target nodes are judged in a cross-validation by site.

The paper's own gold standard, 158 pages, is not to be had. CleanEval's development set is of the same kind and time;
with the pages of Readability there are about as many.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import InputError, MissingExtra
from mainmatter.lab.datasets import folds_by_site
from mainmatter.lab.training.align import make_example
from mainmatter.papers.fiasco.method import FAMILIES, Fiasco, NodesOfPage
from mainmatter.papers.fiasco.pos import need_tagger
from mainmatter.papers.fiasco.visual import need_rendering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction import Run
    from mainmatter.lab.training.align import Aligner

DATA = ("cleaneval-dev", "readability")
_STYLE_ELEMENT = re.compile(r"<style\b", re.IGNORECASE)
_STYLE_ATTRIBUTE = re.compile(r"<[a-z][^<>]*\sstyle\s*=", re.IGNORECASE)
_STYLE_SHEET = re.compile(r"<link\b[^<>]*stylesheet", re.IGNORECASE)


@dataclass(frozen=True)
class Judgement:
    """How well target nodes were judged: accuracy, and precision and recall of clean ones."""

    accuracy: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @classmethod
    def of(cls, judged: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> Judgement:
        """Compare what was judged clean with what is."""
        right = int((judged & wanted).sum())
        return cls(
            float((judged == wanted).mean()) if len(wanted) else 0.0,
            right / max(1, int(judged.sum())),
            right / max(1, int(wanted.sum())),
        )

    def cells(self) -> list[str]:
        """As the cells of a row of the paper's tables."""
        return [f"{self.accuracy:.2%}", f"{self.precision:.2f}", f"{self.recall:.2f}", f"{self.f1:.2f}"]


@dataclass(frozen=True)
class Trial:
    """A method, and what it has observed on pages, in folds: the pages' numbers."""

    method: Fiasco
    pages: list[NodesOfPage]
    folds: list[list[int]]


def load_pages(run: Run) -> list[GoldPage]:
    """The pages of both sets."""
    return [page for name in DATA for page in run.load(name)]


def data_note(pages: Sequence[GoldPage]) -> str:
    """What to say about the data of a report."""
    return (
        f"The paper's gold standard of 158 English pages is not to be had. This is on {' and '.join(DATA)} "
        f"together ({len(pages)} pages), split by site."
    )


def observe(run: Run, features: str, pages: Sequence[GoldPage], by: Aligner) -> list[NodesOfPage]:
    """The target nodes of pages with some of the features."""
    return run.map(f"{features}, labels by {by}", partial(_observe, features, by), pages)


def observe_families(
    run: Run, families: Sequence[str], subsets: Sequence[str], pages: Sequence[GoldPage], by: Aligner
) -> dict[str, list[NodesOfPage]]:
    """The target nodes of pages with each of some subsets of the features; each page is looked at, and shown, once."""
    everything = "+".join(families)
    observed = observe(run, everything, pages, by)
    return {subset: [_only(subset, everything, page) for page in observed] for subset in subsets}


def _only(subset: str, everything: str, page: NodesOfPage) -> NodesOfPage:
    """The page with some of its families of features; keywords are no columns yet."""
    names = [name for family in everything.split("+") for name in FAMILIES[family]]
    wanted = [names.index(name) for family in subset.split("+") for name in FAMILIES[family]]
    return replace(page, rows=page.rows[:, wanted])


def possible_families() -> dict[str, str]:
    """The families of features that can be had here: "" for those, else what the others need."""
    missing = dict.fromkeys(FAMILIES, "")
    try:
        need_tagger()
    except MissingExtra:
        missing["pos"] = "HanTa"
    try:
        need_rendering()
    except MissingExtra as error:
        missing["visual"] = missing["layout"] = error.package
    except InputError:
        missing["visual"] = missing["layout"] = "Chromium"
    return missing


def style_note(pages: Sequence[GoldPage]) -> str:
    """What to say about how pages of a gold standard look, of which only the HTML is there."""
    sources = [page.page.html for page in pages]
    texts = [html if isinstance(html, str) else html.decode("latin-1") for html in sources]
    counts = {
        what: sum(pattern.search(text) is not None for text in texts)
        for what, pattern in (("element", _STYLE_ELEMENT), ("attribute", _STYLE_ATTRIBUTE), ("linked", _STYLE_SHEET))
    }
    return (
        "Visual features are those of pages shown in Chromium, 1280 pixels wide, without network and scripts. The sets "
        "hold the pages' HTML only: style sheets and pictures from elsewhere are missing. "
        f"{counts['linked']} of the {len(pages)} pages ask for a style sheet that is not there; {counts['element']} "
        f"have styles of their own (`<style>`), {counts['attribute']} have `style` attributes. Where a style sheet is "
        "missing, columns become one column, and a page looks more alike throughout than its readers saw it."
    )


def _observe(features: str, by: Aligner, page: GoldPage) -> NodesOfPage:
    return Fiasco(features=features).observe(make_example(page, by))


def folds_of(pages: Sequence[GoldPage], count: int) -> list[list[int]]:
    """The pages' numbers, split by site."""
    return [fold for fold in folds_by_site(pages, count) if fold]


def scores_by_page(trial: Trial) -> list[NDArray[np.float64]]:
    """The decision values of each page's nodes, by a machine that has seen no page of its site."""
    scores: dict[int, NDArray[np.float64]] = {}
    for fold in trial.folds:
        held_out = set(fold)
        rest = [page for number, page in enumerate(trial.pages) if number not in held_out]
        method = Fiasco(**trial.method.parameters).learn(rest)
        scores |= {number: method.judge(trial.pages[number]) for number in fold}
    return [scores[number] for number in range(len(trial.pages))]


def judge_nodes(trial: Trial) -> Judgement:
    """How well a method judges the nodes of pages of other sites."""
    judged = np.concatenate(scores_by_page(trial)) > trial.method.threshold
    return Judgement.of(judged, np.concatenate([page.kept for page in trial.pages]))
