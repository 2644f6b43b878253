"""Tables for docs/results/main.md: both conventions, the dial, whether the confidence is right, what signals are worth.

python scripts/main_tables.py --models folds --data ../shared/data
python scripts/main_tables.py --final --data ../shared/data
python scripts/main_tables.py --dumps --data ../shared/data

The first is on the sets that may train, by the models of folds that scripts/cross_validate.py saves: choose by that.
The second is the net that ships, on the sets that are for tests only: run it once, when all has been chosen. The third
is how good methods are on texts as WET archives hold them: a page's title, then the text of each block on its own line.
There `main` is measured by cross-validation: its net for dumps has not learned from the sites that it is measured on.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mainmatter.api import clean, read
from mainmatter.errors import MainmatterError
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.datasets import DATASETS, folds_by_site, load_dataset
from mainmatter.lab.evaluation import MethodByConvention, format_table
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.folds import FoldPage, load_fold_pages
from mainmatter.lab.training.train import observe_pages
from mainmatter.main.dumps import as_dump
from mainmatter.main.features import FAMILIES
from mainmatter.main.method import Main
from mainmatter.records import Page
from mainmatter.registry import DEFAULT_METHOD, get_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.evaluation import Convention
    from mainmatter.records import Document

DIALS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
BINS = (0.0, 0.6, 0.8, 0.9, 0.95, 1.0)
DUMP_SETS = (
    "wcxb-dev", "house-a", "house-wcxb", "cleaneval-dev", "forum52-a", "fundus-a", "magic-a", "readability",
    "zh-news-a",
)  # fmt: skip
DUMP_METHODS = ("ice-baseline", "ncleaner", "ice-heuristic", "ice-elaborate", "density")


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

    def run(self, convention: Convention = "own", **parameters: Any) -> dict[str, np.ndarray]:
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
@click.option("--dumps", is_flag=True, help="Methods on plain-text dumps of the sets that train.")
@click.option("--workers", type=click.IntRange(1, 2), default=2, show_default=True)
def main(data: Path, models: Path | None, folds: int, final: bool, dumps: bool, workers: int) -> None:
    """Print the tables."""
    if (models is not None) + final + dumps != 1:
        raise click.UsageError("say --models FOLDER, --final or --dumps")
    try:
        if dumps:
            show_dumps(data, folds, workers)
        elif models is None:
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


def dump_of(page: GoldPage) -> Document:
    """The text of a page, read as a record of a WET archive is."""
    lines = as_dump(read(page.page))[0].texts
    return read(Page("\n".join(lines), page.page.url, format="text", lines_are_blocks=True))


def show_dumps(data: Path, folds: int, workers: int) -> None:
    """Measure `main` on dumps of sites that it has not learned from, and other methods on the same dumps."""
    loaded = [(name, page) for name in DUMP_SETS for page in load_dataset(name, data)]
    set_of = {id(page): name for name, page in loaded}
    observed = observe_pages(Main(), [page for _, page in loaded], workers=workers)
    texts = [replace(each, is_dump=True) for each in observed.observations]  # the net for pages is not needed
    others = [get_method(name) for name in DUMP_METHODS]
    scores: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    for fold in folds_by_site(observed.pages, folds):
        held_out = set(fold)
        method = Main().learn([each for i, each in enumerate(texts) if i not in held_out])
        for page in (observed.pages[i] for i in fold):
            dump = dump_of(page)
            for each in (method, *others):
                score = bag_of_words(each.extract(dump).text, page.gold.text or "")
                row = score.precision, score.recall, score.f1
                for group in (set_of[id(page)], "all"):
                    scores.setdefault(group, {}).setdefault(each.name, []).append(row)
    for group, of_methods in scores.items():
        click.echo(f"{group}, {len(of_methods['main'])} pages: precision, recall, F1")
        for name, rows in of_methods.items():
            click.echo(f"  {name:14}" + "".join(f" {figure:6.3f}" for figure in np.mean(rows, axis=0)))


if __name__ == "__main__":
    main()
