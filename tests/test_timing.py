"""The helper that holds that time is linear, by a clock that tells what the work says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def work_for(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Callable[[], object]]:
    """Makes work that takes some seconds of processor time, of which none passes."""
    clock = [0.0]
    monkeypatch.setattr("timing.time.process_time", lambda: clock[0])
    monkeypatch.setattr("timing.sys.gettrace", lambda: None)

    def work_for(seconds: float) -> Callable[[], object]:
        def work() -> None:
            clock[0] += seconds

        return work

    return work_for


def test_what_is_linear_passes_and_what_is_quadratic_does_not(
    work_for: Callable[[float], Callable[[], object]],
) -> None:
    assert assert_linear(lambda n: work_for(n / 1000), 4000) == 4
    with pytest.raises(AssertionError, match=r"size 4,000 takes 16\.00 s, a quarter of it 1\.00 s"):
        assert_linear(lambda n: work_for((n / 1000) ** 2), 4000)


def test_a_try_that_a_busy_machine_slowed_down_does_not_count(
    work_for: Callable[[float], Callable[[], object]],
) -> None:
    slower = iter([5, 1, 3, 1, 1])
    assert assert_linear(lambda n: work_for(n / 1000 * next(slower)), 4000) == 4


def test_what_is_quick_is_measured_once(work_for: Callable[[float], Callable[[], object]]) -> None:
    sizes: list[int] = []
    assert_linear(lambda n: sizes.append(n) or work_for(0.1), 4000)  # type: ignore[func-returns-value]
    assert sizes == [4000]
