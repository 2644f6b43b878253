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
    help="The file to write; its ending (.png, .svg, .pdf) sets the format.",
)
def command(page: str, output: Path, **choices: Any) -> None:  # see options.one_page
    """Draw where the text of a page is, and which of it was kept.

    The picture is that of the Density paper (figures 2 and 3), for any method. The page's structural tags are in order
    from left to right, with a bar for the length of the text after each, in colour if it was kept, and the method's
    scores as dots.
    """
    extraction = options.clean_one_page(page, **choices)
    save_plot(extraction, output)
    click.echo(f"{output}: {len(extraction)} of {len(extraction.document)} blocks kept by {extraction.method}")
