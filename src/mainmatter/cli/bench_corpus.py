"""`mainmatter bench corpus`: archives to corpora, beside what others would run."""

from __future__ import annotations

from pathlib import Path

import click

from mainmatter.errors import UnknownName
from mainmatter.lab.bench.throughput import Throughput, measure_throughput
from mainmatter.lab.bench.throughput_peers import PEERS
from mainmatter.lab.evaluation import format_table
from mainmatter.registry import DEFAULT_METHOD, is_method, method_names


@click.command(name="corpus")
@click.argument("archives", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="ARCHIVE...")
@click.option(
    "-m",
    "--method",
    "names",
    multiple=True,
    metavar="NAME",
    help=f"A method, or one of {', '.join(PEERS)}; may be repeated. By default {DEFAULT_METHOD} and both of these.",
)
@click.option(
    "-j", "--workers", multiple=True, type=click.IntRange(min=1), help="How many processes; may be repeated. [1 and 2]"
)
@click.option(
    "--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="How often; the fastest counts."
)
def command(archives: tuple[Path, ...], names: tuple[str, ...], workers: tuple[int, ...], rounds: int) -> None:
    """Make a corpus of WARC archives, from start to Parquet, beside what others would run on the same archives.

    The others are datatrove's pipeline with trafilatura, and a loop over FastWARC's records with Resiliparse. They
    give each process whole archives: to see what two can do, name two ARCHIVEs of about the same size.
    """
    chosen = names or (DEFAULT_METHOD, *PEERS)
    for name in chosen:
        if name not in PEERS and not is_method(name):
            raise UnknownName("method", name, [*method_names(), *PEERS])
    found = measure_throughput(chosen, archives, workers or (1, 2), rounds, _say)
    click.echo(f"{sum(archive.stat().st_size for archive in archives) / 1e6:.1f} MB in {len(archives)} archives\n")
    click.echo(format_table(_rows(found)))


def _say(turn: Throughput) -> None:
    click.echo(f"{turn.name}, {turn.workers} workers: {turn.pages_per_second:.0f} pages/s", err=True)


def _rows(found: list[Throughput]) -> list[list[str]]:
    rows = [["contestant", "workers", "pages", "s", "CPU s", "pages/s", "MB/s", f"times {found[0].name}"]]
    for one in found:
        first = next(other for other in found if other.workers == one.workers)
        rows.append(
            [
                one.name,
                str(one.workers),
                f"{one.pages:,}",
                f"{one.seconds:.1f}",
                f"{one.cpu_seconds:.1f}",
                f"{one.pages_per_second:.0f}",
                f"{one.mb_per_second:.1f}",
                f"{one.seconds / first.seconds:.2f}",
            ]
        )
    return rows
