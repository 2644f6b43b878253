"""The containers around a page's blocks, as arrays: from the outline that the segmenter's walk leaves behind.

An element holds the blocks from `first` to `end`; all that is asked about a container is then a difference of two
running sums. Elements without text are left out.
"""

from __future__ import annotations

from itertools import compress, count, repeat
from operator import itemgetter
from struct import pack
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.html.parse import Element
from mainmatter.html.segments import TAGS
from mainmatter.records import Containers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mainmatter.html.segments import Segments

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


def find_containers(segments: Segments) -> Containers:
    """The containers of a page."""
    blocks = len(segments.columns.texts)
    if not blocks:
        return Containers.one(0)
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
    around = _BITS.take(tags)
    for way in ways:  # see `Containers.inherit`
        around = around | around.take(way)
    beside = _numbered_pairs(parents, tags)
    return Containers(
        parents=parents,
        ways=ways,
        tags=tags,
        first=first,
        end=end,
        wider=_wider(parents, end - first),
        depth=_depths(ways, len(parents)),
        around=around,
        alike=np.bincount(beside).take(beside),
        siblings=np.bincount(parents).take(parents),
        numbers=kept,
        holders=number.take(as_array(segments.holders)),
        pictures=np.bincount(pictures, minlength=blocks)[:blocks],
        text_nodes=as_array(segments.end_nodes) - as_array(segments.first_nodes),
    )


def find_names(segments: Segments, containers: Containers) -> list[str]:
    """The class and the id of each container as they stand, with a space between if it has both."""
    if len(containers.numbers) == 1:  # an empty page
        return [""]
    # Loops of the interpreter's own, since a page has some hundred elements.
    elements: Sequence[Any] = itemgetter(*containers.numbers.tolist())(segments.outline.elements)[1:]
    attribute: Callable[[Any, str, str], str] = Element.attr  # type: ignore[assignment] # never None with a default
    names = ["", *map(attribute, elements, repeat("class"), repeat(""))]
    ids = list(map(attribute, elements, repeat("id"), repeat("")))
    for number in compress(count(1), ids):  # few have one
        names[number] = f"{names[number]} {ids[number - 1]}"
    return names


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


def _ways_up(parents: NDArray[np.intp]) -> tuple[NDArray[np.intp], ...]:
    """See `Containers.ways`; a page that is 500 deep has nine."""
    ways = []
    while parents.any():
        ways.append(parents)
        parents = parents.take(parents)
    return tuple(ways)


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
