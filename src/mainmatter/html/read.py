"""An HTML page to a document: decode, parse, segment; the heavy parts on demand."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from mainmatter.html.decode import decode
from mainmatter.html.locate import locate
from mainmatter.html.metadata import read_metadata
from mainmatter.html.outline import find_containers, find_names
from mainmatter.html.parse import Tree, parse
from mainmatter.html.scripted import add_scripted_text
from mainmatter.html.segment import segment
from mainmatter.html.swallowed import without_what_swallows
from mainmatter.records import Document

if TYPE_CHECKING:
    from mainmatter.html.segments import Segments
    from mainmatter.records import Block, Containers, Metadata, Page

_NOSCRIPT = re.compile("<noscript", re.IGNORECASE)  # also in the head, where the walk does not look
_TAG = re.compile(r"<[^<>]*>|\s+")


def read_html(page: Page) -> Document:
    """Read an HTML page: find its encoding, parse it, split it into blocks."""
    html, encoding = _decoded(page)
    tree, segments = parse_and_segment(html)
    return HtmlDocument(page, segments.columns, encoding, (tree, segments))


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


@dataclass(frozen=True, eq=False)
class HtmlDocument(Document):
    """An HTML page that was read.

    A document that has travelled between processes, or that was made without its tree, parses its page when asked.
    """

    has_markup: ClassVar[bool] = True
    _parsed: tuple[Tree, Segments] | None = field(default=None, repr=False)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The page's blocks, in the order of the page, with all that is known about them."""
        return tuple(locate(*self.parsed))

    @cached_property
    def metadata(self) -> Metadata:
        """What the page says about itself."""
        return read_metadata(self.parsed[0], self.page.url)

    @cached_property
    def title(self) -> str:
        """The page's `<title>`; see `Document`."""
        element = self.parsed[0].find("title")
        return " ".join(element.text.split()) if element is not None else ""

    @cached_property
    def tags(self) -> list[str]:
        """The tag of the innermost block-level element around each block; "" for text outside of all elements."""
        return [element.tag if element is not None else "" for element in self.parsed[1].elements]

    @cached_property
    def containers(self) -> Containers:
        """The elements that hold the page's text, as arrays."""
        return find_containers(self.parsed[1])

    @cached_property
    def names(self) -> list[str]:
        """The class and the id of each container; see `Document`."""
        return find_names(self.parsed[1], self.containers)

    @cached_property
    def parsed(self) -> tuple[Tree, Segments]:
        """The page's tree and the blocks' nodes in it; shared by all who ask, so not to be changed."""
        return self._parsed or self.parse_again()

    def parse_again(self) -> tuple[Tree, Segments]:
        """A tree and its segments that the caller may change; the blocks are the same as the document's."""
        return parse_and_segment(_decoded(self.page)[0])


def _decoded(page: Page) -> tuple[str, str | None]:
    return (page.html, None) if isinstance(page.html, str) else decode(page.html, page.charset)
