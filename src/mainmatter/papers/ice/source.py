r"""The page's HTML as it was fetched, and which of its characters are text of which block (ICE 3.2 and 3.5).

Two of the paper's systems work on the HTML itself: figure 1 on its lines without tags, the regular expressions on all
of it. What they keep are spans of the HTML, and a method here decides about blocks. The parser tells which block a span
is text of: marks that no page has are put around the text in the spans, the page is read once more, and the marked
characters of each block are counted. Marks stand next to a character of text, never between tags alone, so they make no
block, and break none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.html.parse import decode_page
from mainmatter.html.read import parse_and_segment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.records import Document

Span = tuple[int, int]

# Unicode promises that these never are characters.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_NO_MARKS = str.maketrans(dict.fromkeys((_OPEN, _CLOSE), " "))
_MARKED = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")
_REFERENCE = re.compile(r"&#?\w{1,32};?")  # a character reference, which a mark must not cut
_LONGEST_REFERENCE = 35

_TAG = re.compile(r"<(?:(?P<name>[a-z][^\s/>]*)|[/!?])", re.IGNORECASE)
_NO_TEXT = frozenset(("script", "style"))  # what they hold is neither text nor tags
_TAG_END_OR_VALUE = re.compile("""[>]|=\\s*(?P<quote>["'])""")
_BODY = re.compile(r"<body\b", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\r|\n")
_ONE_LINE = re.compile(r".+")


@dataclass(frozen=True)
class Line:
    """A line of a page without its tags.

    Attributes:
        text: what it says, white space normalised.
        spans: where in the HTML that stands.
    """

    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, eq=False)
class Source:
    """The HTML of a page; of a plain-text dump, its blocks, one a line.

    Attributes:
        text: the HTML.
        has_markup: it is HTML.
    """

    text: str
    has_markup: bool = True

    @classmethod
    def of(cls, document: Document) -> Source:
        """That of a document."""
        if not document.has_markup:
            return cls("\n".join([" ".join(text.split()) for text in document.columns.texts]), has_markup=False)
        return cls(decode_page(document.page)[0].translate(_NO_MARKS))

    @cached_property
    def runs(self) -> list[Span]:
        """Where the text is: all but tags, comments, scripts and styles. In time linear in the page."""
        html, at = self.text, 0
        if not self.has_markup:
            return [line.span() for line in _ONE_LINE.finditer(html)]
        found: list[Span] = []
        while (tag := _TAG.search(html, at)) is not None:
            if tag.start() > at:
                found.append((at, tag.start()))
            at = self._end_of_tag(tag)
        if at < len(html):
            found.append((at, len(html)))
        return found

    def _end_of_tag(self, tag: re.Match[str]) -> int:
        html, at, end = self.text, tag.end(), len(self.text)
        if html.startswith("<!--", tag.start()):
            found = html.find("-->", at)
            return end if found < 0 else found + 3
        while True:
            part = _TAG_END_OR_VALUE.search(html, at)
            if part is None:
                return end
            at = part.end()
            if part["quote"] is None:
                break
            at = html.find(part["quote"], at) + 1  # in quotes, > ends no tag
            if not at:
                return end
        name = (tag["name"] or "").lower()
        if name in _NO_TEXT:
            closing = re.compile(f"</{name}", re.IGNORECASE).search(html, at)
            return end if closing is None else closing.start()
        return at

    def lines(self) -> list[Line]:
        """The lines that are left of the body, or of all of the page if it has none, when its tags are taken away."""
        if not self.has_markup:
            return [Line(self.text[start:end], ((start, end),)) for start, end in self.runs]
        body = _BODY.search(self.text)
        first = 0 if body is None else body.start()
        lines: list[list[Span]] = [[]]
        for start, end in self.runs:
            if end <= first:
                continue
            for line_end in _LINE_END.finditer(self.text, start, end):
                lines[-1].append((start, line_end.start()))
                lines.append([])
                start = line_end.end()  # noqa: PLW2901 - the rest of the run
            lines[-1].append((start, end))
        return [Line(self._say(spans), tuple(spans)) for spans in lines]

    def _say(self, spans: Sequence[Span]) -> str:
        text = "".join([self.text[start:end] for start, end in spans])
        return " ".join((unescape(text) if self.has_markup else text).split())

    def shares(self, spans: Sequence[Span], document: Document) -> NDArray[np.float64]:
        """Of each block's text, white space apart, the share that is inside of spans of the HTML.

        Text that is not in the HTML, as what the page's scripts hold, is in no span.

        Args:
            spans: start and end of each, in order, none overlapping another.
            document: the page.
        """
        pieces = self._pieces(spans)
        marked: list[str] = []
        at = 0
        for start, end in pieces:
            marked += [self.text[at:start], _OPEN, self.text[start:end], _CLOSE]
            at = end
        text = "".join([*marked, self.text[at:]])
        texts = parse_and_segment(text)[1].columns.texts if self.has_markup else text.split("\n")
        # Of a block of soft hyphens nothing is left but the marks.
        found = [_marked_share(each) for each in texts if each.strip(f"{_OPEN}{_CLOSE}\n ")]
        return np.array(found) if len(found) == len(document) else np.zeros(len(document))

    def _pieces(self, spans: Sequence[Span]) -> list[Span]:
        """The text in the spans: no tags, nothing that is but white space, no half of a character reference."""
        found: list[Span] = []
        runs = iter(self.runs)
        run = next(runs, None)
        for start, end in spans:
            while run is not None and run[1] <= start:
                run = next(runs, None)
            while run is not None and run[0] < end:
                piece = self._trim(max(start, run[0]), min(end, run[1]))
                if piece is not None:
                    found.append(piece)
                if run[1] > end:
                    break
                run = next(runs, None)
        return found

    def _trim(self, start: int, end: int) -> Span | None:
        if self.has_markup:
            start, end = self._behind_reference(start), self._behind_reference(end)
        piece = self.text[start:end]
        start += len(piece) - len(piece.lstrip())
        end -= len(piece) - len(piece.rstrip())
        return (start, end) if start < end and self._say([(start, end)]) else None

    def _behind_reference(self, place: int) -> int:
        begins = self.text.rfind("&", max(0, place - _LONGEST_REFERENCE), place)
        reference = _REFERENCE.match(self.text, begins) if begins >= 0 else None
        return place if reference is None else max(place, reference.end())


def _marked_share(text: str) -> float:
    inside = sum(len("".join(each.split())) for each in _MARKED.findall(text))
    return inside / max(1, len("".join(text.translate(_NO_MARKS).split())))
