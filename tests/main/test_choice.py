"""From probabilities to the choice of blocks that promises the highest F."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter.main.choice import PAGE_TYPES, best_choice, calibrate, join_tables

MIDDLE = 0.7
DIALS = (0.0, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.999, 1.0)
blocks = st.lists(
    st.tuples(st.one_of(st.sampled_from((0.0, 0.5, 1.0)), st.floats(0, 1)), st.integers(1, 5000)), max_size=8
)


def kept(chances: list[float], sizes: list[float], dial: float = 0.5) -> list[bool]:
    found = best_choice(np.array(chances, np.float64), np.array(sizes, np.float64), dial, MIDDLE)
    assert found.kept.dtype == np.bool_
    return list(map(bool, found.kept))


def promise(choice: tuple[bool, ...], chances: list[float], sizes: list[int], dial: float) -> float:
    """The F that a choice promises, for recall that counts `beta` times as much as precision."""
    beta = MIDDLE * dial / (1 - dial)
    rightly = sum(chance * size for is_kept, chance, size in zip(choice, chances, sizes, strict=True) if is_kept)
    all_kept = sum(size for is_kept, size in zip(choice, sizes, strict=True) if is_kept)
    wanted = sum(chance * size for chance, size in zip(chances, sizes, strict=True))
    return (1 + beta**2) * rightly / (all_kept + beta**2 * wanted)


def test_by_hand() -> None:
    # With beta 0.7: the first alone 0.9 / (1 + 0.49 * 1.6) = 0.504, two 1.4 / 2.784 = 0.503, all 1.6 / 3.784 = 0.423.
    assert kept([0.9, 0.5, 0.2], [1, 1, 1]) == [True, False, False]
    # 0.9 / 1.735 = 0.519; 1.45 / 2.735 = 0.530; 1.5 / 3.735 = 0.402
    assert kept([0.05, 0.9, 0.55], [1, 1, 1]) == [False, True, True]
    assert kept([0.9, 0.1], [1, 1]) == [True, False]
    assert kept([0.9, 0.1], [1, 1], dial=0.9) == [True, True]


def test_the_size_of_a_block_counts() -> None:
    # A short sure block is not enough where a long one is likely: 10 / 53.8 against 61 / 152.
    assert kept([0.99, 0.5], [10, 100]) == [True, True]
    assert kept([0.99, 0.5], [1000, 100]) == [True, False]


def test_where_nothing_is_sure_the_threshold_is_lower() -> None:
    assert kept([0.3, 0.3, 0.02], [5, 5, 5]) == [True, True, False]
    assert kept([0.99, 0.3, 0.02], [5, 5, 5]) == [True, False, False]


def test_the_expected_f1_by_hand() -> None:
    # 4.5 of 5 words are kept rightly, 5.5 are wanted.
    found = best_choice(np.array([0.9, 0.1]), np.array([5.0, 10.0]))
    assert found.kept.tolist() == [True, False]
    assert found.expected == pytest.approx(2 * 4.5 / (5 + 5.5))
    assert best_choice(np.array([1.0, 1.0, 0.0]), np.array([3.0, 4.0, 9.0])).expected == 1


def test_no_blocks() -> None:
    for dial in DIALS:
        found = best_choice(np.zeros(0), np.zeros(0), dial)
        assert found.kept.shape == (0,)
        assert found.kept.dtype == np.bool_
        assert found.expected == 0


def test_one_block_is_always_kept() -> None:
    for dial, chance in product(DIALS, (0.0, 1e-300, 0.5, 1.0)):
        assert kept([chance], [7], dial) == [True]


def test_nothing_is_likely() -> None:
    for dial in DIALS:
        found = best_choice(np.zeros(3), np.ones(3), dial)
        assert found.kept.all()  # all are as good
        assert found.expected == 0


def test_the_ends_of_the_dial() -> None:
    chances, sizes = [0.2, 0.999, 0.0, 0.9], [500.0, 1.0, 30.0, 8.0]
    assert kept(chances, sizes, dial=0) == [False, True, False, False]
    assert kept(chances, sizes, dial=1) == [True] * 4


def test_at_the_end_of_the_dial_hardly_any_chance_is_too_small() -> None:
    # Beta is a million at most: kept is what is likelier than one in a million millions.
    assert kept([1.0, 1.1e-12], [1, 1], dial=1 - 1e-10) == [True, True]
    assert kept([1.0, 0.9e-12], [1, 1], dial=1 - 1e-10) == [True, False]


def test_recall_counts_like_precision_unless_told_otherwise() -> None:
    # Of a sure block and one of the same size, the second is kept where p² + 2 p > 1.
    for chance, is_kept in ((0.41, False), (0.42, True)):
        assert best_choice(np.array([1.0, chance]), np.ones(2)).kept.tolist() == [True, is_kept]


def test_blocks_that_are_equally_likely_stay_together() -> None:
    for dial in DIALS:
        assert kept([0.25, 0.75, 0.75, 0.25], [2, 4, 8, 16], dial) in ([False, True, True, False], [True] * 4)


def test_tiny_and_huge_sizes() -> None:
    chances = [0.9, 0.6, 0.01]
    for size in (1e-300, 1e-9, 1.0, 1e12):
        assert kept(chances, [size] * 3) == kept(chances, [1.0] * 3)
    assert np.isfinite(best_choice(np.array([1e-300, 1e-310]), np.array([1e-5, 1e9])).expected)


@given(blocks, st.sampled_from(DIALS[:-1]))
def test_no_choice_at_all_promises_more(given_blocks: list[tuple[float, int]], dial: float) -> None:
    chances, sizes = [chance for chance, _ in given_blocks], [size for _, size in given_blocks]
    found = best_choice(np.array(chances, np.float64), np.array(sizes, np.float64), dial, MIDDLE)
    assert 0 <= found.expected <= 1
    if not chances:
        return
    assert found.kept.any()
    choices = [choice for choice in product((False, True), repeat=len(chances)) if any(choice)]
    most = max(promise(choice, chances, sizes, dial) for choice in choices)
    assert promise(tuple(found.kept.tolist()), chances, sizes, dial) == pytest.approx(most, rel=1e-9, abs=1e-300)


@given(blocks)
def test_more_is_kept_the_further_the_dial_is_turned(given_blocks: list[tuple[float, int]]) -> None:
    # Chances in steps: of those that are equal but for rounding, rounding may decide.
    chances = [round(chance, 3) for chance, _ in given_blocks]
    sizes = [float(size) for _, size in given_blocks]
    before = [False] * len(chances)
    for dial in DIALS[1:]:
        now = kept(chances, sizes, dial)
        assert all(is_kept or not was_kept for was_kept, is_kept in zip(before, now, strict=True))
        before = now
    assert all(before)


@given(blocks, st.sampled_from(DIALS), st.sampled_from([0.85, 1.0, 2.0]))
def test_the_threshold_and_the_dial_that_flips_each_block(
    given_blocks: list[tuple[float, int]], dial: float, beta: float
) -> None:
    chances = np.array([round(chance, 3) for chance, _ in given_blocks])
    found = best_choice(chances, np.array([size for _, size in given_blocks], np.float64), dial, beta)
    away = (np.abs(found.dials - dial) > 1e-5) | (found.dials == 1)  # else rounding decides
    assert ((found.dials <= dial) == found.kept)[away].all()
    away = np.abs(chances - found.threshold) > 1e-9
    assert ((chances >= found.threshold) == found.kept)[away].all()
    assert ((found.dials >= 0) & (found.dials <= 1)).all()


def test_a_block_is_kept_from_that_dial_on_with_which_likelier_ones_have_an_f_of_its_probability() -> None:
    # (0.8 / 0.4 - 1) / (0.8 + 0.4) is the square of beta.
    found = best_choice(np.array([0.8, 0.4, 0.0]), np.ones(3))
    beta = (1 / 1.2) ** 0.5
    assert found.dials == pytest.approx([0, beta / (1 + beta), 1], abs=1e-6)
    assert found.threshold == pytest.approx(1.2 / (2 + 1.2))
    assert best_choice(np.array([0.8, 0.4, 0.0]), np.ones(3), dial=1).threshold == 0


def test_the_same_however_the_blocks_are_ordered() -> None:
    rng = np.random.default_rng(3)
    chances, sizes = rng.random(40), rng.integers(1, 900, 40).astype(np.float64)
    order = rng.permutation(40)
    found, again = best_choice(chances, sizes), best_choice(chances[order], sizes[order])
    assert found.kept[order].tolist() == again.kept.tolist()
    assert found.expected == pytest.approx(again.expected)


def test_what_is_given_is_not_changed() -> None:
    chances, sizes = np.array([0.1, 0.9]), np.array([3.0, 4.0])
    best_choice(chances, sizes)
    assert chances.tolist() == [0.1, 0.9]
    assert sizes.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("page_type", "promised", "expected"),
    [
        ("article", 0.9, 0.85079),
        ("forum", 0.9, 0.79502),
        (None, 0.9, 0.79502),
        ("product", 0.9, 0.70317),
        ("listing", 0.5, 0.45),
    ],
)
def test_what_a_promise_is_worth(page_type: str | None, promised: float, expected: float) -> None:
    assert calibrate(promised, page_type) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("page_type", PAGE_TYPES)
def test_a_higher_promise_is_worth_more(page_type: str) -> None:
    worth = [calibrate(promised / 100, page_type) for promised in range(101)]
    assert worth == sorted(worth)
    assert (worth[0], worth[-1]) == (0, 1)


def test_the_rows_of_a_table_stand_or_fall_together() -> None:
    chances = np.array([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5], [0.0, 1.0], [0.3, 0.7], [1.0, 0.0]])
    is_row = np.array([True, True, False, True, False, True])
    joined = join_tables(chances, is_row, np.array([3.0, 1, 7, 7, 7, 7]))
    assert joined[:2] == pytest.approx(np.array([[0.275, 0.725]] * 2))  # by size: (3 * 0.1 + 0.8) / 4
    assert joined[2:].tolist() == chances[2:].tolist()  # a single row is as it was
    assert chances[0].tolist() == [0.1, 0.9]  # not changed in place
    assert join_tables(chances, ~is_row & (np.arange(6) > 3), np.ones(6)) is chances
    assert len(join_tables(np.zeros((0, 2)), np.zeros(0, np.bool_), np.zeros(0))) == 0
