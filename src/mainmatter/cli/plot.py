"""`mainmatter plot`: the density picture of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mainmatter.cli import options
from mainmatter.render.plot import save_plot


@click.command(name="plot")
@options.one_page
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("plot.png"),
    show_default=True,
    help="Where to draw it; the ending (.png, .svg, .pdf) tells the format.",
)
def command(page: str, output: Path, **choices: Any) -> None:  # noqa: ANN401 - see options.one_page
    """Draw where the text of a page is, and what was kept of it.

    The picture of the Density paper (figures 2 and 3), for any method: the page's structural tags from left to right,
    the length of the text after each upwards, kept texts in colour; and the method's scores.
    """
    extraction = options.clean_one_page(page, **choices)
    output.parent.mkdir(parents=True, exist_ok=True)
    save_plot(extraction, output)
    click.echo(f"{output}: {len(extraction)} of {len(extraction.document)} blocks kept by {extraction.method}")
