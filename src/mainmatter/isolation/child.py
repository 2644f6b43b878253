"""A child process that answers calls under limits; how it ended is reported in words.

    child = Child(make, *arguments)     in the child: service = make(*arguments), once
    child.call(page)                    in the child: service(page); its result comes back, or what it raises

A service that is a generator function sends several answers to one call: `send`, then `receive` for each.

Limits hold even inside C code. Wall-clock time: the child is killed. Processor time: a timer of the kernel sends a
signal that ends the process. Memory: the kernel grants a fixed amount beyond what the process had when it was ready. A
child never outlives the process that started it, leaves Ctrl-C to it, and inherits only the files that it is given.

It is a plain new interpreter (the caller may have threads; its main script is imported only if a function is defined
there), or a fork. Messages are pickled in both directions: what a child sends is trusted as much as its code.
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
import tempfile
import threading
import time
import traceback
from contextlib import suppress
from multiprocessing import util
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from mainmatter.errors import MainmatterError
from mainmatter.isolation.channel import Channel, pack, unpack
from mainmatter.isolation.memory import resident_mb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

OUT_OF_MEMORY = 77  # exit code
# Processes are the parallelism: a library that starts a thread for each core would only get in their way.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
# Arrow must not free its memory in a thread of its own either: a process with threads cannot fork.
_ONE_THREAD |= {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
_PATIENCE = 10.0  # seconds for an ending process to be gone
_LONGEST_NAP = 0.05  # seconds between two looks whether it is
_STDERR_TAIL = 4000  # bytes
_MOST_LEFT = 0.6  # share of its memory that earlier calls may have left when another is begun


class CallFailed(MainmatterError):
    """A call raised an error that cannot be sent between processes; this has its message."""


class ChildTraceback(Exception):
    """The cause of an error that was raised in a child: where in the child."""


class ChildExited(MainmatterError):
    """A child has ended, or was ended, before it answered.

    Attributes:
        reason: "time", "memory", "crash", or the reason given to `Child.kill`.
        code: its exit code, below 0 for the signal that ended it.
        stderr: the last line that it wrote to standard error, if that was captured.
    """

    def __init__(self, reason: str, code: int, stderr: str = "") -> None:
        super().__init__(reason, code, stderr)
        self.reason, self.code, self.stderr = reason, code, stderr

    @property
    def how(self) -> str:
        """The exit code in words, or the name of the signal."""
        if self.code >= 0:
            return f"exit code {self.code}"
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"signal {-self.code}"

    def __str__(self) -> str:
        whys = {"time": "took too long", "memory": "took too much memory", "crash": "died"}
        return f"the process {whys.get(self.reason, f'was ended ({self.reason})')} ({self.how})"


class Child:
    """A child process. Only `kill` may be called while another thread waits for an answer.

    Args:
        make: called in the child; makes the service that answers calls. It must be importable unless this is a fork.
        arguments: for `make`.
        memory: how many bytes the child may take above what it has when it is ready; 0 for no limit. It ends itself
            after a call when earlier ones have left too much (`is_last`).
        fork: fork this process, instead of starting a new interpreter. Only safe if nobody's threads matter:
            see `may_fork`.
        one_thread: keep numpy and the like from starting a thread for each core, in a new interpreter.
        variables: environment variables of a new interpreter, beside ours.
        pass_fds: file descriptors that it shares.
        capture_stderr: keep what it writes to standard error and output, for `ChildExited.stderr`. Otherwise both go
            to our standard error, from a fork to where ours go.

    Raises:
        OSError: no process can be started.
    """

    def __init__(
        self,
        make: Callable[..., Callable[..., Any]],
        *arguments: Any,  # whatever the function takes
        memory: int = 0,
        fork: bool = False,
        one_thread: bool = True,
        variables: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        capture_stderr: bool = False,
    ) -> None:
        self.is_idle = False  # it waits for a call
        self.is_last = False  # it ends by itself after the last answer
        self.start_mb: float | None = None  # its memory before the service was made; None where that is not known
        self.is_ready = False  # the service is made
        self.killed_for: str | None = None  # why `kill` was called, if it was
        setup = make, arguments, memory
        payload = b"" if fork else bytes(ForkingPickler.dumps(setup))
        self._stderr = tempfile.TemporaryFile() if capture_stderr else None  # noqa: SIM115 - lives as long as we do
        stderr = None if self._stderr is None else self._stderr.fileno()
        ours, theirs = socket.socketpair()
        lifeline_end, self._lifeline = os.pipe()  # when ours closes, as it does when we die, the child ends
        self._connection = Channel(ours)
        # Ctrl-C goes to all processes of the terminal, but only we handle it: the mask is inherited until `_begin`.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process: subprocess.Popen[bytes] | _Forked
            if fork:
                held = {self._connection.fileno(), self._lifeline, *_held}
                self._process = _fork(theirs, lifeline_end, setup, stderr, held)
            else:
                its_own = (_ONE_THREAD if one_thread else {}) | dict(variables or {})
                self._process = _spawn(theirs.fileno(), lifeline_end, stderr, pass_fds, its_own)
        except BaseException:
            self._release()
            raise
        finally:
            theirs.close()
            os.close(lifeline_end)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.pid = self._process.pid
        _held.update((self._connection.fileno(), self._lifeline))
        try:
            with suppress(ConnectionError):  # it died; waiting for its answer raises the error
                if not fork:
                    self._connection.send(_main_script() if b"__main__" in payload else {})
                    self._connection.send_message([payload])
        except BaseException:  # Ctrl-C
            self.end()
            raise

    def wait_ready(self, seconds: float | None = None) -> None:
        """Wait until the service is made; a child that cannot make it is ended.

        Raises:
            ChildExited: the child died, or it took longer than so many seconds.
            Exception: what `make` raised.
        """
        try:
            while not self.is_ready:
                self._take(seconds)
        except BaseException:
            self.end()
            raise

    def call(self, *arguments: Any, seconds: float | None = None, processor_seconds: float = 0) -> Any:
        """Have the service called, and wait for its answer. The child lives on if that is an error.

        Args:
            arguments: for the service.
            seconds: how long it may take by the clock.
            processor_seconds: how much processor time it may take; 0 for no limit.

        Raises:
            ChildExited: the child died, or took too long.
            Exception: what the service raised, caused by a `ChildTraceback`; or, without that, why the arguments
                or the answer cannot be sent.
        """
        self.send(*arguments, processor_seconds=processor_seconds)
        return self.receive(seconds)

    def send(self, *arguments: Any, processor_seconds: float = 0) -> None:
        """Have the service called; `receive` waits for the answer, also if the child is dead."""
        message = pack((arguments, processor_seconds))
        self.is_idle = False
        with suppress(OSError):  # it died; waiting for its answer raises the error
            self._connection.send_message(message)

    def poll(self, seconds: float) -> bool:
        """Wait at most so long for an answer, or the end of the child; whether either came."""
        return self._connection.poll(seconds)

    def receive(self, seconds: float | None = None) -> Any:
        """The next answer to a call: what the service yields, and at last what it returns; then the child `is_idle`.

        Args:
            seconds: how long it may take; the child is killed then.

        Raises:
            ChildExited: the child died, or took too long.
            Exception: as `call`.
        """
        self.wait_ready(seconds)
        return self._take(seconds)

    def _take(self, seconds: float | None) -> Any:
        try:
            if seconds is not None and not self._connection.poll(seconds):
                self.kill("time")
                raise self.reap()
            kind, content, self.is_last, where = self._connection.receive()
        except (EOFError, OSError):
            raise self.reap() from None
        self.is_idle = kind != "item"
        if kind == "ready":
            self.is_ready, self.start_mb = True, content
        if kind == "error":
            raise content from ChildTraceback(where)
        return content

    def has_exited(self) -> bool:
        """Whether the process is no longer there."""
        return self._process.poll() is not None

    def kill(self, reason: str = "killed") -> None:
        """Kill it now; a caller that waits for its answer gets the reason."""
        self.killed_for = self.killed_for or reason
        with suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """Kill it, and wait until it is gone."""
        self.kill()
        self.reap()

    def close(self) -> None:
        """Let it end by itself if it is idle, as it may have something to clean up; else `end` it."""
        if not self.is_idle or self.killed_for or self._connection.is_closed:
            self.end()
            return
        with suppress(OSError):
            self._connection.send_message([b""])
        self.reap()

    def reap(self) -> ChildExited:
        """Wait until a process that is ending has ended, kill it if it does not, and free its resources."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        if self._process.poll() is None:
            self._process.kill()
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # the kernel holds it back: give it up
            code = -signal.SIGKILL
        stderr = self._last_line()
        self._release()
        if self.killed_for is not None:
            return ChildExited(self.killed_for, code, stderr)
        if code == -signal.SIGPROF:
            return ChildExited("time", code, stderr)
        # Libraries in Rust and C++ end the process with these words when they run out of memory.
        tells_of_memory = "bad_alloc" in stderr or "memory allocation of" in stderr or stderr.startswith("MemoryError")
        return ChildExited("memory" if code == OUT_OF_MEMORY or tells_of_memory else "crash", code, stderr)

    def _last_line(self) -> str:
        if self._stderr is None or self._stderr.closed:
            return ""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_TAIL))
        return self._stderr.read().decode("utf-8", "replace").strip().rpartition("\n")[2].strip()

    def _release(self) -> None:
        if not self._connection.is_closed:
            _held.difference_update((self._connection.fileno(), self._lifeline))
            self._connection.close()
            os.close(self._lifeline)
            if self._stderr is not None:
                self._stderr.close()


def as_service(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as a service that needs nothing else: `Child(as_service, function)`."""
    return function


_held: set[int] = set()  # this process's ends of what ties its children to it: a fork has to close them
_ties: list[int] = []  # the file descriptors that tie this process to the one that started it, if it was started here
_is_own = [False]  # whether that was as a new interpreter, or as a fork of such a one


def is_own_process() -> bool:
    """Whether this process was started by a `Child` for itself alone, so that no other code depends on its state."""
    return _is_own[0]


def may_fork() -> bool:
    """Whether a fork is safe: this process is our own and has one thread, counting those that Python does not know."""
    return is_own_process() and sys.platform.startswith("linux") and len(list(Path("/proc/self/task").iterdir())) == 1


def _spawn(
    connection: int, lifeline: int, stderr: int | None, pass_fds: Sequence[int], variables: dict[str, str]
) -> subprocess.Popen[bytes]:
    code = f"from mainmatter.isolation.child import serve; serve({connection}, {lifeline})"
    environment = os.environ | variables | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"}
    return subprocess.Popen(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=2 if stderr is None else stderr,
        stderr=stderr,
        env=environment,
        pass_fds=(connection, lifeline, *pass_fds),
    )


def _main_script() -> dict[str, Any]:
    """What a new interpreter needs for finding functions of our main script."""
    from multiprocessing.spawn import get_preparation_data  # hardly ever needed

    found = get_preparation_data("")
    return {name: value for name, value in found.items() if name.startswith("init_main")}


def serve(connection: int, lifeline: int) -> None:
    """In a new interpreter: answer calls until the other end is gone."""
    _is_own[0] = True
    ours = _begin(connection, lifeline)
    with suppress(EOFError, ConnectionError):  # the other end is gone
        try:
            if script := ours.receive():
                from multiprocessing.spawn import prepare  # hardly ever needed

                prepare(script)
            setup = ours.receive()
        except (ImportError, AttributeError) as error:
            _answer(ours, "error", error)
        else:
            _serve(ours, *setup)


def _fork(
    connection: socket.socket,
    lifeline: int,
    setup: tuple[Callable[..., Callable[..., Any]], tuple[Any, ...], int],
    stderr: int | None,
    held: set[int],
) -> _Forked:
    _flush()
    pid = os.fork()
    if pid:
        return _Forked(pid)
    code = 1
    try:
        for file in (*held, *_ties):
            os.close(file)
        _held.clear()
        if stderr is not None:
            os.dup2(stderr, 1)
            os.dup2(stderr, 2)
        _serve(_begin(connection.detach(), lifeline), *setup)
        util._run_finalizers(0)  # type: ignore[attr-defined]  # as multiprocessing's own children do
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # reported as an interpreter reports an uncaught exception
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)  # exit handlers are those of the process that forked this one


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # it may be closed, or none
            stream.flush()


def _begin(connection: int, lifeline: int) -> Channel:
    """In the new process: tie its life to the one that started it, and open the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, no exit code would be reported
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # Let the kernel end this process, wherever it is, also inside of C, when the other end of the lifeline closes.
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it closed before we listened
        os._exit(1)
    _ties[:] = connection, lifeline
    return Channel(socket.socket(fileno=connection))


def _serve(connection: Channel, make: Callable[..., Any], arguments: tuple[Any, ...], memory: int) -> None:
    start_mb = resident_mb()
    try:
        service = make(*arguments)
    except Exception as error:
        _answer(connection, "error", error)
        return
    del make, arguments
    base = memory_given()
    if memory:
        limit_memory(base + memory)
    is_last = False
    try:
        connection.send(("ready", start_mb, False, ""))
        while not is_last:
            kind, content = "result", None
            try:
                message = connection.receive_message()
            except EOFError:
                return
            if not message[0]:
                return
            try:
                given, seconds = unpack(message)
                signal.setitimer(signal.ITIMER_PROF, seconds)
                content = service(*given)
                if isinstance(content, GeneratorType):
                    content = _send_items(connection, content)
            except MemoryError:
                raise
            except Exception as error:
                kind, content = "error", error
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            is_last = bool(memory) and memory_given() > base + int(_MOST_LEFT * memory)
            _answer(connection, kind, content, is_last=is_last)
            message, given, content = [], None, None  # no page stays in memory until the next
    except ConnectionError:
        return
    except MemoryError:
        if not _limits:
            raise
        os._exit(OUT_OF_MEMORY)


def _send_items(connection: Channel, items: GeneratorType[Any, None, Any]) -> Any:
    while True:
        try:
            item = next(items)
        except StopIteration as end:
            return end.value
        connection.send(("item", item, False, ""))


def _answer(connection: Channel, kind: str, content: Any, *, is_last: bool = False) -> None:
    if kind == "result":
        try:
            connection.send((kind, content, is_last, ""))
        except (ConnectionError, MemoryError):
            raise
        except Exception as error:  # a result that cannot be sent
            content = error
        else:
            return
    where = "".join(traceback.format_exception(content))
    try:
        ForkingPickler.loads(ForkingPickler.dumps(content))  # some can be sent, and not received
    except Exception:
        content = CallFailed(f"{type(content).__name__}: {content}")
    connection.send(("error", content, is_last, where))


class _Forked:
    """A process that we forked: what we need of `subprocess.Popen`. Several threads may ask."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        with self._lock:
            if self._code is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
            return self._code

    def wait(self, timeout: float) -> int:
        end = time.monotonic() + timeout
        nap = 0.0005
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(nap)
            nap = min(2 * nap, _LONGEST_NAP)
        return code

    def kill(self) -> None:
        with self._lock:
            if self._code is None:
                os.kill(self.pid, signal.SIGKILL)


_limits: list[int] = []  # of this process's memory, if there is one


def memory_given() -> int:
    """How many bytes of memory this process has been given; 0 where the kernel limits none."""
    if not sys.platform.startswith("linux"):
        return 0
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - no file of ours
        return int(file.read().split()[0]) * mmap.PAGESIZE


def limit_memory(limit: int) -> None:
    """Let the kernel limit this child's memory, where it can; asking for more ends the child."""
    _limits[:] = [limit]
    if sys.platform.startswith("linux"):
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
