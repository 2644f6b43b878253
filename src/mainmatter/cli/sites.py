"""What `--site-templates` does before pages are cleaned: read them all, and count what each site repeats."""

from __future__ import annotations

from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING

import click

from mainmatter.clean import read
from mainmatter.cli.progress import progress
from mainmatter.inputs import STANDARD_INPUT
from mainmatter.methods.site_templates import METHOD
from mainmatter.methods.template import Template
from mainmatter.registry import get_method, split_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.inputs import Input
    from mainmatter.limits import Limits

_HINT = "--site-templates"


def check_knows_sites(method: str, found: Sequence[Input]) -> None:
    """Complain before any work.

    Raises:
        BadParameter: the method has no use for what sites repeat, or knows it already, or an input cannot be read
            twice.
    """
    chosen = get_method(method)
    if chosen.name == METHOD:
        if split_name(method)[0] != METHOD:
            raise click.BadParameter(f"{method} has counted its sites already", param_hint=_HINT)
    elif "site_templates" not in signature(type(chosen)).parameters:
        raise click.BadParameter(
            f"method {chosen.name!r} has no use for what sites repeat; main and {METHOD} have", param_hint=_HINT
        )
    if any(one.name == STANDARD_INPUT for one in found):
        raise click.BadParameter("standard input cannot be read twice", param_hint=_HINT)


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
