"""An HTML page to a document: decode, parse, segment; the heavy parts on demand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mainmatter.html.decode import decode
from mainmatter.html.locate import locate
from mainmatter.html.metadata import read_metadata
from mainmatter.html.parse import Tree, parse
from mainmatter.html.scripted import add_scripted_text
from mainmatter.html.segment import segment
from mainmatter.html.swallowed import without_what_swallows
from mainmatter.records import Block, Columns, Document, Metadata, Page

if TYPE_CHECKING:
    from mainmatter.html.segments import Segments

_NOSCRIPT = re.compile("<noscript", re.IGNORECASE)  # also in the head, where the walk does not look
_TAG = re.compile(r"<[^<>]*>|\s+")


def read_html(page: Page) -> Document:
    """Read an HTML page: find its encoding, parse it, split it into blocks."""
    html, encoding = _decoded(page)
    tree, segments = parse_and_segment(html)
    return Document(page, segments.columns, encoding, HtmlSource(page, (tree, segments)))


def parse_and_segment(html: str) -> tuple[Tree, Segments]:
    """Parse a page and split it into blocks, as a browser with scripts sees it, or without where that shows more.

    Many forums hold their posts in `<noscript>`. Elsewhere it says that scripts are needed, or repeats what scripts
    load, and its markup is often so broken that it would swallow the page.

    What a page does not show in either way, but declares for its scripts or for search engines, is added to the tree
    (html/scripted.py). Of a page that shows nothing because a tag was never closed, that tag is taken out.
    """
    tree = parse(html)
    segments = segment(tree)
    if not segments.columns.texts and (mended := without_what_swallows(html)) is not None:
        html, tree = mended, parse(mended)
        segments = segment(tree)
    read_noscript = False
    if _may_live_in_noscript(segments) or (not segments.columns.texts and _NOSCRIPT.search(html)):
        other_tree = parse(html, scripting=False)
        other_segments = segment(other_tree, read_noscript=True)
        if _length(other_segments) > 2 * _length(segments):
            tree, segments, read_noscript = other_tree, other_segments, True
    if add_scripted_text(tree, segments):
        segments = segment(tree, read_noscript=read_noscript)
    return tree, segments


def _may_live_in_noscript(segments: Segments) -> bool:
    """A guess that costs little: is there more text inside `<noscript>` than outside?"""
    if not segments.noscripts:
        return False
    shown = _length(segments)
    markup = "".join(segments.noscripts)
    return len(markup) > shown and len(_TAG.sub("", markup)) > shown


def _length(segments: Segments) -> int:
    return sum(map(len, segments.columns.texts))


class HtmlSource:
    """The heavy parts of an HTML page: its tree and all that is read from it on demand.

    Trees do not travel between processes; a source that has travelled, or that was made without one, parses its page
    when asked.
    """

    def __init__(self, page: Page, parsed: tuple[Tree, Segments] | None = None) -> None:
        self._page = page
        self._parsed = parsed

    def __getstate__(self) -> dict[str, Any]:
        return {"_page": self._page, "_parsed": None}

    def parse_again(self) -> tuple[Tree, Segments]:
        """A tree and its segments that the caller may change; the blocks are the same as the document's."""
        return parse_and_segment(_decoded(self._page)[0])

    def blocks(self, columns: Columns) -> list[Block]:  # noqa: ARG002 - the segments have them too
        """Make the blocks, with all that is known about them."""
        return locate(*self.tree_and_segments())

    def metadata(self) -> Metadata:
        """Read what the page says about itself."""
        return read_metadata(self.tree_and_segments()[0], self._page.url)

    def tree_and_segments(self) -> tuple[Tree, Segments]:
        """The page's tree and the blocks' nodes in it; shared by all who ask, so not to be changed."""
        if self._parsed is None:
            self._parsed = self.parse_again()
        return self._parsed


def _decoded(page: Page) -> tuple[str, str | None]:
    return (page.html, None) if isinstance(page.html, str) else decode(page.html, page.charset)
