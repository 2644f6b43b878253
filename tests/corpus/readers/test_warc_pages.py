"""Records of archives to pages: what is one, and how its body is packed."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import TYPE_CHECKING

import pytest

from crawl_archives import (
    DATE,
    body_of,
    gz,
    http,
    page,
    read_bytes,
    read_one,
    record,
    rejected,
    zst,
)
from mainmatter.api import read as read_page
from mainmatter.corpus.readers.streams import stream_io
from mainmatter.corpus.records import Record, Reject, Skipped

if TYPE_CHECKING:
    from pathlib import Path

# What is a page


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_page_with_all_that_is_known_about_it(tmp_path: Path, version: str) -> None:
    block = http(
        b"<p>x</p>", "text/html; charset=ISO-8859-2", more="X-Robots-Tag: noindex\r\nx-robots-tag: nofollow\r\n"
    )
    read = read_one(tmp_path, record(block, url="<http://a.example/b>", version=version))
    assert isinstance(read, Record)
    assert (read.page.html, read.page.url, read.page.id) == (b"<p>x</p>", "http://a.example/b", "<urn:uuid:1>")
    assert (read.page.charset, read.page.format, read.time, read.position) == ("iso-8859-2", "html", DATE, 0)
    assert read.source == str(tmp_path / "a.warc.gz")
    assert read.headers["x-robots-tag"] == "noindex, nofollow"


def test_record_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    first, second = gz(page(1), record(http(b"<p>x"), name=""))
    reads = read_bytes(tmp_path, first + second)
    assert isinstance(reads[1], Record)
    assert reads[1].page.id == f"{tmp_path}/a.warc.gz:{len(first)}"


@pytest.mark.parametrize(
    ("kind", "media_type", "body", "form"),
    [
        ("resource", "text/html", b"<p>x", "html"),
        ("resource", "text/plain", b"x", "text"),
        ("conversion", "text/plain", b"x", "text"),
    ],
)
def test_resources_and_conversions_are_pages(
    tmp_path: Path, kind: str, media_type: str, body: bytes, form: str
) -> None:
    read = read_one(tmp_path, record(body, kind, media_type=media_type))
    assert isinstance(read, Record)
    assert (read.page.html, read.page.format) == (body, form)


@pytest.mark.parametrize("kind", ["warcinfo", "request", "metadata", "continuation", "something-new"])
def test_records_that_never_were_pages_are_skipped(tmp_path: Path, kind: str) -> None:
    assert read_one(tmp_path, record(b"a: b\r\n", kind)) == Skipped(kind, str(tmp_path / "a.warc.gz"), 0)


def test_answer_of_a_name_server_is_skipped(tmp_path: Path) -> None:
    read = read_one(
        tmp_path, record(b"20240501\nsite.example. 1 IN A 1.2.3.4", url="dns:site.example", media_type="text/dns")
    )
    assert isinstance(read, Skipped)
    assert read.type == "dns"


@pytest.mark.parametrize(
    ("media_type", "body", "form"),
    [
        ("", b"<!doctype html><title>x", "html"),
        ("application/octet-stream", b"<html>x", "html"),
        ("application/xml", b"<?xml version='1.0'?><html xmlns='x'>", "html"),
        ("application/xhtml+xml", b"<html/>", "html"),
        ("text/plain; charset=utf-8", b"<p>text about HTML", "text"),
        ("TEXT/HTML", b"", "html"),
    ],
)
def test_pages_by_media_type_and_look(tmp_path: Path, media_type: str, body: bytes, form: str) -> None:
    read = read_one(tmp_path, record(http(body, media_type)))
    assert isinstance(read, Record)
    assert read.page.format == form


@pytest.mark.parametrize(
    ("block", "reason", "detail"),
    [
        (http(b"\xff\xd8\xff", "image/jpeg"), "not-a-page", "is image/jpeg, a picture, not a web page"),
        (
            http(b"%PDF-1.7", "text/html"),
            "not-a-page",
            "is declared as text/html, but is a PDF document, not a web page",
        ),
        (http(b"\0\1\2", ""), "not-a-page", "is neither HTML nor text, not a web page"),
        (
            http(b"<rss>", "text/xml"),
            "not-a-page",
            "is declared as text/xml, but is neither HTML nor text, not a web page",
        ),
        (http(b"no", status="404 Not Found"), "http-status", "the server answered 404 Not Found"),
        (http(b"", status="301"), "http-status", "the server answered 301"),
        (b"<p>x", "damaged", "it has no HTTP header"),
        (http(b"x" * 100_001), "too-large", "has more than 100,000 bytes; raise the limit with --max-size"),
    ],
)
def test_what_is_no_page_is_rejected(tmp_path: Path, block: bytes, reason: str, detail: str) -> None:
    read = read_one(tmp_path, record(block))
    assert rejected(read) == (reason, detail)
    assert isinstance(read, Reject)
    assert (read.id, read.url) == ("<urn:uuid:1>", "http://site.example/")


def test_a_page_that_a_proxy_changed_is_one(tmp_path: Path) -> None:
    read = read_one(tmp_path, record(http(b"<p>x</p>", status="203 Non-Authoritative Information")))
    assert isinstance(read, Record)
    assert read.page.html == b"<p>x</p>"


def test_a_line_of_a_wet_record_is_a_block(tmp_path: Path) -> None:
    lines = ["Home", "Contact", "The siren could be heard for eleven miles on a calm day, or so they say.", "Terms"]
    told = {}
    for kind, media_type in (("conversion", "text/plain"), ("conversion", "text/markdown"), ("resource", "text/plain")):
        read = read_one(tmp_path, record("\n".join(lines).encode(), kind, media_type=media_type))
        assert isinstance(read, Record)
        told[kind, media_type] = read_page(read.page).texts
    assert told == {
        ("conversion", "text/plain"): lines,
        ("conversion", "text/markdown"): [" ".join(lines)],
        ("resource", "text/plain"): [" ".join(lines)],
    }


def test_revisit_is_a_reject_of_its_own(tmp_path: Path) -> None:
    assert rejected(read_one(tmp_path, record(http(b""), "revisit")))[0] == "revisit"


@pytest.mark.parametrize(
    ("media_type", "charset"),
    [
        ('TEXT/HTML; charset="X"', "x"),
        ("text/html\t; CHARSET = UTF-8", "utf-8"),
        ("text/html, text/html; charset=utf-8", "utf-8"),
        ("text/html charset=utf-8", None),
        ("text/html; charset*=utf-8''%e4;;", None),
        ("text/html; charset*0*=a'b; charset*=x''%ff", None),
    ],
)
def test_content_types_as_servers_write_them(tmp_path: Path, media_type: str, charset: str | None) -> None:
    read = read_one(tmp_path, record(http(b"<p>x", media_type)))
    assert isinstance(read, Record)
    assert (read.page.format, read.page.charset) == ("html", charset)


def test_truncated_payload_is_a_page(tmp_path: Path) -> None:
    assert body_of(read_one(tmp_path, record(http(b"<p>x"), more="WARC-Truncated: length\r\n"))) == b"<p>x"


# How bodies are packed

PLAIN = b"<html><p>" + b"word " * 500


def in_chunks(data: bytes) -> bytes:
    return b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in (data[:30], data[30:])) + b"0\r\n\r\n"


def brotli(data: bytes) -> bytes:
    file = io.BytesIO()
    with stream_io().BrotliWriter(file) as writer:
        writer.write(data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("Content-Encoding: gzip", gzip.compress(PLAIN, mtime=0)),
        ("Content-Encoding: deflate", zlib.compress(PLAIN)),
        ("Content-Encoding: deflate", zlib.compress(PLAIN)[2:-4]),
        ("Content-Encoding: br", brotli(PLAIN)),
        ("Content-Encoding: zstd", zst(PLAIN)),
        ("Content-Encoding: identity", PLAIN),
        ("Transfer-Encoding: chunked", in_chunks(PLAIN)),
        ("Content-Encoding: deflate, gzip", gzip.compress(zlib.compress(PLAIN), mtime=0)),
        (
            "Content-Encoding: gzip",
            gzip.compress(PLAIN[:500], mtime=0) + gzip.compress(PLAIN[500:], mtime=0) + bytes(50),
        ),
        ("Transfer-Encoding: gzip, chunked", in_chunks(gzip.compress(PLAIN, mtime=0))),
        ("Content-Encoding: gzip\r\nTransfer-Encoding: chunked", in_chunks(gzip.compress(PLAIN, mtime=0))),
        # Crawlers that unpack bodies and keep the headers.
        *((f"Content-Encoding: {name}", PLAIN) for name in ("gzip", "br", "zstd", "deflate", "unheard-of")),
        ("Transfer-Encoding: chunked", PLAIN),
    ],
)
def test_body_is_unpacked(tmp_path: Path, encoding: str, body: bytes) -> None:
    assert body_of(read_one(tmp_path, record(http(body, more=f"{encoding}\r\n")))) == PLAIN


def test_body_that_breaks_off_gives_what_there_is(tmp_path: Path) -> None:
    packed = gzip.compress(PLAIN, mtime=0)
    body = body_of(read_one(tmp_path, record(http(packed[:-10], more="Content-Encoding: gzip\r\n"))))
    assert isinstance(body, bytes)
    assert PLAIN.startswith(body)
    assert len(body) > 100


@pytest.mark.parametrize(
    ("name", "body"),
    [("gzip", b"\x1f\x8b\x08\xff rubbish"), ("br", b"\xff\xfe\xfd"), ("zstd", b"\x28\xb5\x2f\xfd\xff\xff\xff")],
)
def test_body_that_cannot_be_unpacked_is_damaged(tmp_path: Path, name: str, body: bytes) -> None:
    reason, detail = rejected(read_one(tmp_path, record(http(body, more=f"Content-Encoding: {name}\r\n"))))
    assert (reason, detail) == ("damaged", f"its body cannot be decoded as its Content-Encoding says: {name}")


@pytest.mark.parametrize(
    ("name", "bomb"),
    [
        ("gzip", gzip.compress(bytes(30_000_000), mtime=0)),
        ("br", brotli(bytes(30_000_000))),
        ("zstd", zst(bytes(30_000_000))),
    ],
    ids=["gzip", "br", "zstd"],
)
def test_bomb_is_too_large(tmp_path: Path, name: str, bomb: bytes) -> None:
    assert len(bomb) < 100_000
    read = read_one(tmp_path, record(http(bomb, more=f"Content-Encoding: {name}\r\n")))
    assert rejected(read)[0] == "too-large"
