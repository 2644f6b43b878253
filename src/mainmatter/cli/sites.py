"""What `--site-templates` does before pages are cleaned: read them all, and count what each site repeats."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from mainmatter.clean import read
from mainmatter.cli.progress import progress
from mainmatter.errors import InputError
from mainmatter.inputs.paths import STANDARD_INPUT
from mainmatter.papers.template.method import Template
from mainmatter.papers.template.site_templates import METHOD
from mainmatter.registry import get_method, split_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.inputs.paths import Input
    from mainmatter.limits import Limits

_HINT = "--site-templates"


def check_knows_sites(method: str, found: Sequence[Input]) -> None:
    """Complain before any work.

    Raises:
        BadParameter: the method has no use for what sites repeat, or knows it already, or an input cannot be read
            twice.
    """
    from mainmatter.corpus.templates import check_method  # noqa: PLC0415 - few need a corpus run to clean a page

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
    if split_name(method)[0] != METHOD:
        return
    from mainmatter.corpus.templates import check_has_templates  # noqa: PLC0415 - few need a corpus run here

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
