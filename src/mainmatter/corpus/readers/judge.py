"""What is a page, and what is not: decided by what a record of an archive says about itself, and by a look at it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mainmatter.corpus.readers.http_body import Answer, Content, content_type, read_answer, unpack_body
from mainmatter.corpus.readers.times import as_time
from mainmatter.corpus.records import Read, Record, Reject, Skipped
from mainmatter.inputs.paths import MAGIC_NUMBERS
from mainmatter.limits import format_size
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mainmatter.limits import Limits

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
_NO_ANSWER = Answer(200, "", {}, 0)


@dataclass(frozen=True, slots=True)
class Found:
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


def judge(found: Found, content: Content, limits: Limits) -> Read:
    """Tell whether a record is a page.

    Pages are responses with status 200 or 203 and resources, if they are HTML or plain text, and conversions (WET),
    which are plain text, each line a block.

    A revisit says that a page was fetched again and had not changed; it has no content of its own.
    """
    if found.type in _PAGES and not found.is_dns:
        if found.type == "response":
            return _judge_answer(found, content, limits)
        return _judge_body(found, content, _NO_ANSWER, found.headers.get("content-type", ""), limits)
    if found.type == "revisit":
        return found.reject("revisit", "it repeats a page that was fetched before, and has no content of its own")
    return Skipped("dns" if found.is_dns else found.type or "unknown", found.source, found.position)


def _judge_answer(found: Found, content: Content, limits: Limits) -> Read:
    answer = read_answer(content)
    if answer.status == 0:
        return found.reject("damaged", "it has no HTTP header")
    if answer.status not in _STATUSES:
        return found.reject("http-status", f"the server answered {answer.status} {answer.reason}".rstrip())
    return _judge_body(found, content, answer, answer.headers.get("content-type", ""), limits)


def _judge_body(found: Found, content: Content, answer: Answer, type_header: str, limits: Limits) -> Read:
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
        return found.reject("damaged", f"its body cannot be unpacked as its Content-Encoding says: {encoding}")
    if len(body) > limits.size:
        return _too_large(found, limits)
    form = _format(media_type, body)
    if form is None:
        words = _by_magic(body) or "neither HTML nor text"
        named = f"is called {media_type}, but " if media_type else ""
        return found.reject("not-a-page", f"{named}is {words}, not a web page")
    is_wet = found.type == "conversion" and media_type == "text/plain"
    page = Page(body, found.url, found.id, charset, form, lines_are_blocks=is_wet)
    return Record(page, found.source, found.position, as_time(found.headers.get("warc-date")), answer.headers)


def _too_large(found: Found, limits: Limits) -> Reject:
    return found.reject("too-large", f"has more than {format_size(limits.size)}; raise the limit with --max-size")


def _not_a_page(found: Found, media_type: str) -> Reject | None:
    """A reject by the media type alone."""
    if media_type in _HTML or media_type in _TEXT or media_type in _XML or media_type in _UNKNOWN:
        return None
    words = next((words for name, words in _WORDS.items() if media_type.startswith(name)), "")
    return found.reject("not-a-page", f"is {media_type}{f', {words}' if words else ''}, not a web page")


def _format(media_type: str, body: bytes) -> Format | None:
    """How a body is to be read; None if it is no page after all."""
    if _by_magic(body):
        return None
    if media_type in _HTML:
        return "html"
    if media_type in _TEXT:
        return "text"
    if media_type in _XML:
        return "html" if _HTML_ELEMENT.search(body, 0, _SNIFFED) else None
    return "html" if _LOOKS_LIKE_HTML.search(body, 0, _SNIFFED) and b"\0" not in body[:_SNIFFED] else None


def _by_magic(body: bytes) -> str | None:
    """What a body is that begins as no page does."""
    return next((words for number, words in MAGIC_NUMBERS.items() if body.startswith(number)), None)
