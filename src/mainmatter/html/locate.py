"""Where each block is in the tree: XPath, path, depth, attributes, and whether the page hides it.

Computed on demand for all blocks of a page at once, in time linear in the page: an element's place is computed once
and remembered, siblings are numbered once for each parent.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from mainmatter.html.parse import Element, Node, Text, as_text, is_html
from mainmatter.records import Block

if TYPE_CHECKING:
    from mainmatter.html.parse import Tree
    from mainmatter.html.segment import Segments

# Pages for people are not as deep. Below, a block is found by counting the text nodes of the element at this depth, so
# that paths stay short on hostile pages: 100,000 blocks with paths of 512 steps take 2 GB and 7 s to write as JSON.
MAX_DEPTH = 128
MAX_ATTRIBUTES = 64

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*")
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


_FOREIGN = frozenset(("svg", "math"))  # where an element of HTML holds another than of HTML
# The place of an element: itself, path, XPath, depth, whether it is hidden. Below `MAX_DEPTH`, that of its ancestor at
# that depth. Not a named tuple, since making one takes three times as long.
_Place = tuple[Node, str, str, int, bool]


def locate(tree: Tree, segments: Segments) -> list[Block]:
    """Make the blocks of a page, with all that is known about them."""
    locator = _Locator(tree)
    columns, elements = segments.columns, segments.elements
    blocks_of = Counter(elements)
    places = [locator.place_of(element if element is not None else tree) for element in elements]
    holders = locator.holders()
    blocks = []
    for i, (element, (located, path, xpath, depth, hidden)) in enumerate(zip(elements, places, strict=True)):
        if blocks_of[element] > 1 or located is not element or element in holders:
            xpath = locator.xpath_of_text(segments.nodes[segments.first_nodes[i]])  # noqa: PLW2901 - of a part of it
        blocks.append(
            Block(  # by place: names take half as long again
                i,
                columns.texts[i],
                columns.kinds[i],
                columns.levels[i],
                columns.positions[i],
                element.tag if element is not None else "",
                path,
                xpath,
                depth,
                columns.link_chars[i],
                columns.link_counts[i],
                columns.controls[i],
                hidden,
                locator.attributes_of(element) if element is not None else {},
            )
        )
    return blocks


class _Locator:
    """Works out places, and remembers them."""

    def __init__(self, tree: Tree) -> None:
        self._places: dict[Node, _Place] = {tree: (tree, "", "", 0, False)}
        self._holders: set[Node] = set()
        self._steps: dict[Node, str] = {}
        self._deep_numbers: dict[Node, dict[Node, int]] = {}
        self._attributes: dict[Element, dict[str, str]] = {}

    def place_of(self, node: Node) -> _Place:
        """Work out an element's place from its parent's; not by recursion, since pages can be deep."""
        places = self._places
        place = places.get(node)
        if place is not None:
            return place
        unknown = [node]
        while True:
            node = node.parent or node
            self._holders.add(node)
            place = places.get(node)
            if place is not None:
                break
            unknown.append(node)
        for inner in reversed(unknown):
            place = places[inner] = self._step(place, inner)
        return place

    def holders(self) -> frozenset[Node]:
        """The nodes that hold some of those whose place was asked for so far."""
        return frozenset(self._holders)

    def _step(self, outer: _Place, node: Node) -> _Place:
        if not isinstance(node, Element):  # the content of a template
            return outer
        located, path, xpath, depth, hidden = outer
        hidden = hidden or _hides(node)
        if depth == MAX_DEPTH:
            return located, path, xpath, depth, hidden
        tag = node.tag
        return node, f"{path}/{tag}" if path else tag, f"{xpath}/{self._xpath_step(node)}", depth + 1, hidden

    def xpath_of_text(self, text: Text) -> str:
        """An XPath that selects a text node."""
        parent = text.parent
        assert parent is not None
        located, _, xpath, _, _ = self.place_of(parent)
        if located is parent:
            return f"{xpath}/{self._xpath_step(text)}"
        return f"{xpath}/descendant::text()[{self._deep_number(located, text)}]"

    def _xpath_step(self, node: Node) -> str:
        """The last step of a node's XPath: its name and its number among the siblings that this name selects."""
        if node not in self._steps:
            assert node.parent is not None
            self._add_steps(node.parent)
        return self._steps[node]

    def _add_steps(self, parent: Node) -> None:
        """Work out the step to each child: by name, or by `*` where an element's name is not a plain HTML name."""
        elements = texts = 0
        seen: dict[str, int] = {}
        steps = self._steps
        # Asking each element for its namespace takes as long as all else that a step needs.
        of_html = not isinstance(parent, Element) or is_html(parent)
        for child in parent:
            if type(child) is Text:
                texts += 1
                steps[child] = f"text()[{texts}]"
            elif type(child) is Element:
                elements += 1
                tag = child.tag
                number = seen[tag] = seen.get(tag, 0) + 1
                is_plain = _is_plain(tag) and (tag not in _FOREIGN if of_html else is_html(child))
                steps[child] = f"{tag}[{number}]" if is_plain else f"*[{elements}]"

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
            items = islice(element.attrs.items(), MAX_ATTRIBUTES)
            attributes = self._attributes[element] = {name: as_text(value) for name, value in items}
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
