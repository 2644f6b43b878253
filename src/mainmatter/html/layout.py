"""Tables that pages use for layout, not for data: in pruned HTML and Markdown they are divisions, not tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from mainmatter.html.parse import Element
from mainmatter.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mainmatter.html.parse import Node
    from mainmatter.html.segments import Segments

_CELLS = frozenset(("td", "th"))
_PARTS = _CELLS | {"tr", "tbody", "thead", "tfoot"}
_LEVELS = 4  # a cell, its row, its group of rows, its table


def flatten_layout_tables(elements: Iterable[Node], segments: Segments, kept: Sequence[bool]) -> None:
    """Turn those of the elements that are tables for layout into divisions.

    A table is one of data if some row has several cells, and every cell is one text and no heading.
    """
    parts: dict[Node, list[Element]] = defaultdict(list)
    for element in elements:
        if isinstance(element, Element) and element.tag in _PARTS:
            parts[_table_of(element)].append(element)
    if not parts:
        return
    crowded = _crowded_cells(segments, kept)
    for table, own_parts in parts.items():
        cells = [part for part in own_parts if part.tag in _CELLS]
        cells_of_row = Counter(cell.parent for cell in cells)
        if max(cells_of_row.values(), default=0) < 2 or not crowded.isdisjoint(cells):
            for part in (table, *own_parts):
                if isinstance(part, Element):
                    part.tag = "div"


def _table_of(part: Element) -> Node:
    node: Node = part
    for _ in range(_LEVELS):
        if getattr(node, "tag", None) == "table" or node.parent is None:
            break
        node = node.parent
    return node


def _crowded_cells(segments: Segments, kept: Sequence[bool]) -> set[Node]:
    """The cells that hold several of the kept blocks, or a heading."""
    nearest: dict[Node, Node | None] = {}
    blocks_in: Counter[Node] = Counter()
    crowded: set[Node] = set()
    for i, element in enumerate(segments.elements):
        if not kept[i] or element is None:
            continue
        cell = _nearest_cell(element, nearest)
        if cell is not None:
            blocks_in[cell] += 1
            if segments.columns.kinds[i] is Kind.HEADING:
                crowded.add(cell)
    return crowded | {cell for cell, count in blocks_in.items() if count > 1}


def _nearest_cell(element: Node, nearest: dict[Node, Node | None]) -> Node | None:
    """The table cell that an element is in or is; remembers the way, since trees can be deep."""
    way = []
    node: Node | None = element
    while node is not None and node not in nearest and getattr(node, "tag", None) not in _CELLS:
        way.append(node)
        node = node.parent
    cell = nearest.get(node, node) if node is not None else None
    for passed in way:
        nearest[passed] = cell
    return cell
