"""`mainmatter reproduce`: the papers' tables and figures, redone."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path

import click

from mainmatter import __version__
from mainmatter.cli import options
from mainmatter.cli.printing import progress
from mainmatter.errors import MissingExtra
from mainmatter.lab.reproduction import REPRODUCTIONS, Run, find_reproduction

_NEEDED = ("matplotlib", "pyarrow", "rapidfuzz", "regex", "scipy", "sklearn", "tantivy", "wordfreq")


@click.command(name="reproduce")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@options.data
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default="this folder",
    metavar="FOLDER",
    help="Where NAME.md and its pictures go.",
)
@click.option(
    "--pages", type=click.IntRange(min=1), metavar="N", help="Take only N pages of each dataset, for a quick look."
)
@options.workers
def command(names: tuple[str, ...], data: Path | None, output: Path, pages: int | None, workers: int) -> None:
    """Redo tables and figures of the papers; each becomes a Markdown page with the paper's own figures beside ours.

    Without a NAME, list what there is. Needs the extras plot, search and train.
    """
    if not names:
        for name, one in REPRODUCTIONS.items():
            click.echo(click.style(name, bold=True))
            click.echo(f"    {one.what}")
        return
    chosen = [(name, find_reproduction(name)) for name in names]
    # What is missing is told before any work.
    for package in _NEEDED:
        if find_spec(package) is None:
            raise MissingExtra(package, "plot,search,train")
    output.mkdir(parents=True, exist_ok=True)
    for name, one in chosen:
        started = time.monotonic()
        run = Run(data or Path(), workers, progress, lambda line: click.echo(line, err=True), pages)
        report = one.load()(run)
        page = report.write(output, name, _closing(name, run, time.monotonic() - started))
        click.echo(f"{name}: {page}")


def _closing(name: str, run: Run, seconds: float) -> str:
    """How a page was made."""
    data = ", ".join(f"{dataset} ({pages:,} pages)" for dataset, pages in run.used.items())
    source = f", from {data}" if data else ""
    processes = f"{run.workers} process{'es' * (run.workers > 1)}"
    few = f" --pages {run.pages}" if run.pages is not None else ""
    return (
        f"---\n\nMade by mainmatter {__version__} in {seconds:.0f} s, {processes}{source}:\n\n"
        f"```sh\nmainmatter reproduce {name} --data {run.data}{few}\n```"
    )
