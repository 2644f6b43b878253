"""Where each block stands in the tree: XPath, path, depth, attributes, and whether the page hides it.

Made on demand for all blocks of a page at once, in time linear in the page: an element's place is worked out once
and remembered, siblings are numbered once for each parent.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from mainmatter.html.parse import Element, Text, as_text, is_html
from mainmatter.records import Block

if TYPE_CHECKING:
    from mainmatter.html.parse import Node, Tree
    from mainmatter.html.segment import Segments

# Pages for people are not as deep. Below, a block is found by counting the text nodes of the element at this depth, so
# that paths stay short on hostile pages: 100,000 blocks with paths of 512 steps take 2 GB and 7 s to write as JSON.
MAX_DEPTH = 128
MAX_ATTRIBUTES = 64

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*")
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class _Place(NamedTuple):
    """Where an element stands; below `MAX_DEPTH`, where its ancestor at that depth stands."""

    element: Node
    path: str
    xpath: str
    depth: int
    hidden: bool


def locate(tree: Tree, segments: Segments) -> list[Block]:
    """Make the blocks of a page, with all that is known about them."""
    locator = _Locator(tree)
    columns = segments.columns
    blocks_of = Counter(segments.elements)
    places = [locator.place_of(element if element is not None else tree) for element in segments.elements]
    holders = locator.holders()
    blocks = []
    for i, (element, place) in enumerate(zip(segments.elements, places, strict=True)):
        first_text = segments.nodes[segments.first_nodes[i]]
        is_alone = blocks_of[element] == 1 and place.element is element and element not in holders
        blocks.append(
            Block(
                index=i,
                text=columns.texts[i],
                kind=columns.kinds[i],
                level=columns.levels[i],
                position=columns.positions[i],
                tag=element.tag if element is not None else "",
                path=place.path,
                xpath=place.xpath if is_alone else locator.xpath_of_text(first_text),
                depth=place.depth,
                link_chars=columns.link_chars[i],
                link_count=columns.link_counts[i],
                control=columns.controls[i],
                hidden=place.hidden,
                attributes=locator.attributes_of(element) if element is not None else {},
            )
        )
    return blocks


class _Locator:
    """Works out places, and remembers them."""

    def __init__(self, tree: Tree) -> None:
        self._places: dict[Node, _Place] = {tree: _Place(tree, "", "", 0, hidden=False)}
        self._holders: set[Node] = set()
        self._steps: dict[Node, str] = {}
        # Asking each element for its namespace takes as long as all else that a step needs.
        self._all_html = not any(next(tree.iter_elements(name), None) for name in ("svg", "math"))
        self._deep_numbers: dict[Node, dict[Node, int]] = {}
        self._attributes: dict[Element, dict[str, str]] = {}

    def place_of(self, node: Node) -> _Place:
        """Work out an element's place from its parent's; not by recursion, since pages can be deep."""
        unknown = []
        while node not in self._places:
            unknown.append(node)
            node = node.parent or node
        if unknown:
            self._holders.update(unknown[1:], (node,))
        place = self._places[node]
        for inner in reversed(unknown):
            place = self._places[inner] = self._step(place, inner)
        return place

    def holders(self) -> frozenset[Node]:
        """The nodes that hold some of those whose place was asked for so far."""
        return frozenset(self._holders)

    def _step(self, outer: _Place, node: Node) -> _Place:
        if not isinstance(node, Element):  # the content of a template
            return outer
        hidden = outer.hidden or _hides(node)
        if outer.depth == MAX_DEPTH:
            return outer._replace(hidden=hidden)
        path = f"{outer.path}/{node.tag}" if outer.path else node.tag
        return _Place(node, path, f"{outer.xpath}/{self._xpath_step(node)}", outer.depth + 1, hidden)

    def xpath_of_text(self, text: Text) -> str:
        """An XPath that selects a text node."""
        parent = text.parent
        assert parent is not None
        place = self.place_of(parent)
        if place.element is parent:
            return f"{place.xpath}/{self._xpath_step(text)}"
        return f"{place.xpath}/descendant::text()[{self._deep_number(place.element, text)}]"

    def _xpath_step(self, node: Node) -> str:
        """The last step of a node's XPath: its name and its number among the siblings that this name selects."""
        if node not in self._steps:
            assert node.parent is not None
            self._add_steps(node.parent)
        return self._steps[node]

    def _add_steps(self, parent: Node) -> None:
        """Work out the step to each child: by name, or by `*` where an element's name is no plain HTML name."""
        elements = texts = 0
        seen: dict[str, int] = {}
        for child in parent:
            if isinstance(child, Element):
                elements += 1
                tag = child.tag
                number = seen[tag] = seen.get(tag, 0) + 1
                is_plain = _is_plain(tag) and (self._all_html or is_html(child))
                self._steps[child] = f"{tag}[{number}]" if is_plain else f"*[{elements}]"
            elif isinstance(child, Text):
                texts += 1
                self._steps[child] = f"text()[{texts}]"

    def _deep_number(self, ancestor: Node, text: Text) -> int:
        """A text node's number among all that are below an ancestor."""
        numbers = self._deep_numbers.get(ancestor)
        if numbers is None:
            texts = (node for node in ancestor.descendants if isinstance(node, Text))
            numbers = self._deep_numbers[ancestor] = {node: number for number, node in enumerate(texts, 1)}
        return numbers[text]

    def attributes_of(self, element: Element) -> dict[str, str]:
        """An element's attributes, each as one string."""
        attributes = self._attributes.get(element)
        if attributes is None:
            attributes = self._attributes[element] = dict(
                islice(((name, as_text(value)) for name, value in element.attrs.items()), MAX_ATTRIBUTES)
            )
        return attributes


@lru_cache(maxsize=1024)
def _is_plain(tag: str) -> bool:
    return _PLAIN_NAME.fullmatch(tag) is not None


def _hides(element: Element) -> bool:
    """Whether the page hides an element by its own markup; style sheets are not read."""
    if element.attr("hidden") is not None or element.attr("aria-hidden") == "true":
        return True
    if element.tag == "dialog" and element.attr("open") is None:
        return True
    style = element.attr("style")
    return style is not None and _HIDING_STYLE.search(style) is not None
