from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter.lab.metrics.alignment import Alignment, align, common_subsequence, matching_blocks
from mainmatter.lab.metrics.bag import Counts
from mainmatter.text.tokens import marked_tokens

token_lists = st.lists(st.sampled_from(["a", "b", "c", "<p>", "<h>", "<l>"]), max_size=10)
marked_texts = token_lists.map(" ".join)


def naive_subsequence(a: list[str], b: list[str]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def difflib_matches(a: list[str], b: list[str]) -> int:
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def test_by_hand() -> None:
    # Extracted: <p> Menu <p> The cat sat     (2 markers, 4 words)
    # Gold:      <h> The cat <p> ran sat now  (2 markers, 5 words)
    # Words: The, cat, sat are common: 3 of 4 and 3 of 5.
    # All: the same three, because <p> stands before The on one side, after cat on the other: 3 of 6, 3 of 7.
    # Labelled markers: none stands aligned. Unlabelled: <h> = <p> before The: 1 of 2 on both sides.
    assert align("<p>Menu<p>The cat sat", "<h>The cat <p>ran sat now") == Alignment(
        words=Counts(3, 4, 5),
        words_and_markers=Counts(3, 6, 7),
        labelled=Counts(0, 2, 2),
        unlabelled=Counts(1, 2, 2),
    )


def test_labels_matter_only_for_labelled_markers() -> None:
    aligned = align("<p>One <p>two <l>three", "<h>One <p>two <p>three")
    assert aligned.labelled == Counts(1, 3, 3)
    assert aligned.unlabelled == Counts(3, 3, 3)
    assert aligned.words == Counts(3, 3, 3)
    assert aligned.words_and_markers == Counts(4, 6, 6)


def test_a_text_without_markup_scores_no_markers() -> None:
    # The baseline of table 4: no markers, hence 0 precision and recall.
    assert align("One two", "<p>One two").labelled.score.f1 == 0.0


def test_empty_texts() -> None:
    nothing = Counts(0, 0, 0)
    assert align("", "") == Alignment(nothing, nothing, nothing, nothing)
    assert align("", "<p>a").words == Counts(0, 0, 1)


def test_micro_average_pools_counts() -> None:
    # 1 of 1 and 0 of 9: the mean of the pages' precisions is 1/2, the pooled precision 1/10.
    pages = align("<p>a", "<p>a").words + align("<p>" + "x " * 9, "<p>y").words
    assert pages.score.precision == pytest.approx(0.1)


@given(token_lists, token_lists)
def test_alignment_is_optimal_and_difflib_a_lower_bound(a: list[str], b: list[str]) -> None:
    matched = sum(size for _, _, size in matching_blocks(a, b))
    assert matched == common_subsequence(a, b) == naive_subsequence(a, b)
    assert matched >= difflib_matches(a, b)


def test_difflib_agrees_on_simple_cases() -> None:
    for extracted, gold in [("a b c", "a b c"), ("x a b c y", "a b c"), ("a c", "a b c"), ("a b", "c d")]:
        aligned = align(extracted, gold).words.matched
        assert aligned == difflib_matches(extracted.split(), gold.split())


@given(token_lists, token_lists)
def test_blocks_are_equal_and_in_order_also_without_memory(a: list[str], b: list[str]) -> None:
    for cells in (10**9, 0):
        end_a = end_b = 0
        for i, j, size in matching_blocks(a, b, traceable_cells=cells):
            assert i >= end_a
            assert j >= end_b
            assert a[i : i + size] == b[j : j + size]
            end_a, end_b = i + size, j + size


@given(token_lists, token_lists)
def test_alignment_in_bounded_memory_is_a_lower_bound(a: list[str], b: list[str]) -> None:
    bounded = sum(size for _, _, size in matching_blocks(a, b, traceable_cells=0))
    assert bounded <= naive_subsequence(a, b)
    if a == b:
        assert bounded == len(a)


@given(marked_texts, marked_texts)
def test_counts_agree_with_each_other(extracted: str, gold: str) -> None:
    aligned = align(extracted, gold)
    assert aligned.words_and_markers.extracted == len(marked_tokens(extracted))
    for side in ("extracted", "gold"):
        both = getattr(aligned.words, side) + getattr(aligned.labelled, side)
        assert both == getattr(aligned.words_and_markers, side)
    assert aligned.words.matched >= aligned.words_and_markers.matched - aligned.labelled.matched
    for counts in (aligned.words, aligned.words_and_markers, aligned.labelled, aligned.unlabelled):
        assert 0 <= counts.matched <= min(counts.extracted, counts.gold)


def test_long_pages() -> None:
    page = "<p>" + " <p>".join(f"word{i % 997} and word{i % 31}" for i in range(20_000))
    aligned = align(page + " more", page)
    assert aligned.words == Counts(60_000, 60_001, 60_000)
    assert aligned.labelled == Counts(20_000, 20_000, 20_000)
