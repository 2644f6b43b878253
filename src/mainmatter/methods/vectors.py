"""What names that come again on page after page mean, found out once: a page has hundreds of elements, few names."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_MOST = 20_000  # names kept; then it starts afresh, so that a crawl of all sites fits into memory


class VectorCache:
    """Remembers the vector of each name, and its bits; one look-up finds both. Threads may share it.

    Args:
        vector_of: the vector of a name that has none yet; always the same one for the same name.
        bits_of: the bits of some names, one number each.
        most: how many names are remembered.
    """

    def __init__(
        self,
        vector_of: Callable[[str], NDArray[np.float32]],
        bits_of: Callable[[Sequence[str]], NDArray[np.int64]],
        most: int = _MOST,
    ) -> None:
        self._vector_of, self._bits_of = vector_of, bits_of
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
        self._vectors, self._bits = np.zeros((0, 0), np.float32), np.zeros(0, np.int64)

    def _learn(self, names: Sequence[str]) -> None:
        new = [name for name in dict.fromkeys(names) if name not in self._rows]
        if len(self._rows) + len(new) > self._most:
            self._forget()
            new = list(dict.fromkeys(names))
        vectors, bits = np.stack([self._vector_of(name) for name in new]), self._bits_of(new)
        self._vectors = np.concatenate([self._vectors, vectors]) if self._rows else vectors
        self._bits = np.concatenate([self._bits, bits])
        self._rows |= {name: row for row, name in enumerate(new, start=len(self._rows))}
