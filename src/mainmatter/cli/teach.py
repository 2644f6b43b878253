"""`mainmatter teach`: annotations to a model, and what it gains over the shipped one."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from mainmatter.cli import options
from mainmatter.errors import DatasetError, InputError, MainmatterError, UnknownName
from mainmatter.lab.reports.curve import check_ending, save_curve
from mainmatter.lab.training.teach import (
    METRICS,
    QUICK_FOLDS,
    CurvePoint,
    Learner,
    Step,
    Teaching,
    record_lesson,
    save_lesson,
    teach,
)
from mainmatter.lab.training.train import CARD_PAGE
from mainmatter.limits import format_size
from mainmatter.models.store import may_be_written
from mainmatter.registry import DEFAULT_METHOD, method_names
from mainmatter.workbench.labels.database import DATABASE
from mainmatter.workbench.labels.gold import load_teaching_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from mainmatter.lab.training.teach import Lesson, Told
    from mainmatter.workbench.labels.gold import TeachingPages

_PARTS = 1000  # of a progress bar


@click.command(name="teach")
@click.argument("source", metavar="DB", shell_complete=options.complete_files)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="MODEL",
    help="The folder for the model; an older model there is replaced.",
)
@click.option(
    "-m",
    "--method",
    default=DEFAULT_METHOD,
    show_default=True,
    metavar="NAME[:PARAMETER=VALUE,...]",
    help="The method that learns; main starts from the shipped model, others start from nothing.",
)
@click.option(
    "--split",
    type=options.OneOf(["auto", "site", "page"]),
    default="auto",
    show_default=True,
    help="What to hold out at a time for measuring: whole sites (if there are at least two), or single pages.",
)
@click.option(
    "--curve",
    "curve_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw the learning curve in this file; its ending (.svg, .png, .html) sets the format.",
)
@click.option("--points/--no-points", default=True, help="Learn from 1, 2, 4, ... pages too, for the curve.")
@click.option("--quick", is_flag=True, help="Get a result quickly: no curve, fewer parts left out, only one metric.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The random seed.")
@click.option("--licence", metavar="TEXT", help="The licence of your pages, for the model's card.")
@options.data
@click.option("--json", "as_json", is_flag=True, help="Print progress and results as lines of JSON.")
@click.option("-j", "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="How many processes.")
def command(
    source: str,
    output: Path,
    method: str,
    split: Literal["auto", "site", "page"],
    curve_file: Path | None,
    points: bool,
    quick: bool,
    seed: int,
    licence: str | None,
    data: Path | None,
    as_json: bool,
    workers: int,
) -> None:
    """Train a method on annotated pages, and measure the gain.

    DB is the folder of a workbench, its database, or any gold standard that `train` reads. Each page is left out once
    and measured by a model that has seen neither it nor others of its site; the shipped model is measured on the same
    pages. The result says plainly whether to use the new model or to keep the shipped one. Nothing is written before
    everything is done.
    """
    with _told_as_json() if as_json else _told_to_people() as listen:
        _check(method, output, curve_file)
        pages = _load(source, data)
        for reason in pages.left_out:
            listen(f"not ready: {reason}")
        teaching = Teaching(method, split, points, seed=seed, source=pages.name, licence=licence, workers=workers)
        if quick:
            teaching = replace(teaching, curve=False, folds=QUICK_FOLDS, metrics=METRICS[:1])
        lesson = teach(pages.pages, teaching=teaching, listen=listen)
        size = save_lesson(lesson, output)
        if pages.lessons is not None:
            record_lesson(pages.lessons, output.name, lesson)
        if curve_file is not None:
            save_curve(lesson, curve_file)
        if as_json:
            _print_json("lesson", {**lesson.to_json(), "model": str(output), "bytes": size})
            return
    _print_result(lesson, output, size, curve_file)


def _check(method: str, output: Path, curve_file: Path | None) -> None:
    """Complain before any work."""
    Learner(method)
    if output.name in ("", "..") or not may_be_written(output):
        message = f"{output} holds something other than a model; choose another folder"
        raise click.BadParameter(message, param_hint="--output")
    above = next(folder for folder in output.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise click.BadParameter(f"{above} cannot be written", param_hint="--output")
    if curve_file is not None:
        check_ending(curve_file)


def _load(source: str, data: Path | None) -> TeachingPages:
    """Read the pages to teach with; say of what is no workbench that it was looked for."""
    try:
        return load_teaching_pages(source, data)
    except UnknownName as error:
        message = f"{source}: no such workbench or database, and no such gold standard: {error}"
        raise InputError(message) from error
    except DatasetError as error:
        if not Path(source).is_dir():
            raise
        raise DatasetError(f"{source} has no {DATABASE}, so it was read as a gold standard: {error}") from error


@contextmanager
def _told_to_people() -> Iterator[Callable[[Told], object]]:
    """A progress bar and lines on standard error."""
    with click.progressbar(length=_PARTS, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        def listen(told: Told) -> None:
            if isinstance(told, Step):
                bar.label = told.doing
                bar.update(max(0, _PARTS * told.done // max(1, told.of) - bar.pos))
            else:
                click.echo(_point_line(told) if isinstance(told, CurvePoint) else told, err=True)

        yield listen


def _point_line(point: CurvePoint) -> str:
    gain = point.gain
    return (
        f"{point.pages:4} page{'s' if point.pages != 1 else ' '} taught: {gain.metric} {gain.taught:.3f}, "
        f"{gain.gain:+.3f} over the shipped model, better on {gain.wins} page{'s' * (gain.wins != 1)}, "
        f"worse on {gain.losses}"
    )


@contextmanager
def _told_as_json() -> Iterator[Callable[[Told], object]]:
    """A JSON object a line on standard output, also about errors; whoever ends the process interrupts it."""
    _print_json("start", {"pid": os.getpid()})
    before = signal.signal(signal.SIGTERM, _interrupt)
    last = (-1, "")

    def listen(told: Told) -> None:
        nonlocal last
        match told:
            case Step(done, of, doing):
                now = (_PARTS * done // max(1, of), doing)
                if now != last:
                    last = now
                    _print_json("step", {"done": done, "of": of, "doing": doing})
            case CurvePoint():
                _print_json("point", told.to_json())
            case _:
                _print_json("say", {"line": told})

    try:
        yield listen
    except (MainmatterError, click.UsageError, OSError) as error:
        message = error.message if isinstance(error, click.UsageError) else str(error)
        _print_json("error", {"error": message})
        sys.exit(1)
    except KeyboardInterrupt:
        _print_json("interrupted", {})
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signals call it
    raise KeyboardInterrupt


def _print_json(event: str, facts: dict[str, Any]) -> None:
    click.echo(json.dumps({"event": event, **facts}))
    sys.stdout.flush()


def _print_result(lesson: Lesson, output: Path, size: int, curve_file: Path | None) -> None:
    click.echo(lesson.verdict)
    click.echo(f"model written to {output}: {format_size(size)}, {lesson.seconds:.0f} s; card: {output / CARD_PAGE}")
    if curve_file is not None:
        click.echo(f"learning curve: {curve_file}")
    if lesson.is_recommended:
        # A method's name goes before a folder's.
        name = f".{os.sep}{output}" if str(output) in method_names() else output
        click.echo(f"use it: mainmatter clean PAGE --method {name}; from now on: mainmatter use {output}")
