"""Simple markup for blocks that have none of their own: those of plain-text dumps."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from mainmatter.records import Kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.records import Extraction

_TAGS = {Kind.LIST_ITEM: "li", Kind.CODE: "pre", Kind.QUOTE: "blockquote"}


def block_html(extraction: Extraction, chosen: NDArray[np.bool_]) -> str:
    """The chosen blocks as headings, paragraphs and lists."""
    columns = extraction.document.columns
    lines = []
    for in_list, group in groupby(chosen.nonzero()[0].tolist(), lambda i: extraction.kinds[i] is Kind.LIST_ITEM):
        elements = [_element(extraction.kinds[i], columns.levels[i], columns.texts[i]) for i in group]
        lines += ["<ul>", *elements, "</ul>"] if in_list else elements
    return "\n".join(lines)


def block_markdown(extraction: Extraction, chosen: NDArray[np.bool_]) -> str:
    """The chosen blocks as Markdown."""
    columns = extraction.document.columns
    parts: list[str] = []
    previous: Kind | None = None
    for i in chosen.nonzero()[0].tolist():
        kind = extraction.kinds[i]
        if parts:
            parts.append("\n" if kind is previous is Kind.LIST_ITEM else "\n\n")
        mark = "#" * max(1, columns.levels[i]) + " " if kind is Kind.HEADING else "- " if kind is Kind.LIST_ITEM else ""
        parts.append(mark + columns.texts[i])
        previous = kind
    return "".join(parts)


def _element(kind: Kind, level: int, text: str) -> str:
    tag = f"h{max(1, level)}" if kind is Kind.HEADING else _TAGS.get(kind, "p")
    return f"<{tag}>{escape(text, quote=False)}</{tag}>"
