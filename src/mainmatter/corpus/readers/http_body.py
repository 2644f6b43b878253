"""What a server sent: the status, the headers, and the body as the page's author wrote it, unpacked within bounds."""

from __future__ import annotations

import io
import re
import zlib
from dataclasses import dataclass
from email.message import Message
from typing import TYPE_CHECKING, Protocol

from mainmatter.corpus.readers.streams import GZIP_MAGIC, ZSTD_MAGIC, gunzip, stream_io

if TYPE_CHECKING:
    from collections.abc import Mapping

_PIECE = 65_536
_LINE = 8_192
_HEAD = 65_536  # of an answer; the rest of a longer one is taken for its body
_AFTER_TYPE = re.compile(r"[;,\s]")  # a comma where the header came twice


class Content(Protocol):
    """What a record holds, to be read once."""

    def readline(self, size: int, /) -> bytes:
        """A line, or so many bytes of it."""
        ...

    def read(self, size: int, /) -> bytes:
        """So many bytes, or all that are left."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
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


def read_answer(content: Content) -> Answer:
    """Read how an answer begins, up to its body; lenient, as servers are."""
    line = content.readline(_LINE)
    length = len(line)
    if not line.startswith(b"HTTP/"):
        return Answer(0, "", {}, length)
    parts = line.decode("latin-1").split(None, 2)
    status = int(parts[1]) if len(parts) > 1 and parts[1].isascii() and parts[1].isdigit() else 0
    lines = []
    while length < _HEAD and (line := content.readline(_LINE)):
        length += len(line)
        text = line.decode("latin-1").rstrip("\r\n")
        if not text:
            break
        lines.append(text)
    return Answer(status, parts[2].strip() if len(parts) > 2 else "", parse_headers(lines), length)


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


def content_type(header: str) -> tuple[str, str | None]:
    """The media type, "" if there is none, and the charset of a Content-Type header."""
    if not header:
        return "", None
    kind = _AFTER_TYPE.split(header.strip(), maxsplit=1)[0].lower()
    if ";" not in header or "charset" not in header.lower():
        return kind, None
    message = Message()
    message["Content-Type"] = header
    try:
        charset = message.get_content_charset()
    except (LookupError, ValueError):
        charset = None
    return kind, charset


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
