"""The objects of a JSON array, or objects that follow each other, one at a time, however long the file is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 1_000_000
_BETWEEN = re.compile(rb"[\s,\[\]]++")
_OTHER = re.compile(rb'[^\s,\[\]{"]++')
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
# Between objects, a quote that is there by mistake takes the rest of its line at most.
_IN_OTHER_STRING = re.compile(rb'(?:[^"\\\n]++|\\.)*+', re.DOTALL)
_IN_OBJECT = re.compile(rb'[^"{}\[\]]*+')
_BOM = b"\xef\xbb\xbf"


class Piece(NamedTuple):
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


def find_objects(file: BinaryIO, most: int) -> Iterator[Piece]:
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
        yield Piece(scan.begin, scan.collected(), "cut")


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

    def objects_in(self, chunk: bytes) -> Iterator[Piece]:
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
                    yield Piece(self.begin, self.collected())
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

    def others(self) -> Iterator[Piece]:
        """What else stood there since the last object, as one piece; nothing if there is none."""
        if self.other is not None:
            yield Piece(self.other, None, "others" if self.are_others else "other")
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
