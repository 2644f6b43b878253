"""`mainmatter clean`: the main matter of files, folders, URLs, standard input."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import click
from click.core import ParameterSource

from mainmatter.api import clean, read
from mainmatter.cli import options
from mainmatter.cli.printing import harmless, progress, why_unwritable
from mainmatter.errors import InputError
from mainmatter.files import open_whole, write_whole
from mainmatter.inputs.paths import STANDARD_INPUT, Input, look_through
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.registry import FORMATS, get_method, split_name
from mainmatter.render.json import render_chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.inputs.paths import Input
    from mainmatter.limits import Limits


_JSON = ("json", "jsonl")
_BY_ENDING = {ending: name for name, (_, ending) in FORMATS.items()} | {".markdown": "markdown", ".htm": "html"}
# Options that only some formats have.
_FORMATS_WITH = {
    "blocks": _JSON,
    "links": ("markdown",),
    "images": ("markdown", "html", "tei"),
    "tables": ("markdown",),
    "heading_style": ("markdown",),
    "front_matter": ("markdown",),
    "chunks": ("text", *_JSON),
}


@dataclass(frozen=True, slots=True)
class _Task:
    """What to do with every input; travels to the processes that do it."""

    method: str
    format: str
    limits: Limits
    parameters: dict[str, Any] = field(default_factory=dict)
    render_options: dict[str, Any] = field(default_factory=dict)
    chunks: tuple[int, int] | None = None  # the most tokens of a chunk, and of those that it repeats


@click.command(name="clean")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=options.complete_files)
@options.method
@options.controls
@click.option(
    "-f",
    "--format",
    "format_",
    type=options.OneOf(sorted(FORMATS), {ending.strip("."): name for ending, name in _BY_ENDING.items()}),
    show_default="by the ending of the file that -o names, else text",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="A file for one input; a folder for several inputs or for a folder. A name that ends in / is a folder. With "
    "-f jsonl, or a name that ends in .jsonl, one file for all.",
)
@click.option(
    "--blocks/--no-blocks",
    default=None,
    help="Include every block of the page with its score and reason, or leave the blocks out (json, jsonl).  "
    "[default: include in json, leave out in jsonl]",
)
@click.option("--links/--no-links", default=True, help="Keep links (markdown).", show_default=True)
@click.option("--images/--no-images", default=False, help="Keep images (markdown, html, tei).", show_default=True)
@click.option(
    "--tables/--no-tables",
    default=True,
    help="Write tables as tables, or each row as a line of text (markdown).",
    show_default=True,
)
@click.option(
    "--heading-style",
    type=options.OneOf(["atx", "setext"]),
    default="atx",
    help="Mark headings with #, or underline them (markdown).",
    show_default=True,
)
@click.option("--front-matter", is_flag=True, help="Begin with the metadata, as YAML (markdown).")
@click.option(
    "--chunks",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="Cut the text into chunks of at most this many tokens of four bytes: one JSON object per line, with its "
    "place on the page. With -f json, they are in the page's object.",
)
@options.overlap
@click.option(
    "--site-templates",
    is_flag=True,
    help="Read all inputs twice, first to find out what the pages of each site repeat (methods main and template). "
    "All files are one site.",
)
@click.option("--url", help="The page's address, if it is read from a file or standard input.")
@options.browser
@options.input_format
@options.follow_links
@options.max_size
@options.workers
def command(
    inputs: tuple[str, ...],
    method: str,
    dial: float | None,
    comments: str | None,
    with_: tuple[str, ...],
    without: tuple[str, ...],
    format_: str | None,
    output: str | None,
    blocks: bool | None,
    links: bool,
    images: bool,
    tables: bool,
    heading_style: str,
    front_matter: bool,
    chunks: int | None,
    overlap: int,
    site_templates: bool,
    url: str | None,
    browser: bool,
    allow_private: bool,
    input_format: str | None,
    follow_links: bool,
    max_size: float,
    workers: int,
) -> None:
    """Keep the main matter of pages.

    INPUT is an HTML file (gzipped or not), a plain-text dump (.txt), a folder of these, a URL, or - for standard input.
    For collections of pages (WARC, JSONL, Parquet) use: mainmatter corpus. The result goes to standard output, or with
    -o to a file or folder. -f jsonl writes one JSON object per line for each page, as -f json does for several pages on
    standard output. A page that cannot be cleaned, or whose result cannot be written, is named on standard error, and
    the exit code is then 1.

    --dial, --comments, --with and --without set parameters of the method, if it has them, and override those in its
    name.
    """
    parameters = options.to_parameters(method, dial, comments, with_, without)  # complain before any work
    if not site_templates:
        check_has_sites(method)
    options.check_overlap(chunks, overlap)
    looked_through = look_through(inputs, input_format, follow_links=follow_links)
    found = options.with_browser(looked_through.inputs, browser, allow_private)
    is_batch = len(found) > 1 or any(Path(name).is_dir() for name in inputs)
    format_ = format_ or _format_by_ending(output, is_batch=is_batch, has_chunks=chunks is not None)
    _check_options(click.get_current_context(), format_)
    if url is not None and len(found) > 1:
        raise click.BadParameter(
            f"there are {len(found)} pages, and they cannot all come from {url}", param_hint="--url"
        )
    render_options: dict[str, Any] = {"images": images} if format_ in ("markdown", "html", "tei") else {}
    if format_ == "markdown":
        render_options |= {"links": links, "tables": tables, "headings": heading_style, "front_matter": front_matter}
    if format_ in _JSON:
        render_options = {
            "chunks": chunks,
            "overlap": overlap,
            "blocks": format_ == "json" if blocks is None else blocks,
        }
    if is_batch and format_ == "json" and output is None:
        format_ = "jsonl"
    task = _Task(method, format_, options.to_limits(max_size), parameters, render_options)
    ending = FORMATS[format_][1]
    if chunks is not None and format_ not in _JSON:
        task, ending = replace(task, chunks=(chunks, overlap)), ".jsonl"
    targets = _targets(found, output, ending, is_batch=is_batch and format_ != "jsonl")
    _spare_inputs(found, targets)
    if site_templates:
        check_knows_sites(method, found)
        with TemporaryDirectory() as folder:
            count_sites(method, found, task.limits, folder)
            failed = _run(_with_sites(task, folder), found, targets, url, workers)
    else:
        failed = _run(task, found, targets, url, workers)
    if len(found) > 1:
        _say_summary(len(found), failed, output)
    for told in filter(None, (looked_through.why_passed_over(), looked_through.why_links())):
        click.echo(told, err=True)
    if failed:
        click.get_current_context().exit(1)


def _format_by_ending(output: str | None, *, is_batch: bool, has_chunks: bool) -> str:
    """The format of a file with such a name; text where the results go elsewhere, or the name tells nothing."""
    if output is None or output.endswith(("/", os.sep)) or Path(output).is_dir():
        return "text"
    name = Path(output).name.lower()
    fitting = [ending for ending in _BY_ENDING if name.endswith(ending)]
    format_ = _BY_ENDING[max(fitting, key=len)] if fitting else "text"
    if format_ == "jsonl":
        return "text" if has_chunks else format_  # chunks of the text are JSON Lines by themselves
    return "text" if is_batch else format_


def _check_options(context: click.Context, format_: str) -> None:
    """Complain before any work.

    Raises:
        UsageError: an option was given that the format does not have.
    """
    for option in context.command.params:
        name = option.name or ""
        formats = _FORMATS_WITH.get(name, (format_,))
        if format_ not in formats and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            given = option.secondary_opts[0] if context.params[name] is False else option.opts[0]
            raise click.UsageError(f"{given} does not go with the format {format_}; it is for: {', '.join(formats)}")


def _with_sites(task: _Task, folder: str) -> _Task:
    """The same, with what the pages of each site repeat: `template` knows nothing else, `main` is told where it is."""
    if split_name(task.method)[0] == "template":
        listed = split_name(task.method)[1]
        return replace(task, method=f"{folder}:{listed}" if listed else folder)
    return replace(task, parameters={**task.parameters, "site_templates": folder})


def _targets(found: list[Input], output: str | None, ending: str, *, is_batch: bool) -> list[Path | None]:
    """Where each result goes: None is standard output. All may go to the same file."""
    if output is None:
        return [None] * len(found)
    folder = Path(output)
    if not is_batch and not folder.is_dir() and not output.endswith(("/", os.sep)):
        return [folder] * len(found)
    if folder.is_file():
        raise click.BadParameter(f"{folder} is a file, and a folder is needed", param_hint="--output")
    taken: set[Path] = set()
    targets: list[Path | None] = []
    for one in found:
        target = folder / one.relative.with_suffix(ending)
        if target in taken:  # page.html and page.htm
            target = folder / one.relative.with_name(one.relative.name + ending)
        number = 2
        while target in taken:  # a/page.html, b/page.html and c/page.html
            target = folder / one.relative.with_name(f"{one.relative.name}-{number}{ending}")
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
    with ExitStack() as stack:
        file = None
        is_shared = len(targets) > 1 and targets[0] is not None and targets[0] == targets[1]
        hidden = len(found) == 1 or None in targets
        advance = stack.enter_context(progress("cleaning", len(found), hidden=hidden))
        for one, target, result in zip(found, targets, results, strict=True):
            has_heading = len(found) > 1 and task.format != "jsonl" and task.chunks is None
            heading = f"==> {click.format_filename(one.name)} <==\n" if has_heading else ""
            if isinstance(result, Failure):  # our own errors name the input, those that nobody foresaw do not
                text = result.error.partition(": ")[2]
                error: str | None = text if text.startswith(one.name) else f"{one.name}: {result.error}"
            else:
                text, notes = result
                if is_shared and file is None and target is not None:  # without a result, an earlier file stays
                    file = stack.enter_context(open_whole(target))
                is_whole = text.endswith("\n") or task.chunks is not None  # of which a page may have none
                error = _put(one, text if is_whole else f"{text}\n", target, heading, file)
                options.say_notes(notes)
            if error is not None:
                failed += 1
                click.echo(f"Error: {error}", err=True)
            advance()
    return failed


def _put(one: Input, result: str, target: Path | None, heading: str, file: BinaryIO | None = None) -> str | None:
    """Print or write a result, to a file that is open if there is one; returns what went wrong, if anything did."""
    try:
        if file is not None:
            file.write(result.encode())
        elif target is None:
            click.echo(harmless(heading + result), nl=False)
        else:
            write_whole(target, result.encode())
    except UnicodeEncodeError as error:
        return f"{one.name}: {why_unwritable(error)}"
    except OSError as error:
        if target is None or file is not None:  # there is nowhere for the other results either
            raise
        return f"{one.name}: cannot be written: {error.filename or target}: {error.strerror or error}"
    return None


def _clean_one(task: _Task, url: str | None, one: Input) -> tuple[str, list[str]]:
    """The result of an input, and what should be known about it."""
    page, notes = options.read_page(one, task.limits)
    if url is not None:
        page = replace(page, url=url)
    extraction = clean(page, method=task.method, limits=task.limits, parameters=task.parameters)
    notes += options.scripts_note(one, extraction.document)
    if task.chunks is not None:
        return render_chunks(extraction, *task.chunks), notes
    return extraction.render(task.format, **task.render_options), notes


def _say_summary(pages: int, failed: int, output: str | None) -> None:
    parts = [f"{pages - failed} of {pages} pages cleaned"]
    if failed:
        parts.append(f"{failed} failed")
    if output is not None and failed < pages:
        parts.append(f"written to {Path(output)}")
    click.echo(", ".join(parts), err=True)


_HINT = "--site-templates"


def check_knows_sites(method: str, found: Sequence[Input]) -> None:
    """Complain before any work.

    Raises:
        BadParameter: the method has no use for what sites repeat, or knows it already, or an input cannot be read
            twice.
    """
    from mainmatter.corpus.site_templates import check_method  # few need a corpus run to clean a page

    try:
        check_method(method)
    except InputError as error:
        raise click.BadParameter(str(error), param_hint=_HINT) from error
    if any(one.name == STANDARD_INPUT for one in found):
        raise click.BadParameter("standard input cannot be read twice", param_hint=_HINT)


def check_has_sites(method: str) -> None:
    """Complain before any work about a method that knows nothing without this option.

    Raises:
        BadParameter: it is `template` by itself, which would keep all text.
    """
    if split_name(method)[0] != "template":
        return
    from mainmatter.corpus.site_templates import check_has_templates  # few need a corpus run here

    try:
        check_has_templates(method)
    except InputError as error:
        raise click.BadParameter(str(error), param_hint="--method") from error


def count_sites(method: str, found: Sequence[Input], limits: Limits, folder: str) -> None:
    """Count what the pages of each site repeat, and write that into a folder.

    What cannot be read is left out here; it is named when it is to be cleaned.

    Args:
        method: the method that is to use it; what a chunk is and how many pages are counted are parameters of
            `template`.
        found: the pages.
        limits: how large a page may be.
        folder: where the counts go.
    """
    from mainmatter.papers.template.method import Template  # few count sites

    chosen = get_method(method)
    template = chosen if isinstance(chosen, Template) else Template()
    counts = template.no_counts()
    with progress("counting", len(found), hidden=len(found) == 1) as advance:
        for one in found:
            with suppress(Exception):  # whatever it is, it is met again when the page is to be cleaned
                page = one.read(limits)
                if counts.wants(page):
                    counts.add(read(page, limits))
            advance()
    template.learn([counts]).save(folder)
