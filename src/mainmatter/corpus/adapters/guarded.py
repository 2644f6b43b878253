"""Cleaning in a child process with limits, for pipelines whose own processes a page must not hang, fill or crash.

A process has one child for each way of cleaning, however often a pipeline makes or unpacks the cleaner: Spark does so
for each task. Children end with the process.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING

from mainmatter.corpus.adapters.page import Cleaned, PipelineCleaner, without_text
from mainmatter.errors import InputError
from mainmatter.limits import WALL_FACTOR

if TYPE_CHECKING:
    from mainmatter.isolation.child import Child, ChildExited

_TRIES = 2  # of a page whose process died: memory may have been short for other reasons
_MOST_CHILDREN = 4  # of a process
_PATIENCE = 300.0  # seconds for a child to start


@dataclass(frozen=True)
class GuardedCleaner:
    """A `PipelineCleaner` that works in a child process; can travel to other processes.

    Where there are no such children (Windows), it works in this process, without limits.

    Args:
        cleaner: what cleans.
        max_seconds: how long a page may take, in seconds of processor time; ten times that by the clock.
        max_memory: how much memory a page may take, in bytes.

    Raises:
        InputError: a limit is no positive number, or the method cannot be sent to another process.
    """

    cleaner: PipelineCleaner
    max_seconds: float
    max_memory: int

    def __post_init__(self) -> None:
        for name in ("max_seconds", "max_memory"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be a number above 0, not {getattr(self, name)!r}")
        if os.name == "posix":
            try:
                ForkingPickler.dumps(self.cleaner)
            except Exception as error:  # each object has its own
                raise _not_sent(error) from error

    def __call__(self, html: object, url: str | None = None) -> Cleaned:
        """Clean a page; see `PipelineCleaner`. One that goes beyond a limit has an error that says so."""
        if isinstance(html, bytearray | memoryview):
            html = bytes(html)
        if os.name != "posix" or not isinstance(html, str | bytes):
            return self.cleaner(html, url)
        return _child_for(self)(html, url)


class _CleaningChild:
    """A child that is started when it is needed, and again when a page has ended it. Threads wait for each other."""

    def __init__(self, wanted: GuardedCleaner) -> None:
        self._wanted = wanted
        self._child: Child | None = None
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def __call__(self, html: str | bytes, url: str | None) -> Cleaned:
        from mainmatter.isolation.child import ChildExited  # noqa: PLC0415 - Windows has none

        seconds = self._wanted.max_seconds
        with self._lock:
            for tries in range(1, _TRIES + 1):
                child = self._started()
                try:
                    cleaned: Cleaned = child.call(html, url, seconds=WALL_FACTOR * seconds, processor_seconds=seconds)
                except ChildExited as error:
                    self._child = None
                    if error.reason == "time" or tries == _TRIES:
                        return without_text(self._told(error))
                else:
                    if child.is_last:
                        self._end()
                    return cleaned
            raise AssertionError

    def _started(self) -> Child:
        from mainmatter.isolation.child import Child  # noqa: PLC0415 - Windows has none

        if self._child is None:
            child = Child(_CleaningService, self._wanted.cleaner, memory=self._wanted.max_memory)
            try:
                child.wait_ready(_PATIENCE)
            except (AttributeError, ImportError) as error:
                raise _not_sent(error) from error
            self._child = child
        return self._child

    def close(self) -> None:
        """End the child, when it has nothing to do."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._child is not None and self._pid == os.getpid():  # else this is a fork, and the child is its parent's
            self._child.end()
            self._child = None

    def _told(self, error: ChildExited) -> str:
        if error.reason == "time":
            seconds = self._wanted.max_seconds
            return f"timeout: took more than {seconds:g} s of processor time, or {WALL_FACTOR} times that in all"
        if error.reason == "memory":
            return f"out-of-memory: took more than {self._wanted.max_memory / 1e6:g} MB of memory"
        return f"crashed: crashed its worker process twice ({error.how})"


_children: OrderedDict[str, _CleaningChild] = OrderedDict()
_lock = threading.Lock()


def _child_for(wanted: GuardedCleaner) -> _CleaningChild:
    """The child of this process for a way of cleaning; the one that was not asked for the longest makes room."""
    cleaner = wanted.cleaner
    method = cleaner.method if isinstance(cleaner.method, str | os.PathLike) else id(cleaner.method)
    limits = cleaner.limits, wanted.max_seconds, wanted.max_memory
    key = repr((os.getpid(), method, cleaner.format, cleaner.parameters, limits))
    with _lock:
        if key not in _children:
            _children[key] = _CleaningChild(wanted)
            atexit.register(_children[key].close)
            if len(_children) > _MOST_CHILDREN:
                _children.popitem(last=False)[1].close()
        _children.move_to_end(key)
        return _children[key]


def _not_sent(error: Exception) -> InputError:
    return InputError(f"the method cannot be sent to another process ({error}); give its name or its folder instead")


class _CleaningService:
    """In the child: what cleans."""

    def __init__(self, cleaner: PipelineCleaner) -> None:
        self._cleaner = cleaner
        self._cleaner.warm_up()

    def __call__(self, html: str | bytes, url: str | None) -> Cleaned:
        cleaned = self._cleaner(html, url)
        if cleaned.error is not None and cleaned.error.startswith("MemoryError"):
            raise MemoryError  # ends this process, whose memory is in no good state
        return cleaned
