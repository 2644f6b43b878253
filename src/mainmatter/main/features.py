# cython: annotation_typing=True
"""What `main` sees of each block: its looks, the containers around it, the page, and where the page's anchors are.

Nothing here reads words: lengths, links, marks, tags and places are the same signals in every language. They come from
the papers: length, links and headings (ICE 3.2), tags and depth (FIASCO 3.2), density of text and the region around
the longest one (Density 4), what kinds of characters there are (NCleaner 3.3), closeness to the page's title (ICE 3.4).
The tree comes from the outline that the segmenter produces. The classes of characters need no language either:
letters, capitals, digits, and marks that end or divide sentences in any script.

A page has some hundred blocks. Compiled, all columns are filled by loops (`_describe_in_loops`). In Python, array
operations fill them column by column (`_Description`). Both give the same numbers, to the last bit: logarithms and
hyperbolic tangents are numpy's in both, and running sums have the same order.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, compress, product
from math import log1p
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mainmatter import cython
from mainmatter.html.containers import AROUND, as_array, unpack
from mainmatter.main.names import CALLED
from mainmatter.records import Kind

if cython.compiled and not TYPE_CHECKING:
    import cython

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.records import Containers, Document

LEVELS = 5  # how many ever wider containers around a block are looked at
LETTERS_PER_WIDE_CHARACTER = 2.5  # a Chinese character says as much as so many letters
_SHORT = 25  # characters: what is shorter is no running text
_MIN_LENGTH_IN_TITLE = 3  # characters: what is shorter stands in any title by chance
MIN_SHARE_OF_TITLE = 0.2  # of the page's title: what holds a smaller part of it is no headline

_KINDS = tuple(Kind)
_HEADING, _PARAGRAPH = _KINDS.index(Kind.HEADING), _KINDS.index(Kind.PARAGRAPH)
# By identity, because an enum's members take ten times as long to hash.
_NUMBER_OF_KIND = {id(kind): number for number, kind in enumerate(_KINDS)}
_LOOKS = (*(f"kind_{kind.value}" for kind in _KINDS), "h1", "h2", "h3", "control")
_LEVELS_OF_HEADINGS = 7  # 0 is no heading
# One column for each kind, level and control, in this order; one row for each of the looks.
_LOOK_TABLE = np.array(
    [
        [*(kind is each for each in _KINDS), *(level == each for each in (1, 2, 3)), control]
        for kind, level, control in product(_KINDS, range(_LEVELS_OF_HEADINGS), (False, True))
    ],
    np.float32,
).T.copy()

_OF_TEXT = (
    "chars", "link_share", "links", "digits", "capitals", "stops", "commas", "marks", "spaces", "stop_count",
    "comma_count", "ends_with_stop", "ends_with_comma", "begins_with_capital", "begins_with_digit",
)  # fmt: skip
_OF_PLACE = (
    "place", "chars_before", "text_nodes", "gap_before", "gap_after", "pictures", "copies", "copy_before", "in_title",
    "depth", "relative_depth", "siblings", "alike",
)  # fmt: skip
_OF_CONTAINER = (
    "chars", "link_share", "blocks", "mean_chars", "page_share", "stops", "headings", "pictures", "place", "alike",
)  # fmt: skip
_OF_ANCHORS = (
    "longest_level", "longest_side", "longest_ratio", "title_level", "title_side", "in_top", "top_1", "top_2", "top_3",
    "top_side",
)  # fmt: skip
_OF_PAGE = (
    "page_blocks", "page_chars", "page_link_share", "page_longest", "page_paragraph_share", "page_stops",
    "page_headings", "page_pictures", "page_depth", "page_controls", "page_has_title", "page_top_share",
    "page_top_blocks",
)  # fmt: skip
COLUMNS = (
    *_OF_TEXT,
    *_LOOKS,
    *_OF_PLACE,
    *(f"in_{tags.split()[0]}" for tags in AROUND),
    *(f"container_{level}_{name}" for name in _OF_CONTAINER for level in range(1, LEVELS + 1)),
    *_OF_ANCHORS,
    *_OF_PAGE,
)


# Where each group of columns begins.
_FIRST_OF_TEXT = cython.declare(cython.Py_ssize_t, COLUMNS.index("chars"))
_FIRST_OF_LOOKS = cython.declare(cython.Py_ssize_t, COLUMNS.index("kind_heading"))
_FIRST_OF_PLACE = cython.declare(cython.Py_ssize_t, COLUMNS.index("place"))
_FIRST_OF_TAGS = cython.declare(cython.Py_ssize_t, COLUMNS.index("in_ul"))
_FIRST_OF_CONTAINERS = cython.declare(cython.Py_ssize_t, COLUMNS.index("container_1_chars"))
_FIRST_OF_ANCHORS = cython.declare(cython.Py_ssize_t, COLUMNS.index("longest_level"))
_FIRST_OF_PAGE = cython.declare(cython.Py_ssize_t, COLUMNS.index("page_blocks"))

# Classes of characters: what is counted, and last what is not.
LETTER, CAPITAL, DIGIT, STOP, COMMA, MARK, SPACE, WIDE, OTHER = range(9)
COUNTED = 8

_TABLE_SIZE = 0x10000  # characters in the table; all beyond are taken for the last one, which is a letter
_FIELD, _FULL = np.dtype("<u2"), 0x10000  # a field of the sums, and what it cannot count
_STOPS = ".!?…。！？؟।"
_COMMAS = ",;:，、；：،؛"
_WITHOUT_CATEGORY = (0xD800, 0xF8FF)  # surrogates and private use
# Scripts that put no spaces between words, where one character says as much as several letters; and Hangul.
_WIDE_RANGES = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF))


@dataclass(frozen=True, slots=True)
class PageFeatures:
    """A page as the net sees it.

    Attributes:
        dense: one row a block, one column for each of `COLUMNS`; then, if asked for, one for each of `CALLED`.
        sizes: how much each block says, in letters.
        around: for each block its element and `LEVELS` ever wider containers, as numbers of `containers`.
        containers: the elements that hold text.
        vectors: what the containers are called, one row each; without any column if that was not asked for.
        columns: the names of the columns, less `CALLED`.
    """

    dense: NDArray[np.float32]
    sizes: NDArray[np.float64]
    around: NDArray[np.intp]
    containers: Containers
    vectors: NDArray[np.float32]
    columns: tuple[str, ...] = COLUMNS


def describe_blocks(
    document: Document, bits: NDArray[np.int64] | None = None, vectors: NDArray[np.float32] | None = None
) -> PageFeatures:
    """Describe all blocks of a document.

    Args:
        document: the page.
        bits: of the names of each container (main/names.py); without them there are no columns for `CALLED`.
        vectors: of the names of each container, for the net.
    """
    containers = document.containers
    rows = np.empty((len(COLUMNS) if bits is None else len(COLUMNS) + len(CALLED), len(document)), np.float32)
    if vectors is None:
        vectors = np.zeros((len(containers.first), 0), np.float32)
    if not len(document):
        return PageFeatures(rows.T, np.zeros(0), np.zeros((0, LEVELS + 1), np.intp), containers, vectors)
    if bits is not None:
        if cython.compiled:
            _add_called(containers, bits, rows)
        else:
            rows[len(COLUMNS) :] = unpack(containers.inherit(bits).take(containers.holders), len(CALLED))
    if cython.compiled:
        sizes, around = _describe_in_loops(document, rows)
    else:
        page = _Description(document, rows)
        sizes, around = page.sizes, page.around
    return PageFeatures(rows.T, sizes, around.T, containers, vectors)


@cython.boundscheck(False)
@cython.wraparound(False)
def _add_called(containers: Containers, bits_of: NDArray[np.int64], rows_of_columns: NDArray[np.float32]) -> None:
    """Fill the columns for `CALLED`: what the elements around each block are called, where this file is compiled."""
    bits = cython.declare(cython.const[cython.longlong][::1], bits_of)
    parents = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.parents)
    holders = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.holders)
    inherited: cython.longlong[::1] = np.empty(len(bits_of), np.int64)
    of_blocks: cython.longlong[::1] = np.empty(len(containers.holders), np.int64)
    rows: cython.float[:, ::1] = rows_of_columns
    first: cython.Py_ssize_t = len(COLUMNS)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    inherited[0] = bits[0]
    for i in range(1, bits.shape[0]):  # parents come before their children
        inherited[i] = bits[i] | inherited[parents[i]]
    for i in range(holders.shape[0]):
        of_blocks[i] = inherited[holders[i]]
    for j in range(rows.shape[0] - first):
        for i in range(holders.shape[0]):
            rows[first + j, i] = (of_blocks[i] >> j) & 1


@cython.boundscheck(False)
@cython.wraparound(False)
@cython.cdivision(True)
def _describe_in_loops(  # noqa: C901, PLR0912, PLR0915 - one loop after the other, as in `_Description`
    document: Document, rows_of_columns: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Fill the columns of a page as `_Description` does, where this file is compiled; returns `sizes` and `around`."""
    columns, containers = document.columns, document.containers
    texts: list[str] = columns.texts
    kinds: list[Kind] = columns.kinds
    levels: list[int] = columns.levels
    controls: list[bool] = columns.controls
    positions: list[int] = columns.positions
    link_chars: list[int] = columns.link_chars
    link_counts: list[int] = columns.link_counts
    count: cython.Py_ssize_t = len(texts)
    n: cython.Py_ssize_t = len(containers.first)
    rows: cython.float[:, ::1] = rows_of_columns
    holders = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.holders)
    first = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.first)
    end = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.end)
    wider = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.wider)
    depths = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.depth)
    alike = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.alike)
    siblings = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.siblings)
    pictures = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.pictures)
    text_nodes = cython.declare(cython.const[cython.Py_ssize_t][::1], containers.text_nodes)
    bits = cython.declare(cython.const[cython.longlong][::1], containers.around)
    # What the loops compare with, as numbers of C.
    letter: cython.Py_ssize_t = LETTER
    capital: cython.Py_ssize_t = CAPITAL
    digit: cython.Py_ssize_t = DIGIT
    stop: cython.Py_ssize_t = STOP
    comma: cython.Py_ssize_t = COMMA
    space: cython.Py_ssize_t = SPACE
    wide: cython.Py_ssize_t = WIDE
    counted: cython.Py_ssize_t = COUNTED
    last_code: cython.long = _TABLE_SIZE - 1
    per_wide: cython.double = LETTERS_PER_WIDE_CHARACTER
    least_in_title: cython.Py_ssize_t = _MIN_LENGTH_IN_TITLE
    kinds_in_all: cython.Py_ssize_t = len(_KINDS)
    heading: cython.Py_ssize_t = _HEADING
    paragraph: cython.Py_ssize_t = _PARAGRAPH
    groups_of_tags: cython.Py_ssize_t = len(AROUND)
    all_levels: cython.Py_ssize_t = LEVELS
    facts_of_containers: cython.Py_ssize_t = len(_OF_CONTAINER)
    short: cython.double = _SHORT
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    c: cython.Py_ssize_t
    level: cython.Py_ssize_t
    row: cython.Py_ssize_t

    # Texts: sizes, and what is counted in them.
    sizes_of_blocks = np.empty(count)
    sizes: cython.double[::1] = sizes_of_blocks
    numbers_of_blocks = np.empty((4, count))
    link_share: cython.double[::1] = numbers_of_blocks[0]
    in_title: cython.double[::1] = numbers_of_blocks[1]
    free: cython.double[::1] = numbers_of_blocks[2]
    lengths: cython.double[::1] = numbers_of_blocks[3]
    marks: cython.Py_ssize_t[:, ::1] = np.zeros((3, count), np.intp)  # stops, commas; 1 for a heading
    # What log1p is taken of, all at once.
    to_log = np.empty((9, count))
    logs: cython.double[:, ::1] = to_log
    title: str = document.title
    length_of_title: cython.Py_ssize_t = len(title)
    classes = cython.declare(cython.const[cython.uchar][::1], _tables()[0])
    tally: cython.Py_ssize_t[::1] = np.zeros(COUNTED + 1, np.intp)
    text: str
    length: cython.Py_ssize_t
    number: cython.Py_ssize_t
    begins: cython.Py_ssize_t
    ends: cython.Py_ssize_t
    position: cython.Py_ssize_t
    last_position: cython.Py_ssize_t = 0
    letters: cython.double
    size: cython.double
    sum_of_depths: cython.Py_ssize_t = 0
    controlled: cython.Py_ssize_t = 0
    of_paragraphs: cython.double = 0.0
    first_place: dict[str, int] = {}
    places: cython.Py_ssize_t[::1] = np.empty(count, np.intp)
    for i in range(count):
        text = texts[i]
        length = len(text)
        for j in range(counted + 1):
            tally[j] = 0
        begins = ends = 0
        for j in range(length):
            ends = classes[min(ord(text[j]), last_code)]
            tally[ends] += 1
            if j == 0:
                begins = ends
        lengths[i] = length
        size = sizes[i] = length + (per_wide - 1) * tally[wide]
        marks[0, i], marks[1, i] = tally[stop], tally[comma]
        link_share[i] = cython.cast(cython.Py_ssize_t, link_chars[i]) / lengths[i]
        free[i] = (1 - link_share[i]) * size
        letters = max(tally[letter] + tally[capital] + tally[wide], 1)
        rows[_FIRST_OF_TEXT + 1, i] = link_share[i]
        rows[_FIRST_OF_TEXT + 3, i] = tally[digit] / lengths[i]
        rows[_FIRST_OF_TEXT + 4, i] = tally[capital] / letters
        for j in range(stop, space + 1):
            rows[_FIRST_OF_TEXT + 5 + j - stop, i] = tally[j] / lengths[i]
        rows[_FIRST_OF_TEXT + 11, i] = ends == stop
        rows[_FIRST_OF_TEXT + 12, i] = ends == comma
        rows[_FIRST_OF_TEXT + 13, i] = begins == capital
        rows[_FIRST_OF_TEXT + 14, i] = begins == digit
        # Looks.
        number = _NUMBER_OF_KIND[id(kinds[i])]
        level = levels[i]
        for row in range(kinds_in_all):
            rows[_FIRST_OF_LOOKS + row, i] = row == number
        for row in range(1, 4):
            rows[_FIRST_OF_LOOKS + kinds_in_all + row - 1, i] = row == level
        rows[_FIRST_OF_LOOKS + kinds_in_all + 3, i] = 1 if controls[i] else 0
        if controls[i]:
            controlled += 1
        if number == heading:
            marks[2, i] = 1
        elif number == paragraph:
            of_paragraphs += size
        # The title, copies.
        in_title[i] = 0
        if least_in_title <= length <= length_of_title and text in title:
            in_title[i] = lengths[i] / length_of_title
        places[i] = first_place.setdefault(text, i)
        # Places.
        c = holders[i]
        position = positions[i]
        sum_of_depths += depths[c]
        logs[0, i], logs[1, i], logs[2, i], logs[3, i] = size, link_counts[i], tally[stop], tally[comma]
        logs[4, i], logs[5, i], logs[6, i] = text_nodes[i], position - last_position, pictures[i]
        logs[7, i], logs[8, i] = siblings[c], alike[c]
        last_position = position
    np.log1p(to_log, out=to_log)

    # Running sums over all rows as over one; only differences within a row are used.
    before: cython.double[:, ::1] = np.empty((7, count + 1))
    running: cython.double = 0.0
    for row in range(7):
        before[row, 0] = running
        for i in range(count):
            if row == 0:
                running += sizes[i]
            elif row == 1:
                running += cython.cast(cython.Py_ssize_t, link_chars[i])
            elif row == 2:
                running += lengths[i]
            elif row == 3:
                running += logs[0, i]
            elif row == 4:
                running += marks[0, i]
            elif row == 5:
                running += marks[2, i]
            else:
                running += pictures[i]
            before[row, i + 1] = running
    total: cython.double = before[0, count] - before[0, 0]

    # The columns that had to wait for the logarithms and sums.
    mean_depth: cython.double = cython.cast(cython.double, sum_of_depths) / count
    longest: cython.Py_ssize_t = 0
    headline: cython.Py_ssize_t = 0
    longest_size: cython.double = logs[0, 0]
    has_copies: cython.bint = len(first_place) < count
    for i in range(count):
        c = holders[i]
        rows[_FIRST_OF_TEXT, i], rows[_FIRST_OF_TEXT + 2, i] = logs[0, i], logs[1, i]
        rows[_FIRST_OF_TEXT + 9, i], rows[_FIRST_OF_TEXT + 10, i] = logs[2, i], logs[3, i]
        rows[_FIRST_OF_PLACE, i] = (i + 0.5) / count
        rows[_FIRST_OF_PLACE + 1, i] = before[0, i] / total
        rows[_FIRST_OF_PLACE + 2, i], rows[_FIRST_OF_PLACE + 3, i] = logs[4, i], logs[5, i]
        rows[_FIRST_OF_PLACE + 4, i] = logs[5, i + 1] if i + 1 < count else 0
        rows[_FIRST_OF_PLACE + 5, i] = logs[6, i]
        rows[_FIRST_OF_PLACE + 6, i] = rows[_FIRST_OF_PLACE + 7, i] = 0
        rows[_FIRST_OF_PLACE + 8, i] = in_title[i]
        rows[_FIRST_OF_PLACE + 9, i] = depths[c] / 10.0
        rows[_FIRST_OF_PLACE + 10, i] = (depths[c] - mean_depth) / 5
        rows[_FIRST_OF_PLACE + 11, i], rows[_FIRST_OF_PLACE + 12, i] = logs[7, i], logs[8, i]
        for j in range(groups_of_tags):
            rows[_FIRST_OF_TAGS + j, i] = (bits[c] >> j) & 1
        if free[i] > free[longest]:
            longest = i
        if in_title[i] * (1 + marks[2, i]) > in_title[headline] * (1 + marks[2, headline]):
            headline = i
        longest_size = max(longest_size, logs[0, i])
    if has_copies:
        places_of_blocks = np.asarray(places)
        rows_of_columns[_FIRST_OF_PLACE + 6] = np.log(np.bincount(places_of_blocks).take(places_of_blocks))
        for i in range(count):
            rows[_FIRST_OF_PLACE + 7, i] = places[i] < i

    # How dense the text is in ever wider containers.
    to_log = np.empty((3, n))
    logs_of_containers: cython.double[:, ::1] = to_log
    for c in range(n):
        logs_of_containers[0, c] = before[0, end[c]] - before[0, first[c]]
        logs_of_containers[1, c] = end[c] - first[c]
        logs_of_containers[2, c] = alike[c]
    np.log1p(to_log, out=to_log)
    around_of_blocks = np.empty((LEVELS + 1, count), np.intp)
    around: cython.Py_ssize_t[:, ::1] = around_of_blocks
    of_containers: cython.float[:, ::1] = np.empty((len(_OF_CONTAINER) - 1, n), np.float32)
    link_shares: cython.double[::1] = np.empty(n)
    blocks: cython.double
    chars: cython.double
    deepest: cython.Py_ssize_t = 0
    for c in range(n):
        blocks = end[c] - first[c]
        chars = before[0, end[c]] - before[0, first[c]]
        link_shares[c] = (before[1, end[c]] - before[1, first[c]]) / max(before[2, end[c]] - before[2, first[c]], 1.0)
        of_containers[0, c] = logs_of_containers[0, c]
        of_containers[1, c] = link_shares[c]
        of_containers[2, c] = logs_of_containers[1, c]
        of_containers[3, c] = (before[3, end[c]] - before[3, first[c]]) / blocks
        of_containers[4, c] = chars / total
        of_containers[5, c] = 30 * (before[4, end[c]] - before[4, first[c]]) / max(chars, 1.0)
        of_containers[6, c] = (before[5, end[c]] - before[5, first[c]]) / blocks
        of_containers[7, c] = (before[6, end[c]] - before[6, first[c]]) / blocks
        of_containers[8, c] = logs_of_containers[2, c]
        deepest = max(deepest, depths[c])
    for i in range(count):
        # An element that holds no other block is passed over: the nearest container is the first that is wider.
        c = around[0, i] = holders[i]
        if end[c] - first[c] == 1:
            c = wider[c]
        for level in range(1, all_levels + 1):
            around[level, i] = c
            c = wider[c]
    for level in range(all_levels):
        for j in range(facts_of_containers - 2):
            row = _FIRST_OF_CONTAINERS + j * all_levels + level
            for i in range(count):
                rows[row, i] = of_containers[j, around[level + 1, i]]
        row = _FIRST_OF_CONTAINERS + (facts_of_containers - 2) * all_levels + level
        for i in range(count):
            c = around[level + 1, i]
            rows[row, i] = cython.cast(cython.double, i - first[c]) / (end[c] - first[c])
            rows[row + all_levels, i] = of_containers[8, c]

    # How near the block is to the anchors.
    worth: cython.double[:, ::1] = np.zeros((2, n))
    says: cython.double
    for i in range(count):
        if free[i] > short and cython.cast(cython.Py_ssize_t, link_chars[i]) < 0.5 * lengths[i]:
            says = 1 + marks[1, i] + min(free[i] / 100, 3.0)
            worth[0, around[1, i]] += says
            worth[1, around[2, i]] += says
    top: cython.Py_ssize_t = 0
    for c in range(n):
        worth[0, c] = (worth[0, c] + 0.5 * worth[1, c]) * (1 - link_shares[c])
        if worth[0, c] > worth[0, top]:
            top = c
    highest: cython.double = max(worth[0, top], 1e-6)
    has_headline: cython.bint = in_title[headline] > MIN_SHARE_OF_TITLE
    top_first: cython.Py_ssize_t = first[top]
    top_end: cython.Py_ssize_t = end[top]
    to_tanh = np.empty((3, count))
    sides: cython.double[:, ::1] = to_tanh
    off_top: cython.Py_ssize_t
    misses: cython.Py_ssize_t
    misses_title: cython.Py_ssize_t
    for i in range(count):
        off_top = i - min(max(i, top_first), top_end - 1)
        sides[0, i] = (i - longest) / 20.0
        sides[1, i] = (i - headline) / 10.0
        sides[2, i] = off_top / 20.0
        misses = misses_title = 0
        for level in range(all_levels + 1):
            c = around[level, i]
            misses += first[c] > longest or end[c] <= longest
            misses_title += first[c] > headline or end[c] <= headline
        rows[_FIRST_OF_ANCHORS, i] = cython.cast(cython.double, misses) / (all_levels + 1)
        rows[_FIRST_OF_ANCHORS + 2, i] = logs[0, i] - logs[0, longest]
        rows[_FIRST_OF_ANCHORS + 3, i] = (
            cython.cast(cython.double, misses_title) / (all_levels + 1) if has_headline else 0
        )
        rows[_FIRST_OF_ANCHORS + 5, i] = off_top == 0
        for j in range(3):
            rows[_FIRST_OF_ANCHORS + 6 + j, i] = worth[0, around[1 + j, i]] / highest
    np.tanh(to_tanh, out=to_tanh)
    for i in range(count):
        rows[_FIRST_OF_ANCHORS + 1, i] = sides[0, i]
        rows[_FIRST_OF_ANCHORS + 4, i] = sides[1, i] if has_headline else 0
        rows[_FIRST_OF_ANCHORS + 9, i] = sides[2, i]
    of_page = (
        log1p(count),
        log1p(total),
        (before[1, count] - before[1, 0]) / (before[2, count] - before[2, 0]),
        longest_size,
        of_paragraphs / total,
        30 * (before[4, count] - before[4, 0]) / total,
        (before[5, count] - before[5, 0]) / count,
        log1p(before[6, count] - before[6, 0]),
        deepest / 10.0,
        controlled / cython.cast(cython.double, count),
        has_headline,
        (before[0, top_end] - before[0, top_first]) / total,
        log1p(top_end - top_first),
    )
    for j, says in enumerate(of_page):
        for i in range(count):
            rows[_FIRST_OF_PAGE + j, i] = says
    return sizes_of_blocks, around_of_blocks


class _Description:
    """The columns of one page, filled row by row, since a row of one number a block is what numpy is fast at.

    A page has some hundred blocks: what counts is how many operations there are, not on how many numbers.
    """

    def __init__(self, document: Document, rows: NDArray[np.float32]) -> None:
        columns = document.columns
        self.document = document
        self.containers = document.containers
        self.count = len(document)
        self.numbers = np.arange(self.count, dtype=np.float64)
        self.lengths = document.lengths.astype(np.float64)
        self.link_chars = as_array(columns.link_chars)
        self.link_shares = self.link_chars / self.lengths
        self.characters = count_characters(columns.texts, document.lengths)
        self.sizes = self.lengths + (LETTERS_PER_WIDE_CHARACTER - 1) * self.characters.counts[WIDE]
        self.log_sizes = np.log1p(self.sizes)
        self.kinds = np.frombuffer(bytes(map(_NUMBER_OF_KIND.__getitem__, map(id, columns.kinds))), np.uint8)
        self.is_heading = self.kinds == _HEADING
        self.around = _around(self.containers, self.count)
        self.rows = rows
        self.filled = 0
        self._add_text()
        self._add_looks()
        in_title = shares_of_title(document.title, document.columns.texts)
        self._add_places(in_title)
        self._add_containers()
        self._add_anchors_and_page(in_title)
        assert self.filled == len(COLUMNS), "each column of COLUMNS is added once, in its order"

    def _add(self, *rows: object) -> None:
        for row in rows:
            self.rows[self.filled] = row  # type: ignore[call-overload]
            self.filled += 1

    def _add_many(self, rows: NDArray[np.generic]) -> None:
        self.rows[self.filled : self.filled + len(rows)] = rows
        self.filled += len(rows)

    def _add_text(self) -> None:
        """ICE 3.2 and 3.3: length, links, digits, capitals, punctuation."""
        counts, first, last = self.characters
        letters = np.maximum(counts[LETTER] + counts[CAPITAL] + counts[WIDE], 1)
        link_counts = as_array(self.document.columns.link_counts)
        shares = counts[DIGIT : SPACE + 1] / self.lengths  # of digits, stops, commas, marks, spaces
        self._add(self.log_sizes, self.link_shares, np.log1p(link_counts), shares[0], counts[CAPITAL] / letters)
        self._add_many(shares[1:])
        self._add_many(np.log1p(counts[STOP : COMMA + 1]))
        self._add(last == STOP, last == COMMA, first == CAPITAL, first == DIGIT)

    def _add_looks(self) -> None:
        columns = self.document.columns
        levels = np.frombuffer(bytes(columns.levels), np.uint8)
        controls = np.frombuffer(bytes(columns.controls), np.uint8)
        looks = (self.kinds * _LEVELS_OF_HEADINGS + levels) * 2 + controls
        self._add_many(_LOOK_TABLE.take(looks, axis=1))
        self.control_share = columns.controls.count(True) / self.count

    def _add_places(self, in_title: NDArray[np.float64]) -> None:
        """Where the block stands on the page and in the tree (FIASCO 3.2), and whether the page says it twice."""
        containers, holders = self.containers, self.containers.holders
        self.before = np.zeros((7, self.count + 1))
        sums = self.before[:, 1:]
        sums[0], sums[1], sums[2], sums[3] = self.sizes, self.link_chars, self.lengths, self.log_sizes
        sums[4], sums[5], sums[6] = self.characters.counts[STOP], self.is_heading, containers.pictures
        # One running sum over all rows takes a third of the time of seven; only differences within a row are used.
        flat = self.before.ravel()
        np.cumsum(flat, out=flat)
        self.totals = (self.before[:, -1] - self.before[:, 0]).tolist()
        self.total = self.totals[0]
        # The gap after a block is the one before the next.
        positions = as_array(self.document.columns.positions)
        gaps = positions.astype(np.float64)
        gaps[1:] -= positions[:-1]
        np.log1p(gaps, out=gaps)
        depth = containers.depth.take(holders)
        self._add((self.numbers + 0.5) / self.count, self.before[0, :-1] / self.total)
        self._add(np.log1p(containers.text_nodes), gaps, 0, np.log1p(containers.pictures))
        self.rows[self.filled - 2, :-1] = gaps[1:]
        self._add_copies()
        self._add(in_title, depth / 10, (depth - depth.sum() / self.count) / 5)
        self._add(np.log1p(containers.siblings.take(holders)), np.log1p(containers.alike.take(holders)))
        self._add_many(unpack(containers.around.take(holders), len(AROUND)))

    def _add_copies(self) -> None:
        """How often the page has the same text, and whether it came before."""
        texts = self.document.columns.texts
        first_place: dict[str, int] = {}
        places = as_array(list(map(first_place.setdefault, texts, range(self.count))))
        if len(first_place) == self.count:
            self._add(0, 0)
        else:
            self._add(np.log(np.bincount(places).take(places)), places < self.numbers)

    def _add_containers(self) -> None:
        """How dense the text is in ever wider containers (FIASCO 3.2, Density 4)."""
        containers = self.containers
        sums = self.before.take(containers.end, axis=1)
        sums -= self.before.take(containers.first, axis=1)
        blocks = (containers.end - containers.first).astype(np.float64)
        of_containers = np.empty((len(_OF_CONTAINER) - 1, len(blocks)), np.float32)
        self.link_share_of_container = sums[1] / np.maximum(sums[2], 1)
        of_containers[0] = np.log1p(sums[0])
        of_containers[1] = self.link_share_of_container
        of_containers[2] = np.log1p(blocks)
        of_containers[3] = sums[3] / blocks
        of_containers[4] = sums[0] / self.total
        of_containers[5] = 30 * sums[4] / np.maximum(sums[0], 1)
        of_containers[6:8] = sums[5:7] / blocks
        of_containers[8] = np.log1p(containers.alike)
        wider = self.around[1:]
        of_blocks = of_containers.take(wider, axis=1)
        self._add_many(of_blocks[:-1].reshape(-1, self.count))
        self._add_many((self.numbers - containers.first.take(wider)) / blocks.take(wider))
        self._add_many(of_blocks[-1])

    def _add_anchors_and_page(self, in_title: NDArray[np.float64]) -> None:
        """How near the block is to what a reader's eye finds first: the longest text, the headline, the top container.

        The longest text is where Density 4 starts; the top container is the one whose paragraphs say most, as in
        Arc90's Readability: text counts in full for the container next to it and half for the one around that.
        """
        containers = self.containers
        free = (1 - self.link_shares) * self.sizes
        longest = int(free.argmax())
        headline = int((in_title * (1 + self.is_heading)).argmax())
        has_headline = bool(in_title[headline] > MIN_SHARE_OF_TITLE)
        is_text = (free > _SHORT) & (self.link_chars < 0.5 * self.lengths)
        says = (1 + self.characters.counts[COMMA] + np.minimum(free / 100, 3)) * is_text
        worth: NDArray[Any] = np.bincount(self.around[1], says, len(containers.first))
        worth += 0.5 * np.bincount(self.around[2], says, len(containers.first))
        worth *= 1 - self.link_share_of_container
        top = int(worth.argmax())
        top_first, top_end = int(containers.first[top]), int(containers.end[top])
        off_top = self.numbers - np.minimum(np.maximum(self.numbers, top_first), top_end - 1)
        level, title_level = self._levels_without(longest, headline)
        side, top_side = np.tanh((self.numbers - longest) / 20), np.tanh(off_top / 20)
        self._add(level, side, self.log_sizes - self.log_sizes[longest])
        if has_headline:
            self._add(title_level, np.tanh((self.numbers - headline) / 10))
        else:
            self._add(0, 0)
        self._add(off_top == 0)
        worth /= max(worth[top], 1e-6)
        self._add_many(worth.take(self.around[1:4]))
        self._add(top_side)
        top_size = float(self.before[0, top_end] - self.before[0, top_first])
        self._add_page(has_headline=has_headline, top_size=top_size, top_blocks=top_end - top_first)

    def _levels_without(self, *blocks: int) -> NDArray[np.float64]:
        """For each of these blocks a row: the share of the containers around each block that do not hold it."""
        held = np.array(blocks)[:, None]
        misses = (self.containers.first > held) | (self.containers.end <= held)
        missed = misses.view(np.uint8).take(self.around, axis=1)  # bytes are added fastest
        shares: NDArray[np.float64] = missed.sum(axis=1, dtype=np.uint8) / (LEVELS + 1)
        return shares

    def _add_page(self, *, has_headline: bool, top_size: float, top_blocks: int) -> None:
        total, link_chars, chars, _, stops, headings, pictures = self.totals
        in_paragraphs = float(self.sizes @ (self.kinds == _PARAGRAPH))
        of_page = [
            log1p(self.count),
            log1p(total),
            link_chars / chars,
            float(self.log_sizes.max()),
            in_paragraphs / total,
            30 * stops / total,
            headings / self.count,
            log1p(pictures),
            int(self.containers.depth.max()) / 10,
            self.control_share,
            has_headline,
            top_size / total,
            log1p(top_blocks),
        ]
        self._add_many(np.array(of_page)[:, None])


def _around(containers: Containers, count: int) -> NDArray[np.intp]:
    """The element of each block, the nearest container that holds more than this block, and ever wider ones."""
    around = np.empty((LEVELS + 1, count), np.intp)
    at = around[0] = containers.holders
    # An element that holds no other block is passed over: the nearest container is the first that is wider.
    alone = containers.end - containers.first == 1
    nearest = np.where(alone, containers.wider, np.arange(len(alone)))
    nearest.take(at, out=around[1], mode="clip")
    for level in range(1, LEVELS):
        containers.wider.take(around[level], out=around[level + 1], mode="clip")  # else numpy copies first
    return around


def shares_of_title(title: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """For each text that stands in the page's title word for word, how much of the title it is (ICE 3.4)."""
    shares = np.zeros(len(texts))
    for i in compress(range(len(texts)), map(title.__contains__, texts)):
        if len(texts[i]) >= _MIN_LENGTH_IN_TITLE:
            shares[i] = len(texts[i]) / len(title)
    return shares


class Characters(NamedTuple):
    """The characters of blocks, by class.

    Attributes:
        counts: how many characters of each class, but `OTHER`, each block has: one row a class, one column a block.
        first: the class of each block's first character.
        last: the class of each block's last character.
    """

    counts: NDArray[np.float64]
    first: NDArray[np.uint8]
    last: NDArray[np.uint8]


def count_characters(texts: Sequence[str], lengths: NDArray[np.int64]) -> Characters:
    """Count the characters of each class in each block; no text may be empty.

    Args:
        texts: the blocks' texts.
        lengths: their lengths.
    """
    codes = _codes("".join(texts))
    classes, lower, upper = _tables()
    ends = np.cumsum(lengths)
    starts = ends - lengths
    counts = np.empty((COUNTED, len(texts)))
    if lengths.max() < _FULL:
        counts[:4] = np.add.reduceat(lower.take(codes), starts).view(_FIELD).reshape(-1, 4).T
        counts[4:] = np.add.reduceat(upper.take(codes), starts).view(_FIELD).reshape(-1, 4).T
    else:
        class_of = classes.take(codes)
        for number in range(COUNTED):
            counts[number] = np.add.reduceat(class_of == number, starts, dtype=np.intp)
    return Characters(counts, classes[codes[starts]], classes[codes[ends - 1]])


def _codes(text: str) -> NDArray[np.intp]:
    """The numbers of a text's characters; all that are not in the table get the last number that is."""
    encoded = text.encode("utf-16-le", "surrogatepass")
    if len(encoded) == 2 * len(text):
        return np.frombuffer(encoded, "<u2").astype(np.intp)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.intp)
    return np.minimum(codes, _TABLE_SIZE - 1, out=codes)


@lru_cache(maxsize=1)
def _tables() -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint64]]:
    """The class of each character, and the same as numbers to add up: the first four classes and the others.

    Each class has a field of 16 bits in such a number, so that one sum counts four classes; longer texts than a field
    can count are rare.
    """
    classes = _table()
    fields = np.zeros((2, COUNTED + 1), "<u8")
    for number in range(COUNTED):
        fields[number // 4, number] = 1 << 16 * (number % 4)
    return classes, fields[0][classes], fields[1][classes]


def _table() -> NDArray[np.uint8]:
    """The class of each character; made once, in two milliseconds."""
    of_category = {"Lu": CAPITAL, "Lt": CAPITAL, "Nd": DIGIT}
    of_first_letter = {"L": LETTER, "M": LETTER, "P": MARK, "S": MARK, "Z": SPACE}
    table = np.full(_TABLE_SIZE, OTHER, np.uint8)
    for first, last in _WIDE_RANGES:
        table[first : last + 1] = WIDE
    # Two thirds of all need not be looked up: besides those, the halves of pairs and what is for private use.
    known = sorted((*_WIDE_RANGES, _WITHOUT_CATEGORY))
    gaps = zip((0, *(last + 1 for _, last in known)), (*(first for first, _ in known), _TABLE_SIZE), strict=True)
    for code in chain.from_iterable(range(*gap) for gap in gaps):
        category = unicodedata.category(chr(code))
        table[code] = of_category.get(category, of_first_letter.get(category[0], OTHER))
    for characters, number in (("\n\t", SPACE), (_STOPS, STOP), (_COMMAS, COMMA)):
        table[[ord(character) for character in characters]] = number
    table[_TABLE_SIZE - 1] = LETTER
    return table


def _family(column: str) -> str:
    """The family of signals that a column belongs to, in words that stand in a sentence."""
    starts = {
        "container_": "containers",
        "page_": "page",
        "longest_": "longest text",
        "title_": "title",
        "top_": "top container",
        "in_top": "top container",
        "in_title": "title",
        "in_": "tags",
        "kind_": "tags",
    }
    exact = {
        **dict.fromkeys(("chars", "text_nodes"), "length"),
        **dict.fromkeys(("link_share", "links"), "links"),
        **dict.fromkeys(("capitals", "begins_with_capital", "spaces"), "capitals"),
        **dict.fromkeys(("digits", "stops", "commas", "marks", "stop_count", "comma_count"), "punctuation"),
        **dict.fromkeys(("ends_with_stop", "ends_with_comma", "begins_with_digit"), "punctuation"),
        **dict.fromkeys(("h1", "h2", "h3", "control"), "tags"),
        **dict.fromkeys(("copies", "copy_before"), "repetition"),
        **dict.fromkeys(("place", "chars_before", "gap_before", "gap_after", "pictures"), "place"),
        **dict.fromkeys(("depth", "relative_depth", "siblings", "alike"), "tree"),
    }
    return exact.get(column) or next(family for start, family in starts.items() if column.startswith(start))


NAMES = "names"  # the family of `CALLED` and of vectors


@lru_cache(maxsize=4)
def _columns_of(columns: tuple[str, ...]) -> dict[str, list[int]]:
    """The numbers of the columns of each family that there is."""
    found: dict[str, list[int]] = {}
    for number, column in enumerate(columns):
        found.setdefault(_family(column), []).append(number)
    return found


_COLUMNS_OF = _columns_of(COLUMNS)
FAMILIES = (*_COLUMNS_OF, NAMES)


def leave_out(page: PageFeatures, families: Sequence[str], usual: NDArray[np.float32]) -> PageFeatures:
    """The page as it would look if some families of signals said nothing.

    Args:
        page: as it is.
        families: some of `FAMILIES`; those of which the page has no column change nothing.
        usual: what each column is on average.
    """
    dense, vectors = page.dense.copy(), page.vectors
    columns = [column for family in families for column in _columns_of(page.columns).get(family, ())]
    dense[:, columns] = usual[columns]
    if NAMES in families:
        vectors = np.zeros_like(vectors)
        dense[:, len(page.columns) :] = 0
    return replace(page, dense=dense, vectors=vectors)
