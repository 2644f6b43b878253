"""Parquet files: one page a row, read in small batches."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.readers.fields import FieldNames, Names, find_names, in_words, names_of, to_read, why_no_page
from mainmatter.corpus.records import Reject
from mainmatter.corpus.storage import open_input
from mainmatter.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits

_BATCH = 16_000_000  # bytes of pages that are read at once, by the mean of a row group
_MOST_ROWS = 1000
_BUFFER = 1_000_000


def find_row_groups(path: str, wanted: FieldNames = FieldNames()) -> list[tuple[int, int]]:  # noqa: B008
    """The number of rows and about the size in the file, in bytes, of each row group.

    A damaged file is said to have one row: whoever reads it says what is wrong.

    Raises:
        InputError: the file has no column for the page, or none of a name that is wanted.
        MissingExtra: pyarrow is not installed.
    """
    with open_input(path) as file:
        try:
            table = _open(file, path)
        except InputError:
            return [(1, 0)]
        _find_columns(table, path, wanted)
        groups = [table.metadata.row_group(i) for i in range(table.metadata.num_row_groups)]
        # What the columns take in the file we must not ask: of a damaged one, pyarrow ends the process.
        packed = file.seek(0, os.SEEK_END) / max(1, sum(group.total_byte_size for group in groups))
        return [(group.num_rows, round(group.total_byte_size * packed)) for group in groups]


def read_parquet(one: Slice, limits: Limits, start: int) -> Iterator[Read]:
    """The rows from a number on, up to the end of the slice. A row group that is damaged is one reject."""
    with open_input(one.path) as file:
        try:
            table = _open(file, one.path)
            names = _find_columns(table, one.path, names_of(one))
        except InputError as error:
            yield Reject("damaged", str(error), one.path, start)
            return
        first = 0
        for number in range(table.metadata.num_row_groups):
            rows = table.metadata.row_group(number).num_rows
            if first < one.end and first + rows > start:
                for read in _read_group(table, number, first, names, one.path, limits):
                    if start <= read.position < one.end:
                        yield read
            first += rows


def _open(file: Any, path: str) -> Any:  # pyarrow has no types
    try:
        from pyarrow import ArrowException  # an extra
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtra("pyarrow", "corpus") from error
    try:
        return ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)
    except (ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: not a Parquet file, or damaged: {error}") from error


def _find_columns(table: Any, path: str, wanted: FieldNames) -> Names:
    columns = list(table.schema_arrow.names)
    names = find_names(columns, wanted)
    if names.content is None:
        raise InputError(f"{path}: {why_no_page(columns, wanted, 'column')}")
    for option, name, found in (("--url-field", wanted.url, names.url), ("--id-field", wanted.id, names.id)):
        if name and found is None:
            raise InputError(f"{path}: has no column {name!r} ({option}); its columns are {in_words(columns)}")
    return names


def _read_group(
    table: Any,
    number: int,
    first: int,
    names: Names,
    path: str,
    limits: Limits,
) -> Iterator[Read]:
    from pyarrow import ArrowException  # an extra

    group = table.metadata.row_group(number)
    columns = [name for name in (names.content, names.url, names.id, names.time) if name is not None]
    mean = max(1, group.total_byte_size // max(1, group.num_rows))
    batch_size = max(1, min(_MOST_ROWS, _BATCH // mean))
    position = first
    try:
        for batch in table.iter_batches(batch_size, row_groups=[number], columns=columns, use_threads=False):
            # By number: a table may have two columns of one name.
            parts = {name: _values(batch.column(batch.schema.names.index(name))) for name in columns}
            for i in range(batch.num_rows):
                row = {name: _value(values[i], is_text) for name, (values, is_text) in parts.items()}
                yield to_read(row, names, path, position, limits)
                position += 1
    except (ArrowException, OSError, ValueError) as error:
        detail = f"rows {position:,} to {first + group.num_rows - 1:,} cannot be read: {' '.join(str(error).split())}"
        yield Reject("damaged", detail, path, position)


def _values(column: Any) -> tuple[Any, bool]:
    """A column's values, and whether they are text. Text is taken as bytes first, as it may not be UTF-8."""
    import pyarrow  # an extra

    if pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pyarrow.types.is_string(column.type):
        return column.cast(pyarrow.binary()), True
    if pyarrow.types.is_large_string(column.type):
        return column.cast(pyarrow.large_binary()), True
    return column, False


def _value(value: Any, is_text: bool) -> Any:
    try:
        plain = value.as_py()
    except (ArithmeticError, LookupError, ValueError):  # a date or a time zone that Python has none for
        return None
    return plain.decode("utf-8", "replace") if is_text and plain is not None else plain
