"""How good methods are on texts as WET archives hold them: a page's title, then the text of each block on its own line.

python scripts/wet_methods.py --data ../shared/data

Prints precision, recall and F1 of bags of words, means over the pages of each set. `main` is measured by
cross-validation: its net for dumps has not learned from the sites that it is measured on.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from mainmatter.api import read
from mainmatter.isolation.parallel import default_workers
from mainmatter.lab.datasets import GoldPage, folds_by_site, load_dataset
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.train import observe_pages
from mainmatter.main.dumps import as_dump
from mainmatter.main.method import Main
from mainmatter.records import Document, Page
from mainmatter.registry import get_method

SETS = (
    "wcxb-dev", "house-a", "house-wcxb", "cleaneval-dev", "forum52-a", "fundus-a", "magic-a", "readability",
    "zh-news-a",
)  # fmt: skip
SHIPPED = ("ice-baseline", "ncleaner", "ice-heuristic", "ice-elaborate", "density")


def dump_of(page: GoldPage) -> Document:
    """The text of a page, read as a record of a WET archive is."""
    lines = as_dump(read(page.page))[0].texts
    return read(Page("\n".join(lines), page.page.url, format="text", lines_are_blocks=True))


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path), help="The gold standards.")
@click.option("--folds", default=3, show_default=True)
@click.option("--epochs", default=Main().epochs, show_default=True)
def command(data: Path, folds: int, epochs: int) -> None:
    """Measure `main` on dumps of sites that it has not learned from, and other methods on the same dumps."""
    loaded = [(name, page) for name in SETS for page in load_dataset(name, data)]
    set_of = {id(page): name for name, page in loaded}
    observed = observe_pages(Main(), [page for _, page in loaded], workers=default_workers())
    texts = [replace(each, is_dump=True) for each in observed.observations]  # the net for pages is not needed
    others = [get_method(name) for name in SHIPPED]
    scores: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    for fold in folds_by_site(observed.pages, folds):
        held_out = set(fold)
        method = Main(epochs=epochs).learn([each for i, each in enumerate(texts) if i not in held_out])
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
    command()
