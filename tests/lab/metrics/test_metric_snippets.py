from __future__ import annotations

import pytest

from mainmatter.lab.metrics.bag import SnippetCounts, count_snippets


def test_by_hand() -> None:
    # Wanted: "main text" is there, "The End" is not (case). Unwanted: "Home" is there, two others are not.
    counts = count_snippets("Home main\n  text the end", ["main text", "The End"], ["Home", "Login", "Imprint"])
    assert counts == SnippetCounts(true_positives=1, false_negatives=1, false_positives=1, true_negatives=2)
    assert counts.precision == pytest.approx(1 / 2)
    assert counts.recall == pytest.approx(1 / 2)
    assert counts.f1 == pytest.approx(1 / 2)
    assert counts.accuracy == pytest.approx(3 / 5)


def test_white_space_of_snippets_is_normalised_too() -> None:
    assert count_snippets("a b", [" a\u00a0 b\n"]).true_positives == 1


def test_blank_snippets_are_skipped() -> None:
    assert count_snippets("text", ["", " "], ["\n"]) == SnippetCounts(0, 0, 0, 0)


def test_nothing_found_scores_zero_without_an_error() -> None:
    counts = count_snippets("", ["a"], ["b"])
    assert (counts.precision, counts.recall, counts.f1, counts.accuracy) == (0.0, 0.0, 0.0, 0.5)


def test_counts_pool() -> None:
    pooled = SnippetCounts(1, 0, 0, 0) + SnippetCounts(1, 2, 3, 4)
    assert pooled == SnippetCounts(2, 2, 3, 4)
    assert pooled.f1 == pytest.approx(4 / 9)  # 2 * 2 / (2 * 2 + 2 + 3)
