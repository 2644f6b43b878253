"""`python -m bench`: methods and peers side by side, in a clone of the repository."""

from __future__ import annotations

import math
import random
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from bench import floors
from bench.accuracy import ContestantResult, headline, main_table, measure_accuracy, write_report
from bench.contestant import AS_PURE, PAGE_LIMIT, split_pure
from bench.engines import compare_engines
from bench.fidelity import (
    KINDS_SHOWN,
    check_writers,
    installed_writers,
    measure_fidelity,
    show_misses,
    tables,
    write_fidelity,
)
from bench.memory import watch_memory_afresh
from bench.speed import BUDGET, Speed, measure_scaling, measure_speed, profile
from bench.throughput import Throughput, measure_throughput
from bench.throughput_peers import PEERS as CORPUS_PEERS
from mainmatter import compiled
from mainmatter.cli import ErrorsAsMessages, main, options
from mainmatter.cli.printing import harmless, progress
from mainmatter.corpus.engines import ENGINES
from mainmatter.errors import DatasetError, MissingExtra, UnknownName
from mainmatter.lab.datasets import DATASETS, load_dataset
from mainmatter.lab.evaluation import check_names, format_table, spell_conventions
from mainmatter.lab.peers import PEERS, installed_peers
from mainmatter.registry import DEFAULT_METHOD, get_method, is_method, method_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.records import Page


class _Group(ErrorsAsMessages, click.Group):
    """Its commands say what went wrong in one line."""


@click.group(name="bench", cls=_Group)
def command() -> None:
    """Compare methods and peers on this machine."""


def _sample(pages: Sequence[GoldPage], count: int | None, *, in_order: bool = False) -> Sequence[GoldPage]:
    """So many pages at random, or all; these in the order of the set if need be."""
    if in_order and (count is None or count >= len(pages)):
        return pages
    return random.Random(0).sample(pages, min(count or len(pages), len(pages)))  # no secret


@command.command(name="accuracy")
@click.argument("names", nargs=-1, metavar="[METHOD...]", shell_complete=options.complete_methods)
@click.option(
    "--on",
    "datasets",
    multiple=True,
    metavar="DATASET",
    help="A dataset's name or path; may be repeated; by default all in the --data folder that may train.",
)
@click.option(
    "--test-sets",
    is_flag=True,
    help="By default, also use the datasets reserved for testing. Do that only when all choices are made.",
)
@options.data
@options.convention
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="FOLDER",
    help="The folder for the table, the figures, the plot, and what is needed to continue after an interruption.",
)
@click.option("--pages", type=click.IntRange(min=1), metavar="N", help="Only N pages of each dataset, at random.")
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=PAGE_LIMIT,
    show_default=True,
    metavar="SECONDS",
    help="A page that takes longer is a failure.",
)
@click.option(
    "-j",
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many contestants to run at the same time; times are exact only with one.",
)
def bench_accuracy(
    names: tuple[str, ...],
    datasets: tuple[str, ...],
    test_sets: bool,
    data: Path | None,
    convention: Literal["own", "house", "both"],
    output: Path,
    pages: int | None,
    limit: float,
    workers: int,
) -> None:
    """Measure methods and peers on gold standards, and their time; write a table, JSON and a plot.

    METHOD is a method or a peer; by default all methods and all installed peers. Results that are already in FOLDER are
    not measured again. A page on which a contestant crashes or takes too long counts as empty, and is reported. Needs
    the extra plot.
    """
    if find_spec("matplotlib") is None:  # complain before any work
        raise MissingExtra("matplotlib", "plot")
    chosen = list(dict.fromkeys(names or (*method_names(), *installed_peers())))
    check_names(chosen, ())
    chosen = spell_conventions(chosen, convention)
    cells: list[ContestantResult] = []
    for dataset in dict.fromkeys(datasets) or _datasets_in(data, test_sets=test_sets):
        sample = _sample(load_dataset(dataset, data), pages, in_order=True)
        with progress(dataset, len(sample) * len(chosen)) as advance:
            cells += measure_accuracy(
                chosen, dataset, sample, output, workers=workers, limit=limit, on_page=advance, on_cell=_tell
            )
    written = write_report(cells, output, _accuracy_command(chosen, cells, pages, limit))
    click.echo(main_table(cells))
    click.echo("written: " + ", ".join(map(str, written)), err=True)


def _datasets_in(data: Path | None, *, test_sets: bool) -> list[str]:
    """The gold standards in the folder: those that are not for tests only, or all of them."""
    chosen = [name for name, dataset in DATASETS.items() if test_sets or dataset.use != "tests"]
    found = [name for name in chosen if ((data or Path()) / f"{name}.parquet").is_file()]
    if not found:
        raise DatasetError(f"{data or 'this folder'}: has no gold standard; name a folder that has one with --data")
    return found


def _tell(cell: ContestantResult) -> None:
    """One line for each cell that is finished."""
    score = headline(cell)
    failures = f", {len(cell.failures)} failures" if cell.failures else ""
    figure = "-" if score is None else f"{score:.3f}"
    click.echo(f"{cell.contestant} on {cell.dataset}: {figure}, {cell.ms_per_page:.1f} ms/page{failures}", err=True)


def _accuracy_command(names: Sequence[str], cells: Sequence[ContestantResult], pages: int | None, limit: float) -> str:
    """The command that measures the same, wherever the data are."""
    datasets = [argument for dataset in dict.fromkeys(cell.dataset for cell in cells) for argument in ("--on", dataset)]
    few = ["--pages", str(pages)] if pages is not None else []
    other_limit = ["--limit", f"{limit:g}"] if limit != PAGE_LIMIT else []
    return (
        shlex.join(["python", "-m", "bench", "accuracy", *names, *datasets, *few, *other_limit])
        + " --data DATA -o FOLDER"
    )


@command.command(name="corpus")
@click.argument("archives", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="ARCHIVE...")
@click.option(
    "-m",
    "--method",
    "names",
    multiple=True,
    metavar="NAME",
    help=f"A method, or one of {', '.join(CORPUS_PEERS)}; may be repeated. "
    f"By default {DEFAULT_METHOD} and both of these.",
)
@click.option(
    "-j", "--workers", multiple=True, type=click.IntRange(min=1), help="How many processes; may be repeated. [1 and 2]"
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How many times to run each; the fastest counts, of engines the median.",
)
@click.option(
    "-e",
    "--engine",
    "engines",
    multiple=True,
    type=click.Choice(sorted(ENGINES)),
    help="Instead, compare an engine with local processes; may be repeated.",
)
def bench_corpus(
    archives: tuple[Path, ...], names: tuple[str, ...], workers: tuple[int, ...], rounds: int, engines: tuple[str, ...]
) -> None:
    """Time `mainmatter corpus` on WARC archives, from start to Parquet, against other pipelines.

    The others are datatrove's pipeline with trafilatura, and a loop over FastWARC's records with Resiliparse. They give
    each process whole archives: to measure two processes, name two ARCHIVEs of about the same size.
    --engine runs the command alone, by as many workers of each engine, and exits with 1 if an engine takes 15 % longer
    than local processes or gives other bytes. It is for a crawl of some minutes; the start of the engine counts.
    """
    if engines:
        if names or len(workers) > 1:
            raise click.UsageError("--engine takes no --method, and --workers once")
        if not compare_engines(engines, archives, max(workers, default=2), rounds):
            sys.exit(1)
        return
    chosen = names or (DEFAULT_METHOD, *CORPUS_PEERS)
    for name in chosen:
        if name not in CORPUS_PEERS and not is_method(name):
            raise UnknownName("method", name, [*method_names(), *CORPUS_PEERS])

    def tell(turn: Throughput) -> None:
        click.echo(f"{turn.name}, {turn.workers} workers: {turn.pages_per_second:.0f} pages/s", err=True)

    found = measure_throughput(chosen, archives, workers or (1, 2), rounds, tell)
    click.echo(f"{sum(archive.stat().st_size for archive in archives) / 1e6:.1f} MB in {len(archives)} archives\n")
    click.echo(format_table(_throughput_rows(found)))


def _throughput_rows(found: list[Throughput]) -> list[list[str]]:
    rows = [["contestant", "workers", "pages", "s", "CPU s", "pages/s", "MB/s", f"times {found[0].name}"]]
    for one in found:
        first = next(other for other in found if other.workers == one.workers)
        rows.append(
            [
                one.name,
                str(one.workers),
                f"{one.pages:,}",
                f"{one.seconds:.1f}",
                f"{one.cpu_seconds:.1f}",
                f"{one.pages_per_second:.0f}",
                f"{one.mb_per_second:.1f}",
                f"{one.seconds / first.seconds:.2f}",
            ]
        )
    return rows


@command.command(name="fidelity")
@click.argument("names", nargs=-1, metavar="[WRITER...]")
@click.option(
    "--on",
    "datasets",
    multiple=True,
    metavar="DATASET",
    default=("wcxb-dev", "house-a"),
    show_default=True,
    help="A dataset's name or path; may be repeated.",
)
@options.data
@click.option(
    "--every", type=click.IntRange(min=1), default=1, metavar="N", help="Only every Nth page of each dataset."
)
@click.option("--pages", type=click.IntRange(min=1), metavar="N", help="Only the first N of these.")
@click.option("--page", "ids", multiple=True, metavar="ID", help="Only the page with this id; may be repeated.")
@click.option("--show", type=click.IntRange(min=1), metavar="N", help="List the first N errors.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="With --show: only kinds that begin with this; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write fidelity.md and fidelity.json there.",
)
def bench_fidelity(
    names: tuple[str, ...],
    datasets: tuple[str, ...],
    data: Path | None,
    every: int,
    pages: int | None,
    ids: tuple[str, ...],
    show: int | None,
    kinds: tuple[str, ...],
    output: Path | None,
) -> None:
    """Measure how much of the kept structure comes through in Markdown, and what is added.

    WRITER is mainmatter, html-to-markdown, markdownify or trafilatura; by default all that are installed. Needs the
    extra bench.
    """
    chosen = list(dict.fromkeys(names)) or installed_writers()
    check_writers(chosen)
    for kind in kinds:
        if not any(known.startswith(kind) for known in KINDS_SHOWN):
            raise UnknownName("kind", kind, KINDS_SHOWN)
    results = []
    for dataset in dict.fromkeys(datasets):
        sample = load_dataset(dataset, data)[::every][:pages]
        if ids:
            sample = [page for page in sample if page.page.id in ids]
            if not sample:
                raise click.UsageError(f"no page of {dataset} has the id {' or '.join(ids)}")
        with progress(dataset, len(sample)) as advance:
            results += measure_fidelity(chosen, dataset, sample, on_page=advance)
    click.echo(tables(results))
    if show is not None:
        click.echo("\n" + "\n".join(map(harmless, show_misses(results, show, kinds))))
    if output is not None:
        few = (["--every", str(every)] if every > 1 else []) + (["--pages", str(pages)] if pages else [])
        on = [argument for dataset in dict.fromkeys(datasets) for argument in ("--on", dataset)]
        words = shlex.join(["python", "-m", "bench", "fidelity", *chosen, *on, *few])
        written = write_fidelity(results, output, f"{words} --data DATA -o FOLDER")
        click.echo("written: " + ", ".join(map(str, written)), err=True)


@command.command(name="memory")
@click.argument("name", default=DEFAULT_METHOD, metavar="[METHOD]", shell_complete=options.complete_methods)
@click.option("--on", "dataset", default="wcxb-dev", show_default=True, metavar="DATASET")
@options.data
@click.option(
    "--pages", type=click.IntRange(min=1), default=100_000, show_default=True, help="How many pages to clean."
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    help="How many different pages, chosen at random.",
)
@click.option(
    "--bound",
    type=click.FloatRange(min=0),
    default=50.0,
    show_default=True,
    metavar="MB",
    help="How much memory may grow.",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="How many processes.")
def bench_memory(
    name: str, dataset: str, data: Path | None, pages: int, sample: int, bound: float, workers: int
) -> None:
    """Clean a sample of pages over and over, and watch how much memory is held.

    Exits with 1 if memory grows by more than the bound after every page of the sample has been seen.
    """
    get_method(name)  # an unknown one is told before any work
    chosen = [gold_page.page for gold_page in _sample(load_dataset(dataset, data), sample)]

    def show(done: int, held: float) -> None:
        click.echo(f"{done:>9,} pages  {held:8.1f} MB")

    curve = watch_memory_afresh(name, chosen, pages, workers=workers, on_point=show)
    if not curve.points:
        raise click.ClickException("this system does not say how much memory a process holds (/proc is missing)")
    if curve.failures:
        click.echo(f"{curve.failures:,} pages could not be cleaned", err=True)
    growth = f"it grew by {curve.growth_mb:.1f} MB after the first {curve.warm_after:,} pages; bound {bound:g} MB"
    if curve.growth_mb > bound:
        raise click.ClickException(growth)
    click.echo(growth)


@command.command(name="speed")
@click.argument("names", nargs=-1, metavar="[METHOD...]", shell_complete=options.complete_methods)
@click.option("--on", "dataset", default="wcxb-dev", show_default=True, metavar="DATASET")
@options.data
@click.option(
    "--pages", type=click.IntRange(min=1), default=150, show_default=True, help="How many pages, chosen at random."
)
@click.option(
    "--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="How often each page is cleaned."
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="A contestant that has taken this long gets no further round, and not all pages of the first.",
)
@click.option("--profile", "profiled", is_flag=True, help="Instead, show how long each step of a method takes.")
@click.option("--workers", type=click.IntRange(min=2), help="Instead, show what this many processes gain.")
@click.option("--threads", type=click.IntRange(min=2), help="Instead, show what this many threads gain.")
def bench_speed(
    names: tuple[str, ...],
    dataset: str,
    data: Path | None,
    pages: int,
    rounds: int,
    budget: float,
    profiled: bool,
    workers: int | None,
    threads: int | None,
) -> None:
    """Time methods and peers from bytes to text, on the same pages, in turns, one at a time.

    METHOD is a method or a peer; a method followed by @pure runs as pure Python, whatever is compiled. By default: all
    methods, main@pure if main runs compiled, and all installed peers. --profile, --workers and --threads take only
    methods, by default the default method. Ratios are relative to the first contestant, so put a peer first to see how
    many times as long a method takes; the median is that of the ratios of single pages. Memory is the most that a
    process needs beyond what it held at the start, when mainmatter itself was loaded. A slow contestant gets fewer
    rounds or pages. A page on which one crashes or takes longer than 30 s is left out. Both are reported.
    """
    instead = {"--profile": profiled, "--workers": workers, "--threads": threads}
    chosen = [option for option, value in instead.items() if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{chosen[0]} and {chosen[1]} exclude each other")
    if chosen and (peers := [name for name in names if name in PEERS]):
        raise click.UsageError(f"{peers[0]} is not one of our methods, so its steps cannot be timed")
    if chosen and (as_pure := [name for name in names if split_pure(name)[1]]):
        raise click.UsageError(f"{as_pure[0]}: with {chosen[0]}, set {compiled.PURE}=1 to run pure Python")
    sample = [gold_page.page for gold_page in _sample(load_dataset(dataset, data), pages)]
    kilobytes = sum(len(page.html) for page in sample) / len(sample) / 1e3
    title = f"mainmatter is {compiled.status()}\n{len(sample)} pages of {dataset}, {kilobytes:.0f} kB on average"
    if profiled:
        _show_profiles(names or (DEFAULT_METHOD,), sample, rounds, title)
    elif workers:
        _show_scaling(names or (DEFAULT_METHOD,), sample, workers, title, threads=False)
    elif threads:
        _show_scaling(names or (DEFAULT_METHOD,), sample, threads, title, threads=True)
    else:
        # By default everybody, and first the fastest peer, which is always there: ours stand on its parser.
        pure = [DEFAULT_METHOD + AS_PURE] if compiled.runs_compiled() else []
        everybody = tuple(dict.fromkeys(("turbohtml", *installed_peers(), *method_names(), *pure)))
        _show_speeds(names or everybody, sample, rounds, budget, title)


def _show_speeds(names: Sequence[str], sample: Sequence[Page], rounds: int, budget: float, title: str) -> None:
    with progress("measuring", rounds) as advance:
        speeds = measure_speed(names, sample, rounds=rounds, budget=budget, on_round=advance)
    click.echo(f"{title}, best of {rounds} rounds\n")
    rows = [["method", "ms/page", "MB/s", f"times {names[0]}", "median", "peak MB"]]
    rows += [
        [
            speed.name,
            _figure(speed.ms_per_page, 2),
            _figure(speed.mb_per_second, 0),
            _figure(speed.ratio, 2),
            _figure(speed.median_ratio, 2),
            _figure(speed.peak_mb, 0),
        ]
        for speed in speeds
    ]
    click.echo(format_table(rows))
    for note in _notes(speeds, len(sample), rounds):
        click.echo(note)


def _notes(speeds: Sequence[Speed], pages: int, rounds: int) -> list[str]:
    """What to know about figures that are not like the others."""
    notes = []
    for speed in speeds:
        done = speed.pages + len(speed.failures)
        if done < pages:
            notes.append(f"{speed.name}: slow, so only {done} of the pages, once; ratios are over the same pages")
        elif speed.rounds < rounds:
            notes.append(f"{speed.name}: slow, so best of {speed.rounds}")
        if speed.failures:
            page, error = speed.failures[0]
            notes.append(f"{speed.name}: failed on {len(speed.failures)} pages, left out; the first is {page}: {error}")
    return ["", *notes] if notes else []


def _figure(figure: float | None, digits: int) -> str:
    return "-" if figure is None or math.isnan(figure) else f"{figure:.{digits}f}"


def _show_profiles(names: Sequence[str], sample: Sequence[Page], rounds: int, title: str) -> None:
    rows = [["method", "step", "ms/page", "share in %"]]
    for name in names:
        with progress(name, rounds) as advance:
            found = profile(name, get_method(name), sample, rounds=rounds, on_round=advance)
        total = sum(found.steps.values()) or 1.0
        rows += [[name, step, f"{ms:.3f}", f"{100 * ms / total:.0f}"] for step, ms in found.steps.items()]
        rows += [[name, "all steps", f"{total:.3f}", "100"], [name, "in one go", f"{found.whole:.3f}", "-"]]
        rows += [
            [name, f"{format_}, after text", f"{ms:.3f}", f"{100 * ms / found.whole:.0f}"]
            for format_, ms in found.formats.items()
        ]
    click.echo(f"{title}, best of {rounds} rounds, each step by itself\n")
    click.echo(format_table(rows))


def _show_scaling(names: Sequence[str], sample: Sequence[Page], workers: int, title: str, *, threads: bool) -> None:
    found = [measure_scaling(name, get_method(name), sample, workers=workers, threads=threads) for name in names]
    click.echo(f"{title}, {found[0].pages} in all, best of 3\n")
    one, several = ("thread", "threads") if threads else ("process", "processes")
    rows = [["method", f"pages/s, 1 {one}", f"pages/s, {workers} {several}", "times"]]
    rows += [[s.method, f"{s.alone:.0f}", f"{s.together:.0f}", f"{s.ratio:.2f}"] for s in found]
    click.echo(format_table(rows))


command.add_command(floors.command, "gate")

if __name__ == "__main__":
    main(command, "python -m bench")
