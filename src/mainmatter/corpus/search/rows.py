"""The rows of a cleaned collection, as `mainmatter corpus` writes them: Parquet or JSONL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

_COLUMNS = ("id", "url", "title", "text")
_ENDINGS = (".parquet", ".jsonl")
# Of a run of `mainmatter corpus` (corpus/folder.py): it lays the plan down first, and writes the summary last.
_PLAN, _SUMMARY = "_run/plan.json", "summary.json"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A cleaned collection on disk.

    Attributes:
        files: its parts, in order.
    """

    files: tuple[Path, ...]

    @classmethod
    def find(cls, names: Sequence[str | Path], *, unfinished: bool = False) -> Corpus:
        """The collection that the names stand for: files, or folders that `mainmatter corpus` wrote.

        Args:
            names: the files and folders.
            unfinished: also take what a run that was interrupted, or is under way, has written so far.

        Raises:
            InputError: there is no such file or folder, it holds no part of a collection, or the collection is
                unfinished.
        """
        if not unfinished:
            for name in names:
                _check_finished(Path(name))
        return cls(tuple(file for name in names for file in _find_files(Path(name))))

    def count(self) -> int:
        """How many rows it has, told without reading the texts.

        Raises:
            InputError: a file cannot be read.
            MissingExtra: Parquet files need pyarrow.
        """
        return sum(map(_count_rows, self.files))

    def rows(self) -> Iterator[Row]:
        """Its rows, in order, with id, url, title and text.

        Raises:
            InputError: a file cannot be read, or holds no texts.
            MissingExtra: Parquet files need pyarrow.
        """
        for file in self.files:
            yield from _read_parquet(file) if file.suffix == ".parquet" else _read_jsonl(file)


def _find_files(path: Path) -> list[Path]:
    if path.is_file():
        if path.suffix not in _ENDINGS:
            raise InputError(f"{path}: not a part of a corpus; it would end in {' or '.join(_ENDINGS)}")
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or folder")
    # Not below it: OUT/rejects has parts, too.
    files = sorted(file for file in path.glob("part-*") if file.suffix in _ENDINGS and file.is_file())
    if not files:
        raise InputError(f"{path}: holds no part-NNNNN.parquet or part-NNNNN.jsonl; make it with: mainmatter corpus")
    return files


def _check_finished(path: Path) -> None:
    """Raise `InputError` if a folder, or the folder of a part, holds a run that is not complete."""
    folder = path if path.is_dir() else path.parent
    if not (folder / _PLAN).is_file() or (folder / _SUMMARY).is_file():
        return
    raise InputError(
        f"{folder}: the corpus there is not finished{_how_far(folder)}; run the same mainmatter corpus command again, "
        "which goes on where it was, or take what is there with --unfinished"
    )


def _how_far(folder: Path) -> str:
    """How many parts of an unfinished run are there, if its plan can be read."""
    try:
        parts = json.loads((folder / _PLAN).read_bytes())["shards"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    there = sum(file.suffix in _ENDINGS for file in folder.glob("part-*"))
    return f": {there:,} of {parts} parts are written"


def _count_rows(file: Path) -> int:
    if file.suffix == ".parquet":
        with _open_parquet(file) as parquet:
            rows: int = parquet.metadata.num_rows
        return rows
    try:
        with file.open("rb") as lines:
            return sum(1 for line in lines if line.strip())
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error


def _open_parquet(file: Path) -> Any:  # noqa: ANN401 - pyarrow has no types
    try:
        from pyarrow import ArrowException  # noqa: PLC0415 - an extra
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("pyarrow", "search") from error
    try:
        return ParquetFile(file)
    except (ArrowException, OSError) as error:
        raise InputError(f"{file}: cannot be read as a Parquet file: {' '.join(str(error).split())}") from error


def _read_parquet(file: Path) -> Iterator[Row]:
    with _open_parquet(file) as parquet:
        columns = [name for name in _COLUMNS if name in parquet.schema_arrow.names]
        if "text" not in columns:
            raise InputError(f"{file}: not a part of a corpus; it has no column text")
        try:
            for batch in parquet.iter_batches(batch_size=256, columns=columns):
                yield from (_checked(row, file) for row in batch.to_pylist())
        except OSError as error:  # as pyarrow calls a damaged page of the file
            raise InputError(f"{file}: is damaged: {' '.join(str(error).split())}") from error


def _read_jsonl(file: Path) -> Iterator[Row]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _from_json(line, f"{file}, line {number}")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error


def _from_json(line: bytes, place: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON: {error}") from error
    if not isinstance(row, dict) or "text" not in row:
        raise InputError(f"{place}: not a row of a corpus; it would be an object with a text")
    return _checked(row, place)


def _checked(row: Row, place: object) -> Row:
    for name in _COLUMNS:
        if not isinstance(row.get(name), str | None):
            raise InputError(f"{place}: {name} is {row[name]!r:.80}, not text")
    return row
