"""How much memory a process holds, and whether cleaning page after page makes it hold more and more."""

from __future__ import annotations

import multiprocessing
import os
import re
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mainmatter.clean import clean_many
from mainmatter.errors import InputError
from mainmatter.isolation.parallel import Failure
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from multiprocessing.connection import Connection

    from mainmatter.method import Method

CHECKPOINTS = 20


def resident_mb(process: int | None = None) -> float | None:
    """How many megabytes of memory a process holds now; None where the system does not say (it is no Linux)."""
    return _status(process, "VmRSS")


def peak_mb(process: int | None = None) -> float | None:
    """How many megabytes of memory a process held at most.

    Not `ru_maxrss`, which a new process inherits from the one that started it.
    """
    return _status(process, "VmHWM")


def _status(process: int | None, field: str) -> float | None:
    try:
        status = Path(f"/proc/{process or os.getpid()}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else None


def family_mb() -> float | None:
    """How many megabytes this process and those that it started hold now; what they share is counted for each."""
    own = resident_mb()
    return None if own is None else own + sum(resident_mb(child) or 0.0 for child in _children())


def _children() -> list[int]:
    found: list[int] = []
    for file in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        try:
            found += map(int, file.read_text(encoding="ascii").split())
        except OSError:  # that thread has just ended
            continue
    return found


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
                on_point(number, held)
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
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as folder:
        for number, page in enumerate(sample):
            html = page.html.encode("utf-8", "replace") if isinstance(page.html, str) else page.html
            (Path(folder) / f"{number:06}").write_bytes(html)
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_watch, args=(theirs, method, folder, count, workers))
        process.start()
        theirs.close()
        try:
            while not isinstance(message := ours.recv(), MemoryCurve):
                on_point(*message)
            return message
        except EOFError as error:
            raise InputError(f"{method}: the process that cleaned the pages died") from error
        finally:
            process.terminate()
            process.join()
            process.close()
            ours.close()


def _watch(connection: Connection, method: str, folder: str, count: int, workers: int) -> None:
    files = sorted(Path(folder).iterdir())
    pages = (Page(file.read_bytes(), id=file.name) for file in cycle(files))
    curve = watch_memory(
        method, pages, count, len(files), workers=workers, on_point=lambda done, held: connection.send((done, held))
    )
    connection.send(curve)
