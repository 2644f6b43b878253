"""What the characters of a page's blocks are: one array for the page, one look-up a character, one count a class.

No class needs a language: letters, capitals, digits, and the marks that end or divide sentences in any script.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# What is counted, and last what is not.
LETTER, CAPITAL, DIGIT, STOP, COMMA, MARK, SPACE, WIDE, OTHER = range(9)
COUNTED = 8

_SIZE = 0x10000  # characters in the table; all beyond are taken for the last one, which is a letter
_FIELD, _FULL = np.dtype("<u2"), 0x10000  # a field of the sums, and what it cannot count
_STOPS = ".!?…。！？؟।"
_COMMAS = ",;:，、；：،؛"
# Scripts that put no spaces between words, where one character says as much as several letters; and Hangul.
_WIDE_RANGES = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF))


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
    return np.minimum(codes, _SIZE - 1, out=codes)


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
    table = np.full(_SIZE, OTHER, np.uint8)
    for code in range(_SIZE):
        category = unicodedata.category(chr(code))
        table[code] = of_category.get(category, of_first_letter.get(category[0], OTHER))
    for characters, number in (("\n\t", SPACE), (_STOPS, STOP), (_COMMAS, COMMA)):
        table[[ord(character) for character in characters]] = number
    for first, last in _WIDE_RANGES:
        table[first : last + 1] = WIDE
    table[_SIZE - 1] = LETTER
    return table
