"""HTML: the page pruned to what was kept, as a small document without scripts or styles."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mainmatter.html.prune import prune
from mainmatter.html.read import HtmlSource
from mainmatter.render.markup import block_html

if TYPE_CHECKING:
    from mainmatter.html.parse import Element
    from mainmatter.records import Extraction


def render(extraction: Extraction, *, images: bool = False) -> str:
    """The kept blocks in the markup of the page; a plain-text dump gets the markup of its blocks' kinds."""
    body = pruned_body(extraction, images=images)
    content = body.inner_html if body is not None else block_html(extraction)
    metadata = extraction.metadata
    language = f' lang="{escape(metadata.language)}"' if metadata.language else ""
    title = escape(metadata.title or "")
    return (
        f'<!doctype html>\n<html{language}>\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n{content.strip()}\n</body>\n</html>\n"
    )


def pruned_body(extraction: Extraction, *, images: bool) -> Element | None:
    """The page's body without what was dropped; None for a plain-text dump."""
    source = extraction.document.source
    if not isinstance(source, HtmlSource):
        return None
    tree, segments = source.parse_again()
    url = extraction.document.page.url or extraction.metadata.url  # links become absolute
    return prune(tree, segments, extraction.kept.tolist(), images=images, url=url)
