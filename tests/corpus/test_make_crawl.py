"""The script that makes an archive of a gold standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.records import Record, Skipped
from mainmatter.records import Page
from script_modules import load_script

if TYPE_CHECKING:
    from pathlib import Path


def make(pages: list[Page]) -> bytes:
    return b"".join(load_script("make_crawl").make_crawl(pages))


def test_what_went_in_comes_out(tmp_path: Path) -> None:
    pages = [
        Page(b"<p>\xe4", "http://a.example/x?y", "1", "iso-8859-1"),
        Page("<p>\u20ac", None, "a b"),
        Page(b"<p>z", "http://b.example", "3"),
    ]
    data = make(pages)
    assert data == make(pages)
    path = tmp_path / "a.warc.gz"
    path.write_bytes(data)
    reads = [read for shard in find_shards([str(path)]) for one in shard for read in read_slice(one)]
    skipped = [read.type for read in reads if isinstance(read, Skipped)]
    assert skipped == ["warcinfo", "request", "request", "request"]
    records = [read for read in reads if isinstance(read, Record)]
    assert [record.page.html for record in records] == [b"<p>\xe4", "<p>\u20ac".encode(), b"<p>z"]
    assert [record.page.charset for record in records] == ["iso-8859-1", "utf-8", None]
    assert [record.page.url for record in records] == [
        "http://a.example/x?y",
        "http://pages.example/a%20b",
        "http://b.example",
    ]
    assert [record.time for record in records] == [f"2024-05-01T12:00:0{i}Z" for i in range(3)]
    assert len({record.page.id for record in records}) == 3
