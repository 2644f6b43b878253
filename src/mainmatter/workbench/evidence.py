"""The evidence for and against a block: the signals of `main` by weight, each with the facts behind it.

`reasons` names the families of signals and their log odds; here each tells what it saw: "94 % of its text is links",
"stands in <footer>", "in <div> with the class nav-menu".
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mainmatter.html.containers import AROUND
from mainmatter.html.read import HtmlDocument
from mainmatter.html.segment import TAGS
from mainmatter.main.features import FAMILIES, NAMES
from mainmatter.main.reasons import PrefixedReasons, SignalReasons
from mainmatter.records import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mainmatter.main.features import PageFeatures
    from mainmatter.records import Document, Extraction

LEAST = 0.3  # in log odds: what changes less says nothing
MOST = 6  # signals of a block
_SHORT, _LONG = 60, 200  # characters
_MANY_DIGITS = 0.3  # of a text
_MOST_TAGS = 3
_MOST_NAMES = 3
_TAGS_AROUND = frozenset(" ".join(AROUND).split())
_NOUNS = {
    Kind.HEADING: "a heading",
    Kind.PARAGRAPH: "a paragraph",
    Kind.LIST_ITEM: "a list item",
    Kind.TABLE_ROW: "a row of a table",
    Kind.CODE: "code",
    Kind.QUOTE: "a quotation",
    Kind.CAPTION: "a caption",
}


class Signal(NamedTuple):
    """What a family of signals contributes to the decision on a block.

    Attributes:
        family: one of `FAMILIES`.
        weight: what it adds to the log odds that the block is main matter.
        words: what it saw.
    """

    family: str
    weight: float
    words: str


class Evidence(NamedTuple):
    """Why a method decided as it did about a block.

    Attributes:
        signals: the loudest first, at most `MOST`.
        notes: what overruled them, such as that comments are not wanted.
    """

    signals: list[Signal]
    notes: list[str]


def find_evidence(extraction: Extraction, blocks: Iterable[int]) -> dict[int, Evidence]:
    """Why a method decided as it did about some blocks; empty for methods without signals.

    Args:
        extraction: what the method decided; its reasons still know their method.
        blocks: their numbers, all of which the page has.
    """
    reasons, prefixed = extraction.reasons, []
    while isinstance(reasons, PrefixedReasons):
        prefixed.append(reasons)
        reasons = reasons.reasons
    if not isinstance(reasons, SignalReasons) or reasons.method is None:
        return {}
    weights, names = reasons.said
    if weights is None:
        return {}
    facts = _Facts(extraction.document, reasons.method.describe(extraction.document), names)
    loudest = np.argsort(-np.abs(weights), axis=0, kind="stable")[:MOST].T
    found = {}
    for block in blocks:
        notes = [note for each in prefixed if (note := each.prefix(block))]
        if reasons.headline == block:
            notes.append("the page's headline")
        signals = [
            Signal(FAMILIES[family], round(weight, 2), facts.tell(FAMILIES[family], block))
            for family in loudest[block].tolist()
            if abs(weight := float(weights[family, block])) >= LEAST
        ]
        found[block] = Evidence(signals, notes)
    return found


class _Facts:
    """The facts behind the signals of a page's blocks, in words."""

    def __init__(self, document: Document, page: PageFeatures, names: Sequence[str]) -> None:
        self._document = document
        self._page = page
        self._names = names  # the one that says most about each block
        self._column = {name: page.dense[:, number] for number, name in enumerate(page.columns)}
        self._tellers: dict[str, Callable[[int], str]] = {
            "length": self._length,
            "links": self._links,
            "capitals": self._capitals,
            "punctuation": self._punctuation,
            "tags": self._tags,
            "place": lambda block: f"{self._percent('chars_before', block)} of the page's text comes before it",
            "repetition": self._repetition,
            "title": self._title,
            "tree": self._tree,
            "containers": self._containers,
            "longest text": self._longest_text,
            "top container": self._top_container,
            "page": lambda _: self._of_page,
            NAMES: self._called,
        }

    def tell(self, family: str, block: int) -> str:
        """What a family of signals saw of a block."""
        return self._tellers[family](block)

    def _percent(self, column: str, block: int) -> str:
        return f"{100 * float(self._column[column][block]):.0f} %"

    def _count(self, column: str, block: int) -> int:
        """A number whose log1p the column has."""
        return round(float(np.expm1(self._column[column][block])))

    def _length(self, block: int) -> str:
        length = len(self._document.texts[block])
        kind = "a short text" if length < _SHORT else "a long text" if length >= _LONG else "a text"
        return f"{kind}, {_some(length, 'character')}"

    def _links(self, block: int) -> str:
        return _of_links(float(self._column["link_share"][block]), "its text", "no link in it")

    def _capitals(self, block: int) -> str:
        if not self._column["capitals"][block]:
            return "no capital letter in it"
        begins = "begins with a capital; " if self._column["begins_with_capital"][block] else ""
        return f"{begins}{self._percent('capitals', block)} of its letters are capitals"

    def _punctuation(self, block: int) -> str:
        if self._column["digits"][block] >= _MANY_DIGITS:
            return f"{self._percent('digits', block)} of it is digits"
        stops, commas = self._count("stop_count", block), self._count("comma_count", block)
        if not stops and not commas:
            return "no full stop or comma in it"
        return f"{_some(stops, 'full stop')}, {_some(commas, 'comma')}"

    def _tags(self, block: int) -> str:
        noun = _NOUNS[self._document.columns.kinds[block]]
        if self._document.columns.controls[block]:
            noun = "part of a form"
        if not self._document.has_markup:
            return noun
        tags = self._tags_around[int(self._document.containers.holders[block])]
        return f"{noun}, stands in {' in '.join(f'<{tag}>' for tag in tags)}" if tags else noun

    @cached_property
    def _tags_around(self) -> list[tuple[str, ...]]:
        """The tags that say what a part is for, of each element and those around it, innermost first."""
        containers = self._document.containers
        found: list[tuple[str, ...]] = []
        for parent, number in zip(containers.parents.tolist(), containers.tags.tolist(), strict=True):
            outer = found[parent] if found else ()
            tag = TAGS[number]
            found.append((tag, *outer)[:_MOST_TAGS] if tag in _TAGS_AROUND and tag not in outer else outer)
        return found

    def _repetition(self, block: int) -> str:
        copies = round(float(np.exp(self._column["copies"][block])))
        return (
            f"the page has the same text {copies} times" if copies > 1 else "no other block of the page says the same"
        )

    def _title(self, block: int) -> str:
        if self._column["in_title"][block]:
            return "stands in the page's title"
        if not self._column["page_has_title"][block]:
            return "no block has the page's title"
        is_heading = self._column["kind_heading"]
        return _side(block, int((self._column["in_title"] * (1 + is_heading)).argmax()), "the headline")

    def _tree(self, block: int) -> str:
        depth = _some(round(10 * float(self._column["depth"][block])), "element")
        alike = self._count("alike", block)
        return f"inside {depth}, {f'one of {alike} alike' if alike > 1 else 'the only one of its kind there'}"

    def _containers(self, block: int) -> str:
        blocks = _some(self._count("container_1_blocks", block), "block")
        links = _of_links(float(self._column["container_1_link_share"][block]), "the text", "no links")
        return f"the part of the page around it has {blocks}: {links}"

    @cached_property
    def _longest(self) -> int:
        """The block with the longest text, not counting links."""
        return int(((1 - self._column.get("link_share", np.zeros(1))) * np.expm1(self._column["chars"])).argmax())

    def _longest_text(self, block: int) -> str:
        return "the page's longest text" if block == self._longest else _side(block, self._longest, "the longest text")

    def _top_container(self, block: int) -> str:
        where = "in" if self._column["in_top"][block] else "outside"
        return f"{where} the part of the page with the most running text"

    @cached_property
    def _of_page(self) -> str:
        """The same for all blocks."""
        blocks = _some(len(self._document), "block")
        if "page_link_share" not in self._column:
            return f"a page of {blocks}"
        links = _of_links(float(self._column["page_link_share"][0]), "the text", "no links")
        return f"a page of {blocks}: {links}"

    def _called(self, block: int) -> str:
        """The most telling class or id around the block, and its element."""
        containers, all_names = self._document.containers, self._document.names
        holder = element = int(containers.holders[block])
        loudest = self._names[block] if self._names else ""
        nearest: dict[str, None] = {}
        while element:
            names = all_names[element].split()
            if loudest in names:
                what = self._attribute(element, loudest)
                return what if element == holder else f"in <{TAGS[containers.tags[element]]}> with the {what}"
            nearest.update(dict.fromkeys(names))
            element = int(containers.parents[element])
        if not nearest:
            return "no element around it has a class or id"
        return f"inside of {', '.join([*nearest][:_MOST_NAMES])}"

    def _attribute(self, element: int, name: str) -> str:
        document = self._document
        if isinstance(document, HtmlDocument):
            node = document.parsed[1].outline.elements[int(document.containers.numbers[element])]
            if node is not None and name not in (node.attr("class") or "").split():
                return f"id {name}"
        return f"class {name}"


def _some(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s" if number else f"no {noun}s"


def _of_links(share: float, whole: str, nothing: str) -> str:
    if share <= 0:
        return nothing
    percent = f"{100 * share:.0f}"
    return f"all of {whole} is links" if percent == "100" else f"{percent} % of {whole} is links"


def _side(block: int, other: int, name: str) -> str:
    if block == other:
        return name
    blocks = _some(abs(block - other), "block")
    return f"{blocks} {'below' if block > other else 'above'} {name}"
