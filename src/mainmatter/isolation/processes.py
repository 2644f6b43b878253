"""Processes of our own that talk over a pipe, and that never outlive the one that started them.

They are plain new interpreters (no fork: the caller may have threads; no import of the caller's main script). Only a
process that was itself started here, and has a single thread, may fork: what it has loaded, its children need not.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

# Processes are the parallelism: a library that starts a thread for each core would only get in their way.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
# Nor may Arrow tidy up its memory in a thread of its own: what has threads may not fork.
_ONE_THREAD |= {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
_PATIENCE = 10.0  # seconds for an ending process to be gone
_LONGEST_NAP = 0.05  # seconds between two looks whether it is


class Process(Protocol):
    """What we need of `subprocess.Popen`, and have of a fork."""

    @property
    def pid(self) -> int:
        """Its number."""

    def poll(self) -> int | None:
        """Its exit code, below 0 for a signal; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its exit code; raises `subprocess.TimeoutExpired`."""

    def kill(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class Started:
    """A process that was started.

    Attributes:
        process: the process.
        connection: talks with it.
        lifeline: the end of a pipe that nobody else holds; when it closes, as it does when we die, so does the process.
    """

    process: Process
    connection: Connection[Any, Any]
    lifeline: int

    def bury(self) -> int:
        """For a process that has closed its connection, so is ending: give its exit code, as `kill` does."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_PATIENCE)
        return self.kill()

    def kill(self) -> int:
        """End the process if it has not ended, and give its exit code, below 0 for the signal that ended it."""
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait(_PATIENCE)
        if not self.connection.closed:
            self.connection.close()
            os.close(self.lifeline)
        return code


def start(
    target: str,
    *,
    stderr: IO[bytes] | None = None,
    pass_fds: tuple[int, ...] = (),
    prepare: Callable[[], object] | None = None,
) -> Started:
    """Start a process that calls a function.

    Args:
        target: the function, as "module:function"; it is called with a `Connection` to us and with `pass_fds`.
        stderr: where its standard error and output go; by default to our standard error.
        pass_fds: file descriptors that it shares.
        prepare: loads what the function will need. If it is given and this process may fork, it is called and this
            process forked; else the new process is a new interpreter.
    """
    ours, theirs = socket.socketpair()
    lifeline_end, lifeline = os.pipe()
    # Ctrl-C goes to all processes of the terminal, and is ours to answer: the mask is inherited until `begin`.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process: Process
        if prepare is not None and _may_fork():
            prepare()
            process = _fork(target, (theirs, lifeline_end), (ours.fileno(), lifeline), stderr, pass_fds)
        else:
            process = _spawn(target, (theirs, lifeline_end), stderr, pass_fds)
    except BaseException:
        ours.close()
        os.close(lifeline)
        raise
    finally:
        theirs.close()
        os.close(lifeline_end)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return Started(process, Connection(ours.detach()), lifeline)


def begin(connection: int, lifeline: int) -> Connection[Any, Any]:
    """In the new process: tie its life to the one that started it, and open the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where somebody had it ignored, no exit code would be told
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _die_with(lifeline)
    _ties[:] = connection, lifeline
    return Connection(connection)


_ties: list[int] = []  # the file descriptors that tie this process to the one that started it, if it was started here


def is_ours() -> bool:
    """Whether this process was started by `start`, so that nobody else's code minds what happens in it."""
    return bool(_ties)


def _may_fork() -> bool:
    """Whether this process is our own and has one thread, counting those that Python does not know of."""
    return is_ours() and sys.platform.startswith("linux") and len(list(Path("/proc/self/task").iterdir())) == 1


def _spawn(
    target: str, theirs: tuple[socket.socket, int], stderr: IO[bytes] | None, pass_fds: tuple[int, ...]
) -> subprocess.Popen[bytes]:
    module, _, function = target.partition(":")
    connection, lifeline = theirs[0].fileno(), theirs[1]
    code = (
        f"from mainmatter.isolation.processes import begin; connection = begin({connection}, {lifeline})\n"
        f"from {module} import {function}; {function}(connection, *{pass_fds!r})"
    )
    environment = os.environ | _ONE_THREAD | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"}
    return subprocess.Popen(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=stderr if stderr is not None else 2,
        stderr=stderr,
        env=environment,
        pass_fds=(connection, lifeline, *pass_fds),
    )


def _fork(
    target: str,
    theirs: tuple[socket.socket, int],
    ours: tuple[int, int],
    stderr: IO[bytes] | None,
    pass_fds: tuple[int, ...],
) -> _Forked:
    module, _, function = target.partition(":")
    called = getattr(import_module(module), function)
    pid = os.fork()
    if pid:
        return _Forked(pid)
    code = 1
    try:
        for file in (*ours, *_ties):
            os.close(file)
        if stderr is not None:
            os.dup2(stderr.fileno(), 1)
            os.dup2(stderr.fileno(), 2)
        called(begin(theirs[0].detach(), theirs[1]), *pass_fds)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # told as an interpreter tells what nobody caught
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)  # what this process would do at its end is for the one that forked it to do


class _Forked:
    """A process that we forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        nap = 0.0005
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(nap)
            nap = min(2 * nap, _LONGEST_NAP)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def memory_given() -> int:
    """How many bytes of memory this process has been given; 0 where the kernel limits none."""
    if not sys.platform.startswith("linux"):
        return 0
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - no file of ours
        return int(file.read().split()[0]) * mmap.PAGESIZE


def limit_memory(limit: int) -> None:
    """Let the kernel give this process no more than so many bytes, where it limits any."""
    if sys.platform.startswith("linux"):
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _die_with(lifeline: int) -> None:
    """Let the kernel end this process, wherever it is, also inside of C, when the other end of a pipe closes."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it closed before we listened
        os._exit(1)
