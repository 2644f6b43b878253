"""How far a run is: one live line on a terminal, a line every some seconds otherwise; on standard error."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mainmatter.corpus.summary import Progress

LOG_EVERY = 10.0  # seconds
_WORDS = {"templates": "counting templates", "clean": "cleaning", "unique": "dropping duplicates"}


@contextmanager
def show_progress() -> Iterator[Callable[[Progress], None]]:
    """Gives a function to call again and again with how far the run is; what it shows is gone at the end."""
    if not sys.stderr.isatty():
        yield _Log().show
        return
    line = _Line()
    try:
        yield line.show
    finally:
        line.clear()


class _Line:
    """One line of a terminal that changes."""

    def __init__(self) -> None:
        self._is_shown = False

    def show(self, progress: Progress) -> None:
        width = shutil.get_terminal_size().columns - 1
        click.echo(f"\r\x1b[K{describe(progress)[:width]}", err=True, nl=False)
        self._is_shown = True

    def clear(self) -> None:
        if self._is_shown:
            click.echo("\r\x1b[K", err=True, nl=False)


class _Log:
    """Lines for a file, none of them too soon after another."""

    def __init__(self) -> None:
        self._due = time.monotonic() + LOG_EVERY

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._due:
            self._due = now + LOG_EVERY
            click.echo(describe(progress), err=True)


def describe(progress: Progress) -> str:
    """How far a run is, in a line."""
    seconds = max(progress.seconds, 1e-9)
    parts = [f"{_WORDS.get(progress.stage, progress.stage)}: {progress.earlier_pages + progress.pages:,} pages"]
    if progress.stage == "clean":
        parts.append(f"{progress.kept:,} kept" if not progress.earlier_pages else "")
    parts.append(f"{progress.pages / seconds:,.0f} pages/s")
    parts.append(f"{progress.bytes / MEGABYTE / seconds:,.1f} MB/s")
    parts.append(f"{progress.shards_done} of {progress.shards} shards")
    left = progress.seconds_left
    if left is not None:
        parts.append(f"{_clock(left)} left")
    if len(progress.stages) > 1:
        parts.append(f"stage {progress.stages.index(progress.stage) + 1} of {len(progress.stages)}")
    return ", ".join(filter(None, parts))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
