"""`mainmatter bench accuracy`: methods and peers on all gold standards."""

from __future__ import annotations

import random
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mainmatter.cli import options
from mainmatter.cli.printing import progress
from mainmatter.errors import DatasetError, MissingExtra
from mainmatter.lab.bench.accuracy import Cell, measure_accuracy
from mainmatter.lab.bench.accuracy_report import headline, main_table, write_report
from mainmatter.lab.bench.contestant import PAGE_LIMIT
from mainmatter.lab.bench.peers import installed_peers
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.datasets.gold import DATASETS
from mainmatter.lab.evaluation import check_names
from mainmatter.registry import method_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage


@click.command(name="accuracy")
@click.argument("names", nargs=-1, metavar="[METHOD...]")
@click.option(
    "--on",
    "datasets",
    multiple=True,
    metavar="DATASET",
    help="A dataset's name or path; may be repeated; all in the --data folder by default.",
)
@options.data
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="FOLDER",
    help="Where the table, the figures and the plot go, and what is needed to go on after an interruption.",
)
@click.option("--pages", type=click.IntRange(min=1), metavar="N", help="Only N pages of each dataset, at random.")
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=PAGE_LIMIT,
    show_default=True,
    metavar="SECONDS",
    help="A page that takes longer is a failure.",
)
@click.option(
    "-j",
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many at the same time; times are exact only with one.",
)
def command(
    names: tuple[str, ...],
    datasets: tuple[str, ...],
    data: Path | None,
    output: Path,
    pages: int | None,
    limit: float,
    workers: int,
) -> None:
    """Measure methods and peers on gold standards, with the time that they take; write a table, JSON and a plot.

    METHOD is a method or a peer; all methods and all installed peers by default. What FOLDER has already is not
    measured again. A page on which one crashes or takes too long counts as empty, and is told. Needs the extra plot.
    """
    if find_spec("matplotlib") is None:  # complain before any work
        raise MissingExtra("matplotlib", "plot")
    chosen = list(dict.fromkeys(names or (*method_names(), *installed_peers())))
    check_names(chosen, ())
    cells: list[Cell] = []
    for dataset in dict.fromkeys(datasets) or _all_datasets(data):
        sample = _sample(load_dataset(dataset, data), pages)
        with progress(dataset, len(sample) * len(chosen)) as advance:
            cells += measure_accuracy(
                chosen, dataset, sample, output, workers=workers, limit=limit, on_page=advance, on_cell=_tell
            )
    written = write_report(cells, output, _command(chosen, cells, pages, limit))
    click.echo(main_table(cells))
    click.echo("written: " + ", ".join(map(str, written)), err=True)


def _all_datasets(data: Path | None) -> list[str]:
    found = [name for name in DATASETS if ((data or Path()) / f"{name}.parquet").is_file()]
    if not found:
        raise DatasetError(f"{data or 'this folder'}: holds no gold standard; say with --data which folder does")
    return found


def _sample(pages: Sequence[GoldPage], count: int | None) -> Sequence[GoldPage]:
    return pages if count is None or count >= len(pages) else random.Random(0).sample(pages, count)  # noqa: S311


def _tell(cell: Cell) -> None:
    """One line for each cell that is finished."""
    score = headline(cell)
    failures = f", {len(cell.failures)} failures" if cell.failures else ""
    figure = "-" if score is None else f"{score:.3f}"
    click.echo(f"{cell.contestant} on {cell.dataset}: {figure}, {cell.ms_per_page:.1f} ms/page{failures}", err=True)


def _command(names: Sequence[str], cells: Sequence[Cell], pages: int | None, limit: float) -> str:
    """The command that measures the same, wherever the data are."""
    datasets = [argument for dataset in dict.fromkeys(cell.dataset for cell in cells) for argument in ("--on", dataset)]
    few = ["--pages", str(pages)] if pages is not None else []
    other_limit = ["--limit", f"{limit:g}"] if limit != PAGE_LIMIT else []
    return (
        shlex.join(["mainmatter", "bench", "accuracy", *names, *datasets, *few, *other_limit])
        + " --data DATA -o FOLDER"
    )
