"""What a page declares about itself, collected once and not yet judged: meta tags, JSON-LD, and marked-up elements.

Microdata and RDFa are found as elements, not built into item trees: with `itemref` a page of 200 KB can ask
for a tree that takes half a minute, and metadata needs only a few properties of the main item.
"""

from __future__ import annotations

import html
import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import SplitResult, urlsplit

from mainmatter.html.parse import Element, Text, is_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mainmatter.html.parse import Node, Tree

Item = Mapping[str, Any]  # a JSON object in schema.org's vocabulary; pages put values of any type in it

# Hostile sizes: what is longer is not metadata, and reading it would cost time.
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can hold half a character, which no encoding can
MAX_VALUE = 2_000  # characters of one value
MAX_JSON = 1_000_000  # characters of one JSON-LD script
MAX_ITEMS = 200  # JSON values looked at for main items, and values of one property or meta name
MAX_HEADINGS = 20
MAX_ELEMENTS = 200  # marked elements of a page
MAX_NODES = 500  # nodes of one marked element
NODES_AFTER, NODES_BEFORE = 250, 60  # nodes around the headline among which its date and byline stand

# Of one tag each: the parser has an index of tags, while for several at once it visits all elements.
CANONICAL = 'link[rel~="canonical" i]'
_LINKED_DATA = 'script[type*="ld+json" i]'
_MARKED = (
    'h1, time, [rel~="author" i], '
    '[itemprop~="author"], [itemprop~="datePublished"], [itemprop~="dateCreated"], '
    '[property~="schema:author"], [property~="dc:creator"], [property~="schema:datePublished"], '
    '[class*="author" i], [class*="byline" i], [class*="date" i], [class*="publish" i]'
)
_NOT_LETTERS = re.compile(r"[\W_]+")
_TRAILING_COMMA = re.compile(r",\s*(?=[}\]])")
_WRAPPERS = ("<!--", "//<![CDATA[", "<![CDATA[", "-->", "//]]>", "]]>")
_MAIN_KEYS = ("@graph", "mainEntity", "mainEntityOfPage")  # where a page's main item may stand inside another

_UNSEEN = frozenset(("script", "style", "template"))
_INLINE = frozenset(
    """
    a abbr b bdi bdo cite code em font i mark q s small span strong sub sup u var wbr
    """.split()
)


@dataclass(frozen=True)
class Declared:
    """A page's declarations.

    Attributes:
        metas: contents of the meta tags as they stand, by lower-case name, property, itemprop or http-equiv, in order.
        title: the text of the title element.
        canonical: the address in the canonical link.
        language: the language attribute of the root.
        items: the page's main JSON-LD objects, outer ones first; not those that others merely mention.
        headings: the first-level headings and their texts; the second-level ones of a page without.
        tree: the page.
    """

    metas: Mapping[str, Sequence[str]]
    title: str
    canonical: str
    language: str
    items: Sequence[Item]
    headings: Sequence[tuple[Element, str]]
    tree: Tree

    @cached_property
    def marked(self) -> Sequence[Element]:
        """Headings, times, bylines and dates, in document order; many a page declares enough to do without them."""
        return self.tree.select(_MARKED)[:MAX_ELEMENTS]

    @property
    def has_top_heading(self) -> bool:
        """Whether the headings are first-level ones."""
        return bool(self.headings) and self.headings[0][0].tag == "h1"

    def contents(self, *names: str) -> Iterator[str]:
        """The contents of the meta tags of these names, in the order of the names."""
        for name in names:
            # Most pages have dozens of tags, of which few are read: the others need not be tidied.
            if name in self.metas:
                yield from islice(filter(None, map(tidy, self.metas[name])), MAX_ITEMS)

    def meta(self, *names: str) -> str:
        """The first content of the first of these names that has one."""
        return next(self.contents(*names), "")


def gather(tree: Tree) -> Declared:
    """Collect a page's declarations."""
    metas: dict[str, list[str]] = {}
    for meta in tree.select("meta"):
        _add_meta(meta, metas)
    # Drawings have title elements too.
    titles = (text_of(element) for element in tree.select("title") if is_html(element))
    canonicals = ((link.attr("href") or "").strip() for link in tree.select(CANONICAL))
    values = [read_json(script.text) for script in tree.select(_LINKED_DATA)]
    root = tree.root
    return Declared(
        metas,
        title=next(filter(None, titles), ""),
        canonical=next(filter(None, canonicals), ""),
        language=(root.attr("lang") or root.attr("xml:lang") or "") if root is not None else "",
        items=list(main_items(values)),
        headings=_headings(tree.select("h1")) or _headings(tree.select("h2")),
        tree=tree,
    )


def read_json(source: str, most: int = MAX_JSON) -> object:
    """The value of a JSON script, or None. Comment marks, raw line ends and stray commas are forgiven."""
    if len(source) > most:
        return None
    repairs: tuple[Callable[[str], str], ...] = (str, _repaired)
    for repair in repairs:
        try:
            value: object = json.loads(repair(source), strict=False)
        except (ValueError, RecursionError):  # the second from brackets nested by the thousand
            continue
        return value
    return None


def main_items(values: Iterable[object]) -> Iterator[Item]:
    """The objects at the top, in graphs, or named as the main entity; outer ones first."""
    queue = deque(values)
    for _ in range(MAX_ITEMS):
        if not queue:
            return
        value = queue.popleft()
        if isinstance(value, list):
            queue.extend(value[:MAX_ITEMS])
        elif isinstance(value, dict):
            yield value
            queue.extend(value[name] for name in _MAIN_KEYS if name in value)


def key(text: str) -> str:
    """What stays of a name or a title when case, spaces and punctuation do not count."""
    return _NOT_LETTERS.sub("", text.casefold())


def split_address(address: str) -> SplitResult:
    """An address in parts, all empty for one that is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def host_keys(address: str) -> set[str]:
    """Names that an address gives the site: "example" and "example.co.uk" for www.example.co.uk."""
    labels = (split_address(address).hostname or "").removeprefix("www.").split(".")
    # Only a long list could tell which labels are a registry's; those are short, so the longest is the name.
    return {key(max(labels[:-1], key=len, default="")), key(".".join(labels))}


def tidy(text: str) -> str:
    """Plain text of a declared value: what was encoded twice is decoded, white space is collapsed."""
    text = text[:MAX_VALUE]
    if "&" in text:
        text = html.unescape(text)
    if not text.isprintable():  # as few are; what is printable has no surrogates
        text = without_surrogates(text)
    return " ".join(text.split())


def without_surrogates(text: str) -> str:
    """A text out of JSON, with a sign in the place of each half of a character."""
    return _SURROGATE.sub("\ufffd", text)


def text_of(element: Element) -> str:
    """The beginning of an element's text, white space collapsed."""
    return tidy("".join(strings_of(element)))


def strings_of(element: Element) -> list[str]:
    """The first strings of an element, with a space between those that the layout keeps apart."""
    strings: list[str] = []
    for node in islice(element.descendants, MAX_NODES):
        if _is_seen_text(node):
            if _breaks_line(node.previous_sibling):
                strings.append(" ")
            strings.append(node.data[:MAX_VALUE])
        elif _breaks_line(node):
            strings.append(" ")
    return strings


def lines_after(heading: Element | None) -> Iterator[str]:
    """The texts that follow the headline, nearest first."""
    return iter(()) if heading is None else _lines(islice(heading.following, NODES_AFTER))


def lines_before(heading: Element | None) -> Iterator[str]:
    """The texts that precede the headline, nearest first."""
    return iter(()) if heading is None else _lines(islice(heading.preceding, NODES_BEFORE))


def as_list(value: object) -> list[Any]:
    """A JSON value as a list, since schema.org lets every property have one value or many."""
    return value[:MAX_ITEMS] if isinstance(value, list) else [value]


def first_text(value: object) -> str:
    """The first text in a JSON value, or the name of an object that stands in its place."""
    for one in as_list(value):
        text = (one.get("name") or one.get("@value")) if isinstance(one, dict) else one
        if isinstance(text, str) and (tidied := tidy(text)):
            return tidied
    return ""


def types_of(item: Item) -> list[str]:
    """An item's types without the vocabulary's address."""
    return [one.rpartition("/")[2] for one in as_list(item.get("@type")) if isinstance(one, str)]


def _is_seen_text(node: Node) -> TypeGuard[Text]:
    """Whether a node is text for readers."""
    if not isinstance(node, Text):
        return False
    parent = node.parent
    return isinstance(parent, Element) and parent.tag not in _UNSEEN


def _lines(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        # Most texts of a page are the white space between its tags.
        if (
            isinstance(node, Text)
            and not (data := node.data).isspace()
            and _is_seen_text(node)
            and (line := tidy(data))
        ):
            yield line


def _breaks_line(node: Node | None) -> bool:
    return isinstance(node, Element) and node.tag not in _INLINE


def _headings(elements: Iterable[Element]) -> list[tuple[Element, str]]:
    return [(element, text) for element in islice(elements, MAX_HEADINGS) if (text := text_of(element))]


def _add_meta(element: Element, metas: dict[str, list[str]]) -> None:
    if content := element.attr("content"):
        for attribute in ("property", "name", "itemprop", "http-equiv"):
            if name := element.attr(attribute):
                metas.setdefault(name[:MAX_VALUE].strip().lower(), []).append(content)


def _repaired(source: str) -> str:
    source = source.strip()
    for wrapper in _WRAPPERS:
        source = source.removeprefix(wrapper).removesuffix(wrapper).strip()
    return _TRAILING_COMMA.sub("", source.rstrip(";"))
