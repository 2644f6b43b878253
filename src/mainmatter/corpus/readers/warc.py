"""WARC and WET archives, packed or not, whole or damaged, to records.

FastWARC reads ahead fast. What it says is believed once the next record is in sight: where something is wrong, the
last member is read again on its own, with care, damage is told in one reject, and reading goes on at the next good
record. So each record is given exactly once, in whatever ranges an archive is read (see containers.py).

One thing does depend on the ranges: in an archive that is not packed, some bytes of rubbish right before a record are
told in a reject by whoever reads with care, and FastWARC passes over them.
"""

from __future__ import annotations

import io
import re
import sys
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol, cast

from mainmatter.corpus.readers.fields import as_time
from mainmatter.corpus.readers.streams import (
    GZIP_MAGIC,
    HEAD,
    ZSTD_MAGIC,
    Container,
    Member,
    Plain,
    Unpacked,
    container_of,
    gunzip,
    is_packed_whole,
    record_length,
    stream_io,
    why_no_length,
)
from mainmatter.corpus.records import Read, Record, Reject, Skipped
from mainmatter.corpus.storage import open_input
from mainmatter.html.sniff import NEITHER, what_else
from mainmatter.inputs.content_type import charset_of
from mainmatter.limits import format_size
from mainmatter.records import Page

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
        detail = f"the archive is compressed as a whole, and the rest of it cannot be unpacked: {file.damage}"
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

    def _take(self, record: Any, headers: Mapping[str, str], position: int) -> Read | None:
        """What a record is; None if it is shorter than it says."""
        found = ArchiveRecord(self.source, position, headers, record.content_length)
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
            detail = "the file does not begin with a record; is it a WARC archive?"
        else:
            detail = f"at byte {position:,}: no record follows"
        return Reject("damaged", detail, self.source, position)


def _headers(record: Any) -> Mapping[str, str]:  # FastWARC's
    """The headers of a record; none if it lacks one that all records have, or has two types."""
    lines = [(name.decode("latin-1"), value.decode("utf-8", "replace")) for name, value in record.headers.items_bytes()]
    headers = {name.lower(): value for name, value in lines}
    if len(headers) < len(lines):
        headers = parse_headers([f"{name}: {value}" for name, value in lines])
    is_sound = headers.get("content-length", "").strip().isdigit() and "," not in headers.get("warc-type", ",")
    return headers if is_sound else {}


def _found(source: str, position: int, data: bytes, length: int | None) -> tuple[ArchiveRecord, io.BytesIO]:
    """The record that data begin with, and as much of its content as there is."""
    head, blank_line, block = (data if length is None else data[:length]).partition(b"\r\n\r\n")
    lines = head[:HEAD].decode("utf-8", "replace").split("\r\n")[1:]
    if len(head) > HEAD or not blank_line:
        lines = lines[:-1]  # it is cut: half of a URL is none
    headers = parse_headers(lines)
    found = ArchiveRecord(source, position, headers, len(block) if length is None else length - len(head) - 4)
    return found, io.BytesIO(block)


def _damaged(found: ArchiveRecord, why: str) -> Reject:
    known = found.headers.get("warc-record-id")
    detail = f"the record at byte {found.position:,} is damaged: {why}"
    return Reject("damaged", detail, found.source, found.position, known, found.url)


Format = Literal["html", "text"]

_HTML = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_TEXT = frozenset(("text/plain", "text/markdown"))
_XML = frozenset(("application/xml", "text/xml"))
_UNKNOWN = frozenset(("", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*", "text/*"))
_LOOKS_LIKE_HTML = re.compile(rb"<(!doctype\s+html|html|head|body|title|meta|div|p|table|script|h1|a)\b", re.IGNORECASE)
_HTML_ELEMENT = re.compile(rb"<(!doctype\s+html|html)\b", re.IGNORECASE)
_SNIFFED = 2000
_WORDS = {
    "image/": "a picture",
    "video/": "a film",
    "audio/": "a sound",
    "font/": "a font",
    "text/css": "a style sheet",
    "text/javascript": "a script",
    "application/javascript": "a script",
    "application/x-javascript": "a script",
    "application/json": "data",
    "application/ld+json": "data",
    "application/pdf": "a PDF document",
    "application/zip": "a ZIP archive",
    "application/gzip": "a gzip archive",
    "application/rss+xml": "a news feed",
    "application/atom+xml": "a news feed",
    "application/xml": "data",
    "text/xml": "data",
    "text/calendar": "a calendar",
}
# All other records are no pages and never were: warcinfo, request, metadata, continuation.
_PAGES = frozenset(("response", "resource", "conversion"))
# 203 is a 200 that a proxy changed (RFC 9110, section 15.3.4). All others are errors, redirects, a part of a page, or
# the word of a server that there is none.
_STATUSES = frozenset((200, 203))


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A record of an archive, as it lies there.

    Attributes:
        source: the path of the archive.
        position: where in it the record begins.
        headers: the record's own headers, names in lower case.
        length: how long its content is.
    """

    source: str
    position: int
    headers: Mapping[str, str]
    length: int

    @property
    def type(self) -> str:
        """Its type, such as "response"."""
        return self.headers.get("warc-type", "").lower()

    @property
    def url(self) -> str | None:
        """The page's URL; some crawlers write it between angle brackets."""
        return self.headers.get("warc-target-uri", "").strip("<> ") or None

    @property
    def is_dns(self) -> bool:
        """It is the answer of a name server; some crawlers keep those too."""
        return self.headers.get("content-type", "").startswith("text/dns") or (self.url or "").startswith("dns:")

    @property
    def id(self) -> str:
        """Its id, or its place where it has none."""
        return self.headers.get("warc-record-id") or f"{self.source}:{self.position}"

    def reject(self, reason: str, detail: str) -> Reject:
        """Nothing comes out of this record, for that reason."""
        return Reject(reason, detail, self.source, self.position, self.id, self.url)


def judge(found: ArchiveRecord, content: RecordContent, limits: Limits) -> Read:
    """Tell whether a record is a page.

    Pages are responses with status 200 or 203 and resources, if they are HTML or plain text, and conversions (WET),
    which are plain text, each line a block.

    A revisit says that a page was fetched again and had not changed; it has no content of its own.
    """
    if found.type in _PAGES and not found.is_dns:
        if found.type == "response":
            return _judge_response(found, content, limits)
        return _judge_body(found, content, _NO_RESPONSE, found.headers.get("content-type", ""), limits)
    if found.type == "revisit":
        return found.reject("revisit", "it refers to a page that was fetched before and has no content of its own")
    return Skipped("dns" if found.is_dns else found.type or "unknown", found.source, found.position)


def _judge_response(found: ArchiveRecord, content: RecordContent, limits: Limits) -> Read:
    answer = read_response(content)
    if answer.status == 0:
        return found.reject("damaged", "it has no HTTP header")
    if answer.status not in _STATUSES:
        return found.reject("http-status", f"the server answered {answer.status} {answer.reason}".rstrip())
    return _judge_body(found, content, answer, answer.headers.get("content-type", ""), limits)


def _judge_body(
    found: ArchiveRecord, content: RecordContent, answer: HttpResponse, type_header: str, limits: Limits
) -> Read:
    media_type, charset = content_type(type_header)
    reject = _not_a_page(found, media_type)
    if reject is not None:
        return reject
    length = found.length - answer.length
    if length > limits.size:
        return _too_large(found, limits)
    body = unpack_body(content.read(length), answer.headers, limits.size + 1)
    if body is None:
        encoding = answer.headers.get("content-encoding", "")
        return found.reject("damaged", f"its body cannot be decoded as its Content-Encoding says: {encoding}")
    if len(body) > limits.size:
        return _too_large(found, limits)
    form = _format(media_type, body)
    if form is None:
        words = what_else(body, is_text=True) or NEITHER
        named = f"is declared as {media_type}, but " if media_type else ""
        return found.reject("not-a-page", f"{named}is {words}, not a web page")
    is_wet = found.type == "conversion" and media_type == "text/plain"
    page = Page(body, found.url, found.id, charset, form, lines_are_blocks=is_wet)
    return Record(page, found.source, found.position, as_time(found.headers.get("warc-date")), answer.headers)


def _too_large(found: ArchiveRecord, limits: Limits) -> Reject:
    return found.reject("too-large", f"has more than {format_size(limits.size)}; raise the limit with --max-size")


def _not_a_page(found: ArchiveRecord, media_type: str) -> Reject | None:
    """A reject by the media type alone."""
    if media_type in _HTML or media_type in _TEXT or media_type in _XML or media_type in _UNKNOWN:
        return None
    words = next((words for name, words in _WORDS.items() if media_type.startswith(name)), "")
    return found.reject("not-a-page", f"is {media_type}{f', {words}' if words else ''}, not a web page")


def _format(media_type: str, body: bytes) -> Format | None:
    """How a body is to be read; None if it is no page after all."""
    if what_else(body, is_text=True):
        return None
    if media_type in _HTML:
        return "html"
    if media_type in _TEXT:
        return "text"
    if media_type in _XML:
        return "html" if _HTML_ELEMENT.search(body, 0, _SNIFFED) else None
    return "html" if _LOOKS_LIKE_HTML.search(body, 0, _SNIFFED) and b"\0" not in body[:_SNIFFED] else None


_PIECE = 65_536
_LINE = 8_192
_HEAD = 65_536  # of an answer; the rest of a longer one is taken for its body
_AFTER_TYPE = re.compile(r"[;,\s]")  # a comma where the header came twice


class RecordContent(Protocol):
    """What a record holds, to be read once."""

    def readline(self, size: int, /) -> bytes:
        """A line, or so many bytes of it."""
        ...

    def read(self, size: int, /) -> bytes:
        """So many bytes, or all that are left."""
        ...


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """How a server's answer begins.

    Attributes:
        status: its status code; 0 if it gave none.
        reason: what it says about that, such as "Not Found".
        headers: names in lower case; a name that came more than once has all of its values, joined by commas.
        length: how many bytes that took; the body follows.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    length: int


_NO_RESPONSE = HttpResponse(200, "", {}, 0)


def read_response(content: RecordContent) -> HttpResponse:
    """Read how an answer begins, up to its body; lenient, as servers are."""
    line = content.readline(_LINE)
    length = len(line)
    if not line.startswith(b"HTTP/"):
        return HttpResponse(0, "", {}, length)
    parts = line.decode("latin-1").split(None, 2)
    status = int(parts[1]) if len(parts) > 1 and parts[1].isascii() and parts[1].isdigit() else 0
    lines = []
    while length < _HEAD and (line := content.readline(_LINE)):
        length += len(line)
        text = line.decode("latin-1").rstrip("\r\n")
        if not text:
            break
        lines.append(text)
    return HttpResponse(status, parts[2].strip() if len(parts) > 2 else "", parse_headers(lines), length)


def parse_headers(lines: list[str]) -> dict[str, str]:
    """Headers by name, in lower case; a line that begins with white space goes on with the one before."""
    headers: dict[str, str] = {}
    name = ""
    for line in lines:
        if line[:1] in (" ", "\t"):
            if name:
                headers[name] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        name = name.strip().lower() if colon else ""
        if name:
            headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    return headers


@lru_cache(maxsize=64)  # the same few, page after page; one takes as long to read as all other headers
def content_type(header: str) -> tuple[str, str | None]:
    """The media type, "" if there is none, and the charset of a Content-Type header."""
    if not header:
        return "", None
    kind = _AFTER_TYPE.split(header.strip(), maxsplit=1)[0].lower()
    if ";" not in header or "charset" not in header.lower():
        return kind, None
    return kind, charset_of(header)


def unpack_body(body: bytes, headers: Mapping[str, str], most: int) -> bytes | None:
    """The body without its transfer and content encodings, of which no more than `most` bytes are unpacked.

    A body that is not packed in spite of its headers is taken as it is: crawlers unpack bodies and keep the headers.
    One that breaks off gives what there is.

    Returns:
        The body; None if nothing of it could be unpacked.
    """
    encodings = f"{headers.get('content-encoding', '')},{headers.get('transfer-encoding', '')}"
    for name in reversed(encodings.lower().split(",")):
        if body:
            unpacked = _without_chunks(body) if name.strip() == "chunked" else _unpack(name.strip(), body, most)
            if unpacked is None:
                return None
            body = unpacked
    return body


def _unpack(name: str, body: bytes, most: int) -> bytes | None:
    if name in ("gzip", "x-gzip"):
        return _gunzip(body, most) if body.startswith(GZIP_MAGIC) else body
    if name == "deflate":  # some servers send it without zlib's frame
        for window in (15, -15):
            data = _inflate(body, window, most)
            if data:
                return data
        return body if _looks_like_text(body) else None
    if name == "zstd":
        return _read(stream_io().ZstdReader, body, most) if body.startswith(ZSTD_MAGIC) else body
    if name == "br":
        data = None if _looks_like_text(body) else _read(stream_io().BrotliReader, body, most)
        return body if data is None and _looks_like_text(body) else data
    return body


def _gunzip(body: bytes, most: int) -> bytes | None:
    data = bytearray()
    try:
        for piece in gunzip(io.BytesIO(body)):
            data += piece[: most - len(data)]
            if len(data) >= most:
                break
    except (EOFError, zlib.error):
        return bytes(data) or None
    return bytes(data)


def _inflate(body: bytes, window: int, most: int) -> bytes | None:
    unpack = zlib.decompressobj(window)
    data = bytearray()
    packed = body
    while packed and len(data) < most and not unpack.eof:
        try:
            data += unpack.decompress(packed, min(most - len(data), 16 * _PIECE))
        except zlib.error:
            break
        packed = unpack.unconsumed_tail
    return bytes(data) or (b"" if unpack.eof else None)


def _read(reader_class: type, body: bytes, most: int) -> bytes | None:
    reader = reader_class(io.BytesIO(body))
    data = bytearray()
    try:
        while len(data) < most and (piece := reader.read(min(_PIECE, most - len(data)))):
            data += piece
    except (OSError, ValueError):
        pass
    return bytes(data) or None


def _looks_like_text(body: bytes) -> bool:
    return body[:200].lstrip().startswith(b"<")


def _without_chunks(body: bytes) -> bytes:
    """The body without the sizes between its chunks (RFC 9112, section 7.1); as it is if it has none."""
    parts: list[bytes] = []
    place = 0
    while True:
        end = body.find(b"\n", place, place + 1000)
        size = body[place:end].partition(b";")[0].strip() if end >= 0 else b""
        try:
            length = int(size, 16) if size.isalnum() else -1
        except ValueError:
            length = -1
        if length < 0:
            return b"".join(parts) if parts else body
        if length == 0:
            return b"".join(parts)
        parts.append(body[end + 1 : end + 1 + length])
        place = end + 1 + length
        if place >= len(body):
            return b"".join(parts)
        place += 2 if body[place : place + 2] == b"\r\n" else 1 if body[place : place + 1] == b"\n" else 0
