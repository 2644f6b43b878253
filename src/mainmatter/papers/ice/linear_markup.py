"""A page as lines of markup, one for each block, with the place of every character of text, to match expressions with.

    <p> Some text with <a>a link</a> in it.
    <nav><ul><li> <a>Home</a>
    <.footer><div> All rights reserved

A line has the start tags around the block, a space, the text with its links, and no end tags, as HTML allows. Class
names and ids are reduced to the parts that say what an element is for; each is a tag of its own with a dot, before the
tag of the element. White space is normalised, and `<` and `>` stand in tags only: in text they become ‹
and ›.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.html.parse import Element, as_text
from mainmatter.records import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.html.parse import Node, Text
    from mainmatter.html.segment import Segments
    from mainmatter.records import Document

# The tags around a block that tell something about it. `div` and `center` do so only where the text is their own.
_TELLING = frozenset(
    """
    address article aside blockquote button caption dd details dialog dl dt fieldset figcaption figure footer form h1 h2
    h3 h4 h5 h6 header label legend li main menu nav ol option p pre section select summary table td textarea th tr ul
    """.split()
)
_SAY_NOTHING = frozenset(("html", "body"))  # their classes are about the whole page
_OF_ITS_OWN = _TELLING | {"div", "center", "body", "tbody"}
# Of a deep nest, the innermost tags: a line must not get longer with the depth of the page.
_MAX_TAGS = 10

# What parts of class names and ids say. The first of these that is found counts: "main-menu" is a menu.
_PURPOSES = {
    ".comments": r"comment|discuss|disqus|repl(?:y|ies)",
    ".nav": r"nav|menu|breadcrumb|pagination|pager|toc\b|tabs\b|sitemap",
    ".footer": r"foot|copyright|legal|disclaimer",
    # The word "ad" begins with its a: with a \b before it, Python would look for a beginning at every character.
    ".aside": r"sidebar|aside|widget|related|recommend|promo|sponsor|banner|advert|a(?<!\wa)ds?\b|social|share|sharing"
    r"|cookie|newsletter|subscri|popup|modal|login|signup|search",
    ".header": r"header|masthead|logo|topbar",
    ".content": r"article|content|post|entry|story|main\b|body",
}
# Names are searched in lower case, which takes a quarter of the time; where they are ASCII, which is the same.
_OF_ASCII, _OF_OTHERS = (
    [(purpose, re.compile(parts, flags).search) for purpose, parts in _PURPOSES.items()] for flags in (0, re.IGNORECASE)
)
_MAX_NAMES = 200  # characters of class names and ids that are looked at

_TAG_OF_KIND = {
    Kind.PARAGRAPH: "<p>",
    Kind.LIST_ITEM: "<ul><li>",
    Kind.TABLE_ROW: "<table><tr>",
    Kind.CODE: "<pre>",
    Kind.QUOTE: "<blockquote>",
    Kind.CAPTION: "<figcaption>",
}
_NEITHER_TAG_NOR_LINE = str.maketrans({"<": "‹", ">": "›", "\n": " ", "\r": " "})


@dataclass(frozen=True, eq=False)
class LinearMarkup:
    """A page as lines of markup.

    Attributes:
        text: the markup; each line ends with a line break.
        lines: where each line starts; there is one for each block.
        runs: where each run of text starts, and where it ends: an array of two rows. What is not in a run is markup.
        firsts: for each block the number of its first run; at the end, the number of runs.
    """

    text: str
    lines: list[int]
    runs: NDArray[np.int32]
    firsts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.lines)

    def shares(self, spans: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
        """Of each block's text, the share that is inside of spans of the markup.

        Args:
            spans: start and end of each, in order, none overlapping another.
        """
        if not spans or not len(self):
            return np.zeros(len(self))
        total = np.concatenate(([0], np.cumsum(self.runs[1] - self.runs[0])))
        bounds = total[self.firsts]
        inside = self._text_before(np.array(spans, np.int64), total)
        covered = np.concatenate(([0], np.cumsum(inside[:, 1] - inside[:, 0])))
        number = np.searchsorted(inside[:, 0], bounds, "right") - 1
        last = inside[number.clip(0)]
        within = np.minimum(bounds, last[:, 1]) - last[:, 0]
        before = np.where(number < 0, 0, covered[number.clip(0)] + within.clip(0))
        return np.diff(before) / np.maximum(np.diff(bounds), 1)

    def _text_before(self, places: NDArray[np.int64], total: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many characters of text stand before places of the markup."""
        number = np.searchsorted(self.runs[0], places, "right") - 1
        known = number.clip(0)
        within = np.minimum(places, self.runs[1][known]) - self.runs[0][known]
        return np.where(number < 0, 0, total[known] + within)


def write_markup(document: Document) -> LinearMarkup:
    """Write a page as lines of markup, in time linear in the page.

    A plain-text dump, which has no tags, gets those that its blocks look like.
    """
    columns = document.columns
    if not document.has_markup:
        tags = [
            f"<h{level or 1}>" if kind is Kind.HEADING else _TAG_OF_KIND[kind]
            for kind, level in zip(columns.kinds, columns.levels, strict=True)
        ]
        return _write(tags, [[(False, text)] for text in columns.texts])
    segments, paths, links = document.parsed[1], _Paths(), _Links()
    return _write(
        [paths.of(element) for element in segments.elements],
        [_pieces(segments, i, links) for i in range(len(columns.texts))],
    )


def _write(tags: list[str], blocks: list[list[tuple[bool, str]]]) -> LinearMarkup:
    """Put tags and pieces of text together, each with whether it is a link, and note where the text stands."""
    parts: list[str] = []
    lines: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    firsts = [0]
    at = 0
    for tag, pieces in zip(tags, blocks, strict=True):
        lines.append(at)
        parts.append(f"{tag} ")
        at += len(tag) + 1
        for is_link, piece in pieces:
            opening = 3 if is_link else 0
            starts.append(at + opening)
            ends.append(at + opening + len(piece))
            if "<" in piece or ">" in piece or "\n" in piece or "\r" in piece:
                piece = piece.translate(_NEITHER_TAG_NOR_LINE)  # noqa: PLW2901 - as long as before
            parts.append(f"<a>{piece}</a>" if is_link else piece)
            at = ends[-1] + (4 if is_link else 0)
        parts.append("\n")
        at += 1
        firsts.append(len(starts))
    return LinearMarkup("".join(parts), lines, np.array([starts, ends], np.int32), np.array(firsts, np.int32))


def _pieces(segments: Segments, index: int, links: _Links) -> list[tuple[bool, str]]:
    """A block's text, cut where links begin and end."""
    columns = segments.columns
    text, count = columns.texts[index], columns.link_counts[index]
    if count == 0:
        return [(False, text)]
    if count == 1 and columns.link_chars[index] >= len(text):
        return [(True, text)]
    pieces: list[tuple[bool, str]] = []
    for link, nodes in groupby(segments.text_nodes(index), key=links.of):
        raw = "".join([node.data for node in nodes])
        piece = " ".join(raw.split())
        if not piece:
            continue
        if raw[0].isspace() and pieces and link is None:
            piece = f" {piece}"
        if raw[-1].isspace() and link is None:
            piece = f"{piece} "
        pieces.append((link is not None, piece))
    return pieces


class _Links:
    """Which link a text is in; remembers the answer for each element."""

    def __init__(self) -> None:
        self._known: dict[Node, Node | None] = {}

    def of(self, text: Text) -> Node | None:
        known = self._known
        node: Node | None = text.parent
        if node in known:
            return known[node]
        asked: list[Node] = []
        while node is not None and node not in known and not (isinstance(node, Element) and node.tag == "a"):
            asked.append(node)
            node = node.parent
        link = known.get(node, node) if node is not None else None
        for each in asked:
            known[each] = link
        if link is not None:
            known[link] = link
        return link


class _Paths:
    """The tags around an element, as markup; remembers the answer for each element, and what names say."""

    def __init__(self) -> None:
        self._known: dict[Node, tuple[str, ...]] = {}
        self._written: dict[tuple[str, ...], str] = {}
        self._purposes: dict[str, str] = {}

    def of(self, element: Element | None) -> str:
        if element is None:
            return "<body>"
        tags, tag = self._around(element), element.tag
        if tag not in _TELLING:
            tags = (*tags[1 - _MAX_TAGS :], tag if tag in _OF_ITS_OWN else "div")
        written = self._written.get(tags)
        if written is None:
            written = self._written[tags] = "".join([f"<{tag}>" for tag in tags])
        return written

    def _around(self, element: Element) -> tuple[str, ...]:
        """The telling tags from the outermost to this element; not by recursion, since pages can be deep."""
        known = self._known
        asked: list[Node] = []
        node: Node | None = element
        while node is not None and node not in known:
            asked.append(node)
            node = node.parent
        tags = () if node is None else known[node]
        for inner in reversed(asked):
            if isinstance(inner, Element) and (tag := inner.tag) not in _SAY_NOTHING:
                purpose = self._purpose(inner)
                if purpose and purpose not in tags:
                    tags = (*tags[1 - _MAX_TAGS :], purpose)
                if tag in _TELLING and (not tags or tags[-1] != tag):
                    tags = (*tags[1 - _MAX_TAGS :], tag)
            known[inner] = tags
        return tags

    def _purpose(self, element: Element) -> str:
        """What an element is for, by its class and id, with a dot before; "" if they do not say."""
        class_names, name = element.attr("class"), element.attr("id")
        if class_names is None and name is None:
            return ""
        names = f"{as_text(class_names)[:_MAX_NAMES]} {as_text(name)[:_MAX_NAMES]}"
        purpose = self._purposes.get(names)
        if purpose is None:
            is_ascii = names.isascii()
            folded = names.lower() if is_ascii else names
            searches = _OF_ASCII if is_ascii else _OF_OTHERS
            purpose = next((purpose for purpose, search in searches if search(folded)), "")
            self._purposes[names] = purpose
        return purpose
