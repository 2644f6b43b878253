# cython: annotation_typing=True
"""The elements around a page's blocks, as arrays, made from the outline that the segmenter produces.

An element holds the blocks from `first` to `end`, so all that features need of a container is a difference of two
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
    find = _find_in_loops if cython.compiled else _find_in_rounds
    parents, tags, holders = as_array(outline.parents), np.frombuffer(outline.tags, np.uint8), segments.holders
    return find(
        first,
        end,
        parents,
        tags,
        as_array(holders),
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


@cython.boundscheck(False)
@cython.wraparound(False)
def _find_in_loops(
    first_of: NDArray[np.intp],
    end_of: NDArray[np.intp],
    parents_of: NDArray[np.intp],
    tags_of: NDArray[np.uint8],
    holders_of: NDArray[np.intp],
    *,
    pictures: NDArray[np.intp],
    text_nodes: NDArray[np.intp],
) -> Containers:
    """The elements that hold text, one after the other: parents come before their children."""
    all_first = cython.declare(cython.const[cython.Py_ssize_t][::1], first_of)
    all_end = cython.declare(cython.const[cython.Py_ssize_t][::1], end_of)
    all_parents = cython.declare(cython.const[cython.Py_ssize_t][::1], parents_of)
    all_tags = cython.declare(cython.const[cython.uchar][::1], tags_of)
    all_holders = cython.declare(cython.const[cython.Py_ssize_t][::1], holders_of)
    bits = cython.declare(cython.const[cython.longlong][::1], _BITS)
    number: cython.Py_ssize_t[::1] = np.zeros(len(first_of), np.intp)
    column_of_tag: cython.Py_ssize_t[::1] = np.zeros(len(TAGS), np.intp)
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    columns: cython.Py_ssize_t = 0  # one for each tag of the page
    for i in range(all_first.shape[0]):
        if all_end[i] > all_first[i]:
            number[i] = count
            count += 1
            if column_of_tag[all_tags[i]] == 0:
                columns += 1
                column_of_tag[all_tags[i]] = columns
    kept, parents, first, end, wider, depth, alike, siblings = table = np.zeros((8, count), np.intp)
    tags, around, holders = np.empty(count, np.uint8), np.empty(count, np.int64), np.empty(len(holders_of), np.intp)
    of_kept: cython.Py_ssize_t[:, ::1] = table
    tags_of_kept: cython.uchar[::1] = tags
    bits_of_kept: cython.longlong[::1] = around
    holders_of_blocks: cython.Py_ssize_t[::1] = holders
    # How many elements of each tag each element holds, and how many in all.
    of_tag: cython.Py_ssize_t[:, ::1] = np.zeros((count, columns + 1), np.intp)
    deepest: cython.Py_ssize_t = 0
    parent: cython.Py_ssize_t
    k: cython.Py_ssize_t = 0
    for i in range(all_first.shape[0]):
        if all_end[i] <= all_first[i]:
            continue
        parent = number[all_parents[i]]
        of_kept[0, k], of_kept[1, k], of_kept[2, k], of_kept[3, k] = i, parent, all_first[i], all_end[i]
        tags_of_kept[k] = all_tags[i]
        bits_of_kept[k] = bits[all_tags[i]]
        if k:
            # The nearest that holds more blocks: the parent, or where it holds as many, the same as for the parent.
            if of_kept[3, parent] - of_kept[2, parent] != all_end[i] - all_first[i]:
                of_kept[4, k] = parent
            else:
                of_kept[4, k] = of_kept[4, parent]
            of_kept[5, k] = of_kept[5, parent] + 1
            deepest = max(deepest, of_kept[5, k])
            bits_of_kept[k] |= bits_of_kept[parent]
        of_tag[parent, 0] += 1
        of_tag[parent, column_of_tag[all_tags[i]]] += 1
        k += 1
    for k in range(count):
        parent = of_kept[1, k]
        of_kept[6, k] = of_tag[parent, column_of_tag[tags_of_kept[k]]]
        of_kept[7, k] = of_tag[parent, 0]
    for i in range(all_holders.shape[0]):
        holders_of_blocks[i] = number[all_holders[i]]
    return Containers(
        parents=parents,
        jumps=_jumps(parents, deepest),
        tags=tags,
        first=first,
        end=end,
        wider=wider,
        depth=depth,
        around=around,
        alike=alike,
        siblings=siblings,
        numbers=kept,
        holders=holders,
        pictures=pictures,
        text_nodes=text_nodes,
    )


@cython.boundscheck(False)
@cython.wraparound(False)
def _jumps(parents: NDArray[np.intp], deepest: int) -> tuple[NDArray[np.intp], ...]:
    """Jump pointers; see `Containers`. A page that is 500 deep has nine."""
    jumps: list[NDArray[np.intp]] = []
    reach = 1
    while reach < deepest:
        jumps.append(parents)
        parents = parents.take(parents)
        reach *= 2
    return tuple(jumps)


def _find_in_rounds(
    first: NDArray[np.intp],
    end: NDArray[np.intp],
    parents: NDArray[np.intp],
    tags: NDArray[np.uint8],
    holders: NDArray[np.intp],
    *,
    pictures: NDArray[np.intp],
    text_nodes: NDArray[np.intp],
) -> Containers:
    """The elements that hold text, all at once, in rounds as in `Containers.inherit`."""
    kept = (end > first).nonzero()[0]
    number = np.zeros(len(first), np.intp)
    number[kept] = np.arange(len(kept))
    parents, first, end, tags = number.take(parents.take(kept)), first.take(kept), end.take(kept), tags.take(kept)
    jumps: list[NDArray[np.intp]] = []
    ancestors = parents
    while ancestors.any():  # a page that is 500 deep has nine
        jumps.append(ancestors)
        ancestors = ancestors.take(ancestors)
    depth, around = np.ones(len(parents), np.intp), _BITS.take(tags)
    depth[0] = 0
    for jump in jumps:
        depth += depth.take(jump)
        around |= around.take(jump)
    beside = _numbered_pairs(parents, tags)
    return Containers(
        parents=parents,
        jumps=tuple(jumps),
        tags=tags,
        first=first,
        end=end,
        wider=_wider(parents, end - first),
        depth=depth,
        around=around,
        alike=np.bincount(beside).take(beside),
        siblings=np.bincount(parents).take(parents),
        numbers=kept,
        holders=number.take(holders),
        pictures=pictures,
        text_nodes=text_nodes,
    )


def _numbered_pairs(parents: NDArray[np.intp], tags: NDArray[np.uint8]) -> NDArray[np.intp]:
    """A number for each pair of a parent and a tag; small ones, since few of the tags are on one page."""
    is_there = np.zeros(len(TAGS), np.intp)
    is_there[tags] = 1
    of_page = is_there.cumsum()
    pairs: NDArray[np.intp] = parents * int(of_page[-1])
    pairs += (of_page - 1).take(tags)
    return pairs


def _wider(parents: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The nearest element around each that holds more blocks."""
    widest_alike = np.where(sizes.take(parents) == sizes, parents, np.arange(len(parents)))
    while True:
        further = widest_alike.take(widest_alike)
        if (further == widest_alike).all():
            return parents.take(further)
        widest_alike = further
