"""Processes of our own that talk over a pipe, and that never outlive the one that started them.

They are plain new interpreters (no fork: the caller may have threads; no import of the caller's main script).
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
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import IO, Any

# Processes are the parallelism: a library that starts a thread for each core would only get in their way.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
_PATIENCE = 10.0  # seconds for an ending process to be gone


@dataclass(frozen=True, slots=True)
class Started:
    """A process that was started.

    Attributes:
        process: the process.
        connection: talks with it.
        lifeline: the end of a pipe that nobody else holds; when it closes, as it does when we die, so does the process.
    """

    process: subprocess.Popen[bytes]
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


def start(target: str, *, stderr: IO[bytes] | None = None, pass_fds: tuple[int, ...] = ()) -> Started:
    """Start an interpreter that calls a function.

    Args:
        target: the function, as "module:function"; it is called with a `Connection` to us and with `pass_fds`.
        stderr: where its standard error and output go; by default to our standard error.
        pass_fds: file descriptors that it shares.
    """
    ours, theirs = socket.socketpair()
    lifeline_end, lifeline = os.pipe()
    module, _, function = target.partition(":")
    code = (
        f"from mainmatter.corpus.processes import begin; connection = begin({theirs.fileno()}, {lifeline_end})\n"
        f"from {module} import {function}; {function}(connection, *{pass_fds!r})"
    )
    environment = os.environ | _ONE_THREAD | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"}
    # Ctrl-C goes to all processes of the terminal, and is ours to answer: the mask is inherited until `begin`.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=stderr if stderr is not None else 2,
            stderr=stderr,
            env=environment,
            pass_fds=(theirs.fileno(), lifeline_end, *pass_fds),
        )
    finally:
        theirs.close()
        os.close(lifeline_end)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return Started(process, Connection(ours.detach()), lifeline)


def begin(connection: int, lifeline: int) -> Connection[Any, Any]:
    """In the new process: tie its life to the one that started it, and open the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _die_with(lifeline)
    return Connection(connection)


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
