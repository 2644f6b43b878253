"""Smoothed unigram models: a page worked out by hand, and sums over all words by the book."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mainmatter.papers.ice.lm import Direction, Smoother, divergences


def measure(
    texts: list[list[int]],
    query: list[int],
    smoother: Smoother,
    direction: Direction,
    for_query: Smoother | None = None,
) -> list[float]:
    words = np.array([word for text in texts for word in text], np.intp)
    numbers = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    found = divergences(words, numbers, len(texts), np.array(query, np.intp), smoother, direction, for_query)
    return [float(each) for each in found]


def test_by_hand() -> None:
    # Collection: words 0 and 1, twice each, p = 1/2. Text [0, 0]: (2 - 0.5) / 2 + 0.5 * 1/2 * 1/2 = 0.875 and 0.125.
    # Text [1] and query [1]: (1 - 0.5) / 1 + 0.5 * 1/2 = 0.75 for word 1, 0.25 for word 0.
    found = measure([[0, 0], [1]], [1], Smoother(delta=0.5), "element")
    assert found[0] == pytest.approx(0.875 * math.log(0.875 / 0.25) + 0.125 * math.log(0.125 / 0.75))
    assert found[1] == pytest.approx(0, abs=1e-12)
    found = measure([[0, 0], [1]], [1], Smoother(delta=0.5), "query")
    assert found[0] == pytest.approx(0.25 * math.log(0.25 / 0.875) + 0.75 * math.log(0.75 / 0.125))
    # Dirichlet, mu = 2: text [0, 0]: (2 + 2/2) / (2 + 2) = 0.75; query [1]: (1 + 2/2) / (1 + 2) = 2/3.
    found = measure([[0, 0], [1]], [1], Smoother("dirichlet", mu=2), "element")
    assert found[0] == pytest.approx(0.75 * math.log(0.75 / (1 / 3)) + 0.25 * math.log(0.25 / (2 / 3)))


def by_the_book(text: list[int], everything: list[int], smoother: Smoother) -> dict[int, float]:
    model = {}
    for word in set(everything):
        background = everything.count(word) / len(everything)
        if smoother.kind == "dirichlet":
            model[word] = (text.count(word) + smoother.mu * background) / (len(text) + smoother.mu)
        elif not text:
            model[word] = background
        else:
            own = max(text.count(word) - smoother.delta, 0) / len(text)
            model[word] = own + smoother.delta * len(set(text)) / len(text) * background
    assert sum(model.values()) == pytest.approx(1)
    return model


@pytest.mark.parametrize("smoother", [Smoother(delta=0.7), Smoother(delta=0.1), Smoother("dirichlet", mu=5)])
def test_against_the_book(smoother: Smoother) -> None:
    rng = np.random.default_rng(1)
    for_query = Smoother(delta=0.9)
    for _ in range(100):
        texts = [rng.integers(0, 8, rng.integers(0, 7)).tolist() for _ in range(rng.integers(1, 6))]
        query = rng.integers(0, 10, rng.integers(0, 5)).tolist()
        everything = [word for text in texts for word in text] + query
        if not everything:
            continue
        of_query = by_the_book(query, everything, for_query)
        models = [by_the_book(text, everything, smoother) for text in texts]
        expected = [sum(p * math.log(p / of_query[w]) for w, p in model.items()) for model in models]
        assert measure(texts, query, smoother, "element", for_query) == pytest.approx(expected, abs=1e-9)
        expected = [sum(q * math.log(q / model[w]) for w, q in of_query.items()) for model in models]
        assert measure(texts, query, smoother, "query", for_query) == pytest.approx(expected, abs=1e-9)


def test_nothing_at_all() -> None:
    assert measure([], [], Smoother(), "element") == []
    assert measure([[], []], [], Smoother(), "query") == [0, 0]
    assert measure([[], []], [3], Smoother(), "element") == pytest.approx([0, 0])


def test_without_a_query_the_page_is_the_query() -> None:
    # A text with the same shares of words as the page is nearest to it.
    same, other = measure([[0, 1, 0, 1], [1, 1, 1, 1, 0, 0, 0, 0], [0]], [], Smoother(delta=0.1), "element")[1:]
    assert same < other
