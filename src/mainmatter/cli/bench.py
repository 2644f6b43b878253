"""`mainmatter bench`: methods and peers side by side."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import click

from mainmatter.cli import options
from mainmatter.cli.progress import progress
from mainmatter.datasets import load_dataset
from mainmatter.evaluation.report import format_table
from mainmatter.evaluation.speed import measure_speed
from mainmatter.registry import method_names

if TYPE_CHECKING:
    from pathlib import Path


@click.group(name="bench")
def command() -> None:
    """Compare methods and peers on this machine."""


@command.command()
@click.argument("names", nargs=-1, metavar="[METHOD...]")
@click.option("--on", "dataset", default="wcxb-dev", show_default=True, metavar="DATASET")
@options.data
@click.option("--pages", type=click.IntRange(min=1), default=150, show_default=True, help="How many pages, at random.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="How often each page is cleaned."
)
def speed(names: tuple[str, ...], dataset: str, data: Path | None, pages: int, rounds: int) -> None:
    """Time methods and peers from bytes to text: same pages, same run, one core, taking turns.

    METHOD is a method or an installed peer (resiliparse, trafilatura, turbohtml); all methods and the fast peers by
    default. Ratios are to the first; choose a peer as the first to read off how many times as long a method takes.
    """
    chosen = names or ("turbohtml", "resiliparse", *method_names())
    sample = [gold_page.page for gold_page in load_dataset(dataset, data)]
    sample = random.Random(0).sample(sample, min(pages, len(sample)))  # noqa: S311 - no secret
    with progress("measuring", rounds) as advance:
        speeds = measure_speed(chosen, sample, rounds=rounds, on_round=advance)
    kilobytes = sum(len(page.html) for page in sample) / len(sample) / 1e3
    click.echo(f"{len(sample)} pages of {dataset}, {kilobytes:.0f} kB on average, best of {rounds} rounds\n")
    rows = [["method", "ms/page", "MB/s", f"times {chosen[0]}"]]
    rows += [[s.name, f"{s.ms_per_page:.2f}", f"{s.mb_per_second:.0f}", f"{s.ratio:.2f}"] for s in speeds]
    click.echo(format_table(rows))
