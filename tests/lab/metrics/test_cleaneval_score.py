from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter.lab.metrics.alignment import CleanEvalScore, cleaneval_score, edit_distance, similarity

token_lists = st.lists(st.sampled_from(["a", "b", "c", "<p>", "<h>"]), max_size=9)


def naive_edit_distance(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def test_by_hand() -> None:
    # Words: a b c d against a x c: substitute b, delete d = 2 edits; the longer has 4: 100 * (1 - 2/4) = 50.
    # With markers: <p> a b c d against <h> a x <p> c, 5 tokens each: all but a is substituted = 4 edits: 20.
    score = cleaneval_score("<p>a b c d", "<h>a x <p>c")
    assert score.text_only == pytest.approx(50)
    assert score.text_and_markup == pytest.approx(20)
    assert score.combined == pytest.approx(35)


def test_extracting_twice_as_much_costs_half() -> None:
    assert cleaneval_score("a b c d", "a b").text_only == pytest.approx(50)


def test_case_and_punctuation_count() -> None:
    assert cleaneval_score("Hello, world", "hello world").text_only == pytest.approx(50)


def test_nothing_extracted() -> None:
    assert cleaneval_score("", "<p>a b") == CleanEvalScore(0.0, 0.0)
    assert cleaneval_score("", "") == CleanEvalScore(100.0, 100.0)


@pytest.mark.parametrize(
    ("alignment", "text", "combined"),
    [(50.7, 73.7, 62.2), (58.7, 78.3, 68.5), (47.6, 57.3, 52.4), (51.4, 69.9, 60.6)],
)
def test_combined_is_the_mean_as_in_table_1_of_ice(alignment: float, text: float, combined: float) -> None:
    # The table rounds to one decimal: halves of sums of rounded numbers may be off by 0.1.
    assert CleanEvalScore(text, alignment).combined == pytest.approx(combined, abs=0.1)


@given(token_lists, token_lists)
def test_edit_distance_against_the_textbook(a: list[str], b: list[str]) -> None:
    assert edit_distance(a, b) == naive_edit_distance(a, b)


@given(token_lists, token_lists)
def test_similarity_is_symmetric_and_between_0_and_100(a: list[str], b: list[str]) -> None:
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 100
    assert (similarity(a, b) == 100) == (a == b)
