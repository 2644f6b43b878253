"""`mainmatter bench memory`: does cleaning page after page hold more and more memory?"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import click

from mainmatter.cli import options
from mainmatter.lab.bench.memory import watch_memory_afresh
from mainmatter.lab.datasets import load_dataset
from mainmatter.registry import DEFAULT_METHOD, get_method

if TYPE_CHECKING:
    from pathlib import Path


@click.command(name="memory")
@click.argument("name", default=DEFAULT_METHOD, metavar="[METHOD]")
@click.option("--on", "dataset", default="wcxb-dev", show_default=True, metavar="DATASET")
@options.data
@click.option("--pages", type=click.IntRange(min=1), default=100_000, show_default=True, help="How many to clean.")
@click.option(
    "--sample", type=click.IntRange(min=1), default=500, show_default=True, help="How many different ones, at random."
)
@click.option(
    "--bound",
    type=click.FloatRange(min=0),
    default=50.0,
    show_default=True,
    metavar="MB",
    help="By how much it may grow.",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="How many processes.")
def command(name: str, dataset: str, data: Path | None, pages: int, sample: int, bound: float, workers: int) -> None:
    """Clean very many pages, the same ones over and over, and watch how much memory is held.

    Exits with 1 if, once every page of the sample has been seen, it grows by more than the bound.
    """
    get_method(name)  # an unknown one is told before any work
    found = [gold_page.page for gold_page in load_dataset(dataset, data)]
    chosen = random.Random(0).sample(found, min(sample, len(found)))  # noqa: S311 - no secret

    def show(done: int, held: float) -> None:
        click.echo(f"{done:>9,} pages  {held:8.1f} MB")

    curve = watch_memory_afresh(name, chosen, pages, workers=workers, on_point=show)
    if not curve.points:
        raise click.ClickException("this system does not say how much memory a process holds (/proc is missing)")
    if curve.failures:
        click.echo(f"{curve.failures:,} pages could not be cleaned", err=True)
    growth = f"it grew by {curve.growth_mb:.1f} MB after the first {curve.warm_after:,} pages; bound {bound:g} MB"
    if curve.growth_mb > bound:
        raise click.ClickException(growth)
    click.echo(growth)
