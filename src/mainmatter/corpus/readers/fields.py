"""Rows of JSONL and Parquet to pages: which fields hold what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.readers.times import as_time
from mainmatter.corpus.records import Read, Record, Reject
from mainmatter.limits import format_size
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mainmatter.limits import Limits

# The names that a field goes by, the first one that there is counts. Case does not matter, nor whether a name is
# written with - or _.
HTML_FIELDS = ("html", "raw_html", "html_content")
TEXT_FIELDS = ("text", "plain_text")
# These may hold HTML or text; a look at them tells.
EITHER_FIELDS = ("content", "raw_content", "body")
URL_FIELDS = ("url", "uri", "target_uri", "warc_target_uri")
ID_FIELDS = ("id", "record_id", "warc_record_id", "doc_id", "document_id")
TIME_FIELDS = ("time", "date", "timestamp", "fetch_time", "crawl_date", "warc_date")
CONTENT_FIELDS = (*HTML_FIELDS, *TEXT_FIELDS, *EITHER_FIELDS)
_TAG = re.compile(r"<(!doctype|html|head|body|title|meta|div|p|table|script|h1|a|span|ul)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the fields of a row, or of the columns of a table, that matter; None for those it does not have."""

    content: str | None
    url: str | None
    id: str | None
    time: str | None


def find_names(names: Iterable[str]) -> Names:
    """Which fields hold what."""
    known = {name.lower().replace("-", "_"): name for name in names}

    def first(wanted: tuple[str, ...]) -> str | None:
        return next((known[name] for name in wanted if name in known), None)

    return Names(first(CONTENT_FIELDS), first(URL_FIELDS), first(ID_FIELDS), first(TIME_FIELDS))


def to_read(row: Mapping[str, Any], names: Names, source: str, position: int, limits: Limits) -> Read:
    """A row as a page, or why it is none."""
    url = _text(row.get(names.url)) if names.url else None
    name = _text(row.get(names.id)) if names.id else None
    if names.content is None:
        detail = f"it has no field for the page; looked for {', '.join(CONTENT_FIELDS)}"
        return Reject("damaged", detail, source, position, name, url)
    content = row[names.content]
    if not isinstance(content, str | bytes):
        detail = f"its field {names.content!r} is {_kind(content)}, not text"
        return Reject("damaged", detail, source, position, name, url)
    identity = name or f"{source}:{position}"
    if len(content) > limits.size:
        detail = f"has more than {format_size(limits.size)}; raise the limit with --max-size"
        return Reject("too-large", detail, source, position, identity, url)
    is_text = _is_text(names.content, content)
    html = sound(content) if isinstance(content, str) else content
    page = Page(html, url, identity, format="text" if is_text else "html")
    return Record(page, source, position, as_time(row.get(names.time)) if names.time else None)


def _is_text(field: str, content: str | bytes) -> bool:
    name = field.lower().replace("-", "_")
    if name in EITHER_FIELDS:
        start = content[:2000]
        return not _TAG.search(start if isinstance(start, str) else start.decode("latin-1"))
    return name in TEXT_FIELDS


def sound(text: str) -> str:
    """A text that can be written as UTF-8: JSON can hold halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") or None
    if value is None or isinstance(value, dict | list):
        return None
    return sound(str(value)) or None


def _kind(value: object) -> str:
    return "missing" if value is None else {"dict": "an object", "list": "a list"}.get(type(value).__name__, "a number")
