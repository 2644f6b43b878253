"""Make a crawl, as an archive (WARC.gz), of the pages of gold standards: for benches and for trying the corpus out.

python scripts/make_crawl.py --data ../shared/data --on wcxb-dev --on readability --pages 2000 -o crawl.warc.gz

The archive has what crawlers write: a warcinfo record, then for each page its request and its response with HTTP
headers, each record a gzip member of its own. The same pages give the same bytes: dates are fixed and ids are made
from the content.
"""

from __future__ import annotations

import gzip
import uuid
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import click

from mainmatter.lab.datasets import load_dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.records import Page

FIRST_DATE = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # that of URLs (RFC 9562, section 6.6)


def make_crawl(pages: Iterable[Page]) -> Iterator[bytes]:
    """The archive, record by record."""
    info = b"software: mainmatter scripts/make_crawl.py\r\nformat: WARC File Format 1.1\r\n"
    yield _record("warcinfo", "", FIRST_DATE, "application/warc-fields", info, "warcinfo")
    for number, page in enumerate(pages):
        date = FIRST_DATE + timedelta(seconds=number)
        url = page.url or f"http://pages.example/{quote(page.id or str(number))}"
        key = f"{number} {url}"
        yield _record("request", url, date, "application/http; msgtype=request", _request(url), f"request {key}")
        yield _record("response", url, date, "application/http; msgtype=response", _response(page, date), key)


def _record(kind: str, url: str, date: datetime, media_type: str, block: bytes, key: str) -> bytes:
    """One record as a gzip member of its own."""
    lines = ["WARC/1.1", f"WARC-Type: {kind}", f"WARC-Record-ID: <urn:uuid:{uuid.uuid5(NAMESPACE, key)}>"]
    lines.append(f"WARC-Date: {date:%Y-%m-%dT%H:%M:%SZ}")
    if url:
        lines.append(f"WARC-Target-URI: {url}")
    lines += [f"Content-Type: {media_type}", f"Content-Length: {len(block)}", "", ""]
    return gzip.compress("\r\n".join(lines).encode() + block + b"\r\n\r\n", 6, mtime=0)


def _request(url: str) -> bytes:
    parts = urlsplit(url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: text/html\r\n\r\n".encode()


def _response(page: Page, date: datetime) -> bytes:
    body = page.html.encode("utf-8", "replace") if isinstance(page.html, str) else page.html
    charset = "utf-8" if isinstance(page.html, str) else page.charset
    media_type = f"text/html; charset={charset}" if charset else "text/html"
    head = f"HTTP/1.1 200 OK\r\nDate: {date:%a, %d %b %Y %H:%M:%S} GMT\r\nContent-Type: {media_type}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True, help="The folder of the gold standards.")
@click.option("--on", "names", multiple=True, required=True, help="A gold standard; may be given again.")
@click.option("--pages", type=click.IntRange(1), help="The first so many pages only.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True)
def main(data: Path, names: tuple[str, ...], pages: int | None, output: Path) -> None:
    """Write the archive."""
    every = chain.from_iterable((gold.page for gold in load_dataset(name, data)) for name in names)
    count = 0
    with output.open("wb") as file:
        for record in make_crawl(islice(every, pages)):
            file.write(record)
            count += 1
    click.echo(f"{output}: {count // 2} pages, {output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
