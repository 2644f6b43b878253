"""Rows of JSONL and Parquet to pages: which fields hold what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter.corpus.records import Read, Record, Reject
from mainmatter.limits import format_size
from mainmatter.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mainmatter.corpus.records import Slice
    from mainmatter.limits import Limits


# The names that a field goes by, the first one that there is counts. Case does not matter, nor whether a name is
# written with - or _.
HTML_FIELDS = ("html", "raw_html", "html_content", "page_html")
TEXT_FIELDS = ("text", "plain_text")
# These may hold HTML or text; a look at them tells.
EITHER_FIELDS = ("content", "raw_content", "body")
URL_FIELDS = ("url", "uri", "target_uri", "warc_target_uri", "page_url", "link")
ID_FIELDS = ("id", "record_id", "warc_record_id", "doc_id", "document_id")
TIME_FIELDS = ("time", "date", "timestamp", "fetch_time", "crawl_date", "warc_date")
CONTENT_FIELDS = (*HTML_FIELDS, *TEXT_FIELDS, *EITHER_FIELDS)
_TAG = re.compile(r"<(!doctype|html|head|body|title|meta|div|p|table|script|h1|a|span|ul)\b", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[a-z!/]", re.IGNORECASE)
_MOST_NAMES = 20  # of fields, to list in a message
_LONGEST_NAME = 60


class FieldNames(NamedTuple):
    """The fields that hold what, as the user names them; "" for one of the names that are known."""

    html: str = ""
    url: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the fields of a row, or of the columns of a table, that matter; None for those it does not have."""

    content: str | None
    url: str | None
    id: str | None
    time: str | None


def names_of(one: Slice) -> FieldNames:
    """The fields that a slice says hold what."""
    return FieldNames(one.html_field, one.url_field, one.id_field)


def find_names(names: Iterable[str], wanted: FieldNames = FieldNames()) -> Names:  # noqa: B008 - it cannot be changed
    """Which fields hold what: those that are wanted, else those that go by a known name."""
    exact = list(names)
    known = {_plain(name): name for name in reversed(exact)}  # of two that are written alike, the first

    def first(choice: str, usual: tuple[str, ...]) -> str | None:
        if choice and choice in exact:
            return choice
        return next((known[name] for name in ((_plain(choice),) if choice else usual) if name in known), None)

    return Names(
        first(wanted.html, CONTENT_FIELDS),
        first(wanted.url, URL_FIELDS),
        first(wanted.id, ID_FIELDS),
        first("", TIME_FIELDS),
    )


def why_no_page(names: Iterable[str], wanted: FieldNames, what: str) -> str:
    """That there is no field, or no column, for the page; says which there are and what to do."""
    there = in_words(names)
    if wanted.html:
        return f"has no {what} {wanted.html!r} for the page (--html-field); its {what}s are {there}"
    known = ", ".join(CONTENT_FIELDS)
    return (
        f"has no {what} for the page; looked for {known} (name another with --html-field), but its {what}s are {there}"
    )


def in_words(names: Iterable[str]) -> str:
    """Names of fields, the first of them, and the beginning of each, as a message can hold them."""
    listed = [sound(name[:_LONGEST_NAME]) for name in names]
    more = f" and {len(listed) - _MOST_NAMES} others" if len(listed) > _MOST_NAMES else ""
    return f"{', '.join(listed[:_MOST_NAMES]) or 'none'}{more}"


def to_read(
    row: Mapping[str, Any],
    names: Names,
    source: str,
    position: int,
    limits: Limits,
    wanted: FieldNames = FieldNames(),  # noqa: B008
) -> Read:
    """A row as a page, or why it is none."""
    url = _text(row.get(names.url)) if names.url else None
    name = _text(row.get(names.id)) if names.id else None
    if names.content is None:
        detail = f"it {why_no_page(row, wanted, 'field')}"
        return Reject("damaged", detail, source, position, name, url)
    content = row[names.content]
    if not isinstance(content, str | bytes):
        detail = f"its field {names.content!r} {_kind(content)}"
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
    name = _plain(field)
    if name in HTML_FIELDS or name in TEXT_FIELDS:
        return name in TEXT_FIELDS
    start = content[:2000] if name in EITHER_FIELDS else content[:100_000]
    tag = _TAG if name in EITHER_FIELDS else _ANY_TAG  # who names a field most likely means HTML
    return not tag.search(start if isinstance(start, str) else start.decode("latin-1"))


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


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
    if value is None:
        return "is empty (null)"
    words = {"dict": "an object", "list": "a list", "bool": "true or false"}.get(type(value).__name__, "a number")
    return f"is {words}, not text"


_USUAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_DIGITS = re.compile(r"\d{14}")  # as in the names of captures


def as_time(value: object) -> str | None:
    """A point in time as ISO 8601 in UTC; None if it is none.

    Args:
        value: text (ISO 8601, or fourteen digits), seconds since 1970, or a date of Python's. One without a time zone
            is taken for UTC.
    """
    try:
        if isinstance(value, str):
            return _from_text(value.strip())
        if isinstance(value, datetime):
            return _format(value)
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _format(datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC))
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _from_text(text: str) -> str | None:
    if _USUAL.fullmatch(text):
        return text
    if _DIGITS.fullmatch(text):
        return _format(datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC))
    if len(text) == 10:
        return date.fromisoformat(text).isoformat()
    return _format(datetime.fromisoformat(text))


def _format(moment: datetime) -> str:
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.replace(tzinfo=None).isoformat() + "Z"
