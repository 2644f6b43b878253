"""An HTML page to a document: decode, parse, segment; the other facts on demand."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, count, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from mainmatter.html.containers import find_containers
from mainmatter.html.declared import CANONICAL, MAX_VALUE, host_keys, key
from mainmatter.html.locate import locate
from mainmatter.html.metadata import complete_metadata, read_metadata
from mainmatter.html.parse import Element, Tree, decode_page, parse
from mainmatter.html.scripted import add_scripted_text, needs_scripts
from mainmatter.html.segment import segment
from mainmatter.records import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from mainmatter.html.segment import Segments
    from mainmatter.records import Block, Containers, Metadata, Page

_NOSCRIPT = re.compile("<noscript", re.IGNORECASE)  # also in the head, where the walk does not look
_TAG = re.compile(r"<[^<>]*>|\s+")
_MOST_META = 200  # tags among which those are looked for that declare a title
# A page may vanish: an element whose content is not markup was never closed, and holds all the rest. A browser shows
# such a page as blank. Crawlers that cut and glue pages make them: `<title>Sport library-->` and then the rest of the
# page, or a comment without an end.
_OPENING = re.compile(r"<(title|script|style|xmp|iframe|noframes|noembed)\b[^<>]*>|<!--", re.IGNORECASE)
_COMMENT_END = re.compile("-->")
# Where the page goes on: what stands before is the rest of a script or of a comment.
_MARKUP = re.compile(
    r"<(?:body|div|table|td|p|h[1-6]|ul|ol|form|section|article|main|header|nav|center)\b", re.IGNORECASE
)


def read_html(page: Page) -> Document:
    """Read an HTML page: find its encoding, parse it, split it into blocks.

    Raises:
        NotAPage: it is neither HTML nor text.
    """
    html, encoding = decode_page(page)
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
    if not segments.columns.texts and (mended := without_unclosed_tag(html)) is not None:
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


def without_unclosed_tag(html: str) -> str | None:
    """The page without the tag that is never closed and holds the rest of it; None if there is no such tag."""
    position = 0
    while (opening := _OPENING.search(html, position)) is not None:
        tag = opening.group(1)
        closing = (re.compile(f"</{tag}", re.IGNORECASE) if tag else _COMMENT_END).search(html, opening.end())
        if closing is None:
            goes_on = _MARKUP.search(html, opening.end())
            return None if goes_on is None else html[: opening.start()] + html[goes_on.start() :]
        position = closing.end()
    return None


@dataclass(frozen=True, eq=False)
class HtmlDocument(Document):
    """An HTML page that was read.

    A document that was sent between processes, or made without its tree, parses its page on demand.
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

    def metadata_with(self, headline: str, bylines: Sequence[str]) -> Metadata:
        """What the page says about itself, and what a method has seen of that; see `Document`."""
        return complete_metadata(self.metadata, headline, bylines, self.title_keys[1])

    @cached_property
    def title_keys(self) -> tuple[Collection[str], Collection[str]]:
        """The titles that the page declares, and its site's names; see `Document`."""
        tree = self.parsed[0]
        address = self.page.url or ""
        for element in () if address else tree.select(CANONICAL)[:1]:
            address = element.attr("href") or ""
        titles, site_names = {key(self.title[:MAX_VALUE])}, host_keys(address)
        # Two meta tags alone, as the whole of the metadata takes twenty times as long.
        wanted = {"og:title": titles, "og:site_name": site_names}
        for element in tree.select("meta")[:_MOST_META]:  # by the index of tags: ten times as fast as `iter_elements`
            name = element.attr("property") or element.attr("name") or ""
            if name.lower() in wanted:
                wanted.pop(name.lower()).add(key((element.attr("content") or "")[:MAX_VALUE]))
                if not wanted:
                    break
        return titles - site_names - {""}, site_names - {""}

    @cached_property
    def title(self) -> str:
        """The page's `<title>`; see `Document`."""
        element = self.parsed[0].find("title")
        return " ".join(element.text.split()) if element is not None else ""

    @cached_property
    def needs_scripts(self) -> bool:
        """Whether the page shows next to nothing because its scripts have not run; see `Document`."""
        return needs_scripts(self.parsed[0], self.texts)

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
        if len(self) == 0:
            return [""]
        # Loops of the interpreter's own, since a page has some hundred elements.
        elements: Sequence[Any] = itemgetter(*self.containers.numbers.tolist())(self.parsed[1].outline.elements)[1:]
        attribute: Callable[[Any, str, str], str] = Element.attr  # type: ignore[assignment] # never None with a default
        names = ["", *map(attribute, elements, repeat("class"), repeat(""))]
        ids = list(map(attribute, elements, repeat("id"), repeat("")))
        for number in compress(count(1), ids):  # few have one
            names[number] = f"{names[number]} {ids[number - 1]}"
        return names

    @cached_property
    def parsed(self) -> tuple[Tree, Segments]:
        """The page's tree and the blocks' nodes in it; shared by all who ask, so not to be changed."""
        return self._parsed or self.parse_again()

    def parse_again(self) -> tuple[Tree, Segments]:
        """A tree and its segments that the caller may change; the blocks are the same as the document's."""
        return parse_and_segment(decode_page(self.page)[0])
