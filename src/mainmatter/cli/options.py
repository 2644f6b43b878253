"""Options that several commands share."""

from __future__ import annotations

import math
from pathlib import Path

import click

from mainmatter.limits import DEFAULT_LIMITS, MEGABYTE, Limits
from mainmatter.parallel import default_workers
from mainmatter.registry import DEFAULT_METHOD

method = click.option(
    "-m",
    "--method",
    default=DEFAULT_METHOD,
    show_default=True,
    metavar="NAME[:PARAMETER=VALUE,...]",
    help="Which method decides; see: mainmatter methods.",
)
input_format = click.option(
    "--input-format",
    type=click.Choice(["html", "text"]),
    help="What the inputs are; by default text for .txt files and URLs of plain text, html for all others.",
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
    "--data", type=click.Path(path_type=Path, file_okay=False), help="The folder that holds NAME.parquet."
)
workers = click.option(
    "-j",
    "--workers",
    type=click.IntRange(min=1),
    default=default_workers,
    show_default="all cores",
    help="How many processes.",
)


def to_limits(max_size: float) -> Limits:
    """The limits for pages of at most so many megabytes."""
    if not math.isfinite(max_size):
        raise click.BadParameter(f"{max_size} is no size", param_hint="--max-size")
    return Limits(size=int(max_size * MEGABYTE))
