"""What commands about a single page share: its argument and options, and cleaning it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mainmatter.clean import clean
from mainmatter.cli import options
from mainmatter.inputs.paths import find_inputs

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mainmatter.records import Extraction


def arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the argument PAGE and the options that `clean_one_page` takes."""
    for decorate in (
        options.max_size,
        options.input_format,
        options.controls,
        options.method,
        click.argument("page"),
    ):
        command = decorate(command)
    return command


def clean_one_page(
    page: str,
    *,
    method: str,
    dial: float | None,
    comments: str | None,
    without: tuple[str, ...],
    input_format: str | None,
    max_size: float,
) -> Extraction:
    """Clean the one page that an argument names."""
    parameters = options.to_parameters(method, dial, comments, without)
    limits = options.to_limits(max_size)
    inputs = find_inputs([page], input_format)
    if len(inputs) > 1:
        raise click.BadParameter(f"{page} holds {len(inputs)} pages; name one", param_hint="PAGE")
    return clean(inputs[0].read(limits), method=method, limits=limits, **parameters)
