"""A page's tree without what was dropped: what HTML and Markdown output are made from."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from mainmatter.html.elements import ROLES, Role
from mainmatter.html.layout import flatten_layout_tables
from mainmatter.html.parse import Element, Text, sanitize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.html.parse import Node, Tree
    from mainmatter.html.segments import Segments

# Elements without text that belong to the text around them.
_KEPT_IN_TEXT = frozenset(("br", "wbr"))
_IMAGES = frozenset(("img",))
_INLINE_DEPTH = 3  # how many elements may be between an image and the block that it is inside of, less one


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
    wanted = _wanted(segments, kept)
    if images:
        wanted |= _images_between(tree, segments, kept)
    wanted |= _ancestors(wanted)
    for text in segments.spaced:
        text.data = " " + text.data
    body = tree.find("body")
    if body is None:
        return None
    _open_shadow_roots(wanted)
    for node in list(body.descendants):
        if node not in wanted and not _is_glue(node, wanted):
            node.extract()
    _make_plain(wanted)
    flatten_layout_tables(wanted, segments, kept)
    return sanitize(body, tree.base_url(url) if url else None)


def _open_shadow_roots(wanted: set[Node]) -> None:
    """Put what a template shows in its place; other templates hold nothing that is wanted."""
    for node in wanted:
        if isinstance(node, Element) and node.tag == "template":
            node.replace_with(*(child for fragment in node for child in fragment))


def _make_plain(wanted: set[Node]) -> None:
    """Reduce markup that would not survive being written and read again, and that the sanitizer would mangle.

    In quirks mode a paragraph may hold a table; and formulas are text to us.
    """
    holders = _ancestors({node for node in wanted if ROLES.get(getattr(node, "tag", "")) is Role.BLOCK})
    for node in wanted:
        if isinstance(node, Element):
            if node.tag == "p" and node in holders:
                node.tag = "div"
            elif node.tag == "math":
                node.replace_with(Text(node.text))


def _wanted(segments: Segments, kept: Sequence[bool]) -> set[Node]:
    """The text nodes of the kept blocks."""
    return {node for i, is_kept in enumerate(kept) if is_kept for node in segments.text_nodes(i)}


def _ancestors(nodes: set[Node]) -> set[Node]:
    """The elements around some nodes, each looked at once."""
    found: set[Node] = set()
    for node in nodes:
        parent = node.parent
        while parent is not None and parent not in found:
            found.add(parent)
            parent = parent.parent
    return found


def _is_glue(node: Node, wanted: set[Node]) -> bool:
    """White space and line breaks inside of what is kept."""
    if node.parent not in wanted:
        return False
    return node.data.isspace() if isinstance(node, Text) else getattr(node, "tag", None) in _KEPT_IN_TEXT


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
