"""What a finished corpus holds, read in batches: counts, and the few pages that a report shows.

Counts of a run are in its summary and in the markers of its shards. What is told of pages (languages, sites, lengths)
comes from the rows: all of them, or of large corpora a sample, part by part, from all over.
"""

from __future__ import annotations

import heapq
import io
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mainmatter.corpus import storage
from mainmatter.corpus.folder import REJECTS, SUMMARY, Folder
from mainmatter.corpus.plan import Plan, read_plan
from mainmatter.corpus.records import Reject
from mainmatter.corpus.summary import Report, Summary
from mainmatter.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    shards = _shards(folder, plan)
    return CorpusFacts(
        summary, plan, _count(folder, summary, most_rows), _rejects(folder, set(summary.rejects)), shards
    )


def _summary(folder: Folder) -> Summary:
    try:
        return Summary.from_json(json.loads(folder.read(SUMMARY)))
    except FileNotFoundError as error:
        raise InputError(f"{folder.out}: the run is not finished; run the same command again to go on") from error
    except (ValueError, TypeError) as error:
        raise InputError(f"{folder.out}: {SUMMARY} is damaged: {error}") from error


def _shards(folder: Folder, plan: Plan) -> list[Report]:
    numbers = spread(range(plan.shards), _MOST_MARKERS)
    return [report for number in numbers if (report := folder.marker("clean", number)) is not None]


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
            entry = (-confidence, -found.rows, _unsure(row))
            (heapq.heappush if len(lowest) < LEAST_CONFIDENT else heapq.heappushpop)(lowest, entry)
    found.unsure = [page for _, _, page in sorted(lowest, key=lambda one: (-one[0], -one[1]))]
    return found


def _add(found: RowFacts, row: Mapping[str, Any]) -> None:
    found.rows += 1
    words = int(row["words"] or 0)
    host = _host(row["url"])
    found.languages[row["language"] or "not known"] += 1
    found.page_types[row["page_type"] or "not told"] += 1
    found.methods[f"{row['method']} ({row['version']})"] += 1
    found.site_pages[host] += 1
    found.site_words[host] += words
    found.words.append(words)
    if row["confidence"] is not None:
        found.confidences.append(float(row["confidence"]))


def _unsure(row: Mapping[str, Any]) -> UnsurePage:
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
                raise InputError(f"{path}: holds something else than rows of a corpus")
            yield {column: row.get(column) for column in _COLUMNS}


def _jsonl_rows(path: str) -> Iterator[Any]:
    with _lines(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}: line {number} is damaged: {error}") from error


def _parquet_rows(path: str) -> Iterator[Any]:
    try:
        from pyarrow import ArrowException  # noqa: PLC0415 - an extra
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("pyarrow", "corpus") from error
    with storage.open_input(path) as file:
        try:
            parquet = ParquetFile(file)
            columns = [name for name in _COLUMNS if name in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(_BATCH, columns=columns):
                yield from batch.to_pylist()
        except (ArrowException, OSError) as error:
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
                    reject = Reject(**json.loads(line))
                except (ValueError, TypeError) as error:
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
