from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from mainmatter.lab.metrics.bag import Counts, Score, bag_of_words, benchmark_score, count_shingles, shingles

few_words = st.lists(st.sampled_from(list("abcd")), max_size=12).map(" ".join)


def test_bag_counts_repeated_words_as_often_as_both_have_them() -> None:
    # Extracted: the x2, cat, sat (4 words); gold: the x1, cat, ran, far, off (5). Common: the, cat = 2.
    score = bag_of_words("The cat, the sat", "the cat ran far off")
    assert score == Score(2 / 4, 2 / 5, 4 / 9)


def test_bag_ignores_order() -> None:
    assert bag_of_words("c b a", "a b c").f1 == 1.0


def test_bag_of_chinese() -> None:
    # 東京 is two words, 京 is one of the gold standard's two (京, 都).
    assert bag_of_words("東京", "京都") == Score(0.5, 0.5, 0.5)


@given(few_words, few_words)
def test_bag_against_removing_words_one_by_one(extracted: str, gold: str) -> None:
    left, matched = gold.split(), 0
    for word in extracted.split():
        if word in left:
            left.remove(word)
            matched += 1
    assert bag_of_words(extracted, gold) == Score.from_counts(matched, len(extracted.split()), len(gold.split()))


def test_shingles_of_a_short_text_are_the_text() -> None:
    assert list(shingles("only three words")) == [("only", "three", "words")]
    assert not shingles("...")


def test_shingles_count_repetitions_and_keep_case() -> None:
    assert shingles("a b a b a b") == {("a", "b", "a", "b"): 2, ("b", "a", "b", "a"): 1}
    assert count_shingles("A b c d", "a b c d").matched == 0


def test_one_wrong_word_costs_up_to_four_shingles() -> None:
    # 8 words have 5 shingles; a wrong word at place 4 is in the shingles that start at 1, 2, 3, 4.
    assert count_shingles("a b c X e f g h", "a b c d e f g h") == Counts(1, 5, 5)


@given(few_words, few_words)
def test_shingles_against_the_benchmarks_definition(extracted: str, gold: str) -> None:
    def ngrams(text: str) -> list[tuple[str, ...]]:
        words = re.findall(r"\w+", text)
        return [tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3)) if words]

    true, predicted = ngrams(gold), ngrams(extracted)
    matched = sum(min(true.count(one), predicted.count(one)) for one in set(true))
    assert count_shingles(extracted, gold) == Counts(matched, len(predicted), len(true))


def test_benchmark_takes_f1_of_the_means_and_leaves_undefined_pages_out() -> None:
    # Precisions: 4/4, 1/4 and none (nothing extracted): mean 0.625. Recalls: 4/8, 1/1, 0/5: mean 0.5.
    pages = [Counts(4, 4, 8), Counts(1, 4, 1), Counts(0, 0, 5)]
    f1 = 2 * 0.625 * 0.5 / 1.125
    assert benchmark_score(pages) == Score(0.625, 0.5, f1)
    assert benchmark_score([Counts(0, 3, 0)]) == Score(0.0, 0.0, 0.0)
