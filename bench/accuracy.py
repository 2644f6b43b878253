"""How accurate methods and peers are on gold standards, and how long they take: one cell for each on each set.

A finished cell is a small file in the output folder, whose name identifies what was measured: the contestant, its
version, the pages with their gold texts, and our metrics. An interrupted run continues from there, and a cell is only
measured again if one of these has changed. The cells become Markdown tables, JSON, and a picture of accuracy
against time, on which the best stand at the top left.
"""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from threading import Event
from typing import TYPE_CHECKING, Any

from bench.contestant import PAGE_LIMIT, Contestant
from mainmatter.errors import MissingExtra
from mainmatter.files import open_whole, write_whole
from mainmatter.lab.evaluation import MethodByConvention, check_names, format_table, summarise
from mainmatter.lab.peers import PEERS
from mainmatter.lab.versions import PACKAGE, dataset_digest, digest_of_files, files_below, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.metrics import Row

CELLS = "cells"
TIMED_ON = "wcxb-dev"
_EXPLANATION = (
    "Macro bag-of-words F1 for each set; F of pooled snippets for sets that have only snippets; micro F of aligned "
    "words for sets with CleanEval's markup. Gold texts are the main content without readers' comments. A page on "
    "which a tool crashes or takes too long counts as empty. justext uses English stop words on all pages. Gold "
    "standards differ about headlines, bylines, captions and comments: `main` follows the convention of each set, as "
    "far as it was learned; `main:convention=house` follows ours on all sets."
)
_GROUPS = {"page_type": "page type", "lang": "language"}
_OURS, _THEIRS = "#1b7837", "#762a83"
_FONT = 8
# Where a name may stand beside its point, in points of type: right, left, above, below; the first that is free.
_PLACES = tuple((x, y, side) for y in (0, 8, -8, 16, -16, 24, -24) for x, side in ((7, "left"), (-7, "right")))


@dataclass(frozen=True)
class ContestantResult:
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
    on_cell: Callable[[ContestantResult], object] = lambda _: None,
) -> list[ContestantResult]:
    """Measure contestants on a dataset; results that the folder already has are read from there.

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
    digest = dataset_digest(pages)
    stop = Event()

    def step() -> None:
        if stop.is_set():
            raise CancelledError
        on_page()

    def measure(name: str) -> ContestantResult:
        what = version_of(name)
        follows = MethodByConvention(name).follows
        conventions = sorted({page.convention for page in pages}) if follows else []
        file = folder / CELLS / _file_name(name, dataset, what, digest, limit, conventions)
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
        finally:  # after an error or Ctrl-C, do not finish a whole set first
            stop.set()
            pool.shutdown(cancel_futures=True)


def metrics_for(pages: Iterable[GoldPage]) -> tuple[str, ...]:
    """What a set is measured by: bag of words, aligned words where it is marked up, snippets if it has nothing else."""
    golds = [page.gold for page in pages]
    if not any(gold.text for gold in golds):
        return ("snippet",)
    return ("bag", "align") if any(gold.marked for gold in golds) else ("bag",)


def read_cell(file: Path) -> ContestantResult | None:
    """A finished cell; None if it is not there, or not whole."""
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        return ContestantResult(**{**facts, "failures": [(page, error) for page, error in facts["failures"]]})
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
) -> ContestantResult:
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
    return ContestantResult(
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


def _file_name(name: str, dataset: str, what: str, digest: str, limit: float, conventions: Sequence[str] = ()) -> str:
    metrics = digest_of_files(files_below(PACKAGE / "lab" / "metrics"))
    facts = (name, dataset, what, digest, limit, metrics, *conventions)
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:12]
    readable = re.sub(r"[^\w.=-]+", "_", f"{name}--{Path(dataset).stem}")
    return f"{readable[-100:]}--{key}.json"


def write_report(cells: Sequence[ContestantResult], folder: Path, command: str) -> list[Path]:
    """Write accuracy.md, accuracy.json, accuracy.svg and accuracy.png.

    Args:
        cells: what was measured; contestants and datasets are shown in the order in which they come.
        folder: where the files go.
        command: the command that measured it.

    Raises:
        MissingExtra: the pictures need matplotlib; the other files are written before.
    """
    page, figures = folder / "accuracy.md", folder / "accuracy.json"
    pictures = [folder / "accuracy.svg", folder / "accuracy.png"]
    write_whole(page, to_markdown(cells, command).encode())
    facts = {"command": command, "cells": [asdict(cell) for cell in cells]}
    write_whole(figures, json.dumps(facts, ensure_ascii=False, indent=1).encode())
    save_tradeoff(panels_of(cells), pictures)
    return [page, figures, *pictures]


def to_markdown(cells: Sequence[ContestantResult], command: str) -> str:
    """The page: how it was made, one table of all sets, one for the parts of each set that has some."""
    versions = dict.fromkeys(f"{cell.contestant} {cell.version}" for cell in cells)
    sets = dict.fromkeys(f"{cell.dataset} ({cell.pages:,} pages, {cell.digest})" for cell in cells)
    parts = [
        "# Accuracy and time beside other tools",
        f"```sh\n{command}\n```",
        _EXPLANATION,
        "![Accuracy against time](accuracy.svg)",
        main_table(cells),
        *(
            f"## {title}\n\n{table}"
            for dataset in dict.fromkeys(cell.dataset for cell in cells)
            for title, table in group_tables([cell for cell in cells if cell.dataset == dataset])
        ),
        "## What was measured",
        "Sets, with a digest of their pages: " + ", ".join(sets) + ".",
        "Versions: " + ", ".join(versions) + ".",
        *_failures(cells),
    ]
    return "\n\n".join(parts) + "\n"


def main_table(cells: Sequence[ContestantResult]) -> str:
    """One row a contestant, one column a set, then micro figures, time and failures."""
    by_name = _by_contestant(cells)
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    micro = [name for name in datasets if any(c.dataset == name and "align" in c.scores for c in cells)]
    timed = timed_dataset(cells)
    snippets = {cell.dataset for cell in cells if "snippet" in cell.scores}
    head = ["contestant", *(f"{name} (snippets)" if name in snippets else name for name in datasets)]
    head += [f"{name} (micro words)" for name in micro] + [f"ms/page on {timed}", "failures"]
    rows = [head]
    for name, found in by_name.items():
        row = [name, *(_figure(headline(found.get(dataset))) for dataset in datasets)]
        row += [
            _figure(found[each].scores.get("align", {}).get("words_f1_micro") if each in found else None)
            for each in micro
        ]
        row += [f"{found[timed].ms_per_page:.1f}" if timed in found else "-"]
        rows.append([*row, str(sum(len(cell.failures) for cell in found.values()))])
    return format_table(rows)


def group_tables(cells: Sequence[ContestantResult]) -> list[tuple[str, str]]:
    """For each kind of parts that a set has, a title and a table of all contestants."""
    tables = []
    for group, words in _GROUPS.items():
        names = sorted({name for cell in cells for name in cell.groups if name.startswith(f"{group}=")})
        if names:
            counts = {
                name: int(max((row["pages"] for c in cells for row in c.groups.get(name, {}).values()), default=0))
                for name in names
            }
            rows = [["contestant", *(f"{name.partition('=')[2]} ({counts[name]})" for name in names)]]
            rows += [
                [cell.contestant, *(_figure(_headline_of(cell.groups.get(name, {}))) for name in names)]
                for cell in cells
            ]
            tables.append((f"{cells[0].dataset} by {words}", format_table(rows)))
    return tables


def panels_of(cells: Sequence[ContestantResult]) -> list[tuple[str, list[TradeoffPoint]]]:
    """What to draw: the set that gives the time and, if there are more sets, their mean score over the same time."""
    timed = timed_dataset(cells)
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    on_timed, on_all = [], []
    for name, found in _by_contestant(cells).items():
        if timed not in found:
            continue
        milliseconds, is_ours = found[timed].ms_per_page, name not in PEERS
        on_timed.append(TradeoffPoint(name, milliseconds, headline(found[timed]) or 0.0, is_ours))
        if all(dataset in found for dataset in datasets):
            mean = sum(headline(cell) or 0.0 for cell in found.values()) / len(found)
            on_all.append(TradeoffPoint(name, milliseconds, mean, is_ours))
    panels = [(timed, on_timed)]
    if len(datasets) > 1:
        panels.append((f"mean of {len(datasets)} sets (time on {timed})", on_all))
    return panels


def timed_dataset(cells: Sequence[ContestantResult]) -> str:
    """The set that gives the time: the one with large pages of all types if it was measured, else the first."""
    datasets = [cell.dataset for cell in cells]
    return TIMED_ON if TIMED_ON in datasets else datasets[0]


def headline(cell: ContestantResult | None) -> float | None:
    """The one figure of a contestant on a set."""
    return None if cell is None else _headline_of(cell.scores)


def _headline_of(scores: dict[str, Row]) -> float | None:
    return scores.get("bag", scores.get("snippet", {})).get("f1")


def _by_contestant(cells: Sequence[ContestantResult]) -> dict[str, dict[str, ContestantResult]]:
    found: dict[str, dict[str, ContestantResult]] = {}
    for cell in cells:
        found.setdefault(cell.contestant, {})[cell.dataset] = cell
    return found


def _figure(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.3f}"


def _failures(cells: Sequence[ContestantResult]) -> list[str]:
    lines = [
        f"- {cell.contestant} on {cell.dataset}: {len(cell.failures)} pages; the first, {cell.failures[0][0]}: "
        f"{cell.failures[0][1]}"
        for cell in cells
        if cell.failures
    ]
    return ["## Failures", "\n".join(lines)] if lines else []


@dataclass(frozen=True, slots=True)
class TradeoffPoint:
    """A contestant: its name, milliseconds a page, a score from 0 to 1, and whether it is a method of ours."""

    name: str
    milliseconds: float
    score: float
    ours: bool


def save_tradeoff(panels: Sequence[tuple[str, Sequence[TradeoffPoint]]], paths: Sequence[Path]) -> None:
    """Draw titled panels of points side by side into files; their endings tell the formats.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    figure = plot_tradeoff(panels)
    for path in paths:
        with open_whole(path) as file:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(file, format=path.suffix.lstrip("."), dpi=150, metadata=metadata)


def plot_tradeoff(panels: Sequence[tuple[str, Sequence[TradeoffPoint]]]) -> Figure:
    """Draw titled panels of points side by side.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # an extra
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    figure = Figure(figsize=(6.5 * max(1, len(panels)), 5), layout="constrained")
    all_axes = figure.subplots(1, max(1, len(panels)), squeeze=False)[0]
    for axes, (title, points) in zip(all_axes, panels, strict=False):
        _draw_points(axes, title, points)
    figure.draw_without_rendering()  # settles the axes, on which the names' places depend
    for axes, (_, points) in zip(all_axes, panels, strict=False):
        _write_names(figure, axes, points)
    return figure


def _draw_points(axes: Axes, title: str, points: Sequence[TradeoffPoint]) -> None:
    for ours, colour, marker, label in ((True, _OURS, "o", "mainmatter"), (False, _THEIRS, "s", "others")):
        chosen = [point for point in points if point.ours == ours]
        axes.scatter(
            [point.milliseconds for point in chosen],
            [point.score for point in chosen],
            c=colour,
            marker=marker,
            s=28,
            label=label,
        )
    if points:
        axes.set_xscale("log")
    axes.set_title(title, fontsize=10, parse_math=False)
    axes.set(xlabel="milliseconds a page (one core, log scale)", ylabel="F1")
    axes.margins(0.18, 0.08)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right", frameon=False, fontsize=_FONT)


def _write_names(figure: Figure, axes: Axes, points: Sequence[TradeoffPoint]) -> None:
    """Each name beside its point, where it covers no other name and no point, if there is such a place."""
    scale = figure.dpi / 72
    places = {point.name: axes.transData.transform((point.milliseconds, point.score)) for point in points}
    taken = [_box(x - 4, y - 4, 8, 8) for x, y in places.values()]
    for point in sorted(points, key=lambda point: -point.score):
        x, y = places[point.name]
        width, height = 0.58 * _FONT * scale * len(point.name), 1.1 * _FONT * scale
        boxes = []
        for dx, dy, side in _PLACES:
            left = x + dx * scale - (width if side == "right" else 0)
            boxes.append((_box(left, y + dy * scale - height / 2, width, height), (dx, dy, side)))
        crowds = [sum(_overlap(box, other) for other in taken) for box, _ in boxes]
        box, (dx, dy, side) = boxes[crowds.index(min(crowds))]
        taken.append(box)
        axes.annotate(
            point.name,
            (point.milliseconds, point.score),
            (dx, dy),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=_FONT,
            color=_OURS if point.ours else _THEIRS,
            parse_math=False,
        )


def _box(left: float, bottom: float, width: float, height: float) -> tuple[float, float, float, float]:
    return left, bottom, left + width, bottom + height


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> Any:  # a number
    across = min(one[2], other[2]) - max(one[0], other[0])
    up = min(one[3], other[3]) - max(one[1], other[1])
    return across * up if across > 0 and up > 0 else 0
