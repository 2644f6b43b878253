"""FIASCO 3.1: what the text of each target node looks like, its own and that of the whole subtree.

Lengths and counts are given as logarithms: scaled to [-1, 1] by the longest text of the training data, plain ones would
all be about -1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.papers.fiasco.nodes import Spans, sum_below
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from mainmatter.records import Document

_TEXT_FEATURES = ("chars", "tokens", "types", "sentences", "sentence_length", "symbols")
_KEYWORD_FEATURES = ("clean_keywords", "dirty_keywords")
LINGUISTIC = tuple(f"{part}_{name}" for part in ("own", "all") for name in _TEXT_FEATURES)
KEYWORDS = tuple(f"{part}_{name}" for part in ("own", "all") for name in _KEYWORD_FEATURES)

# A run of marks is tried once, from its start, and never given back in parts: else a page of dots takes forever.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)|[。！？।؟]++")
# Everything but words, spaces, and the punctuation of running text.
_SYMBOL = re.compile(r"[^\w\s.,;:!?…'\"()“”‘’„«»。，、；：！？·؟،؛।–—-]|_")


@dataclass(frozen=True, slots=True)
class PageWords:
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
    def of(cls, document: Document) -> PageWords:
        """The words of a document."""
        numbers: dict[str, int] = {}
        number = numbers.setdefault
        ids: list[int] = []
        starts = [0]
        for text in document.columns.texts:
            ids += [number(word, len(numbers)) for word in words(text)]
            starts.append(len(ids))
        return cls(list(numbers), np.array(ids, np.int32), np.array(starts, np.int32))

    def count(self, keywords: Collection[str]) -> NDArray[np.int64]:
        """How many of the words of each block are keywords."""
        is_keyword = np.fromiter((word in keywords for word in self.vocabulary), np.int64, len(self.vocabulary))
        before = np.concatenate([[0], np.cumsum(is_keyword[self.ids])])
        return np.diff(before[self.starts])


def linguistic_features(document: Document, spans: Spans, page_words: PageWords) -> NDArray[np.float64]:
    """The features of each target node, one row a block, one column for each name in `LINGUISTIC`."""
    texts = document.columns.texts
    chars = document.lengths
    tokens = np.diff(page_words.starts).astype(np.int64)
    sentences = np.fromiter((len(_SENTENCE_END.findall(text)) for text in texts), np.int64, len(texts))
    symbols = np.fromiter((len(_SYMBOL.findall(text)) for text in texts), np.int64, len(texts))
    own_types, all_types = _count_types(spans, page_words)
    own = _columns(chars, tokens, own_types, sentences, symbols)
    below = [sum_below(spans, counts) for counts in (chars, tokens, sentences, symbols)]
    return np.column_stack([*own, *_columns(below[0], below[1], all_types, below[2], below[3])])


def keyword_features(
    spans: Spans, page_words: PageWords, clean: Collection[str], dirty: Collection[str]
) -> NDArray[np.float64]:
    """The share of keywords among the words of each target node, one column for each name in `KEYWORDS`."""
    tokens = np.diff(page_words.starts).astype(np.int64)
    counts = [page_words.count(keywords) for keywords in (clean, dirty)]
    own = [count / np.maximum(tokens, 1) for count in counts]
    all_tokens = np.maximum(sum_below(spans, tokens), 1)
    return np.column_stack([*own, *(sum_below(spans, count) / all_tokens for count in counts)])


def _columns(
    chars: NDArray[np.int64],
    tokens: NDArray[np.int64],
    types: NDArray[np.int64],
    sentences: NDArray[np.int64],
    symbols: NDArray[np.int64],
) -> list[NDArray[np.float64]]:
    return [
        np.log1p(chars),
        np.log1p(tokens),
        np.log1p(types),
        np.log1p(sentences),
        np.log1p(tokens / np.maximum(sentences, 1)),
        symbols / np.maximum(chars, 1),
    ]


def _count_types(spans: Spans, page_words: PageWords) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many different words each block has, and each subtree.

    A target node's text is at most ten times its own, so all subtrees together are no longer than ten pages.
    """
    ids, starts = page_words.ids.tolist(), page_words.starts.tolist()
    own = np.fromiter((len(set(ids[a:b])) for a, b in pairwise(starts)), np.int64, len(starts) - 1)
    everything = own.copy()
    first, end = spans
    for block in np.flatnonzero(end - first > 1).tolist():
        everything[block] = len(set(ids[starts[first[block]] : starts[end[block]]]))
    return own, everything
