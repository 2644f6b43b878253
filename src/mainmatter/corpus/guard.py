"""Pages are read and cleaned in a child process, so that one that hangs, crashes or eats memory costs only itself.

The child (child.py) notes in shared memory which record it has under way, and sends back what came of some records at
a time. When it dies, a new one goes on after the last record that we have heard of, and passes over the guilty one.
No record is condemned for what may have come from outside (somebody's kill -9, the kernel's memory killer, what
earlier pages had left in memory): one whose child died gets a second try, in a new child. Only time is
believed at once.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter.corpus.records import Reject
from mainmatter.corpus.work import load_for_all
from mainmatter.errors import MainmatterError
from mainmatter.isolation.processes import Started, start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.job import Job
    from mainmatter.corpus.records import Slice

NOTE = struct.Struct("=QQQQ")  # how many notes there were, phase, number of the slice, position
READING, CLEANING = range(2)  # phases
OUT_OF_MEMORY = 77  # the child's exit code
MOST_AT_ONCE = 32  # outcomes in a message
TICK = 1.0  # seconds; time is counted in these, so that a computer that was asleep has not waited
WALL_FACTOR = 10  # a page may be that much longer under way than its processor time: computers are busy
READING_PATIENCE = 300.0  # seconds by the clock for reading: networks are slow
_LAST_WORDS = 4000  # bytes of the child's standard error

Place = tuple[int, int | None]  # the number of a slice, and where in it to begin


class Outcome(NamedTuple):
    """What came of a record.

    Attributes:
        slice: the number of its slice in the shard.
        position: where in that slice it begins.
        size: how many bytes the page has.
        result: its row, for the stage "templates" what is to be counted; why there is none; or, if it was no page at
            all, the type that it was of.
        signature: tells whether another page is the same, if duplicates are looked for.
    """

    slice: int
    position: int
    size: int
    result: tuple[Any, ...] | Reject | str
    signature: bytes = b""


@dataclass(frozen=True, slots=True)
class Task:
    """What a child has to do; it travels there.

    Attributes:
        stage: "templates" or "clean".
        job: what is wanted.
        slices: the slices of the shard.
        templates: where the knowledge about sites lies, if there is any.
        begin: where to begin.
        doomed: records to pass over, by slice and position, each with the reason and its detail.
        careful: how many outcomes, the first ones, to send one by one.
        probe: only find out whether reading the next record kills.
    """

    stage: str
    job: Job
    slices: tuple[Slice, ...]
    templates: str | None = None
    begin: Place = (0, None)
    doomed: tuple[tuple[tuple[int, int], tuple[str, str]], ...] = ()
    careful: int = 0
    probe: bool = False


@dataclass(frozen=True, slots=True)
class _Death:
    """How a child ended: why, and what it had under way."""

    reason: str
    detail: str
    phase: int
    slice: int
    position: int


class Guard:
    """Watches over one child at a time, which lives until it dies of a page or the guard is closed."""

    def __init__(self) -> None:
        self._child: Started | None = None
        self._last_words = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as we do
        self._notes_file = tempfile.TemporaryFile()  # noqa: SIM115
        self._notes_file.truncate(mmap.PAGESIZE)
        self._notes = mmap.mmap(self._notes_file.fileno(), mmap.PAGESIZE)
        self.pid = os.getpid()

    def close(self) -> None:
        """End the child, for good."""
        self._end_child()
        self._notes.close()
        self._notes_file.close()
        self._last_words.close()

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def outcomes(self, task: Task) -> Iterator[Outcome]:
        """Have all records of a task done, in order; each gives one outcome, whatever happens.

        Raises:
            OSError: an input could not be read at all.
            MainmatterError: the task cannot be done, say for a missing model, or no child can be started.
        """
        place = task.begin
        doomed: dict[tuple[int, int], tuple[str, str]] = {}
        suspected: set[tuple[int, int, int]] = set()
        while place[0] < len(task.slices):
            death: _Death | None = None
            careful = MOST_AT_ONCE if suspected else 0
            for message in self._run(replace(task, begin=place, doomed=tuple(doomed.items()), careful=careful)):
                if isinstance(message, _Death):
                    death = message
                else:
                    for outcome in message:
                        yield outcome
                        place = outcome.slice, outcome.position + 1
            if death is None:
                return
            suspect = death.phase, death.slice, death.position
            is_sure = suspect in suspected or (death.phase == CLEANING and death.reason == "timeout")
            suspected.add(suspect)
            if is_sure and death.phase == CLEANING:
                doomed[death.slice, death.position] = death.reason, death.detail
            elif is_sure:  # the child was careful this time: we have the outcomes of all records before
                place, reject = self._pass_over(task, death)
                yield Outcome(death.slice, death.position, 0, reject)

    def _pass_over(self, task: Task, death: _Death) -> tuple[Place, Reject]:
        """Where reading can go on, if what is at a place kills whoever reads it, and the reject for that piece."""
        number, bad = death.slice, death.position
        end = task.slices[number].end
        step, good = 1, bad + 1
        while good < end and not self._is_readable(task, number, good):
            bad, step = good, 2 * step
            good = min(end, bad + step)
        while good - bad > 1:  # reading at `bad` kills, at `good` it does not
            middle = (bad + good) // 2
            if self._is_readable(task, number, middle):
                good = middle
            else:
                bad = middle
        place: Place = (number, good) if good < end else (number + 1, None)
        where = f"what lies before position {good} could not be read: {death.detail}"
        return place, Reject(death.reason, where, task.slices[number].path, death.position)

    def _is_readable(self, task: Task, number: int, position: int) -> bool:
        return not any(
            isinstance(message, _Death) for message in self._run(replace(task, begin=(number, position), probe=True))
        )

    def _run(self, task: Task) -> Iterator[list[Outcome] | _Death]:
        """Give a child the task; what it sends, and at last how it died if it did."""
        child = self._child = self._child or self._start(task)
        number, position = task.begin
        NOTE.pack_into(self._notes, 0, 0, READING, number, task.slices[number].start if position is None else position)
        is_over = False
        try:
            _send(child, task)
            while True:
                kind, content = self._receive(child, task.job.max_seconds)
                is_over = kind != "outcomes"
                if kind == "failed":
                    raise content
                if kind == "died":
                    self._child = None
                    yield self._death(content, task.job)
                if is_over:
                    return
                yield content
        finally:
            if not is_over:  # nobody wants the rest
                self._end_child()

    def _receive(self, child: Started, seconds: float) -> tuple[str, Any]:
        """The child's next message; if it died, the kind "died" with its exit code, None if we had to end it."""
        if not self._wait(child, seconds):
            child.kill()
            return "died", None
        try:
            message: tuple[str, Any] = child.connection.recv()
        except (EOFError, OSError):
            return "died", child.bury()
        return message

    def _wait(self, child: Started, seconds: float) -> bool:
        """Wait for a message, or for the end of the child; not if it does nothing for too long."""
        waited, noted = 0.0, -1
        while not child.connection.poll(min(TICK, seconds)):
            count, phase, _, _ = NOTE.unpack_from(self._notes)
            waited = waited + min(TICK, seconds) if count == noted else 0.0
            noted = count
            if waited > _patience(phase, seconds):
                return False
        return True

    def _start(self, task: Task) -> Started:
        self._last_words.truncate(0)
        self._last_words.seek(0)
        notes = self._notes_file.fileno()
        load = partial(load_for_all, task.stage)
        return start("mainmatter.corpus.child:serve", stderr=self._last_words, pass_fds=(notes,), prepare=load)

    def _death(self, code: int | None, job: Job) -> _Death:
        count, phase, number, position = NOTE.unpack_from(self._notes)
        if not count and code is not None and code >= 0:
            raise MainmatterError(
                f"the process that cleans pages cannot be started: {self._said() or f'exit code {code}'}"
            )
        reason, detail = self._why(code, phase, job)
        return _Death(reason, detail, phase, number, position)

    def _why(self, code: int | None, phase: int, job: Job) -> tuple[str, str]:
        said = self._said()
        if code is None:
            return "timeout", f"gave no result in {_patience(phase, job.max_seconds):g} s by the clock"
        if code == -signal.SIGPROF:
            return "timeout", f"took more than {job.max_seconds:g} s of processor time"
        if code == OUT_OF_MEMORY or _tells_of_memory(said):
            return "out-of-memory", f"took more than {job.max_memory / 1e6:g} MB of memory"
        if code == -signal.SIGKILL:
            return "out-of-memory", "was killed twice (SIGKILL), as the kernel does when memory is short"
        return "crashed", f"ended the process that worked on it twice ({_signal_name(code)})"

    def _said(self) -> str:
        """The last line that the child wrote to standard error."""
        self._last_words.seek(0, os.SEEK_END)
        self._last_words.seek(max(0, self._last_words.tell() - _LAST_WORDS))
        lines = self._last_words.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


def _patience(phase: int, seconds: float) -> float:
    """How long a record may be under way, by the clock, that may take so many seconds of processor time."""
    return WALL_FACTOR * seconds + (READING_PATIENCE if phase == READING else 0)


def _send(child: Started, task: Task) -> None:
    with suppress(ConnectionError):  # it died meanwhile; receiving tells
        child.connection.send(task)


def _tells_of_memory(said: str) -> bool:
    """Whether a library, as those in Rust and C++ do, ended the process for want of memory."""
    return "bad_alloc" in said or "memory allocation of" in said or said.startswith("MemoryError")


def _signal_name(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
