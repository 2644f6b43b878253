"""Markdown, from the page's own markup: links, emphasis, lists, tables, code, and images if asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.html.parse import to_markdown
from mainmatter.render.html import pruned_body
from mainmatter.render.markup import block_markdown

if TYPE_CHECKING:
    from mainmatter.records import Extraction


def render(extraction: Extraction, *, links: bool = True, images: bool = False) -> str:
    """The kept blocks as Markdown (GitHub's flavour)."""
    body = pruned_body(extraction, images=images)
    if body is None:
        return block_markdown(extraction)
    return to_markdown(body, links=links, images=images).strip()
