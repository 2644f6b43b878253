"""Many items in several processes: in order, nothing lost, whatever dies."""

from __future__ import annotations

import os
import signal
import time
from itertools import count, islice
from typing import TYPE_CHECKING

import pytest

from mainmatter.parallel import CHUNK, CHUNKS_AHEAD, Failure, default_workers, ordered_map

if TYPE_CHECKING:
    from collections.abc import Iterator

DIED = "the process that worked on it died"


def double(number: int) -> int:
    return 2 * number


def double_slowly_at_first(number: int) -> int:
    time.sleep(0.02 if number < 4 else 0)
    return 2 * number


def raise_at_seven(number: int) -> int:
    if number % 10 == 7:
        raise ValueError(f"no {number}")
    return 2 * number


def exit_at_some(number: int) -> int:
    if number in (3, 20, 21, 60):
        os._exit(3)
    return 2 * number


def be_killed_at_thirty(number: int) -> int:
    if number == 30:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def leave_at_five(number: int) -> int:
    if number == 5:
        raise SystemExit("bye")
    return 2 * number


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("number", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 100])
def test_results_come_in_order(workers: int, number: int) -> None:
    assert list(ordered_map(double, range(number), workers)) == [2 * n for n in range(number)]


def test_a_slow_item_does_not_change_the_order() -> None:
    assert list(ordered_map(double_slowly_at_first, range(40), 2)) == [2 * n for n in range(40)]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_item_for_which_the_function_raises_is_a_failure(workers: int) -> None:
    assert list(ordered_map(raise_at_seven, range(30), workers)) == [
        Failure(n, f"ValueError: no {n}") if n in (7, 17, 27) else 2 * n for n in range(30)
    ]


def test_only_the_items_that_end_their_process_are_failures() -> None:
    assert list(ordered_map(exit_at_some, range(80), 2)) == [
        Failure(n, DIED) if n in (3, 20, 21, 60) else 2 * n for n in range(80)
    ]


def test_a_process_may_die_while_the_reader_is_slow() -> None:
    """The pool is broken before the next work is given to it."""
    results = []
    for result in ordered_map(exit_at_some, range(150), 2):
        results.append(result)
        time.sleep(0.002)
    assert results == [Failure(n, DIED) if n in (3, 20, 21, 60) else 2 * n for n in range(150)]


def test_a_process_may_be_killed() -> None:
    assert list(ordered_map(be_killed_at_thirty, range(50), 2)) == [
        Failure(n, DIED) if n == 30 else 2 * n for n in range(50)
    ]


def test_items_may_be_endless_and_are_read_as_needed() -> None:
    read = 0

    def items() -> Iterator[int]:
        nonlocal read
        for n in count():
            read += 1
            yield n

    results = ordered_map(double, items(), 2)
    assert list(islice(results, 100)) == [2 * n for n in range(100)]
    assert read <= 100 + CHUNK + 2 * CHUNKS_AHEAD * CHUNK
    del results  # ends the processes


def test_one_worker_reads_one_item_at_a_time() -> None:
    numbers = count()
    results = ordered_map(double, numbers)
    assert next(results) == 0
    assert next(results) == 2
    assert next(numbers) == 2


def test_an_interrupt_is_not_swallowed() -> None:
    with pytest.raises(SystemExit):
        list(ordered_map(leave_at_five, range(10)))


def test_an_error_of_the_items_themselves_is_the_callers() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("disk")

    results = ordered_map(double, items())
    assert next(results) == 2
    with pytest.raises(OSError, match="disk"):
        next(results)


def test_default_workers() -> None:
    assert 1 <= default_workers() <= (os.cpu_count() or 1)
