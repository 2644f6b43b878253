"""Compare the engines: the same archives by local processes, Ray and Spark, with as many workers.

Prints pages per second from start to end, the start of the engine included, how much longer than local each took, and
whether its output is the same, byte by byte. Give it a crawl of some minutes; what is named twice is read once.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from mainmatter.corpus.engines import DEFAULT_ENGINE

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARD_SIZE = "16"  # megabytes
GOAL = 0.15  # the longest that an engine may take beyond local, as a share


@dataclass(frozen=True)
class Turn:
    """One run of one engine."""

    engine: str
    seconds: float
    pages: int
    megabytes: float
    digest: str


def compare_engines(engines: Sequence[str], archives: Sequence[Path], workers: int, rounds: int) -> bool:
    """Run the engines in turn, and print which take too long or give something else than local; whether none does."""
    names = [DEFAULT_ENGINE, *(name for name in engines if name != DEFAULT_ENGINE)]
    turns = []
    for _ in range(rounds):
        for name in names:
            turns.append(_run(name, archives, workers))
            click.echo(f"{name}: {turns[-1].seconds:.1f} s", err=True)
    return _tell(names, turns, workers)


def _run(engine: str, archives: Sequence[Path], workers: int) -> Turn:
    """Run the command, in a process of its own, into an empty folder."""
    with TemporaryDirectory(prefix=f"{engine}-") as folder:
        out = Path(folder, "out")
        command = [sys.executable, "-m", "mainmatter", "corpus", *map(str, archives), "-o", str(out)]
        options = ["--engine", engine, "-j", str(workers), "--shard-size", SHARD_SIZE]
        began = time.perf_counter()
        run = subprocess.run(  # noqa: S603 - our own program
            [*command, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - began
        if run.returncode:
            raise click.ClickException(f"{engine}: exit code {run.returncode}: {run.stderr[-2000:]}")
        summary = json.loads((out / "__about/summary.json").read_text("utf-8"))
        return Turn(engine, seconds, summary["pages"], summary["bytes"] / 1e6, _digest(out))


def _digest(out: Path) -> str:
    """Of all files but those that tell how long it took."""
    digest = hashlib.sha256()
    for file in sorted(out.rglob("*")):
        name = file.relative_to(out).as_posix()
        if file.is_file() and not name.startswith("__run/") and name != "__about/summary.json":
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{name} {content}\n".encode())
    return digest.hexdigest()


def _tell(names: list[str], turns: list[Turn], workers: int) -> bool:
    """Print the table; whether all is as it should be."""
    local = statistics.median(turn.seconds for turn in turns if turn.engine == DEFAULT_ENGINE)
    is_good = True
    click.echo(f"{turns[0].pages:,} pages, {turns[0].megabytes:,.0f} MB of HTML, {workers} workers\n")
    click.echo("| engine | s | pages/s | MB/s | beyond local | same bytes |\n|---|---|---|---|---|---|")
    for name in names:
        of_engine = [turn for turn in turns if turn.engine == name]
        seconds = statistics.median(turn.seconds for turn in of_engine)
        is_same = all(turn.digest == turns[0].digest for turn in of_engine)
        beyond = seconds / local - 1
        rates = f"{turns[0].pages / seconds:.1f} | {turns[0].megabytes / seconds:.1f}"
        click.echo(f"| {name} | {seconds:.1f} | {rates} | {beyond:+.1%} | {'yes' if is_same else 'NO'} |")
        is_good = is_good and is_same and beyond < GOAL
    return is_good
