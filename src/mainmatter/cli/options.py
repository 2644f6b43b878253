"""Options that several commands share."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import click

from mainmatter.limits import DEFAULT_LIMITS, MEGABYTE, Limits
from mainmatter.parallel import default_workers
from mainmatter.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from collections.abc import Sequence

method = click.option(
    "-m", "--method", default=DEFAULT_METHOD, show_default=True, help="Which method decides; see: mainmatter methods."
)
settings = click.option(
    "-s", "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the method; may be repeated."
)
input_format = click.option(
    "--input-format",
    type=click.Choice(["html", "text"]),
    help="What the inputs are; by default text for .txt files, html for all others.",
)
max_size = click.option(
    "--max-size",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT_LIMITS.size / MEGABYTE,
    show_default=True,
    metavar="MB",
    help="Refuse larger pages.",
)
workers = click.option(
    "-j",
    "--workers",
    type=click.IntRange(min=1),
    default=default_workers,
    show_default="all cores",
    help="How many processes.",
)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE pairs to parameters; values are read as Python's numbers where they are such."""
    parameters = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{setting!r} is not of the form NAME=VALUE", param_hint="--set")
        try:
            parameters[name.strip()] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parameters[name.strip()] = value
    return parameters


def to_limits(max_size: float) -> Limits:
    """The limits for pages of at most so many megabytes."""
    return Limits(size=int(max_size * MEGABYTE))
