"""Worker processes: whatever touches a page is done there, so that a page can harm only its own request.

A worker that takes too long, dies, or eats too much memory is replaced. Requests wait for a free worker in a queue of
bounded length; the next one is told at once that the server is busy. All public methods belong to the server's event
loop; a thread for each worker talks with it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import secrets
import signal
import subprocess
import tempfile
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any

from mainmatter.errors import MainmatterError
from mainmatter.isolation.processes import Started, start
from mainmatter.lab.bench.memory import resident_mb
from mainmatter.workbench.worker_ends import last_line, signal_name, tells_of_memory
from mainmatter.workbench.worker_process import OUT_OF_MEMORY, Order, Reply

_log = logging.getLogger("mainmatter.workbench")

START_LIMIT = 60.0  # seconds until a new worker is ready
GRACE = 1.0  # seconds that work may go on for a client that has gone: ending a worker costs more than most work
_AGAIN = 1.0  # seconds until starting a worker is tried once more
_LAST_WORDS = 4000  # bytes of a worker's standard error
UNFORESEEN = "this failed in a way that nobody foresaw"
_WARM = ("mainmatter.workbench.clean",)


class Busy(MainmatterError):
    """All workers are busy, and enough requests wait for one.

    Attributes:
        retry_after: in how many seconds a client may try again.
    """

    def __init__(self, retry_after: int = 1) -> None:
        super().__init__("the server is busy")
        self.retry_after = retry_after


class TookTooLong(MainmatterError):
    """The work took longer than it may; its worker was ended."""


class Crashed(MainmatterError):
    """The work ended its worker, or failed in a way that nobody foresaw."""


class TookTooMuchMemory(Crashed):
    """The work needed more memory than it may have."""


class Workers:
    """A fixed number of worker processes, and the queue before them.

    Args:
        count: how many processes.
        waiting: how many pieces of work may wait for one.
        seconds: how long a piece of work may take, and how long it may wait.
        memory_mb: how much memory a worker may take above that of its start.
    """

    def __init__(self, count: int, *, waiting: int, seconds: float, memory_mb: int) -> None:
        self.count = count
        self.most_waiting = waiting
        self.seconds = seconds
        self.memory_mb = memory_mb
        self.ended: Counter[str] = Counter()  # workers that ended before their time, by reason
        self._all: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._queue: deque[_Job] = deque()
        self._lock = Lock()  # for the queue, and for who works on what
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(count, "mainmatter-worker")
        self._closing = False

    @property
    def is_ready(self) -> bool:
        """Whether at least one worker has started, and none is being shut down."""
        return bool(self._all) and not self._closing

    @property
    def is_full(self) -> bool:
        """Whether work that comes now is refused."""
        return self._closing or (not self._idle and len(self._queue) >= self.most_waiting)

    @property
    def busy(self) -> int:
        """How many workers are at work, or being replaced."""
        return self.count - len(self._idle)

    @property
    def waiting(self) -> int:
        """How many pieces of work wait for a worker."""
        return len(self._queue)

    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [worker.pid for worker in self._all]

    def resident_mb(self) -> float:
        """The memory of all workers together."""
        return sum(resident_mb(pid) or 0.0 for pid in self.pids())

    async def start(self) -> None:
        """Start all processes; they are ready for work when this returns.

        Raises:
            MainmatterError: they cannot be started.
        """
        started = await asyncio.gather(*(self._start_one() for _ in range(self.count)), return_exceptions=True)
        for one in started:
            if isinstance(one, BaseException):
                await self.close()
                raise one
            self._idle.append(one)

    async def close(self) -> None:
        """End all processes; what waits is told that the server is busy."""
        self._closing = True
        while (job := self._next_job()) is not None:
            job.fail(Busy())
        for worker in self._all:
            worker.end("closing")
        await asyncio.gather(*self._tasks, return_exceptions=True)
        loop = asyncio.get_running_loop()
        for worker in list(self._all):
            await loop.run_in_executor(self._threads, worker.bury)
        self._all.clear()
        self._idle.clear()
        self._threads.shutdown()

    async def run(self, target: str, /, **arguments: Any) -> Any:  # noqa: ANN401 - whatever the function returns
        """Have a worker call a function, under the common limits.

        Args:
            target: the function, as "module:function".
            arguments: its arguments; they and the result travel between processes.

        Raises:
            Busy: no worker is free, and enough requests wait already, or it waited in vain.
            TookTooLong: it took longer than it may.
            Crashed: it ended its process, or failed in a way that nobody foresaw.
            MainmatterError: what the function raised, if it is one of ours.
        """
        return await self.run_for(self.seconds, target, **arguments)

    async def run_for(self, seconds: float, target: str, /, **arguments: Any) -> Any:  # noqa: ANN401
        """As `run`, with a time limit of its own."""
        if self.is_full:
            raise Busy(self.retry_after())
        job = _Job(Order(target, arguments, seconds))
        with self._lock:
            self._queue.append(job)
        patience = asyncio.get_running_loop().call_later(self.seconds, self._give_up, job)
        self._dispatch()
        try:
            return await job.future
        except asyncio.CancelledError:
            self._abandon(job)
            raise
        finally:
            patience.cancel()

    def retry_after(self) -> int:
        """When to try again, in whole seconds: how long the queue takes if each piece of work takes a tenth of one."""
        return max(1, math.ceil(len(self._queue) * 0.1 / self.count))

    def _give_up(self, job: _Job) -> None:
        if self._take_back(job):
            job.fail(Busy(self.retry_after()))

    def _abandon(self, job: _Job) -> None:
        """Nobody waits for this any more: it makes place for others."""
        if not self._take_back(job):
            asyncio.get_running_loop().call_later(GRACE, self._end_work_on, job)

    def _take_back(self, job: _Job) -> bool:
        """Take a job out of the queue, if it is still there."""
        with self._lock:
            if job not in self._queue:
                return False
            self._queue.remove(job)
            return True

    def _end_work_on(self, job: _Job) -> None:
        with self._lock:  # so that no other job has its worker yet
            if job.worker is not None:
                job.worker.end("gone")

    def _dispatch(self) -> None:
        while self._idle and not self._closing:
            job = self._next_job()
            if job is None:
                return
            task = asyncio.get_running_loop().create_task(self._do(self._idle.pop(), job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next_job(self) -> _Job | None:
        with self._lock:
            return self._queue.popleft() if self._queue else None

    async def _do(self, worker: _Worker, job: _Job) -> None:
        """Have a worker do a job, and all that wait then, and be there for the next, or have another in its place."""
        ready: _Worker | None = worker
        if worker.has_ended():  # while it was idle: that is not this job's fault
            ready = await self._replace(worker)
        if ready is None:  # we are closing
            job.fail(Busy())
            return
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, self._work, ready, job, loop)
        if ready.ending is not None or ready.is_last:
            ready = await self._replace(ready)
        if ready is not None:
            self._idle.append(ready)
            self._dispatch()

    def _work(self, worker: _Worker, job: _Job, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: job after job, without waiting for the event loop, which may be busy refusing others."""
        next_one: _Job | None = job
        while next_one is not None:
            job = next_one
            job.worker = worker
            reply = worker.exchange(job.order, job.order.seconds)
            with self._lock:
                job.worker = None
            loop.call_soon_threadsafe(self._settle, job, reply, worker)
            next_one = None if worker.ending is not None or worker.is_last else self._next_job()

    def _settle(self, job: _Job, reply: Reply, worker: _Worker) -> None:
        """Tell whoever waits what came of it."""
        if job.future.done():  # nobody does
            return
        if reply.kind == "result":
            job.future.set_result(reply.content)
        elif reply.kind == "failed":
            job.fail(reply.content)
        elif reply.kind == "bug":
            # Its words may tell of this machine: they are for the log, and clients get a reference to them.
            reference = secrets.token_hex(4)
            _log.error("%s failed (reference %s):\n%s", job.order.target, reference, reply.content)
            job.fail(Crashed(f"{UNFORESEEN} (reference {reference})"))
        else:
            why = self._why(worker, reply.content, job.order.seconds)
            if isinstance(why, Crashed):
                _log.error("%s: %s; its last words: %s", job.order.target, why, worker.last_words or "none")
            job.fail(why)

    def _why(self, worker: _Worker, code: int, seconds: float) -> MainmatterError:
        if worker.ending == "closing":
            return Busy()
        if worker.ending == "time" or code == -signal.SIGPROF:
            return TookTooLong(f"this took longer than {seconds:g} s")
        if code == OUT_OF_MEMORY or tells_of_memory(worker.last_words):
            return TookTooMuchMemory(f"this took more than {self.memory_mb} MB of memory")
        return Crashed(f"this ended the process that worked on it ({signal_name(code)})")

    async def _replace(self, worker: _Worker) -> _Worker | None:
        loop = asyncio.get_running_loop()
        code = await loop.run_in_executor(self._threads, worker.bury)
        self._all.discard(worker)
        self.ended[_reason(worker, code)] += 1
        while not self._closing:
            try:
                return await self._start_one()
            except (OSError, MainmatterError):
                _log.exception("a worker cannot be started; trying again in %g s", _AGAIN)
                await asyncio.sleep(_AGAIN)
        return None

    async def _start_one(self) -> _Worker:
        loop = asyncio.get_running_loop()
        worker = await loop.run_in_executor(self._threads, _Worker)
        self._all.add(worker)
        order = self.memory_mb * 1_000_000, _WARM
        reply = await loop.run_in_executor(self._threads, worker.exchange, order, START_LIMIT)
        if reply.kind == "ready" and worker.ending is None:
            return worker
        said = await loop.run_in_executor(self._threads, worker.bury_and_listen)
        self._all.discard(worker)
        raise MainmatterError(f"a worker process cannot be started: {said or signal_name(reply.content)}")


class _Job:
    """A piece of work and who waits for it."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.worker: _Worker | None = None  # that is at work on it

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class _Worker:
    """One process. Only `end` may be called while another thread is in `exchange`."""

    def __init__(self) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._started: Started = start("mainmatter.workbench.worker_process:serve", stderr=self._stderr)
        self.pid = self._started.process.pid
        self.ending: str | None = None  # why we end it
        self.is_last = False  # it has ended, or is about to
        self.died = False  # in the middle of work
        self.last_words = ""

    def exchange(self, message: object, seconds: float) -> Reply:
        """Give it a message and wait for the reply, but not longer than so many seconds."""
        try:
            self._started.connection.send(message)
            if not self._started.connection.poll(seconds):
                self.end("time")
            reply: Reply = self._started.connection.recv()
        except (EOFError, OSError):
            self.is_last = self.died = True
            code = self._wait_for_end()
            self.last_words = self._listen()
            return Reply("died", code, is_last=True)
        except Exception as error:  # what cannot travel
            return Reply("failed", Crashed(f"this cannot be sent to a worker: {type(error).__name__}: {error}"))
        self.is_last = reply.is_last
        return reply

    def has_ended(self) -> bool:
        """Whether it is no longer there."""
        return self._started.process.poll() is not None

    def end(self, why: str) -> None:
        """Have the kernel end it, now; whoever waits for its reply learns of that."""
        self.ending = self.ending or why
        with suppress(OSError):
            self._started.process.kill()

    def bury(self) -> int:
        """End it if need be and give back all that it held; its exit code."""
        try:
            return self._started.kill()
        except subprocess.TimeoutExpired:  # the kernel holds it back: it is nobody's worker any more
            return -signal.SIGKILL
        finally:
            self._stderr.close()

    def _wait_for_end(self) -> int:
        try:
            return self._started.bury()
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL

    def bury_and_listen(self) -> str:
        """As `bury`, for its last words."""
        self.end("start")
        said = self._listen()
        self.bury()
        return said

    def _listen(self) -> str:
        """The last line that it wrote to standard error."""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _LAST_WORDS))
        return last_line(self._stderr.read().decode("utf-8", "replace"))


def _reason(worker: _Worker, code: int) -> str:
    """Why a worker had to be replaced, in one word."""
    if worker.ending is not None:
        return worker.ending
    if code == -signal.SIGPROF:
        return "time"
    if code == OUT_OF_MEMORY or tells_of_memory(worker.last_words):
        return "memory"
    return "recycled" if worker.is_last and not worker.died else "crash"
