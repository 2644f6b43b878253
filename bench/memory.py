"""Whether cleaning page after page takes more and more memory."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mainmatter.api import clean_many
from mainmatter.errors import InputError
from mainmatter.isolation.child import Child, ChildExited, as_service
from mainmatter.isolation.memory import family_mb
from mainmatter.isolation.parallel import Failure
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from mainmatter.method import Method

CHECKPOINTS = 20


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """How much memory was held while page after page was cleaned.

    Attributes:
        points: how many pages were done, and how many megabytes were held then.
        warm_after: from so many pages on every page of the sample had been seen: what is held then may not grow.
        failures: how many pages could not be cleaned.
    """

    points: list[tuple[int, float]]
    warm_after: int
    failures: int

    @property
    def growth_mb(self) -> float:
        """By how much the most that was held after warming up is over what was held at its end; at least 0."""
        warm = [held for pages, held in self.points if pages >= self.warm_after]
        return max(warm) - warm[0] if warm else 0.0


def watch_memory(
    method: str | Method,
    pages: Iterable[Page],
    count: int,
    warm_after: int,
    *,
    workers: int = 1,
    hold: Callable[[], float | None] = family_mb,
    on_point: Callable[[int, float], object] = lambda _pages, _held: None,
) -> MemoryCurve:
    """Clean very many pages, and look at the memory at intervals.

    Args:
        method: the method, or its name.
        pages: the pages, the same sample over and over.
        count: how many there are in all.
        warm_after: how many pages the sample has.
        workers: how many processes.
        hold: tells how many megabytes are held.
        on_point: called at each interval with the pages done and the megabytes held.
    """
    watched = _points(method, pages, count, warm_after, workers=workers, hold=hold)
    while True:
        try:
            on_point(*next(watched))
        except StopIteration as end:
            curve: MemoryCurve = end.value
            return curve


def _points(
    method: str | Method,
    pages: Iterable[Page],
    count: int,
    warm_after: int,
    *,
    workers: int,
    hold: Callable[[], float | None],
) -> Generator[tuple[int, float], None, MemoryCurve]:
    warm_after = min(warm_after, count)
    step = max(1, count // CHECKPOINTS)
    points: list[tuple[int, float]] = []
    failures = 0
    for number, result in enumerate(clean_many(islice(pages, count), method=method, workers=workers), 1):
        if isinstance(result, Failure):
            failures += 1
        else:
            _ = result.text
        if number in (warm_after, count) or number % step == 0:
            held = hold()
            if held is not None:
                points.append((number, held))
                yield number, held
    return MemoryCurve(points, warm_after, failures)


def watch_memory_afresh(
    method: str,
    sample: Sequence[Page],
    count: int,
    *,
    workers: int = 1,
    on_point: Callable[[int, float], object] = lambda _pages, _held: None,
) -> MemoryCurve:
    """`watch_memory` in a new process that reads each page from a file when its turn comes.

    This process may hold much that it has freed, such as the dataset from which the sample was drawn: a leak would
    fill that first, and not be seen.

    Args:
        method: the name of the method.
        sample: the pages, which are cleaned over and over.
        count: how many pages to clean in all.
        workers: how many processes clean.
        on_point: called at each interval with the pages done and the megabytes held.

    Raises:
        InputError: the process died.
    """
    with TemporaryDirectory() as folder:
        for number, page in enumerate(sample):
            html = page.html.encode("utf-8", "replace") if isinstance(page.html, str) else page.html
            (Path(folder) / f"{number:06}").write_bytes(html)
        child = Child(as_service, _watch_folder, one_thread=False)
        try:
            child.send(method, folder, count, workers)
            while True:
                message = child.receive()
                if child.is_idle:
                    curve: MemoryCurve = message
                    return curve
                on_point(*message)
        except ChildExited as error:
            raise InputError(f"{method}: the process that cleaned the pages died") from error
        finally:
            child.close()


def _watch_folder(
    method: str, folder: str, count: int, workers: int
) -> Generator[tuple[int, float], None, MemoryCurve]:
    files = sorted(Path(folder).iterdir())
    pages = (Page(file.read_bytes(), id=file.name) for file in cycle(files))
    return (yield from _points(method, pages, count, len(files), workers=workers, hold=family_mb))
