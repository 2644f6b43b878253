"""`mainmatter bench speed`: how long methods and peers take, side by side."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import click

from mainmatter.cli import options
from mainmatter.cli.printing import progress
from mainmatter.lab.bench.peers import PEERS, installed_peers
from mainmatter.lab.bench.profile import profile
from mainmatter.lab.bench.speed import BUDGET, Speed, measure_scaling, measure_speed
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.evaluation import format_table
from mainmatter.registry import DEFAULT_METHOD, get_method, method_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mainmatter.records import Page


@click.command(name="speed")
@click.argument("names", nargs=-1, metavar="[METHOD...]")
@click.option("--on", "dataset", default="wcxb-dev", show_default=True, metavar="DATASET")
@options.data
@click.option("--pages", type=click.IntRange(min=1), default=150, show_default=True, help="How many pages, at random.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="How often each page is cleaned."
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="One that has taken so long gets no further round, and not all pages of the first.",
)
@click.option("--profile", "profiled", is_flag=True, help="Show instead which steps of a method take how long.")
@click.option("--workers", type=click.IntRange(min=2), help="Show instead what so many processes gain.")
def command(
    names: tuple[str, ...],
    dataset: str,
    data: Path | None,
    pages: int,
    rounds: int,
    budget: float,
    profiled: bool,
    workers: int | None,
) -> None:
    """Time methods and peers from bytes to text: same pages, same run, taking turns, one at a time.

    METHOD is a method or a peer; all methods and all installed peers by default, and the default method for --profile
    and --workers, which take methods only. Ratios are to the first; choose a peer as the first to read off how many
    times as long a method takes; the median is that of the pages' own ratios. Memory is the most that each needs above
    its process at the start, which has loaded mainmatter itself. One that is slow gets fewer rounds or pages, which is
    told, and a page on which one crashes or takes longer than 30 s is left out, and told.
    """
    if profiled and workers:
        raise click.UsageError("--profile and --workers exclude each other")
    if (profiled or workers) and (peers := [name for name in names if name in PEERS]):
        raise click.UsageError(f"{peers[0]} is no method of ours: its steps are not known here")
    sample = _sample(dataset, data, pages)
    kilobytes = sum(len(page.html) for page in sample) / len(sample) / 1e3
    title = f"{len(sample)} pages of {dataset}, {kilobytes:.0f} kB on average"
    if profiled:
        _show_profiles(names or (DEFAULT_METHOD,), sample, rounds, title)
    elif workers:
        _show_scaling(names or (DEFAULT_METHOD,), sample, workers, title)
    else:
        _show_speeds(names or _all_names(), sample, rounds, budget, title)


def _all_names() -> tuple[str, ...]:
    """Everybody, and first the fastest peer, which is always there: ours stand on its parser."""
    return tuple(dict.fromkeys(("turbohtml", *installed_peers(), *method_names())))


def _sample(dataset: str, data: Path | None, pages: int) -> list[Page]:
    found = [gold_page.page for gold_page in load_dataset(dataset, data)]
    return random.Random(0).sample(found, min(pages, len(found)))  # noqa: S311 - no secret


def _show_speeds(names: Sequence[str], sample: Sequence[Page], rounds: int, budget: float, title: str) -> None:
    with progress("measuring", rounds) as advance:
        speeds = measure_speed(names, sample, rounds=rounds, budget=budget, on_round=advance)
    click.echo(f"{title}, best of {rounds} rounds\n")
    rows = [["method", "ms/page", "MB/s", f"times {names[0]}", "median", "peak MB"]]
    rows += [
        [
            speed.name,
            _figure(speed.ms_per_page, 2),
            _figure(speed.mb_per_second, 0),
            _figure(speed.ratio, 2),
            _figure(speed.median_ratio, 2),
            _figure(speed.peak_mb, 0),
        ]
        for speed in speeds
    ]
    click.echo(format_table(rows))
    for note in _notes(speeds, len(sample), rounds):
        click.echo(note)


def _notes(speeds: Sequence[Speed], pages: int, rounds: int) -> list[str]:
    """What to know about figures that are not like the others."""
    notes = []
    for speed in speeds:
        done = speed.pages + len(speed.failures)
        if done < pages:
            notes.append(f"{speed.name}: slow, so only {done} of the pages, once; ratios are over the same pages")
        elif speed.rounds < rounds:
            notes.append(f"{speed.name}: slow, so best of {speed.rounds}")
        if speed.failures:
            page, error = speed.failures[0]
            notes.append(f"{speed.name}: failed on {len(speed.failures)} pages, left out; the first is {page}: {error}")
    return ["", *notes] if notes else []


def _figure(figure: float | None, digits: int) -> str:
    return "-" if figure is None or math.isnan(figure) else f"{figure:.{digits}f}"


def _show_profiles(names: Sequence[str], sample: Sequence[Page], rounds: int, title: str) -> None:
    rows = [["method", "step", "ms/page", "share in %"]]
    for name in names:
        with progress(name, rounds) as advance:
            found = profile(name, get_method(name), sample, rounds=rounds, on_round=advance)
        total = sum(found.steps.values()) or 1.0
        rows += [[name, step, f"{ms:.3f}", f"{100 * ms / total:.0f}"] for step, ms in found.steps.items()]
        rows += [[name, "all steps", f"{total:.3f}", "100"], [name, "in one go", f"{found.whole:.3f}", "-"]]
    click.echo(f"{title}, best of {rounds} rounds, each step by itself\n")
    click.echo(format_table(rows))


def _show_scaling(names: Sequence[str], sample: Sequence[Page], workers: int, title: str) -> None:
    found = [measure_scaling(name, get_method(name), sample, workers=workers) for name in names]
    click.echo(f"{title}, {found[0].pages} in all, best of 3\n")
    rows = [["method", "pages/s, 1 process", f"pages/s, {workers} processes", "times"]]
    rows += [[s.method, f"{s.alone:.0f}", f"{s.together:.0f}", f"{s.ratio:.2f}"] for s in found]
    click.echo(format_table(rows))
