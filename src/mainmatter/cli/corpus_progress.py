"""How far a run is: one live line on a terminal, a line every some seconds otherwise; on standard error."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from mainmatter.corpus.engines import DEFAULT_ENGINE
from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mainmatter.corpus.summary import Progress

LOG_EVERY = 10.0  # seconds
FEWEST_PAGES = 5  # after the first ones, until a rate and an estimate are given: one page says nothing of the next
_NO_PAGE = "no page is reported yet"
_WORDS = {"templates": "counting templates", "clean": "cleaning", "unique": "dropping duplicates"}


@contextmanager
def show_progress(engine: str = DEFAULT_ENGINE) -> Iterator[Callable[[Progress], None]]:
    """Gives a function to call again and again with how far the run is; what it shows is gone at the end.

    Args:
        engine: who does the work; others than the local one take their time to start.
    """
    if not sys.stderr.isatty():
        yield _Log(engine).show
        return
    line = _Line(engine)
    try:
        yield line.show
    finally:
        line.clear()


class _Line:
    """One line of a terminal that changes."""

    def __init__(self, engine: str) -> None:
        self._teller = Teller(engine)
        self._is_shown = False

    def show(self, progress: Progress) -> None:
        width = shutil.get_terminal_size().columns - 1
        click.echo(f"\r\x1b[K{self._teller.tell(progress)[:width]}", err=True, nl=False)
        self._is_shown = True

    def clear(self) -> None:
        if self._is_shown:
            click.echo("\r\x1b[K", err=True, nl=False)


class _Log:
    """Lines for a file, none of them too soon after another; that there is no page yet is said once."""

    def __init__(self, engine: str) -> None:
        self._teller = Teller(engine)
        self._due = time.monotonic() + LOG_EVERY
        self._said = ""

    def show(self, progress: Progress) -> None:
        words = self._teller.tell(progress)
        now = time.monotonic()
        if now >= self._due and (progress.pages or words != self._said):
            self._due = now + LOG_EVERY
            self._said = words
            click.echo(words, err=True)


class Teller:
    """Puts into words how far a run is.

    Speed is measured from the first pages on: before them an engine starts and models are loaded, which says nothing of
    the pages that are left.

    Args:
        engine: who does the work.
    """

    def __init__(self, engine: str = DEFAULT_ENGINE) -> None:
        self._engine = engine
        self._first: Progress | None = None  # of the stage, with a page

    def tell(self, progress: Progress) -> str:
        """A line."""
        if self._first is not None and self._first.stage != progress.stage:
            self._first = None
        if self._first is None and progress.pages:
            self._first = progress
        stage = _WORDS.get(progress.stage, progress.stage)
        if self._first is None:
            return f"{stage}: {self._why_nothing(progress.earlier_pages)}"
        pages = progress.earlier_pages + progress.pages
        parts = [f"{stage}: {pages:,} page{'s' * (pages != 1)}"]
        if progress.stage == "clean" and not progress.earlier_pages:
            parts.append(f"{progress.kept:,} kept")
        parts += _speed(self._first, progress)
        if len(progress.stages) > 1:
            parts.append(f"stage {progress.stages.index(progress.stage) + 1} of {len(progress.stages)}")
        return ", ".join(parts)

    def _why_nothing(self, earlier_pages: int) -> str:
        words = _NO_PAGE + (f", {earlier_pages:,} had been done before" if earlier_pages else "")
        if self._engine == DEFAULT_ENGINE:
            return words
        return f"{words}; {self._engine.capitalize()} may take a minute or two to start"


def _speed(first: Progress, now: Progress) -> list[str]:
    """How fast it goes since the first pages, and how long it will take if it goes on like that, once that is known."""
    shards = f"{now.shards_done} of {now.shards} shards"
    seconds = now.seconds - first.seconds
    if now.pages - first.pages < FEWEST_PAGES or seconds <= 0:
        return [shards]
    rate = (now.pages - first.pages) / seconds
    parts = [
        f"{rate:,.0f} pages/s" if rate >= 10 else f"{rate:.1f} pages/s" if rate >= 0.1 else "under 0.1 pages/s",
        f"{(now.bytes - first.bytes) / MEGABYTE / seconds:,.1f} MB/s",
        shards,
    ]
    if now.share > first.share:
        parts.append(f"{_clock(seconds * (1 - now.share) / (now.share - first.share))} left")
    return parts


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
