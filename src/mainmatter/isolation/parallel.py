"""One function over many items, in several processes, in order, with bounded memory; no item is ever lost.

A process that dies (a page that crashes it, the kernel's memory killer) takes down the pool of its siblings too. The
items that were under way are then done again one at a time, each in a process of its own, so that only the guilty one
comes back as a `Failure`. The same is done for items that cannot travel to another process, or their results back.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 8  # items sent at once: fewer round trips; small enough to keep all processes busy at the end
CHUNKS_AHEAD = 4  # for each process: how far reading may run ahead of the results


@dataclass(frozen=True, slots=True)
class Failure(Generic[Item]):
    """An item for which the function raised or its process died.

    Attributes:
        item: what was to be done.
        error: what went wrong, as one line.
    """

    item: Item
    error: str


def default_workers() -> int:
    """As many processes as this process may use cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int = 1
) -> Iterator[Result | Failure[Item]]:
    """Apply a function to items, in order; where it raises, a `Failure` stands in for the result.

    An error of the items' own iterator is raised after the results of all items before it.

    Args:
        function: must be importable (defined in a module) if there is more than one worker.
        items: read as needed, so it may be endless.
        workers: how many processes; 1 works in this one.
    """
    if workers <= 1:
        for item in items:
            yield _try(function, item)
        return
    ForkingPickler.dumps(function)  # one that cannot travel is told at once, not item by item
    reading_errors: list[Exception] = []
    chunks = _chunks(_until_error(items, reading_errors))
    pending: deque[tuple[list[Item], Future[list[Result | Failure[Item]]]]] = deque()
    pool = _pool(workers)
    try:
        while True:
            for chunk in islice(chunks, workers * CHUNKS_AHEAD - len(pending)):
                pending.append((chunk, _submit(pool, function, chunk)))
            if not pending:
                break
            chunk, future = pending.popleft()
            error = _error_of(future)
            yield from future.result() if error is None else _one_by_one(function, chunk)
            if isinstance(error, BrokenProcessPool):
                pool.shutdown(wait=False, cancel_futures=True)
                pool = _pool(workers)
                pending = deque((chunk, _submit(pool, function, chunk)) for chunk, _ in pending)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    for reading_error in reading_errors:
        raise reading_error


def _pool(workers: int) -> ProcessPoolExecutor:
    """Processes that leave an interrupt from the keyboard, which all of them get, to this one."""
    return ProcessPoolExecutor(workers, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))


def _submit(
    pool: ProcessPoolExecutor, function: Callable[[Item], Result], chunk: list[Item]
) -> Future[list[Result | Failure[Item]]]:
    """Give a pool work. One that broke meanwhile refuses it; the future says so, as do those already under way."""
    try:
        return pool.submit(_try_all, function, chunk)
    except BrokenProcessPool as error:
        refused: Future[list[Result | Failure[Item]]] = Future()
        refused.set_exception(error)
        return refused


def _error_of(future: Future[Any]) -> BaseException | None:
    """Why another process gave no result; an interrupt, which it got from the keyboard as we did, is raised."""
    error = future.exception()
    if isinstance(error, KeyboardInterrupt):
        raise error
    return error


def _until_error(items: Iterable[Item], errors: list[Exception]) -> Iterator[Item]:
    """The items up to the first that cannot be read; why goes to `errors`."""
    try:
        yield from items
    except Exception as error:
        errors.append(error)


def _chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _try(function: Callable[[Item], Result], item: Item) -> Result | Failure[Item]:
    try:
        return function(item)
    except Exception as error:
        return Failure(item, _one_line(error))


def _try_all(function: Callable[[Item], Result], items: list[Item]) -> list[Result | Failure[Item]]:
    return [_try(function, item) for item in items]


def _one_by_one(function: Callable[[Item], Result], items: list[Item]) -> Iterator[Result | Failure[Item]]:
    """Do items again, each in a process of its own."""
    for item in items:
        with _pool(1) as pool:
            future = pool.submit(_try, function, item)
            error = _error_of(future)
        if error is None:
            yield future.result()
        elif isinstance(error, BrokenProcessPool):
            yield Failure(item, "the process that worked on it died")
        else:
            yield Failure(item, _one_line(error))


def _one_line(error: BaseException) -> str:
    name, text = type(error).__name__, " ".join(str(error).split())
    return f"{name}: {text}" if text else name
