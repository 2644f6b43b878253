"""Make examples/crawl.warc.gz: a small crawl of an invented site, with all that a real crawl has in it.

The texts are in crawl/pages.txt, the site's template in crawl/template.html. The archive holds, besides the articles:
duplicates under other addresses, a print version, a page that asks not to be indexed, a page that was not there, one
that is empty, a picture, a PDF, a redirect, and the records that crawlers write about themselves.

Its records are the same wherever it is made (their compressed form may differ between versions of zlib):

    python examples/make_crawl.py
"""

from __future__ import annotations

import gzip
import hashlib
import html
import re
import struct
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SITE = "https://courier.example"
MIRROR = "https://www.courier.example"
STARTED = datetime(2026, 1, 12, 6, 0, tzinfo=UTC)
NOINDEX = '\n<meta name="robots" content="noindex, follow">'
MOST_READ = 5


@dataclass(frozen=True)
class Article:
    """One text of the site.

    Attributes:
        path: its address on the site.
        language: a BCP 47 tag.
        title: the headline.
        author: who wrote it.
        date: when, as YYYY-MM-DD.
        lines: its paragraphs; those that begin with `# ` are headings, with `* ` list items.
    """

    path: str
    language: str
    title: str
    author: str
    date: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What the server sent for one address."""

    url: str
    body: bytes
    status: str = "200 OK"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)


def main() -> None:
    """Write the archive beside this file."""
    target = HERE / "crawl.warc.gz"
    target.write_bytes(make_archive())
    print(f"{target.name}: {target.stat().st_size:,} bytes")


def make_archive() -> bytes:
    """The archive: one gzip member a record, as the WARC standard recommends."""
    records = [_record("warcinfo", None, b"software: examples/make_crawl.py\r\nformat: WARC File Format 1.1\r\n", 0)]
    for number, answer in enumerate(all_answers(read_articles()), start=1):
        if number <= 2:  # crawlers record what they asked, too
            path = answer.url.removeprefix(SITE) or "/"
            asked = f"GET {path} HTTP/1.1\r\nHost: courier.example\r\nUser-Agent: example\r\n\r\n".encode()
            records.append(_record("request", answer.url, asked, number))
        records.append(_record("response", answer.url, _http(answer), number))
    return b"".join(_gzip(record) for record in records)


def read_articles() -> list[Article]:
    """The texts, in the order of the file."""
    articles = []
    for part in re.split(r"^== ", (HERE / "crawl" / "pages.txt").read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, *lines = [line for line in part.splitlines() if line]
        path, language, title, author, date = head.split(" | ")
        articles.append(Article(path, language, title, author, date, tuple(lines)))
    return articles


def all_answers(articles: list[Article]) -> Iterator[Answer]:
    """Everything that the crawl brought home, in its order."""
    pages = {article.path: _page(article, articles) for article in articles}
    yield Answer(f"{SITE}/", _front_page(articles))
    for path, page in pages.items():
        yield Answer(SITE + path, page)
        if path == "/weather/reading-the-sky":  # the same page, by a link that carries a session
            yield Answer(f"{SITE}{path}?session=5f1c09", page)
        if path == "/travel/coastal-path":
            yield Answer(f"{SITE}/images/path.png", _picture(), headers=(("Content-Type", "image/png"),))
    by_path = {article.path: article for article in articles}
    yield Answer(f"{MIRROR}/health/cold-water", pages["/health/cold-water"])
    yield Answer(f"{SITE}/print/law/mooring-rules", _print_version(by_path["/law/mooring-rules"]))
    yield Answer(f"{SITE}/members/noticeboard", _noticeboard(articles))
    yield Answer(f"{SITE}/money/price-list.pdf", _PDF, headers=(("Content-Type", "application/pdf"),))
    missing = Article("/news/old-pier", "en", "There is no such page", "Port Ellery Courier", "2026-01-12", (_MISSING,))
    yield Answer(SITE + missing.path, _page(missing, articles), status="404 Not Found")
    yield Answer(f"{SITE}/news/empty", b"")
    moved = (("Location", f"{SITE}/tickets/ferry"), ("Content-Type", "text/html; charset=utf-8"))
    yield Answer(f"{SITE}/ferry", b"<p>Moved.</p>", status="301 Moved Permanently", headers=moved)


def _page(article: Article, articles: list[Article], robots: str = "") -> bytes:
    template = Template((HERE / "crawl" / "template.html").read_text("utf-8"))
    summary = next(line for line in article.lines if not line.startswith(("# ", "* ")))
    return template.substitute(
        language=article.language,
        title=html.escape(article.title),
        author=html.escape(article.author),
        date=article.date,
        summary=html.escape(re.split(r"(?<=[.?!]) ", summary)[0]),
        robots=robots,
        body=_markup(article.lines),
        most_read="\n".join(_link(other) for other in _others(article, articles)),
    ).encode()


def _others(article: Article, articles: list[Article]) -> list[Article]:
    """The articles that stand beside one: others on each page, and the same each time."""
    start = zlib.crc32(article.path.encode()) % len(articles)
    ring = articles[start:] + articles[:start]
    return [other for other in ring if other.path != article.path][:MOST_READ]


def _markup(lines: tuple[str, ...]) -> str:
    marked = []
    for line in lines:
        tag = {"# ": "h2", "* ": "li"}.get(line[:2], "p")
        text = html.escape(line if tag == "p" else line[2:], quote=False)
        marked.append(f"<{tag}>{text}</{tag}>")
    return re.sub(r"(?:<li>.*</li>\n?)+", lambda items: f"<ul>\n{items[0].rstrip()}\n</ul>\n", "\n".join(marked))


def _link(article: Article) -> str:
    return f'<li><a href="{article.path}">{html.escape(article.title)}</a></li>'


def _front_page(articles: list[Article]) -> bytes:
    welcome = Article(
        "/",
        "en",
        "This week in Port Ellery",
        "The editors",
        "2026-01-12",
        (
            _WELCOME,
            *(f"* {article.title}" for article in articles if article.language == "en"),
        ),
    )
    return _page(welcome, articles)


def _print_version(article: Article) -> bytes:
    """The same text without the site around it: a near duplicate."""
    title = html.escape(article.title)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title} (print version)</title></head>\n'
        f"<body>\n<h1>{title}</h1>\n{_markup(article.lines)}\n"
        f"<p>Printed from {SITE}{article.path}</p>\n</body></html>\n"
    ).encode()


def _noticeboard(articles: list[Article]) -> bytes:
    """A page that asks search engines to leave it alone."""
    notices = Article(
        "/members/noticeboard",
        "en",
        "Members' noticeboard",
        "The editors",
        "2026-01-10",
        (
            "Found on the coal steps, one glove, left hand, green. The owner may prove it by bringing the other.",
            "Wanted: a piano that does not have to be carried upstairs. Offered: carrying, of anything else.",
            "The reading circle meets on Thursday. Please bring the book this time.",
        ),
    )
    return _page(notices, articles, NOINDEX)


_WELCOME = (
    "The Courier has come out every week since 1894, with two gaps: the winter of 1917, when there was no paper, and a "
    "fortnight in 1953, when the press stood under water. It is written by eleven people, nine of whom do something "
    "else for a living."
)
_MISSING = "The page that you were looking for has been moved, or was never here. The menu above leads to all others."
_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)


def _picture() -> bytes:
    """A PNG picture of one grey point."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    # A stored block: compressed ones may differ between versions of zlib.
    pixels = zlib.compress(b"\0\x80", level=0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def _http(answer: Answer) -> bytes:
    headers = (*answer.headers, ("Content-Length", str(len(answer.body))))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {answer.status}\r\n{lines}\r\n".encode() + answer.body


def _record(kind: str, url: str | None, block: bytes, number: int) -> bytes:
    """One WARC record; its id and its time follow from what it is and its place in the crawl."""
    identity = UUID(bytes=hashlib.sha256(f"{kind} {number} {url}".encode()).digest()[:16], version=4)
    time = (STARTED + timedelta(seconds=2 * number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    content = {"warcinfo": "application/warc-fields"}.get(kind, f"application/http; msgtype={kind}")
    headers = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{identity}>",
        "WARC-Date": time,
        **({"WARC-Target-URI": url} if url else {}),
        "Content-Type": content,
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def _gzip(record: bytes) -> bytes:
    return gzip.compress(record, compresslevel=9, mtime=0)


if __name__ == "__main__":
    main()
