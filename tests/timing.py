"""Whether time grows linearly, and waiting for others: neither depends on how fast the machine is.

Growth is measured in processor time, since the machines that tests run on are shared. Even that grows by half beside a
busy neighbour, who takes caches and memory, so the least of several tries counts. Where each line is traced, by a
debugger or by coverage before Python 3.14, it says nothing.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TRIES = 3
QUICK = 0.5
"""Seconds. What takes fewer has not grown out of hand, and is too short for its growth to be measured well."""
GROWTH = 9
"""Four times the size takes four times as long if time is linear, sixteen times if it is quadratic."""
PATIENCE = 240.0
"""Seconds until something that never happens is given up: far more than the busiest machine needs."""


def assert_linear(make: Callable[[int], Callable[[], object]], size: int, quick: float = QUICK) -> float:
    """Hold that work takes time linear in its size: a quarter of the size takes more than a ninth of the time.

    A size is large enough if what takes time in proportion to its square takes seconds, since work that is quick
    even at its full size passes.

    Args:
        make: prepares work of some size, anew for each try, so that no try finds what another has left; this is not
            measured.
        size: the full size.
        quick: seconds below which nothing is compared; fewer for sizes that are smaller than they could be, since
            what is quadratic is soon quick on those.

    Returns:
        The processor time of the full size in seconds, 0 where lines are traced.
    """
    if sys.gettrace() is not None:
        make(size)()
        return 0.0
    seconds = _seconds(make(size))
    if seconds < quick:
        return seconds
    quarter = min(_seconds(make(size // 4)) for _ in range(TRIES))
    for _ in range(TRIES - 1):
        if seconds < GROWTH * quarter:
            break
        seconds = min(seconds, _seconds(make(size)))
    assert seconds < GROWTH * quarter, f"size {size:,} takes {seconds:.2f} s, a quarter of it {quarter:.2f} s"
    return seconds


def _seconds(work: Callable[[], object]) -> float:
    """The processor time of some work, without collections of garbage: they take longer, the more tests have run."""
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def wait_until(condition: Callable[[], object], what: str = "") -> None:
    """Wait until a condition holds; fails only after a time in which every machine would have come to it."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what or "what was waited for did not happen"
        time.sleep(0.01)
