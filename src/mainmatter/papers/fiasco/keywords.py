"""FIASCO 3.1, note 3: the keywords of clean and of dirty text.

The clean blocks of a page are one text, the dirty ones another.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.papers.fiasco.keyness import Usage, choose_keywords

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mainmatter.papers.fiasco.linguistic import PageWords

    Labelled = tuple[PageWords, NDArray[np.bool_], str]


def find_keywords(pages: Iterable[Labelled], most: int, fewest_pages: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keywords of clean and those of dirty text.

    Args:
        pages: the words of each page, which of its blocks are clean, and its language as BCP 47 writes it.
        most: how many keywords to choose for each side.
        fewest_pages: on so many pages a keyword is at least; a word on fewer may be that of one site.

    Raises:
        MissingExtra: wordfreq is not installed.
    """
    clean, dirty = _WordCounts(), _WordCounts()
    for words, is_clean, language in pages:
        of_words = np.repeat(is_clean, np.diff(words.starts))
        clean.add(words, words.ids[of_words], language)
        dirty.add(words, words.ids[~of_words], language)
    candidates = sorted({*clean.on_pages(fewest_pages), *dirty.on_pages(fewest_pages)})
    of_clean, of_dirty = clean.usage(candidates), dirty.usage(candidates)
    return (
        tuple(choose_keywords(candidates, of_clean, of_dirty, most)),
        tuple(choose_keywords(candidates, of_dirty, of_clean, most)),
    )


class _WordCounts:
    """How the words of one side are used."""

    def __init__(self) -> None:
        self._pages: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._by_language: Counter[str] = Counter()

    def add(self, words: PageWords, ids: NDArray[np.int32], language: str) -> None:
        """Count those words of a page that are given by number."""
        numbers, counts = np.unique(ids, return_counts=True)
        different = [words.vocabulary[number] for number in numbers.tolist()]
        self._pages.update(different)
        self._tokens.update(dict(zip(different, counts.tolist(), strict=True)))
        self._by_language[language] += len(ids)

    def on_pages(self, fewest: int) -> list[str]:
        """The words proper, of two letters or more, that are on so many pages or more."""
        return [word for word, count in self._pages.items() if count >= fewest and len(word) > 1 and word.isalpha()]

    def usage(self, words: Sequence[str]) -> Usage:
        """How some words are used."""
        pages, tokens = (
            np.fromiter((counts[word] for word in words), np.int64, len(words))
            for counts in (self._pages, self._tokens)
        )
        return Usage(pages, self._pages.total(), tokens, self._by_language)
