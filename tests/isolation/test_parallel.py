"""Many items in several processes: in order, nothing lost, whatever dies."""

from __future__ import annotations

import os
import signal
import time
from itertools import count, islice
from pickle import PicklingError
from threading import Lock
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

import mainmatter
from mainmatter.isolation import parallel
from mainmatter.isolation.parallel import CHUNK, CHUNKS_AHEAD, Failure, default_workers, ordered_map

if TYPE_CHECKING:
    from _thread import LockType
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


def raise_at_bytes(item: bytearray) -> int:
    raise ValueError(item)


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


def interrupt_at_five(number: int) -> int:
    if number == 5:
        raise KeyboardInterrupt
    return 2 * number


def double_but_lock_at_five(number: int) -> object:
    return Lock() if number == 5 else 2 * number


def double_unless_locked(number: int | LockType) -> int:
    return 2 * number if isinstance(number, int) else 0


def speak_in_lines(number: int) -> int:
    raise ValueError(f"one {number}\n  two\r\n\tthree " if number else "")


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


def test_the_item_of_a_failure_is_the_one_that_was_given() -> None:
    """It has not travelled back."""
    items = [bytearray(b"7"), bytearray(b"8")]
    first, second = ordered_map(raise_at_bytes, items, 2)
    assert isinstance(first, Failure)
    assert isinstance(second, Failure)
    assert first.item is items[0]
    assert second.item is items[1]


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


def test_an_interrupt_in_another_process_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        list(ordered_map(interrupt_at_five, range(10), 2))


def test_an_item_that_leaves_another_process_is_a_failure() -> None:
    assert list(ordered_map(leave_at_five, range(50), 2)) == [
        Failure(n, "SystemExit: bye") if n == 5 else 2 * n for n in range(50)
    ]


def test_a_result_that_cannot_travel_is_a_failure() -> None:
    results = list(ordered_map(double_but_lock_at_five, range(50), 2))
    assert results[:5] + results[6:] == [2 * n for n in range(50) if n != 5]
    assert isinstance(results[5], Failure)
    assert "cannot pickle '_thread.lock' object" in results[5].error


def test_an_item_that_cannot_travel_is_a_failure() -> None:
    lock = Lock()
    items = [*range(20), lock, *range(20)]
    results = list(ordered_map(double_unless_locked, items, 2))
    assert results[:20] == results[21:] == [2 * n for n in range(20)]
    assert isinstance(results[20], Failure)
    assert results[20].item is lock
    assert results[20].error == "TypeError: cannot pickle '_thread.lock' object"


def test_a_function_that_cannot_travel_is_told_at_once() -> None:
    with pytest.raises((AttributeError, PicklingError), match="lambda"):
        list(ordered_map(lambda number: number, range(3), 2))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_one_line(workers: int) -> None:
    assert list(ordered_map(speak_in_lines, range(2), workers)) == [
        Failure(0, "ValueError"),
        Failure(1, "ValueError: one 1 two three"),
    ]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [0, 1, CHUNK, CHUNK + 3, 100])
def test_an_error_of_the_items_themselves_is_the_callers_after_the_results(workers: int, number: int) -> None:
    def items() -> Iterator[int]:
        yield from range(number)
        raise OSError("disk")

    results = ordered_map(double, items(), workers)
    assert list(islice(results, number)) == [2 * n for n in range(number)]
    with pytest.raises(OSError, match="disk"):
        next(results)


def test_default_workers() -> None:
    assert 1 <= default_workers() <= (os.cpu_count() or 1)


def test_without_child_processes_a_warning_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "os", SimpleNamespace(name="nt"))
    pages = ["<p>High water at noon, says the old table.</p>"] * 3
    with pytest.warns(RuntimeWarning, match="workers=2: child processes need Linux or macOS.* use Docker") as warned:
        texts = list(mainmatter.clean_many(pages, workers=2, format="text"))
    assert texts == [mainmatter.clean(page).text for page in pages]
    assert [warning.filename for warning in warned] == [__file__]
    assert default_workers() == 1  # so that commands warn only of what was asked for
