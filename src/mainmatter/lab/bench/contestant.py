"""A method or a peer in a process of its own, which does one page at a time.

So a page that makes it crash or hang costs that page, never the run, and its memory is its own. The clock runs inside
of that process, from bytes to text; what travels between the processes is not counted.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import signal
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from mainmatter.clean import clean
from mainmatter.errors import InputError
from mainmatter.lab.bench.memory import peak_mb, resident_mb
from mainmatter.lab.bench.peers import PEERS, get_peer
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.evaluation import compare
from mainmatter.lab.metrics import Output
from mainmatter.records import Extraction, Gold, Page
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from mainmatter.lab.metrics import Row

    Runner = Callable[[Page], Output | Extraction]

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
        name: the method or peer.
        limit: how many seconds a page may take.
        load: makes the function that is timed; it must be importable.

    Raises:
        InputError: it cannot even be loaded.
    """

    def __init__(self, name: str, *, limit: float = PAGE_LIMIT, load: Callable[[str], Runner] | None = None) -> None:
        self.name = name
        self._limit = limit
        self._load = load or load_runner
        self._start_mb: float | None = None
        self._most_mb: float | None = None
        self._process: SpawnProcess | None = None
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, page: GoldPage, metrics: Sequence[str] = ()) -> Turn:
        """Do one page; a crash or a page that takes too long is told in the result."""
        if self._process is None:
            self._start()
        try:
            self._connection.send((page, tuple(metrics)))
            if not self._connection.poll(self._limit):
                return self._fail(page, metrics, f"took longer than {self._limit:g} s", self._limit)
            seconds, error = self._connection.recv()
            scores = self._connection.recv()  # comparing may take its time: that is not the contestant's fault
        except (EOFError, OSError):
            return self._fail(page, metrics, "its process died", 0.0)
        return Turn(seconds, scores, error)

    @property
    def start_mb(self) -> float | None:
        """The memory of its process before it was loaded; None where the system does not say."""
        return self._start_mb

    def peak_mb(self) -> float | None:
        """How many megabytes it needed at most, above those of its process before it was loaded."""
        self._look_at_memory()
        return None if self._most_mb is None or self._start_mb is None else max(0.0, self._most_mb - self._start_mb)

    def close(self) -> None:
        """End its process."""
        if self._process is not None:
            self._look_at_memory()
            self._connection.close()
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None

    def _start(self) -> None:
        """A new interpreter: it has nothing of what this process has loaded, and so says what a contestant needs."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self.name, self._load), daemon=True)
        self._process.start()
        theirs.close()
        try:
            self._expect("started")
            self._start_mb = resident_mb(self._process.pid)
            self._connection.send("load")
            self._expect("loaded")
        except BaseException:
            self.close()
            raise

    def _expect(self, message: str) -> None:
        try:
            answer = self._connection.recv() if self._connection.poll(START_LIMIT) else "takes too long to load"
        except (EOFError, OSError):
            answer = "its process died while it was loaded"
        if answer != message:
            raise InputError(f"{self.name}: {answer}")

    def _fail(self, page: GoldPage, metrics: Sequence[str], error: str, seconds: float) -> Turn:
        self.close()
        return Turn(seconds, compare(Output(""), page, metrics), error)

    def _look_at_memory(self) -> None:
        if self._process is not None:
            peak = peak_mb(self._process.pid)
            if peak is not None:
                self._most_mb = max(peak, self._most_mb or 0.0)


def load_runner(name: str) -> Runner:
    """The function to time: a page to a peer's output, or to an extraction whose text has been rendered."""
    if name in PEERS:
        peer = get_peer(name)
        return lambda page: peer(page, False)
    method = get_method(name)

    def run(page: Page) -> Extraction:
        extraction = clean(page, method=method)
        _ = extraction.text
        return extraction

    return run


def _serve(connection: Connection, name: str, load: Callable[[str], Runner]) -> None:
    """The life of a contestant's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is for the one that started us
    logging.disable(logging.CRITICAL)  # what peers have to say about pages is for their own users
    warnings.simplefilter("ignore")
    try:
        connection.send("started")
        connection.recv()
        try:
            runner = load(name)
        except Exception as error:
            connection.send(f"cannot be loaded: {_one_line(error)}")
            return
        _take(runner, _PROBE, ())  # imports and tables are not the first page's fault
        connection.send("loaded")
        while True:
            page, metrics = connection.recv()
            output, seconds, problem = _take(runner, page, metrics)
            connection.send((seconds, problem))
            connection.send(compare(output, page, metrics))
    except (EOFError, OSError):
        return  # nobody listens any more


def _take(runner: Runner, page: GoldPage, metrics: Sequence[str]) -> tuple[Output, float, str | None]:
    gc.collect(0)  # a page does not pay for the rubbish of the one before
    start = time.process_time()
    try:
        result = runner(page.page)
        seconds = time.process_time() - start
        return _to_output(result, with_markup="align" in metrics or "cleaneval" in metrics), seconds, None
    except Exception as error:
        return Output(""), time.process_time() - start, _one_line(error)


def _to_output(result: Output | Extraction, *, with_markup: bool) -> Output:
    if isinstance(result, Output):
        return result
    return Output(result.text, result.cleaneval() if with_markup else "")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
