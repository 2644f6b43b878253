"""Vectors of things that come again on page after page, made once: a page has hundreds of elements, few names."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

Key = TypeVar("Key", bound="Hashable")

_MOST = 20_000  # vectors kept; then it starts afresh, so that a crawl of all sites fits into memory


class VectorCache(Generic[Key]):
    """Remembers the vector of each key. Threads may share it.

    Args:
        make: the vector of a key that has none yet; always the same one for the same key.
        most: how many vectors are remembered.
    """

    def __init__(self, make: Callable[[Key], NDArray[np.float32]], most: int = _MOST) -> None:
        self._make = make
        self._most = most
        self._lock = Lock()
        self._numbers: dict[Key, int] = {}
        self._table: NDArray[np.float32] | None = None

    def of(self, keys: Sequence[Key]) -> NDArray[np.float32]:
        """The vectors of some keys, one a row; there must be at least one."""
        with self._lock:  # else another thread might start afresh between a look and the next
            numbers = self._numbers
            try:
                return self._table[[numbers[key] for key in keys]]  # type: ignore[index]
            except (KeyError, TypeError):
                return self._learn(keys)

    def _learn(self, keys: Sequence[Key]) -> NDArray[np.float32]:
        new = [key for key in dict.fromkeys(keys) if key not in self._numbers]
        if len(self._numbers) + len(new) > self._most:
            self._numbers, self._table = {}, None
            new = list(dict.fromkeys(keys))
        vectors = np.stack([self._make(key) for key in new])
        self._numbers |= {key: number for number, key in enumerate(new, start=len(self._numbers))}
        self._table = vectors if self._table is None else np.concatenate([self._table, vectors])
        return self._table[[self._numbers[key] for key in keys]]
