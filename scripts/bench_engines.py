"""Compare the engines: the same archives by local processes, Ray and Spark, with as many workers.

python scripts/bench_engines.py crawl-1.warc.gz crawl-2.warc.gz crawl-3.warc.gz

Prints pages per second from start to end, the start of the engine included, how much longer than local each took, and
whether its output is the same, byte by byte. Give it a crawl of some minutes; what is named twice is read once.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import click

from mainmatter.corpus.engines import DEFAULT_ENGINE, ENGINES

GOAL = 0.15  # the longest that an engine may take beyond local, as a share


@dataclass(frozen=True)
class Turn:
    """One run of one engine."""

    engine: str
    seconds: float
    pages: int
    megabytes: float
    digest: str


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-e", "--engine", "engines", multiple=True, type=click.Choice(sorted(ENGINES)), help="[all]")
@click.option("-j", "--workers", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=1, show_default=True, help="The median counts.")
@click.option("--shard-size", type=float, default=16, show_default=True, metavar="MB")
@click.option("--scratch", type=click.Path(file_okay=False, path_type=Path), help="Where the corpora go for the time.")
def main(
    inputs: tuple[str, ...],
    engines: tuple[str, ...],
    workers: int,
    rounds: int,
    shard_size: float,
    scratch: Path | None,
) -> None:
    """Run the engines in turn, and say which take too long or give something else than local."""
    names = [DEFAULT_ENGINE, *(name for name in engines or sorted(ENGINES) if name != DEFAULT_ENGINE)]
    turns = []
    for _ in range(rounds):
        for name in names:
            turns.append(_run(name, inputs, workers, shard_size, scratch))
            click.echo(f"{name}: {turns[-1].seconds:.1f} s", err=True)
    if not _tell(names, turns, workers):
        sys.exit(1)


def _run(engine: str, inputs: tuple[str, ...], workers: int, shard_size: float, scratch: Path | None) -> Turn:
    """Run the command, in a process of its own, into an empty folder."""
    place = Path(tempfile.mkdtemp(prefix=f"{engine}-", dir=scratch))
    try:
        out = place / "out"
        command = [sys.executable, "-m", "mainmatter", "corpus", *inputs, "-o", str(out), "--engine", engine]
        options = ["-j", str(workers), "--shard-size", str(shard_size)]
        began = time.perf_counter()
        run = subprocess.run(
            [*command, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - began
        if run.returncode:
            raise click.ClickException(f"{engine}: exit code {run.returncode}: {run.stderr[-2000:]}")
        summary = json.loads((out / "__about/summary.json").read_text("utf-8"))
        return Turn(engine, seconds, summary["pages"], summary["bytes"] / 1e6, _digest(out))
    finally:
        shutil.rmtree(place)


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


if __name__ == "__main__":
    main()
