"""Pages are read and cleaned in a child process, so that one that hangs, crashes or eats memory costs only itself.

The child notes in shared memory which record it has under way, and sends back what came of some records at a time.
When it dies, a new one goes on after the last record that we have heard of, and skips the guilty one. No record is
condemned for what may have come from outside (somebody's kill -9, the kernel's memory killer, what earlier pages had
left in memory): one whose child died gets a second try, in a new child. Only time is believed at once. The child's
timer of processor time is set anew before each page; its memory is limited once it has loaded all that it needs.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
import struct
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter.corpus import storage
from mainmatter.corpus.readers import FetchRules, read_slice
from mainmatter.corpus.records import Record, Reject, Skipped
from mainmatter.corpus.retries import retries
from mainmatter.corpus.work import load_for_all, make_work
from mainmatter.errors import MainmatterError
from mainmatter.inputs.fetch import DEADLINE, addresses_of
from mainmatter.isolation.child import Child, ChildExited, limit_memory, may_fork, memory_given
from mainmatter.limits import WALL_FACTOR, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.job import Job
    from mainmatter.corpus.records import Read, Slice
    from mainmatter.corpus.work import Result, Work

NOTE = struct.Struct("=QQQQ")  # how many notes there were, phase, number of the slice, position
RETRIES = struct.Struct("=Q")  # after the note: how often children have repeated a request to storage
READING, CLEANING = range(2)  # phases
MOST_AT_ONCE = 32  # outcomes in a message
LONGEST_WAIT = 0.05  # seconds until what came of a page is sent
LARGEST_MESSAGE = 1 << 20  # characters of text
TICK = 1.0  # seconds; time is counted in these, so that a computer that was asleep has not waited
READING_PATIENCE = 300.0  # seconds by the clock for reading: networks are slow

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
        languages: where the model that tells languages lies unpacked, if it does.
        begin: where to begin.
        rejected: records to skip, by slice and position, each with the reason and its detail.
        unbatched: how many outcomes, the first ones, to send one by one.
        probe: only find out whether reading the next record kills.
    """

    stage: str
    job: Job
    slices: tuple[Slice, ...]
    templates: str | None = None
    languages: str | None = None
    begin: Place = (0, None)
    rejected: tuple[tuple[tuple[int, int], tuple[str, str]], ...] = ()
    unbatched: int = 0
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
        self._child: Child | None = None
        self._notes_file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as we do
        self._notes_file.truncate(mmap.PAGESIZE)
        self._notes = mmap.mmap(self._notes_file.fileno(), mmap.PAGESIZE)
        self.pid = os.getpid()
        self.folder = Path.cwd()  # also the child's, to which paths are relative

    @property
    def retries(self) -> int:
        """How often children have repeated a request to storage."""
        return int(RETRIES.unpack_from(self._notes, NOTE.size)[0])

    def close(self) -> None:
        """End the child, for good."""
        self._end_child()
        self._notes.close()
        self._notes_file.close()

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None

    def outcomes(self, task: Task) -> Iterator[Outcome]:
        """Have all records of a task done, in order; each gives one outcome, whatever happens.

        Raises:
            OSError: an input could not be read at all.
            MainmatterError: the task cannot be done, say for a missing model, or no child can be started.
        """
        place = task.begin
        rejected: dict[tuple[int, int], tuple[str, str]] = {}
        suspected: set[tuple[int, int, int]] = set()
        while place[0] < len(task.slices):
            death: _Death | None = None
            unbatched = MOST_AT_ONCE if suspected else 0
            again = replace(task, begin=place, rejected=tuple(rejected.items()), unbatched=unbatched)
            for message in self._run(again):
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
                rejected[death.slice, death.position] = death.reason, death.detail
            elif is_sure:  # outcomes came one by one this time: we have those of all records before
                place, reject = self._skip_unreadable(task, death)
                yield Outcome(death.slice, death.position, 0, reject)

    def _skip_unreadable(self, task: Task, death: _Death) -> tuple[Place, Reject]:
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
        where = f"the input before position {good} could not be read: {death.detail}"
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
        try:
            child.send(task)
            while True:
                if not self._wait(child, task.job.max_seconds):
                    child.kill("clock")
                    raise child.reap()
                if not child.is_ready:
                    child.wait_ready()
                    continue
                outcomes = child.receive()
                if child.is_idle:
                    return
                yield outcomes
        except ChildExited as error:
            self._child = None
            yield self._death(error, task.job)
        finally:
            if self._child is not None and not child.is_idle:  # nobody wants the rest
                self._end_child()

    def _wait(self, child: Child, seconds: float) -> bool:
        """Wait for a message, or for the end of the child; not if it does nothing for too long."""
        waited, noted = 0.0, -1
        while not child.poll(min(TICK, seconds)):
            count, phase, _, _ = NOTE.unpack_from(self._notes)
            waited = waited + min(TICK, seconds) if count == noted else 0.0
            noted = count
            if waited > _patience(phase, seconds):
                return False
        return True

    def _start(self, task: Task) -> Child:
        fork = may_fork()
        if fork:
            load_for_all(task)
        notes = self._notes_file.fileno()
        return Child(_RecordService, notes, fork=fork, pass_fds=(notes,), capture_stderr=True)

    def _death(self, error: ChildExited, job: Job) -> _Death:
        count, phase, number, position = NOTE.unpack_from(self._notes)
        if not count and error.code >= 0:
            raise MainmatterError(f"cannot start the process that cleans pages: {error.stderr or error.how}")
        if error.reason == "clock":
            reason, detail = "timeout", f"no result after {_patience(phase, job.max_seconds):g} s of wall-clock time"
        elif error.reason == "time":
            reason, detail = "timeout", f"took more than {job.max_seconds:g} s of processor time"
        elif error.reason == "memory":
            reason, detail = "out-of-memory", f"took more than {job.max_memory / 1e6:g} MB of memory"
        elif error.code == -signal.SIGKILL:
            reason, detail = "out-of-memory", "was killed twice (SIGKILL), as the kernel does when memory is short"
        else:
            reason, detail = "crashed", f"crashed its worker process twice ({error.how})"
        return _Death(reason, detail, phase, number, position)


def _patience(phase: int, seconds: float) -> float:
    """How long a record may be under way, by the clock, that may take so many seconds of processor time."""
    return WALL_FACTOR * seconds + (READING_PATIENCE if phase == READING else 0)


class _RecordService:
    """In the child: reads and works on the records of a task. Models are kept from one task to the next.

    Args:
        notes: the file of the shared memory in which the guard finds what was under way when this process died.
    """

    def __init__(self, notes: int) -> None:
        self._notes = mmap.mmap(notes, mmap.PAGESIZE)
        self._count = 0
        self._base = 0  # bytes of memory after the imports
        self._made: tuple[Task, Work] | None = None
        retries.on_retry = self._note_retry

    def __call__(self, task: Task) -> Iterator[list[Outcome]]:
        self._note(READING, task.begin[0], task.begin[1] or task.slices[task.begin[0]].start)
        batch: list[Outcome] = []
        due, length, unbatched = 0.0, 0, task.unbatched
        try:
            if self._made is None or not _is_same_work(self._made[0], task):
                self._made = task, _no_work if task.probe else make_work(task)
                gc.freeze()  # what is loaded stays: no collection of garbage need look at it again
            _load_readers(task)
            self._base = self._base or memory_given()
            limit_memory(self._base + task.job.max_memory)
            for outcome in self._outcomes(task, self._made[1]):
                now = time.monotonic()
                if not batch:
                    due = now + LONGEST_WAIT
                batch.append(outcome)
                length += outcome.size  # what is kept of a page is smaller than the page
                unbatched -= 1
                if unbatched >= 0 or len(batch) >= MOST_AT_ONCE or length > LARGEST_MESSAGE or now >= due:
                    yield batch
                    batch, length = [], 0
        except MemoryError:
            raise
        except Exception as error:
            if batch:
                yield batch
            # An OSError of some library may have any constructor; ours and Python's own can be sent.
            is_portable = type(error).__module__ in ("builtins", MainmatterError.__module__)
            raise error if is_portable else MainmatterError(_told(error)) from error
        finally:
            if task.probe:  # there is more to load yet
                self._base = 0
        if batch:
            yield batch

    def _note(self, phase: int, number: int, position: int) -> None:
        self._count += 1
        NOTE.pack_into(self._notes, 0, self._count, phase, number, position)

    def _note_retry(self) -> None:
        """Count a retry, and show that we are alive: storage may take minutes to answer."""
        (count,) = RETRIES.unpack_from(self._notes, NOTE.size)
        RETRIES.pack_into(self._notes, NOTE.size, count + 1)
        self._note_alive()

    def _note_alive(self) -> None:
        """Show that we are alive, although we wait for something."""
        _, *rest = NOTE.unpack_from(self._notes)
        self._count += 1
        NOTE.pack_into(self._notes, 0, self._count, *rest)

    def _outcomes(self, task: Task, work: Work) -> Iterator[Outcome]:
        """Read and work on all records of a task; each gives one outcome."""
        rejected = dict(task.rejected)
        first, start = task.begin
        for number in range(first, len(task.slices)):
            for read in self._records(task, number, start):
                if task.probe:
                    return
                self._note(CLEANING, number, read.position)
                signal.setitimer(signal.ITIMER_PROF, task.job.max_seconds)
                yield _outcome(read, number, work, rejected.get((number, read.position)))
                self._note(READING, number, read.position + 1)
                signal.setitimer(signal.ITIMER_PROF, task.job.max_seconds)
            start = None

    def _records(self, task: Task, number: int, start: int | None) -> Iterator[Read]:
        """What a slice holds; a reader that fails, which it should not, costs the rest of the slice and is told."""
        one = task.slices[number]
        position = one.start if start is None else start
        self._note(READING, number, position)
        signal.setitimer(signal.ITIMER_PROF, task.job.max_seconds)
        limits = Limits(size=task.job.max_size)
        rules = FetchRules(
            robots=task.job.filters.robots_txt,
            delay=task.job.delay,
            deadline=min(DEADLINE, WALL_FACTOR * task.job.max_seconds),
            public_only=task.job.public_only,
            on_wait=self._note_alive,
        )
        try:
            with storage.private_allowed(not task.job.public_only):
                for read in read_slice(one, limits, start, fetch_rules=rules):
                    yield read
                    position = read.position + 1
        except (MainmatterError, OSError, MemoryError):
            raise
        except Exception as error:
            yield Reject(
                "damaged", f"the rest of this slice of the input is unreadable: {_told(error)}", one.path, position
            )


def _is_same_work(one: Task, other: Task) -> bool:
    """Whether what was made for one shard serves for the next: models, and what is remembered of pages.

    Counting begins anew with each shard.
    """
    if one.stage != "clean" or one.probe:
        return False
    return one == replace(other, slices=one.slices, begin=one.begin, rejected=one.rejected, unbatched=one.unbatched)


def _load_readers(task: Task) -> None:
    """Load what readers load at first use, before memory is limited; what is missing they will tell."""
    modules = {"parquet": "pyarrow.parquet", "warc": "fastwarc.warc", "wet": "fastwarc.warc", "urls": "urllib3"}
    kinds = {one.kind for one in task.slices}
    for kind in kinds & set(modules):
        with suppress(ImportError):
            import_module(modules[kind])
    if "urls" in kinds:
        addresses_of("127.0.0.1", 80, 1.0)  # the first thread reserves memory, which later ones use, too


def _no_work(_: Record) -> Result:
    """What is done with records that are only read to see whether that kills: nothing."""
    return (), b""


def _outcome(read: Read, number: int, work: Work, rejected: tuple[str, str] | None) -> Outcome:
    if isinstance(read, Skipped):
        return Outcome(number, read.position, 0, read.type)
    if isinstance(read, Reject):
        return Outcome(number, read.position, 0, read)
    size = len(read.page.html)
    if rejected is not None:
        return Outcome(number, read.position, size, _reject(read, *rejected))
    try:
        result, signature = work(read)
    except MemoryError:
        raise
    except Exception as error:
        return Outcome(number, read.position, size, _reject(read, "error", _told(error)))
    if isinstance(result, tuple):
        return Outcome(number, read.position, size, result, signature)
    return Outcome(number, read.position, size, result)


def _reject(record: Record, reason: str, detail: str) -> Reject:
    return Reject(reason, detail, record.source, record.position, record.page.id, record.page.url)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"
