"""What a block's words look like, without understanding them: how many, capitals, punctuation, stop words, and the tag.

These are the features of ICE 3.3. The characters of a page are put into one array, classified by a table, and summed
for each block; only stop words need a look at every word.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import MissingExtra
from mainmatter.text.words import count_words

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from numpy.typing import NDArray


_WORD, _CAPITAL, _PUNCTUATION, _WIDE = 1, 2, 4, 8
_SIZE = 0x10000  # characters in the table; all beyond are taken for the last one, which is a letter
_SENTENCE_MARKS = ".,;:!?…。，、；：！？·؟،؛।"
_SEPARATOR = "\n"

# Languages of the stop words: those of our gold standards, and others with many pages.
STOP_WORD_LANGUAGES = tuple("ar cs da de el en es fa fi fr it ja nb nl pl pt ru sv tr uk zh".split())
STOP_WORDS_A_LANGUAGE = 60


@dataclass(frozen=True, slots=True)
class ShallowCounts:
    """Counts, one number a block.

    Attributes:
        words: words between white space; where a script has none, as many as the text is long (text/words.py).
        capitals: runs of letters and digits that begin with a capital. "Low-Cost" has two, so there may be more of
            them than words, as in figure 2 of ICE.
        punctuation: marks that end or divide sentences.
        stop_words: words that are frequent in their language.
    """

    words: NDArray[np.int64]
    capitals: NDArray[np.int64]
    punctuation: NDArray[np.int64]
    stop_words: NDArray[np.int64]


def count_shallow(texts: Sequence[str], stop_words: Set[str]) -> ShallowCounts:
    """Count words, capitals, punctuation marks and stop words of each block, in time linear in the page.

    Args:
        texts: the blocks' texts.
        stop_words: in lower case; Chinese and Japanese ones are single characters.
    """
    if not texts:
        none = np.zeros(0, np.int64)
        return ShallowCounts(none, none, none, none)
    words = np.fromiter((count_words(text)[0] for text in texts), np.int64, len(texts))
    # Every block ends with a separator, so that none is empty: the sums below need that.
    page = _SEPARATOR.join([*texts, ""])
    codes = _codes(page)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    first = np.cumsum(lengths) - lengths
    flags = _flags(codes)
    is_word = (flags & _WORD) != 0
    begins = is_word.copy()
    begins[1:] &= ~is_word[:-1]

    def sums(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.add.reduceat(mask, first, dtype=np.int64)

    stops = _mark_stop_words(codes, is_word, begins, stop_words)
    is_wide = (flags & _WIDE) != 0
    if is_wide.any():
        characters = np.array([ord(word) for word in stop_words if len(word) == 1], codes.dtype)
        stops |= is_wide & np.isin(codes, characters)
    return ShallowCounts(
        words=words,
        capitals=sums(begins & ((flags & _CAPITAL) != 0)),
        punctuation=sums((flags & _PUNCTUATION) != 0),
        stop_words=sums(stops),
    )


@lru_cache(maxsize=1)
def frequent_words() -> frozenset[str]:
    """The most frequent words of many languages, for training; a model carries those that it was trained with.

    Words with an apostrophe are left out, since texts are split at it; so are numbers. Of Chinese and Japanese,
    only single characters are taken.

    Raises:
        MissingExtra: wordfreq is not installed.
    """
    try:
        from wordfreq import top_n_list  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("wordfreq", "train") from error
    found: set[str] = set()
    for language in STOP_WORD_LANGUAGES:
        words = [word for word in top_n_list(language, 2 * STOP_WORDS_A_LANGUAGE) if _is_stop_word(word)]
        found.update(words[:STOP_WORDS_A_LANGUAGE])
    return frozenset(found)


def _is_stop_word(word: str) -> bool:
    flags = _flags(_codes(word))
    if (flags & _WIDE).any():
        return len(word) == 1
    return bool((flags & _WORD).all()) and not any(map(str.isdigit, word))


def _mark_stop_words(
    codes: NDArray[np.unsignedinteger], is_word: NDArray[np.bool_], begins: NDArray[np.bool_], stop_words: Set[str]
) -> NDArray[np.bool_]:
    """Where a run of letters begins that is a stop word."""
    encoding = "ascii" if codes.dtype == np.uint8 else "utf-32-le"
    spaced = np.where(is_word, codes, codes.dtype.type(ord(" "))).tobytes().decode(encoding, "surrogatepass")
    runs = spaced.lower().split()  # no letter becomes a space in lower case, so these are the runs that begin
    marked = np.zeros(len(codes), np.bool_)
    marked[begins] = np.fromiter(map(stop_words.__contains__, runs), np.bool_, len(runs))
    return marked


def _codes(text: str) -> NDArray[np.unsignedinteger]:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))


def _flags(codes: NDArray[np.unsignedinteger]) -> NDArray[np.uint8]:
    found: NDArray[np.uint8] = _table()[codes if codes.dtype == np.uint8 else np.minimum(codes, _SIZE - 1)]
    return found


@lru_cache(maxsize=1)
def _table() -> NDArray[np.uint8]:
    """What each character is; made once, in some hundredths of a second."""
    table = np.zeros(_SIZE, np.uint8)
    for code in range(_SIZE):
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] in "LNM":  # vowel signs are marks, and part of the word
            table[code] = _WORD
        if category in ("Lu", "Lt"):
            table[code] |= _CAPITAL
    for first, last in ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)):
        table[first : last + 1] = _WIDE
    for mark in _SENTENCE_MARKS:
        table[ord(mark)] = _PUNCTUATION
    table[_SIZE - 1] = _WORD
    table[0xD800:0xE000] = 0  # half characters
    return table
