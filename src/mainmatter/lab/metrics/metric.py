"""What a metric is, and the table of all: each compares a method's output with the gold standard.

The functions behind them are in one file for each family, and can be called on their own. To add a metric: write its
function in a file of its own, a few lines here that call it with a method's output and the gold standard, and an entry
in the table.

From the numbers of pages to those of a set: a macro average is the mean of the pages' scores, each page weighing the
same; a micro average pools the pages' counts, so that long pages weigh more (NCleaner, section 4). A column that a page
lacks leaves the page out.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import UnknownName
from mainmatter.lab.metrics.alignment import align, cleaneval_score, rouge_l
from mainmatter.lab.metrics.bag import (
    Counts,
    Score,
    SnippetCounts,
    bag_of_words,
    benchmark_score,
    count_shingles,
    count_snippets,
)
from mainmatter.lab.metrics.longest import longest_common
from mainmatter.lab.metrics.metadata import author_is_right, date_is_right, title_is_right
from mainmatter.records import Metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mainmatter.records import Gold, Need

Row = dict[str, float]
"""Named numbers of one page or of a set of pages."""

_COUNTS = ("matched", "extracted", "gold")
_SCORE = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Output:
    """A method's output for a page.

    Attributes:
        text: the plain text.
        marked: the same with CleanEval markup, each segment starting with `<h>`, `<p>` or `<l>`.
        metadata: what the page says about itself, if the method looks for that.
    """

    text: str
    marked: str = ""
    metadata: Metadata | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its name is its key in `METRICS`, its argument on the command line and its column in reports.

    Attributes:
        name: what it is called.
        description: one line for people.
        needs: what the gold standard must have.
        columns: the scores of a page, which are also the figures of a set that matter most; higher is better.
        headline: the one column to look at.
        compare: from what a method gave and what the gold standard says to the numbers of the page: the
            columns, and the counts from which a set's pooled figures are made.
        summarise: from the numbers of pages to those of the set. Each column keeps its name; what else there
            is has the column's name with an ending (`_sd`, `_min`, `_max`, `_micro`, `_benchmark`).
        percent: whether scores run from 0 to 100; otherwise from 0 to 1.
    """

    name: str
    description: str
    needs: Need
    columns: tuple[str, ...]
    headline: str
    compare: Callable[[Output, Gold], Row]
    summarise: Callable[[Sequence[Row], Sequence[str]], Row]
    percent: bool = False

    def measure(self, output: Output, gold: Gold) -> Row | None:
        """Score one page; None where the gold standard lacks what the metric needs."""
        return self.compare(output, gold) if gold.has(self.needs) else None

    def aggregate(self, rows: Sequence[Row | None]) -> Row:
        """Score a set of pages from the rows of its pages; `pages` says how many had a gold standard."""
        measured = [row for row in rows if row is not None]
        return {"pages": len(measured), **self.summarise(measured, self.columns)}


def _shingle(output: Output, gold: Gold) -> Row:
    """Shingles of four words, with their counts."""
    counts = count_shingles(output.text, gold.text or "")
    return _flat("", counts.score) | _flat_counts("shingles", counts)


def _cleaneval(output: Output, gold: Gold) -> Row:
    """Similarity by edit distance, in percent."""
    score = cleaneval_score(output.marked, gold.marked or "")
    return dataclasses.asdict(score) | {"combined": score.combined}


def _alignment(output: Output, gold: Gold) -> Row:
    """Aligned words and markers, with their counts."""
    aligned = align(output.marked, gold.marked or "")
    row: Row = {}
    for kind in ("words", "words_and_markers", "labelled", "unlabelled"):
        counts = getattr(aligned, kind)
        row |= _flat(kind, counts.score) | _flat_counts(kind, counts)
    return row


def _longest(output: Output, gold: Gold) -> Row:
    """Longest common substring and subsequence of characters."""
    scores = longest_common(output.text, gold.text or "")
    return _flat("substring", scores.substring) | _flat("subsequence", scores.subsequence)


def _snippet(output: Output, gold: Gold) -> Row:
    """Snippets found and not found."""
    counts = count_snippets(output.text, gold.must_have, gold.must_not_have)
    scores = {name: getattr(counts, name) for name in ("precision", "recall", "f1", "accuracy")}
    return scores | dataclasses.asdict(counts)


def _metadata(output: Output, gold: Gold) -> Row:
    """Fields that are right (1) or wrong (0), and their mean, without those that the gold standard lacks."""
    found = output.metadata or Metadata()
    verdicts = {
        "title": title_is_right(found.title, gold.title),
        "author": author_is_right(found.author, gold.author),
        "date": date_is_right(found.date, gold.date),
    }
    row = {field: float(right) for field, right in verdicts.items() if right is not None}
    return {"accuracy": sum(row.values()) / len(row)} | row if row else row


def _macro(rows: Sequence[Row], columns: Sequence[str]) -> Row:
    """Mean of each column, with its standard deviation (of a sample, as in NCleaner), minimum and maximum."""
    result: Row = {}
    for column in columns:
        values = np.array([row[column] for row in rows if column in row], dtype=float)
        if values.size:
            result[column] = float(values.mean())
            result[f"{column}_sd"] = float(values.std(ddof=1)) if values.size > 1 else 0.0
            result[f"{column}_min"] = float(values.min())
            result[f"{column}_max"] = float(values.max())
    return result


def _macro_and_micro(rows: Sequence[Row], columns: Sequence[str]) -> Row:
    """Macro averages, and micro averages of each kind of thing that the pages count (NCleaner, table 2)."""
    result = _macro(rows, columns)
    for kind in dict.fromkeys(column.rpartition("_")[0] for column in columns):
        pooled = sum((_counts(row, kind) for row in rows), Counts(0, 0, 0))
        if rows:
            micro = _flat(kind, pooled.score)
            result |= {f"{column}_micro": value for column, value in micro.items()}
    return result


def _means_first(rows: Sequence[Row], columns: Sequence[str]) -> Row:
    """Macro averages, and `_benchmark` figures as the article extraction benchmark takes them."""
    benchmark = benchmark_score([_counts(row, "shingles") for row in rows])
    published = {f"{column}_benchmark": value for column, value in _flat("", benchmark).items()}
    return _macro(rows, columns) | (published if rows else {})


def _pooled_snippets(rows: Sequence[Row], columns: Sequence[str]) -> Row:
    """Scores of the pooled counts only: a page has too few snippets for scores of its own to be averaged."""
    fields = [field.name for field in dataclasses.fields(SnippetCounts)]
    counts = {field: int(sum(row[field] for row in rows)) for field in fields}
    pooled = SnippetCounts(**counts)
    return {column: getattr(pooled, column) for column in columns} | counts if rows else {}


def _flat(kind: str, score: Score) -> Row:
    """A score as named numbers: precision, recall and f1, each after the kind of thing that is scored."""
    return {f"{kind}_{name}".lstrip("_"): value for name, value in dataclasses.asdict(score).items()}


def _flat_counts(kind: str, counts: Counts) -> Row:
    """Counts as named numbers, from which a set's figures are pooled."""
    return {f"{kind}_{name}": getattr(counts, name) for name in _COUNTS}


def _counts(row: Row, kind: str) -> Counts:
    matched, extracted, gold = (int(row[f"{kind}_{name}"]) for name in _COUNTS)
    return Counts(matched, extracted, gold)


def _scores_of(*kinds: str) -> tuple[str, ...]:
    return tuple(f"{kind}_{score}" for kind, score in product(kinds, _SCORE))


_TABLE = (
    Metric(
        name="bag",
        description="Bag of words: precision, recall and F1 of words in any order (WCXB).",
        needs="gold",
        columns=_SCORE,
        headline="f1",
        compare=lambda output, gold: _flat("", bag_of_words(output.text, gold.text or "")),
        summarise=_macro,
    ),
    Metric(
        name="shingle",
        description="Runs of four words (article extraction benchmark of Scrapinghub/Zyte).",
        needs="gold",
        columns=_SCORE,
        headline="f1",
        compare=_shingle,
        summarise=_means_first,
    ),
    Metric(
        name="cleaneval",
        description="CleanEval 2007: similarity by edit distance of words, with and without markup.",
        needs="gold_marked",
        columns=("text_only", "text_and_markup", "combined"),
        headline="combined",
        compare=_cleaneval,
        summarise=_macro,
        percent=True,
    ),
    Metric(
        name="align",
        description="Aligned words and segment markers, macro and micro averaged (NCleaner).",
        needs="gold_marked",
        columns=_scores_of("words", "words_and_markers", "labelled", "unlabelled"),
        headline="words_f1",
        compare=_alignment,
        summarise=_macro_and_micro,
    ),
    Metric(
        name="lcs",
        description="Longest common substring and subsequence of characters, white space removed (Density).",
        needs="gold",
        columns=_scores_of("substring", "subsequence"),
        headline="subsequence_f1",
        compare=_longest,
        summarise=_macro,
    ),
    Metric(
        name="rouge",
        description="ROUGE-L: longest common subsequence of words.",
        needs="gold",
        columns=_SCORE,
        headline="f1",
        compare=lambda output, gold: _flat("", rouge_l(output.text, gold.text or "")),
        summarise=_macro,
    ),
    Metric(
        name="snippet",
        description="Snippets that must and must not be there, pooled over the pages (trafilatura).",
        needs="snippets",
        columns=(*_SCORE, "accuracy"),
        headline="f1",
        compare=_snippet,
        summarise=_pooled_snippets,
    ),
    Metric(
        name="metadata",
        description="Title, author and date: the share of pages where they are right.",
        needs="metadata",
        columns=("accuracy", "title", "author", "date"),
        headline="accuracy",
        compare=_metadata,
        summarise=_macro,
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
