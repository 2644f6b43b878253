"""Figure 2 of Ma, Goharian and Chowdhury 2003: relevant pages among the first, with and without the template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.errors import MissingExtra
from mainmatter.papers.template.reproduce_retrieval_search import ALL_TEXT, DEPTHS, Collection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from mainmatter.lab.reproduction import ResultsPage
    from mainmatter.papers.template.reproduce_retrieval_queries import Criterion

_SHOWN = ("template", "main")
_BEFORE, _AFTER = "#b8b8b8", "#1b4965"
_WIDTH = 0.38


def draw_figure_2(report: ResultsPage, collections: Sequence[Collection], criterion: Criterion) -> None:
    """One panel for each method and collection: the sums over the queries that changed.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    figure = Figure(figsize=(3.2 * len(collections), 5.6), layout="constrained")
    panels = figure.subplots(len(_SHOWN), len(collections), squeeze=False)
    for line, method in enumerate(_SHOWN):
        for column, collection in enumerate(collections):
            _draw_panel(panels[line, column], collection, method, criterion)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    report.picture(
        "retrieval",
        "Relevant pages among the first 1, 5 and 10, summed over the template queries whose first ten changed in "
        "relevance; above with the paper's method, below with `main`",
        figure,
    )


def _draw_panel(axes: Axes, collection: Collection, method: str, criterion: Criterion) -> None:
    before, after = sums_of_changed(collection, method, criterion)
    for shift, counts, colour, label in (
        (-_WIDTH / 2, before[1:], _BEFORE, "all text"),
        (_WIDTH / 2, after[1:], _AFTER, "boilerplate removed"),
    ):
        bars = axes.bar([at + shift for at in range(len(DEPTHS))], counts, _WIDTH, color=colour, label=label)
        axes.bar_label(bars, fontsize=8, padding=1)
    axes.set_xticks(range(len(DEPTHS)), [f"top {depth}" for depth in DEPTHS])
    axes.set_title(f"{collection.name}, {method}: {before[0]} queries", fontsize=9)
    axes.set_ylabel("relevant pages", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.margins(y=0.12)
    axes.spines[["top", "right"]].set_visible(False)


def sums_of_changed(collection: Collection, method: str, criterion: Criterion) -> tuple[list[int], list[int]]:
    """How many queries changed and how many relevant pages they have at each depth, before and after."""
    queries = collection.queries[True]
    found = [
        [collection.answers[variant, True].relevant_at(depth, queries, criterion) for depth in DEPTHS]
        for variant in (ALL_TEXT, method)
    ]
    changed = [at for at in range(len(queries)) if found[0][-1][at] != found[1][-1][at]]
    before, after = ([len(changed), *(sum(counts[at] for at in changed) for counts in of_one)] for of_one in found)
    return before, after
