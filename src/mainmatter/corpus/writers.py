"""Rows and bytes of a corpus: a cleaned page to a row, in a fixed order, and rows to files.

The same rows give the same bytes: nothing of when, where or by whom they were written goes in. A part of the output is
put together in memory, where it takes some percent of what the shard's pages took, and is written whole or not at all.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.metadata import version
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol

from mainmatter.corpus.language import identify
from mainmatter.corpus.records import Reject
from mainmatter.errors import MissingExtra
from mainmatter.isolation.child import is_own_process
from mainmatter.text.tokens import count_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mainmatter.corpus.job import Job
    from mainmatter.corpus.records import Record
    from mainmatter.records import Extraction


Row = tuple[Any, ...]

COLUMNS = (
    "id",
    "url",
    "time",
    "text",
    "title",
    "author",
    "date",
    "site",
    "description",
    "language",
    "language_score",
    "page_type",
    "confidence",
    "words",
    "method",
    "version",
    "source",
    "position",
)
BLOCKS = "blocks"
_DIGITS = 4  # of scores; more depend on how the processor adds


def column_names(*, blocks: bool = False) -> tuple[str, ...]:
    """The names of the columns, in their order."""
    return (*COLUMNS, BLOCKS) if blocks else COLUMNS


def make_row(record: Record, extraction: Extraction) -> dict[str, Any]:
    """All that is known of a page; its values are in the order of `COLUMNS`."""
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
        "words": count_words(" ".join(text.split()))[0],
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


def make_writer(job: Job) -> Writer:
    """The writer of the job's format.

    Raises:
        MissingExtra: Parquet needs pyarrow.
    """
    return _ParquetWriter(blocks=job.blocks) if job.format == "parquet" else _JsonlWriter(blocks=job.blocks)


def read_rows(job: Job, data: bytes) -> Iterator[Row]:
    """The rows of a file that was written here."""
    names = column_names(blocks=job.blocks)
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
    return (Reject(**json.loads(line)) for line in data.splitlines())


class _JsonlWriter:
    def __init__(self, *, blocks: bool) -> None:
        self._names = column_names(blocks=blocks)
        self._file = BytesIO()

    def add(self, row: Row) -> None:
        self._file.write(_line(dict(zip(self._names, row, strict=True))))

    def finish(self) -> bytes:
        return self._file.getvalue()


class _ParquetWriter:
    def __init__(self, *, blocks: bool) -> None:
        self._arrow, parquet = import_arrow()
        self._schema = _schema(self._arrow, blocks=blocks)
        self._rows: list[Row] = []
        self._buffer = self._arrow.BufferOutputStream()
        self._file = parquet.ParquetWriter(
            self._buffer,
            self._schema,
            compression=_COMPRESSION,
            use_dictionary=_REPEATED,
            write_statistics=_WITH_STATISTICS,
        )

    def add(self, row: Row) -> None:
        self._rows.append(row)
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

    def _array(self, values: Sequence[Any], type_: Any) -> Any:  # noqa: ANN401 - Arrow's
        try:
            return self._arrow.array(values, type_)
        except UnicodeEncodeError:
            return self._arrow.array([_writable(value) for value in values], type_)


def _schema(arrow: Any, *, blocks: bool) -> Any:  # noqa: ANN401 - a module, and Arrow's own
    text, number = arrow.string(), arrow.float64()
    types = {"language_score": number, "confidence": number, "words": arrow.int64(), "position": arrow.int64()}
    block = arrow.struct([("text", text), ("kind", text), ("label", text), ("score", number)])
    types["blocks"] = arrow.list_(block)
    return arrow.schema([(name, types.get(name, text)) for name in column_names(blocks=blocks)])


def import_arrow() -> tuple[Any, Any]:
    """`pyarrow` and `pyarrow.parquet`.

    Raises:
        MissingExtra: they are not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("pyarrow", "corpus") from error
    if is_own_process():
        _keep_pandas_out(pyarrow)
    return pyarrow, parquet


def _keep_pandas_out(arrow: Any) -> None:  # noqa: ANN401 - a module
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


def _writable(value: Any) -> Any:  # noqa: ANN401 - any part of a row
    """The same without halves of characters (lone surrogates), which a page's JSON can hold and UTF-8 cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_writable(name): _writable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(inner) for inner in value]
    return value
