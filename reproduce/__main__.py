"""`python -m reproduce`: the papers' tables and figures, redone."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path

import click

from mainmatter import __version__
from mainmatter.cli import ErrorsAsMessages, main, options
from mainmatter.cli.printing import progress
from mainmatter.errors import MissingExtra
from reproduce.papers import REPRODUCTIONS, load_reproduction, write_index
from reproduce.run import Run

_QUICK_PAGES = 25
_NEEDED = ("matplotlib", "pyarrow", "rapidfuzz", "regex", "scipy", "sklearn", "tantivy", "wordfreq")


@click.command(name="reproduce", cls=ErrorsAsMessages)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@options.data
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default="this folder",
    metavar="FOLDER",
    help="The folder for NAME.md and its pictures.",
)
@click.option(
    "--pages", type=click.IntRange(min=1), metavar="N", help="Use only N pages of each dataset, for a quick look."
)
@click.option("--all", "every", is_flag=True, help="Redo all of them.")
@click.option(
    "--quick",
    is_flag=True,
    help=f"Use {_QUICK_PAGES} pages of each dataset, few folds, short searches, to show that everything runs; the "
    "figures mean nothing.",
)
@click.option("--index", is_flag=True, help="Only write docs/results/papers.md anew, from the pages that are there.")
@options.workers
def command(
    names: tuple[str, ...],
    data: Path | None,
    output: Path,
    pages: int | None,
    every: bool,
    quick: bool,
    index: bool,
    workers: int,
) -> None:
    """Redo tables and figures of the papers. Each becomes a Markdown page with the paper's figures beside ours.

    Without a NAME, list the available ones. Needs the extras plot, search and train.
    """
    if index:
        write_index()
        return
    if every:
        names = tuple(REPRODUCTIONS)
    if not names:
        for name, reproduction in REPRODUCTIONS.items():
            click.echo(click.style(name, bold=True))
            click.echo(f"    {reproduction.what}")
        return
    chosen = [(name, load_reproduction(name)) for name in names]
    # What is missing is told before any work.
    for package in _NEEDED:
        if find_spec(package) is None:
            raise MissingExtra(package, "plot,search,train")
    if quick and pages is None:
        pages = _QUICK_PAGES
    output.mkdir(parents=True, exist_ok=True)
    for name, reproduce in chosen:
        started = time.monotonic()
        run = Run(data or Path(), workers, progress, lambda line: click.echo(line, err=True), pages, quick)
        report = reproduce(run)
        page = report.write(output, name, _closing(name, run, time.monotonic() - started))
        click.echo(f"{name}: {page}")


def _closing(name: str, run: Run, seconds: float) -> str:
    """How a page was made."""
    data = ", ".join(f"{dataset} ({pages:,} pages)" for dataset, pages in run.used.items())
    source = f", from {data}" if data else ""
    processes = f"{run.workers} process{'es' * (run.workers > 1)}"
    few = " --quick" * run.quick + (f" --pages {run.pages}" if run.pages not in (None, _QUICK_PAGES) else "")
    return (
        f"---\n\nMade by mainmatter {__version__} in {seconds:.0f} s, {processes}{source}:\n\n"
        f"```sh\npython -m reproduce {name} --data {run.data}{few}\n```"
    )


if __name__ == "__main__":
    main(command, "python -m reproduce")
