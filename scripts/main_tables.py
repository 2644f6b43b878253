"""Tables for docs/results/main.md: what the dial does, whether the confidence is right, what the signals are worth.

python scripts/main_tables.py --data ../shared/data
"""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from mainmatter.clean import clean
from mainmatter.isolation.parallel import Failure, default_workers, ordered_map
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.evaluation import format_table
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.main.features import FAMILIES
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from mainmatter.lab.datasets import GoldPage

# Sets that the shipped net has not learned from.
SETS = ("cleaneval-final", "daniel-a", "dragnet", "l3s-gn1")
DIALS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
BINS = (0.0, 0.6, 0.8, 0.9, 0.95, 1.0)


def measure(method: str, page: GoldPage) -> tuple[float, float, float, float]:
    """Confidence, precision, recall and F1 on one page."""
    found = clean(page.page, method=get_method(method))
    score = bag_of_words(found.text, page.gold.text or "")
    return found.confidence or 0.0, score.precision, score.recall, score.f1


def run(method: str, pages: list[GoldPage]) -> np.ndarray:
    """The four figures of all pages."""
    results = ordered_map(partial(measure, method), pages, default_workers())
    return np.array([(0.0, 0.0, 0.0, 0.0) if isinstance(result, Failure) else result for result in results])


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
def main(data: Path) -> None:
    """Print the tables."""
    sets = {name: list(load_dataset(name, data)) for name in SETS}
    usual = {name: run("main", pages) for name, pages in sets.items()}
    click.echo("The dial, precision / recall:\n")
    rows = [["dial", *SETS]]
    for dial in DIALS:
        figures = [run(f"main:dial={dial}", pages).mean(0) for pages in sets.values()]
        rows.append([f"{dial}", *(f"{precision:.3f} / {recall:.3f}" for _, precision, recall, _ in figures)])
    click.echo(format_table(rows))
    click.echo("\nPages by confidence: how many, and their mean confidence / F1:\n")
    everything = np.concatenate(list(usual.values()))
    rows = [["confidence", "pages", "mean confidence", "mean f1"]]
    for low, high in itertools.pairwise(BINS):
        inside = everything[(everything[:, 0] > low) & (everything[:, 0] <= high)]
        if len(inside):
            rows.append([f"{low}-{high}", str(len(inside)), f"{inside[:, 0].mean():.3f}", f"{inside[:, 3].mean():.3f}"])
    click.echo(format_table(rows))
    click.echo("\nF1 without one family of signals (the net was not trained anew):\n")
    rows = [["without", *SETS], ["-", *(f"{usual[name][:, 3].mean():.3f}" for name in SETS)]]
    for family in FAMILIES:
        rows.append([family, *(f"{run(f'main:without={family}', sets[name])[:, 3].mean():.3f}" for name in SETS)])
    click.echo(format_table(rows))


if __name__ == "__main__":
    main()
