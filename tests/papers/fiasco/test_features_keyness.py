"""FIASCO 3.1, note 3: keyness by hand, and which words become keywords."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from mainmatter.papers.fiasco.features import Usage, choose_keywords, general_frequency, keyness


def counts(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def test_by_hand() -> None:
    # 20 of 1000 here, 5 of 2000 there.
    ratio = log(20.5 * 1995.5 / (5.5 * 980.5))
    margin = 1.96 * sqrt(1 / 20.5 + 1 / 5.5 + 1 / 980.5 + 1 / 1995.5)
    assert keyness(counts(20), counts(5), 1000, 2000) == pytest.approx([ratio - margin])
    assert keyness(counts(5), counts(20), 2000, 1000) == pytest.approx([margin - ratio])


def test_it_is_conservative() -> None:
    # The same ratio with less evidence counts less; with next to none, nothing.
    found = keyness(counts(400, 40, 4, 1), counts(100, 10, 1, 0), 100_000, 100_000)
    assert found[0] > found[1] > found[2] == found[3] == 0


def usage(texts: list[int], all_texts: int, tokens: list[int] | None = None, **all_tokens: int) -> Usage:
    return Usage(counts(*texts), all_texts, counts(*(tokens or texts)), all_tokens or {"en": all_texts})


def test_keywords_are_frequent_beyond_general_language() -> None:
    general = {"the": 0.05, "sitemap": 1e-7, "privacy": 1e-5, "even": 1e-3}
    words = ["even", "privacy", "sitemap", "the"]
    here, there = usage([20, 60, 50, 900], 10_000), usage([20, 2, 0, 100], 10_000)

    def frequency(word: str, language: str) -> float:
        assert language == "en"
        return general[word]

    # "the" is much more frequent here than there, and no more than anywhere; "even" is equally frequent. "sitemap" has
    # the higher odds ratio, log 101 against log 24, but less evidence: 1.83 against 1.92.
    assert choose_keywords(words, here, there, 5, frequency) == ["privacy", "sitemap"]
    assert choose_keywords(words, here, there, 1, frequency) == ["privacy"]
    assert choose_keywords([], usage([], 0), usage([], 0), 5, frequency) == []


def test_general_language_is_compared_by_occurrences() -> None:
    def frequency(word: str, language: str) -> float:
        return 0.001

    # In 50 of 1,000 texts, which is far more than 0.001; but 55 of 20,000 words are not three times as many, 61 are.
    there = usage([1], 1_000)
    assert choose_keywords(["water"], usage([50], 1_000, [55], en=20_000), there, 1, frequency) == []
    assert choose_keywords(["water"], usage([50], 1_000, [60], en=20_000), there, 1, frequency) == []
    assert choose_keywords(["water"], usage([50], 1_000, [61], en=20_000), there, 1, frequency) == ["water"]
    # Occurrences are no evidence for keyness: a thousand of them in one text are those of one text.
    assert choose_keywords(["water"], usage([1], 1_000, [1_000], en=20_000), there, 1, frequency) == []


def test_each_language_has_its_general_frequencies() -> None:
    def frequency(word: str, language: str) -> float:
        return 0.2 if language == "de" else 0.0

    there = usage([1], 500)
    assert choose_keywords(["und"], usage([100], 500, en=500), there, 1, frequency) == ["und"]
    assert choose_keywords(["und"], usage([100], 500, de=500), there, 1, frequency) == []
    # Half of the texts is German: 50 are expected, and 100 are not substantially more.
    assert choose_keywords(["und"], usage([100], 500, de=250, en=250), there, 1, frequency) == []


def test_frequencies_of_wordfreq() -> None:
    pytest.importorskip("wordfreq")
    assert general_frequency("the", "en-GB") > 0.03
    assert general_frequency("und", "de") > 0.01 > general_frequency("und", "en")
    assert general_frequency("the", "tlh") == general_frequency("the", "zh") == general_frequency("the", "en")
    assert general_frequency("qxzvwk", "en") == 0
