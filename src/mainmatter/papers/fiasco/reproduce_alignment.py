"""Labels from gold text: word by word, and by Dice coefficients (FIASCO 5.1). Which labels better, and how well?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.clean import read
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.reproduction import ResultsPage
from mainmatter.lab.training.align import align_words
from mainmatter.lab.training.dice import SIMILAR_ENOUGH, match_paragraphs, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction import Run
    from mainmatter.records import Document

_DATA = ("cleaneval-dev", "wcxb-dev")
_THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_WELL_ALIGNED = 0.8
_FEW_NODES = 4


@dataclass(frozen=True)
class _Page:
    """How well one page was labelled: F1 of keeping what is labelled so, by words and by each threshold of Dice."""

    words: float
    dice: list[float]
    rate: float  # of the gold paragraphs, the share that was found
    nodes: int
    words_seconds: float
    dice_seconds: float


def reproduce(run: Run) -> ResultsPage:
    """Label the pages in both ways, and keep exactly the blocks that are labelled as main matter."""
    report = ResultsPage("Labels from gold text")
    report.text(
        "Gold standards give clean text, not labelled blocks. Two ways to label: `words` aligns the words of page and "
        "gold text in order; `dice` finds for each gold paragraph the subtree with the most similar words "
        "(FIASCO 5.1). The better the labels, the nearer to the gold text is what they keep: macro-averaged "
        "bag-of-words F1 of exactly those blocks."
    )
    labelled = {name: run.map(name, _label, [page for page in run.load(name) if page.gold.text]) for name in _DATA}
    head = ["set", "pages", "words", *(f"dice {threshold:g}" for threshold in _THRESHOLDS)]
    report.table([head, *(_oracle_row(name, pages) for name, pages in labelled.items())])
    report.text(
        "`words` is the default. For `dice` a paragraph and a subtree are alike enough from a coefficient of "
        f"{SIMILAR_ENOUGH:g} on: below that, less than half of their words need be the same."
    )
    report.text(
        "## How many pages align well (FIASCO 5.1)\n\nOf the 158 pages of the paper, 8 had only 1 to 4 target nodes; "
        "of the other 150 a third aligned fully, a third by more than 80 %, a third poorly."
    )
    report.table(
        [
            ["set", "1 to 4 target nodes", "fully", "over 80 %", "poorly", "mean share of paragraphs found"],
            ["FIASCO's gold standard", "8", "about 50", "about 50", "about 50", ""],
            *(_rate_row(name, pages) for name, pages in labelled.items()),
        ]
    )
    report.text("## Time\n\nSeconds of one core, without reading the pages.")
    report.table([["set", "words", "dice"], *(_time_row(name, pages) for name, pages in labelled.items())])
    return report


def _label(page: GoldPage) -> _Page:
    document = read(page.page)
    gold_text = page.gold.text or ""
    start = time.process_time()
    shares, _ = align_words(document, page.gold)
    after_words = time.process_time()
    matches = match_paragraphs(document, page.gold)
    spread(matches.nodes, matches.found)
    after_dice = time.process_time()
    loosely = match_paragraphs(document, page.gold, _THRESHOLDS[0])
    by_dice = [np.where(loosely.similarities >= threshold, loosely.found, -1) for threshold in _THRESHOLDS]
    return _Page(
        _oracle(document, shares > 0.5, gold_text),
        [_oracle(document, spread(loosely.nodes, found), gold_text) for found in by_dice],
        matches.rate,
        len(document),
        after_words - start,
        after_dice - after_words,
    )


def _oracle(document: Document, kept: NDArray[np.bool_], gold_text: str) -> float:
    text = "\n".join(text for text, keep in zip(document.columns.texts, kept, strict=True) if keep)
    return bag_of_words(text, gold_text).f1


def _oracle_row(name: str, pages: Sequence[_Page]) -> list[str]:
    by_dice = np.mean([page.dice for page in pages], axis=0)
    return [name, str(len(pages)), f"{np.mean([page.words for page in pages]):.4f}", *(f"{f1:.4f}" for f1 in by_dice)]


def _rate_row(name: str, pages: Sequence[_Page]) -> list[str]:
    rates = np.array([page.rate for page in pages if page.nodes > _FEW_NODES])
    few = len(pages) - len(rates)
    fully, well = int((rates == 1).sum()), int((rates > _WELL_ALIGNED).sum())
    cells = (few, fully, well - fully, len(rates) - well)
    return [name, *map(str, cells), f"{np.mean([page.rate for page in pages]):.1%}"]


def _time_row(name: str, pages: Sequence[_Page]) -> list[str]:
    seconds = (sum(page.words_seconds for page in pages), sum(page.dice_seconds for page in pages))
    return [name, *(f"{each:.1f}" for each in seconds)]
