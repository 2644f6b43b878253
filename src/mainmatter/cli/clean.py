"""`mainmatter clean`: the main matter of files, folders, URLs, standard input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mainmatter.clean import clean
from mainmatter.cli import options
from mainmatter.cli.progress import progress
from mainmatter.inputs import STANDARD_INPUT, Input, find_inputs
from mainmatter.parallel import Failure, ordered_map
from mainmatter.registry import FORMATS, get_method

if TYPE_CHECKING:
    from mainmatter.limits import Limits


@dataclass(frozen=True, slots=True)
class _Task:
    """What to do with every input; travels to the processes that do it."""

    method: str
    format: str
    limits: Limits
    render_options: dict[str, Any] = field(default_factory=dict)


@click.command(name="clean")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.method
@click.option("-f", "--format", "format_", type=click.Choice(sorted(FORMATS)), default="text", show_default=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A file for one input, a folder for several or for a folder.",
)
@click.option("--links/--no-links", default=True, help="Keep links (markdown).", show_default=True)
@click.option("--images/--no-images", default=False, help="Keep images (markdown, html).", show_default=True)
@click.option("--url", help="Where the page came from, if it is read from a file or standard input.")
@options.input_format
@options.max_size
@options.workers
def command(
    inputs: tuple[str, ...],
    method: str,
    format_: str,
    output: Path | None,
    links: bool,
    images: bool,
    url: str | None,
    input_format: str | None,
    max_size: float,
    workers: int,
) -> None:
    """Keep the main matter of pages.

    INPUT is an HTML file, a plain-text dump (.txt), a folder of such, a URL, or - for standard input. The result goes
    to standard output, or with -o to a file or folder. A page that cannot be cleaned is named on standard error, and
    the exit code is then 1.
    """
    get_method(method)  # complain before any work
    found = find_inputs(inputs, input_format)
    if url is not None and len(found) > 1:
        raise click.BadParameter(
            f"there are {len(found)} pages, and they cannot all come from {url}", param_hint="--url"
        )
    render_options = {"markdown": {"links": links, "images": images}, "html": {"images": images}}.get(format_, {})
    task = _Task(method, format_, options.to_limits(max_size), render_options)
    targets = _targets(found, output, FORMATS[format_][1], is_folder=any(Path(name).is_dir() for name in inputs))
    _spare_inputs(found, targets)
    failed = _run(task, found, targets, url, workers)
    if len(found) > 1:
        _say_summary(len(found), failed, output)
    if failed:
        click.get_current_context().exit(1)


def _targets(found: list[Input], output: Path | None, ending: str, *, is_folder: bool) -> list[Path | None]:
    """Where each result goes: None is standard output."""
    if output is None:
        return [None] * len(found)
    if len(found) == 1 and not is_folder and not output.is_dir():
        return [output]
    if output.is_file():
        raise click.BadParameter(f"{output} is a file, and there are several inputs", param_hint="--output")
    taken: set[Path] = set()
    targets: list[Path | None] = []
    for one in found:
        target = output / one.relative.with_suffix(ending)
        if target in taken:  # page.html and page.htm
            target = output / one.relative.with_name(one.relative.name + ending)
        number = 2
        while target in taken:  # a/page.html, b/page.html and c/page.html
            target = output / one.relative.with_name(f"{one.relative.name}-{number}{ending}")
            number += 1
        taken.add(target)
        targets.append(target)
    return targets


def _spare_inputs(found: list[Input], targets: list[Path | None]) -> None:
    """Complain before any work if a result would overwrite a page that is to be read."""
    sources = {Path(one.name).resolve() for one in found}
    for target in targets:
        if target is not None and target.resolve() in sources:
            raise click.BadParameter(f"{target} is an input, and would be overwritten", param_hint="--output")


def _run(task: _Task, found: list[Input], targets: list[Path | None], url: str | None, workers: int) -> int:
    """Clean every input and write its result; returns how many failed."""
    failed = 0
    if any(one.name == STANDARD_INPUT for one in found):
        workers = 1  # only this process has it
    results = ordered_map(partial(_clean_one, task, url), found, min(workers, len(found)))
    with progress("cleaning", len(found), hidden=len(found) == 1 or None in targets) as advance:
        for one, target, result in zip(found, targets, results, strict=True):
            if isinstance(result, Failure):
                failed += 1
                click.echo(f"Error: {_message(one, result.error)}", err=True)
            elif target is None:
                if len(found) > 1:
                    click.echo(f"==> {one.name} <==")
                click.echo(result, nl=not result.endswith("\n"))
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(result + ("" if result.endswith("\n") else "\n"), encoding="utf-8")
            advance()
    return failed


def _message(one: Input, error: str) -> str:
    """What went wrong, with the input's name; our own errors give it, those that nobody foresaw do not."""
    text = error.partition(": ")[2]
    return text if one.name in text else f"{one.name}: {error}"


def _clean_one(task: _Task, url: str | None, one: Input) -> str:
    page = one.read(task.limits)
    if url is not None:
        page = replace(page, url=url)
    extraction = clean(page, method=task.method, limits=task.limits)
    return extraction.render(task.format, **task.render_options)


def _say_summary(pages: int, failed: int, output: Path | None) -> None:
    parts = [f"{pages - failed} of {pages} pages cleaned"]
    if failed:
        parts.append(f"{failed} failed")
    if output is not None:
        parts.append(f"written to {output}")
    click.echo(", ".join(parts), err=True)
