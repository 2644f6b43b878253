"""Table cells to table rows.

The segmenter makes a block of every cell that holds text of its own. In a table of data the row is what one reads, so
its cells become one block; in a table made for layout, as on most pages of CleanEval's days, each cell is a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.html.elements import ROLES, Role
from mainmatter.html.parse import Element
from mainmatter.html.segments import NUMBER_OF_TAG
from mainmatter.records import Kind

if TYPE_CHECKING:
    from mainmatter.html.parse import Node
    from mainmatter.html.segments import Outline, Segments

CELL_SEPARATOR = "\t"
_CELLS = ("td", "th")
_CELL_NUMBERS = tuple(map(NUMBER_OF_TAG.__getitem__, _CELLS))


def join_rows(segments: Segments) -> Segments:
    """Make one block of the cells of each row of data, and paragraphs of the cells of layout tables."""
    kinds = segments.columns.kinds
    table_row = Kind.TABLE_ROW  # Enum's members are slow to find
    cells = [i for i, kind in enumerate(kinds) if kind is table_row]
    if not cells:
        return segments
    absorbed: set[int] = set()
    inline_rows: dict[Node, bool] = {}
    for row, neighbours in _rows(segments, cells):
        if not _is_data(segments, row, neighbours, inline_rows):
            for i in neighbours:
                kinds[i] = Kind.PARAGRAPH
        elif len(neighbours) > 1:
            _join(segments, neighbours)
            absorbed.update(neighbours[1:])
    if not absorbed:
        return segments
    return segments.only([i for i in range(len(kinds)) if i not in absorbed])


def _rows(segments: Segments, cells: list[int]) -> list[tuple[Node | None, list[int]]]:
    """The rows, each with those of its cells that follow each other without a block of something else between."""
    rows: list[tuple[Node | None, list[int]]] = []
    elements = segments.outline.elements
    for i in cells:
        cell = elements[segments.holders[i]]
        row = cell.parent if cell is not None else None
        if rows and rows[-1][0] is row and rows[-1][1][-1] == i - 1:
            rows[-1][1].append(i)
        else:
            rows.append((row, [i]))
    return rows


def _is_data(segments: Segments, row: Node | None, cells: list[int], inline_rows: dict[Node, bool]) -> bool:
    """Whether neighbouring cells are a row of data: several cells, each of one block, with inline content only."""
    if row is None:
        return False
    if row not in inline_rows:
        inline_rows[row] = _is_inline(row, segments.outline, segments.holders[cells[0]])
    holders = {segments.holders[i] for i in cells}
    return inline_rows[row] and len(holders) == len(cells)


def _is_inline(row: Node, outline: Outline, cell: int) -> bool:
    """Whether a row has several cells, and none of them holds a block.

    Args:
        row: the row.
        outline: of the page, which tells most rows in less time than the tree.
        cell: the number, in the outline, of one of the row's cells.
    """
    number = outline.parents[cell]
    if outline.elements[number] is row:
        tags, parents = outline.tags, outline.parents
        count = 0
        for inner in range(number + 1, len(parents)):
            parent = parents[inner]
            if parent > number:  # it stands in a cell, though not always as the cell's own child
                break
            if parent < number:
                return count > 1
            count += tags[inner] in _CELL_NUMBERS
        else:
            return count > 1
    cells = [child for child in row if isinstance(child, Element) and child.tag in _CELLS]
    return len(cells) > 1 and not any(_holds_block(one) for one in cells)


def _holds_block(cell: Element) -> bool:
    return any(isinstance(child, Element) and ROLES.get(child.tag) is Role.BLOCK for child in cell)


def _join(segments: Segments, cells: list[int]) -> None:
    """Put what the cells hold into the first of them, which becomes the row."""
    columns, first = segments.columns, cells[0]
    segments.holders[first] = segments.outline.parents[segments.holders[first]]
    columns.texts[first] = CELL_SEPARATOR.join(columns.texts[i] for i in cells)
    columns.link_chars[first] = sum(columns.link_chars[i] for i in cells)
    columns.link_counts[first] = sum(columns.link_counts[i] for i in cells)
    segments.end_nodes[first] = segments.end_nodes[cells[-1]]
