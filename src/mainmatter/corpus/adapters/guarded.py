"""Cleaning in a child process with limits, for pipelines whose own processes a page must not hang, fill or crash.

A process has one child for each way of cleaning, however often a pipeline makes or unpacks the cleaner: Spark does so
for each task. Children end with the process.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING

from mainmatter.corpus.adapters.page import Cleaned, PipelineCleaner, without_text
from mainmatter.errors import InputError
from mainmatter.limits import WALL_FACTOR

if TYPE_CHECKING:
    from mainmatter.isolation.kept import KeptChild


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
        return _clean_in_child(self, html, url)


def child_for(wanted: GuardedCleaner) -> KeptChild:
    """The child of this process for a way of cleaning."""
    from mainmatter.isolation.kept import kept_child  # Windows has none

    cleaner = wanted.cleaner
    method = cleaner.method if isinstance(cleaner.method, str | os.PathLike) else id(cleaner.method)
    key = repr((method, cleaner.format, cleaner.parameters, cleaner.limits))
    return kept_child(key, _CleaningService, cleaner, memory=wanted.max_memory)


def _clean_in_child(wanted: GuardedCleaner, html: str | bytes, url: str | None) -> Cleaned:
    from mainmatter.isolation.child import ChildExited  # Windows has none
    from mainmatter.isolation.kept import why_ended

    seconds, wall = wanted.max_seconds, WALL_FACTOR * wanted.max_seconds
    try:
        cleaned: Cleaned = child_for(wanted).call(html, url, seconds=wall, processor_seconds=seconds)
    except ChildExited as error:
        kind = {"time": "timeout", "memory": "out-of-memory"}.get(error.reason, "crashed")
        return without_text(f"{kind}: {why_ended(error, wall, seconds, wanted.max_memory)}")
    except (AttributeError, ImportError) as error:
        raise _not_sent(error) from error
    return cleaned


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
