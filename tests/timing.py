"""How long work takes, where it must be quick: in processor time, since the machines that tests run on are shared.

Even that grows by half beside a busy neighbour, who takes caches and memory: what took too long is measured again.
Where each line is traced, by a debugger or by coverage before Python 3.14, it says nothing.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_TRIES = 3


def least_seconds(prepare: Callable[[], Callable[[], object]], limit: float) -> float:
    """The processor time of some work, the least of three tries if it is not below the limit at once.

    Args:
        prepare: makes the work, anew for each try, so that no try finds what another has left; is not measured.
        limit: with fewer seconds than these, no other try is needed.

    Returns:
        Seconds; 0 where lines are traced.
    """
    if sys.gettrace() is not None:
        prepare()()
        return 0.0
    least = float("inf")
    for _ in range(MOST_TRIES):
        work = prepare()
        gc.collect()
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
        if least < limit:
            break
    return least
