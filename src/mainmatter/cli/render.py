"""`mainmatter render`: a picture of a page with its blocks outlined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mainmatter.cli import options
from mainmatter.errors import InputError
from mainmatter.files import write_whole


@click.command(name="render")
@options.one_page
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("page.png"),
    show_default=True,
    help="The PNG file to write.",
)
@click.option(
    "--width",
    type=click.IntRange(200, 4000),
    default=1280,
    show_default=True,
    metavar="PIXELS",
    help="How wide the browser's window is.",
)
def command(page: str, output: Path, width: int, **choices: Any) -> None:  # see options.one_page
    """Show a page as a browser does, with its blocks outlined.

    Kept blocks are green with a bar at their left, dropped ones pale with a dashed line; each has its number, as in
    `mainmatter explain`, and its score. Nothing but the page itself is fetched, so style sheets and pictures from
    elsewhere are missing. Needs the extra `visual` and Chromium.
    """
    from mainmatter.html.browser.chromium import Chromium  # not for --help
    from mainmatter.render.screenshot import summary, take_picture

    if output.suffix.lower() != ".png":
        raise InputError(f"{output}: pictures of pages are PNG files; let the name end in .png")
    with Chromium(width=width) as browser:
        extraction = options.clean_one_page(page, **choices)
        picture, rendering = take_picture(extraction, browser)
    write_whole(output, picture)
    click.echo(f"{output}: {summary(extraction, rendering)}")
