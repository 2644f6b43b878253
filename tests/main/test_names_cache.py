"""What names mean, found out once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mainmatter import compiled
from mainmatter.main.names import INHERITED, VectorCache, VectorFinder, Vocabulary, make_vectors
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Maker:
    """Makes the vectors of meanings, and counts how often; takes some time for it, if asked to."""

    def __init__(self, seconds: float = 0) -> None:
        self.made: Counter[int] = Counter()
        self._lock = Lock()
        self._seconds = seconds

    def __call__(self, meanings: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        with self._lock:
            self.made.update(number for (number,) in meanings)
        if self._seconds:
            sleep(self._seconds)  # now the other threads have their turn
        return vectors_of(meanings)


def meaning_of(name: str) -> tuple[int, ...]:
    return (int(name),)


def vectors_of(meanings: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
    return np.array([[number, number * number, -number] for (number,) in meanings], np.float32)


def bits_of(meanings: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    return np.array([1 << number for (number,) in meanings], np.int64)


def names(*numbers: int) -> list[str]:
    return list(map(str, numbers))


def is_right(cache: VectorCache, asked: list[str]) -> bool:
    vectors, bits = cache.of(asked)
    assert vectors.dtype == np.float32
    assert bits.dtype == np.int64
    meanings = list(map(meaning_of, asked))
    return np.array_equal(vectors, vectors_of(meanings)) and np.array_equal(bits, bits_of(meanings))


def test_the_same_as_made_afresh() -> None:
    cache = VectorCache(meaning_of, Maker(), bits_of)
    for asked in (names(3), names(1, 2, 3), names(3, 3, 1), names(9, 3, 9, 2), names(2)):
        assert is_right(cache, asked)


def test_each_is_made_once() -> None:
    maker = Maker()
    cache = VectorCache(meaning_of, maker, bits_of)
    for asked in (names(1, 2, 1), names(2, 3), names(3, 1, 2, 3)):
        cache.of(asked)
    assert maker.made == {1: 1, 2: 1, 3: 1}


def test_names_that_mean_the_same_are_made_once() -> None:
    maker = Maker()
    cache = VectorCache(meaning_of, maker, bits_of)
    assert is_right(cache, ["1", "01", "2", "001"])
    assert is_right(cache, ["0001", "3", "1"])
    assert maker.made == {1: 1, 2: 1, 3: 1}


def test_a_full_one_starts_afresh_and_stays_right() -> None:
    maker = Maker()
    cache = VectorCache(meaning_of, maker, bits_of, most=3)
    cache.of(names(1, 2, 3))
    assert is_right(cache, names(4, 2))  # 1, 2 and 3 are forgotten
    cache.of(names(2, 4))
    assert maker.made == {1: 1, 2: 2, 3: 1, 4: 1}
    assert is_right(cache, names(1, 4))
    assert maker.made == {1: 2, 2: 2, 3: 1, 4: 1}


def test_how_many_names_are_remembered() -> None:
    maker = Maker()
    cache = VectorCache(meaning_of, maker, lambda meanings: np.zeros(len(meanings), np.int64))
    cache.of(names(*range(49_999)))
    cache.of(names(49_999))  # the last one that there is room for
    cache.of(names(0))
    assert maker.made[0] == 1
    cache.of(names(50_000))
    cache.of(names(0))
    assert maker.made[0] == 2


def test_more_at_once_than_it_may_hold() -> None:
    cache = VectorCache(meaning_of, Maker(), bits_of, most=3)
    for asked in (names(*range(10)), names(11), names(10, 9, 8, 7, 6), names(1, 1)):
        assert is_right(cache, asked)


def test_what_one_gets_is_ones_own() -> None:
    cache = VectorCache(meaning_of, Maker(), bits_of)
    for _ in range(2):  # made, and remembered
        for found in cache.of(names(1, 2)):
            found[:] = 7
    assert is_right(cache, names(2, 1))


@pytest.mark.parametrize("most", [5, 40, 1000])
def test_many_threads_at_once(most: int) -> None:
    maker = Maker(seconds=1e-5)
    cache = VectorCache(meaning_of, maker, bits_of, most)
    rng = np.random.default_rng(most)
    asked = [names(*rng.integers(0, 60, rng.integers(1, 20)).tolist()) for _ in range(80)]
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda some: is_right(cache, some), asked))


def test_a_maker_that_fails_leaves_the_others_in_order() -> None:
    def make(meanings: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        if (-1,) in meanings:
            raise ValueError("below 0")
        return vectors_of(meanings)

    cache = VectorCache(meaning_of, make, bits_of)
    cache.of(names(1))
    with pytest.raises(ValueError, match="below 0"):
        cache.of(names(2, -1))
    assert is_right(cache, names(2, 1, 3))


in_loops = pytest.mark.skipif(not compiled.runs_compiled(), reason="names are looked up letter by letter if compiled")
WORDS = [*INHERITED, "x", "x-y", "été", "a" * 40, "b" * 41, *(f"w{letter}" for letter in "abcdefghijkl")]


def finder_and_cache() -> tuple[VectorFinder, VectorCache]:
    vocabulary = Vocabulary(sorted(WORDS))
    net = get_method("main").net_  # type: ignore[attr-defined]
    finder = make_vectors(vocabulary, net)
    assert isinstance(finder, VectorFinder)
    cache = VectorCache(
        vocabulary.meaning_of,
        lambda meanings: net.embed([meaning[:-1] for meaning in meanings]),
        lambda meanings: np.array([meaning[-1] for meaning in meanings], np.int64),
    )
    return finder, cache


@in_loops
@given(st.lists(st.lists(st.sampled_from([*WORDS, "Post", "HTML", " ", "\t", "-", "É", "9"])).map("".join), min_size=1))
@example([" ".join(WORDS)])  # more numbers than are added up one after the other
@example(["", "x" * 299 + " menu", "x\x1cy", "postBody PostBODYText"])
def test_what_is_found_is_what_is_remembered(asked: list[str]) -> None:
    finder, cache = finder_and_cache()
    vectors, bits = finder.of(asked)
    remembered_vectors, remembered_bits = cache.of(asked)
    assert vectors.dtype == np.float32
    assert bits.dtype == np.int64
    assert np.array_equal(vectors, remembered_vectors)
    assert np.array_equal(bits, remembered_bits)


@in_loops
def test_the_shipped_vocabulary_is_found_word_by_word() -> None:
    method = get_method("main")
    words = [*method.vocabulary_.words, *(word + "q" for word in method.vocabulary_.words)]  # type: ignore[attr-defined]
    vectors, bits = method.vectors_.of(words)  # type: ignore[attr-defined]
    meanings = list(map(method.vocabulary_.meaning_of, words))  # type: ignore[attr-defined]
    assert np.array_equal(vectors, method.net_.embed([meaning[:-1] for meaning in meanings]))  # type: ignore[attr-defined]
    assert bits.tolist() == [meaning[-1] for meaning in meanings]
