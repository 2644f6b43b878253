"""Shards as tasks on a Ray cluster, or on a Ray of our own on this machine.

The cluster is that of RAY_ADDRESS ("auto" for the one that this machine is part of), or the one that the caller is
connected to. A task whose machine or process dies is done again elsewhere; one that raises is not.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

from mainmatter.errors import InputError, MainmatterError, MissingExtra
from mainmatter.isolation.parallel import default_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Result = TypeVar("Result")

# Of a task's machine or process: machines on offer until outbid die often, and a task that kills stays rare.
MOST_DEATHS = 20
# Tasks that wait if nobody says how many, for each processor and beside those: enough for a cluster to grow.
WAITING_EACH, WAITING = 1, 100
LOOK = 1.0  # seconds between two looks at the cluster, and at what takes too long
# At the end of a run, a task that takes so many times as long as the median is handed out once more.
SLOW = 3.0
SHORTEST_SLOW = 30.0  # seconds
PATIENCE = 10.0  # seconds until a cluster answers


def run_all(
    work: Callable[..., Result],
    numbers: Sequence[int],
    workers: int | None = None,
    on_note: Callable[[Any], object] | None = None,
) -> Iterator[Result]:
    """Call a function for each number, one processor for each call; see `mainmatter.corpus.engines.Engine`.

    Args:
        work: can be pickled; what it needs is installed on all machines of the cluster.
        numbers: what to call it with.
        workers: how many at a time; None for as many as the cluster has processors, or this machine.
        on_note: called with what the work tells, which an actor gathers.

    Raises:
        MissingExtra: Ray is not installed.
        InputError: no cluster answers at RAY_ADDRESS.
        MainmatterError: a task's machine or process died again and again.
        Exception: whatever the work raises; all tasks are ended then, as they are if the iterator is closed.
    """
    if not numbers:
        return
    try:
        import ray  # an extra
    except ImportError as error:
        raise MissingExtra("ray", "ray") from error
    with _connected(ray, workers):
        notes = None if on_note is None else _TaskNotes(ray, on_note)
        if notes is not None:
            work = partial(work, tell=notes.tell)
        yield from _Tasks(ray, work, workers, notes).as_completed(numbers)


@contextmanager
def _connected(ray: Any, workers: int | None) -> Iterator[None]:  # a module
    """Ray for the time of a run; a connection that was there before stays."""
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS")
    try:
        if address:
            _check_answer(address)
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a run on one machine calls nobody
            ray.init(
                "local",
                num_cpus=workers or default_workers(),
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        where = f"connect to the Ray cluster at {address} (RAY_ADDRESS)" if address else "start Ray on this machine"
        hint = "; if it requires a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as on its machines"
        raise InputError(f"cannot {where}: {' '.join(str(error).split())}{hint * bool(address)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_answer(address: str) -> None:
    """Make sure, if an address is HOST:PORT, that somebody answers there: Ray would try for minutes.

    Raises:
        OSError: nobody does.
    """
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "://" not in address:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()


class _Tasks:
    """The tasks of a run.

    Args:
        ray: the module.
        work: what a task does.
        workers: how many at a time; None for as many as keep the cluster busy.
        notes: what tasks tell on the way, if anybody wants to know.
    """

    def __init__(
        self,
        ray: Any,  # a module
        work: Callable[[int], Result],
        workers: int | None,
        notes: _TaskNotes | None,
    ) -> None:
        # Spread: Ray would fill one machine first, and each machine has a disk and a network of its own.
        options = {"scheduling_strategy": "SPREAD", "max_retries": MOST_DEATHS, "retry_exceptions": False}
        self.ray, self.work, self.workers, self.notes = ray, work, workers, notes
        self.task = ray.remote(num_cpus=1, **options)(_call)
        self.pending: dict[Any, int] = {}  # the numbers of tasks that are not done, oldest first
        self.again: dict[int, list[Any]] = {}  # the two tasks of each number that was handed out twice
        self.seconds: list[float] = []  # that tasks took
        self.processors, self.looked = 0, -LOOK
        self.settled: float | None = None  # since when each task has a processor, and none waits

    def as_completed(self, numbers: Sequence[int]) -> Iterator[Any]:
        waiting = iter(numbers)
        try:
            while True:
                self.look()
                most = self.workers or WAITING + (1 + WAITING_EACH) * self.processors
                for number in islice(waiting, max(0, most - len(self.pending))):
                    self.submit(number)
                if not self.pending:
                    return
                for reference in self.wait():
                    yield from self.results(reference)
                if len(self.pending) < most:
                    self.submit_slow_again()
        finally:
            self.cancel(list(self.pending))
            if self.notes is not None:
                self.notes.close()

    def look(self) -> None:
        """See how large the cluster is; it may grow and shrink."""
        if time.monotonic() - self.looked >= LOOK:
            self.processors = int(self.ray.cluster_resources().get("CPU", 0))
            self.looked = time.monotonic()
            if self.notes is not None:
                self.notes.take()

    def submit(self, number: int) -> Any:  # Ray's
        reference = self.task.options(name=f"shard {number}").remote(self.work, number)
        self.pending[reference] = number
        return reference

    def wait(self) -> list[Any]:
        """The tasks that are done, if any is within the time between two looks."""
        done, _ = self.ray.wait(list(self.pending), num_returns=1, timeout=LOOK)
        if done:
            done, _ = self.ray.wait(list(self.pending), num_returns=len(self.pending), timeout=0)
        return list(done)

    def results(self, reference: Any) -> Iterator[Any]:  # Ray's
        """The result of a task that is done; none if another did the same earlier or may still do it."""
        if reference not in self.pending:
            return
        number = self.pending.pop(reference)
        twins = [one for one in self.again.get(number, []) if one in self.pending]
        try:
            result, seconds = _result(self.ray, reference, number)
        except _Lost:
            if twins:
                return
            raise
        self.cancel(twins)
        self.seconds.append(seconds)
        yield result

    def submit_slow_again(self) -> None:
        """Hand out once more what takes far too long, when processors have nothing else to do: a machine may be ill.

        That a task waits for a processor does not count: time runs from when there were enough for all.
        """
        free = min(self.processors, self.workers or self.processors) - len(self.pending)
        if free < 0 or not self.seconds:
            self.settled = None
            return
        self.settled = self.settled or time.monotonic()
        if time.monotonic() - self.settled > max(SHORTEST_SLOW, SLOW * median(self.seconds)):
            slow = [(reference, number) for reference, number in self.pending.items() if number not in self.again]
            for reference, number in slow[:free]:
                self.again[number] = [reference, self.submit(number)]

    def cancel(self, references: Sequence[Any]) -> None:
        for reference in references:
            self.pending.pop(reference, None)
            with suppress(self.ray.exceptions.RayError):
                self.ray.cancel(reference, force=True)


class _TaskNotes:
    """What tasks tell: an actor gathers it, and is asked for it from time to time.

    Args:
        ray: the module.
        on_note: called with each note.
    """

    def __init__(self, ray: Any, on_note: Callable[[Any], object]) -> None:
        self.ray, self.on_note = ray, on_note
        self.actor = ray.remote(num_cpus=0)(_Gatherer).remote()
        self.tell = _Tell(self.actor)
        self.answer: Any = None

    def take(self) -> None:
        """Give on what has come in, and ask for more; without waiting."""
        with suppress(self.ray.exceptions.RayError):  # the actor's machine may be gone
            if self.answer is not None:
                if not self.ray.wait([self.answer], timeout=0)[0]:
                    return
                for note in self.ray.get(self.answer):
                    self.on_note(note)
            self.answer = self.actor.take.remote()

    def close(self) -> None:
        with suppress(self.ray.exceptions.RayError):
            self.ray.kill(self.actor)


class _Gatherer:
    """The actor."""

    def __init__(self) -> None:
        self.notes: list[Any] = []

    def put(self, note: object) -> None:
        self.notes.append(note)

    def take(self) -> list[Any]:
        notes, self.notes = self.notes, []
        return notes


@dataclass(frozen=True, slots=True)
class _Tell:
    """What work calls to tell something; does not wait until that has arrived."""

    actor: Any

    def __call__(self, note: object) -> None:
        with suppress(Exception):  # work goes on without it
            self.actor.put.remote(note)


def _call(work: Callable[[int], Result], number: int) -> tuple[Result, float]:
    """What the work returns, and how long it took."""
    began = time.monotonic()
    return work(number), time.monotonic() - began


class _Lost(MainmatterError):
    """A task's machine or process died again and again."""


def _result(ray: Any, reference: Any, number: int) -> Any:  # Ray's
    """What a task returned; what it raised is raised as if it had been called here."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise _Lost(
            f"shard {number}: its Ray task was lost {MOST_DEATHS + 1} times ({type(error).__name__}: "
            f"{' '.join(str(error).split())[:300]}); give the workers more memory or use smaller shards, then run the "
            "command again"
        ) from error
