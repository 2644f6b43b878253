"""The process that reads and cleans pages, under limits that hold even inside of C; guard.py watches over it.

Processor time: a timer of the kernel, whose signal ends the process, is set anew before each page. Memory: the kernel
gives no more than the process had after its imports, and so much more.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
import time
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.guard import CLEANING, MOST_AT_ONCE, NOTE, OUT_OF_MEMORY, READING, Outcome, Task
from mainmatter.corpus.readers import read_slice
from mainmatter.corpus.records import Record, Reject, Skipped
from mainmatter.corpus.work import make_work
from mainmatter.errors import MainmatterError
from mainmatter.isolation.processes import limit_memory, memory_given
from mainmatter.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.corpus.work import Result, Work

LONGEST_WAIT = 0.05  # seconds until what came of a page is sent
LARGEST_MESSAGE = 1 << 20  # characters of text


def serve(connection: Connection[Any, Any], notes: int) -> None:
    """Do the tasks that come, until nobody is there any more."""
    notebook = _Notebook(notes)
    sender = _Sender(connection)
    base = 0  # bytes of memory after the imports
    made: tuple[Task, Work] | None = None
    while True:
        try:
            task: Task = connection.recv()
        except (EOFError, ConnectionError):
            return
        notebook.note(READING, task.begin[0], task.begin[1] or task.slices[task.begin[0]].start)
        try:
            if made is None or not _is_same_work(made[0], task):
                made = task, _no_work if task.probe else make_work(task)
                gc.freeze()  # what is loaded stays: no collection of garbage need look at it again
            _load_readers(task)
            base = base or memory_given()
            limit_memory(base + task.job.max_memory)
            _do(task, made[1], notebook, sender)
            connection.send(("done", None))
        except BrokenPipeError:
            return
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except Exception as error:
            sender.flush()
            connection.send(("failed", _that_can_travel(error)))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            if task.probe:  # there is more to load yet
                base = 0


def _is_same_work(one: Task, other: Task) -> bool:
    """Whether what was made for one shard serves for the next: models, and what is remembered of pages.

    Counting begins anew with each shard.
    """
    if one.stage != "clean" or one.probe:
        return False
    return one == replace(other, slices=one.slices, begin=one.begin, doomed=one.doomed, careful=one.careful)


def _load_readers(task: Task) -> None:
    """Load what readers load at first use, before memory is limited; what is missing they will tell."""
    modules = {"parquet": "pyarrow.parquet", "warc": "fastwarc.warc", "wet": "fastwarc.warc"}
    for kind in {one.kind for one in task.slices} & set(modules):
        with suppress(ImportError):
            import_module(modules[kind])


def _no_work(_: Record) -> Result:
    """What is done with records that are only read to see whether that kills: nothing."""
    return (), b""


def _do(task: Task, work: Work, notebook: _Notebook, sender: _Sender) -> None:
    """Read and work on all records of a task; each gives one outcome."""
    sender.careful = task.careful
    doomed = dict(task.doomed)
    first, start = task.begin
    for number in range(first, len(task.slices)):
        one = task.slices[number]
        for read in _records(task, one, number, start, notebook):
            if task.probe:
                return
            notebook.note(CLEANING, number, read.position)
            signal.setitimer(signal.ITIMER_PROF, task.job.max_seconds)
            sender.add(_outcome(read, number, work, doomed.get((number, read.position))))
            notebook.note(READING, number, read.position + 1)
            signal.setitimer(signal.ITIMER_PROF, task.job.max_seconds)
        start = None
    sender.flush()


def _records(task: Task, one: Slice, number: int, start: int | None, notebook: _Notebook) -> Iterator[Read]:
    """What a slice holds; a reader that fails, which it should not, costs the rest of the slice and is told."""
    position = one.start if start is None else start
    notebook.note(READING, number, position)
    signal.setitimer(signal.ITIMER_PROF, task.job.max_seconds)
    limits = Limits(size=task.job.max_size)
    try:
        for read in read_slice(one, limits, start, robots=task.job.filters.robots_txt):
            yield read
            position = read.position + 1
    except (MainmatterError, OSError, MemoryError):
        raise
    except Exception as error:
        yield Reject("damaged", f"the rest of the input's slice is unreadable: {_told(error)}", one.path, position)


def _outcome(read: Read, number: int, work: Work, doom: tuple[str, str] | None) -> Outcome:
    if isinstance(read, Skipped):
        return Outcome(number, read.position, 0, read.type)
    if isinstance(read, Reject):
        return Outcome(number, read.position, 0, read)
    size = len(read.page.html)
    if doom is not None:
        return Outcome(number, read.position, size, _reject(read, *doom))
    try:
        result, signature = work(read)
    except MemoryError:
        raise
    except Exception as error:
        return Outcome(number, read.position, size, _reject(read, "error", _told(error)))
    if isinstance(result, tuple):
        return Outcome(number, read.position, size, result, signature)
    return Outcome(number, read.position, size, result)


def _reject(record: Record, reason: str, detail: str) -> Reject:
    return Reject(reason, detail, record.source, record.position, record.page.id, record.page.url)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"


def _that_can_travel(error: Exception) -> Exception:
    """An OSError of some library may have any constructor; ours and Python's own can be pickled."""
    if type(error).__module__ in ("builtins", MainmatterError.__module__):
        return error
    return MainmatterError(_told(error))


class _Notebook:
    """Shared memory in which the guard finds what was under way when this process died."""

    def __init__(self, file: int) -> None:
        self._shared = mmap.mmap(file, mmap.PAGESIZE)
        self._count = 0

    def note(self, phase: int, number: int, position: int) -> None:
        self._count += 1
        NOTE.pack_into(self._shared, 0, self._count, phase, number, position)


class _Sender:
    """Sends outcomes, some at a time."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self.careful = 0
        self._connection = connection
        self._waiting: list[Outcome] = []
        self._length = 0
        self._due = 0.0

    def add(self, outcome: Outcome) -> None:
        now = time.monotonic()
        if not self._waiting:
            self._due = now + LONGEST_WAIT
        self._waiting.append(outcome)
        self._length += outcome.size  # what is kept of a page is smaller than the page
        self.careful -= 1
        is_full = len(self._waiting) >= MOST_AT_ONCE or self._length > LARGEST_MESSAGE
        if self.careful >= 0 or is_full or now >= self._due:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            self._connection.send(("outcomes", self._waiting))
            self._waiting, self._length = [], 0
