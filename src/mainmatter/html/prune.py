"""A page's tree without what was dropped: what HTML and Markdown output are made from.

The tree is changed so that it reads as the blocks do: what is set apart there is set apart here, and no more. Tables
that pages use for layout, not for data, become divisions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from mainmatter.html.parse import Element, Text, sanitize
from mainmatter.html.segment import HEADING_LEVELS, ROLES, Role
from mainmatter.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mainmatter.html.parse import Node, Tree
    from mainmatter.html.segment import Segments

# Elements without text that belong to the text around them.
_KEPT_IN_TEXT = frozenset(("br", "wbr"))
_IMAGES = frozenset(("img",))
_INLINE_DEPTH = 16  # how many elements to look through, from an image or a space to the block that it is inside of
_ITEMS = frozenset(("li", "dt", "dd"))
_LISTS = frozenset(("ul", "ol", "menu", "dir", "dl"))
_INLINE_ROLES = frozenset((None, Role.LINK, Role.EMPHASIS))
_SOFT_HYPHEN = "\u00ad"


def prune(tree: Tree, segments: Segments, kept: Sequence[bool], *, images: bool, url: str | None) -> Element | None:
    """Reduce a tree to the kept blocks. The tree is changed.

    Args:
        tree: the page's tree.
        segments: its blocks.
        kept: which of them to keep.
        images: keep the images that stand between two kept blocks or inside of one.
        url: the page's address, to make its links absolute.

    Returns:
        The page's body, without scripts, styles, handlers and forms; None for a page without a body.
    """
    body = tree.find("body")
    if body is None:
        return None
    wanted: set[Node] = {node for i, is_kept in enumerate(kept) if is_kept for node in segments.text_nodes(i)}
    if images:
        wanted |= _images_between(tree, segments, kept)
    wanted |= _ancestors(wanted)
    wanted |= _glue(body, wanted)
    for node in list(body.descendants):
        if node not in wanted:
            node.extract()
    _open_shadow_roots(wanted)
    _set_apart(segments, kept)
    _make_plain(wanted)
    _flatten_layout_tables(wanted, segments, kept)
    return sanitize(body, tree.base_url(url or ""))


def _ancestors(nodes: Iterable[Node]) -> set[Node]:
    """The elements around some nodes, each looked at once."""
    found: set[Node] = set()
    for node in nodes:
        parent = node.parent
        while parent is not None and parent not in found:
            found.add(parent)
            parent = parent.parent
    return found


def _glue(body: Element, wanted: set[Node]) -> set[Node]:
    """White space and line breaks inside of what is kept, also where they have an inline element to themselves."""
    found: set[Node] = set()
    for node in body.descendants:
        is_glue = node.data.isspace() if isinstance(node, Text) else getattr(node, "tag", None) in _KEPT_IN_TEXT
        if not is_glue:
            continue
        way: list[Node] = [node]
        for parent in islice(node.ancestors, _INLINE_DEPTH):
            if parent in wanted:
                found.update(way)
                break
            if ROLES.get(getattr(parent, "tag", "")) not in _INLINE_ROLES:
                break
            way.append(parent)
    return found


def _set_apart(segments: Segments, kept: Sequence[bool]) -> None:
    """Write into the tree what the blocks have and it has not: spaces, breaks between blocks, no soft hyphens."""
    for text in segments.spaced:
        text.data = " " + text.data
    previous: Element | None = None
    for i, element in enumerate(segments.elements):
        if not kept[i]:
            continue
        texts = segments.text_nodes(i)
        # Whatever stood between two blocks of one element may be gone.
        if element is not None and element is previous:
            _break_before(texts[0], element)
        previous = element
        for text in texts:
            if _SOFT_HYPHEN in text.data:
                text.data = text.data.replace(_SOFT_HYPHEN, "")


def _break_before(text: Text, block: Element) -> None:
    """Put two line breaks before a text, and before the inline elements that begin with it, unless they are there."""
    first: Node = text
    while first.previous_sibling is None and first.parent is not None and first.parent is not block:
        first = first.parent
    if not _follows_breaks(first):
        first.insert_before(Element("br"), Element("br"))


def _follows_breaks(first: Node) -> bool:
    """Whether two line breaks stand before a node."""
    breaks = 0
    for node in first.previous_siblings:
        if getattr(node, "tag", None) == "br":
            breaks += 1
        elif not isinstance(node, Text) or not node.data.isspace():
            break
    return breaks > 1


def _open_shadow_roots(wanted: set[Node]) -> None:
    """Put what a template shows in its place; other templates hold nothing that is wanted."""
    for node in wanted:
        if isinstance(node, Element) and node.tag == "template":
            content = Element("div")
            content.extend([child for fragment in node for child in fragment])
            node.replace_with(content)


def _make_plain(wanted: set[Node]) -> None:
    """Reduce markup that would not survive being written and read again, and that the sanitizer would mangle.

    In quirks mode a paragraph may hold a table; tables can bring a link into a link; and formulas are text to us.
    """
    by_tag: dict[str, list[Element]] = defaultdict(list)
    for node in wanted:
        if isinstance(node, Element):
            by_tag[node.tag].append(node)
    links = by_tag["a"]
    headings = [heading for tag in HEADING_LEVELS for heading in by_tag[tag]]
    blocks = [block for tag, elements in by_tag.items() if ROLES.get(tag) is Role.BLOCK for block in elements]
    _separate_items([item for tag in _ITEMS for item in by_tag[tag]])
    for link in _ancestors(links).intersection(links):
        link.unwrap()
    for holder in _ancestors(blocks).intersection(by_tag["p"]) | _ancestors(headings).intersection(headings):
        if isinstance(holder, Element):
            holder.tag = "div"
    for formula in by_tag["math"]:
        formula.replace_with(Text(formula.text))


def _separate_items(items: list[Element]) -> None:
    """Make a division of an item that holds another one without a list in between, which tables can bring about."""
    for item in items:
        for parent in islice(item.ancestors, _INLINE_DEPTH):
            tag = getattr(parent, "tag", "")
            if tag in _ITEMS and isinstance(parent, Element):
                parent.tag = "div"
            if tag in _ITEMS or tag in _LISTS:
                break


def _images_between(tree: Tree, segments: Segments, kept: Sequence[bool]) -> set[Node]:
    """The images that stand between two kept blocks, or inside of one."""
    block_of = {node: i for i in range(len(kept)) for node in segments.text_nodes(i)}
    kept_elements = {element for element, is_kept in zip(segments.elements, kept, strict=True) if is_kept}
    found: set[Node] = set()
    waiting: list[Node] = []
    before_is_kept = False
    for node in tree.descendants:
        if isinstance(node, Element) and node.tag in _IMAGES:
            if any(parent in kept_elements for parent in islice(node.ancestors, _INLINE_DEPTH)):
                found.add(node)
            elif before_is_kept:
                waiting.append(node)
        elif isinstance(node, Text) and node in block_of:
            before_is_kept = bool(kept[block_of[node]])
            if before_is_kept:
                found.update(waiting)
            waiting = []
    return found


_CELL_TAGS = frozenset(("td", "th"))
_TABLE_TAGS = _CELL_TAGS | {"tr", "tbody", "thead", "tfoot"}
_LEVELS = 4  # a cell, its row, its group of rows, its table


def _flatten_layout_tables(elements: Iterable[Node], segments: Segments, kept: Sequence[bool]) -> None:
    """Turn those of the elements that are tables for layout into divisions.

    A table is one of data if some row has several cells, and every cell is one text and no heading.
    """
    parts: dict[Node, list[Element]] = defaultdict(list)
    for element in elements:
        if isinstance(element, Element) and element.tag in _TABLE_TAGS:
            parts[_table_of(element)].append(element)
    if not parts:
        return
    crowded = _crowded_cells(segments, kept)
    for table, own_parts in parts.items():
        cells = [part for part in own_parts if part.tag in _CELL_TAGS]
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
    while node is not None and node not in nearest and getattr(node, "tag", None) not in _CELL_TAGS:
        way.append(node)
        node = node.parent
    cell = nearest.get(node, node) if node is not None else None
    for passed in way:
        nearest[passed] = cell
    return cell
