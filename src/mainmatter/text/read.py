"""A plain-text dump of a page to a document."""

from __future__ import annotations

from mainmatter.html.decode import decode
from mainmatter.records import Block, Columns, Document, Metadata, Page
from mainmatter.text.segment import segment_text


def read_text(page: Page) -> Document:
    """Read a plain-text dump: find its encoding, split it into blocks."""
    text, encoding = (page.html, None) if isinstance(page.html, str) else decode(page.html, page.charset)
    return Document(page, segment_text(text, page.lines_are_blocks), encoding, TextSource(page))


class TextSource:
    """The heavy parts of a text dump, which has none: no tree, and nothing that it says about itself."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def blocks(self, columns: Columns) -> list[Block]:
        """Make the blocks."""
        return [
            Block(index, text, kind, level, position)
            for index, (text, kind, level, position) in enumerate(
                zip(columns.texts, columns.kinds, columns.levels, columns.positions, strict=True)
            )
        ]

    def metadata(self) -> Metadata:
        """All that is known of a dump is where it came from."""
        return Metadata(url=self._page.url)
