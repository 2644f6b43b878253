"""Worker processes: whatever touches a page is done there, so that a page can harm only its own request.

A worker that takes too long, dies, or eats too much memory is replaced. Requests wait for a free worker in a bounded
queue; when it is full, further ones are refused at once. All public methods belong to the server's event loop.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import math
import os
import secrets
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mainmatter.api import clean
from mainmatter.errors import MainmatterError
from mainmatter.isolation.child import CallFailed, Child, ChildExited, ChildTraceback
from mainmatter.isolation.pool import Pool

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from mainmatter.isolation.pool import Call

_log = logging.getLogger("mainmatter.workbench")

START_LIMIT = 60.0  # seconds until a new worker is ready
GRACE = 1.0  # seconds that work may go on for a client that has gone: ending a worker costs more than most work
# What is wrong with the disk, and not with us.
CANNOT_WRITE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO))
UNFORESEEN = "this failed unexpectedly"
_SPARE_SECONDS = 1.0  # of processor time: the server's clock goes first
_WARM = ("mainmatter.workbench.clean",)
_PROBE = b"<title>A page</title><h1>A page</h1><p>Some words that warm the worker up, and a few more of them.</p>"


class Busy(MainmatterError):
    """All workers are busy, and the queue is full.

    Attributes:
        retry_after: in how many seconds a client may try again.
    """

    def __init__(self, retry_after: int = 1) -> None:
        super().__init__("the server is busy")
        self.retry_after = retry_after


class TookTooLong(MainmatterError):
    """The work took longer than allowed; its worker was ended."""


class Crashed(MainmatterError):
    """The work ended its worker, or failed unexpectedly."""


class TookTooMuchMemory(Crashed):
    """The work needed more memory than allowed."""


class CannotWrite(MainmatterError):
    """The server's disk is full or read-only."""

    def __init__(self, why: str) -> None:
        super().__init__(why)

    def __str__(self) -> str:
        return f"the server cannot write to its disk: {self.args[0]}"


class Workers:
    """A fixed number of worker processes, and their queue.

    Args:
        count: how many processes.
        waiting: how many tasks may wait for one.
        seconds: how long a task may take, and how long it may wait.
        memory_mb: how much memory a worker may take beyond that at its start.
        warm: the modules that a worker loads at its start; by default what the workbench needs.
    """

    def __init__(
        self, count: int, *, waiting: int, seconds: float, memory_mb: int, warm: tuple[str, ...] | None = None
    ) -> None:
        self.count = count
        self.most_waiting = waiting
        self.seconds = seconds
        self.memory_mb = memory_mb
        self._warm = _WARM if warm is None else warm
        self._pool = Pool(self._start_child, count, START_LIMIT)
        self._closing = False

    @property
    def ended(self) -> Counter[str]:
        """How many workers ended before their time, by reason."""
        return self._pool.exits

    @property
    def is_ready(self) -> bool:
        """Whether at least one worker has started, and none is being shut down."""
        return bool(self.pids()) and not self._closing

    @property
    def is_full(self) -> bool:
        """Whether new work is refused."""
        return self._closing or (not self._pool.idle and self.waiting >= self.most_waiting)

    @property
    def busy(self) -> int:
        """How many workers are busy, or being replaced."""
        return self.count - self._pool.idle

    @property
    def waiting(self) -> int:
        """How many tasks wait for a worker."""
        return self._pool.waiting

    def pids(self) -> list[int]:
        """The process ids of the workers."""
        return self._pool.pids()

    def resident_mb(self) -> float:
        """The memory of all workers together."""
        return self._pool.resident_mb()

    async def start(self) -> None:
        """Start all processes; they are ready when this returns.

        Raises:
            MainmatterError: they cannot be started.
        """
        started = (asyncio.wrap_future(future) for future in self._pool.start_all())
        for error in await asyncio.gather(*started, return_exceptions=True):
            if error is not None:
                await self.close()
                if isinstance(error, ChildExited):
                    raise MainmatterError(f"a worker process cannot be started: {error.stderr or error.how}")
                raise MainmatterError(f"a worker process cannot be started: {type(error).__name__}: {error}")

    async def close(self) -> None:
        """End all processes; waiting requests are told that the server is busy."""
        self._closing = True
        for call in await asyncio.get_running_loop().run_in_executor(None, self._pool.close):
            _fail(call, Busy())

    async def run(self, function: Callable[..., Any], /, **arguments: Any) -> Any:
        """Have a worker call a function, under the common limits.

        Args:
            function: must be importable.
            arguments: its arguments; they and the result are sent between processes.

        Raises:
            Busy: no worker is free, and the queue is full or the wait was too long.
            TookTooLong: it took longer than allowed.
            Crashed: it ended its process, or failed unexpectedly.
            MainmatterError: what the function raised, if it is one of ours.
        """
        return await self.run_for(self.seconds, function, **arguments)

    async def run_for(self, seconds: float, function: Callable[..., Any], /, **arguments: Any) -> Any:
        """As `run`, with a time limit of its own."""
        if self.is_full:
            raise Busy(self.retry_after())
        loop = asyncio.get_running_loop()
        call = self._pool.submit(function, arguments, seconds=seconds, processor_seconds=seconds + _SPARE_SECONDS)
        patience = loop.call_later(self.seconds, self._give_up, call)
        try:
            return await asyncio.wrap_future(call)
        except asyncio.CancelledError:  # nobody waits for this any more: it makes place for others
            if not self._pool.withdraw(call):
                loop.call_later(GRACE, self._pool.end_work_on, call, "gone")
            raise
        except ChildExited as error:
            raise self._explain(error, function, seconds) from None
        except Exception as error:
            if isinstance(error, MainmatterError) and not isinstance(error, CallFailed):
                raise
            if not isinstance(error.__cause__, ChildTraceback):
                raise Crashed(f"this cannot be sent to a worker: {type(error).__name__}: {error}") from None
            # Its words may tell of this machine: they are for the log, and clients get a reference to them.
            reference = secrets.token_hex(4)
            _log.error("%s failed (reference %s):\n%s", _name(function), reference, error.__cause__)
            raise Crashed(f"{UNFORESEEN} (reference {reference})") from None
        finally:
            patience.cancel()

    def retry_after(self) -> int:
        """When to try again, in whole seconds: how long the queue takes if each task takes a tenth of a second."""
        return max(1, math.ceil(self.waiting * 0.1 / self.count))

    def _give_up(self, call: Call) -> None:
        if self._pool.withdraw(call):
            _fail(call, Busy(self.retry_after()))

    def _explain(self, error: ChildExited, function: Callable[..., Any], seconds: float) -> MainmatterError:
        if error.reason == "closing":
            return Busy()
        if error.reason == "time":
            return TookTooLong(f"this took longer than {seconds:g} s")
        why = Crashed(f"this ended the process that worked on it ({error.how})")
        if error.reason == "memory":
            why = TookTooMuchMemory(f"this took more than {self.memory_mb} MB of memory")
        _log.error("%s: %s; its last output: %s", _name(function), why, error.stderr or "none")
        return why

    def _start_child(self) -> Child:
        return Child(_task_service, self._warm, memory=self.memory_mb * 1_000_000, capture_stderr=True)


def _fail(call: Call, error: Exception) -> None:
    if call.set_running_or_notify_cancel():  # else nobody waits for it
        call.set_exception(error)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def _task_service(modules: tuple[str, ...]) -> Callable[..., Any]:
    """In a worker: load what most tasks need; the service calls any function."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # the other pools reserve a gigabyte of addresses at once
    for module in modules:
        import_module(module)
    extraction = clean(_PROBE)
    for format_ in ("text", "markdown", "html", "json"):
        extraction.render(format_)
    gc.collect()
    gc.freeze()
    return _do_task


def _do_task(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        return function(**arguments)
    except OSError as error:
        if error.errno not in CANNOT_WRITE:
            raise
        raise CannotWrite(os.strerror(error.errno)) from error
