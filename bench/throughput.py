"""How fast archives become corpora, from WARC to Parquet, compared with other tools on the same archives.

Each contestant is a command of its own that starts from nothing; they take turns, and each counts with its fastest
round, because machines are noisy. Only ratios within one run are meaningful.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import throughput_peers
from bench.throughput_peers import NEEDED
from mainmatter.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SET_CHILD_SUBREAPER = 36  # of prctl(2)


@dataclass(frozen=True, slots=True)
class Throughput:
    """How fast one contestant was.

    Attributes:
        name: the method of ours, or what others run.
        workers: how many processes it was told to use.
        pages: how many pages came out.
        seconds: of its fastest round, by the clock.
        cpu_seconds: of that round, of all its processes.
        megabytes: the size of the archives, as they are on the disk.
    """

    name: str
    workers: int
    pages: int
    seconds: float
    cpu_seconds: float
    megabytes: float

    @property
    def pages_per_second(self) -> float:
        """Pages that came out, by the clock."""
        return self.pages / self.seconds

    @property
    def mb_per_second(self) -> float:
        """Megabytes of archive, by the clock."""
        return self.megabytes / self.seconds


def measure_throughput(
    names: Sequence[str],
    archives: Sequence[Path],
    workers: Sequence[int] = (1, 2),
    rounds: int = 1,
    on_turn: Callable[[Throughput], object] = lambda _: None,
) -> list[Throughput]:
    """Make a corpus of the same archives by each contestant, with each number of workers, taking turns.

    Args:
        names: methods of ours, or names of `throughput_peers.PEERS`.
        archives: WARC files; peers give each worker whole ones.
        workers: the numbers of processes to try.
        rounds: how often.
        on_turn: called with each measurement, also those that do not count in the end.

    Raises:
        InputError: an archive is not there, or a contestant failed.
        MissingExtra: a peer is not installed.
    """
    for archive in archives:
        if not archive.is_file():
            raise InputError(f"{archive}: no such file")
    for name in names:
        for package in NEEDED.get(name, ()):
            if find_spec(package) is None:
                raise MissingExtra(package, "bench")
    _adopt_orphans()
    best: dict[tuple[str, int], Throughput] = {}
    for _ in range(rounds):
        for count in workers:
            for name in names:
                turn = _take_turn(name, archives, count)
                on_turn(turn)
                before = best.get((name, count))
                if before is None or turn.seconds < before.seconds:
                    best[name, count] = turn
    return list(best.values())


def _take_turn(name: str, archives: Sequence[Path], workers: int) -> Throughput:
    import pyarrow.parquet as pq  # an extra

    megabytes = sum(archive.stat().st_size for archive in archives) / 1e6
    with TemporaryDirectory() as folder:
        out = Path(folder, "out")
        cpu_before, started = _cpu_of_children(), time.perf_counter()
        done = subprocess.run(  # noqa: S603 - our own programs
            _command(name, archives, out, workers), capture_output=True, check=False
        )
        seconds = time.perf_counter() - started
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise InputError(f"{name}, {workers} workers: failed: {last}")
        rows = sum(int(pq.read_metadata(part).num_rows) for part in out.rglob("*.parquet"))
        return Throughput(name, workers, rows, seconds, _cpu_of_children() - cpu_before, megabytes)


def _command(name: str, archives: Sequence[Path], out: Path, workers: int) -> list[str]:
    paths = [str(archive) for archive in archives]
    if name in NEEDED:
        return [sys.executable, throughput_peers.__file__, name, str(workers), str(out), *paths]
    return [sys.executable, "-m", "mainmatter", "corpus", *paths, "-o", str(out), "-m", name, "-j", str(workers)]


def _cpu_of_children() -> float:
    """The processor time of all ended children, and of their orphans, which become ours (`_adopt_orphans`)."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _adopt_orphans() -> None:
    """Ask Linux to give us what our children leave behind; elsewhere, some processor time is not seen."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1)
