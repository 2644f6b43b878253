"""How much less likely is it that a block is kept if other pages of its site have it, too?

The regression of docs/explanation/methods/template.md.

python scripts/cross_validate.py main --data ../shared/data --save folds
python scripts/site_weight.py --models folds --data ../shared/data

On the pages of training sets whose site has at least three, each judged by a model that has not learned from its site:
logistic regression of the labels over the net's log odds and (c - 1) / (n - 1 + d), where n pages of the site were
counted and c of them have the block's chunk. Each page weighs the same, its blocks by their length; blocks of which
nothing is known weigh nothing. The weight is told in the net's log odds: the factor of the count by that of the log
odds.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
import numpy as np

from mainmatter.lab.datasets import site_of
from mainmatter.lab.evaluation import format_table
from mainmatter.lab.training.examples import make_example
from mainmatter.lab.training.folds import load_fold_pages, load_folds
from mainmatter.papers.template.site_counts import SiteCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.lab.training.folds import FoldPage
    from mainmatter.main.method import Main
    from mainmatter.papers.template.chunks import Unit

FOLDS = 5
UNITS: tuple[Unit, ...] = ("block", "container", "table")
DOUBTS = (0, 1, 2, 4, 8)
FEWEST_PAGES = 3
ROUNDS = 60  # of Newton's method
RIDGE = 1e-9  # so that there is always a solution
MOST_ODDS = 500.0  # of which the exponential is taken
SMALLEST_STEP = 1e-9


@dataclass(frozen=True)
class Blocks:
    """All blocks of all pages: the net's log odds, what they are, what they weigh, and the counts of their chunks."""

    odds: NDArray[np.float64]
    is_text: NDArray[np.float64]
    weights: NDArray[np.float64]
    pages: NDArray[np.float64]
    counts: dict[Unit, NDArray[np.float64]]


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--models", type=click.Path(path_type=Path, exists=True), required=True, help="The models of the folds.")
def main(data: Path, models: Path) -> None:
    """Fit all regressions."""
    pages: dict[str, list[FoldPage]] = defaultdict(list)
    for page in load_fold_pages(data, FOLDS):
        pages[page.dataset].append(page)
    pages = {name: _of_large_sites(its) for name, its in pages.items()}
    click.echo(", ".join(f"{name}: {len(its)} pages" for name, its in pages.items()))
    blocks = _gather(pages, [cast("Main", model) for model in load_folds(models, FOLDS)])
    ones = np.ones_like(blocks.odds)
    _, alone = _fit(blocks, [blocks.odds, ones])
    click.echo(f"{len(blocks.odds):,} blocks; cross-entropy of the net's log odds alone {alone:.4f}")
    rows = [["d", *(f"{unit}: {what}" for unit in UNITS for what in ("cross-entropy", "weight"))]]
    for doubt in DOUBTS:
        row = [str(doubt)]
        for unit in UNITS:
            repeated = (blocks.counts[unit] - 1) / np.maximum(blocks.pages - 1 + doubt, 1)
            factors, entropy = _fit(blocks, [blocks.odds, ones, repeated])
            row += [f"{entropy:.4f}", f"{-factors[2] / factors[0]:.1f}"]
        rows.append(row)
    click.echo(format_table(rows))


def _of_large_sites(pages: list[FoldPage]) -> list[FoldPage]:
    by_site: dict[str, list[FoldPage]] = defaultdict(list)
    for page in pages:
        by_site[site_of(page.gold)].append(page)
    return [page for its in by_site.values() if len(its) >= FEWEST_PAGES for page in its]


def _gather(pages: dict[str, list[FoldPage]], models: list[Main]) -> Blocks:
    columns: list[list[NDArray[np.float64]]] = []
    for its in pages.values():
        examples = [make_example(page.gold) for page in its]
        templates = []
        for unit in UNITS:
            counts = SiteCounts(unit)
            for example in examples:
                counts.add(example.document)
            templates.append(counts.templates())
        for page, example in zip(its, examples, strict=True):
            method = models[page.fold].by_convention(page.gold.convention)
            document, shares = example.document, example.shares
            if not len(document) or np.isnan(shares).all():
                continue
            counted = [one.look_up(document) for one in templates]
            weights = np.where(np.isnan(shares), 0, document.lengths / document.lengths.sum())
            columns.append(
                [
                    method.log_odds(method.describe(document)),
                    (np.nan_to_num(shares) > 0.5).astype(float),
                    weights,
                    np.full(len(document), float(counted[0].pages)),
                    *(one.counts[one.chunks.of_block].astype(float) for one in counted),
                ]
            )
    odds, is_text, weights, count, *by_unit = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Blocks(odds, is_text, weights / weights.sum(), count, dict(zip(UNITS, by_unit, strict=True)))


def _fit(blocks: Blocks, columns: list[NDArray[np.float64]]) -> tuple[NDArray[np.float64], float]:
    """The factors of the columns, by Newton's method, and the cross-entropy with them."""
    table = np.stack(columns, 1)
    factors = np.zeros(len(columns))
    factors[0] = 1

    def entropy(factors: NDArray[np.float64]) -> float:
        odds = table @ factors
        return float((blocks.weights * (np.logaddexp(0, odds) - blocks.is_text * odds)).sum())

    for _ in range(ROUNDS):
        chances = 1 / (1 + np.exp(-np.clip(table @ factors, -MOST_ODDS, MOST_ODDS)))
        slope = table.T @ (blocks.weights * (chances - blocks.is_text))
        curvature = (table * (blocks.weights * chances * (1 - chances))[:, None]).T @ table
        step = np.linalg.solve(curvature + RIDGE * np.eye(len(columns)), slope)
        while np.abs(step).max() > SMALLEST_STEP and entropy(factors - step) > entropy(factors):
            step /= 2
        factors = factors - step
    return factors, entropy(factors)


if __name__ == "__main__":
    main()
