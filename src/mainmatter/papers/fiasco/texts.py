# cython: annotation_typing=True
# mypy: warn_return_any=False
"""What FIASCO counts in texts (FIASCO 3.1): words, different words, sentences, special symbols."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainmatter import cython
from mainmatter.text.tokens import words

if cython.compiled and not TYPE_CHECKING:
    import cython

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from mainmatter.papers.fiasco.elements import Elements
    from mainmatter.papers.fiasco.nodes import Spans
    from mainmatter.records import Document

# A run of marks is tried once, from its start, and never given back in parts: else a page of dots takes forever. Both
# alternatives begin with one class of characters, which Python finds five times as fast as either of two.
_SENTENCE_END = re.compile(
    r"[.!?…。！？।؟](?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+[\"'”’»)\]]*+(?=\s|$)|(?<=[。！？।؟])[。！？।؟]*+)"
)
# Everything but words, spaces, and the punctuation of running text.
_SPECIAL_SYMBOL = re.compile(r"[^\w\s.,;:!?…'\"()“”‘’„«»。，、；：！？·؟،؛।–—-]|_")
# The same in two parts, since those of ASCII are counted as bytes in a third of the time.
_ASCII_SYMBOLS = "".join(filter(_SPECIAL_SYMBOL.match, map(chr, range(128)))).encode()
_OTHER_SYMBOL = re.compile(f"[^\0-\x7f{_SPECIAL_SYMBOL.pattern[2:].partition(']')[0]}]")
# Below this character words are runs of letters, digits and underscores; see `words`.
_FIRST_CJK = cython.declare(cython.Py_UCS4, "\u3040")


@dataclass(frozen=True, slots=True)
class NumberedWords:
    """The words of a page's blocks as numbers.

    Attributes:
        vocabulary: the words, each once.
        ids: the words of all blocks, one after the other, as places in the vocabulary.
        starts: where in `ids` each block starts, and at last where the last one ends.
    """

    vocabulary: list[str]
    ids: NDArray[np.int32]
    starts: NDArray[np.int32]

    @classmethod
    def of(cls, document: Document | Elements) -> NumberedWords:
        """The words of a document."""
        if cython.compiled:
            return cls(*_number_words(document.texts))
        numbers: dict[str, int] = {}
        number = numbers.setdefault
        ids: list[int] = []
        starts = [0]
        for text in document.texts:
            ids += [number(word, len(numbers)) for word in words(text)]
            starts.append(len(ids))
        return cls(list(numbers), np.array(ids, np.int32), np.array(starts, np.int32))

    def count(self, keywords: Collection[str]) -> NDArray[np.int64]:
        """How many of the words of each block are keywords."""
        is_keyword = np.fromiter(map(keywords.__contains__, self.vocabulary), np.int64, len(self.vocabulary))
        before = np.concatenate([[0], np.cumsum(is_keyword[self.ids])])
        return np.diff(before[self.starts])

    def count_types(self, spans: Spans, owners: NDArray[np.intp] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many different words each node's own text has, and each subtree.

        A target node's text is at most ten times its own, so all subtrees together are no longer than ten pages.
        """
        first, end = spans
        if owners is None:
            own = self._count_different(self.starts[:-1], self.starts[1:])
        else:
            of_words, size = np.repeat(owners, np.diff(self.starts)), len(self.vocabulary) + 1
            pairs = np.unique(of_words[of_words >= 0] * size + self.ids[of_words >= 0])
            own = np.bincount(pairs // size, minlength=len(first))
        everything = own.copy()
        several = np.flatnonzero(end - first > 1)
        everything[several] = self._count_different(self.starts[first[several]], self.starts[end[several]])
        return own, everything

    def _count_different(self, first: NDArray[np.int32], end: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many of the words from one place to another are different, for many places."""
        if cython.compiled:
            return _count_different(self.ids, first, end, len(self.vocabulary))
        ids = self.ids.tolist()
        return np.array([len(set(ids[a:b])) for a, b in zip(first.tolist(), end.tolist(), strict=True)], np.int64)


def count_sentences(texts: Sequence[str]) -> NDArray[np.int64]:
    """How many sentences end in each text."""
    return np.fromiter([len(_SENTENCE_END.findall(text)) for text in texts], np.int64, len(texts))


def count_symbols(texts: Sequence[str]) -> NDArray[np.int64]:
    """How many characters of each text are special symbols."""
    counts = []
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        count = len(data) - len(data.translate(None, _ASCII_SYMBOLS))
        counts.append(count if len(data) == len(text) else count + len(_OTHER_SYMBOL.findall(text)))
    return np.fromiter(counts, np.int64, len(texts))


@cython.boundscheck(False)  # there are no more words than characters
@cython.wraparound(False)
def _number_words(texts: list) -> tuple[list[str], NDArray[np.int32], NDArray[np.int32]]:  # type: ignore[type-arg]
    """What `NumberedWords` holds; in a loop over the characters, which is worth it where it is compiled."""
    lowered: list = [text.lower() for text in texts]  # type: ignore[type-arg]
    numbers: dict = {}  # type: ignore[type-arg]
    all_ids = np.empty(sum(map(len, lowered)), np.int32)
    all_starts = np.zeros(len(lowered) + 1, np.int32)
    ids: cython.int[::1] = all_ids
    starts: cython.int[::1] = all_starts
    text: str
    word: str
    character: cython.Py_UCS4
    number: cython.Py_ssize_t
    place: cython.Py_ssize_t
    begin: cython.Py_ssize_t  # of a word; -1 between words
    count: cython.Py_ssize_t = 0
    for number in range(len(lowered)):
        text = lowered[number]
        begin = -1
        for place, character in enumerate(text):
            if character >= _FIRST_CJK:
                break
            if "a" <= character <= "z" or (character != " " and (character.isalnum() or character == "_")):
                if begin < 0:
                    begin = place
            elif begin >= 0:
                word = text[begin:place]
                ids[count] = numbers.setdefault(word, len(numbers))
                count += 1
                begin = -1
        else:
            if begin >= 0:
                word = text[begin:]
                ids[count] = numbers.setdefault(word, len(numbers))
                count += 1
            starts[number + 1] = count
            continue
        count = starts[number]  # there may be words of one character: from the beginning
        for word in words(text):
            ids[count] = numbers.setdefault(word, len(numbers))
            count += 1
        starts[number + 1] = count
    return list(numbers), all_ids[:count].copy(), all_starts


@cython.boundscheck(False)
@cython.wraparound(False)
def _count_different(
    all_ids: NDArray[np.int32], all_first: NDArray[np.int32], all_end: NDArray[np.int32], size: int
) -> NDArray[np.int64]:
    """As the method; in a loop over the words, which is worth it where it is compiled."""
    counts_of_all = np.zeros(len(all_first), np.int64)
    ids: cython.int[::1] = all_ids
    first: cython.int[::1] = all_first
    end: cython.int[::1] = all_end
    last_seen: cython.int[::1] = np.zeros(size, np.int32)  # where a word was seen before, counted from 1
    counts: cython.longlong[::1] = counts_of_all
    number: cython.Py_ssize_t
    place: cython.Py_ssize_t
    for number in range(counts.shape[0]):
        for place in range(first[number], end[number]):
            if last_seen[ids[place]] != number + 1:
                last_seen[ids[place]] = number + 1
                counts[number] += 1
    return counts_of_all
