r"""Shingles of four words: how much text is right, with a little of its order.

The measure of the article extraction benchmark of Scrapinghub (now Zyte),
https://github.com/scrapinghub/article-extraction-benchmark, with its tokens: runs of `\w`, case kept.
"""

from __future__ import annotations

import re
from collections import Counter

from mainmatter.lab.metrics.score import Counts, Score

SHINGLE_WORDS = 4

_WORD = re.compile(r"\w+")


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Every run of four words, with how often it occurs; a text of fewer words is one shingle."""
    tokens = _WORD.findall(text)
    if 0 < len(tokens) < SHINGLE_WORDS:
        return Counter([tuple(tokens)])
    return Counter(zip(*(tokens[start:] for start in range(SHINGLE_WORDS)), strict=False))


def count_shingles(extracted: str, gold: str) -> Counts:
    """Compare the multisets of shingles of two texts."""
    found, wanted = shingles(extracted), shingles(gold)
    return Counts((found & wanted).total(), found.total(), wanted.total())


def benchmark_score(pages: list[Counts]) -> Score:
    """The benchmark's figures for a set of pages.

    Its precision is the mean over the pages where something was extracted, its recall the mean over those
    where there is something to find, and its F1 is the harmonic mean of these two, not the mean of the pages'
    F1.
    """
    precisions = [page.matched / page.extracted for page in pages if page.extracted]
    recalls = [page.matched / page.gold for page in pages if page.gold]
    precision = sum(precisions) / len(precisions) if precisions else 0.0
    recall = sum(recalls) / len(recalls) if recalls else 0.0
    both = precision + recall
    return Score(precision, recall, 2 * precision * recall / both if both else 0.0)
