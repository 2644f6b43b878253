"""The objects of a JSON array, or objects that follow each other, one at a time, however long the file is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 1_000_000
_BETWEEN = re.compile(rb"[\s,\[\]]*+")
_JUNK = re.compile(rb"[^\s,\[\]{]++")
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_IN_OBJECT = re.compile(rb'[^"{}\[\]]*+')
_BOM = b"\xef\xbb\xbf"


def find_objects(file: BinaryIO, most: int) -> Iterator[tuple[int, bytes | None]]:
    """The outermost objects of a file, each with the place where it begins.

    They are found by their brackets alone, which those in strings do not count among; what is no JSON inside of them is
    for the caller to tell. What else stands between them, such as null, is given likewise. The last one may be cut.

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
    if scan.depth:
        yield scan.begin, scan.collected()


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

    def objects_in(self, chunk: bytes) -> Iterator[tuple[int, bytes | None]]:
        """The objects that end in a chunk."""
        kept = 0  # what stands before that is collected, or not wanted
        while self.at < len(chunk):
            if self.depth == 0:
                self._go_on(_BETWEEN, chunk)
                kept = self.at
                self.begin = self.base + kept
                if chunk[kept : kept + 1] == b"{":
                    self.depth, self.at = 1, kept + 1
                elif junk := _JUNK.match(chunk, kept):
                    self.at = junk.end()
                    yield self.begin, junk.group()
            elif self.in_string:
                self._go_on(_IN_STRING, chunk)
                self.in_string = chunk[self.at : self.at + 1] != b'"'
                self.at += 1 if not self.in_string else 2 * (self.at < len(chunk))  # a backslash, and what comes next
            else:
                self._go_on(_IN_OBJECT, chunk)
                self._bracket(chunk[self.at : self.at + 1])
                if self.depth == 0:
                    self._collect(chunk[kept : self.at])
                    yield self.begin, self.collected()
        if self.depth:
            self._collect(chunk[kept:])
        self.base += len(chunk)
        self.at -= len(chunk)

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
