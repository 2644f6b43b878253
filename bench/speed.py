"""How fast methods and peers are, side by side; and where a method's time goes.

Machines are noisy, so only ratios within one run are meaningful: all contestants clean the same pages, taking turns,
several times; each page counts with the fastest of its times. One that is slow gets fewer rounds, or only the
first of the pages, which are in no order; its ratios are then to the same pages of the other.

A profile times the steps of api.py one by one on the same pages; each page counts with the fastest of its times, step
by step. A step that cannot be run alone is what is left of the time of the step that contains it.
"""

from __future__ import annotations

import gc
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

from bench.contestant import Contestant, Turn, split_pure
from mainmatter.api import clean, clean_many, read
from mainmatter.html.parse import decode, parse
from mainmatter.html.read import parse_and_segment
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.evaluation import check_names
from mainmatter.records import Gold
from mainmatter.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from mainmatter.method import Method
    from mainmatter.records import Page

BUDGET = 30.0  # seconds for each contestant; at most a round more
FEWEST_PAGES = 10  # that even the slowest has to do
WITH_MODEL = ("decode", "parse", "segment", "features", "model", "decide", "render")
WITHOUT_MODEL = ("decode", "parse", "segment", "decide", "render")


class Racer(Protocol):
    """What `measure_speed` asks of a contestant."""

    def take(self, page: GoldPage) -> Turn:
        """Do one page."""
        ...

    def peak_mb(self) -> float | None:
        """How much memory it needed at most."""
        ...


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one contestant was.

    Attributes:
        name: the method or peer.
        ms_per_page: milliseconds a page, from bytes to text, on average.
        mb_per_second: megabytes of HTML a second.
        ratio: its time as a multiple of the first contestant's, over all pages that both did.
        median_ratio: the median of that ratio over the pages, so that no long page decides.
        peak_mb: the memory that it needed at most, above what its process held before; None where not known.
        pages: how many pages it did.
        rounds: how often.
        failures: the pages on which it failed, with the reason; they do not count.
    """

    name: str
    ms_per_page: float
    mb_per_second: float
    ratio: float
    median_ratio: float
    peak_mb: float | None
    pages: int
    rounds: int
    failures: tuple[tuple[str, str], ...] = ()


@dataclass
class _Lane:
    """A contestant's best times so far, by the number of the page."""

    name: str
    racer: Racer
    best: dict[int, float] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    spent: float = 0.0
    rounds: int = 0

    def run(self, number: int, page: GoldPage) -> None:
        turn = self.racer.take(page)
        self.spent += turn.seconds
        if turn.error is None:
            self.best[number] = min(turn.seconds, self.best.get(number, float("inf")))
        else:
            self.failures[number] = turn.error
            self.best.pop(number, None)


def measure_speed(
    names: Sequence[str],
    pages: Sequence[Page],
    *,
    rounds: int = 7,
    budget: float = BUDGET,
    on_round: Callable[[], object] = lambda: None,
    start: Callable[[str], AbstractContextManager[Racer]] = Contestant,
) -> list[Speed]:
    """Time methods and peers on the same pages, from bytes to text, each in a process of its own, one at a time.

    Args:
        names: methods or peers; ratios are to the first. Methods may be run as pure Python: `main@pure`.
        pages: what to clean, in no order.
        rounds: how often each cleans each page.
        budget: the seconds after which a contestant begins no further round, or stops within the first.
        on_round: called after each round, for showing progress.
        start: makes a contestant.

    Raises:
        UnknownName: there is no such method.
        MissingExtra: a peer is not installed.
    """
    check_names([split_pure(name)[0] for name in names], ())
    with ExitStack() as stack:
        lanes = [_Lane(name, stack.enter_context(start(name))) for name in dict.fromkeys(names)]
        for _ in range(rounds):
            _run_round(lanes, pages, budget)
            on_round()
        return [_speed(lane, lanes[0], pages) for lane in lanes]


def _run_round(lanes: Sequence[_Lane], pages: Sequence[Page], budget: float) -> None:
    running = [lane for lane in lanes if lane.rounds == 0 or lane.spent < budget]
    for lane in running:
        lane.rounds += 1
    for number, page in enumerate(pages):
        for lane in running:
            is_cut = lane.rounds == 1 and lane.spent >= budget and number >= FEWEST_PAGES
            if not is_cut and number not in lane.failures:
                lane.run(number, GoldPage(page, Gold(), {}))


def _speed(lane: _Lane, first: _Lane, pages: Sequence[Page]) -> Speed:
    total = sum(lane.best.values())
    size = sum(len(pages[number].html) for number in lane.best)
    shared = [number for number in lane.best if number in first.best]
    ratios = [lane.best[number] / first.best[number] for number in shared]
    return Speed(
        lane.name,
        _share(total, len(lane.best)) * 1e3,
        _share(size, total) / 1e6,
        _share(sum(lane.best[number] for number in shared), sum(first.best[number] for number in shared)),
        median(ratios) if ratios else float("nan"),
        lane.racer.peak_mb(),
        len(lane.best),
        lane.rounds,
        tuple((pages[number].id or str(number), error) for number, error in sorted(lane.failures.items())),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


@dataclass(frozen=True, slots=True)
class Scaling:
    """How many pages a second are cleaned to text by one process or thread, and by several."""

    method: str
    workers: int
    pages: int
    alone: float
    together: float

    @property
    def ratio(self) -> float:
        """How many times as many pages several of them clean."""
        return self.together / self.alone


def measure_scaling(
    name: str,
    method: Method,
    pages: Sequence[Page],
    *,
    workers: int,
    threads: bool = False,
    repeats: int = 10,
    rounds: int = 3,
) -> Scaling:
    """What several processes or threads gain: bytes to text, best of some rounds, taking turns.

    Args:
        name: what to call the method.
        method: the method.
        pages: what to clean.
        workers: how many processes, for `clean_many`.
        threads: let them be threads of this process, which call `clean`.
        repeats: how often the pages are cleaned in a round, so that starting the processes does not decide.
        rounds: how often each is timed.
    """
    count = len(pages) * repeats

    def clean_one(page: Page) -> None:
        with suppress(Exception):  # `clean_many` has failures for them
            _ = clean(page, method=method).text

    def seconds(workers: int) -> float:
        begin = time.perf_counter()
        chosen = islice(cycle(pages), count)
        if threads:
            with ThreadPoolExecutor(workers) as pool:
                deque(pool.map(clean_one, chosen), maxlen=0)
        else:
            deque(clean_many(chosen, method=method, workers=workers, format="text"), maxlen=0)
        return time.perf_counter() - begin

    times = [(seconds(1), seconds(workers)) for _ in range(rounds)]
    return Scaling(name, workers, count, count / min(t for t, _ in times), count / min(t for _, t in times))


@dataclass(frozen=True, slots=True)
class Profile:
    """Milliseconds a page for each step, and for all of them without timing the steps.

    Attributes:
        method: what the method is called.
        steps: from bytes to text.
        whole: the same without stopping the clock between steps.
        formats: for each format but text, what it takes beyond that.
    """

    method: str
    steps: dict[str, float]
    whole: float
    formats: dict[str, float]


def profile(
    name: str,
    method: Method,
    pages: Sequence[Page],
    *,
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
    on_round: Callable[[], object] = lambda: None,
) -> Profile:
    """Time the steps of a method on HTML pages.

    Args:
        name: what to call the method.
        method: the method; if it has `describe` and `judge`, its features and its model are told apart.
        pages: what to clean.
        rounds: how often.
        clock: tells the time in seconds.
        on_round: called after each round, for showing progress.
    """
    steps = WITH_MODEL if _has_model(method) else WITHOUT_MODEL
    formats = [name for name in FORMATS if name != "text"]
    measured = (*steps, "whole", *formats)
    best = [dict.fromkeys(measured, float("inf")) for _ in pages]
    for _ in range(rounds):
        for page, times in zip(pages, best, strict=True):
            for step, seconds in _time_steps(method, page, clock).items():
                times[step] = min(times[step], seconds)
        on_round()
    means = {step: sum(times[step] for times in best) / len(pages) * 1e3 for step in measured}
    of_steps, of_formats = ({step: means[step] for step in chosen} for chosen in (steps, formats))
    return Profile(name, of_steps, means["whole"], of_formats)


def _has_model(method: Method) -> bool:
    return callable(getattr(method, "describe", None)) and callable(getattr(method, "judge", None))


def _time_steps(method: Method, page: Page, clock: Callable[[], float]) -> dict[str, float]:
    """The seconds of each step, once."""

    def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
        gc.collect(0)
        start = clock()
        result = function(*arguments)
        return result, clock() - start

    html, times = page.html, {"decode": 0.0}
    if isinstance(html, bytes):
        (html, _), times["decode"] = timed(decode, html, page.charset)
    _, times["parse"] = timed(parse, html)
    _, reading = timed(parse_and_segment, html)
    times["segment"] = max(0.0, reading - times["parse"])
    inner = {}
    if _has_model(method):
        model: Any = method
        features, inner["features"] = timed(model.describe, read(page))
        _, inner["model"] = timed(model.judge, features)
    # A document keeps what was asked of it, so each measurement has its own.
    extraction, deciding = timed(method.extract, read(page))
    _, times["render"] = timed(lambda: extraction.text)
    for name in FORMATS:
        if name != "text":
            extraction = method.extract(read(page))
            _ = extraction.text
            _, times[name] = timed(extraction.render, name)
    times |= inner | {"decide": max(0.0, deciding - sum(inner.values()))}
    _, times["whole"] = timed(lambda: clean(page, method=method).text)
    return times
