"""A plain-text dump of a page to blocks, as NCleaner's third stage does (NCleaner 2).

Blocks are separated by blank lines; a line that begins with a bullet or a number begins a list item. Lines in between
were broken by whoever wrote the dump, and are joined. Other than NCleaner we also take an underlined or `#`-marked
line for a heading, since dumps are often Markdown today.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mainmatter.records import Columns, Kind

_BULLET = re.compile(r"(?:[*+•·▪◦‣●○■□–—-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_HEADING = re.compile(r"(#{1,6})\s+(?=\S)")
_UNDERLINE = re.compile(r"(=|-|~)\1{2,}")


@dataclass(slots=True)
class _Draft:
    """A block in the making."""

    kind: Kind
    position: int
    level: int = 0
    lines: list[str] = field(default_factory=list)


def segment_text(text: str) -> Columns:
    """Split a plain-text dump into blocks. The position of each is the number of its first line."""
    drafts = _drafts(text)
    return Columns(
        texts=[" ".join(draft.lines) for draft in drafts],
        kinds=[draft.kind for draft in drafts],
        levels=[draft.level for draft in drafts],
        positions=[draft.position for draft in drafts],
        link_chars=[0] * len(drafts),
        link_counts=[0] * len(drafts),
        controls=[False] * len(drafts),
    )


def _drafts(text: str) -> list[_Draft]:
    drafts: list[_Draft] = []
    current: _Draft | None = None
    for number, raw_line in enumerate(text.splitlines()):
        line = " ".join(raw_line.split())
        if not line:
            current = None
        elif current is not None and len(current.lines) == 1 and _UNDERLINE.fullmatch(line):
            current.kind, current.level = Kind.HEADING, 1 if line[0] == "=" else 2
            current = None
        elif current is None or _BULLET.match(line) or _HEADING.match(line):
            current = _begin(line, number)
            drafts.append(current)
            if current.kind is Kind.HEADING:
                current = None
        else:
            current.lines.append(line)
    return drafts


def _begin(line: str, number: int) -> _Draft:
    """Start a block with its first line, less the mark that tells its kind."""
    if heading := _HEADING.match(line):
        return _Draft(Kind.HEADING, number, len(heading[1]), [line[heading.end() :]])
    if bullet := _BULLET.match(line):
        return _Draft(Kind.LIST_ITEM, number, 0, [line[bullet.end() :]])
    return _Draft(Kind.PARAGRAPH, number, 0, [line])
