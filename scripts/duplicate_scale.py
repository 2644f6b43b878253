"""What it takes to find duplicates among many pages, in parts, as `mainmatter corpus --drop-duplicates` does it.

python scripts/duplicate_scale.py --kind near --pages 50000000 --folder /tmp/scale

Signatures are made up and written as cleaning writes them, in shards. A fifth of the pages repeat a page of this shard
or of one of the forty before; for near with 5 % of the values changed, so that two of them differ in 10 %. Then the
stages are done by an engine. Prints a line for each stage; the folder is removed.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mainmatter.corpus import duplicate_stages
from mainmatter.corpus.duplicate_stages import DUPLICATES, PARTS, find_all_duplicates, pack_signatures, signatures_name
from mainmatter.corpus.duplicates import KINDS
from mainmatter.corpus.engines import ENGINES, get_engine
from mainmatter.corpus.folder import Folder
from mainmatter.corpus.job import Job
from mainmatter.corpus.plan import make_plan, write_plan
from mainmatter.corpus.shard import run_shard
from mainmatter.lab.evaluation import format_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    RunAll = Callable[[Callable[[int], Any], range], Iterable[Any]]

SHARD = 50_000  # pages
WORDS = {"exact": 4, "i-match": 250, "near": 128}  # numbers of 32 bits in a signature
CHANGED = 0.05  # of the values of a near duplicate
POOL = 5_000  # pages of each shard that may be repeated
EARLIER = 40  # shards that a shard repeats pages of


@click.command()
@click.option("--kind", type=click.Choice(KINDS), required=True)
@click.option("--pages", default=1_000_000, show_default=True)
@click.option(
    "--folder", type=click.Path(path_type=Path), required=True, help="A new folder; it is removed at the end."
)
@click.option("--workers", default=2, show_default=True, help="0 for the tasks to be done in this process.")
@click.option("--engine", type=click.Choice(list(ENGINES)), default="local", show_default=True)
@click.option("--part", default=0, help="How many pages a part has at most, instead of the usual number.")
@click.option("--check", is_flag=True, help="Compare the result with that of one process, whose memory that takes.")
def main(kind: str, pages: int, folder: Path, engine: str, workers: int, part: int, check: bool) -> None:
    """Measure time, memory and disk of each stage."""
    if part:
        duplicate_stages.MOST_PAGES[kind] = part
    folder.mkdir(parents=True)
    run_all = partial(get_engine(engine), workers=workers) if workers else map
    try:
        _measure(kind, pages, Folder(str(folder)), run_all, check)
    finally:
        shutil.rmtree(folder)


def _measure(kind: str, pages: int, run: Folder, run_all: RunAll, check: bool) -> None:
    counts = [min(SHARD, pages - start) for start in range(0, pages, SHARD)]
    write_plan(run, make_plan(Job(method="density", duplicates=kind), [], len(counts), {}), [])  # type: ignore[arg-type]
    begin = time.monotonic()
    for number in run_all(partial(write_signatures, run, kind, counts), range(len(counts))):
        assert number >= 0
    click.echo(f"{pages:,} signatures written in {time.monotonic() - begin:,.0f} s, {_used(run) / 1e9:,.1f} GB")
    total = 0.0
    rows = [["stage", "tasks", "s", "core s", "memory of a process, MB", "disk beside signatures, GB"]]
    signatures = _used(run)

    def do(stage: str, count: int, stages: tuple[str, ...]) -> None:
        assert stage in stages
        begin = time.monotonic()
        with Peak() as peak:
            spent = sum(run_all(partial(timed_task, run.out, stage), range(count)))
        disk = (_used(run) - signatures) / 1e9
        seconds = time.monotonic() - begin
        nonlocal total
        total += spent
        rows.append([stage, str(count), f"{seconds:.0f}", f"{spent:.0f}", f"{peak.megabytes:,.0f}", f"{disk:.1f}"])
        click.echo("  ".join(rows[-1]), err=True)

    begin = time.monotonic()
    find_all_duplicates(run, kind, counts, do)
    seconds = time.monotonic() - begin
    click.echo(format_table(rows))
    dropped = sum(len(json.loads(run.read(f"{DUPLICATES}/{name}"))) for name in run.names(DUPLICATES))
    parts = len(json.loads(run.read(PARTS))["shards"]) - 1
    found = f"{kind}: {pages:,} pages in {parts} parts, {dropped:,} of them duplicates"
    click.echo(f"{found}, in {seconds:,.0f} s, {total:,.0f} core s")
    if check:
        _check(run, kind, counts)


def _check(run: Folder, kind: str, counts: list[int]) -> None:
    whole = {name: run.read(f"{DUPLICATES}/{name}") for name in run.names(DUPLICATES)}
    (Path(run.path(f"{DUPLICATES}.json"))).unlink()
    Path(run.path(PARTS)).unlink()
    duplicate_stages.MOST_PAGES[kind] = sum(counts)
    with Peak() as peak:
        begin = time.monotonic()
        find_all_duplicates(run, kind, counts, None)  # type: ignore[arg-type]
        seconds = time.monotonic() - begin
    same = whole == {name: run.read(f"{DUPLICATES}/{name}") for name in run.names(DUPLICATES)}
    click.echo(f"one process: {seconds:,.0f} s, {peak.megabytes:,.0f} MB; the same lists: {'yes' if same else 'NO'}")


def timed_task(out: str, stage: str, number: int) -> float:
    """Do a task; gives its seconds of processor time."""
    begin = time.process_time()
    run_shard(out, stage, number)
    return time.process_time() - begin


def write_signatures(run: Folder, kind: str, counts: list[int], number: int) -> int:
    """Write the signatures of a shard."""
    values = made_up(kind, number, counts[number])
    dice = np.random.default_rng((2, number))
    places = POOL + np.flatnonzero(dice.random(max(0, len(values) - POOL)) < 0.2 / (1 - POOL / SHARD))
    others = np.maximum(number - dice.integers(EARLIER, size=len(places)), 0)
    for other in np.unique(others).tolist():
        here = places[others == other]
        copies = pool(kind, other)[dice.integers(POOL, size=len(here))]
        if kind == "near":
            changed = dice.random(copies.shape, np.float32) < CHANGED
            copies[changed] = dice.integers(0, 2**32, np.count_nonzero(changed), np.uint32)
        values[here] = copies
    if kind == "i-match":
        values.sort(axis=1)
    start = number * SHARD
    entries = [(f"<urn:uuid:{start + place:036}>", row.tobytes()) for place, row in enumerate(values.astype("<u4"))]
    run.write(signatures_name(number), pack_signatures(entries))
    return number


def made_up(kind: str, number: int, count: int) -> np.ndarray:
    """The signatures of a shard before any is repeated."""
    return np.random.default_rng((1, number)).integers(0, 2**32, (count, WORDS[kind]), np.uint32)


def pool(kind: str, number: int) -> np.ndarray:
    """The pages of a shard that others repeat."""
    if (kind, number) not in _pools:
        if len(_pools) > 2 * EARLIER:
            _pools.clear()
        _pools[kind, number] = made_up(kind, number, POOL)
    return _pools[kind, number]


_pools: dict[tuple[str, int], np.ndarray] = {}


class Peak:
    """The most memory that one process of ours had: this one or a child; looked at twice a second."""

    def __enter__(self) -> Peak:
        self.megabytes, self.is_done = 0.0, threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.is_done.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.is_done.wait(0.5):
            for process in (os.getpid(), *_children(os.getpid())):
                self.megabytes = max(self.megabytes, _megabytes(process))


def _children(process: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(stat.parent.name))
        except OSError:
            continue
    return found + [deeper for child in found for deeper in _children(child)]


def _megabytes(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)


def _used(run: Folder) -> int:
    return sum(file.stat().st_size for file in Path(run.out).rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
