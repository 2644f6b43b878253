"""The time of a change."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """Now, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
