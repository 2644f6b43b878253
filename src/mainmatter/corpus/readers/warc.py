"""WARC and WET archives, packed or not, whole or damaged, to records.

FastWARC reads ahead fast. What it says is believed once the next record is in sight: where something is wrong, the
last member is read again on its own, with care, damage is told in one reject, and reading goes on at the next good
record. So each record is given exactly once, in whatever ranges an archive is read (see containers.py).

One thing does depend on the ranges: in an archive that is not packed, some bytes of rubbish right before a record are
told in a reject by whoever reads with care, and FastWARC passes over them.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from mainmatter.corpus.readers.containers import (
    HEAD,
    Container,
    Member,
    Plain,
    container_of,
    is_packed_whole,
    record_length,
    why_no_length,
)
from mainmatter.corpus.readers.http_body import parse_headers
from mainmatter.corpus.readers.judge import Found, judge
from mainmatter.corpus.readers.streams import Unpacked
from mainmatter.corpus.records import Reject
from mainmatter.corpus.storage import open_input

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits

# Of several records in one member the first has the member's position, the second that position + 1, and so on.
# To go on at one of them, reading begins that much earlier.
_LOOK_BACK = 64


def read_warc(one: Slice, limits: Limits, start: int) -> Iterator[Read]:
    """The records that begin at or after `start` in a range of an archive.

    Positions are offsets in the file; in an archive that is packed as one piece, offsets in what it unpacks to.
    """
    with open_input(one.path) as file:
        container = container_of(file, one.path)
        if one.start == 0 and is_packed_whole(container):
            yield from _read_whole(one.path, Unpacked(file), limits, start)
        else:
            yield from _Range(one.path, container, limits, one.start, one.end).read(start)


def _read_whole(source: str, file: Unpacked, limits: Limits, start: int) -> Iterator[Read]:
    """The records of an archive that is packed as one piece, up to where it can be unpacked."""
    records = _Range(source, Plain(cast("BinaryIO", file)), limits, 0, sys.maxsize)
    yield from records.read(start, look_back=start)  # what lies before must be unpacked anyway
    if file.damage and not (isinstance(records.latest, Reject) and records.latest.reason == "damaged"):
        end = file.seek(sys.maxsize)
        detail = f"the archive is packed as one piece, and the rest of it cannot be unpacked: {file.damage}"
        if end >= start:
            yield Reject("damaged", detail, source, end)


class _Range:
    """A range of an archive that is being read."""

    def __init__(self, source: str, container: Container, limits: Limits, begin: int, end: int) -> None:
        self.source = source
        self.container = container
        self.limits = limits
        self.begin = begin
        self.end = end
        self.last = -1  # the position of what was given last
        self.latest: Read | None = None  # what was read last, given or not
        self.most = limits.size + HEAD  # of a record's content is read

    def read(self, start: int, look_back: int = _LOOK_BACK) -> Iterator[Read]:
        begin = max(self.begin, start - look_back)
        self.last = max(self.begin, start) - 1
        if begin == 0 and not self.container.begins_at(self.container.first):
            yield from self._new(self._no_record(0))
        place = self.container.find(begin, self.end)
        is_damaged = False
        while place is not None:
            if not is_damaged:  # FastWARC looks for the end of a damaged record's headers as far as the file goes
                place = yield from self._read_fast(place)
            if place is not None:
                place = yield from self._read_with_care(place)
                is_damaged = isinstance(self.latest, Reject) and self.latest.reason == "damaged"

    def _new(self, read: Read) -> Iterator[Read]:
        """What was read, unless it was given already."""
        self.latest = read
        if read.position > self.last:
            self.last = read.position
            yield read

    def _read_fast(self, place: int) -> Generator[Read, None, int | None]:
        """Give records until something is wrong.

        Returns:
            Where the member begins that is to be read with care; None at the end of the range.
        """
        records, reader = self.container.records_from(place)
        held: Read | None = None
        nth = 0  # of the records of one member
        before = -1
        try:
            for record in records:
                member = record.stream_pos if reader is None else reader.frame_start_position()
                headers = _headers(record)
                if not headers or (member >= self.end and not self.container.begins_at(member)):
                    return place
                if held is not None:
                    yield from self._new(held)
                    held = None
                if member >= self.end:
                    return None
                nth = nth + 1 if member == before else 0
                before = place = member
                held = self._take(record, headers, member + nth)
                if held is None or (reader is not None and reader.frame_start_position() != member):
                    return place
        except (OSError, ValueError, UnicodeError):
            pass
        return place

    def _take(self, record: Any, headers: Mapping[str, str], position: int) -> Read | None:  # noqa: ANN401
        """What a record is; None if it is shorter than it says."""
        found = Found(self.source, position, headers, record.content_length)
        content = record.reader
        read = judge(found, content, self.limits)
        record.consume()
        return read if content.tell() == found.length else None

    def _read_with_care(self, place: int) -> Generator[Read, None, int | None]:
        """Give the records of one member, or a reject that says what is wrong with it.

        Returns:
            Where the next member begins; None at the end of the range.
        """
        if not self.container.begins_at(place):
            yield from self._new(self._no_record(place))
            return self.container.find(place + 1, self.end)
        member = self.container.member_at(place, self.most + HEAD)
        for read in self._records_of(member, place):
            yield from self._new(read)
        if member.end is None:
            return self.container.find(place + 1, self.end)
        if self.container.begins_at(member.end):
            return member.end if member.end < self.end else None
        # Where the next range begins, nobody but this one sees what lies before its first record.
        if self.container.has_byte(member.end):
            yield from self._new(self._no_record(member.end))
        return self.container.find(member.end + 1, self.end)

    def _records_of(self, member: Member, place: int) -> Iterator[Read]:
        offset = nth = 0
        while True:
            data = member.data[offset:] if offset else member.data
            length = record_length(data)
            found, content = _found(self.source, place + nth, data, length)
            if length is None:
                yield _damaged(found, member.damage or why_no_length(data))
                return
            left = member.length - offset - length
            after = member.data[offset + length : offset + length + 20].lstrip(b"\r\n")
            if left < 0 or (member.damage and not after.startswith(b"WARC/")):
                yield _damaged(found, member.damage or "it is shorter than its Content-Length says")
                return
            if left > 4 and after and not after.startswith(b"WARC/"):
                yield _damaged(found, "it is longer than its Content-Length says")
                return
            yield judge(found, content, self.limits)
            if not after:
                return
            offset += length + member.data[offset + length :].index(b"WARC/")
            nth += 1

    def _no_record(self, position: int) -> Reject:
        if not self.container.has_byte(0):
            detail = "the file is empty"
        elif position == 0:
            detail = "no record begins at the beginning of the file: is it a WARC archive?"
        else:
            detail = f"at byte {position:,}: what follows there is no record"
        return Reject("damaged", detail, self.source, position)


def _headers(record: Any) -> Mapping[str, str]:  # noqa: ANN401 - FastWARC's
    """The headers of a record; none if it lacks one that all records have, or has two types."""
    lines = [(name.decode("latin-1"), value.decode("utf-8", "replace")) for name, value in record.headers.items_bytes()]
    headers = {name.lower(): value for name, value in lines}
    if len(headers) < len(lines):
        headers = parse_headers([f"{name}: {value}" for name, value in lines])
    is_sound = headers.get("content-length", "").strip().isdigit() and "," not in headers.get("warc-type", ",")
    return headers if is_sound else {}


def _found(source: str, position: int, data: bytes, length: int | None) -> tuple[Found, io.BytesIO]:
    """The record that data begin with, and as much of its content as there is."""
    head, blank_line, block = (data if length is None else data[:length]).partition(b"\r\n\r\n")
    lines = head[:HEAD].decode("utf-8", "replace").split("\r\n")[1:]
    if len(head) > HEAD or not blank_line:
        lines = lines[:-1]  # it is cut: half of a URL is none
    headers = parse_headers(lines)
    found = Found(source, position, headers, len(block) if length is None else length - len(head) - 4)
    return found, io.BytesIO(block)


def _damaged(found: Found, why: str) -> Reject:
    known = found.headers.get("warc-record-id")
    detail = f"the record at byte {found.position:,} is damaged: {why}"
    return Reject("damaged", detail, found.source, found.position, known, found.url)
