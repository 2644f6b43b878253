"""The paragraphs of a gold text, as far as it tells them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mainmatter.records import Gold

_MARKER = re.compile("<[hlp]>", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n")
_WRAPPED_WIDTH = 100  # lines of a text that was wrapped by hand or by a program are shorter than this


def gold_paragraphs(gold: Gold) -> list[str]:
    """The paragraphs of a gold text: by its markup, else its lines, else, if lines are wrapped, by blank lines."""
    if gold.marked is not None:
        pieces = _MARKER.split(gold.marked)
    else:
        text = gold.text or ""
        pieces = _BLANK_LINES.split(text) if _is_wrapped(text) else text.splitlines()
    return [joined for piece in pieces if (joined := " ".join(piece.split()))]


def _is_wrapped(text: str) -> bool:
    """Whether a text's lines are not its paragraphs: no line is long, and most go on in the next."""
    lines = text.splitlines()
    with_text = [line for line in lines if line.strip()]
    if not with_text or max(map(len, with_text)) > _WRAPPED_WIDTH:
        return False
    paragraphs = len([piece for piece in _BLANK_LINES.split(text) if piece.strip()])
    return 1 < paragraphs < len(with_text) / 2
