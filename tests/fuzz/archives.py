"""Inputs of corpora: WARC, WET, JSONL, Parquet and lists of URLs; and what stands in the records of archives."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING

from crawl_archives import gz, http, page, record, zst
from fuzz.mutation import mutate_bytes
from fuzz.target import Target, dictionary
from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.readers.fields import as_time, find_names, to_read
from mainmatter.corpus.readers.jsonl import find_objects
from mainmatter.corpus.readers.streams import record_length, why_no_length
from mainmatter.corpus.readers.urls import is_list_of_urls
from mainmatter.corpus.readers.warc import content_type, parse_headers, read_response, unpack_body
from mainmatter.corpus.writers import import_arrow
from mainmatter.errors import MainmatterError
from mainmatter.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

_LIMITS = Limits(size=20_000)
_RECORDS = [
    page(1),
    record(
        http(b"1e\r\n<p>A page that came in chunks\r\n0\r\n\r\n", more="Transfer-Encoding: chunked\r\n"), name="<urn:2>"
    ),
    record(http(gzip.compress(b"<p>Packed words", mtime=0), more="Content-Encoding: gzip\r\n"), name="<urn:3>"),
    record(b"Plain words of a page\nand more of them", "conversion", media_type="text/plain", name="<urn:4>"),
    record(b"software: by hand\r\n", "warcinfo", media_type="application/warc-fields", url=""),
    record(http(b"\x89PNG\r\n\x1a\n", "image/png"), name="<urn:5>"),
    record(b"<p>Without HTTP", "resource", media_type="text/html; charset=utf-8", name="<urn:6>"),
]


def _read_file(path: Path) -> None:
    """All that a file holds, read in one piece and in two."""
    shards = [one for size in (10**9, 700) for shard in find_shards([str(path)], size) for one in shard]
    for one in shards:
        for _ in read_slice(one, _LIMITS):
            pass


def archives(folder: Path) -> Target:
    """WARC and WET archives: plain, packed record by record, packed whole; the first byte says what it is called."""
    plain = b"".join(_RECORDS)
    seeds = [b"\0" + plain, b"\1" + b"".join(gz(*_RECORDS)), b"\1" + gzip.compress(plain, mtime=0)]
    seeds += [b"\2" + zst(*_RECORDS), b"\3" + _RECORDS[3] * 2, b"\0" + _RECORDS[0], b"\0" + _RECORDS[1] + _RECORDS[2]]
    paths = [folder / name for name in ("a.warc", "a.warc.gz", "a.warc.zst", "a.wet", "a.wet.gz")]

    def read(data: bytes) -> None:
        path = paths[data[0] % len(paths)] if data else paths[0]
        path.write_bytes(data[1:])
        _read_file(path)

    return Target(read, seeds, dictionary("archives"))


def records(folder: Path) -> Target:
    """The headers and bodies of an archive's records, without the archive."""

    def read(data: bytes) -> None:
        if record_length(data) is None:
            why_no_length(data)
        head, _, block = data.partition(b"\r\n\r\n")
        headers = parse_headers(head.decode("utf-8", "replace").split("\r\n")[1:])
        content_type(headers.get("content-type", ""))
        as_time(headers.get("warc-date"))
        answer = read_response(io.BytesIO(block))
        content_type(answer.headers.get("content-type", ""))
        unpack_body(block[answer.length :], answer.headers, _LIMITS.size)

    return Target(read, _RECORDS, dictionary("archives"))


_ROWS = [
    {"html": "<p>Words of a page", "url": "http://a.example/1", "id": "1", "time": "2024-05-06T07:08:09Z"},
    {"id": 2, "text": "Words\nand more", "metadata": {"url": "http://a.example/2", "date": 1715000000}},
    {"html": {"string": "x"}, "url": None, "id": [], "warc_date": "6 May 2024"},
]


def jsonl(folder: Path) -> Target:
    """JSONL and arrays of JSON, packed or not."""
    lines = [json.dumps(row).encode() for row in _ROWS]
    seeds = [
        b"\0" + b"\n".join(lines),
        b"\0[" + b",\n".join(lines) + b"]",
        b"\0" + json.dumps(_ROWS, indent=1).encode(),
    ]
    seeds += [b"\1" + gzip.compress(b"\n".join(lines), mtime=0), b"\2" + zst(b"\n".join(lines))]
    paths = [folder / name for name in ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst")]

    def read(data: bytes) -> None:
        path = paths[data[0] % len(paths)] if data else paths[0]
        path.write_bytes(data[1:])
        _read_file(path)

    return Target(read, seeds, dictionary("json"))


def rows(folder: Path) -> Target:
    """The rows of tables and the objects of JSON files, without the file."""

    def read(data: bytes) -> None:
        for found in find_objects(io.BytesIO(data), _LIMITS.size):
            try:
                row = json.loads(found.data or b"null")
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                to_read(row, find_names(row), "a.jsonl", 0, _LIMITS)
                as_time(row.get("time"))

    return Target(read, [json.dumps(_ROWS).encode(), *(json.dumps(row).encode() for row in _ROWS)], dictionary("json"))


def parquet(folder: Path) -> Target:
    """Parquet files."""
    arrow, parquet_ = import_arrow()
    seeds = []
    for columns in (
        {"html": ["<p>Words of a page", None], "url": ["http://a.example/1", None], "id": ["1", "2"]},
        {"content": [b"<p>Bytes"], "n": [3], "meta": [{"url": "http://a.example", "tags": ["x", "y"]}]},
    ):
        for options in ({"compression": "none"}, {"compression": "snappy", "use_dictionary": False}):
            file = io.BytesIO()
            parquet_.write_table(arrow.table(columns), file, **options)
            seeds.append(file.getvalue())
    path = folder / "a.parquet"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        _read_file(path)

    def mutate(rng: Random, data: bytes, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
        """Most of the times only what says how the file is made: it comes last, before eight bytes."""
        start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        if rng.random() < 0.2:
            return mutate_bytes(rng, data, tokens, others)
        footer = mutate_bytes(rng, data[start:-8], tokens, [data[start:-8]])
        return data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"

    return Target(
        read, seeds, [b"PAR1", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\x15\x00", b"html", b"\xff"], mutate=mutate
    )


def lists(folder: Path) -> Target:
    """Files without a known ending, which may be lists of URLs, archives, JSON or pages; nothing is fetched."""
    seeds = [
        b"http://a.example/1\nhttps://b.example/\n# a remark\n\nhttp://c.example/x y\n",
        b"<p>Words",
        b"{}\n",
        _RECORDS[0],
    ]
    path = folder / "a"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        is_list_of_urls(str(path))
        try:
            find_shards([str(path)])
        except MainmatterError:
            return

    return Target(
        read,
        seeds,
        [b"http://", b"https://[", b"\n", b"\r", b"\0", b"\xff\xfe", b"#", b"WARC/1.0", b"PAR1", b"{", b"["],
    )
