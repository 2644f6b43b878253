"""A collection to look at, a few pages at a time, however many it has: a corpus, or the input of one.

Of a corpus nothing is read but what is shown: the names of the parts, then from one of them the rows from a place on,
without their text. A place is a part and where in it a row begins: the number of a row in Parquet, a byte in JSONL.
Pages that nobody cleaned yet (an archive, JSONL, Parquet, a folder) are read from a place on until enough are found;
there a place is a slice of the input and a position in that.
"""

from __future__ import annotations

import io
import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from mainmatter.corpus import storage
from mainmatter.corpus.folder import PLAN, REJECTS, SUMMARY, Folder, part_name, rejects_name
from mainmatter.corpus.plan import read_plan
from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.records import Record, Reject, Skipped
from mainmatter.corpus.storage import open_input, without_scheme
from mainmatter.corpus.summary import Summary
from mainmatter.corpus.writers import BLOCKS, COLUMNS, ROWS_IN_GROUP, import_arrow
from mainmatter.errors import InputError, MainmatterError, MissingExtra
from mainmatter.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mainmatter.corpus.plan import Plan

    _Rows = Iterator[tuple[int, dict[str, Any] | None]]
    from collections.abc import Iterator

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.records import Page


LISTED = ("id", "url", "title", "language", "confidence", "words")  # what a list shows of a kept page
REJECTED = tuple(one.name for one in fields(Reject))  # and of a rejected one
LONGEST_LISTED = 500  # characters of a value that a list shows
_SEARCHED = ("title", "url", "id", "detail")
_NO_ROW: dict[str, Any] = {}  # in the place of a row, where there is none: a part begins, or a line is blank
_PART = re.compile(r"part-(\d{5,9})\.(parquet|jsonl)")
_BATCH = 20  # whole rows that are read at once to get one of them
_BUFFER = 1_000_000
_LONGEST_LINE = 400_000_000  # bytes: a page of the largest size, with its blocks
_LONGEST_LINE_LISTED = 50_000_000  # of one among many, whose text is of no use
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, MainmatterError)


class Place(NamedTuple):
    """Where a row begins: the number of its part, and the row's number in Parquet or its first byte in JSONL."""

    part: int
    at: int


@dataclass(frozen=True, slots=True)
class ListingQuery:
    """Which rows to list.

    Attributes:
        kept: those of the corpus; else those that were rejected.
        reason: of the rejected, only those for this reason; "" for all.
        words: only rows with all these words in the title, the address or the id, or in what a reject says.
        start: begin there; None is the beginning.
        most: how many at most.
        seconds: stop looking after that long.
    """

    kept: bool = True
    reason: str = ""
    words: tuple[str, ...] = ()
    start: Place | None = None
    most: int = 50
    seconds: float = 3.0


@dataclass(frozen=True, slots=True)
class Listing:
    """Some rows.

    Attributes:
        rows: each with its place, its values cut; of a part or line that cannot be read, the field "problem" says why.
        after: where to go on; None at the end.
        looked_at: how many rows were looked at.
        ran_out: it stopped because time was up.
    """

    rows: Sequence[tuple[Place, dict[str, Any]]]
    after: Place | None
    looked_at: int
    ran_out: bool = False


@dataclass(frozen=True)
class StoredCorpus:
    """The output folder of `mainmatter corpus`.

    Attributes:
        out: its path, any that fsspec knows.
    """

    out: str
    folder: Folder = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Folder(without_scheme(self.out)))

    @cached_property
    def parts(self) -> dict[int, str]:
        """The format of each part, by its number, in their order."""
        matches = (_PART.fullmatch(name) for name in self.folder.names())
        return dict(sorted((int(match[1]), match[2]) for match in matches if match))

    @property
    def is_there(self) -> bool:
        """Whether there is a corpus, be it finished or not."""
        return bool(self.parts) or self.folder.exists(SUMMARY) or self.folder.exists(PLAN)

    def check(self) -> None:
        """Make sure that there is a corpus, and that each of its parts is there once.

        Raises:
            InputError: there is none, or a part is there in two formats, so that nobody knows which one is meant.
        """
        if not self.is_there:
            raise InputError(
                f"{self.out}: holds no corpus; name the output folder of `mainmatter corpus`, which has parts like "
                f"{part_name(0, 'parquet')}"
            )
        numbers = Counter(int(match[1]) for match in map(_PART.fullmatch, self.folder.names()) if match)
        twice = [part_name(number, "*") for number, count in numbers.items() if count > 1]
        if twice:
            raise InputError(f"{self.out}: holds a part in two formats, {twice[0]}; move one of them elsewhere")

    def summary(self) -> Summary | None:
        """What came of the run; None if it is not finished, or its summary cannot be read."""
        try:
            return Summary.from_json(json.loads(self.folder.read(SUMMARY)))
        except _DAMAGED:
            return None

    def plan(self) -> Plan | None:
        """What the run was to do; None if that cannot be read any more."""
        try:
            return read_plan(self.folder)
        except _DAMAGED:
            return None

    def find(self, wish: ListingQuery) -> Listing:
        """Some rows; no more is read than it takes to find them.

        Raises:
            MissingExtra: Parquet needs pyarrow.
            InputError: the folder cannot be listed any more.
        """
        end = time.monotonic() + wish.seconds
        words = tuple(word.lower() for word in wish.words)
        found: list[tuple[Place, dict[str, Any]]] = []
        looked_at = 0
        start = wish.start or Place(0, 0)
        for place, row in self._rows(wish.kept, start, words):
            is_late = time.monotonic() > end and place != start  # so that going on leads on, however slow it is
            if is_late or (row is not _NO_ROW and len(found) == wish.most):
                return Listing(found, place, looked_at, ran_out=is_late and len(found) < wish.most)
            if row is _NO_ROW:
                continue
            looked_at += 1
            if row is not None and ("problem" in row or not wish.reason or row.get("reason") == wish.reason):
                found.append((place, plain(row, LONGEST_LISTED)))
        return Listing(found, None, looked_at)

    def get(self, place: Place, *, kept: bool = True) -> dict[str, Any]:
        """A whole row: all its columns, with its blocks if the corpus has them; or a whole reject.

        Raises:
            InputError: there is none, or it cannot be read.
            MissingExtra: Parquet needs pyarrow.
        """
        name = self._name(place.part, kept=kept)
        if name is None:
            raise InputError("there is no such page in the corpus")
        columns = (*COLUMNS, BLOCKS) if kept else REJECTED
        try:
            self._check_inside(name)
            for at, row in _rows_of(self.folder.path(name), place.at, columns, _BATCH, _LONGEST_LINE):
                if at == place.at and row is not None and row is not _NO_ROW and "problem" not in row:
                    return row
                break
        except (OSError, MainmatterError) as error:
            raise InputError(self._unreadable(name, error)) from error
        raise InputError(f"{name}: has no row at {place.at:,}, or one that is damaged")

    def _rows(self, kept: bool, start: Place, words: Sequence[str]) -> Iterator[tuple[Place, dict[str, Any] | None]]:
        """The rows from a place on; None for one without the words.

        Before those of each part, which may have none, and for blank lines comes `_NO_ROW`. A part that cannot be read
        is one row, which says so.
        """
        columns = LISTED if kept else REJECTED
        for number in self._numbers(kept):
            if number < start.part:
                continue
            last = start.at if number == start.part else 0
            yield Place(number, last), _NO_ROW
            name = self._name(number, kept=kept) or ""
            try:
                self._check_inside(name)
                path = self.folder.path(name)
                for at, row in _rows_of(path, last, columns, ROWS_IN_GROUP, _LONGEST_LINE_LISTED, words):
                    last = at
                    yield Place(number, at), row
            except MissingExtra:
                raise
            except (OSError, MainmatterError) as error:
                yield Place(number, last), {"problem": self._unreadable(name, error)}

    def _check_inside(self, name: str) -> None:
        """Make sure that a file lies where it seems to: a link may lead anywhere."""
        if self.folder.is_local:
            real = Path(self.folder.path(name)).resolve()
            if not real.is_relative_to(Path(self.folder.out).resolve()):
                raise InputError("it is a link that leads out of the corpus")

    def _unreadable(self, name: str, error: Exception) -> str:
        why = " ".join(str(error).split()).removeprefix(f"{self.folder.path(name)}: ").removeprefix("cannot be read: ")
        return f"{self.folder.name_here(name)}: cannot be read: {why}"

    def _numbers(self, kept: bool) -> Sequence[int]:
        if kept:
            return list(self.parts)
        matches = (_PART.fullmatch(name) for name in self.folder.names(REJECTS))
        return sorted(int(match[1]) for match in matches if match and match[2] == "jsonl")

    def _name(self, number: int, *, kept: bool) -> str | None:
        """The name of a part, or of its rejects; None if there is no such part."""
        if kept:
            return part_name(number, self.parts[number]) if number in self.parts else None
        name = rejects_name(number)
        return name if self.folder.exists(name) else None


def _rows_of(
    path: str, start: int, columns: Sequence[str], at_once: int, longest: int, words: Sequence[str] = ()
) -> _Rows:
    """The rows of a part or of its rejects from a place on; None for one without the words."""
    if path.endswith(".parquet"):
        return _rows_of_table(path, start, columns, at_once, words)
    return _lines(path, start, columns, longest, words)


def _rows_of_table(path: str, start: int, columns: Sequence[str], at_once: int, words: Sequence[str]) -> _Rows:
    """The rows from a number on. Of the groups before it only the counts are read."""
    arrow, parquet = import_arrow()
    with open_input(path) as file:
        try:
            table = parquet.ParquetFile(file, pre_buffer=False)
            known = [name for name in columns if name in table.schema_arrow.names]
            first = 0
            for number in range(table.metadata.num_row_groups):
                at, first = first, first + table.metadata.row_group(number).num_rows
                if first <= start:
                    continue
                for batch in table.iter_batches(at_once, [number], known, use_threads=False):
                    skipped = min(max(0, start - at), batch.num_rows)
                    yield from enumerate(_with_words(batch.slice(skipped), words), at + skipped)
                    at += batch.num_rows
        except (arrow.ArrowException, OSError, ValueError) as error:
            raise InputError(str(error)) from error


def _with_words(batch: Any, words: Sequence[str]) -> list[dict[str, Any] | None]:  # noqa: ANN401 - pyarrow has no types
    """Rows as they are; None for those without the words, which Arrow finds out much faster than Python would."""
    if not words:
        return cast("list[dict[str, Any] | None]", batch.to_pylist())
    from pyarrow import compute, string  # noqa: PLC0415 - an extra

    # Other programs' parts may have numbers for ids.
    columns = [batch.column(name).cast(string()) for name in _SEARCHED if name in batch.schema.names]
    texts = [compute.utf8_lower(column) for column in columns]
    # Kleene's "or" of true and nothing is true; what comes out as nothing, or as false, has not all words.
    found = (reduce(compute.or_kleene, (compute.match_substring(text, word) for text in texts)) for word in words)
    fits = reduce(compute.and_kleene, found).to_pylist() if texts else [False] * batch.num_rows
    return [batch.slice(i, 1).to_pylist()[0] if is_one else None for i, is_one in enumerate(fits)]


def _lines(path: str, start: int, columns: Sequence[str], longest: int, words: Sequence[str]) -> _Rows:
    """The lines from a byte on, which must be the first of one; a longer one than that is passed over, and told."""
    with open_input(path) as raw, io.BufferedReader(cast("io.RawIOBase", raw), _BUFFER) as file:
        try:
            file.seek(max(0, start - 1))
        except (OverflowError, ValueError):  # no file is that long
            return
        if start and file.read(1) != b"\n":
            return
        at = start
        while line := file.readline(longest):
            size = len(line)
            if size == longest and not line.endswith(b"\n"):
                del line  # it is large
                size += _skip_line(file)
                yield at, {"problem": f"the line at byte {at:,} has {size:,} bytes, too many to look at"}
            elif line.isspace():
                yield at, _NO_ROW
            else:
                row = _parse(line, at, columns)
                yield at, row if "problem" in row or has_words(row, words) else None
            at += size


def _skip_line(file: IO[bytes]) -> int:
    """Go to the end of a line; how many bytes that were."""
    size = 0
    while piece := file.readline(_BUFFER):
        size += len(piece)
        if piece.endswith(b"\n"):
            break
    return size


def _parse(line: bytes, at: int, columns: Sequence[str]) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"problem": f"the line at byte {at:,} is damaged: {error}"}
    if not isinstance(row, dict):
        return {"problem": f"the line at byte {at:,} is damaged: it is no JSON object"}
    return {name: row[name] for name in columns if name in row}


def plain(row: dict[str, Any], longest: int) -> dict[str, Any]:
    """A row whose values JSON can hold, none of more characters than that: other programs' parts may have anything."""
    return {name: _plain_value(value, longest) for name, value in row.items()}


def _plain_value(value: object, longest: int) -> str | int | float | None:
    if isinstance(value, int | float | None):
        return value
    try:
        text = str(value)
    except RecursionError:  # what JSON could just hold
        return "…"
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def has_words(row: dict[str, Any], words: Sequence[str]) -> bool:
    """Whether all words, in lower case, are in what can be searched of a row."""
    texts = [str(row.get(name) or "").lower() for name in _SEARCHED] if words else []
    return all(any(word in text for text in texts) for word in words)


_NOT_FOUND = "there is no such page any more"


@dataclass(frozen=True)
class UncleanedInput:
    """An input of `mainmatter corpus`, before that was called.

    Attributes:
        path: a file or folder.
        limits: how large a page may be.
    """

    path: str
    limits: Limits = DEFAULT_LIMITS

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        """What it consists of.

        Raises:
            InputError: it does not exist, or is nothing that can be read.
            MissingExtra: it needs a package that is not installed.
        """
        return tuple(one for shard in find_shards([self.path]) for one in shard)

    def check(self) -> None:
        """Make sure that there are pages, and that none of them would have to be fetched.

        Raises:
            InputError: there are none.
            MissingExtra: reading them needs a package that is not installed.
        """
        if storage.is_remote(self.path) or any(one.kind == "urls" for one in self.slices):
            raise InputError(f"{self.path}: its pages would have to be fetched; name files of this machine")

    def find(self, wish: ListingQuery) -> Listing:
        """Some pages, or what was found in place of one; see `StoredCorpus.find`.

        Raises:
            InputError: the input is gone.
            MissingExtra: reading it needs a package that is not installed.
        """
        end = time.monotonic() + wish.seconds
        words = tuple(word.lower() for word in wish.words)
        start = wish.start or Place(0, 0)
        found: list[tuple[Place, dict[str, Any]]] = []
        looked_at = 0
        for place, read in self._reads(start):
            is_late = time.monotonic() > end and place != start
            is_wanted = not isinstance(read, Skipped) and isinstance(read, Record) == wish.kept
            if is_late or (is_wanted and len(found) == wish.most):
                return Listing(found, place, looked_at, ran_out=is_late and len(found) < wish.most)
            looked_at += not isinstance(read, Skipped)
            if is_wanted and has_words(row := _row(read), words):
                found.append((place, row))
        return Listing(found, None, looked_at)

    def get(self, place: Place, *, kept: bool = True) -> dict[str, Any]:
        """What is known of a page, or of what is none.

        Raises:
            InputError: there is none.
            MissingExtra: reading it needs a package that is not installed.
        """
        read = self._read(place)
        if isinstance(read, Record) != kept:
            raise InputError(_NOT_FOUND)
        return _row(read)

    def page(self, place: Place) -> Page:
        """A page.

        Raises:
            InputError: there is none; tells why.
            MissingExtra: reading it needs a package that is not installed.
        """
        read = self._read(place)
        if isinstance(read, Record):
            return read.page
        raise InputError(f"it cannot be read as a page: {read.reason}: {read.detail}")

    def _read(self, place: Place) -> Record | Reject:
        for at, read in self._reads(place):
            if at == place and not isinstance(read, Skipped):
                return read
            break
        raise InputError(_NOT_FOUND)

    def _reads(self, start: Place) -> Iterator[tuple[Place, Read]]:
        for number, one in enumerate(self.slices):
            if number < start.part:
                continue
            at = start.at if number == start.part else one.start
            pieces = (_file_of(one, i) for i in range(max(at, one.start), one.end)) if one.kind == "files" else (one,)
            for piece in pieces:
                reads = read_slice(piece, self.limits, at) if self._is_inside(piece) else (_leads_out(piece, at),)
                for read in reads:
                    yield Place(number, read.position), read

    def _is_inside(self, one: Slice) -> bool:
        """Whether a file lies where it seems to: in a folder, a link may lead anywhere."""
        path = Path(*map(storage.without_scheme, filter(None, (one.path, *(one.files if one.kind == "files" else ())))))
        return path.resolve().is_relative_to(Path(storage.without_scheme(self.path)).resolve())


def _file_of(one: Slice, number: int) -> Slice:
    return replace(one, start=number, end=number + 1, files=(one.files[number - one.start],))


def _leads_out(one: Slice, at: int) -> Reject:
    position = one.start if one.kind == "files" else at
    return Reject("unreadable", "it is a link that leads out of the folder", one.path, position, "/".join(one.files))


def _row(read: Read) -> dict[str, Any]:
    if isinstance(read, Record):
        facts = {"id": read.page.id, "url": read.page.url, "time": read.time, "size": len(read.page.html)}
    elif isinstance(read, Reject):
        facts = {"id": read.id, "url": read.url, "reason": read.reason, "detail": read.detail}
    else:
        facts = {}
    return facts | {"source": read.source, "position": read.position}
