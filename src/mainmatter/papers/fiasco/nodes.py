# cython: annotation_typing=True
# mypy: warn_return_any=False
"""A document's tree as arrays: the nodes that hold text, and which of them are target nodes (FIASCO 2.1 and 2.2).

A node is a block-level element; inline elements are part of the text of the node around them. Paragraphs that are set
apart by `<br><br>`, and other texts that share their element with further texts, become paragraph nodes of their own,
as FIASCO's preprocessing does it (2.1). So each block of a page is the own text of exactly one node, and that node is a
target node: either its own text is 10 % or more of all text below it (2.2), or it is such a paragraph.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter import cython
from mainmatter.html.segment import ROLES, Role

if cython.compiled and not TYPE_CHECKING:
    import cython

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.html.parse import Tree
    from mainmatter.records import Document

TARGET_SHARE = 0.1  # FIASCO 2.2: of a target node's text, the least share that is its own
PARAGRAPH = "p"

Spans = tuple["NDArray[np.intp]", "NDArray[np.intp]"]

# What a node is inside of, as bits; a node inherits those of its parent.
IN_LIST, IN_TABLE, IN_FORM, IN_MARGIN, IN_ARTICLE = (1 << bit for bit in range(5))
_AROUND = {
    **dict.fromkeys("ul ol dl menu dir".split(), IN_LIST),
    "table": IN_TABLE,
    "form": IN_FORM,
    **dict.fromkeys("nav aside footer header dialog".split(), IN_MARGIN),
    **dict.fromkeys("article main".split(), IN_ARTICLE),
}

# What the walk does with an element: the first two are nodes, the next two part of one.
_BLOCK = cython.declare(cython.int, 0)
_TEMPLATE = cython.declare(cython.int, 1)
_INLINE = cython.declare(cython.int, 2)
_LINK = cython.declare(cython.int, 3)
_IMAGE = cython.declare(cython.int, 4)
_SKIPPED = cython.declare(cython.int, 5)
_WAYS: dict[str, int] = {
    **{
        tag: {
            Role.BLOCK: _BLOCK,
            Role.NOSCRIPT: _BLOCK,
            Role.LINK: _LINK,
            Role.EMPHASIS: _INLINE,
            Role.TEMPLATE: _TEMPLATE,
        }.get(role, _SKIPPED)
        for tag, role in ROLES.items()
    },
    "img": _IMAGE,
}


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a document that hold text: parallel lists and arrays, parents before their children.

    Node 0 is the document. `first` and `end` say which blocks are below a node; all counts are of what is below it, the
    node itself included.

    Attributes:
        tags: the element's name; "p" for the paragraphs that we make, "" for the document.
        parents: the number of the node around it; 0 for the document itself.
        depths: how many elements are around it.
        around: what it is inside of, or is: the sum of IN_LIST, IN_TABLE, ...
        first: the first block below it.
        end: the block after the last one below it.
        own_chars: the length of its own text.
        chars: the length of all text below it.
        elements: how many elements are below it, inline ones included, at least 1.
        links: how many of them are `<a>`.
        addresses: how many of those have a `href`.
        images: how many are `<img>`.
        targets: the node whose own text each block is: one entry a block, each another target node.
    """

    tags: list[str]
    parents: NDArray[np.intp]
    depths: NDArray[np.intp]
    around: NDArray[np.intp]
    first: NDArray[np.intp]
    end: NDArray[np.intp]
    own_chars: NDArray[np.int64]
    chars: NDArray[np.int64]
    elements: NDArray[np.float64]
    links: NDArray[np.float64]
    addresses: NDArray[np.float64]
    images: NDArray[np.float64]
    targets: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.tags)

    @property
    def spans(self) -> Spans:
        """For each target node, one a block, the first block below it and the one after the last."""
        return self.first[self.targets], self.end[self.targets]


def find_nodes(document: Document) -> Nodes:
    """The nodes of a document; in a plain-text dump every block is one."""
    if not document.has_markup:
        return _arrange(_Walked(0), np.zeros(len(document), np.intp), document)
    tree, segments = document.parsed
    walked = _walk(tree)
    numbers, holders = walked.numbers.get, walked.holders
    owners = np.array([holders[numbers(element, 0)] for element in segments.elements], np.intp)
    return _arrange(walked, owners, document)


class _Walked:
    """What a walk over the tree brings home: one entry a block-level element, the document first.

    Arrays of the standard library, which Cython reads as C does, numpy without a copy, and Python as fast as lists.
    """

    def __init__(self, size: int) -> None:
        """Room for as many elements."""
        self.tags: list[str] = [""]
        self.parents, self.depths, self.around = _zeros(size + 1), _zeros(size + 1), _zeros(size + 1)
        # Of what is in the element itself, outside of the block-level elements in it.
        self.elements, self.links, self.addresses, self.images = (_zeros(size + 1) for _ in range(4))
        self.elements[0] = 1
        # All elements that were visited get a number, inline ones too; it leads to the entry that each is part of.
        self.numbers: dict[Any, int] = {}
        self.holders = _zeros(size + 1)


def _zeros(size: int) -> array[int]:
    return array("q", bytes(8 * size))


@cython.boundscheck(False)  # no number is above that of the elements
@cython.wraparound(False)
def _walk(tree: Tree) -> _Walked:  # noqa: PLR0915 - one loop
    """Visit the elements once, on the same ways as the segmenter."""
    visited: list = list(tree.iter_elements())  # type: ignore[type-arg] # the compiler's list has no items
    found = _Walked(len(visited))
    tags: list = found.tags  # type: ignore[type-arg]
    numbers: dict = found.numbers  # type: ignore[type-arg]
    parents: cython.longlong[::1] = found.parents
    depths: cython.longlong[::1] = found.depths
    around: cython.longlong[::1] = found.around
    elements: cython.longlong[::1] = found.elements
    links: cython.longlong[::1] = found.links
    addresses: cython.longlong[::1] = found.addresses
    images: cython.longlong[::1] = found.images
    holders: cython.longlong[::1] = found.holders
    levels: cython.longlong[::1] = _zeros(len(visited) + 1)
    number: cython.Py_ssize_t = 0
    outer: cython.Py_ssize_t = 0
    current: cython.Py_ssize_t
    count: cython.Py_ssize_t = 1
    way: cython.int
    ways: dict = _WAYS  # type: ignore[type-arg]
    bits: dict = _AROUND  # type: ignore[type-arg]
    numbers[tree] = 0
    last_parent: object = tree
    for node in visited:
        number += 1
        parent = node.parent
        if parent is not last_parent:
            last_parent = parent
            outer = numbers.get(parent, -1)
        if outer < 0:  # inside of what is skipped
            continue
        tag = node.tag
        way = ways.get(tag, _INLINE)
        current = holders[outer]
        if way > _LINK:
            if way == _IMAGE:
                elements[current] += 1
                images[current] += 1
            continue
        if way == _TEMPLATE:
            if node.attr("shadowrootmode") is None:
                continue
            for fragment in node:  # which holds the content of a template
                numbers[fragment] = number
        numbers[node] = number
        levels[number] = levels[outer] + 1
        if way <= _TEMPLATE:
            tags.append(tag)
            parents[count] = current
            depths[count] = levels[number]
            around[count] = around[current] | bits.get(tag, 0)
            elements[count] = 1
            holders[number] = count
            count += 1
        else:
            holders[number] = current
            elements[current] += 1
            if way == _LINK:
                links[current] += 1
                if node.attr("href") is not None:
                    addresses[current] += 1
    return found


def _arrange(walked: _Walked, owners: NDArray[np.intp], document: Document) -> Nodes:
    """Drop the elements without text, give counts to all that is below, add the paragraphs that we make."""
    count = len(walked.tags)
    parents, depths, around = (
        np.asarray(each, np.intp)[:count] for each in (walked.parents, walked.depths, walked.around)
    )
    elements, links, addresses, images = (
        np.asarray(each, np.float64)[:count]
        for each in (walked.elements, walked.links, walked.addresses, walked.images)
    )
    lengths = document.lengths
    blocks_of = np.bincount(owners, minlength=count)
    own_chars = np.bincount(owners, weights=lengths, minlength=count).astype(np.int64)
    ends = subtree_ends(parents)
    chars = add_below(own_chars, ends)
    blocks_below = add_below(blocks_of, ends)
    holds_text = blocks_below > 0
    holds_text[0] = True
    new_number = np.cumsum(holds_text) - 1
    kept = np.flatnonzero(holds_text)
    first = _first_blocks(parents, owners, len(document))[kept]
    own_share_is_enough = own_chars >= TARGET_SHARE * chars
    # The document is no element: texts outside of all elements, and the blocks of a dump, are paragraphs.
    is_own = (blocks_of[owners] == 1) & own_share_is_enough[owners] & (owners > 0)
    made = np.flatnonzero(~is_own)
    holders = owners[made]
    share = 1 / np.maximum(blocks_of[holders], 1)  # of what is inline in an element with several texts
    targets = new_number[owners]
    targets[made] = len(kept) + np.arange(len(made))
    own_chars[holders] = 0
    inline = elements[holders] - 1
    link_counts = np.array(document.columns.link_counts, np.float64)[made]

    def joined(of_elements: NDArray[Any], of_made: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([of_elements[kept], of_made])

    return Nodes(
        tags=[walked.tags[i] for i in kept.tolist()] + [PARAGRAPH] * len(made),
        parents=joined(new_number[parents], new_number[holders]),
        depths=joined(depths, depths[holders] + 1),
        around=joined(around, around[holders]),
        first=np.concatenate([first, made]),
        end=np.concatenate([first + blocks_below[kept], made + 1]),
        own_chars=joined(own_chars, lengths[made]),
        chars=joined(chars, lengths[made]),
        elements=joined(add_below(elements, ends), 1 + np.maximum(inline * share, link_counts)),
        links=joined(add_below(links, ends), link_counts),
        addresses=joined(add_below(addresses, ends), link_counts),
        images=joined(add_below(images, ends), images[holders] * share),
        targets=targets,
    )


def sum_below(spans: Spans, of_blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums over the blocks below each target node, its own included."""
    before = np.concatenate([[0], np.cumsum(of_blocks)])
    first, end = spans
    return before[end] - before[first]


@cython.boundscheck(False)  # all are numbers of nodes
@cython.wraparound(False)
def subtree_ends(of_nodes: Sequence[int] | NDArray[np.intp]) -> NDArray[np.intp]:
    """For each node the number after the last one below it; nodes are numbered in the order of the page.

    Args:
        of_nodes: the parent of each node.
    """
    parents: cython.longlong[::1] = _as_array(of_nodes)
    ends: cython.longlong[::1] = _as_array(np.arange(1, len(of_nodes) + 1))
    node: cython.Py_ssize_t
    for node in range(len(of_nodes) - 1, 0, -1):
        if ends[node] > ends[parents[node]]:  # noqa: PLR1730 - to call max would take as long as the rest
            ends[parents[node]] = ends[node]
    return np.asarray(ends, np.intp)


def _as_array(numbers: Sequence[int] | NDArray[np.intp]) -> array[int]:
    """Numbers in a form that loops read fast, compiled or not."""
    return array("q", numbers.astype(np.int64).tobytes() if isinstance(numbers, np.ndarray) else numbers)


def add_below(own: NDArray[Any], ends: NDArray[np.intp]) -> NDArray[Any]:
    """Sums over all that is below each node, itself included."""
    sums = np.concatenate([[0], np.cumsum(own)])
    return sums[ends] - sums[:-1]


@cython.boundscheck(False)  # all are numbers of nodes
@cython.wraparound(False)
def _first_blocks(
    of_nodes: Sequence[int] | NDArray[np.intp], of_blocks: NDArray[np.intp], block_count: int
) -> NDArray[np.intp]:
    """For each node, by the parents of all, the first block below it."""
    parents: cython.longlong[::1] = _as_array(of_nodes)
    owners: cython.longlong[::1] = _as_array(of_blocks)
    first: cython.longlong[::1] = array("q", [block_count]) * len(of_nodes)
    number: cython.Py_ssize_t
    for number in range(len(of_blocks) - 1, -1, -1):  # the first is written last
        first[owners[number]] = number
    for number in range(len(of_nodes) - 1, 0, -1):
        if first[number] < first[parents[number]]:  # noqa: PLR1730 - as above
            first[parents[number]] = first[number]
    return np.asarray(first, np.intp)


@cython.boundscheck(False)  # all are numbers of nodes
@cython.wraparound(False)
def find_wider(nodes: Nodes) -> NDArray[np.intp]:
    """For each node the nearest one around it that holds more blocks, or the document."""
    parents: cython.longlong[::1] = _as_array(nodes.parents)
    sizes: cython.longlong[::1] = _as_array(nodes.end - nodes.first)
    wider: cython.longlong[::1] = _zeros(len(nodes))
    node: cython.Py_ssize_t
    for node in range(1, len(nodes)):  # parents stand before their children
        wider[node] = parents[node] if sizes[parents[node]] > sizes[node] else wider[parents[node]]
    return np.asarray(wider, np.intp)
