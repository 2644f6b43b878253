"""What the reproductions of NCleaner share: text dumps, evaluations with progress, figures as the paper writes them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mainmatter.clean import clean
from mainmatter.errors import MissingExtra
from mainmatter.lab.evaluation.evaluate import Evaluation, evaluate
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.metrics import Row
    from mainmatter.lab.reproduction.run import Run
    from mainmatter.method import Method


def dump(gold_page: GoldPage) -> GoldPage:
    """The same page as a plain-text dump: all its text, one block after the other, without markup."""
    page = gold_page.page
    text = clean(page, method="ice-baseline").text
    return replace(gold_page, page=Page(text, page.url, page.id, format="text"))


def measure(
    run: Run, label: str, method: str | Method, pages: Sequence[GoldPage], metrics: Sequence[str]
) -> Evaluation:
    """Evaluate a method, showing progress."""
    with run.progress(label, len(pages)) as advance:
        return evaluate(method, "", pages, metrics, workers=run.workers, on_page=advance)


def percent(value: float | None) -> str:
    """A score as the paper writes it."""
    return "-" if value is None else f"{100 * value:.2f}"


def micro(row: Row, kind: str) -> list[str]:
    """Micro-averaged F-score, precision and recall, in the paper's order."""
    return [percent(row.get(f"{kind}_{name}_micro")) for name in ("f1", "precision", "recall")]


def macro(row: Row, kind: str) -> list[str]:
    """Macro-averaged F-score, precision and recall, each with its standard deviation."""
    names = [f"{kind}_{name}" for name in ("f1", "precision", "recall")]
    return [f"{percent(row.get(name))} ± {percent(row.get(f'{name}_sd'))}" for name in names]


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty picture with axes, in inches.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    figure = Figure(figsize=(width, height))
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)
    return figure, axes
