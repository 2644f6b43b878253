"""What names that come again on page after page mean, found out once: a page has hundreds of elements, few names.

A crawl of many sites has ever new names, but few meanings: on 400 pages 46,000 names have 9,000 sets of stems.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_MOST = 20_000  # names kept; then it starts afresh, so that a crawl of all sites fits into memory

# What a name means: the numbers of its stems.
Meaning = tuple[int, ...]


class VectorCache:
    """Remembers the vector of each name, and its bits; one look-up finds both. Threads may share it.

    Args:
        meaning_of: what a name means; names with the same meaning have the same vector and bits.
        vectors_of: the vectors of some meanings, one a row; always the same one for the same meaning.
        bits_of: the bits of some meanings, one number each.
        most: how many names are remembered.
    """

    def __init__(
        self,
        meaning_of: Callable[[str], Meaning],
        vectors_of: Callable[[Sequence[Meaning]], NDArray[np.float32]],
        bits_of: Callable[[Sequence[Meaning]], NDArray[np.int64]],
        most: int = _MOST,
    ) -> None:
        self._meaning_of, self._vectors_of, self._bits_of = meaning_of, vectors_of, bits_of
        self._most = most
        self._lock = Lock()
        self._forget()

    def of(self, names: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors of some names, one a row, and their bits; there must be at least one."""
        with self._lock:  # else another thread might start afresh between a look and the next
            try:
                rows = self._rows_of(names)
            except KeyError:
                self._learn(names)
                rows = self._rows_of(names)
            return self._vectors.take(rows, axis=0), self._bits.take(rows)

    def _rows_of(self, names: Sequence[str]) -> NDArray[np.intp]:
        return np.fromiter(map(self._rows.__getitem__, names), np.intp, len(names))

    def _forget(self) -> None:
        self._rows: dict[str, int] = {}
        self._row_of_meaning: dict[Meaning, int] = {}
        self._vectors, self._bits = np.zeros((0, 0), np.float32), np.zeros(0, np.int64)

    def _learn(self, names: Sequence[str]) -> None:
        new = [name for name in dict.fromkeys(names) if name not in self._rows]
        if len(self._rows) + len(new) > self._most:
            self._forget()
            new = list(dict.fromkeys(names))
        meanings = list(map(self._meaning_of, new))
        known = self._row_of_meaning
        unknown = [meaning for meaning in dict.fromkeys(meanings) if meaning not in known]
        if unknown:
            self._remember(self._vectors_of(unknown), self._bits_of(unknown), len(known))
            known |= {meaning: row for row, meaning in enumerate(unknown, start=len(known))}
        self._rows |= zip(new, map(known.__getitem__, meanings), strict=True)

    def _remember(self, vectors: NDArray[np.float32], bits: NDArray[np.int64], start: int) -> None:
        """Write new rows behind those that are there. There is always more room than needed: to copy all takes time."""
        end = start + len(bits)
        if end > len(self._bits):
            all_vectors, all_bits = np.empty((2 * end, vectors.shape[1]), np.float32), np.empty(2 * end, np.int64)
            if start:
                all_vectors[:start], all_bits[:start] = self._vectors[:start], self._bits[:start]
            self._vectors, self._bits = all_vectors, all_bits
        self._vectors[start:end], self._bits[start:end] = vectors, bits
