"""A plain-text dump of a page to a document."""

from __future__ import annotations

from mainmatter.html.parse import decode_page
from mainmatter.records import Document, Page
from mainmatter.text.segment import segment_text


def read_text(page: Page) -> Document:
    """Read a plain-text dump: find its encoding, split it into blocks."""
    text, encoding = decode_page(page)
    return Document(page, segment_text(text, page.lines_are_blocks), encoding)
