"""The containers around a page's blocks, as arrays: from the outline that the segmenter's walk leaves behind.

An element holds the blocks from `first` to `end`; all that is asked about a container is then a difference of two
running sums. Elements without text are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import pack
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.html.read import HtmlSource
from mainmatter.html.segments import TAGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.records import Document

# What a block may stand inside of: one bit for each group of tags.
AROUND = (
    "ul ol menu dir",
    "dl",
    "table",
    "form fieldset",
    "nav",
    "header hgroup",
    "footer",
    "aside",
    "article",
    "main",
    "section",
    "figure",
    "details",
    "dialog",
    "blockquote",
    "button select label",
)
_BITS = np.array([sum(1 << bit for bit, tags in enumerate(AROUND) if tag in tags.split()) for tag in TAGS], np.int64)


@dataclass(frozen=True, slots=True)
class Containers:
    """The elements that hold text, parents before their children; element 0 is the document.

    Attributes:
        parents: the element around each.
        ways: the element one up from each, two up, four up, and so on, as long as there is any; the document's own
            parent is the document.
        tags: the number of each one's tag in the segmenter's outline.
        first: the first block in each.
        end: the block after the last one in each.
        wider: the nearest element around each that holds more blocks; the document for itself.
        depth: how many elements are around each.
        around: what each stands inside of, or is: a sum of bits, one for each entry of `AROUND`.
        alike: how many elements of the same tag stand beside each in the same parent, itself included.
        siblings: how many elements stand beside each, itself included.
        numbers: the number of each in the segmenter's outline.
        holders: for each block, the element whose text it is.
        pictures: how many pictures stand before each block, since the one before it.
        text_nodes: of how many pieces of text each block is made: inline markup cuts it.
    """

    parents: NDArray[np.intp]
    ways: tuple[NDArray[np.intp], ...]
    tags: NDArray[np.uint8]
    first: NDArray[np.intp]
    end: NDArray[np.intp]
    wider: NDArray[np.intp]
    depth: NDArray[np.intp]
    around: NDArray[np.int64]
    alike: NDArray[np.intp]
    siblings: NDArray[np.intp]
    numbers: NDArray[np.intp]
    holders: NDArray[np.intp]
    pictures: NDArray[np.intp]
    text_nodes: NDArray[np.intp]

    def inherit(self, bits: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bits of each with those of all elements around it."""
        return _inherited(bits, self.ways)


def find_containers(document: Document) -> Containers:
    """The containers of a document; a plain-text dump is one container."""
    count = len(document)
    if not isinstance(document.source, HtmlSource) or not count:
        return _one_container(count)
    segments = document.source.tree_and_segments()[1]
    outline = segments.outline
    parents, first, end, pictures = map(as_array, (outline.parents, outline.first, outline.end, outline.pictures))
    if not isinstance(segments.numbers, range):  # some texts were joined, or dropped
        numbers = as_array(segments.numbers)
        first, end, pictures = (np.searchsorted(numbers, places) for places in (first, end, pictures))
    # Elements without text drop out, all others get new numbers.
    holds = end > first
    kept = holds.nonzero()[0]
    number = np.zeros(len(holds), np.intp)
    number[kept] = np.arange(len(kept))
    parents, first, end = number.take(parents.take(kept)), first.take(kept), end.take(kept)
    tags = np.frombuffer(outline.tags, np.uint8).take(kept)
    ways = _ways_up(parents)
    beside = _numbered_pairs(parents, tags)
    return Containers(
        parents=parents,
        ways=ways,
        tags=tags,
        first=first,
        end=end,
        wider=_wider(parents, end - first),
        depth=_depths(ways, len(parents)),
        around=_inherited(_BITS.take(tags), ways),
        alike=np.bincount(beside).take(beside),
        siblings=np.bincount(parents).take(parents),
        numbers=kept,
        holders=number.take(as_array(segments.holders)),
        pictures=np.bincount(pictures, minlength=count)[:count],
        text_nodes=as_array(segments.end_nodes) - as_array(segments.first_nodes),
    )


def as_array(numbers: Sequence[int]) -> NDArray[np.intp]:
    """Numbers as an array that is not to be changed, in the fastest way that there is for a list of some hundred."""
    return np.frombuffer(pack(f"{len(numbers)}n", *numbers), np.intp)


def unpack(bits: NDArray[np.int64], count: int) -> NDArray[np.uint8]:
    """The first `count` bits of each number: one row a bit, one column a number."""
    planes = bits.astype("<i8", copy=False).view(np.uint8).reshape(-1, 8).T[: -(-count // 8)]
    return np.unpackbits(planes, axis=0, count=count, bitorder="little")


def _numbered_pairs(parents: NDArray[np.intp], tags: NDArray[np.uint8]) -> NDArray[np.intp]:
    """A number for each pair of a parent and a tag; small ones, since few of the tags are on one page."""
    is_there = np.zeros(len(TAGS), np.intp)
    is_there[tags] = 1
    of_page = is_there.cumsum()
    pairs: NDArray[np.intp] = parents * int(of_page[-1])
    pairs += (of_page - 1).take(tags)
    return pairs


def _one_container(count: int) -> Containers:
    """A page without a tree: the document holds all blocks."""
    zero, one = np.zeros(1, np.intp), np.ones(1, np.intp)
    nothing, ones = np.zeros(count, np.intp), np.ones(count, np.intp)
    no_tag = np.zeros(1, np.uint8)
    return Containers(zero, (), no_tag, zero, one * count, zero, zero, zero, one, one, zero, nothing, nothing, ones)


def _ways_up(parents: NDArray[np.intp]) -> tuple[NDArray[np.intp], ...]:
    """See `Containers.ways`; a page that is 500 deep has nine."""
    ways = []
    while parents.any():
        ways.append(parents)
        parents = parents.take(parents)
    return tuple(ways)


def _inherited(bits: NDArray[np.int64], ways: Sequence[NDArray[np.intp]]) -> NDArray[np.int64]:
    """The bits of each element with those of all around it.

    Each round takes what the element as far up as all rounds before together has gathered.
    """
    for way in ways:
        bits = bits | bits.take(way)
    return bits


def _depths(ways: Sequence[NDArray[np.intp]], count: int) -> NDArray[np.intp]:
    """How many elements are around each, in rounds as above."""
    depths = np.ones(count, np.intp)
    depths[0] = 0
    for way in ways:
        depths += depths.take(way)
    return depths


def _wider(parents: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The nearest element around each that holds more blocks."""
    widest_alike = np.where(sizes.take(parents) == sizes, parents, np.arange(len(parents)))
    while True:
        further = widest_alike.take(widest_alike)
        if (further == widest_alike).all():
            return parents.take(further)
        widest_alike = further
