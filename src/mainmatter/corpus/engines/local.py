"""The local engine: some numbers to be worked on, by processes of this machine.

A process that dies (the kernel's memory killer, somebody's kill -9) is replaced, and its number given out again.
"""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING, TypeVar

from mainmatter.errors import InputError
from mainmatter.isolation.child import Child, ChildExited, as_service
from mainmatter.isolation.parallel import default_workers
from mainmatter.isolation.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

Result = TypeVar("Result")

MOST_TRIES = 5  # of a number whose process died each time


def run_all(work: Callable[[int], Result], numbers: Sequence[int], workers: int | None = None) -> Iterator[Result]:
    """Do some work for each number, in processes of this machine.

    Args:
        work: must be importable, or a `functools.partial` of what is; may be called again for a number whose process
            died in the middle of it.
        numbers: what to call it with.
        workers: how many processes; by default one a core.

    Yields:
        What the work returns, in the order in which it is done.

    Raises:
        InputError: a number's process died each time it was tried.
        Exception: whatever the work raises; all processes are ended then, as they are if the iterator is closed.
    """
    waiting = deque(numbers)
    tries: Counter[int] = Counter()
    busy: dict[Future[Result], int] = {}
    most = max(1, workers or default_workers())
    pool = Pool(lambda: Child(as_service, work), most)
    try:
        while waiting or busy:
            while waiting and len(busy) < most:
                number = waiting.popleft()
                tries[number] += 1
                busy[pool.submit(number)] = number
            for call in wait(busy, return_when=FIRST_COMPLETED).done:
                number = busy.pop(call)
                try:
                    result = call.result()
                except ChildExited as error:
                    if tries[number] >= MOST_TRIES:
                        how = f"signal {-error.code}" if error.code < 0 else f"exit code {error.code}"
                        died = f"the process that worked on shard {number} died {MOST_TRIES} times ({how})"
                        raise InputError(f"{died}; is there enough memory?") from None
                    waiting.appendleft(number)
                else:
                    yield result
    finally:
        pool.close()
