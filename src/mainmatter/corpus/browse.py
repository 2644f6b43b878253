"""A collection to look at, a few pages at a time, however many it has: a corpus, or the input of one.

Of a corpus nothing is read but what is shown: the names of the parts, then from one of them the rows from a place on,
without their text. A place is a part and where in it a row begins: the number of a row in Parquet, a byte in JSONL.
Pages that nobody cleaned yet (an archive, JSONL, Parquet, a folder) are read from a place on until enough are found;
there a place is a slice of the input and a position in that.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import time
from collections import Counter
from contextlib import contextmanager
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
from mainmatter.corpus.summary import UNKNOWN_LANGUAGE, Summary
from mainmatter.corpus.writers import BLOCKS, COLUMNS, ROWS_IN_GROUP, import_arrow
from mainmatter.errors import InputError, MainmatterError, MissingExtra
from mainmatter.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mainmatter.corpus.plan import Plan

    _Rows = Iterator[tuple[int, dict[str, Any] | None]]

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.records import Page


# What a list shows of a kept page, and chooses by.
LISTED = ("id", "url", "title", "language", "page_type", "confidence", "words")
REJECTED = tuple(one.name for one in fields(Reject))  # and of a rejected one
LONGEST_LISTED = 500  # characters of a value that a list shows
_SEARCHED = ("title", "url", "id", "detail")
_NOT_FOUND = "the page no longer exists"
_NO_ROW: dict[str, Any] = {}  # in the place of a row, where there is none: a part begins, or a line is blank
_PART = re.compile(r"part-(\d{5,9})\.(parquet|jsonl)")
_BATCH = 20  # whole rows that are read at once to get one of them
_BUFFER = 1_000_000
_LONGEST_LINE = 400_000_000  # bytes: a page of the largest size, with its blocks
LONGEST_LINE_LISTED = 50_000_000  # of one among many, whose text is of no use
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, MainmatterError)


class Place(NamedTuple):
    """Where a row begins: the number of its part, and the row's number in Parquet or its first byte in JSONL."""

    part: int
    at: int


Bounds = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class ListingQuery:
    """Which rows to list.

    Attributes:
        kept: those of the corpus; else those that were rejected.
        reason: of the rejected, only those for this reason; "" for all.
        words: only rows with all these words in the title, the address or the id, or in what a reject says.
        language: of the kept, only those in this language, by ISO 639; "und" for what cannot be told; "" for all.
        page_type: of the kept, only those of this type, such as "article"; "" for all.
        confidence: of the kept, only those with at least, and at most, this confidence; None is no bound.
        lengths: of the kept, only those with at least, and at most, so many words; None is no bound.
        start: begin there; None is the beginning.
        most: how many at most.
        seconds: stop looking after that long.
    """

    kept: bool = True
    reason: str = ""
    words: tuple[str, ...] = ()
    language: str = ""
    page_type: str = ""
    confidence: Bounds = (None, None)
    lengths: Bounds = (None, None)
    start: Place | None = None
    most: int = 50
    seconds: float = 3.0

    @property
    def texts(self) -> dict[str, str]:
        """The columns that must hold a certain text, and which."""
        return {name: text for name, text in (("language", self.language), ("page_type", self.page_type)) if text}

    @property
    def bounds(self) -> dict[str, Bounds]:
        """The columns whose numbers are bounded."""
        both = ("confidence", self.confidence), ("words", self.lengths)
        return {name: bounds for name, bounds in both if bounds != (None, None)}

    @property
    def takes_all(self) -> bool:
        """Whether every row of its kind fits."""
        return not (self.reason or self.words or self.texts or self.bounds)

    def fits(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is one of those that are wanted, but for the reason of a reject."""
        for name, text in self.texts.items():
            if (row.get(name) or UNKNOWN_LANGUAGE) != text:
                return False
        for name, (least, most) in self.bounds.items():
            value = row.get(name)
            if not isinstance(value, int | float):
                return False
            if (least is not None and value < least) or (most is not None and value > most):
                return False
        return has_words(row, self.words)


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
    def stamp(self) -> str:
        """Changes when a part is written, comes, or goes; of parts on other machines only the names count."""
        names = [part_name(number, format_) for number, format_ in self.parts.items()]
        facts = (Path(self.folder.path(name)).lstat() for name in names if self.folder.is_local)
        told = [*names, *(f"{one.st_size} {one.st_mtime_ns}" for one in facts)]
        return hashlib.sha256("\n".join(told).encode()).hexdigest()

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
                f"{self.out}: not a corpus; name the output folder of `mainmatter corpus`, with parts such as "
                f"{part_name(0, 'parquet')}"
            )
        numbers = Counter(int(match[1]) for match in map(_PART.fullmatch, self.folder.names()) if match)
        twice = [part_name(number, "*") for number, count in numbers.items() if count > 1]
        if twice:
            raise InputError(f"{self.out}: has the same part in two formats, {twice[0]}; move one of them elsewhere")

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
        found: list[tuple[Place, dict[str, Any]]] = []
        looked_at = 0
        start = wish.start or Place(0, 0)
        for place, row in self._rows(wish, start):
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
            raise InputError("the corpus has no such page")
        columns = (*COLUMNS, BLOCKS) if kept else REJECTED
        try:
            for at, row in _rows_of(self.inside(name), place.at, columns, _BATCH, _LONGEST_LINE):
                if at == place.at and row is not None and row is not _NO_ROW and "problem" not in row:
                    return row
                break
        except (OSError, MainmatterError) as error:
            raise InputError(self.unreadable(name, error)) from error
        raise InputError(f"{name}: the row at {place.at:,} is missing or damaged")

    def get_listed(self, places: Sequence[Place]) -> list[dict[str, Any]]:
        """What a list shows of the kept pages at some places, in their order; of one that is gone, the "problem".

        Raises:
            MissingExtra: Parquet needs pyarrow.
        """
        found: dict[Place, dict[str, Any]] = {}
        for part in dict.fromkeys(place.part for place in places):
            name = self._name(part, kept=True)
            wanted = sorted(place.at for place in places if place.part == part)
            try:
                if name is not None:
                    rows = _rows_at(self.inside(name), wanted)
                    found |= {Place(part, at): plain(row, LONGEST_LISTED) for at, row in rows}
            except MissingExtra:
                raise
            except (OSError, MainmatterError) as error:
                found |= {Place(part, at): {"problem": self.unreadable(name or "", error)} for at in wanted}
        return [found.get(place, {"problem": _NOT_FOUND}) for place in places]

    def places_of(self, rows: Sequence[int], seconds: float = 3.0) -> dict[int, Place]:
        """Where kept pages lie that are known by their numbers in the whole corpus, as an index has them.

        Those that the corpus has not, and those that are not reached in time, are left out.

        Raises:
            InputError: a part before them cannot be read.
            MissingExtra: Parquet needs pyarrow.
        """
        end = time.monotonic() + seconds
        found: dict[int, Place] = {}
        wanted, first = set(rows), 0
        # As an index goes through them.
        for name, number in sorted((part_name(number, format_), number) for number, format_ in self.parts.items()):
            if len(found) == len(wanted) or time.monotonic() > end:
                break
            if name.endswith(".parquet"):
                with open_table(self.inside(name)) as table:
                    count = table.metadata.num_rows
                found |= {row: Place(number, row - first) for row in wanted if first <= row < first + count}
                first += count
                continue
            with open_input(self.inside(name)) as raw, io.BufferedReader(cast("io.RawIOBase", raw), _BUFFER) as file:
                at = 0
                for line in file:
                    if first in wanted and not line.isspace():
                        found[first] = Place(number, at)
                    first += not line.isspace()
                    at += len(line)
                    if not first % 1000 and time.monotonic() > end:
                        return found
        return found

    def _rows(self, wish: ListingQuery, start: Place) -> Iterator[tuple[Place, dict[str, Any] | None]]:
        """The rows from a place on; None for one that does not fit.

        Before those of each part, which may have none, and for blank lines comes `_NO_ROW`. A part that cannot be read
        is one row, which says so.
        """
        columns = LISTED if wish.kept else REJECTED
        for number in self._numbers(wish.kept):
            if number < start.part:
                continue
            last = start.at if number == start.part else 0
            yield Place(number, last), _NO_ROW
            name = self._name(number, kept=wish.kept) or ""
            try:
                for at, row in _rows_of(self.inside(name), last, columns, ROWS_IN_GROUP, LONGEST_LINE_LISTED, wish):
                    last = at
                    yield Place(number, at), row
            except MissingExtra:
                raise
            except (OSError, MainmatterError) as error:
                yield Place(number, last), {"problem": self.unreadable(name, error)}

    def inside(self, name: str) -> str:
        """The path of a file, which lies where it seems to: a link may lead anywhere.

        Raises:
            InputError: it is a link that leads out of the corpus.
        """
        path = self.folder.path(name)
        if self.folder.is_local and not Path(path).resolve().is_relative_to(Path(self.folder.out).resolve()):
            raise InputError("it is a link that leads out of the corpus")
        return path

    def unreadable(self, name: str, error: Exception) -> str:
        """What is wrong with a file, in words that name it as it is called in the corpus."""
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
    path: str, start: int, columns: Sequence[str], at_once: int, longest: int, wish: ListingQuery | None = None
) -> _Rows:
    """The rows of a part or of its rejects from a place on; None for one that does not fit."""
    wish = ListingQuery() if wish is None else replace(wish, words=tuple(word.lower() for word in wish.words))
    if path.endswith(".parquet"):
        return _rows_of_table(path, start, columns, at_once, wish)
    return lines(path, start, columns, longest, wish)


def _rows_of_table(path: str, start: int, columns: Sequence[str], at_once: int, wish: ListingQuery) -> _Rows:
    """The rows from a number on. Of groups before it, and of those in which none fits, only the facts are read."""
    with open_table(path) as table:
        known = [name for name in columns if name in table.schema_arrow.names]
        first = 0
        for number in range(table.metadata.num_row_groups):
            group = table.metadata.row_group(number)
            at, first = first, first + group.num_rows
            if first <= start:
                continue
            if not may_fit(group, wish):
                yield from ((row, None) for row in range(max(at, start), first))
                continue
            for batch in table.iter_batches(at_once, [number], known, use_threads=False):
                skipped = min(max(0, start - at), batch.num_rows)
                yield from enumerate(_fitting_rows(batch.slice(skipped), wish), at + skipped)
                at += batch.num_rows


def _rows_at(path: str, wanted: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """What a list shows of the rows at some places of a part, which are in order."""
    if not path.endswith(".parquet"):
        for start in wanted:
            at, row = next(lines(path, start, LISTED, LONGEST_LINE_LISTED), (-1, None))
            if at == start and row:
                yield at, row
        return
    with open_table(path) as table:
        known = [name for name in LISTED if name in table.schema_arrow.names]
        first = 0
        for number in range(table.metadata.num_row_groups):
            at, first = first, first + table.metadata.row_group(number).num_rows
            here = [place for place in wanted if at <= place < first]
            for batch in table.iter_batches(ROWS_IN_GROUP, [number], known, use_threads=False) if here else ():
                for place in here:
                    if at <= place < at + batch.num_rows:
                        yield place, batch.slice(place - at, 1).to_pylist()[0]
                at += batch.num_rows


@contextmanager
def open_table(path: str) -> Iterator[Any]:
    """A Parquet file, open.

    Raises:
        InputError: it, or what is read of it, is damaged.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = import_arrow()
    with open_input(path) as file:
        try:
            yield parquet.ParquetFile(file, pre_buffer=False)
        except (arrow.ArrowException, OSError, ValueError) as error:
            raise InputError(str(error)) from error


def statistics_of(group: Any, name: str) -> Any:  # pyarrow has no types
    """What a group of rows says of one of its columns; None if it says nothing, or has no such column."""
    for i in range(group.num_columns):
        column = group.column(i)
        if column.path_in_schema == name:
            return column.statistics if column.is_stats_set else None
    return None


def may_fit(group: Any, wish: ListingQuery) -> bool:  # pyarrow has no types
    """Whether any row of a group may be one of those that are wanted, as far as its statistics tell."""
    wanted = wish.bounds | {name: (text, text) for name, text in wish.texts.items() if text != UNKNOWN_LANGUAGE}
    for name, (least, most) in wanted.items():
        facts = statistics_of(group, name)
        if facts is None or not facts.has_min_max:
            continue
        try:
            if (most is not None and facts.min > most) or (least is not None and facts.max < least):
                return False
        except TypeError:  # another program's column, with values of another kind
            continue
    return True


def which_fit(batch: Any, wish: ListingQuery) -> Any:  # pyarrow has no types
    """For each row of a batch or table whether it fits: an array of booleans; Arrow is much faster than Python.

    The words are in lower case. Where there is nothing, a row does not fit, or only as what cannot be told.
    """
    import pyarrow  # an extra
    from pyarrow import compute

    names = batch.schema.names
    tests = []
    for name, text in wish.texts.items():
        column = batch.column(name).cast(pyarrow.string()) if name in names else pyarrow.nulls(batch.num_rows)
        tests.append(compute.equal(compute.fill_null(column.cast(pyarrow.string()), UNKNOWN_LANGUAGE), text))
    for name, (least, most) in wish.bounds.items():
        column = batch.column(name) if name in names else pyarrow.nulls(batch.num_rows, pyarrow.float64())
        tests += [compute.greater_equal(column, least)] if least is not None else []
        tests += [compute.less_equal(column, most)] if most is not None else []
    if wish.words:
        # Other programs' parts may have numbers for ids.
        columns = [batch.column(name).cast(pyarrow.string()) for name in _SEARCHED if name in names]
        texts = [compute.utf8_lower(column) for column in columns] or [pyarrow.nulls(batch.num_rows, pyarrow.string())]
        # Kleene's "or" of true and nothing is true; what comes out as nothing, or as false, has not all words.
        tests += [
            reduce(compute.or_kleene, (compute.match_substring(text, word) for text in texts)) for word in wish.words
        ]
    return compute.fill_null(reduce(compute.and_kleene, tests), False)


def _fitting_rows(batch: Any, wish: ListingQuery) -> list[dict[str, Any] | None]:  # pyarrow has no types
    """Rows as they are; None for those that do not fit."""
    if not (wish.words or wish.texts or wish.bounds):
        return cast("list[dict[str, Any] | None]", batch.to_pylist())
    fits = which_fit(batch, wish).to_pylist()
    return [batch.slice(i, 1).to_pylist()[0] if is_one else None for i, is_one in enumerate(fits)]


def lines(path: str, start: int, columns: Sequence[str], longest: int, wish: ListingQuery | None = None) -> _Rows:
    """The lines from a byte on, which must be the first of one; a longer one than that is passed over, and told."""
    wish = wish or ListingQuery()
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
                yield at, {"problem": f"the line at byte {at:,} has {size:,} bytes, too many to show"}
            elif line.isspace():
                yield at, _NO_ROW
            else:
                row = _parse(line, at, columns)
                yield at, row if "problem" in row or wish.fits(row) else None
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
        return {"problem": f"the line at byte {at:,} is damaged: not a JSON object"}
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


def has_words(row: Mapping[str, Any], words: Sequence[str]) -> bool:
    """Whether all words, in lower case, are in what can be searched of a row."""
    texts = [str(row.get(name) or "").lower() for name in _SEARCHED] if words else []
    return all(any(word in text for text in texts) for word in words)


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
        """What it consists of. Links are in it: those that lead out of the folder are refused when they are read.

        Raises:
            InputError: it does not exist, or is nothing that can be read.
            MissingExtra: it needs a package that is not installed.
        """
        return tuple(one for shard in find_shards([self.path], follow_links=True) for one in shard)

    def check(self) -> None:
        """Make sure that there are pages, and that none of them would have to be fetched.

        Raises:
            InputError: there are none.
            MissingExtra: reading them needs a package that is not installed.
        """
        is_remote = storage.is_remote(self.path)  # then nobody asks its storage
        if is_remote or any(one.kind == "urls" or storage.is_remote(one.path) for one in self.slices):
            raise InputError(f"{self.path}: its pages would have to be fetched; name local files")

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
