"""Pages that vanish: an element whose content is no markup was never closed, and holds all that follows.

A browser shows such a page as blank. Crawlers that cut and glue pages make them: `<title>Sport library-->` and then the
rest of the page, or a comment without an end.
"""

from __future__ import annotations

import re

_OPENING = re.compile(r"<(title|script|style|xmp|iframe|noframes|noembed)\b[^<>]*>|<!--", re.IGNORECASE)
_COMMENT_END = re.compile("-->")
# Where the page goes on: what stands before is the rest of a script or of a comment.
_MARKUP = re.compile(
    r"<(?:body|div|table|td|p|h[1-6]|ul|ol|form|section|article|main|header|nav|center)\b", re.IGNORECASE
)


def without_what_swallows(html: str) -> str | None:
    """The page without the tag that is never closed and holds the rest of it; None if there is no such tag."""
    position = 0
    while (opening := _OPENING.search(html, position)) is not None:
        tag = opening.group(1)
        closing = (re.compile(f"</{tag}", re.IGNORECASE) if tag else _COMMENT_END).search(html, opening.end())
        if closing is None:
            goes_on = _MARKUP.search(html, opening.end())
            return None if goes_on is None else html[: opening.start()] + html[goes_on.start() :]
        position = closing.end()
    return None
