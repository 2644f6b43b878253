"""What a metric is: it compares a method's output with the gold standard, page by page and over a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mainmatter.records import Gold, Metadata, Need

Row = dict[str, float]
"""Named numbers of one page or of a set of pages."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a method gave for a page.

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
