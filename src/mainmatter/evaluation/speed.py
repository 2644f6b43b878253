"""How fast methods and peers are, side by side.

Machines are noisy, so only ratios within one run mean something: all contestants clean the same pages, taking turns,
several times over; each page counts with the fastest of its times.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.clean import clean
from mainmatter.evaluation.peers import PEERS, get_peer
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mainmatter.records import Page


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one contestant was.

    Attributes:
        name: the method or peer.
        ms_per_page: milliseconds a page, from bytes to text, on average.
        mb_per_second: megabytes of HTML a second.
        ratio: its time as a multiple of the first contestant's.
    """

    name: str
    ms_per_page: float
    mb_per_second: float
    ratio: float


def measure_speed(
    names: Sequence[str], pages: Sequence[Page], *, rounds: int = 7, on_round: Callable[[], object] = lambda: None
) -> list[Speed]:
    """Time methods and peers on the same pages, on one core, from bytes to text.

    Args:
        names: methods or peers; ratios are to the first.
        pages: what to clean.
        rounds: how often each cleans each page.
        on_round: called after each round, for showing progress.

    Raises:
        UnknownName: there is no such method.
        MissingExtra: a peer is not installed.
    """
    runners = {name: _runner(name) for name in names}
    best = {name: [float("inf")] * len(pages) for name in names}
    for runner in runners.values():  # warm up: imports, tables
        runner(pages[0])
    for _ in range(rounds):
        for number, page in enumerate(pages):
            for name, runner in runners.items():
                best[name][number] = min(best[name][number], _time(runner, page))
        on_round()
    size = sum(len(page.html) for page in pages)
    totals = {name: sum(times) for name, times in best.items()}
    return [
        Speed(name, total / len(pages) * 1e3, size / total / 1e6, total / totals[names[0]])
        for name, total in totals.items()
    ]


def _runner(name: str) -> Callable[[Page], object]:
    if name in PEERS:
        peer = get_peer(name)
        return lambda page: peer(page, False)
    method = get_method(name)
    return lambda page: clean(page, method=method).text


def _time(runner: Callable[[Page], object], page: Page) -> float:
    gc.collect(0)  # nobody pays for the rubbish of the one before
    start = time.perf_counter()
    runner(page)
    return time.perf_counter() - start
