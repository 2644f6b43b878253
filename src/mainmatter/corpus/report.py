"""`corpus_report`: a finished corpus as one HTML file; first what it holds, then the page that shows it.

Counts of a run are in its summary and in the markers of its shards. What is told of pages (languages, sites, lengths)
comes from the rows: all of them, or of large corpora a sample, part by part, from all over.
"""

from __future__ import annotations

import heapq
import io
import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from mainmatter.corpus import storage
from mainmatter.corpus.folder import REJECTS, SUMMARY, Folder
from mainmatter.corpus.plan import Plan, read_plan
from mainmatter.corpus.records import Reject
from mainmatter.corpus.summary import Report, Summary
from mainmatter.corpus.typed_json import parse
from mainmatter.errors import InputError, MissingExtra
from mainmatter.lab.reports import charts
from mainmatter.lab.reports.html import Cell, Section, count_cell, html_page, markup, moment, shorten, table
from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from markupsafe import Markup

    from mainmatter.corpus.summary import Report


MOST_ROWS = 200_000  # that are read
LEAST_CONFIDENT = 20
EXAMPLES = 5  # of each reason
_MOST_MARKERS = 2000
_MOST_REJECTS = 200_000  # lines that are looked at for examples
_TEXT = 700  # characters of a page
_LONG_WORD = 40  # characters; a language without spaces is cut anywhere
_BATCH = 256
_COLUMNS = (
    "id", "url", "text", "title", "language", "page_type", "confidence", "words", "method", "version"
)  # fmt: skip
_NUMBERS = ("confidence", "words")
_TEXTS = ("url", "text", "title", "language", "page_type", "method", "version")
_PART = re.compile(r"part-(\d+)\.(parquet|jsonl)")


@dataclass(frozen=True, slots=True)
class UnsurePage:
    """A page of which the method is not sure.

    Attributes:
        id: the page's.
        url: the page's, if known.
        title: the page's, if known.
        page_type: what it was taken for, if the method says so.
        language: of the text.
        confidence: how sure the method is.
        words: how many words were kept.
        text: the beginning of what was kept.
    """

    id: str
    url: str | None
    title: str | None
    page_type: str | None
    language: str | None
    confidence: float
    words: int
    text: str


@dataclass(slots=True)
class RowFacts:
    """What was counted over the rows.

    Attributes:
        rows: how many were read.
        languages, page_types, methods: how many pages of each; methods with the version of mainmatter.
        site_pages, site_words: how many pages and words of each host.
        confidences, words: of each page.
        unsure: the pages with the lowest confidence, lowest first.
    """

    rows: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    page_types: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    site_pages: Counter[str] = field(default_factory=Counter)
    site_words: Counter[str] = field(default_factory=Counter)
    confidences: list[float] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    unsure: list[UnsurePage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """All that a report tells of a corpus.

    Attributes:
        summary: the run's counts.
        plan: what was wanted.
        rows: what was counted over the rows.
        rejects: the first few rejects of each reason.
        shards: the markers of shards, with their times; not all where there are very many.
    """

    summary: Summary
    plan: Plan
    rows: RowFacts
    rejects: Mapping[str, Sequence[Reject]]
    shards: Sequence[Report]


def read_facts(out: str, most_rows: int = MOST_ROWS) -> CorpusFacts:
    """Read a finished corpus.

    Args:
        out: the folder that `mainmatter corpus` wrote, any that fsspec knows.
        most_rows: how many rows to read; of more, those of some parts stand for all.

    Raises:
        InputError: it is no such folder, the run is not finished, or a part is damaged.
        MissingExtra: Parquet needs pyarrow, a remote folder fsspec.
    """
    folder = Folder(storage.without_scheme(out))
    plan = read_plan(folder)
    summary = _summary(folder)
    numbers = spread(range(plan.shards), _MOST_MARKERS)
    shards = [report for report in folder.markers("clean", numbers) if report is not None]
    return CorpusFacts(
        summary, plan, _count(folder, summary, most_rows), _rejects(folder, set(summary.rejects)), shards
    )


def _summary(folder: Folder) -> Summary:
    try:
        return Summary.from_json(json.loads(folder.read(SUMMARY)))
    except FileNotFoundError as error:
        raise InputError(f"{folder.out}: the run is not finished; run the same command again to resume it") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder.out}: {SUMMARY} is damaged: {error}") from error


def spread(items: Sequence[int], most: int) -> list[int]:
    """Some of many, evenly spread."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / max(1, most - 1))] for i in range(most)]


def _count(folder: Folder, summary: Summary, most_rows: int) -> RowFacts:
    names = [name for name in folder.names() if _PART.fullmatch(name)]
    if summary.kept > most_rows:  # parts are alike in size, but for the last
        names = [names[i] for i in spread(range(len(names)), max(1, len(names) * most_rows // summary.kept))]
    found = RowFacts()
    lowest: list[tuple[float, int, UnsurePage]] = []  # a heap, the surest of them first
    for row in _rows(folder, names):
        if found.rows == most_rows:
            break
        _add(found, row)
        confidence = row["confidence"]
        if confidence is None:
            continue
        if len(lowest) < LEAST_CONFIDENT or -confidence > lowest[0][0]:
            entry = (-confidence, -found.rows, _unsure_page(row))
            (heapq.heappush if len(lowest) < LEAST_CONFIDENT else heapq.heappushpop)(lowest, entry)
    found.unsure = [page for _, _, page in sorted(lowest, key=lambda one: (-one[0], -one[1]))]
    return found


def _add(found: RowFacts, row: Mapping[str, Any]) -> None:
    found.rows += 1
    words = int(row["words"] or 0)  # columns may have been left out
    host = _host(row["url"])
    found.languages[row["language"] or "not known"] += 1
    found.page_types[row["page_type"] or "not known"] += 1
    found.methods[f"{row['method'] or 'not known'} ({row['version'] or 'not known'})"] += 1
    found.site_pages[host] += 1
    found.site_words[host] += words
    if row["words"] is not None:
        found.words.append(words)
    if row["confidence"] is not None:
        found.confidences.append(float(row["confidence"]))


def _unsure_page(row: Mapping[str, Any]) -> UnsurePage:
    return UnsurePage(
        str(row["id"]),
        row["url"],
        row["title"],
        row["page_type"],
        row["language"],
        float(row["confidence"]),
        int(row["words"] or 0),
        _beginning(str(row["text"] or "")),
    )


def _beginning(text: str) -> str:
    if len(text) <= _TEXT:
        return text
    whole, _, last = text[:_TEXT].rpartition(" ")
    return (whole if whole and len(last) < _LONG_WORD else text[:_TEXT]).rstrip() + " …"


def _host(url: str | None) -> str:
    try:
        return urlsplit(url or "").hostname or "no URL"
    except ValueError:  # a bracket that is not closed, for one
        return "no URL"


def _rows(folder: Folder, names: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for name in names:
        path = folder.path(name)
        read = _parquet_rows if name.endswith(".parquet") else _jsonl_rows
        for row in read(path):
            if not isinstance(row, dict):
                raise InputError(f"{path}: not rows of a corpus")
            yield {column: _checked(row.get(column), column, path) for column in _COLUMNS}


def _checked(value: Any, column: str, path: str) -> Any:  # whatever a file holds
    """A value of a row, which may have been written by others, or is damaged."""
    if column in _NUMBERS:
        fits = isinstance(value, int | float) and math.isfinite(value)
    else:
        fits = isinstance(value, str) or column not in _TEXTS
    if value is not None and not fits:
        raise InputError(f"{path}: is damaged: a row has {value!r:.100} for its {column}")
    return value


def _jsonl_rows(path: str) -> Iterator[Any]:
    with _lines(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{path}: line {number} is damaged: {error}") from error


def _parquet_rows(path: str) -> Iterator[Any]:
    try:
        from pyarrow import ArrowException  # an extra
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtra("pyarrow", "corpus") from error
    with storage.open_input(path) as file:
        try:
            parquet = ParquetFile(file)
            columns = [name for name in _COLUMNS if name in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(_BATCH, columns=columns):
                yield from batch.to_pylist()
        except (ArrowException, OSError, UnicodeError) as error:  # the last from names of columns
            raise InputError(f"{path}: is damaged: {' '.join(str(error).split())}") from error


def _rejects(folder: Folder, reasons: set[str]) -> dict[str, list[Reject]]:
    """The first few of each reason; the search ends when all have some, or has gone on long enough."""
    found: dict[str, list[Reject]] = {}
    seen = 0
    for name in folder.names(REJECTS):
        with _lines(folder.path(f"{REJECTS}/{name}")) as lines:
            for line in lines:
                seen += 1
                try:
                    reject = parse(Reject, line)
                except ValueError as error:
                    raise InputError(f"{folder.path(f'{REJECTS}/{name}')}: is damaged: {error}") from error
                some = found.setdefault(reject.reason, [])
                if len(some) < EXAMPLES:
                    some.append(reject)
        is_enough = all(len(found.get(reason, ())) >= EXAMPLES for reason in reasons)
        if is_enough or seen > _MOST_REJECTS:
            break
    return found


def _lines(path: str) -> io.BufferedReader:
    return io.BufferedReader(storage.open_input(path))  # type: ignore[arg-type]


_MOST_GROUPS = 40  # rows of a table of languages or sites
_SLOWEST = 10
_OPEN = 2  # pages that are not folded
_BINS = 20
_DUPLICATES = ("duplicate", "near-duplicate")
# Lengths grow by a factor of about two from bar to bar; decades have a label.
_LENGTHS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
_LENGTH_LABELS = {0: "0", 1: "1", 10: "10", 100: "100", 1000: "1k", 10_000: "10k", 100_000: "100k"}


def corpus_report(
    out: str | Path, *, command: str = "", made: datetime | None = None, most_rows: int = MOST_ROWS
) -> str:
    """A finished corpus as one HTML file: what came in and out, what it is like, and the pages to look at first.

    The parts are read in batches, so memory stays small however large the corpus is.

    Args:
        out: the folder that `mainmatter corpus` wrote, any that fsspec knows.
        command: what was run, to be shown.
        made: the date to be shown; now by default.
        most_rows: how many rows to read; of a larger corpus a sample is read, and the report says so.

    Raises:
        InputError: it is no such folder, the run is not finished, or a part is damaged.
        MissingExtra: Parquet needs pyarrow, a remote folder fsspec.
    """
    facts = read_facts(str(out), most_rows)
    sections = [
        Section("overview", "Overview", _overview(facts)),
        Section("dropped", "What was dropped, and why", _dropped(facts)),
        Section("kind", "What was kept", _kinds(facts.rows)),
        Section("shape", "Lengths and confidence", _plots(facts.rows)),
        Section("sites", "Sites", _sites(facts.rows)),
        Section("unsure", "Least confident pages", _unsure(facts.rows)),
        Section("shards", "Slowest shards", _shards(facts)),
    ]
    return html_page("Corpus", _lead(facts), _facts(facts, command, made), sections)


def _lead(facts: CorpusFacts) -> str:
    summary = facts.summary
    pages = f"{summary.pages:,} page" + "s" * (summary.pages != 1)
    return f"{summary.kept:,} of {pages} kept ({_percent(summary.kept, summary.pages)}), {summary.words:,} words."


def _facts(facts: CorpusFacts, command: str, made: datetime | None) -> list[tuple[str, object]]:
    summary, plan = facts.summary, facts.plan
    shown = [("Command", markup("parts", "code", command))] if command else []
    inputs = ", ".join(plan.inputs[:5]) + (f" and {len(plan.inputs) - 5:,} more" if len(plan.inputs) > 5 else "")
    return [
        *shown,
        ("Date of this report", moment(made)),
        ("Input", inputs),
        ("Output", f"{summary.out}, {summary.shards:,} part" + "s" * (summary.shards != 1)),
        ("Method", ", ".join([plan.job.method, *(f"{name}={value}" for name, value in plan.job.parameters.items())])),
        ("Version", f"mainmatter {plan.version}"),
        ("Options", _options(facts)),
    ]


def _options(facts: CorpusFacts) -> str:
    job = facts.plan.job
    chosen = [job.format, f"duplicates: {job.duplicates or 'kept'}"]
    chosen += ["site templates"] if job.site_templates else []
    chosen += [f"text as {job.text_format}"] if job.text_format != "text" else []
    chosen += ["blocks"] if job.blocks else []
    overlap = f" that repeat up to {job.overlap:,}" if job.overlap else ""
    chosen += [f"chunks of {job.chunks:,} tokens{overlap}"] if job.chunks else []
    chosen += [f"without {', '.join(job.without_columns)}"] if job.without_columns else []
    chosen += [f"{name.replace('_', ' ')}: {value}" for name, value in job.filters.to_json().items() if value]
    return ", ".join(chosen)


def _overview(facts: CorpusFacts) -> Markup:
    summary = facts.summary
    duplicates = sum(summary.rejects.get(reason, 0) for reason in _DUPLICATES)
    tiles = [
        (f"{summary.pages:,}", "pages read"),
        (f"{summary.kept:,}", "kept"),
        (f"{sum(summary.rejects.values()):,}", "dropped"),
        (f"{duplicates:,}", "of these duplicates"),
        (f"{summary.words:,}", "words"),
        (f"{summary.bytes / MEGABYTE:,.1f} MB", "of pages"),
        (_duration(summary.seconds), "wall-clock time"),
        (f"{_speed(summary.megabytes_per_second)} MB/s", f"{summary.pages_per_second:,.1f} pages/s"),
    ]
    earlier = sample = ""
    if summary.earlier_pages:
        earlier = (
            f"Earlier, interrupted runs had already done {summary.earlier_pages:,} pages. Their time is not counted."
        )
    if facts.rows.rows < summary.kept:
        sample = (
            f"Languages, page types, sites, lengths and confidence come from a sample: {facts.rows.rows:,} of "
            f"{summary.kept:,} pages, from parts all over the corpus. All other counts cover the whole corpus."
        )
    return markup("corpus", "overview", tiles, earlier, sample)


def _dropped(facts: CorpusFacts) -> Markup:
    summary = facts.summary
    ranked = sorted(summary.rejects.items(), key=lambda one: (-one[1], one[0]))
    rows = [
        [Cell(reason), count_cell(count, summary.pages), Cell(_percent(count, summary.pages), count)]
        for reason, count in ranked
    ]
    reasons = skipped = None
    if rows:
        reasons = table("Dropped pages by reason", ["reason", "pages", "share"], rows, name="reasons", numbers=(1, 2))
    examples = [
        (reason, f"{len(some):,} of {count:,}", some) for reason, count in ranked if (some := facts.rejects.get(reason))
    ]
    if summary.skipped:
        rows = [
            [Cell(kind), count_cell(count)]
            for kind, count in sorted(summary.skipped.items(), key=lambda one: (-one[1], one[0]))
        ]
        caption = "Skipped records that are not pages, by type"
        skipped = table(caption, ["type", "records"], rows, name="skipped records", numbers=(1,))
    return markup("corpus", "dropped", reasons, examples, skipped)


def _kinds(rows: RowFacts) -> Markup:
    if not rows.rows:
        return markup("parts", "paragraph", "Nothing was kept.")
    tables = [
        _counted("Pages by language", "language", rows.languages, rows.rows),
        _counted("Pages by type, according to the method", "page type", rows.page_types, rows.rows),
        _counted("Pages by method and version", "method", rows.methods, rows.rows),
    ]
    return markup("parts", "plots", tables)


def _counted(caption: str, name: str, counts: Counter[str], whole: int) -> Markup:
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    rows = [
        [Cell(shorten(key, 80)), count_cell(count, whole), Cell(_percent(count, whole), count)]
        for key, count in ranked[:_MOST_GROUPS]
    ]
    more = f"; the first {_MOST_GROUPS} of {len(ranked):,}" if len(ranked) > _MOST_GROUPS else ""
    return table(caption + more, [name, "pages", "share"], rows, name=caption, numbers=(1, 2))


def _plots(rows: RowFacts) -> Markup | str:
    if not rows.rows:
        return ""
    return markup("parts", "plots", [*([_length_plot(rows)] if rows.words else []), _confidence_plot(rows)])


def _length_plot(rows: RowFacts) -> Markup:
    counts, _ = np.histogram(rows.words, bins=[*_LENGTHS, np.inf])
    middle = int(np.median(rows.words))
    bars = [(_LENGTH_LABELS.get(start, ""), count) for start, count in zip(_LENGTHS, counts.tolist(), strict=True)]
    return charts.histogram(
        charts.Words(
            "lengths",
            "Lengths of the pages",
            f"Number of pages by number of words, on a logarithmic scale; the median is {middle:,} words.",
            f"Number of pages by number of words, in growing steps. The median is {middle:,} words.",
        ),
        bars,
    )


def _confidence_plot(rows: RowFacts) -> Markup:
    if not rows.confidences:
        return markup("parts", "note", "The method gives no confidence.")
    counts, _ = np.histogram(np.clip(rows.confidences, 0, 1), bins=_BINS, range=(0, 1))
    middle = float(np.median(rows.confidences))
    labels = {0: "0", 5: "0.25", 10: "0.5", 15: "0.75"}
    words = charts.Words(
        "confidences",
        "Confidence of the method",
        f"Number of pages by confidence, from 0 to 1; the median is {middle:.2f}.",
        f"The method's confidence in each page, from 0 to 1. The median is {middle:.2f}.",
    )
    return charts.histogram(words, [(labels.get(i, ""), count) for i, count in enumerate(counts.tolist())])


def _sites(rows: RowFacts) -> str:
    if not rows.rows:
        return ""
    ranked = sorted(rows.site_pages.items(), key=lambda one: (-one[1], one[0]))
    words = sum(rows.site_words.values())
    cells = [
        [Cell(shorten(host, 100)), count_cell(count, rows.rows), count_cell(rows.site_words[host], words)]
        for host, count in ranked[:_MOST_GROUPS]
    ]
    first = f"the first {_MOST_GROUPS} of " if len(ranked) > _MOST_GROUPS else ""
    caption = f"Pages and words by site: {first}{len(ranked):,} host" + "s" * (len(ranked) != 1)
    return table(caption, ["site", "pages", "words"], cells, name="sites", numbers=(1, 2))


def _unsure(rows: RowFacts) -> str:
    pages = [
        (
            page,
            " · ".join(one for one in (page.page_type, page.language, f"{page.words:,} words") if one),
            number < _OPEN,
        )
        for number, page in enumerate(rows.unsure)
    ]
    return markup("corpus", "unsure", pages) if pages else ""


def _shards(facts: CorpusFacts) -> str:
    if len(facts.shards) < 2:
        return ""
    ranked = sorted(facts.shards, key=lambda one: (-one.seconds, one.number))[:_SLOWEST]
    rows = [_shard_row(one, ranked[0].seconds) for one in ranked]
    known = len(facts.shards)
    of = f"{known:,} of {facts.summary.shards:,} shards were read" if known < facts.summary.shards else f"of {known:,}"
    head = ["shard", "seconds", "pages", "MB", "MB/s"]
    return table(f"Where most time went ({of})", head, rows, name="slowest shards", numbers=(0, 1, 2, 3, 4))


def _shard_row(one: Report, most: float) -> list[Cell]:
    size = one.bytes / MEGABYTE
    speed = size / one.seconds if one.seconds else 0.0
    return [
        Cell(f"{one.number:05}", one.number),
        Cell(f"{one.seconds:,.1f}", one.seconds, one.seconds / most if most else None),
        Cell(f"{one.pages:,}", one.pages),
        Cell(f"{size:,.1f}", size),
        Cell(_speed(speed), speed),
    ]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _speed(megabytes: float) -> str:
    return f"{megabytes:,.2f}" if megabytes >= 0.1 else f"{megabytes:.4f}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
