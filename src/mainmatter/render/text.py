"""Plain text: a blank line between blocks, none between the items of a list or the rows of a table.

Comments that are marked come last, after a line of their own, at which a program can split the text. Hardly any page
contains that line. If you need to be certain, use JSON, which has both texts separately.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Literal

import numpy as np

from mainmatter.records import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.records import Document, Extraction

COMMENTS = "Comments"  # the only word that is ours in any output; pages' own headings for their comments stay too
COMMENTS_LINE = f"--- {COMMENTS} ---"
_STAND_TOGETHER = frozenset((Kind.LIST_ITEM, Kind.TABLE_ROW))


def render(extraction: Extraction, *, only: Literal["main", "comment"] | None = None) -> str:
    """The kept blocks' text, laid out by their kinds on the page, since methods recognise too few lists.

    Args:
        extraction: what was decided.
        only: the kept blocks of this label alone, whether comments are marked or not; by default all.
    """
    if only is not None:
        is_comment = extraction.is_comment if extraction.is_comment is not None else np.zeros_like(extraction.kept)
        return lay_out(extraction.document, extraction.kept & (is_comment if only == "comment" else ~is_comment))
    main, comments = main_and_comments(extraction)
    text = lay_out(extraction.document, main)
    if comments is None:
        return text
    return "\n\n".join(filter(None, (text, COMMENTS_LINE, lay_out(extraction.document, comments))))


def lay_out(document: Document, chosen: NDArray[np.bool_]) -> str:
    """The text of some blocks of a page, in the page's order."""
    return "".join(_parts(document, chosen.nonzero()[0].tolist()))


def block_starts(extraction: Extraction) -> tuple[list[int], list[int], int]:
    """Where each kept block stands in `Extraction.text`.

    Returns:
        The blocks' numbers in the order of the text; where each begins, in characters; and how many of them come before
        the comments that are set apart.
    """
    main, comments = main_and_comments(extraction)
    blocks = main.nonzero()[0].tolist()
    starts = _starts(_parts(extraction.document, blocks), 0)
    if comments is None:
        return blocks, starts, len(blocks)
    of_comments = comments.nonzero()[0].tolist()
    parts = _parts(extraction.document, of_comments)
    starts += _starts(parts, len(extraction.text) - sum(map(len, parts)))  # they are the end of the text
    return blocks + of_comments, starts, len(blocks)


def _starts(parts: list[str], first: int) -> list[int]:
    """Where each text of some parts begins, if the first begins there."""
    return list(accumulate(map(len, parts), initial=first))[:-1:2]


def _parts(document: Document, numbers: list[int]) -> list[str]:
    """The texts of blocks, with what stands between each two of them."""
    texts, kinds = document.columns.texts, document.columns.kinds
    parts: list[str] = []
    previous: Kind | None = None
    for i in numbers:
        kind = kinds[i]
        if parts:
            parts.append("\n" if kind is previous and kind in _STAND_TOGETHER else "\n\n")
        parts.append(texts[i])
        previous = kind
    return parts


def main_and_comments(extraction: Extraction) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Which blocks to render as main matter, and which apart, as comments: None where there is nothing to set apart.

    Comments that are kept but not marked are part of the main matter, at their places on the page.
    """
    is_comment = extraction.is_comment
    if not extraction.marks_comments or is_comment is None:
        return extraction.kept, None
    comments = extraction.kept & is_comment
    return (extraction.kept & ~is_comment, comments) if comments.any() else (extraction.kept, None)
