"""`mainmatter explain`: every block of a page, kept or dropped, and why."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import click

from mainmatter.cli import options
from mainmatter.cli.printing import harmless

if TYPE_CHECKING:
    from mainmatter.records import Extraction


@click.command(name="explain")
@options.one_page
@click.option("--only", type=options.OneOf(["kept", "dropped"]), help="Show only these blocks.")
def command(page: str, only: str | None, **choices: Any) -> None:  # see options.one_page
    """Show why each block of a page was kept or dropped.

    PAGE is an HTML file, a plain-text dump (.txt), a URL, or - for standard input.
    """
    _show(options.clean_one_page(page, **choices), only)


def _show(extraction: Extraction, only: str | None) -> None:
    width = shutil.get_terminal_size((120, 24)).columns
    texts = extraction.document.texts
    about_page = _about_page(extraction)
    if about_page:
        click.echo(about_page)
    for i, is_kept in enumerate(extraction.kept.tolist()):
        if only is not None and is_kept != (only == "kept"):
            continue
        verdict = click.style("kept   ", fg="green") if is_kept else click.style("dropped", fg="red")
        # Of a method that has no labels of its own, the label says what the verdict says.
        label = "" if extraction.found_labels is None else f"  {extraction.labels[i]:11}"
        head = f"{i:4} {verdict} {extraction.scores[i]:5.2f}{label}  {extraction.kinds[i].value:9}  "
        click.echo(head + click.style(harmless(extraction.reasons[i]), dim=True))
        line = " ".join(texts[i].split())
        click.echo(" " * 20 + harmless(line if len(line) <= width - 20 else line[: max(0, width - 21)] + "…"))
    kept_chars = sum(len(text) for text, is_kept in zip(texts, extraction.kept, strict=True) if is_kept)
    all_chars = sum(map(len, texts))
    click.echo(
        f"{extraction.method}: kept {len(extraction)} of {len(texts)} blocks, "
        f"{kept_chars:,} of {all_chars:,} characters ({kept_chars / max(1, all_chars):.0%})"
    )


def _about_page(extraction: Extraction) -> str:
    """What the method says of the page as a whole; nothing if it says nothing."""
    parts = []
    if extraction.page_type is not None:
        parts.append(f"page type: {extraction.page_type}")
    if extraction.confidence is not None:
        parts.append(f"confidence: {extraction.confidence:.2f}")
    if extraction.threshold is not None:
        parts.append(f"threshold: {extraction.threshold:.2f}")
    return ", ".join(parts)
