"""Vectors that are made once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.methods.vectors import VectorCache

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Maker:
    """Makes the vector of a number, and counts how often; takes some time for it, if asked to."""

    def __init__(self, seconds: float = 0) -> None:
        self.made: Counter[int] = Counter()
        self._lock = Lock()
        self._seconds = seconds

    def __call__(self, key: int) -> NDArray[np.float32]:
        with self._lock:
            self.made[key] += 1
        if self._seconds:
            sleep(self._seconds)  # now the other threads have their turn
        return vector_of(key)


def vector_of(key: int) -> NDArray[np.float32]:
    return np.array([key, key * key, -key], np.float32)


def afresh(keys: list[int]) -> NDArray[np.float32]:
    return np.stack([vector_of(key) for key in keys])


def test_the_same_as_made_afresh() -> None:
    cache = VectorCache(Maker())
    for keys in ([3], [1, 2, 3], [3, 3, 1], [9, 3, 9, 2], [2]):
        found = cache.of(keys)
        assert found.dtype == np.float32
        assert np.array_equal(found, afresh(keys))


def test_each_is_made_once() -> None:
    maker = Maker()
    cache = VectorCache(maker)
    for keys in ([1, 2, 1], [2, 3], [3, 1, 2, 3]):
        cache.of(keys)
    assert maker.made == {1: 1, 2: 1, 3: 1}


def test_a_full_one_starts_afresh_and_stays_right() -> None:
    maker = Maker()
    cache = VectorCache(maker, most=3)
    cache.of([1, 2, 3])
    assert np.array_equal(cache.of([4, 2]), afresh([4, 2]))  # 1, 2 and 3 are forgotten
    cache.of([2, 4])
    assert maker.made == {1: 1, 2: 2, 3: 1, 4: 1}
    assert np.array_equal(cache.of([1, 4]), afresh([1, 4]))
    assert maker.made == {1: 2, 2: 2, 3: 1, 4: 1}


def test_more_at_once_than_it_may_hold() -> None:
    cache = VectorCache(Maker(), most=3)
    for keys in ([*range(10)], [11], [10, 9, 8, 7, 6], [1, 1]):
        assert np.array_equal(cache.of(keys), afresh(keys))


def test_what_one_gets_is_ones_own() -> None:
    cache = VectorCache(Maker())
    for _ in range(2):  # made, and remembered
        cache.of([1, 2])[:] = 7
    assert np.array_equal(cache.of([2, 1]), afresh([2, 1]))


@pytest.mark.parametrize("most", [5, 40, 1000])
def test_many_threads_at_once(most: int) -> None:
    maker = Maker(seconds=1e-5)
    cache = VectorCache(maker, most)
    rng = np.random.default_rng(most)
    asked = [rng.integers(0, 60, rng.integers(1, 20)).tolist() for _ in range(80)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(cache.of, asked))
    for keys, found in zip(asked, answers, strict=True):
        assert np.array_equal(found, afresh(keys))
    if most == 1000:
        assert set(maker.made.values()) == {1}


def test_a_maker_that_fails_leaves_the_others_in_order() -> None:
    def make(key: int) -> NDArray[np.float32]:
        if key < 0:
            raise ValueError("below 0")
        return vector_of(key)

    cache = VectorCache(make)
    cache.of([1])
    with pytest.raises(ValueError, match="below 0"):
        cache.of([2, -1])
    assert np.array_equal(cache.of([2, 1, 3]), afresh([2, 1, 3]))
