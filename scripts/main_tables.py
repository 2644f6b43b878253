"""Tables for docs/results/main.md: both conventions, the dial, whether the confidence is right, what signals are worth.

python scripts/main_tables.py --models folds --data ../shared/data
python scripts/main_tables.py --final --data ../shared/data

The first is on the sets that may train, by the models of folds that scripts/cross_validate.py saves: choose by that.
The second is the net that ships, on the sets that are for tests only: run it once, when all has been chosen.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mainmatter.api import clean
from mainmatter.errors import MainmatterError
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.datasets import DATASETS, load_dataset
from mainmatter.lab.evaluation import MethodByConvention, format_table
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.folds import FoldPage, load_fold_pages
from mainmatter.main.features import FAMILIES
from mainmatter.registry import DEFAULT_METHOD, get_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.evaluation import Convention

DIALS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
BINS = (0.0, 0.6, 0.8, 0.9, 0.95, 1.0)


def measure(runners: Sequence[MethodByConvention], page: FoldPage) -> tuple[float, float, float, float]:
    """Confidence, precision, recall and F1 on one page, by the model of its fold."""
    gold = page.gold
    found = clean(gold.page, method=runners[page.fold].on(gold))
    score = bag_of_words(found.text, gold.gold.text or "")
    return found.confidence or 0.0, score.precision, score.recall, score.f1


class Tables:
    """Runs `main` with other parameters over the same pages.

    Args:
        models: by fold, the names or paths of the models.
        pages: those that are measured on.
        workers: how many processes.
    """

    def __init__(self, models: Sequence[str], pages: Sequence[FoldPage], workers: int) -> None:
        self._models, self._pages, self._workers = models, pages, workers

    def run(self, convention: Convention = "own", **parameters: Any) -> dict[str, np.ndarray]:  # noqa: ANN401
        """The four figures of all pages of each set."""
        runners = [MethodByConvention(get_method(model, **parameters), convention) for model in self._models]
        found = defaultdict(list)
        results = ordered_map(partial(measure, runners), self._pages, self._workers)
        for page, result in zip(self._pages, results, strict=True):
            found[page.dataset].append((0.0, 0.0, 0.0, 0.0) if isinstance(result, Failure) else result)
        return {name: np.array(rows) for name, rows in found.items()}


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True, help="The folder of the gold standards.")
@click.option("--models", type=click.Path(path_type=Path, exists=True), help="The models of the folds.")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--final", is_flag=True, help="The net that ships, on the sets that are for tests only.")
@click.option("--workers", type=click.IntRange(1, 2), default=2, show_default=True)
def main(data: Path, models: Path | None, folds: int, final: bool, workers: int) -> None:
    """Print the tables."""
    if final == (models is not None):
        raise click.UsageError("say --models FOLDER or --final")
    try:
        if models is None:
            names = [name for name, dataset in DATASETS.items() if dataset.use == "tests"]
            pages = [FoldPage(name, page, 0) for name in names for page in load_dataset(name, data)]
            show(Tables([DEFAULT_METHOD], pages, workers))
        else:
            pages = [page for page in load_fold_pages(data, folds) if page.gold.gold.text is not None]
            show(Tables([str(models.resolve() / str(fold)) for fold in range(folds)], pages, workers))
    except MainmatterError as error:
        raise click.ClickException(str(error)) from error


def show(tables: Tables) -> None:
    """Measure, and print."""
    usual = tables.run()
    names = list(usual)
    click.echo("F1 by the convention of each set, and by ours:\n")
    rows = [["convention", *names]]
    for title, found in (("of the set", usual), ("house", tables.run("house"))):
        rows.append([title, *(f"{found[name][:, 3].mean():.3f}" for name in names)])
    click.echo(format_table(rows))
    click.echo("\nThe dial, precision / recall:\n")
    rows = [["dial", *names]]
    for dial in DIALS:
        means = [each.mean(0) for each in tables.run(dial=dial).values()]
        rows.append([f"{dial}", *(f"{precision:.3f} / {recall:.3f}" for _, precision, recall, _ in means)])
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
    rows = [["without", *names], ["-", *(f"{usual[name][:, 3].mean():.3f}" for name in names)]]
    for family in FAMILIES:
        rows.append([family, *(f"{each[:, 3].mean():.3f}" for each in tables.run(without=family).values())])
    click.echo(format_table(rows))


if __name__ == "__main__":
    main()
