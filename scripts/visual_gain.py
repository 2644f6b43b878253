"""Would `main` gain if it saw its pages rendered? By cross-validation by site, on sets that may train.

python scripts/visual_gain.py --data ../shared/data --renderings FOLDER

Renderings are kept in FOLDER, so that a second run does not need the browser. What `main` sees of a block is extended
here, in this script only, by the columns of papers/fiasco/visual.py.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mainmatter.api import read
from mainmatter.html.browser.chromium import Chromium
from mainmatter.html.browser.rendering import Rendering
from mainmatter.lab.datasets import folds_by_site, load_dataset
from mainmatter.lab.evaluation import paired_t_test
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.examples import make_example
from mainmatter.main import augment
from mainmatter.main import method as main_module
from mainmatter.main.features import COLUMNS
from mainmatter.main.method import Main
from mainmatter.papers.fiasco.visual import LAYOUT, VISUAL, measure_layout, measure_regions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.main.features import PageFeatures
    from mainmatter.main.training import NetExample
    from mainmatter.records import Document

VARIANTS: dict[str, tuple[str, ...]] = {
    "main": (),
    "main and visual": VISUAL,
    "main and layout": LAYOUT,
    "main, visual and layout": (*VISUAL, *LAYOUT),
    "main and what is visible": ("rendered", "visible"),
}
CALLED_COMMENT = main_module._CALLED_COMMENT


@dataclass
class Seen:
    """A page, what `main` learns from it, and its visual columns."""

    name: str
    page: GoldPage
    example: NetExample
    looks: NDArray[np.float32]


class SeeingMain(Main):
    """`main` with some more columns, between its own and those of inherited names."""

    def see(self, columns: Sequence[str]) -> SeeingMain:
        """Choose the columns, and tell the modules that count columns."""
        names = (*VISUAL, *LAYOUT)
        self.chosen = [names.index(column) for column in columns]
        augment.COLUMNS = (*COLUMNS, *columns)  # type: ignore[assignment]
        main_module._CALLED_COMMENT = CALLED_COMMENT + len(columns)
        return self

    def extended(self, dense: NDArray[np.float32], looks: NDArray[np.float32]) -> NDArray[np.float32]:
        """The columns of a page with the chosen ones in their place."""
        parts = [dense[:, : len(COLUMNS)], looks[:, self.chosen], dense[:, len(COLUMNS) :]]
        return np.ascontiguousarray(np.hstack(parts), np.float32)

    def learn_from(self, pages: Sequence[Seen]) -> SeeingMain:
        """Train on pages."""
        examples = []
        for seen in pages:
            inputs = replace(seen.example.inputs, dense=self.extended(seen.example.inputs.dense, seen.looks))
            examples.append(replace(seen.example, inputs=inputs))
        self.learn(examples)
        return self

    def text_of(self, seen: Seen) -> str:
        """What it keeps of a page."""
        self.looks_ = seen.looks
        return self.extract(read(seen.page.page)).text

    def describe(self, document: Document) -> PageFeatures:
        """What each block looks like, seen through the browser too."""
        described = super().describe(document)
        dense = self.extended(described.dense, self.looks_)
        return replace(described, dense=dense)


def sample(pages: list[GoldPage], most: int) -> list[GoldPage]:
    """Pages from everywhere in a set."""
    return pages[:: max(1, len(pages) // most)][:most]


def path_of(page: GoldPage, folder: Path) -> Path:
    """Where a page's rendering is kept."""
    html = page.page.html
    data = html if isinstance(html, bytes) else html.encode("utf-8", "surrogatepass")
    return folder / f"{hashlib.sha256(data).hexdigest()[:32]}.npz"


def render_missing(pages: list[GoldPage], folder: Path) -> None:
    """Render the pages that have no rendering yet."""
    missing = [page for page in pages if not path_of(page, folder).exists()]
    if not missing:
        return
    start = time.perf_counter()
    with Chromium() as browser:
        documents = (read(page.page) for page in missing)
        for page, rendering in zip(missing, browser.render_many(documents), strict=True):
            rendering.save(path_of(page, folder))
    click.echo(f"{len(missing)} pages rendered in {time.perf_counter() - start:.0f} s", err=True)


def look_at(name: str, page: GoldPage, folder: Path) -> Seen:
    """What is to be known of a page."""
    example = make_example(page)
    rendering = Rendering.load(path_of(page, folder))
    document = example.document
    looks = np.hstack([measure_regions(rendering, document), measure_layout(rendering, document)])
    return Seen(name, page, Main().observe(example), looks.astype(np.float32))


def measure(pages: list[Seen], variants: Sequence[str], folds: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Bag-of-words F1 of each page by each variant, judged by a net that has seen no page of its site."""
    scores = {variant: np.full(len(pages), np.nan) for variant in variants}
    for number, fold in enumerate(folds_by_site([seen.page for seen in pages], folds)):
        held_out = set(fold)
        rest = [seen for i, seen in enumerate(pages) if i not in held_out]
        for variant in variants:
            start = time.perf_counter()
            method = SeeingMain(seed=seed).see(VARIANTS[variant]).learn_from(rest)
            for i in fold:
                gold = pages[i].page.gold.text
                if gold is not None:
                    scores[variant][i] = bag_of_words(method.text_of(pages[i]), gold).f1
            mean = np.nanmean(scores[variant][fold])
            seconds = time.perf_counter() - start
            click.echo(f"fold {number + 1} of {folds}, seed {seed}, {variant}: {mean:.4f} ({seconds:.0f} s)", err=True)
    return scores


def tell(pages: list[Seen], found: list[dict[str, NDArray[np.float64]]]) -> None:
    """Print the means of each set, over the seeds, beside plain `main`."""
    scores: dict[str, Any] = {variant: np.mean([each[variant] for each in found], axis=0) for variant in found[0]}
    names = np.array([seen.name for seen in pages])
    plain = scores["main"]
    for name in [*dict.fromkeys(names.tolist()), "all"]:
        chosen = ~np.isnan(plain) & ((names == name) | (name == "all"))
        if not chosen.any():
            continue
        for variant, values in scores.items():
            test = paired_t_test(values[chosen].tolist(), plain[chosen].tolist())
            gain = float((values[chosen] - plain[chosen]).mean())
            click.echo(
                f"| {name} | {int(chosen.sum())} | {variant} | {values[chosen].mean():.4f} | {gain:+.4f} | "
                f"{'' if variant == 'main' else f'{test.p:.3f}'} |"
            )


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--renderings", type=click.Path(path_type=Path), required=True)
@click.option("--wcxb", default=700, show_default=True, help="Pages of wcxb-dev.")
@click.option("--snippets", default=200, show_default=True, help="Pages of trafilatura-eval-a, to learn from only.")
@click.option("--folds", default=3, show_default=True)
@click.option("--seeds", default=1, show_default=True)
@click.option("--with", "columns", type=click.Choice(list(VARIANTS)[1:]), multiple=True, help="Default: all.")
def command(
    data: Path, renderings: Path, wcxb: int, snippets: int, folds: int, seeds: int, columns: tuple[str, ...]
) -> None:
    """Train and measure `main` with and without columns of the rendered page, on the same folds."""
    sizes = {"cleaneval-dev": 10_000, "readability": 10_000, "wcxb-dev": wcxb, "trafilatura-eval-a": snippets}
    named = [(name, page) for name, most in sizes.items() if most for page in sample(load_dataset(name, data), most)]
    render_missing([page for _, page in named], renderings)
    pages = [look_at(name, page, renderings) for name, page in named]
    variants = ["main", *columns] if columns else list(VARIANTS)
    tell(pages, [measure(pages, variants, folds, seed) for seed in range(seeds)])


if __name__ == "__main__":
    command()
