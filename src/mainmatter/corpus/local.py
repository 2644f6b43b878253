"""The local engine: some numbers to be worked on, by processes of this machine.

A process that dies (the kernel's memory killer, somebody's kill -9) is replaced, and its number given out again.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, TypeVar

from mainmatter.errors import InputError, MainmatterError
from mainmatter.isolation.parallel import default_workers
from mainmatter.isolation.processes import Started, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    tries = dict.fromkeys(numbers, 0)
    busy: dict[Any, tuple[Started, int]] = {}
    idle: list[Started] = []
    most = max(1, workers or default_workers())
    try:
        while waiting or busy:
            while waiting and len(busy) < most:
                worker = idle.pop() if idle else _start(work)
                number = waiting.popleft()
                tries[number] += 1
                busy[worker.connection] = worker, number
                _send(worker, number)
            for connection in wait(list(busy)):
                worker, number = busy.pop(connection)
                try:
                    result, error = worker.connection.recv()
                except (EOFError, OSError):
                    code = worker.bury()
                    if tries[number] >= MOST_TRIES:
                        raise InputError(_why_given_up(number, code)) from None
                    waiting.appendleft(number)
                    continue
                idle.append(worker)
                if error is not None:
                    raise error
                yield result
    finally:
        for worker in [*idle, *(worker for worker, _ in busy.values())]:
            worker.kill()


def _start(work: Callable[[int], Any]) -> Started:
    worker = start("mainmatter.corpus.local:serve")
    _send(worker, work)
    return worker


def _send(worker: Started, message: object) -> None:
    with suppress(ConnectionError):  # it died; waiting for its answer tells
        worker.connection.send(message)


def _why_given_up(number: int, code: int) -> str:
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"the process that worked on shard {number} died {MOST_TRIES} times ({how}); is there enough memory?"


def serve(connection: Connection[Any, Any]) -> None:
    """In a worker: do the work for each number that comes."""
    work = connection.recv()
    while True:
        try:
            number = connection.recv()
        except EOFError:
            return
        answer: tuple[Any, Exception | None]
        try:
            answer = work(number), None
        except Exception as error:
            answer = None, error
        _answer(connection, answer)


def _answer(connection: Connection[Any, Any], answer: tuple[Any, Exception | None]) -> None:
    try:
        connection.send(answer)
    except ConnectionError:
        raise SystemExit(1) from None
    except Exception:  # an error that cannot travel
        connection.send((None, MainmatterError(f"{type(answer[1]).__name__}: {answer[1]}")))
