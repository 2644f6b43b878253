"""From the numbers of pages to those of a set: macro averages with their spread, and micro averages.

A macro average is the mean of the pages' scores, each page weighing the same; a micro average pools the
pages' counts, so that long pages weigh more (NCleaner, section 4). A column that a page lacks leaves the page
out.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.lab.metrics.score import Counts, Score
from mainmatter.lab.metrics.shingles import benchmark_score
from mainmatter.lab.metrics.snippets import SnippetCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.metrics.metric import Row

_COUNTS = ("matched", "extracted", "gold")


def macro(rows: Sequence[Row], columns: Sequence[str]) -> Row:
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


def macro_and_micro(rows: Sequence[Row], columns: Sequence[str]) -> Row:
    """Macro averages, and micro averages of each kind of thing that the pages count (NCleaner, table 2)."""
    result = macro(rows, columns)
    for kind in dict.fromkeys(column.rpartition("_")[0] for column in columns):
        pooled = sum((_counts(row, kind) for row in rows), Counts(0, 0, 0))
        if rows:
            micro = flat(kind, pooled.score)
            result |= {f"{column}_micro": value for column, value in micro.items()}
    return result


def means_first(rows: Sequence[Row], columns: Sequence[str]) -> Row:
    """Macro averages, and `_benchmark` figures as the article extraction benchmark takes them."""
    benchmark = benchmark_score([_counts(row, "shingles") for row in rows])
    published = {f"{column}_benchmark": value for column, value in flat("", benchmark).items()}
    return macro(rows, columns) | (published if rows else {})


def pooled_snippets(rows: Sequence[Row], columns: Sequence[str]) -> Row:
    """Scores of the pooled counts only: a page has too few snippets for scores of its own to be averaged."""
    fields = [field.name for field in dataclasses.fields(SnippetCounts)]
    counts = {field: int(sum(row[field] for row in rows)) for field in fields}
    pooled = SnippetCounts(**counts)
    return {column: getattr(pooled, column) for column in columns} | counts if rows else {}


def flat(kind: str, score: Score) -> Row:
    """A score as named numbers: precision, recall and f1, each after the kind of thing that is scored."""
    return {f"{kind}_{name}".lstrip("_"): value for name, value in dataclasses.asdict(score).items()}


def flat_counts(kind: str, counts: Counts) -> Row:
    """Counts as named numbers, from which a set's figures are pooled."""
    return {f"{kind}_{name}": getattr(counts, name) for name in _COUNTS}


def _counts(row: Row, kind: str) -> Counts:
    matched, extracted, gold = (int(row[f"{kind}_{name}"]) for name in _COUNTS)
    return Counts(matched, extracted, gold)
