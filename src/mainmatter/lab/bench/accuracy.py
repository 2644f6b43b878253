"""How good methods and peers are on gold standards, and how long they take for it: one cell for each on each set.

A finished cell is a small file in the output's folder, under a name that tells what was measured: the contestant, its
version, the pages with their gold texts, and our metrics. A run that was interrupted goes on from there, and a cell is
measured anew only if one of these has changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from threading import Event
from typing import TYPE_CHECKING

from mainmatter.files import write_whole
from mainmatter.lab.bench.contestant import PAGE_LIMIT, Contestant
from mainmatter.lab.bench.peers import PEERS, peer_version
from mainmatter.lab.evaluation import check_names, summarise
from mainmatter.models.store import is_model
from mainmatter.registry import split_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.metrics import Row

CELLS = "cells"
_PACKAGE = Path(__file__).parents[2]
# What cannot change the text of a page.
_NOT_CLEANING = frozenset(
    ("annotation", "cli", "datasets", "evaluation", "metrics", "reports", "reproduction", "serve", "training")
)


@dataclass(frozen=True)
class Cell:
    """How one contestant did on one dataset.

    Attributes:
        contestant: the name of the method or peer.
        version: of what it was.
        dataset: the name of the dataset.
        digest: of its pages and gold texts.
        pages: how many.
        scores: for each metric, its figures for the whole set.
        groups: the same for parts of the set, such as groups["page_type=forum"].
        ms_per_page: milliseconds of processor time a page, from bytes to text, on average; each page was done once.
        ms_median: the median.
        failures: the pages on which it failed, with the reason; they count as empty.
    """

    contestant: str
    version: str
    dataset: str
    digest: str
    pages: int
    scores: dict[str, Row]
    groups: dict[str, dict[str, Row]]
    ms_per_page: float
    ms_median: float
    failures: list[tuple[str, str]]


def measure_accuracy(
    names: Sequence[str],
    dataset: str,
    pages: Sequence[GoldPage],
    folder: Path,
    *,
    workers: int = 1,
    limit: float = PAGE_LIMIT,
    on_page: Callable[[], object] = lambda: None,
    on_cell: Callable[[Cell], object] = lambda _: None,
) -> list[Cell]:
    """Measure contestants on a dataset; what the folder has already is read from there.

    Args:
        names: methods or peers.
        dataset: the name of the dataset, for the report.
        pages: its pages.
        folder: where finished cells are kept.
        workers: how many contestants at the same time; with more than one, times are less exact.
        limit: how many seconds a page may take.
        on_page: called after each page, also for those of finished cells.
        on_cell: called with each cell that was measured.

    Raises:
        UnknownName: there is no such method.
        MissingExtra: a peer, or what a metric needs, is not installed.
    """
    metrics = metrics_for(pages)
    check_names(names, metrics)
    digest = digest_of(pages)
    stop = Event()

    def step() -> None:
        if stop.is_set():
            raise CancelledError
        on_page()

    def measure(name: str) -> Cell:
        what = version_of(name)
        file = folder / CELLS / _file_name(name, dataset, what, digest, limit)
        found = read_cell(file)
        if found is not None:
            for _ in pages:
                on_page()
            return found
        cell = _measure_cell(name, what, dataset, digest, pages, metrics, limit, step)
        write_whole(file, json.dumps(asdict(cell), ensure_ascii=False, indent=1).encode())
        on_cell(cell)
        return cell

    with ThreadPoolExecutor(workers) as pool:  # a thread only waits for its contestant's process
        futures = [pool.submit(measure, name) for name in names]
        try:
            return [future.result() for future in futures]
        finally:  # after an error, or an interrupt from the keyboard, nobody finishes a whole set first
            stop.set()
            pool.shutdown(cancel_futures=True)


def metrics_for(pages: Iterable[GoldPage]) -> tuple[str, ...]:
    """What a set is measured by: bag of words, aligned words where it is marked up, snippets if it has nothing else."""
    golds = [page.gold for page in pages]
    if not any(gold.text for gold in golds):
        return ("snippet",)
    return ("bag", "align") if any(gold.marked for gold in golds) else ("bag",)


def digest_of(pages: Iterable[GoldPage]) -> str:
    """Of all that is given to a contestant and compared with what it gives."""
    found = hashlib.sha256()
    for page in pages:
        html = page.page.html
        found.update(html if isinstance(html, bytes) else html.encode("utf-8", "surrogatepass"))
        facts = (page.page.id, page.page.url, page.page.charset, page.page.format, asdict(page.gold), page.groups)
        found.update(repr(facts).encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:16]


def version_of(name: str) -> str:
    """The version of a peer's package; for methods, ours and a digest of the code and the models that clean."""
    if name in PEERS:
        return peer_version(name)
    base = split_name(name)[0]
    model = _digest_of_files(_files_below(Path(base))) if is_model(base) else ""
    return f"{version('mainmatter')}+{_digest_of_files(_cleaning_files())}{model}"


def read_cell(file: Path) -> Cell | None:
    """A finished cell; None if it is not there, or not whole."""
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        return Cell(**{**facts, "failures": [(page, error) for page, error in facts["failures"]]})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _measure_cell(
    name: str,
    what: str,
    dataset: str,
    digest: str,
    pages: Sequence[GoldPage],
    metrics: Sequence[str],
    limit: float,
    on_page: Callable[[], object],
) -> Cell:
    measured, seconds, failures = [], [], []
    with Contestant(name, limit=limit) as contestant:
        for number, page in enumerate(pages):
            turn = contestant.take(page, metrics)
            measured.append(turn.scores)
            seconds.append(turn.seconds)
            if turn.error is not None:
                failures.append((page.page.id or str(number), turn.error))
            on_page()
    found = summarise(name, dataset, pages, metrics, measured, failures)
    milliseconds = [second * 1e3 for second in seconds]
    return Cell(
        name,
        what,
        dataset,
        digest,
        len(pages),
        found.scores,
        found.groups,
        sum(milliseconds) / len(pages),
        median(milliseconds),
        failures,
    )


def _file_name(name: str, dataset: str, what: str, digest: str, limit: float) -> str:
    metrics = _digest_of_files(_files_below(_PACKAGE / "metrics"))
    key = hashlib.sha256(repr((name, dataset, what, digest, limit, metrics)).encode()).hexdigest()[:12]
    readable = re.sub(r"[^\w.=-]+", "_", f"{name}--{Path(dataset).stem}")
    return f"{readable[-100:]}--{key}.json"


def _cleaning_files() -> list[Path]:
    return [file for file in _files_below(_PACKAGE) if file.relative_to(_PACKAGE).parts[0] not in _NOT_CLEANING]


def _files_below(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix not in (".pyc", ".md"))


def _digest_of_files(files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for file in files:
        found.update(file.name.encode("utf-8", "surrogateescape") + b"\0" + file.read_bytes())
    return found.hexdigest()[:8]
