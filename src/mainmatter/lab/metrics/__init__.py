"""Metrics: how close is what a method gave to the gold standard?

The table of all metrics; the plain functions behind them are one family a file and can be called by
themselves. To add one: write its function in a file of its own, a few lines in measures.py, and an entry
here.
"""

from __future__ import annotations

from itertools import product

from mainmatter.errors import UnknownName
from mainmatter.lab.metrics import aggregate, measures
from mainmatter.lab.metrics.metric import Metric, Output, Row

__all__ = ["METRICS", "Metric", "Output", "Row", "find_metric"]

_SCORE = ("precision", "recall", "f1")


def _scores_of(*kinds: str) -> tuple[str, ...]:
    return tuple(f"{kind}_{score}" for kind, score in product(kinds, _SCORE))


_TABLE = (
    Metric(
        name="bag",
        description="Bag of words: precision, recall and F1 of words in any order (WCXB).",
        needs="gold",
        columns=_SCORE,
        headline="f1",
        compare=measures.bag,
        summarise=aggregate.macro,
    ),
    Metric(
        name="shingle",
        description="Runs of four words (article extraction benchmark of Scrapinghub/Zyte).",
        needs="gold",
        columns=_SCORE,
        headline="f1",
        compare=measures.shingle,
        summarise=aggregate.means_first,
    ),
    Metric(
        name="cleaneval",
        description="CleanEval 2007: similarity by edit distance of words, with and without markup.",
        needs="gold_marked",
        columns=("text_only", "text_and_markup", "combined"),
        headline="combined",
        compare=measures.cleaneval,
        summarise=aggregate.macro,
        percent=True,
    ),
    Metric(
        name="align",
        description="Aligned words and segment markers, macro and micro averaged (NCleaner).",
        needs="gold_marked",
        columns=_scores_of("words", "words_and_markers", "labelled", "unlabelled"),
        headline="words_f1",
        compare=measures.alignment,
        summarise=aggregate.macro_and_micro,
    ),
    Metric(
        name="lcs",
        description="Longest common substring and subsequence of characters, white space removed (Density).",
        needs="gold",
        columns=_scores_of("substring", "subsequence"),
        headline="subsequence_f1",
        compare=measures.longest,
        summarise=aggregate.macro,
    ),
    Metric(
        name="rouge",
        description="ROUGE-L: longest common subsequence of words.",
        needs="gold",
        columns=_SCORE,
        headline="f1",
        compare=measures.rouge,
        summarise=aggregate.macro,
    ),
    Metric(
        name="snippet",
        description="Snippets that must and must not be there, pooled over the pages (trafilatura).",
        needs="snippets",
        columns=(*_SCORE, "accuracy"),
        headline="f1",
        compare=measures.snippet,
        summarise=aggregate.pooled_snippets,
    ),
    Metric(
        name="metadata",
        description="Title, author and date: the share of pages where they are right.",
        needs="metadata",
        columns=("accuracy", "title", "author", "date"),
        headline="accuracy",
        compare=measures.metadata,
        summarise=aggregate.macro,
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _TABLE}


def find_metric(name: str) -> Metric:
    """The metric of that name.

    Raises:
        UnknownName: if there is none.
    """
    if name not in METRICS:
        raise UnknownName("metric", name, METRICS)
    return METRICS[name]
