"""`mainmatter train`: a method, gold standards, a model."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal

import click

from mainmatter.cli import options
from mainmatter.cli.printing import progress
from mainmatter.lab.datasets import load_dataset, sample_by_site
from mainmatter.lab.training.train import CARD_PAGE, Training, check_may_ship, save_model, train
from mainmatter.limits import format_size
from mainmatter.models.store import is_model, may_be_written
from mainmatter.registry import make_untrained, method_names

_EPOCH = re.compile(r"(?:check: )?(?:texts: )?epoch (\d+) of (\d+): ")
_EPOCHS_TOLD = 10  # where nobody watches


@click.command(name="train")
@click.argument("method", metavar="METHOD[:PARAMETER=VALUE,...]", shell_complete=options.complete_methods)
@options.datasets
@click.option(
    "--valid", "valid", multiple=True, metavar="DATASET", help="Measure the result on this one; may be repeated."
)
@options.data
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="FOLDER",
    help="The folder for the model; an older model there is replaced.",
)
@click.option(
    "--labels",
    "by",
    type=options.OneOf(["words", "dice"]),
    default="words",
    show_default=True,
    help="How gold texts become labels of blocks: word by word, or by the overlap of paragraphs (FIASCO 5.1).",
)
@click.option(
    "--pages",
    type=click.IntRange(min=1),
    metavar="N",
    help="Learn from at most N pages of each dataset, of many sites.",
)
@click.option("--check/--no-check", default=True, help="First train without a tenth of the sites, and measure on them.")
@click.option("--from-scratch", is_flag=True, help="`main` starts from nothing, instead of from the model that ships.")
@click.option("--licence", metavar="TEXT", help="The licence of your data, for the model's card.")
@options.workers
def command(
    method: str,
    datasets: tuple[str, ...],
    valid: tuple[str, ...],
    data: Path | None,
    output: Path,
    by: Literal["words", "dice"],
    pages: int | None,
    check: bool,
    from_scratch: bool,
    licence: str | None,
    workers: int,
) -> None:
    """Train a method on pages with their clean texts.

    DATASET is the name of a dataset in the --data folder, a Parquet file, a folder with html/ and gold/ (NAME.html and
    NAME.txt), or CleanEval's own folder. You can use the model wherever you can name a method: --method FOLDER.
    """
    make_untrained(method)  # complain before any work
    if not may_be_written(output):
        message = f"{output} holds something other than a model; choose another folder"
        raise click.BadParameter(message, param_hint="--output")
    output = output.resolve() if output.name in ("", "..") else output
    checkpoint = output.with_name(f"{output.name}.unfinished")
    training = Training(
        method,
        {name: sample_by_site(load_dataset(name, data), pages) for name in datasets},
        {name: load_dataset(name, data) for name in valid},
        by=by,
        check=check,
        licence=licence,
        workers=workers,
        checkpoint=checkpoint,
        from_scratch=from_scratch,
    )
    check_may_ship(training.make_method(), datasets, output)  # complain before any work
    is_new = not output.exists()
    output.mkdir(parents=True, exist_ok=True)  # where that fails, it fails before any work
    try:
        trained, card = train(training, progress, _say)
    except BaseException as error:
        if is_new:
            output.rmdir()
        if isinstance(error, KeyboardInterrupt) and checkpoint.is_dir():
            click.echo(f"interrupted; run the same command again to resume from {checkpoint}", err=True)
        raise
    if is_model(output):
        click.echo(f"replacing the older model in {output}", err=True)
    size = save_model(trained, card, output)
    for file in checkpoint.glob(f"{trained.name}-*.json"):
        file.unlink()
    with suppress(OSError):  # it was never made, or holds something else
        checkpoint.rmdir()
    seconds = card["seconds"]["in_all"]
    click.echo(f"model written to {output}: {format_size(size)}, {seconds:.0f} s; its card: {output / CARD_PAGE}")
    # A method's name goes before a folder's.
    name = f".{os.sep}{output}" if str(output) in method_names() else output
    click.echo(f"use it: mainmatter clean PAGE --method {name}")


def _say(line: str) -> None:
    """Tell a line; of those about epochs, which may be hundreds, a log gets some ten and the last."""
    epoch = _EPOCH.match(line)
    if epoch is not None and not sys.stderr.isatty():
        number, of = map(int, epoch.groups())
        if number != of and number % max(1, of // _EPOCHS_TOLD):
            return
    click.echo(line, err=True)
