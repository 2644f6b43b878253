"""One function over many items, in several processes, in order, with bounded memory; no item is ever lost.

A process that dies (a page that crashes it, the kernel's memory killer) takes down the pool of its siblings too. The
items that were under way are then done again one at a time, each in a process of its own, so that only the guilty one
comes back as a `Failure`.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

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

    Args:
        function: must be importable (defined in a module) if there is more than one worker.
        items: read as needed, so it may be endless.
        workers: how many processes; 1 works in this one.
    """
    if workers <= 1:
        for item in items:
            yield _try(function, item)
        return
    chunks = _chunks(items)
    pending: deque[tuple[list[Item], Future[list[Result | Failure[Item]]]]] = deque()
    pool = ProcessPoolExecutor(workers)
    try:
        while True:
            for chunk in islice(chunks, workers * CHUNKS_AHEAD - len(pending)):
                pending.append((chunk, _submit(pool, function, chunk)))
            if not pending:
                return
            chunk, future = pending.popleft()
            try:
                yield from future.result()
            except BrokenProcessPool:
                pool.shutdown(wait=False, cancel_futures=True)
                yield from _one_by_one(function, chunk)
                pool = ProcessPoolExecutor(workers)
                pending = deque((chunk, _submit(pool, function, chunk)) for chunk, _ in pending)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


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


def _chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _try(function: Callable[[Item], Result], item: Item) -> Result | Failure[Item]:
    try:
        return function(item)
    except Exception as error:
        return Failure(item, f"{type(error).__name__}: {error}")


def _try_all(function: Callable[[Item], Result], items: list[Item]) -> list[Result | Failure[Item]]:
    return [_try(function, item) for item in items]


def _one_by_one(function: Callable[[Item], Result], items: list[Item]) -> Iterator[Result | Failure[Item]]:
    """Do items again, each in a process of its own."""
    for item in items:
        with ProcessPoolExecutor(1) as pool:
            try:
                yield pool.submit(_try, function, item).result()
            except BrokenProcessPool:
                yield Failure(item, "the process that worked on it died")
