"""Plain text: a blank line between blocks, none between the items of a list or the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.records import Kind

if TYPE_CHECKING:
    from mainmatter.records import Extraction

_STAND_TOGETHER = frozenset((Kind.LIST_ITEM, Kind.TABLE_ROW))


def render(extraction: Extraction) -> str:
    """The kept blocks' text, laid out by what the page says that they are: methods see too few lists."""
    texts, kinds = extraction.document.columns.texts, extraction.document.columns.kinds
    parts: list[str] = []
    previous: Kind | None = None
    for i in extraction.kept.nonzero()[0].tolist():
        kind = kinds[i]
        if parts:
            parts.append("\n" if kind is previous and kind in _STAND_TOGETHER else "\n\n")
        parts.append(texts[i])
        previous = kind
    return "".join(parts)
