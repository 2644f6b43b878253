"""JSONL files, packed or not: one page a line. Arrays of pages, and objects over several lines, are read too."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, cast

from mainmatter.corpus.readers.fields import FieldNames, find_names, names_of, to_read
from mainmatter.corpus.readers.streams import GZIP_MAGIC, ZSTD_MAGIC, Unpacked, read_fully
from mainmatter.corpus.records import Reject
from mainmatter.corpus.storage import open_input
from mainmatter.limits import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits


_BUFFER = 1_000_000
_ROOM = 1_000_000  # for a line's other fields
_BOM = b"\xef\xbb\xbf"
_ARRAY = re.compile(rb"\[\s*\{")
_LOOKED_AT = 65_536  # bytes, to see whether the second line goes on with the first
_LONG_LINE = 1_000_000  # bytes more, if the first one does not end there


def is_packed(file: BinaryIO) -> bool:
    """Whether a file is packed as one piece, so that it cannot be read in ranges."""
    file.seek(0)
    return file.read(4).startswith((GZIP_MAGIC, ZSTD_MAGIC))


def can_be_split(file: BinaryIO) -> bool:
    """Whether a file can be read in ranges: it is not packed, and has an object a line."""
    if is_packed(file):
        return False
    return _has_lines(file)


def _has_lines(file: BinaryIO) -> bool:
    """Whether a file has an object a line: it is no array, and the second line does not go on with the first.

    A first line that is damaged elsewhere than at its end is no reason to take the others for parts of it.
    """
    file.seek(0)
    head = read_fully(file, _LOOKED_AT).removeprefix(_BOM).lstrip()
    if _ARRAY.match(head):
        return False
    if b"\n" not in head:
        head += read_fully(file, _LONG_LINE)
    first, _, rest = head.partition(b"\n")
    if not first.startswith(b"{") or not rest.strip():
        return True
    return not _goes_on(first + (b"{" if rest.lstrip().startswith(b"{") else b""))


def _goes_on(line: bytes) -> bool:
    """Whether nothing is wrong with a line but that it ends."""
    try:
        text = line.decode().rstrip()
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except (ValueError, RecursionError):
        pass
    return False


def read_jsonl(one: Slice, limits: Limits, start: int) -> Iterator[Read]:
    """The lines that begin at or after `start` in a range of a file.

    Of a file that is an array, or has objects over several lines, the objects. Positions are offsets in the file; in a
    packed one, offsets in what it unpacks to.
    """
    with open_input(one.path) as raw:
        unpacked = Unpacked(raw) if is_packed(raw) else None
        file = io.BufferedReader(cast("io.RawIOBase", unpacked or raw), _BUFFER)
        end = one.end if unpacked is None else sys.maxsize  # of what it unpacks to, nobody knows the length
        is_lines = one.start > 0 or _has_lines(cast("BinaryIO", file))
        last = start - 1
        for place, read in (_read_lines if is_lines else _read_objects)(file, one, limits, start, end):
            if read is not None:
                yield read
            last = place
        if unpacked is not None and unpacked.damage and unpacked.tell() >= start:
            detail = f"the rest of the file cannot be unpacked: {unpacked.damage}"
            yield Reject("damaged", detail, one.path, max(last + 1, unpacked.tell()))


def _read_lines(
    file: io.BufferedReader[Any], one: Slice, limits: Limits, start: int, end: int
) -> Iterator[tuple[int, Read | None]]:
    """Lines with their places; None for an empty one."""
    wanted = names_of(one)
    place = _line_at(file, start, end)
    while place < end:
        line = file.readline(_most(limits))
        if not line:
            break
        is_long = not line.endswith(b"\n") and _skip_line(file, end)
        if is_long:
            yield place, _too_long(f"the line at byte {place:,}", one.path, place, limits)
        else:
            yield place, _read_line(line, f"the line at byte {place:,}", one.path, place, limits, wanted)
        place = file.tell()


def _read_objects(
    file: io.BufferedReader[Any], one: Slice, limits: Limits, start: int, end: int
) -> Iterator[tuple[int, Read | None]]:
    """Objects with their places, and what stands between them."""
    wanted = names_of(one)
    file.seek(0)
    for place, data, kind in find_objects(cast("BinaryIO", file), _most(limits)):
        if place >= end:
            return
        if place < start:
            continue
        what = f"the object at byte {place:,}{', and what follows it,' if kind == 'cut' else ''}"
        if kind in ("other", "others"):
            more = ", nor is anything up to the next one" if kind == "others" else ""
            yield place, Reject("damaged", f"{what} is not a JSON object{more}", one.path, place)
        elif data is None:
            yield place, _too_long(what, one.path, place, limits)
        else:
            yield place, _read_line(data, what, one.path, place, limits, wanted)


def _most(limits: Limits) -> int:
    """How long a line or an object may be: as JSON, characters may take more room."""
    return 2 * limits.size + _ROOM


def _line_at(file: io.BufferedReader[Any], start: int, end: int) -> int:
    """Go to the first line that begins at or after a place; to anywhere behind the end if that has none before."""
    file.seek(max(0, start - 1))
    if start == 0:
        return 0
    _skip_line(file, end)
    return file.tell()


def _skip_line(file: io.BufferedReader[Any], end: int) -> bool:
    """Go to the end of a line, or behind the range's end; whether there was anything left of it."""
    is_anything = False
    while part := file.readline(_BUFFER):
        is_anything = True
        if part.endswith(b"\n") or file.tell() >= end:  # else each range of a huge line would read all of it
            break
    return is_anything


def _too_long(what: str, source: str, position: int, limits: Limits) -> Reject:
    detail = f"{what} is too long for a page of {format_size(limits.size)}"
    return Reject("too-large", f"{detail}; raise the limit with --max-size", source, position)


def _read_line(line: bytes, what: str, source: str, position: int, limits: Limits, wanted: FieldNames) -> Read | None:
    if not line.strip():
        return None
    try:
        row = json.loads(line.decode("utf-8-sig" if line.startswith(_BOM) else "utf-8"))
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Reject("damaged", f"{what} is not JSON: {why}", source, position)
    if not isinstance(row, dict):
        return Reject("damaged", f"{what} is not a JSON object", source, position)
    return to_read(row, find_names(row, wanted), source, position, limits, wanted)


_CHUNK = 1_000_000
_BETWEEN = re.compile(rb"[\s,\[\]]++")
_OTHER = re.compile(rb'[^\s,\[\]{"]++')
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
# Between objects, a quote that is there by mistake takes the rest of its line at most.
_IN_OTHER_STRING = re.compile(rb'(?:[^"\\\n]++|\\.)*+', re.DOTALL)
_IN_OBJECT = re.compile(rb'[^"{}\[\]]*+')


class FoundObject(NamedTuple):
    """An object, or what else stands there.

    Attributes:
        place: where it begins.
        data: the object; None if it is too long, or none.
        kind: "object"; "cut" for one that goes on to the end of the file; "other" for something else, such as null, and
            "others" for several of those up to the next object.
    """

    place: int
    data: bytes | None
    kind: Literal["object", "cut", "other", "others"] = "object"


def find_objects(file: BinaryIO, most: int) -> Iterator[FoundObject]:
    """The outermost objects of a file, each with the place where it begins.

    They are found by their brackets alone, which those in strings do not count among; what is no JSON inside of them is
    for the caller to tell. What else stands between two of them, such as null, is one piece. The last one may be cut.

    Args:
        file: the file, to be read from its beginning.
        most: how many bytes an object may have; one with more is None.
    """
    scan = _Scan(most)
    chunk = file.read(_CHUNK)
    scan.at = len(_BOM) if chunk.startswith(_BOM) else 0
    while chunk:
        yield from scan.objects_in(chunk)
        chunk = file.read(_CHUNK)
    yield from scan.others()
    if scan.depth:
        yield FoundObject(scan.begin, scan.collected(), "cut")


@dataclass(slots=True)
class _Scan:
    """Where in a file the scan is."""

    most: int
    base: int = 0  # the place of the chunk in the file
    at: int = 0  # the place in the chunk
    depth: int = 0  # of brackets; 0 is between objects
    in_string: bool = False
    begin: int = 0  # of the object
    size: int = 0  # of what was read of it
    parts: list[bytes] = field(default_factory=list)
    other: int | None = None  # where that began which is no object
    is_apart: bool = False  # something stood between the last of that and here
    are_others: bool = False

    def objects_in(self, chunk: bytes) -> Iterator[FoundObject]:
        """The objects that end in a chunk."""
        kept = 0  # what stands before that is collected, or not wanted
        while self.at < len(chunk):
            if self.in_string:
                self._string(chunk)
            elif self.depth:
                self._go_on(_IN_OBJECT, chunk)
                self._bracket(chunk[self.at : self.at + 1])
                if self.depth == 0:
                    self._collect(chunk[kept : self.at])
                    yield FoundObject(self.begin, self.collected())
            elif found := _BETWEEN.match(chunk, self.at):
                self.at, self.is_apart = found.end(), True
            elif chunk[self.at : self.at + 1] == b"{":
                yield from self.others()
                kept = self.at
                self.begin, self.depth, self.at = self.base + kept, 1, kept + 1
            else:
                self._other(chunk)
        if self.depth:
            self._collect(chunk[kept:])
        self.base += len(chunk)
        self.at -= len(chunk)

    def others(self) -> Iterator[FoundObject]:
        """What else stood there since the last object, as one piece; nothing if there is none."""
        if self.other is not None:
            yield FoundObject(self.other, None, "others" if self.are_others else "other")
        self.other, self.are_others = None, False

    def _other(self, chunk: bytes) -> None:
        """Take what is no object."""
        if self.other is None:
            self.other = self.base + self.at
        else:
            self.are_others |= self.is_apart
        self.is_apart = False
        self.in_string = chunk[self.at : self.at + 1] == b'"'
        if self.in_string:
            self.at += 1
        else:
            self._go_on(_OTHER, chunk)

    def _string(self, chunk: bytes) -> None:
        """Go on in a string, to its end if that is here."""
        self._go_on(_IN_STRING if self.depth else _IN_OTHER_STRING, chunk)
        self.in_string = chunk[self.at : self.at + 1] not in (b'"', b"\n")
        self.at += 1 if not self.in_string else 2 * (self.at < len(chunk))  # a backslash, and what comes next

    def _go_on(self, pattern: re.Pattern[bytes], chunk: bytes) -> None:
        found = pattern.match(chunk, self.at)
        self.at = found.end() if found else self.at

    def _bracket(self, sign: bytes) -> None:
        """Take the quote or bracket that comes next; none at the end of a chunk."""
        self.in_string = sign == b'"'
        self.depth += (sign in b"{[") - (sign in b"}]") if sign else 0
        self.at += len(sign)

    def _collect(self, data: bytes) -> None:
        self.size += len(data)
        if self.size <= self.most:
            self.parts.append(data)
        else:
            self.parts.clear()

    def collected(self) -> bytes | None:
        """What was read of the object; None if that is too long."""
        data = b"".join(self.parts) if self.size <= self.most else None
        self.parts, self.size = [], 0
        return data
