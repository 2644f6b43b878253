"""How much do a few annotated pages teach? The figures of docs/results/teaching.md.

The shipped `main` has learned from all training sets, so it cannot be taught with their pages honestly. Each task here
has a base of its own, trained as the shipped one but without the sites that are taught and measured:

forum      forums, of which the base has seen none: pages of a kind that is new to it
product    pages of products, likewise
mixed      pages of all kinds, of sites that the base has not seen: nothing new to learn, so teaching can do harm only
cleaneval  pages of CleanEval, which are older, and whose gold standard has other rules than that of the base

For each number of pages: draw them from half of the sites, `teach` with them (which chooses its strength on those pages
alone), and measure the model on the other half of the sites.

OPENBLAS_NUM_THREADS=1 python scripts/teaching_curve.py --data ../shared/data --work bases
"""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click
import numpy as np

from mainmatter.lab.datasets import folds_by_site, load_dataset, site_of
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.training.teach import Teaching, measure_gain, teach
from mainmatter.lab.training.train import observe_pages
from mainmatter.models.store import is_model
from mainmatter.registry import make_untrained

if TYPE_CHECKING:
    from mainmatter.lab.datasets import GoldPage

SIZES = (5, 10, 20, 40)
TASKS = ("forum", "product", "mixed", "cleaneval")
MOST_MEASURED = 80
MIXED_FOLDS = 8  # the mixed task has this part of all sites


@click.command()
@click.argument("tasks", nargs=-1, type=click.Choice(TASKS))
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("--work", type=click.Path(path_type=Path), required=True, help="A folder for the bases, which are kept.")
@click.option("--seeds", default=3, show_default=True, help="How many times pages are drawn.")
def main(tasks: tuple[str, ...], data: Path, work: Path, seeds: int) -> None:
    """Print a table for each task."""
    for task in tasks or TASKS:
        started = time.monotonic()
        pages, base = prepare(task, data, work)
        measure(task, pages, base, seeds)
        click.echo(f"{task}: {time.monotonic() - started:.0f} s\n")


def prepare(task: str, data: Path, work: Path) -> tuple[list[GoldPage], Path]:
    """The pages of a task, and a base that has seen none of their sites."""
    known = load_dataset("wcxb-dev", data)
    if task in ("mixed", "cleaneval"):
        chosen = set(folds_by_site(known, MIXED_FOLDS, seed=3)[0])
        pages = [page for number, page in enumerate(known) if number in chosen]
    else:
        pages = [page for page in known if page.groups.get("page_type") == task]
    sites = set(map(site_of, pages))
    base = work / ("mixed" if task == "cleaneval" else task)
    if not is_model(base):
        method = make_untrained("main")
        rest = observe_pages(method, [page for page in known if site_of(page) not in sites])
        method.learn(rest.observations).save(base, {"data": f"wcxb-dev without {task}"})
    if task == "cleaneval":
        pages = [page for page in load_dataset("cleaneval-dev", data) if page.gold.text]
    return pages, base


def measure(task: str, pages: list[GoldPage], base: Path, seeds: int) -> None:
    """Print what each number of pages teaches, over all draws."""
    click.echo("| task | pages | base | taught | gain | better on | worse on | said to use it | strength |")
    click.echo("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in SIZES:
        before: list[float] = []
        after: list[float] = []
        advice, strengths = 0, []
        for seed in range(seeds):
            fold = folds_by_site(pages, 2, seed)[0]
            pool = [pages[number] for number in fold]
            rest = [page for number, page in enumerate(pages) if number not in set(fold)][:MOST_MEASURED]
            Random(seed).shuffle(pool)  # noqa: S311 - no secret
            if size > len(pool):
                break
            teaching = Teaching(f"main:start={base}", curve=False, seed=seed)
            lesson = teach(pool[:size], teaching=teaching)
            advice += lesson.gain.is_sure
            strengths.append(lesson.strength)
            before += scores(str(base), rest)
            after += scores(lesson.model, rest)
        if strengths:
            gain = measure_gain("bag f1", before, after)
            click.echo(
                f"| {task} | {size} | {gain.shipped:.3f} | {gain.taught:.3f} | {gain.gain:+.3f} | {gain.wins} | "
                f"{gain.losses} | {advice} of {len(strengths)} | {np.mean(strengths):.1f} |"
            )


def scores(method: object, pages: list[GoldPage]) -> list[float]:
    """The bag of words F1 of each page."""
    found = evaluate(method, "", pages, ["bag"])  # type: ignore[arg-type]
    return [row["bag"]["f1"] for _, row in found.pages if row["bag"] is not None]


if __name__ == "__main__":
    main()
