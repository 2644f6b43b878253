"""What `main` sees of each block: its looks, the containers around it, the page, and where the page's anchors are.

Nothing here reads words: lengths, links, marks, tags and places are the same signals in every language. They come from
the papers: length, links and headings (ICE 3.2), tags and depth (FIASCO 3.2), density of text and the region around
the longest one (Density 4), what kinds of characters there are (NCleaner 3.3), closeness to the page's title (ICE 3.4).
One pass of array operations a page; the tree comes from the outline that the segmenter's walk leaves behind. No class
of characters needs a language either: letters, capitals, digits, and marks that end or divide sentences in any script.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress, product
from math import log1p
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mainmatter.html.read import AROUND, as_array, unpack
from mainmatter.main.names import CALLED
from mainmatter.records import Kind

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


# Classes of characters: what is counted, and last what is not.
LETTER, CAPITAL, DIGIT, STOP, COMMA, MARK, SPACE, WIDE, OTHER = range(9)
COUNTED = 8

_TABLE_SIZE = 0x10000  # characters in the table; all beyond are taken for the last one, which is a letter
_FIELD, _FULL = np.dtype("<u2"), 0x10000  # a field of the sums, and what it cannot count
_STOPS = ".!?…。！？؟।"
_COMMAS = ",;:，、；：،؛"
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
        rows[len(COLUMNS) :] = unpack(containers.inherit(bits).take(containers.holders), len(CALLED))
    page = _Description(document, rows)
    return PageFeatures(rows.T, page.sizes, page.around.T, containers, vectors)


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
    """The class of each character; made once, in some hundredths of a second."""
    of_category = {"Lu": CAPITAL, "Lt": CAPITAL, "Nd": DIGIT}
    of_first_letter = {"L": LETTER, "M": LETTER, "P": MARK, "S": MARK, "Z": SPACE}
    table = np.full(_TABLE_SIZE, OTHER, np.uint8)
    for code in range(_TABLE_SIZE):
        category = unicodedata.category(chr(code))
        table[code] = of_category.get(category, of_first_letter.get(category[0], OTHER))
    for characters, number in (("\n\t", SPACE), (_STOPS, STOP), (_COMMAS, COMMA)):
        table[[ord(character) for character in characters]] = number
    for first, last in _WIDE_RANGES:
        table[first : last + 1] = WIDE
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
