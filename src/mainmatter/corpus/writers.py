"""Rows and bytes of a corpus: a cleaned page to a row, in a fixed order, and rows to files.

The same rows give the same bytes: nothing of when, where or by whom they were written goes in. A part of the output is
put together in memory, where it takes some percent of what the shard's pages took, and is written whole or not at all.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.metadata import version
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol

from mainmatter.corpus.language import identify
from mainmatter.corpus.records import Reject
from mainmatter.corpus.typed_json import parse
from mainmatter.errors import MissingExtra
from mainmatter.isolation.child import is_own_process
from mainmatter.text.tokens import word_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.corpus.job import Job
    from mainmatter.corpus.records import Record
    from mainmatter.records import Extraction


Row = tuple[Any, ...]

BLOCKS, CHUNKS = "blocks", "chunks"


@dataclass(frozen=True, slots=True)
class CorpusColumn:
    """A column of a corpus.

    Attributes:
        name: its name.
        type: "string", "int64" or "float64"; "list<...>" of one of these; "" if it is a list of structs.
        meaning: what it holds, for people.
        fields: of a list of structs: the name and type of each of their fields.
    """

    name: str
    type: str
    meaning: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def type_name(self) -> str:
        """The type, in the words of the documentation."""
        inner = ", ".join(f"{name}: {type_}" for name, type_ in self.fields)
        return f"list<struct<{inner}>>" if inner else self.type


SCHEMA = (
    CorpusColumn("id", "string", "the record's identifier: its WARC record ID, file, URL, or row ID"),
    CorpusColumn("url", "string", "the URL of the page, if known"),
    CorpusColumn("time", "string", "the time of the fetch (ISO 8601, UTC), if known"),
    CorpusColumn("text", "string", "the main matter, as plain text, Markdown or HTML (`--text-format`)"),
    CorpusColumn("title", "string", "the title, according to the page"),
    CorpusColumn("author", "string", "the author, according to the page"),
    CorpusColumn("date", "string", "the date of publication (YYYY-MM-DD), according to the page"),
    CorpusColumn("site", "string", "the name of the site, according to the page"),
    CorpusColumn("description", "string", "a summary, according to the page"),
    CorpusColumn("language", "string", "the language of the text (ISO 639), detected from its letters, if possible"),
    CorpusColumn("language_score", "float64", "the confidence in the language, from 0 to 1"),
    CorpusColumn("page_type", "string", "the kind of page, if the method determines it, as `main` does"),
    CorpusColumn("confidence", "float64", "the method's confidence in its result, from 0 to 1, if it gives one"),
    CorpusColumn("words", "int64", "the number of words in the plain text"),
    CorpusColumn("method", "string", "the method that chose the text"),
    CorpusColumn("version", "string", "the version of mainmatter"),
    CorpusColumn("source", "string", "the input that the page is from"),
    CorpusColumn("position", "int64", "where in that input the page begins"),
    CorpusColumn(
        BLOCKS,
        "",
        "with `--blocks`: all blocks of the page, including dropped ones",
        (("text", "string"), ("kind", "string"), ("label", "string"), ("score", "float64")),
    ),
    CorpusColumn(
        CHUNKS,
        "",
        "with `--chunks N`: the plain text in chunks of at most N tokens, each with the positions of its first "
        "character and of the one after its last, the headings above it, the numbers and XPaths of its blocks, and its "
        "tokens",
        (
            ("text", "string"),
            ("start", "int64"),
            ("end", "int64"),
            ("headings", "list<string>"),
            ("blocks", "list<int64>"),
            ("xpaths", "list<string>"),
            ("tokens", "int64"),
        ),
    ),
)  # fmt: skip
COLUMNS = tuple(column.name for column in SCHEMA if column.name not in (BLOCKS, CHUNKS))
# The page can be found again by these, and a corpus without a text is none.
NEEDED_COLUMNS = ("id", "text", "source", "position")
_DIGITS = 4  # of scores; more depend on how the processor adds


def all_columns(job: Job) -> tuple[str, ...]:
    """The names of the values of a row, in their order."""
    return (*COLUMNS, *([BLOCKS] if job.blocks else []), *([CHUNKS] if job.chunks else []))


def written_columns(job: Job) -> tuple[CorpusColumn, ...]:
    """The columns of the corpus, in their order: without those that the job leaves out."""
    wanted = set(all_columns(job)) - set(job.without_columns)
    return tuple(column for column in SCHEMA if column.name in wanted)


def make_row(record: Record, extraction: Extraction) -> dict[str, Any]:
    """All that is known of a page, with its plain text; the values are in the order of `COLUMNS`."""
    page, metadata, text = record.page, extraction.metadata, extraction.text
    identified = identify(text)
    confidence = extraction.confidence
    return {
        "id": page.id or f"{record.source}#{record.position}",
        "url": page.url or metadata.url,
        "time": record.time,
        "text": text,
        "title": metadata.title,
        "author": metadata.author,
        "date": metadata.date,
        "site": metadata.site,
        "description": metadata.description,
        "language": identified.language,
        "language_score": identified.score,
        "page_type": extraction.page_type,
        "confidence": None if confidence is None else round(float(confidence), _DIGITS),
        "words": word_count(text),
        "method": extraction.method,
        "version": mainmatter_version(),
        "source": record.source,
        "position": record.position,
    }


def make_blocks(extraction: Extraction) -> list[dict[str, Any]]:
    """The blocks of a page, dropped ones too: text, kind, label and score of each."""
    return [
        {"text": text, "kind": kind.value, "label": label, "score": round(score, _DIGITS)}
        for text, kind, label, score in zip(
            extraction.document.texts, extraction.kinds, extraction.labels, extraction.scores.tolist(), strict=True
        )
    ]


def make_chunks(extraction: Extraction, max_tokens: int, overlap: int) -> list[dict[str, Any]]:
    """The text of a page in pieces, each with where it stands."""
    names = [name for column in SCHEMA if column.name == CHUNKS for name, _ in column.fields]
    return [{name: _plain(getattr(chunk, name)) for name in names} for chunk in extraction.chunks(max_tokens, overlap)]


def _plain(value: Any) -> Any:  # of a chunk
    return list(value) if isinstance(value, tuple) else value


@cache
def mainmatter_version() -> str:
    """Of the installed package."""
    return version("mainmatter")


ROWS_IN_GROUP = 1000  # of Parquet: readers take in a group at once
_COMPRESSION = "zstd"
# Where values are often the same, Parquet keeps each of them once.
_REPEATED = ["author", "site", "language", "page_type", "method", "version", "source"]
_WITH_STATISTICS = ["time", "date", "language", "language_score", "confidence", "words", "position"]
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Writer(Protocol):
    """Takes rows and gives the file that they make."""

    def add(self, row: Row) -> None:
        """Add a row."""

    def finish(self) -> bytes:
        """The whole file."""


def make_writer(job: Job, *, whole: bool = False) -> Writer:
    """The writer of the job's format; it takes whole rows.

    Args:
        job: what is wanted.
        whole: also write the columns that the corpus is to be without, for a later stage.

    Raises:
        MissingExtra: Parquet needs pyarrow.
    """
    names = all_columns(job)
    wanted = names if whole else tuple(column.name for column in written_columns(job))
    places = None if wanted == names else [names.index(name) for name in wanted]
    return (_ParquetWriter if job.format == "parquet" else _JsonlWriter)(wanted, places)


def read_rows(job: Job, data: bytes) -> Iterator[Row]:
    """The rows of a file that was written here, whole."""
    names = all_columns(job)
    if job.format == "jsonl":
        for line in data.splitlines():
            content = json.loads(line)
            yield tuple(content[name] for name in names)
        return
    arrow, parquet = import_arrow()
    for batch in parquet.ParquetFile(arrow.BufferReader(data)).iter_batches(ROWS_IN_GROUP):
        yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)


def rejects_to_bytes(rejects: Iterable[Reject]) -> bytes:
    """Rejects as JSON lines."""
    return b"".join(_line(asdict(reject)) for reject in rejects)


def read_rejects(data: bytes) -> Iterator[Reject]:
    """The rejects once more."""
    return (parse(Reject, line) for line in data.splitlines())


class _JsonlWriter:
    def __init__(self, names: Sequence[str], places: Sequence[int] | None) -> None:
        self._names, self._places = names, places
        self._file = BytesIO()

    def add(self, row: Row) -> None:
        self._file.write(_line(dict(zip(self._names, _some(row, self._places), strict=True))))

    def finish(self) -> bytes:
        return self._file.getvalue()


class _ParquetWriter:
    def __init__(self, names: Sequence[str], places: Sequence[int] | None) -> None:
        self._arrow, parquet = import_arrow()
        self._places = places
        self._schema = _schema(self._arrow, names)
        self._rows: list[Row] = []
        self._buffer = self._arrow.BufferOutputStream()
        self._file = parquet.ParquetWriter(
            self._buffer,
            self._schema,
            compression=_COMPRESSION,
            use_dictionary=[name for name in _REPEATED if name in names],
            write_statistics=[name for name in _WITH_STATISTICS if name in names],
        )

    def add(self, row: Row) -> None:
        self._rows.append(_some(row, self._places))
        if len(self._rows) == ROWS_IN_GROUP:
            self._write_group()

    def finish(self) -> bytes:
        if self._rows:
            self._write_group()
        self._file.close()
        data: bytes = self._buffer.getvalue().to_pybytes()
        return data

    def _write_group(self) -> None:
        columns = list(zip(*self._rows, strict=True))
        arrays = [self._array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
        self._file.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema), ROWS_IN_GROUP)
        self._rows = []

    def _array(self, values: Sequence[Any], type_: Any) -> Any:  # Arrow's
        try:
            return self._arrow.array(values, type_)
        except UnicodeEncodeError:
            return self._arrow.array([_writable(value) for value in values], type_)


def _some(row: Row, places: Sequence[int] | None) -> Row:
    return row if places is None else tuple(row[place] for place in places)


def _schema(arrow: Any, names: Sequence[str]) -> Any:  # a module, and Arrow's own
    types = {"string": arrow.string(), "int64": arrow.int64(), "float64": arrow.float64()}
    types |= {f"list<{name}>": arrow.list_(type_) for name, type_ in types.items()}
    of_columns = {
        column.name: arrow.list_(arrow.struct([(name, types[type_]) for name, type_ in column.fields]))
        if column.fields
        else types[column.type]
        for column in SCHEMA
    }
    return arrow.schema([(name, of_columns[name]) for name in names])


def import_arrow() -> tuple[Any, Any]:
    """`pyarrow` and `pyarrow.parquet`.

    Raises:
        MissingExtra: they are not installed.
    """
    try:
        import pyarrow  # an extra
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "corpus") from error
    if is_own_process():
        _keep_pandas_out(pyarrow)
    return pyarrow, parquet


def _keep_pandas_out(arrow: Any) -> None:  # a module
    """Let pyarrow find no pandas: at its first array it imports that, for a second, to ask whether a list is of it."""
    finder = _FindsNoPandas()
    sys.meta_path.insert(0, finder)
    try:
        arrow.array([])
    finally:
        sys.meta_path.remove(finder)


class _FindsNoPandas(MetaPathFinder):
    def find_spec(self, name: str, path: object, target: object = None) -> None:  # noqa: ARG002 - Python's interface
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def _line(content: dict[str, Any]) -> bytes:
    try:
        return (_encode(content) + "\n").encode()
    except UnicodeEncodeError:
        return (_encode(_writable(content)) + "\n").encode()


def _writable(value: Any) -> Any:  # any part of a row
    """The same without halves of characters (lone surrogates), which a page's JSON can hold and UTF-8 cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_writable(name): _writable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(inner) for inner in value]
    return value
