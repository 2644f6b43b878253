"""I-Match: pages that say the same, found by one digest a page (Chowdhury, Frieder, Grossman, McCabe 2002).

Two texts are duplicates if they have the same set of terms, once those are left out that too many texts of the
collection have, or too few. What is left is sorted and hashed by SHA-1, so that a collection of any size takes one pass
and one digest a page (Template, section 3, and its reference 8). Neither the order of the terms nor how often a text
has them counts.

How many texts have a term is counted in a table of fixed size (`TermFrequencies`). Without such a table every term
counts: then a text is only a duplicate of one with the very same words.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_TERM = re.compile(r"\w+")
_LARGEST_COUNT = np.iinfo(np.uint32).max

# Of 1, the weight of a term that only one text has. The authors drop what nearly every text has, and what is so rare
# that it may be a slip; the second made no duplicates that the first did not, and is off here.
LEAST_WEIGHT = 0.1
MOST_WEIGHT = 1.0


def terms_of(text: str) -> set[str]:
    """The different terms of a text: its runs of letters and digits, in lower case."""
    return set(_TERM.findall(text.lower()))


@dataclass(eq=False)
class TermFrequencies:
    """In how many texts of a collection each term is, in a table of fixed size.

    Terms are hashed into `buckets`, and those that share one share its count: a count is never too small, and too large
    for a share of terms that is at most (different terms) / `buckets`. A term that seems more frequent than it is may
    be left out of signatures, of all of them alike. The table takes 4 bytes a bucket.

    Args:
        buckets: the size of the table.
    """

    buckets: int = 1 << 20

    texts: int = field(init=False, default=0)
    counts: NDArray[np.uint32] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if type(self.buckets) is not int or not 1 <= self.buckets <= 1 << 32:
            raise InputError(f"I-Match: buckets is a whole number from 1 to {1 << 32}, not {self.buckets!r}")
        self.counts = np.zeros(self.buckets, np.uint32)

    def add(self, text: str) -> None:
        """Count the terms of one more text."""
        places = np.unique(self._places(terms_of(text)))
        self.counts[places] += self.counts[places] < _LARGEST_COUNT
        self.texts += 1

    def add_all(self, texts: Iterable[str]) -> TermFrequencies:
        """Count the terms of many texts; gives itself."""
        for text in texts:
            self.add(text)
        return self

    def merge(self, other: TermFrequencies) -> None:
        """Take over what was counted elsewhere; the order of merging does not matter.

        Raises:
            InputError: the other table is of another size.
        """
        if other.buckets != self.buckets:
            raise InputError(f"I-Match: tables of {self.buckets} and {other.buckets} buckets cannot be merged")
        both = self.counts.astype(np.uint64) + other.counts
        self.counts = np.minimum(both, _LARGEST_COUNT).astype(np.uint32)
        self.texts += other.texts

    def weights(self, terms: Iterable[str]) -> NDArray[np.float64]:
        """How rare each term is: idf by the largest idf there is, from 0, in every text, to 1, in one or none."""
        if self.texts < 2:  # nothing to compare
            return np.ones(len(list(terms)))
        counts = np.clip(self.counts[self._places(terms)], 1, self.texts)
        return 1 - np.log(counts) / math.log(self.texts)

    def _places(self, terms: Iterable[str]) -> NDArray[np.intp]:
        return np.array([crc32(term.encode("utf-8", "surrogatepass")) % self.buckets for term in terms], np.intp)


def signature(
    text: str,
    frequencies: TermFrequencies | None = None,
    *,
    least: float = LEAST_WEIGHT,
    most: float = MOST_WEIGHT,
) -> bytes:
    """The I-Match digest of a text: 20 bytes; texts that share it are duplicates.

    Args:
        text: the text; only its words count, in any order.
        frequencies: in how many texts of the collection each term is; without them all terms count.
        least: leave out terms whose weight (idf, from 0 to 1) is lower: those of nearly every text.
        most: leave out terms whose weight is higher: those of one or a few texts.

    Returns:
        SHA-1 of the sorted terms that are left. Where none is, of all terms: what has nothing of its own is a
        duplicate only of what has the very same words. All texts without any word share one digest.
    """
    terms = sorted(terms_of(text))
    if frequencies is not None:
        weights = frequencies.weights(terms)
        left = ((weights >= least) & (weights <= most)).tolist()
        terms = [term for term, is_left in zip(terms, left, strict=True) if is_left] or terms
    joined = " ".join(terms).encode("utf-8", "surrogatepass")
    return hashlib.sha1(joined, usedforsecurity=False).digest()
