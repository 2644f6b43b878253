"""One function over many items, in several processes, in order, with bounded memory; no item is ever lost.

When a process dies (a page that crashes it, the kernel's memory killer), the items that it was working on are
retried one at a time, each in its own process, so that only the one at fault becomes a `Failure`. The same is done for
items that cannot be sent to another process, or whose results cannot be sent back.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from mainmatter.errors import warn_caller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mainmatter.isolation.pool import Call

Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 8  # items sent at once: fewer round trips; small enough to keep all processes busy at the end
CHUNKS_AHEAD = 4  # for each process: how far reading may run ahead of the results


@dataclass(frozen=True, slots=True)
class Failure(Generic[Item]):
    """An item for which a function raised an error, or for which its process died.

    Attributes:
        item: the item itself; for `clean_many`, the page.
        error: what went wrong, as one line.
    """

    item: Item
    error: str


def default_workers() -> int:
    """How many cores this process may use; 1 where there are no child processes (`ordered_map`)."""
    if os.name != "posix":
        return 1
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
        workers: how many processes; 1 means this one, and so does any number where child.py cannot work (Windows).

    Warns:
        RuntimeWarning: there are no child processes here.
    """
    if _possible_workers(workers) == 1:
        for item in items:
            yield _try(function, item)
        return
    from multiprocessing import get_start_method  # who needs no processes need not load them
    from multiprocessing.reduction import ForkingPickler

    from mainmatter.isolation.child import Child, ChildExited
    from mainmatter.isolation.pool import Pool

    ForkingPickler.dumps(function)  # one that cannot be sent raises an error at once, not for each item
    fork = get_start_method() == "fork"
    reading_errors: list[Exception] = []
    chunks = _chunks(_until_error(items, reading_errors))
    ahead = list(islice(chunks, workers * CHUNKS_AHEAD))
    count = min(workers, len(ahead))
    forked: list[Child] = []
    pending: deque[tuple[list[Item], Call]] = deque()
    pool = Pool(lambda: forked.pop() if forked else Child(_Mapper, function), count)
    try:
        # Forks are made before there are threads. In a thread, a new interpreter replaces a process that died.
        forked += (Child(_Mapper, function, fork=True) for _ in range(count if fork else 0))
        while True:
            ahead += islice(chunks, workers * CHUNKS_AHEAD - len(pending) - len(ahead))
            pending.extend((chunk, pool.submit(chunk)) for chunk in ahead)
            ahead.clear()
            if not pending:
                break
            chunk, call = pending.popleft()
            if call.exception() is None:
                yield from _to_results(chunk, call.result())
                continue
            for item in chunk:  # again, each in a process of its own
                child = Child(_Mapper, function, fork=fork)
                results: list[Result | Failure[Item]]
                try:
                    results = _to_results([item], child.call([item]))
                except ChildExited:
                    results = [Failure(item, "the process that worked on it died")]
                except Exception as error:
                    results = [Failure(item, _one_line(error))]
                finally:
                    child.close()
                yield from results
    finally:
        pool.close(at_once=False)
        for child in forked:
            child.close()
    for reading_error in reading_errors:
        raise reading_error


def _possible_workers(workers: int) -> int:
    if workers <= 1 or os.name == "posix":
        return max(workers, 1)
    warn_caller(
        f"workers={workers}: child processes need Linux or macOS, so all work is done in this process, and a page that "
        "crashes it ends it; use Docker or the Windows Subsystem for Linux, or divide the pages among processes of "
        "your own",
        RuntimeWarning,
    )
    return 1


class _Raised(str):
    """In place of a result: what the function raised, as one line. The item is known where this arrives."""

    __slots__ = ()


class _Mapper(Generic[Item, Result]):
    """In a child: the function, for some items at a time; and whether it was interrupted there."""

    def __init__(self, function: Callable[[Item], Result]) -> None:
        self._function = function

    def __call__(self, items: list[Item]) -> tuple[list[Result | _Raised], bool]:
        results: list[Result | _Raised] = []
        for item in items:
            try:
                results.append(self._function(item))
            except (Exception, SystemExit) as error:
                results.append(_Raised(_one_line(error)))
            except KeyboardInterrupt:
                return results, True
        return results, False


def _to_results(items: list[Item], answer: tuple[list[Result | _Raised], bool]) -> list[Result | Failure[Item]]:
    """The answer of a `_Mapper` to some items."""
    results, was_interrupted = answer
    if was_interrupted:
        raise KeyboardInterrupt
    return [
        Failure(item, str(result)) if isinstance(result, _Raised) else result
        for item, result in zip(items, results, strict=True)
    ]


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


def _one_line(error: BaseException) -> str:
    name, text = type(error).__name__, " ".join(str(error).split())
    return f"{name}: {text}" if text else name
