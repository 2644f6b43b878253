"""The charset that a Content-Type header names."""

from __future__ import annotations


def charset_of(header: str) -> str | None:
    """The charset of a Content-Type header, in lower case; None if it names none, or cannot be read."""
    from email.message import Message  # most users clean files

    message = Message()
    message["Content-Type"] = header
    try:
        return message.get_content_charset()
    except Exception:  # servers write anything there, and Python's reader raises LookupError, TypeError, ValueError
        return None
