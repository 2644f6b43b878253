"""Options that several commands share."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
from click.shell_completion import CompletionItem

from mainmatter.api import clean
from mainmatter.errors import InputError, PageWarning, suggest
from mainmatter.inputs.fetch import is_url
from mainmatter.inputs.paths import find_inputs
from mainmatter.isolation.parallel import default_workers
from mainmatter.limits import DEFAULT_LIMITS, MEGABYTE, Limits
from mainmatter.main.choice import ADDITIONS, PIECES, SWITCHES, Comments
from mainmatter.models.in_use import read_choice
from mainmatter.registry import DEFAULT_METHOD, get_method, method_names, split_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mainmatter.inputs.paths import Input
    from mainmatter.records import Document, Extraction, Page

    _Choice = click.Choice[str]
else:  # which click 8.1 has not made generic
    _Choice = click.Choice


class OneOf(_Choice):
    """One of some names; of another, the error says which was probably meant.

    Args:
        choices: the names.
        others: what some call them.
    """

    def __init__(self, choices: Iterable[str], others: Mapping[str, str] | None = None) -> None:
        super().__init__(tuple(choices))
        self._others = others or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name.

        Raises:
            BadParameter: it is none of them.
        """
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = suggest(self._others.get(str(value).lower(), str(value)), self.choices, "")
            if hint.startswith("did you mean"):
                raise click.BadParameter(f"{error.message.rstrip('.')}; {hint}", ctx, param) from error
            raise


def _find_method(context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    """The method that was named or, without one, the one that `mainmatter use` chose, which is told."""
    if value is not None or context.resilient_parsing:
        return value or DEFAULT_METHOD
    chosen = read_choice()
    if chosen is None:
        return DEFAULT_METHOD
    click.echo(f"method: {chosen} (chosen with `mainmatter use`)", err=True)
    return chosen


def complete_files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let a shell complete names of files."""
    return [CompletionItem(incomplete, type="file")]


def complete_methods(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let a shell complete the names of methods and, where none fits, of files: a model is a folder."""
    found = [CompletionItem(name) for name in method_names() if name.startswith(incomplete)]
    return found or complete_files(context, parameter, incomplete)


method = click.option(
    "-m",
    "--method",
    callback=_find_method,
    shell_complete=complete_methods,
    show_default="main, or what `mainmatter use` chose",
    metavar="NAME[:PARAMETER=VALUE,...]",
    help="The method that decides; see: mainmatter methods.",
)
input_format = click.option(
    "--input-format",
    type=OneOf(["html", "text"]),
    help="The type of the inputs. By default, text for .txt files and plain-text URLs, html for all others.",
)
follow_links = click.option(
    "--follow-links",
    is_flag=True,
    help="In a folder, also read links to files, wherever they lead. By default, they are only counted.",
)
max_size = click.option(
    "--max-size",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT_LIMITS.size / MEGABYTE,
    show_default=True,
    metavar="MB",
    help="Refuse larger pages.",
)
datasets = click.option(
    "--on",
    "datasets",
    multiple=True,
    required=True,
    metavar="DATASET",
    help="A dataset's name or path; may be repeated.",
)
data = click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), help="The folder with the files NAME.parquet."
)
convention = click.option(
    "--convention",
    type=OneOf(["own", "house", "both"]),
    default="own",
    show_default=True,
    help="Whose rules about headlines, bylines, captions and comments a method follows, if it knows several: each "
    "dataset's own, ours (house), or both in turn.",
)
workers = click.option(
    "-j",
    "--workers",
    type=click.IntRange(min=1),
    default=default_workers,
    show_default="all cores",
    help="How many processes.",
)
overlap = click.option(
    "--overlap",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="TOKENS",
    help="Repeat at most this many tokens from the previous chunk.",
)
_dial = click.option(
    "--dial",
    type=click.FloatRange(0, 1),
    help="How much to keep, from 0, only the surest block, to 1, all text; 0.5 is balanced.",
)
_comments = click.option(
    "--comments",
    type=OneOf(get_args(Comments)),
    help="Readers' comments: drop them, keep them in place, or set them apart at the end.",
)
_with = click.option(
    "--with",
    "with_",
    type=OneOf(ADDITIONS),
    multiple=True,
    help="Also keep these, which are dropped by default; may be repeated.",
)
_without = click.option(
    "--without",
    type=OneOf([*PIECES, *SWITCHES]),
    multiple=True,
    help="Drop these; may be repeated.",
)
_browser = click.option(
    "--browser",
    is_flag=True,
    help="Load URLs with Chromium, with their scripts, for pages that only scripts build. Needs the extra `visual`.",
)
allow_private = click.option(
    "--allow-private",
    is_flag=True,
    help="Also fetch from private and loopback addresses: for pages of this machine and its network.",
)
# What these set, as the parameters of a method, and how an error names it.
_CONTROLS = {"dial": "dial", "comments": "choice about comments"}


def controls(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that `to_parameters` takes."""
    for decorate in (_without, _with, _comments, _dial):
        command = decorate(command)
    return command


def browser(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that `with_browser` takes."""
    return _browser(allow_private(command))


def with_browser(inputs: list[Input], browser: bool, allow_private: bool) -> list[Input]:
    """The inputs, which are to be loaded by a browser, or from any address, if so chosen.

    Raises:
        UsageError: not all are URLs, which a browser needs.
        MissingExtra: Playwright is not installed.
        InputError: there is no Chromium.
    """
    inputs = [replace(one, public_only=not allow_private) for one in inputs]
    if not browser:
        return inputs
    for one in inputs:
        if not is_url(one.name):
            raise click.UsageError(f"--browser loads URLs, and {click.format_filename(one.name)} is not a URL")
    from mainmatter.html.browser.chromium import need_browser  # few need it
    from mainmatter.inputs.browser import fetch_with_browser

    need_browser()
    return [replace(one, fetch=fetch_with_browser) for one in inputs]


def check_overlap(chunks: int | None, overlap: int) -> None:
    """Complain before any work.

    Raises:
        UsageError: the chunks cannot overlap so.
    """
    if chunks is None:
        if overlap:
            raise click.UsageError("--overlap is for chunks; give --chunks, too")
    elif overlap >= chunks:
        raise click.UsageError(f"--overlap must be less than --chunks, which is {chunks}")


def read_page(one: Input, limits: Limits) -> tuple[Page, list[str]]:
    """Read an input's page; with it, what should be known about it, in words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PageWarning)
        page = one.read(limits)
    for warning in caught:
        if not issubclass(warning.category, PageWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return page, [str(warning.message) for warning in caught if issubclass(warning.category, PageWarning)]


def scripts_note(one: Input, document: Document) -> list[str]:
    """What is to be said of a page that shows next to nothing without its scripts; nothing of others."""
    if one.fetch is not None:
        return [] if document.texts else [f"{one.name}: shows no text, even after its scripts ran"]
    if not document.needs_scripts:
        return []
    advice = "--browser runs them" if is_url(one.name) else "give its URL and --browser to run them"
    return [f"{one.name}: shows almost no text without its scripts; {advice}"]


def to_parameters(
    method: str, dial: float | None, comments: str | None, with_: tuple[str, ...], without: tuple[str, ...]
) -> dict[str, Any]:
    """The parameters of a method that the options set; they win over those that follow its name.

    Raises:
        UsageError: the options contradict each other.
        UnknownName: there is no such method.
        InputError: the method has no such parameter, or a parameter in its name is wrong.
        ModelError: a trained model is missing or damaged.
    """
    chosen: dict[str, Any] = {"dial": dial} | dict.fromkeys(with_, True) | dict.fromkeys(without, False)
    contradicted = [name for name in with_ if name in without]
    if contradicted:
        raise click.UsageError(f"--with {contradicted[0]} and --without {contradicted[0]} contradict each other")
    if comments is not None and chosen.get("comments") not in (None, comments != "drop"):
        option = "--with" if chosen["comments"] else "--without"
        raise click.UsageError(f"{option} comments and --comments {comments} contradict each other")
    if "comments" in chosen:
        chosen["comments"] = "keep" if chosen["comments"] else "drop"
    chosen["comments"] = comments or chosen.get("comments")
    parameters = {parameter: value for parameter, value in chosen.items() if value is not None}
    try:
        get_method(method, **parameters)
    except InputError as error:
        name = split_name(method)[0]
        missing = [parameter for parameter in parameters if not _takes(name, parameter)]
        if not missing:
            raise
        raise InputError(_what_lacks(name, missing[0])) from error
    return parameters


def _what_lacks(method: str, parameter: str) -> str:
    """What a method lacks, in the words of the options, and which methods have it."""
    what = _CONTROLS.get(parameter, f"switch for {parameter}")
    others = ", ".join(name for name in method_names() if _takes(name, parameter))
    hint = f"methods that have one: {others}" if others else "no method here has one"
    return f"method {method!r} has no {what}; {hint}"


def _takes(method: str, parameter: str) -> bool:
    try:
        return parameter in signature(type(get_method(method))).parameters
    except Exception:  # another package's method may be broken in any way
        return False


def fields(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name the fields of JSONL and the columns of Parquet."""
    of = "The field of JSONL and Parquet with the"
    for decorate in (
        click.option("--id-field", default="", metavar="NAME", help=f"{of} page's id, if its name is unusual."),
        click.option("--url-field", default="", metavar="NAME", help=f"{of} page's URL, if its name is unusual."),
        click.option("--html-field", default="", metavar="NAME", help=f"{of} page, if its name is unusual."),
    ):
        command = decorate(command)
    return command


def rules_for_clients(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a server's command the options that bound what clients may have it do."""
    positive = click.FloatRange(0, min_open=True)
    for decorate in (
        allow_private,
        click.option(
            "--fetch/--no-fetch", default=True, show_default=True, help="Fetch pages that clients name by URL."
        ),
        click.option(
            "--max-size",
            type=positive,
            default=10.0,
            show_default=True,
            metavar="MB",
            help="Refuse larger pages and requests.",
        ),
        click.option(
            "--memory",
            type=click.IntRange(50),
            default=1000,
            show_default=True,
            metavar="MB",
            help="Limit for one request.",
        ),
        click.option("--seconds", type=positive, default=20.0, show_default=True, help="Limit for one request."),
    ):
        command = decorate(command)
    return command


def to_limits(max_size: float) -> Limits:
    """The limits for pages of at most so many megabytes."""
    if not math.isfinite(max_size):
        raise click.BadParameter(f"{max_size} is not a size", param_hint="--max-size")
    return Limits(size=int(max_size * MEGABYTE))


def one_page(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the argument PAGE and the options that `clean_one_page` takes."""
    for decorate in (
        max_size,
        input_format,
        browser,
        controls,
        method,
        click.argument("page", shell_complete=complete_files),
    ):
        command = decorate(command)
    return command


def clean_one_page(
    page: str,
    *,
    method: str,
    dial: float | None,
    comments: str | None,
    with_: tuple[str, ...],
    without: tuple[str, ...],
    input_format: str | None,
    max_size: float,
    browser: bool,
    allow_private: bool,
) -> Extraction:
    """Clean the one page that an argument names."""
    parameters = to_parameters(method, dial, comments, with_, without)
    limits = to_limits(max_size)
    inputs = find_inputs([page], input_format)
    if len(inputs) > 1:
        raise click.BadParameter(f"{page} holds {len(inputs)} pages; name one", param_hint="PAGE")
    (one,) = with_browser(inputs, browser, allow_private)
    page_read, notes = read_page(one, limits)
    extraction = clean(page_read, method=method, limits=limits, parameters=parameters)
    say_notes([*notes, *scripts_note(one, extraction.document)])
    return extraction


def say_notes(notes: Iterable[str]) -> None:
    """Tell what should be known about pages."""
    for note in notes:
        click.echo(f"Warning: {note}", err=True)
