"""Archives made by hand, for tests, and what is read from them."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.readers.streams import stream_io
from mainmatter.corpus.records import Read, Record, Reject
from mainmatter.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = Limits(size=100_000)

DATE = "2024-05-01T12:00:00Z"


def http(body: bytes, media_type: str = "text/html", *, status: str = "200 OK", more: str = "") -> bytes:
    """A server's answer."""
    type_line = f"Content-Type: {media_type}\r\n" if media_type else ""
    return f"HTTP/1.1 {status}\r\n{type_line}{more}\r\n".encode() + body


def record(
    block: bytes,
    kind: str = "response",
    *,
    name: str = "<urn:uuid:1>",
    url: str = "http://site.example/",
    media_type: str = "application/http; msgtype=response",
    length: int | None = None,
    version: str = "1.1",
    more: str = "",
) -> bytes:
    """A record of an archive."""
    lines = [f"WARC/{version}", f"WARC-Type: {kind}", f"WARC-Date: {DATE}"]
    lines += [f"WARC-Record-ID: {name}"] if name else []
    lines += [f"WARC-Target-URI: {url}"] if url else []
    lines += [f"Content-Type: {media_type}", f"Content-Length: {len(block) if length is None else length}"]
    return ("\r\n".join(lines) + f"\r\n{more}\r\n").encode() + block + b"\r\n\r\n"


def page(number: int, size: int = 25) -> bytes:
    """The record of a small page."""
    words = " ".join(f"w{number * 7919 * i % 997}" for i in range(size))
    return record(
        http(f"<p>Page {number} {words}</p>".encode()), name=f"<urn:{number}>", url=f"http://a.example/{number}"
    )


def gz(*records: bytes) -> list[bytes]:
    """Each record as a gzip member."""
    return [gzip.compress(one, mtime=0) for one in records]


def zst(*records: bytes, **options: Any) -> bytes:
    """An archive of Zstandard frames, each one record."""
    file = io.BytesIO()
    writer = stream_io().ZstdWriter(file, **options)
    for one in records:
        writer.write(one)
        writer.finish()
    writer.close()
    return file.getvalue()


def read_all(path: Path | str, shard_size: int = 10**9, limits: Limits = LIMITS) -> list[Read]:
    """All that an input gives."""
    return [read for shard in find_shards([str(path)], shard_size) for one in shard for read in read_slice(one, limits)]


def read_bytes(tmp_path: Path, data: bytes, name: str = "a.warc.gz", shard_size: int = 10**9) -> list[Read]:
    """All that an archive of these bytes gives."""
    path = tmp_path / name
    path.write_bytes(data)
    return read_all(path, shard_size)


def read_one(tmp_path: Path, one: bytes) -> Read:
    """What an archive of one record gives."""
    (read,) = read_bytes(tmp_path, gzip.compress(one, mtime=0))
    return read


def rejected(read: Read) -> tuple[str, str]:
    """The reason and the detail of a reject."""
    assert isinstance(read, Reject)
    return read.reason, read.detail


def body_of(read: Read) -> str | bytes:
    """The content of a page."""
    assert isinstance(read, Record), read
    return read.page.html


def shape(reads: list[Read]) -> list[str]:
    """Each record as a word: a page's id, a reject's reason, a skipped one's type."""
    return [
        str(read.page.id) if isinstance(read, Record) else read.reason if isinstance(read, Reject) else read.type
        for read in reads
    ]


PAGES = [page(i) for i in range(6)]
MEMBERS = gz(*PAGES)
NAMES = [f"<urn:{i}>" for i in range(6)]
