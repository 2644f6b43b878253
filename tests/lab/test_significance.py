from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mainmatter.errors import InputError
from mainmatter.lab.evaluation import TTest, paired_t_test

scores = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=2, max_size=30)


def test_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, standard deviation 1, error 1/sqrt(3), t = 2 sqrt(3) = 3.464, df = 2.
    # For df = 2, p = 1 - t / sqrt(t * t + 2) = 1 - 3.464 / sqrt(14) = 0.0742.
    result = paired_t_test([2, 4, 6], [1, 2, 3])
    assert result.t == pytest.approx(2 * math.sqrt(3))
    assert result.df == 2
    assert result.p == pytest.approx(1 - 2 * math.sqrt(3) / math.sqrt(14))


def test_the_papers_p_value() -> None:
    # NCleaner, section 4: t = 1.976, df = 157, p = .0499. Differences with that t: +-1 around a mean.
    mean = 1.976 / math.sqrt(157)  # 158 differences mean +- 1 have the deviation sqrt(158 / 157)
    result = paired_t_test([mean + 1, mean - 1] * 79, [0.0] * 158)
    assert result.t == pytest.approx(1.976)
    assert (result.df, round(result.p, 4)) == (157, 0.0499)


@given(scores)
def test_against_scipy(pairs: list[tuple[int, int]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = zip(*pairs, strict=True)
    assume(len({x - y for x, y in pairs}) > 1)
    expected = stats.ttest_rel(a, b)
    result = paired_t_test(a, b)
    assert (result.t, result.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert result.df == expected.df


def test_equal_scores_prove_nothing() -> None:
    assert paired_t_test([0.1, 0.5, 0.9], [0.1, 0.5, 0.9]) == TTest(0.0, 2, 1.0)
    assert paired_t_test([], []) == paired_t_test([1.0], [0.0]) == TTest(0.0, 0, 1.0)


def test_one_difference_on_all_pages_is_certain() -> None:
    assert paired_t_test([2, 3], [1, 2]) == TTest(math.inf, 1, 0.0)
    assert paired_t_test([1, 2], [2, 3]) == TTest(-math.inf, 1, 0.0)
    # The mean of three times 0.1 is not exactly 0.1: rounding must not pass for variance.
    assert paired_t_test([0.1] * 3, [0.0] * 3) == TTest(math.inf, 2, 0.0)


def test_lists_of_different_length() -> None:
    with pytest.raises(InputError, match="not 1 and 2"):
        paired_t_test([1.0], [1.0, 2.0])
