# cython: annotation_typing=True
"""The elements around a page's blocks, as arrays, from the outline that the segmenter's walk leaves behind.

An element holds the blocks from `first` to `end`, and all that is asked about a container is then a difference of two
running sums. Elements without text are left out.
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

import numpy as np

from mainmatter import cython
from mainmatter.html.segment import TAGS
from mainmatter.records import Containers

if cython.compiled and not TYPE_CHECKING:
    import cython

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.html.segment import Segments

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
    """The elements that hold the text of a page."""
    blocks = len(segments.columns.texts)
    if not blocks:
        return Containers.one(0)
    outline = segments.outline
    first, end, pictures = map(as_array, (outline.first, outline.end, outline.pictures))
    if not isinstance(segments.numbers, range):  # some texts were joined, or dropped
        numbers = as_array(segments.numbers)
        first, end, pictures = (np.searchsorted(numbers, places) for places in (first, end, pictures))
    kept = (end > first).nonzero()[0]
    number = np.zeros(len(first), np.intp)
    number[kept] = np.arange(len(kept))
    parents, first, end = number.take(as_array(outline.parents).take(kept)), first.take(kept), end.take(kept)
    tags = np.frombuffer(outline.tags, np.uint8).take(kept)
    jumps: list[NDArray[np.intp]] = []
    ancestors = parents
    while ancestors.any():  # a page that is 500 deep has nine
        jumps.append(ancestors)
        ancestors = ancestors.take(ancestors)
    relate = _relate_in_loops if cython.compiled else _relate_in_rounds
    wider, depth, around, alike, siblings = relate(parents, end - first, tags, jumps)
    return Containers(
        parents=parents,
        jumps=tuple(jumps),
        tags=tags,
        first=first,
        end=end,
        wider=wider,
        depth=depth,
        around=around,
        alike=alike,
        siblings=siblings,
        numbers=kept,
        holders=number.take(as_array(segments.holders)),
        pictures=np.bincount(pictures, minlength=blocks)[:blocks],
        text_nodes=as_array(segments.end_nodes) - as_array(segments.first_nodes),
    )


@cython.boundscheck(False)
@cython.wraparound(False)
def as_array(numbers: Sequence[int]) -> NDArray[np.intp]:
    """Numbers as an array that is not to be changed, in the fastest way that there is for a list of some hundred."""
    if not cython.compiled or not isinstance(numbers, list):
        return np.frombuffer(pack(f"{len(numbers)}n", *numbers), np.intp)
    array = np.empty(len(numbers), np.intp)
    view: cython.Py_ssize_t[::1] = array
    i: cython.Py_ssize_t
    for i in range(view.shape[0]):
        view[i] = numbers[i]
    return array


def unpack(bits: NDArray[np.int64], count: int) -> NDArray[np.uint8]:
    """The first `count` bits of each number: one row a bit, one column a number."""
    planes = bits.astype("<i8", copy=False).view(np.uint8).reshape(-1, 8).T[: -(-count // 8)]
    return np.unpackbits(planes, axis=0, count=count, bitorder="little")


# How the elements stand to each other: the nearest that holds more blocks, depth, what is around, how many are alike,
# how many are siblings (see `Containers`).
_Relations = tuple["NDArray[np.intp]", "NDArray[np.intp]", "NDArray[np.int64]", "NDArray[np.intp]", "NDArray[np.intp]"]


@cython.boundscheck(False)
@cython.wraparound(False)
def _relate_in_loops(
    parents_of: NDArray[np.intp], sizes_of: NDArray[np.intp], tags_of: NDArray[np.uint8], _jumps: object
) -> _Relations:
    """How elements stand to each other, one after the other: parents come before their children."""
    count: cython.Py_ssize_t = len(parents_of)
    numbered = _numbered_pairs(parents_of, tags_of)
    table = np.zeros((4, count), np.intp)
    numbers_of_bits, how_many = np.empty(count, np.int64), np.zeros(int(numbered.max()) + 1, np.intp)
    parents = cython.declare(cython.const[cython.Py_ssize_t][::1], parents_of)
    sizes = cython.declare(cython.const[cython.Py_ssize_t][::1], sizes_of)
    tags = cython.declare(cython.const[cython.uchar][::1], tags_of)
    pairs = cython.declare(cython.const[cython.Py_ssize_t][::1], numbered)
    bits = cython.declare(cython.const[cython.longlong][::1], _BITS)
    around: cython.longlong[::1] = numbers_of_bits
    of_pair: cython.Py_ssize_t[::1] = how_many
    related: cython.Py_ssize_t[:, ::1] = table  # wider, depth, alike, siblings
    i: cython.Py_ssize_t
    parent: cython.Py_ssize_t
    around[0] = bits[tags[0]]
    for i in range(1, count):
        parent = parents[i]
        related[0, i] = parent if sizes[parent] != sizes[i] else related[0, parent]
        related[1, i] = related[1, parent] + 1
        around[i] = bits[tags[i]] | around[parent]
    for i in range(count):
        of_pair[pairs[i]] += 1
        related[2, parents[i]] += 1
    for i in range(count):
        related[3, i] = related[2, parents[i]]
    for i in range(count):
        related[2, i] = of_pair[pairs[i]]
    return table[0], table[1], numbers_of_bits, table[2], table[3]


def _relate_in_rounds(
    parents: NDArray[np.intp],
    sizes: NDArray[np.intp],
    tags: NDArray[np.uint8],
    jumps: Sequence[NDArray[np.intp]],
) -> _Relations:
    """How elements stand to each other, all at once, in rounds as in `Containers.inherit`."""
    depth, around = np.ones(len(parents), np.intp), _BITS.take(tags)
    depth[0] = 0
    for jump in jumps:
        depth += depth.take(jump)
        around |= around.take(jump)
    widest_alike = np.where(sizes.take(parents) == sizes, parents, np.arange(len(parents)))
    while not ((further := widest_alike.take(widest_alike)) == widest_alike).all():
        widest_alike = further
    pairs = _numbered_pairs(parents, tags)
    alike, siblings = np.bincount(pairs).take(pairs), np.bincount(parents).take(parents)
    return parents.take(widest_alike), depth, around, alike, siblings


def _numbered_pairs(parents: NDArray[np.intp], tags: NDArray[np.uint8]) -> NDArray[np.intp]:
    """A number for each pair of a parent and a tag; small ones, since few of the tags are on one page."""
    is_there = np.zeros(len(TAGS), np.intp)
    is_there[tags] = 1
    of_page = is_there.cumsum()
    pairs: NDArray[np.intp] = parents * int(of_page[-1])
    pairs += (of_page - 1).take(tags)
    return pairs
