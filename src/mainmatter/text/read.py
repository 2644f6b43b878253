"""A plain-text dump of a page to a document, in blocks as NCleaner's third stage does (NCleaner 2).

Blocks are separated by blank lines; a line that begins with a bullet or a number begins a list item. Other lines
were wrapped by the program that wrote the dump, and are joined. Unlike NCleaner, we also take an underlined or
`#`-marked line for a heading, since dumps are often Markdown today.

NCleaner's dumps come from Lynx, which wraps lines. Other dumps are not wrapped: in WET archives, and in the output of
many extractors, each line is a block, and there are no blank lines. Such dumps are recognised by that, and because most
of their lines have room for the first word of the next one, which lines that are wrapped at some width do not have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from mainmatter.html.parse import decode_page
from mainmatter.records import Columns, Document, Kind, Page

_BULLET = re.compile(r"[*+•·▪◦‣●○■□]\s+(?=\S)")
# Dashes and numbers also stand at the beginning of a line that was broken before them.
_MAYBE_BULLET = re.compile(r"(?:[–—-]|\(?\d{1,3}[.)])\s+(?=\S)")
_HEADING = re.compile(r"(#{1,6})\s+(?=\S)")
_UNDERLINE = re.compile(r"(=|-|~)\1{2,}")
# All of the above begin with one of these or with a digit: most lines need not be looked at closely.
_MARKS = frozenset("*+•·▪◦‣●○■□–—-(#=~")

# White space that breaks no line; with these few searches a whole dump is normalised faster than line by line.
_SPACES = "\t\x1f\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"

_FEWEST_LINES = 5  # fewer do not tell
_NARROWEST, _WIDEST = 40, 132  # characters at which lines are broken: half of a terminal's 80, and a wide one's
_LONGEST_WORD = 20  # longer ones, and scripts without spaces, are broken too


@dataclass(slots=True)
class _Draft:
    """A block in the making."""

    kind: Kind
    position: int
    level: int
    lines: list[str] = field(default_factory=list)


def read_text(page: Page) -> Document:
    """Read a plain-text dump: find its encoding, split it into blocks.

    Raises:
        NotAPage: it is neither HTML nor text.
    """
    text, encoding = decode_page(page)
    return Document(page, segment_text(text, page.lines_are_blocks), encoding)


def segment_text(text: str, lines_are_blocks: bool = False) -> Columns:
    """Split a plain-text dump into blocks.

    Args:
        text: the dump.
        lines_are_blocks: every line is a block. If None, that is assumed for a dump of five lines or more that has no
            blank line and whose lines were not broken at some width.

    The position of a block counts the blocks before it and the blank lines beyond the one that separates two blocks,
    which stand for the tags that the dump has lost.
    """
    lines = _with_single_spaces(text).splitlines()
    drafts = _drafts(lines, lines_are_blocks or _are_blocks(lines))
    return Columns.of(
        [" ".join(draft.lines) for draft in drafts],
        kinds=[draft.kind for draft in drafts],
        levels=[draft.level for draft in drafts],
        positions=[draft.position for draft in drafts],
    )


def _drafts(lines: list[str], lines_are_blocks: bool) -> list[_Draft]:
    drafts: list[_Draft] = []
    current: _Draft | None = None
    position = blank_lines = 0
    for raw_line in lines:
        line = raw_line.strip()
        if not line:
            blank_lines += 1
            current = None
            continue
        if blank_lines > 1:
            position += blank_lines - 1
        blank_lines = 0
        may_have_mark = line[0] in _MARKS or line[0].isdigit()
        if current is not None and may_have_mark and _is_underlined(current, line, lines_are_blocks):
            current.kind, current.level = Kind.HEADING, 1 if line[0] == "=" else 2
            current = None
        elif current is None or lines_are_blocks or (may_have_mark and _begins_block(line, current)):
            current = _begin(line, position) if may_have_mark else _Draft(Kind.PARAGRAPH, position, 0, [line])
            drafts.append(current)
            position += 1
            if current.kind is Kind.HEADING:
                current = None
        else:
            current.lines.append(line)
    return drafts


def _is_underlined(above: _Draft, line: str, lines_are_blocks: bool) -> bool:
    """Whether a line underlines the one above it. Where each line is a block, rules stand between texts, too."""
    is_alone = len(above.lines) == 1 and _UNDERLINE.fullmatch(line) is not None
    return is_alone and (not lines_are_blocks or 2 * len(line) >= len(above.lines[0]))


def _are_blocks(lines: list[str]) -> bool:
    """Whether each line of a dump is a block: no blank line is between them, and none was broken."""
    told = [line.rstrip() for line in lines]
    while told and not told[-1]:
        told.pop()
    first = next((i for i, line in enumerate(told) if line), 0)
    told = told[first:]
    return len(told) >= _FEWEST_LINES and all(told) and not _are_broken(told)


def _are_broken(lines: list[str]) -> bool:
    """Whether lines were broken at some width: that of the longest one, which most others nearly reach."""
    width = max((len(line) for line in lines if " " in line), default=0)
    if not _NARROWEST <= width <= _WIDEST:
        return False
    full = 0
    for line, following in pairwise(lines):
        word = following.split(maxsplit=1)[0]
        full += len(line) + 1 + min(len(word), _LONGEST_WORD) > width
    return 2 * full >= len(lines) - 1


def _with_single_spaces(text: str) -> str:
    """The same lines, with one space for all white space within a line; lines may begin or end with a space."""
    for space in _SPACES:
        if space in text:
            text = text.replace(space, " ")
    while "  " in text:
        text = text.replace("  ", " ")  # halves the longest run, so there are few rounds
    return text


def _begins_block(line: str, current: _Draft) -> bool:
    """Whether a line that follows another one without a blank line begins a block of its own."""
    if _BULLET.match(line) or _HEADING.match(line):
        return True
    return _MAYBE_BULLET.match(line) is not None and (
        current.kind is Kind.LIST_ITEM or current.lines[-1].endswith((":", "："))
    )


def _begin(line: str, position: int) -> _Draft:
    """Start a block with its first line, less the mark that tells its kind; numbers are part of the text."""
    if heading := _HEADING.match(line):
        return _Draft(Kind.HEADING, position, len(heading[1]), [line[heading.end() :]])
    if bullet := _BULLET.match(line):
        return _Draft(Kind.LIST_ITEM, position, 0, [line[bullet.end() :]])
    if maybe := _MAYBE_BULLET.match(line):
        is_number = line[0] not in "–—-"
        return _Draft(Kind.LIST_ITEM, position, 0, [line if is_number else line[maybe.end() :]])
    return _Draft(Kind.PARAGRAPH, position, 0, [line])
