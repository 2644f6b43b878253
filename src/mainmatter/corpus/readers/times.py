"""Points in time as collections write them, to ISO 8601 in UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

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
