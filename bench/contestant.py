"""A method or a peer in its own process, which does one page at a time.

So if it crashes or hangs on a page, only that page is lost, and its memory can be measured. The clock runs inside that
process, from bytes to text; sending data between the processes is not counted.

A method whose name ends in `@pure` is run as pure Python, whatever is compiled.
"""

from __future__ import annotations

import gc
import logging
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from mainmatter.api import clean
from mainmatter.compiled import PURE, REQUIRE_COMPILED
from mainmatter.errors import InputError
from mainmatter.isolation.child import Child, ChildExited
from mainmatter.isolation.memory import peak_mb
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.evaluation import MethodByConvention, compare
from mainmatter.lab.metrics import Output
from mainmatter.lab.peers import PEERS, get_peer
from mainmatter.records import Extraction, Gold, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from mainmatter.lab.metrics import Row

    Runner = Callable[[GoldPage], Output | Extraction]

AS_PURE = "@pure"
PAGE_LIMIT = 30.0  # seconds that a page may take
START_LIMIT = 120.0  # seconds that loading a contestant may take
_PROBE = GoldPage(Page(b"<title>A page</title><h1>A page</h1><p>Some words, to warm up.</p>"), Gold(), {})


@dataclass(frozen=True, slots=True)
class Turn:
    """What a contestant did with a page.

    Attributes:
        seconds: how long it took, from bytes to text.
        scores: for each metric that was asked for, the page's figures.
        error: why there is no text, if so; the scores are then those of an empty text.
    """

    seconds: float
    scores: dict[str, Row | None] = field(default_factory=dict)
    error: str | None = None


class Contestant:
    """A method or peer that takes its turns in a process of its own.

    Args:
        name: the method or peer; `split_pure` says how a method is run as pure Python.
        limit: how many seconds a page may take.
        load: makes the function that is timed; it must be importable.

    Raises:
        InputError: it cannot even be loaded.
    """

    def __init__(self, name: str, *, limit: float = PAGE_LIMIT, load: Callable[[str], Runner] | None = None) -> None:
        self.name = name
        self._limit = limit
        self._load = load or load_runner
        self._most_mb: float | None = None
        self._child: Child | None = self._start()
        self.start_mb = self._child.start_mb  # the memory of its process before it was loaded; None if not known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, page: GoldPage, metrics: Sequence[str] = ()) -> Turn:
        """Do one page; the result says if it crashed or took too long."""
        self._child = self._child or self._start()
        try:
            self._child.send(page, tuple(metrics))
            if not self._child.poll(self._limit):
                return self._fail(page, metrics, f"took longer than {self._limit:g} s", self._limit)
            seconds, error = self._child.receive()
            scores = self._child.receive()  # comparing may take its time: that is not the contestant's fault
        except ChildExited:
            return self._fail(page, metrics, "its process died", 0.0)
        return Turn(seconds, scores, error)

    def peak_mb(self) -> float | None:
        """How many megabytes it needed at most, above those of its process before it was loaded."""
        peak = None if self._child is None else peak_mb(self._child.pid)
        if peak is not None:
            self._most_mb = max(peak, self._most_mb or 0.0)
        return None if self._most_mb is None or self.start_mb is None else max(0.0, self._most_mb - self.start_mb)

    def close(self) -> None:
        """End its process."""
        if self._child is not None:
            self.peak_mb()  # what was seen stays known
            self._child.end()
            self._child = None

    def _start(self) -> Child:
        """A new interpreter: it has nothing of what this process has loaded, and so says what a contestant needs."""
        name, is_pure = split_pure(self.name)
        variables = {PURE: "1", REQUIRE_COMPILED: "0"} if is_pure else {}
        child = Child(_contestant_service, name, self._load, one_thread=False, variables=variables)
        try:
            child.wait_ready(START_LIMIT)
        except Exception as error:
            why = f"cannot be loaded: {_one_line(error)}"
            if isinstance(error, ChildExited):
                why = "takes too long to load" if error.reason == "time" else "its process died while it was loaded"
            raise InputError(f"{self.name}: {why}") from error
        return child

    def _fail(self, page: GoldPage, metrics: Sequence[str], error: str, seconds: float) -> Turn:
        self.close()
        return Turn(seconds, compare(Output(""), page, metrics), error)


def split_pure(name: str) -> tuple[str, bool]:
    """The name of a method, and whether it is to be run as pure Python: `main@pure` is; peers have no such name."""
    plain = name.removesuffix(AS_PURE)
    return (name, False) if plain == name or plain in PEERS else (plain, True)


def load_runner(name: str) -> Runner:
    """The function to time: a page to a peer's output, or to an extraction whose text has been rendered.

    A method that knows the convention of the page's gold standard follows it.
    """
    if name in PEERS:
        peer = get_peer(name)
        return lambda page: peer(page.page, False)
    method = MethodByConvention(name)

    def run(page: GoldPage) -> Extraction:
        extraction = clean(page.page, method=method.on(page))
        _ = extraction.text
        return extraction

    return run


def _contestant_service(name: str, load: Callable[[str], Runner]) -> Callable[..., Generator[Any, None, Any]]:
    """In the contestant's process: does a page, tells how long that took, and then compares."""
    logging.disable(logging.CRITICAL)  # what peers have to say about pages is for their own users
    warnings.simplefilter("ignore")
    runner = load(name)
    _take(runner, _PROBE, ())  # imports and tables are not the first page's fault

    def take(page: GoldPage, metrics: Sequence[str]) -> Generator[Any, None, Any]:
        output, seconds, problem = _take(runner, page, metrics)
        yield seconds, problem
        return compare(output, page, metrics)

    return take


def _take(runner: Runner, page: GoldPage, metrics: Sequence[str]) -> tuple[Output, float, str | None]:
    gc.collect(0)  # a page does not pay for the rubbish of the one before
    start = time.process_time()
    try:
        result = runner(page)
        seconds = time.process_time() - start
        return _to_output(result, with_markup="align" in metrics or "cleaneval" in metrics), seconds, None
    except Exception as error:
        return Output(""), time.process_time() - start, _one_line(error)


def _to_output(result: Output | Extraction, *, with_markup: bool) -> Output:
    if isinstance(result, Output):
        return result
    return Output(result.text, result.render("cleaneval") if with_markup else "")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
