"""A document's tree as arrays: the nodes that hold text, and which of them are target nodes (FIASCO 2.1 and 2.2).

A node is a block-level element; inline elements are part of the text of the node around them. Paragraphs that are set
apart by `<br><br>`, and other texts that share their element with further texts, become paragraph nodes of their own,
as FIASCO's preprocessing does it (2.1). So each block of a page is the own text of exactly one node, and that node is a
target node: either its own text is 10 % or more of all text below it (2.2), or it is such a paragraph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.html.parse import Element
from mainmatter.html.segment import ROLES, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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

_BLOCK, _LINK, _SKIPPED, _TEMPLATE, _IMAGE, _INLINE = range(6)
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
        walked, elements = _Walked(), [0] * len(document)
    else:
        tree, segments = document.parsed
        walked = _walk(tree)
        numbers = walked.numbers
        elements = [numbers.get(element, 0) for element in segments.elements]
    return _arrange(walked, np.array(elements, np.intp), document)


class _Walked:
    """What a walk over the tree brings home: parallel lists, one entry a block-level element, the document first."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.tags: list[str] = [""]
        self.parents: list[int] = [0]
        self.depths: list[int] = [0]
        self.around: list[int] = [0]
        # Of what is in the element itself, outside of the block-level elements in it.
        self.elements: list[int] = [1]
        self.links: list[int] = [0]
        self.addresses: list[int] = [0]
        self.images: list[int] = [0]


def _walk(tree: Tree) -> _Walked:
    """Visit the elements once, on the same ways as the segmenter; not by recursion, since pages can be deep."""
    found = _Walked()
    tags, parents, depths, around = found.tags, found.parents, found.depths, found.around
    elements, links, addresses, images = found.elements, found.links, found.addresses, found.images
    way_of, around_of, numbers = _WAYS.get, _AROUND.get, found.numbers
    open_elements: list[tuple[Iterator[Any], int]] = []
    children: Iterator[Any] = iter(tree)
    current = depth = 0
    while True:
        for node in children:
            if type(node) is not Element:
                continue
            tag = node.tag
            way = way_of(tag, _INLINE)
            if way == _SKIPPED:
                continue
            if way == _IMAGE:
                elements[current] += 1
                images[current] += 1
                continue
            if way == _TEMPLATE and node.attr("shadowrootmode") is None:
                continue
            open_elements.append((children, current))
            depth += 1
            if way in (_BLOCK, _TEMPLATE):
                numbers[node] = len(tags)
                tags.append(tag)
                parents.append(current)
                depths.append(depth)
                around.append(around[current] | around_of(tag, 0))
                current = len(elements)
                elements.append(1)
                links.append(0)
                addresses.append(0)
                images.append(0)
            else:
                elements[current] += 1
                if way == _LINK:
                    links[current] += 1
                    addresses[current] += node.attr("href") is not None
            # The content of a template is a fragment of its own.
            children = iter(node) if way != _TEMPLATE else (child for fragment in node for child in fragment)
            break
        else:
            if not open_elements:
                return found
            children, current = open_elements.pop()
            depth -= 1


def _arrange(walked: _Walked, owners: NDArray[np.intp], document: Document) -> Nodes:
    """Drop the elements without text, give counts to all that is below, add the paragraphs that we make."""
    count = len(walked.tags)
    parents = walked.parents
    lengths = document.lengths
    blocks_of = np.bincount(owners, minlength=count)
    own_chars = np.bincount(owners, weights=lengths, minlength=count).astype(np.int64)
    ends = subtree_ends(parents)
    below = {
        name: add_below(np.array(getattr(walked, name), np.float64), ends)
        for name in ("elements", "links", "addresses", "images")
    }
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
    inline = np.array(walked.elements, np.float64)[holders] - 1
    link_counts = np.array(document.columns.link_counts, np.float64)[made]

    def joined(of_elements: Sequence[int] | NDArray[Any], of_made: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([np.asarray(of_elements)[kept], of_made])

    return Nodes(
        tags=[walked.tags[i] for i in kept.tolist()] + [PARAGRAPH] * len(made),
        parents=joined(new_number[parents], new_number[holders]),
        depths=joined(walked.depths, np.array(walked.depths, np.intp)[holders] + 1),
        around=joined(walked.around, np.array(walked.around, np.intp)[holders]),
        first=np.concatenate([first, made]),
        end=np.concatenate([first + blocks_below[kept], made + 1]),
        own_chars=joined(own_chars, lengths[made]),
        chars=joined(chars, lengths[made]),
        elements=joined(below["elements"], 1 + np.maximum(inline * share, link_counts)),
        links=joined(below["links"], link_counts),
        addresses=joined(below["addresses"], link_counts),
        images=joined(below["images"], np.array(walked.images, np.float64)[holders] * share),
        targets=targets,
    )


def sum_below(spans: Spans, of_blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums over the blocks below each target node, its own included."""
    before = np.concatenate([[0], np.cumsum(of_blocks)])
    first, end = spans
    return before[end] - before[first]  # type: ignore[no-any-return]


def subtree_ends(parents: list[int]) -> NDArray[np.intp]:
    """For each node the number after the last one below it; nodes are numbered in the order of the page."""
    ends = list(range(1, len(parents) + 1))
    for node in range(len(parents) - 1, 0, -1):
        parent = parents[node]
        ends[parent] = max(ends[parent], ends[node])
    return np.array(ends, np.intp)


def add_below(own: NDArray[Any], ends: NDArray[np.intp]) -> NDArray[Any]:
    """Sums over all that is below each node, itself included."""
    sums = np.concatenate([[0], np.cumsum(own)])
    return sums[ends] - sums[:-1]  # type: ignore[no-any-return]


def _first_blocks(parents: list[int], owners: NDArray[np.intp], block_count: int) -> NDArray[np.intp]:
    """For each node the first block below it."""
    first = [block_count] * len(parents)
    for block, node in enumerate(owners.tolist()):
        first[node] = min(first[node], block)
    for node in range(len(parents) - 1, 0, -1):
        parent = parents[node]
        first[parent] = min(first[parent], first[node])
    return np.array(first, np.intp)
