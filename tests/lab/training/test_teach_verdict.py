"""How probable a gain is: what pages, experience and people's answers say together."""

from __future__ import annotations

from math import sqrt

import pytest

from mainmatter.lab.training.verdict import (
    COUNTS_AS_PAGES,
    LIKELY,
    MOST_PAGES,
    PAGE_SPREAD,
    Experience,
    judge_gain,
    standard_error,
    weigh_answers,
)

NEUTRAL = Experience(expected=0.0, spread=0.1)


def test_gains_on_all_pages_are_likely_and_losses_are_not() -> None:
    assert judge_gain([0.2, 0.3, 0.25, 0.4, 0.3, 0.2], range(6)).probability > LIKELY
    assert judge_gain([-0.2, -0.3, -0.25, -0.4, -0.3, -0.2], range(6)).probability < 1 - LIKELY


def test_the_posterior_by_hand() -> None:
    """Experience and pages weigh by their precision: with the same one, the mean is in the middle."""
    error = standard_error([0.1, 0.1, 0.1, 0.1], range(4))
    found = judge_gain([0.1, 0.1, 0.1, 0.1], range(4), Experience(expected=0.0, spread=error))
    assert found.expected == pytest.approx(0.05)
    assert found.spread == pytest.approx(error / sqrt(2))
    assert judge_gain([0.0] * 4, range(4), NEUTRAL).probability == pytest.approx(0.5)
    hopeful = judge_gain([0.0] * 4, range(4), Experience(expected=0.1, spread=0.1))
    assert hopeful.probability > 0.6  # where pages say nothing, experience does


def test_few_pages_that_agree_are_not_certain() -> None:
    floor = sqrt(COUNTS_AS_PAGES * PAGE_SPREAD**2 / (3 + COUNTS_AS_PAGES) / 4)
    assert standard_error([0.1] * 4, range(4)) == pytest.approx(floor)
    assert standard_error([0.1] * 40, range(40)) < floor / 4


def test_pages_of_one_site_count_less() -> None:
    differences = [0.3, 0.3, 0.3, -0.1, -0.1, -0.1]
    assert standard_error(differences, "aaabbb") > standard_error(differences, "abcdef")


def test_how_many_more_pages_would_settle_it() -> None:
    open_ = judge_gain([0.1, -0.05, 0.1, -0.04], range(4), NEUTRAL)
    assert 0.5 < open_.probability < LIKELY
    assert open_.more_pages is not None
    assert 0 < open_.more_pages <= MOST_PAGES
    assert judge_gain([0.3] * 10, range(10), NEUTRAL).more_pages == 0
    assert judge_gain([-0.3] * 10, range(10), NEUTRAL).more_pages == 0
    assert judge_gain([0.001, -0.001] * 5, range(10), NEUTRAL).more_pages is None


def test_answers_are_weighed_as_a_sign_test() -> None:
    assert weigh_answers(0.7, 0, 0) == pytest.approx(0.7)
    assert weigh_answers(0.5, 3, 3) == pytest.approx(0.5)
    # Ten tosses show at most seven heads in 968 of 1024 cases.
    assert weigh_answers(0.5, 7, 2) == pytest.approx(968 / 1024)
    assert weigh_answers(0.5, 2, 7) == pytest.approx(56 / 1024)
    odds = 0.8 / 0.2 * 968 / 56
    assert weigh_answers(0.8, 7, 2) == pytest.approx(odds / (1 + odds))
