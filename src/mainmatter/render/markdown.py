"""Markdown, from the page's own markup: links, emphasis, lists, tables, code, and images if asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mainmatter.html.parse import to_markdown
from mainmatter.records import Kind
from mainmatter.render.html import pruned_body
from mainmatter.render.text import COMMENTS, main_and_comments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.records import Extraction

# Fenced code, and code within a line: whatever is in it stays as it is.
_CODE = re.compile(r"^(`{3,})[^`\n]*\n.*?^\1$|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
# How the parser writes <br><br>; in the blocks that is a paragraph break.
_LINE_BREAKS = re.compile(r"(?<! ) *\n(?:[ >]*\\\n)+")
# What the parser leaves as HTML because Markdown cannot mark it, such as emphasis within a word. What a page says in
# angle brackets is escaped.
_LINE_BREAK_TAG = re.compile(r"(?<!\\)<br>")
_EMPHASIS_TAG = re.compile(r"(?<!\\)</?(?:b|code|del|em|i|ins|kbd|mark|q|s|small|strike|strong|sub|sup|u)>")


def render(extraction: Extraction, *, links: bool = True, images: bool = False) -> str:
    """The kept blocks as Markdown (GitHub's flavour); comments that are marked are a section at the end."""
    main, comments = main_and_comments(extraction)
    content = _content(extraction, main, links=links, images=images)
    if comments is None:
        return content
    section = f"## {COMMENTS}\n\n{_content(extraction, comments, links=links, images=images)}"
    return f"{content}\n\n{section}" if content else section


def _content(extraction: Extraction, chosen: NDArray[np.bool_], *, links: bool, images: bool) -> str:
    body = pruned_body(extraction, chosen, images=images)
    if body is None:
        return _blocks_as_markdown(extraction, chosen)
    return _outside_of_code(to_markdown(body, links=links, images=images)).strip()


def _outside_of_code(markdown: str) -> str:
    """Tidy Markdown everywhere but in code."""
    pieces = []
    end = 0
    for code in _CODE.finditer(markdown):
        pieces += [_tidy(markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, _tidy(markdown[end:])])


def _tidy(markdown: str) -> str:
    """Paragraph breaks for runs of line breaks, and no tags."""
    markdown = _LINE_BREAKS.sub("\n\n", markdown)
    return _EMPHASIS_TAG.sub("", _LINE_BREAK_TAG.sub(" ", markdown))


def _blocks_as_markdown(extraction: Extraction, chosen: NDArray[np.bool_]) -> str:
    """Blocks that have no markup of their own, those of plain-text dumps."""
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
