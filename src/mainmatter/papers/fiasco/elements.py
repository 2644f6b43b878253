"""The paper's own target nodes: every element of the page may be one (FIASCO 2.1, 2.2).

An element is a target node if its text nodes that are its immediate children are 10 % or more of all text below it. So
inline elements are, too, and one target node may hold others. Where an element holds line breaks, what stands between
them becomes a paragraph element (2.1). Script, style and comments are removed.

Lengths are those of texts whose white space is normalised: the indentation of the source is not text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.html.parse import Element, Text
from mainmatter.html.segment import ROLES, Role
from mainmatter.papers.fiasco.nodes import PARAGRAPH, TARGET_SHARE, add_below, subtree_ends
from mainmatter.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from mainmatter.papers.fiasco.nodes import Spans
    from mainmatter.records import Document

_REMOVED = frozenset(("script", "style"))
# FIASCO 2.5: what a segment is, by the nearest of these elements; one that is in none of them is a paragraph.
_KINDS = {
    PARAGRAPH: Kind.PARAGRAPH,
    "li": Kind.LIST_ITEM,
    **dict.fromkeys(("h1", "h2", "h3", "h4"), Kind.HEADING),
}
NOBODY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Elements:
    """The elements of a document and its texts, both in the order of the page: parallel lists and arrays.

    Element 0 is the document. A text is a text node with something in it. `first` and `end` say which texts are below
    an element; all counts are of what is below it, the element itself included.

    Attributes:
        tags: the element's name; "p" for the paragraphs that we make, "" for the document.
        parents: the element around it; 0 for the document itself.
        ends: the element after the last one below it.
        depths: how many elements are around it.
        kinds: what its text is (2.5).
        first: the first text below it.
        end: the text after the last one below it.
        counts: how many elements are below it.
        links: how many of them are `<a>`.
        addresses: how many have a `href`.
        images: how many are `<img>`.
        targets: the elements that are target nodes.
        texts: white space normalised.
        lengths: of the texts, in characters.
        owners: the element whose immediate child each text is.
        blocks: the block of the document that each text is part of.
    """

    tags: list[str]
    parents: NDArray[np.intp]
    ends: NDArray[np.intp]
    depths: NDArray[np.intp]
    kinds: list[Kind]
    first: NDArray[np.intp]
    end: NDArray[np.intp]
    counts: NDArray[np.intp]
    links: NDArray[np.intp]
    addresses: NDArray[np.intp]
    images: NDArray[np.intp]
    targets: NDArray[np.intp]
    texts: list[str]
    lengths: NDArray[np.int64]
    owners: NDArray[np.intp]
    blocks: NDArray[np.intp]

    @property
    def spans(self) -> Spans:
        """For each target node the first text below it and the one after the last."""
        return self.first[self.targets], self.end[self.targets]


@dataclass(frozen=True, slots=True, eq=False)
class Belonging:
    """Which texts belong to which target nodes and blocks; target nodes are numbered in the order of the page.

    Attributes:
        owners: for each text the target node whose immediate child it is, or -1.
        nearest: for each text the nearest target node around it, or -1.
        around: for each target node the nearest one around it, or -1.
        blocks: for each text the block that it is part of.
        lengths: of the texts, in characters.
        block_count: how many blocks the page has.
    """

    owners: NDArray[np.intp]
    nearest: NDArray[np.intp]
    around: NDArray[np.intp]
    blocks: NDArray[np.intp]
    lengths: NDArray[np.int64]
    block_count: int

    @classmethod
    def of(cls, elements: Elements, block_count: int) -> Belonging:
        """What belongs together on a page."""
        numbers = np.full(len(elements.tags), NOBODY, np.intp)
        numbers[elements.targets] = np.arange(len(elements.targets))
        own, parents = numbers.tolist(), elements.parents.tolist()
        nearest = own.copy()
        for element in range(1, len(nearest)):  # parents stand before their children
            if nearest[element] == NOBODY:
                nearest[element] = nearest[parents[element]]
        near = np.array(nearest, np.intp)
        return cls(
            owners=numbers[elements.owners],
            nearest=near[elements.owners],
            around=near[elements.parents[elements.targets]],
            blocks=elements.blocks,
            lengths=elements.lengths,
            block_count=block_count,
        )

    def worst_around(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each target node the lowest of its own score and those of all around it."""
        worst = scores.tolist()
        for target, outer in enumerate(self.around.tolist()):  # those around stand before it
            if outer != NOBODY and worst[outer] < worst[target]:
                worst[target] = worst[outer]
        return np.array(worst, np.float64)

    def of_texts(self, of_targets: NDArray[np.float64], otherwise: float) -> NDArray[np.float64]:
        """For each text the value of the nearest target node around it."""
        return np.append(of_targets, otherwise)[self.nearest]  # NOBODY is the last one

    def of_blocks(self, of_texts: NDArray[np.float64], otherwise: float) -> NDArray[np.float64]:
        """For each block the highest value that more than half of its text reaches; `otherwise` if it has no text."""
        order = np.lexsort((-of_texts, self.blocks))
        blocks, values = self.blocks[order], of_texts[order]
        reached = np.concatenate([[0], np.cumsum(self.lengths[order])])
        starts = np.searchsorted(blocks, np.arange(self.block_count + 1))
        before, after = reached[starts[:-1]], reached[starts[1:]]
        # The first text, from the highest value on, with which more than half is reached.
        is_more = 2 * (reached[1:] - before[blocks]) > (after - before)[blocks]
        passed = np.append(np.flatnonzero(is_more), len(values))
        return np.where(
            after > before, np.append(values, otherwise)[passed[np.searchsorted(passed, starts[:-1])]], otherwise
        )

    def main_blocks(self) -> NDArray[np.intp]:
        """For each target node the block that holds the longest of its own texts."""
        own = np.flatnonzero(self.owners != NOBODY)
        order = own[np.argsort(self.lengths[own], kind="stable")]
        found = np.zeros(len(self.around), np.intp)
        found[self.owners[order]] = self.blocks[order]  # the longest is written last
        return found


def find_elements(document: Document) -> Elements:
    """The elements of a document; in a plain-text dump every block is a paragraph."""
    if not document.has_markup:
        texts = [" ".join(text.split()) for text in document.texts]
        walked = _ElementWalk()
        for block, text in enumerate(texts):
            walked.open(PARAGRAPH, 0, None)
            walked.add(text, block + 1, block)
        return walked.arrange()
    tree, segments = document.parsed
    block_of = {node: block for block in range(len(document)) for node in segments.text_nodes(block)}
    return _walk(tree, block_of).arrange()


class _ElementWalk:
    """What a walk over the tree collects."""

    def __init__(self) -> None:
        self.tags: list[str] = [""]
        self.parents: list[int] = [0]
        self.depths: list[int] = [0]
        self.kinds: list[Kind] = [Kind.PARAGRAPH]
        self.first: list[int] = [0]
        self.addressed: list[bool] = [False]
        self.texts: list[str] = []
        self.owners: list[int] = []
        self.blocks: list[int] = []

    def open(self, tag: str, parent: int, node: Element | None) -> int:
        """Number an element."""
        number = len(self.tags)
        self.tags.append(tag)
        self.parents.append(parent)
        self.depths.append(self.depths[parent] + (parent > 0))
        self.kinds.append(_KINDS.get(tag, self.kinds[parent]))
        self.first.append(len(self.texts))
        self.addressed.append(node is not None and node.attr("href") is not None)
        return number

    def add(self, text: str, owner: int, block: int) -> None:
        """Take a text."""
        self.texts.append(text)
        self.owners.append(owner)
        self.blocks.append(block)

    def arrange(self) -> Elements:
        """Count what is below each element, and find the target nodes."""
        ends = subtree_ends(self.parents)
        owners, first = np.array(self.owners, np.intp), np.array(self.first, np.intp)
        lengths = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        own_chars = np.bincount(owners, weights=lengths, minlength=len(ends))
        chars = np.maximum(add_below(own_chars, ends), 1)
        is_target = own_chars / chars >= TARGET_SHARE
        is_target[0] = False  # the document is no element
        links, images = (np.array([tag == wanted for tag in self.tags], np.intp) for wanted in ("a", "img"))
        return Elements(
            tags=self.tags,
            parents=np.array(self.parents, np.intp),
            ends=ends,
            depths=np.array(self.depths, np.intp),
            kinds=self.kinds,
            first=first,
            end=first + add_below(np.bincount(owners, minlength=len(ends)), ends),
            counts=ends - np.arange(len(ends)),
            links=add_below(links, ends),
            addresses=add_below(np.array(self.addressed, np.intp), ends),
            images=add_below(images, ends),
            targets=np.flatnonzero(is_target),
            texts=self.texts,
            lengths=lengths,
            owners=owners,
            blocks=np.array(self.blocks, np.intp),
        )


def _walk(tree: Iterable[Any], block_of: dict[Any, int]) -> _ElementWalk:
    """Visit the elements and texts once; not by recursion, since pages can be deep."""
    walked = _ElementWalk()
    open_elements: list[tuple[Iterator[Any], int]] = []
    children: Iterator[Any] = iter(_make_paragraphs(tree))
    current = 0
    while True:
        for node in children:
            if type(node) is Text:
                block = block_of.get(node)
                if block is not None:
                    walked.add(" ".join(node.data.split()), current, block)
                continue
            if type(node) is list:
                inside, number = node, walked.open(PARAGRAPH, current, None)
            elif type(node) is not Element or node.tag in _REMOVED:
                continue
            else:
                inside, number = _make_paragraphs(_children(node)), walked.open(node.tag, current, node)
            open_elements.append((children, current))
            children, current = iter(inside), number
            break
        else:
            if not open_elements:
                return walked
            children, current = open_elements.pop()


def _children(element: Element) -> Iterable[Any]:
    """What is in an element; the content of a template is a fragment of its own, and shown only as a shadow root."""
    if element.tag != "template":
        return element
    if element.attr("shadowrootmode") is None:
        return ()
    return (child for fragment in element for child in fragment)


def _make_paragraphs(children: Iterable[Any]) -> list[Any]:
    """The children of an element; where line breaks are among them, what stands between those as lists.

    Block-level elements end such a paragraph, and are not part of it.
    """
    nodes = list(children)
    roles = [ROLES.get(node.tag) if type(node) is Element else None for node in nodes]
    if Role.BREAK not in roles:
        return nodes
    found: list[Any] = []
    run: list[Any] = []
    for node, role in zip(nodes, roles, strict=True):
        if role not in (Role.BREAK, Role.BLOCK):
            run.append(node)
            continue
        if any(map(_shows, run)):
            found.append(run)
        run = []
        if role is Role.BLOCK:
            found.append(node)
    return [*found, run] if any(map(_shows, run)) else found


def _shows(node: object) -> bool:
    return type(node) is Element or (type(node) is Text and not node.data.isspace())
