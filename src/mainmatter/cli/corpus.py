"""`mainmatter corpus`: a crawl in, a corpus out."""

from __future__ import annotations

import math
import shutil
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from mainmatter.cli import options
from mainmatter.cli.report_file import check_place, write_report
from mainmatter.corpus import storage
from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.duplicates import KINDS
from mainmatter.corpus.engines import DEFAULT_ENGINE, ENGINES
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.folder import ABOUT, REJECTS, Folder
from mainmatter.corpus.job import Job, TextFormat
from mainmatter.corpus.readers.urls import DELAY
from mainmatter.corpus.summary import why_no_page
from mainmatter.errors import InputError
from mainmatter.isolation.interrupts import INTERRUPTED
from mainmatter.limits import DEFAULT_MEMORY, DEFAULT_SECONDS, MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mainmatter.corpus.job import Duplicates, OutputFormat
    from mainmatter.corpus.summary import Progress, Summary


_ABOVE_0 = click.FloatRange(min=0, min_open=True)


@click.command(name="corpus")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", shell_complete=options.complete_files)
@click.option(
    "-o", "--output", required=True, metavar="OUT", help="The output folder: a new one, or that of a run to resume."
)
@options.method
@options.controls
@click.option(
    "-f", "--format", "format_", type=options.OneOf(["parquet", "jsonl"]), default="parquet", show_default=True
)
@click.option(
    "--text-format",
    type=options.OneOf(get_args(TextFormat)),
    default="text",
    show_default=True,
    help="The format of the column text.",
)
@click.option("--without-columns", metavar="NAMES", help="Leave out these columns, such as author,description.")
@click.option("--blocks", is_flag=True, help="Also write all blocks of each page, with their labels and scores.")
@click.option(
    "--chunks",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also write the text in chunks of at most N tokens, each with its position on the page.",
)
@options.overlap
@options.fields
@options.follow_links
@click.option(
    "--archives-at",
    default="",
    metavar="PLACE",
    help="The folder, bucket or host that holds the archives of a list, such as s3://commoncrawl. Needed if the names "
    "in the list are relative to neither its own folder nor one above it.",
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE",
    help="Keep only pages in this language, such as de; repeatable.",
)
@click.option("--min-words", type=click.IntRange(min=0), default=0, metavar="N", help="Drop pages with fewer words.")
@click.option("--max-words", type=click.IntRange(min=0), metavar="N", help="Drop pages with more words.")
@click.option("--noindex", is_flag=True, help="Drop pages that ask robots not to index them.")
@click.option(
    "--robots/--no-robots",
    default=True,
    show_default=True,
    help="For lists of URLs: fetch only what robots.txt allows, and wait between requests as long as it asks.",
)
@click.option(
    "--delay",
    type=click.FloatRange(min=0),
    default=DELAY,
    show_default=True,
    metavar="S",
    help="For lists of URLs: wait this long between two requests to a host.",
)
@options.allow_private
@click.option(
    "--drop-duplicates", type=options.OneOf(KINDS), help="Drop pages that duplicate an earlier one, across all sites."
)
@click.option(
    "--site-templates", is_flag=True, help="First learn what each site repeats on its pages. Reads the input twice."
)
@click.option(
    "--engine",
    type=options.OneOf(sorted(ENGINES)),
    default=DEFAULT_ENGINE,
    show_default=True,
    help="Where to run: local processes, Ray or Spark.",
)
@click.option(
    "-j",
    "--workers",
    type=click.IntRange(min=1),
    show_default="all cores; with Ray or Spark, all of the cluster's",
    help="How many processes.",
)
@options.max_size
@click.option(
    "--max-seconds",
    type=_ABOVE_0,
    default=DEFAULT_SECONDS,
    show_default=True,
    metavar="S",
    help="Reject a page that takes more processor time.",
)
@click.option(
    "--max-memory",
    type=_ABOVE_0,
    default=DEFAULT_MEMORY / MEGABYTE,
    show_default=True,
    metavar="MB",
    help="Reject a page that takes more memory.",
)
@click.option(
    "--shard-size",
    type=_ABOVE_0,
    show_default="64; more for terabytes of input",
    metavar="MB",
    help="How much input goes into a shard. Each shard becomes one part of the output.",
)
@click.option(
    "--restart",
    is_flag=True,
    help="Start over. The earlier result in OUT is deleted once the first shard of the new one is written.",
)
@click.option("--report", metavar="FILE", help="Write an HTML report on the corpus, even if it was already complete.")
def command(
    inputs: tuple[str, ...],
    output: str,
    method: str,
    dial: float | None,
    comments: str | None,
    with_: tuple[str, ...],
    without: tuple[str, ...],
    format_: OutputFormat,
    text_format: TextFormat,
    without_columns: str | None,
    html_field: str,
    url_field: str,
    id_field: str,
    follow_links: bool,
    blocks: bool,
    chunks: int | None,
    overlap: int,
    languages: tuple[str, ...],
    min_words: int,
    max_words: int | None,
    noindex: bool,
    robots: bool,
    delay: float,
    allow_private: bool,
    drop_duplicates: Duplicates | None,
    site_templates: bool,
    engine: str,
    workers: int | None,
    max_size: float,
    max_seconds: float,
    max_memory: float,
    shard_size: float | None,
    archives_at: str,
    restart: bool,
    report: str | None,
) -> None:
    """Turn a crawl into a corpus: the main matter of all pages, as Parquet or JSONL.

    INPUT is a WARC or WET archive (.warc, .warc.gz, .warc.zst), a folder of pages, JSONL, Parquet, a list of URLs
    (.urls) or of archives (.paths, warc.paths.gz), or a URL. A path may be remote, such as s3://bucket/crawl.warc.gz.
    OUT gets one part for each shard of the input; pandas, Polars, DuckDB, PyArrow and datasets load the folder
    directly. OUT/__about has a dataset card, a summary, and the rejects with their reasons.

    To resume a run that was interrupted or killed, run the same command again. The output does not depend on the
    number of workers. A page that hangs, crashes or takes too much memory is rejected, and the run continues.

    Exit codes: 0 the corpus is complete, even if pages were rejected; 1 it is not complete, or no page was found, or
    none could be read or fetched; 130 interrupted.
    """
    options.check_overlap(chunks, overlap)
    job = Job(
        method=method,
        parameters=options.to_parameters(method, dial, comments, with_, without),
        format=format_,
        text_format=text_format,
        without_columns=tuple(filter(None, (name.strip() for name in (without_columns or "").split(",")))),
        blocks=blocks,
        chunks=chunks or 0,
        overlap=overlap,
        max_size=options.to_limits(max_size).size,
        max_seconds=max_seconds,
        max_memory=_to_bytes(max_memory, "--max-memory"),
        filters=Filters(languages, min_words=min_words, max_words=max_words, noindex=noindex, robots_txt=robots),
        duplicates=drop_duplicates or "",
        site_templates=site_templates,
        shard_size=None if shard_size is None else _to_bytes(shard_size, "--shard-size"),
        html_field=html_field,
        url_field=url_field,
        id_field=id_field,
        follow_links=follow_links,
        archives_at=archives_at,
        delay=delay,
        public_only=not allow_private,
    )
    if report is not None:
        _check_report(report, output)
    context = click.get_current_context()
    try:
        with show_progress(engine) as tell:
            summary = build_corpus(inputs, output, job, engine=engine, workers=workers, restart=restart, report=tell)
    except KeyboardInterrupt:
        click.echo("interrupted; run the same command again to resume", err=True)
        context.exit(INTERRUPTED)
    _say(summary)
    if report is not None:
        from mainmatter.corpus.report import corpus_report  # few runs need it

        write_report(report, corpus_report(output))
        click.echo(f"report: {report}")
    problem = why_no_page(summary)
    if problem:
        see = f"; see {Folder(summary.out).path(REJECTS)} for the reasons" if summary.rejects else ""
        click.echo(f"Error: {problem}{see}", err=True)
        context.exit(1)


def _to_bytes(megabytes: float, option: str) -> int:
    if not math.isfinite(megabytes):
        raise click.BadParameter(f"{megabytes} is not a size", param_hint=option)
    return max(1, int(megabytes * MEGABYTE))


def _check_report(report: str, output: str) -> None:
    """Complain about a place for the report, also about one where it would be taken for a part of the corpus."""
    check_place(report)
    if storage.is_remote(report) or storage.is_remote(output):
        return
    place, out = (Path(storage.without_scheme(path)).resolve() for path in (report, output))
    if place.is_relative_to(out) and not str(place.relative_to(out)).startswith("__"):
        raise InputError(
            f"{report}: there, the report would be loaded as part of the corpus; name {Folder(output).path(ABOUT)}/"
            f"{place.name}, or a file outside the corpus"
        )


def _say(summary: Summary) -> None:
    """Print what came of the run."""
    if summary.was_done:
        click.echo(f"{summary.out} is already complete; nothing was done (use --restart to start over)")
    lines: list[tuple[str, Any]] = [("pages", summary.pages), ("kept", summary.kept)]
    lines += [(f"dropped: {reason}", count) for reason, count in sorted(summary.rejects.items())]
    lines += [(f"skipped: {kind}", count) for kind, count in sorted(summary.skipped.items())]
    lines += [("words", summary.words)]
    width = max(len(name) for name, _ in lines)
    number_width = max(len(f"{count:,}") for _, count in lines)
    for name, count in lines:
        click.echo(f"{name:{width}}  {count:>{number_width},}")
    if not summary.was_done:
        earlier = f", {summary.earlier_pages:,} pages were already done" if summary.earlier_pages else ""
        click.echo(
            f"{summary.bytes / MEGABYTE:,.1f} MB of pages in {summary.seconds:,.1f} s: "
            f"{summary.pages_per_second:,.1f} pages/s, {summary.megabytes_per_second:,.2f} MB/s{earlier}"
        )
    if summary.retries:
        times = "once" if summary.retries == 1 else f"{summary.retries:,} times"
        click.echo(f"storage failed {times}; the requests were retried")
    parts = f"{summary.shards} part" + "s" * (summary.shards != 1)
    rejects = f"; rejects and their reasons: {Folder(summary.out).path(REJECTS)}" if summary.rejects else ""
    click.echo(f"written to {summary.out} ({parts}){rejects}")


LOG_EVERY = 10.0  # seconds
FEWEST_PAGES = 5  # after the first ones, until a rate and an estimate are given: one page says nothing of the next
_NO_PAGE = "no pages yet"
_WORDS = {"templates": "counting templates", "clean": "cleaning", "unique": "dropping duplicates"}
_OTHER_STAGES = "comparing pages"  # those of `duplicate_stages`


@contextmanager
def show_progress(engine: str = DEFAULT_ENGINE) -> Iterator[Callable[[Progress], None]]:
    """Gives a function to call again and again with how far the run is; what it shows is gone at the end.

    Args:
        engine: who does the work; others than the local one take their time to start.
    """
    if not sys.stderr.isatty():
        yield _Log(engine).show
        return
    line = _Line(engine)
    try:
        yield line.show
    finally:
        line.clear()


class _Line:
    """One line of a terminal that changes."""

    def __init__(self, engine: str) -> None:
        self._teller = Teller(engine)
        self._is_shown = False

    def show(self, progress: Progress) -> None:
        width = shutil.get_terminal_size().columns - 1
        click.echo(f"\r\x1b[K{self._teller.tell(progress)[:width]}", err=True, nl=False)
        self._is_shown = True

    def clear(self) -> None:
        if self._is_shown:
            click.echo("\r\x1b[K", err=True, nl=False)


class _Log:
    """Lines for a file, none of them too soon after another; that there is no page yet is said once."""

    def __init__(self, engine: str) -> None:
        self._teller = Teller(engine)
        self._due = time.monotonic() + LOG_EVERY
        self._said = ""

    def show(self, progress: Progress) -> None:
        words = self._teller.tell(progress)
        now = time.monotonic()
        if now >= self._due and (progress.pages or words != self._said):
            self._due = now + LOG_EVERY
            self._said = words
            click.echo(words, err=True)


class Teller:
    """Puts into words how far a run is.

    Speed is measured from the first pages on: before them an engine starts and models are loaded, which says nothing of
    the pages that are left.

    Args:
        engine: who does the work.
    """

    def __init__(self, engine: str = DEFAULT_ENGINE) -> None:
        self._engine = engine
        self._first: Progress | None = None  # of the stage, with a page

    def tell(self, progress: Progress) -> str:
        """A line."""
        if self._first is not None and self._first.stage != progress.stage:
            self._first = None
        if self._first is None and progress.pages:
            self._first = progress
        stage = _WORDS.get(progress.stage, _OTHER_STAGES)
        if self._first is None:
            return f"{stage}: {self._why_nothing(progress.earlier_pages)}"
        pages = progress.earlier_pages + progress.pages
        parts = [f"{stage}: {pages:,} page{'s' * (pages != 1)}"]
        if progress.stage == "clean" and not progress.earlier_pages:
            parts.append(f"{progress.kept:,} kept")
        parts += _speed(self._first, progress)
        if len(progress.stages) > 1:
            parts.append(f"stage {progress.stages.index(progress.stage) + 1} of {len(progress.stages)}")
        return ", ".join(parts)

    def _why_nothing(self, earlier_pages: int) -> str:
        words = _NO_PAGE + (f", {earlier_pages:,} already done" if earlier_pages else "")
        if self._engine == DEFAULT_ENGINE:
            return words
        return f"{words}; {self._engine.capitalize()} may take a minute or two to start"


def _speed(first: Progress, now: Progress) -> list[str]:
    """How fast it goes since the first pages, and how long it will take if it goes on like that, once that is known."""
    shards = f"{now.shards_done} of {now.shards} shards"
    seconds = now.seconds - first.seconds
    if now.pages - first.pages < FEWEST_PAGES or seconds <= 0:
        return [shards]
    rate = (now.pages - first.pages) / seconds
    parts = [
        f"{rate:,.0f} pages/s" if rate >= 10 else f"{rate:.1f} pages/s" if rate >= 0.1 else "under 0.1 pages/s",
        f"{(now.bytes - first.bytes) / MEGABYTE / seconds:,.1f} MB/s",
        shards,
    ]
    if now.share > first.share:
        parts.append(f"{_clock(seconds * (1 - now.share) / (now.share - first.share))} left")
    return parts


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
