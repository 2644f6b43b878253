"""A page as the paper's list L (Density, section 4): a string for each structural tag, and the text that follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.html.parse import Element, Text

if TYPE_CHECKING:
    from mainmatter.records import Document


@dataclass(frozen=True, slots=True)
class Strings:
    """The strings of L that hold text: parallel lists, but for the last, which has an entry for each block.

    Attributes:
        texts: the strings themselves.
        positions: their places in L.
        of_blocks: the first string that has text of the block, and the one after the last.
    """

    texts: list[str]
    positions: list[int]
    of_blocks: list[tuple[int, int]]


def blocks_as_strings(document: Document) -> Strings:
    """Take the page's blocks for the strings."""
    columns = document.columns
    return Strings(columns.texts, columns.positions, [(i, i + 1) for i in range(len(columns.texts))])


def strings_by_tags(document: Document) -> Strings:
    """Build L as the paper does; the blocks of a page without markup are its strings.

    Each start tag of a block-level element, and each `<br>`, adds an empty string; each text is added to the last
    string, also after the end of an element. What the reader leaves out, such as scripts and comments, is no text.
    """
    if not document.has_markup:
        return blocks_as_strings(document)
    tree, segments = document.parsed
    structural = set(segments.outline.elements)
    bounds = list(zip(segments.first_nodes, segments.end_nodes, strict=True))
    text_nodes = {node for first, end in bounds for node in segments.nodes[first:end]}
    parts: list[list[str]] = [[]]
    place_of: dict[Text, int] = {}
    for node in tree.descendants:
        if isinstance(node, Element):
            if node in structural or node.tag == "br":
                parts.append([])
        elif isinstance(node, Text) and (node in text_nodes or node.data.isspace()):
            parts[-1].append(node.data)
            place_of[node] = len(parts) - 1
    texts = [" ".join("".join(some).split()) for some in parts]
    positions = [position for position, text in enumerate(texts) if text]
    number = {position: i for i, position in enumerate(positions)}
    return Strings(
        [texts[position] for position in positions],
        positions,
        [
            (number[place_of[segments.nodes[first]]], number[place_of[segments.nodes[end - 1]]] + 1)
            for first, end in bounds
        ],
    )
