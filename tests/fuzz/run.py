"""Run a target: inputs are made and read in a child process, and its parent watches it.

A finding is an exception that is none of ours, too much processor time or memory for one input, or a crash. Before an
input is read it lies in memory that parent and child share, so it can be saved whatever becomes of the child.
"""

from __future__ import annotations

import faulthandler
import hashlib
import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from mainmatter.models.in_use import CONFIG

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.target import Target

SECONDS_AN_INPUT = 5.0  # of processor time: a busy machine is no finding
PATIENCE = 120.0  # by the clock, for an input that waits without working
MOST_MEMORY = 1 << 30  # bytes that an input, or all inputs of a child, may take
_INPUTS_A_CHILD = 50_000  # then the next one starts afresh: some targets keep what they were sent
_MOST_DEATHS = 20  # then the target is given up
_MORE_ADDRESSES = 4 << 30  # beyond this, allocating fails
_HEADER = struct.Struct("QQ")  # how many inputs were read, how long this one is
_ROOM = 1 << 20
_TOO_MUCH_MEMORY = 3  # the exit code of a child


@dataclass
class Outcome:
    """What came of a target.

    Attributes:
        inputs: how many mutated inputs were read.
        seconds: how long it took by the clock.
        findings: the first input that showed each finding, by what it is.
    """

    inputs: int = 0
    seconds: float = 0.0
    findings: dict[str, Path] = field(default_factory=dict)


def fuzz(make: Callable[[Path], Target], *, seed: str, seconds: float, most: int, found: Path) -> Outcome:
    """Fuzz a target until the time is up or so many inputs were read.

    Args:
        make: makes the target.
        seed: the same inputs are made for the same seed, as long as no child dies.
        seconds: how long it may take.
        most: how many inputs to read at most.
        found: the folder where inputs with findings are saved, each with what it did.
    """
    outcome = Outcome()
    start = time.monotonic()
    turn = deaths = 0
    while outcome.inputs < most and time.monotonic() < start + seconds and deaths < _MOST_DEATHS:
        rng = Random(f"{seed} {turn}")
        wanted = min(most - outcome.inputs, _INPUTS_A_CHILD)
        with _Child(make, found, lambda target: target.make(rng), wanted, start + seconds) as child:  # noqa: B023
            deaths += child.watch(outcome)
        turn += 1
    outcome.seconds = time.monotonic() - start
    return outcome


def replay(make: Callable[[Path], Target], file: Path, found: Path) -> Outcome:
    """Read one input again."""
    outcome, data = Outcome(), file.read_bytes()
    with _Child(make, found, lambda _: data, 1, time.monotonic() + 2 * PATIENCE) as child:
        child.watch(outcome)
    return outcome


class _Child:
    """A process that sets a target up in an empty folder, and reads inputs until it has enough or the time is up."""

    def __init__(
        self, make: Callable[[Path], Target], found: Path, next_input: Callable[[Target], bytes], most: int, end: float
    ) -> None:
        fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self._temporary = tempfile.TemporaryDirectory(prefix="fuzz-", dir=fast)
        self._folder = Path(self._temporary.name)
        self._shared = mmap.mmap(-1, _HEADER.size + _ROOM)
        self._found = found.absolute()
        self._found.mkdir(parents=True, exist_ok=True)
        self._told = self._folder / "told"
        self._told.touch()
        self._parent = os.getpid()
        with warnings.catch_warnings():  # pytest-xdist has threads, of which the child needs none
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process = os.fork()
        if self._process == 0:
            self._live(make, next_input, most, end)

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()
        self._shared.close()

    def watch(self, outcome: Outcome) -> bool:
        """Wait for its end, and count what it did; tells whether an input killed it.

        Raises:
            RuntimeError: the target could not be set up.
        """
        last, since = -1, time.monotonic()
        while not (ended := os.waitpid(self._process, os.WNOHANG))[0]:
            count, _ = _HEADER.unpack_from(self._shared)
            if count != last:
                last, since = count, time.monotonic()
            elif time.monotonic() > since + PATIENCE:
                os.kill(self._process, signal.SIGKILL)
            time.sleep(0.01)
        code = os.waitstatus_to_exitcode(ended[1])
        count, length = _HEADER.unpack_from(self._shared)
        outcome.inputs += count
        for line in self._told.read_text("utf-8").splitlines():
            what, _, name = line.partition("\t")
            outcome.findings.setdefault(what, Path(name))
        if code < 0:
            data = self._shared[_HEADER.size : _HEADER.size + length]
            words = {-signal.SIGPROF: f"more than {SECONDS_AN_INPUT:g} s", -signal.SIGKILL: f"{PATIENCE:g} s, waiting"}
            what = words.get(code, f"a crash: {signal.Signals(-code).name}")
            outcome.findings.setdefault(what, _save(self._found, data, what))
        elif code not in (0, _TOO_MUCH_MEMORY):
            raise RuntimeError((self._folder / "log").read_text("utf-8", "replace"))
        return code != 0

    def _live(
        self, make: Callable[[Path], Target], next_input: Callable[[Target], bytes], most: int, end: float
    ) -> None:
        """Everything that the child does."""
        code = 1
        try:
            log = os.open(self._folder / "log", os.O_WRONLY | os.O_CREAT)
            os.dup2(log, 1)
            os.dup2(log, 2)
            warnings.simplefilter("ignore")
            faulthandler.disable()  # pytest's would tell of crashes where nobody looks for them
            room = self._folder / "room"
            room.mkdir()
            os.environ[CONFIG] = str(room / "config")
            os.chdir(room)
            target = make(room)
            _limit_addresses()
            os.ftruncate(log, 0)
            self._read_all(target, next_input, most, end)
            code = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def _read_all(self, target: Target, next_input: Callable[[Target], bytes], most: int, end: float) -> None:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process
        shared, seen = self._shared, set[str]()
        memory = 0
        for count in range(-len(target.seeds), most):  # the seeds first: what is loaded once is no growth
            if count == 0:
                memory = _peak() + MOST_MEMORY
            data = target.seeds[count] if count < 0 else next_input(target)
            _HEADER.pack_into(shared, 0, max(0, count + 1), len(data))
            shared[_HEADER.size : _HEADER.size + len(data)] = data
            signal.setitimer(signal.ITIMER_PROF, SECONDS_AN_INPUT)
            try:
                target.check(data)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # a panic of Rust is no Exception
                self._tell(_named(error), "".join(traceback.format_exception(error)), data, seen)
            if count < 0:
                continue
            if _peak() > memory:
                self._tell(f"more than {MOST_MEMORY >> 20} MB", "", data, seen)
                os._exit(_TOO_MUCH_MEMORY)
            if time.monotonic() > end or os.getppid() != self._parent:
                return
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _tell(self, what: str, details: str, data: bytes, seen: set[str]) -> None:
        """Save an input, unless one showed the same before."""
        if what not in seen:
            seen.add(what)
            file = _save(self._found, data, f"{what}\n\n{details}")
            with self._told.open("a", encoding="utf-8") as told:
                told.write(f"{what}\t{file}\n")


def _limit_addresses() -> None:
    """Have allocating fail long before the machine has no memory left, where the system says how much we have."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return
    most = pages * mmap.PAGESIZE + MOST_MEMORY + _MORE_ADDRESSES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _peak() -> int:
    """The most memory that this process held, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _named(error: BaseException) -> str:
    """An exception by its type and the last place of ours that it came from: what tells findings apart."""
    while error.__cause__ is not None and isinstance(error, AssertionError):
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "mainmatter" in Path(frame.filename).parts] or frames[-1:]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "nowhere"
    return f"{type(error).__name__} in {place}"


def _save(folder: Path, data: bytes, told: str) -> Path:
    file = folder / hashlib.sha256(data).hexdigest()[:12]
    file.write_bytes(data)
    file.with_suffix(".txt").write_text(f"{told}\n", "utf-8", "replace")
    return file
