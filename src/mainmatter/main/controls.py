"""What users ask of a method beyond its judgement: comments or none, headings, tables, captions, code or none.

A method judges first, and its judgement is never empty where it promises that. Then come the user's wishes, which are
obeyed to the letter: a page that is one table has no text left without tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from mainmatter.errors import InputError
from mainmatter.method import LazyReasons
from mainmatter.records import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.method import Method
    from mainmatter.records import Document

Comments = Literal["drop", "keep", "mark"]

# The switches, and the kind of block that each is about.
SWITCHES = {"headings": Kind.HEADING, "tables": Kind.TABLE_ROW, "captions": Kind.CAPTION, "code": Kind.CODE}
_SWITCH_OF = {kind: switch for switch, kind in SWITCHES.items()}


def check_controls(name: str, *, dial: float, comments: str) -> None:
    """Refuse wishes that mean nothing.

    Args:
        name: the method's name.
        dial: from 0, only what is sure, to 1, all text.
        comments: one of "drop", "keep" and "mark".

    Raises:
        InputError: one of them is wrong.
    """
    if not 0 <= dial <= 1:
        raise InputError(f"method {name!r}: dial is from 0 (only what is sure) to 1 (all text), not {dial!r}")
    if comments not in get_args(Comments):
        raise InputError(f"method {name!r}: comments is drop, keep or mark, not {comments!r}")


def apply_controls(
    kept: NDArray[np.bool_],
    kinds: Sequence[Kind],
    is_comment: NDArray[np.bool_] | None = None,
    *,
    comments: Comments = "drop",
    headings: bool = True,
    tables: bool = True,
    captions: bool = True,
    code: bool = True,
) -> NDArray[np.bool_]:
    """Do to a verdict what the user asked for; nothing may be left then.

    Args:
        kept: what the method judged to be worth keeping, one truth value a block; it is not changed.
        kinds: what each block is, by its markup.
        is_comment: which blocks are readers' comments; None if the method does not tell.
        comments: "drop" keeps none of them; "keep" and "mark" keep all of them, whatever `kept` says of them.
        headings: keep headings that `kept` has.
        tables: keep the rows of tables that `kept` has.
        captions: keep captions that `kept` has.
        code: keep code that `kept` has.

    Returns:
        What is to be kept: `kept` itself if nothing else was asked for.
    """
    if is_comment is not None:
        kept = kept & ~is_comment if comments == "drop" else kept | is_comment
    if headings and tables and captions and code:
        return kept
    wanted = {Kind.HEADING: headings, Kind.TABLE_ROW: tables, Kind.CAPTION: captions, Kind.CODE: code}
    unwanted = {kind for kind, is_wanted in wanted.items() if not is_wanted}
    return kept & np.array([kind not in unwanted for kind in kinds], np.bool_)


def tell_controls(
    reasons: Sequence[str],
    judged: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    kinds: Sequence[Kind],
    is_comment: NDArray[np.bool_] | None = None,
    *,
    comments: Comments = "drop",
) -> Sequence[str]:
    """The reasons of a method, which say it where a wish and not the method had the last word.

    Args:
        reasons: why the method judged as it did, one sentence a block.
        judged: what it judged to be worth keeping.
        kept: what `apply_controls` made of that.
        kinds: what each block is, as for `apply_controls`.
        is_comment: which blocks are readers' comments, as for `apply_controls`.
        comments: what was asked for, as for `apply_controls`.

    Returns:
        One sentence a block, made when read: `reasons` itself if nothing was changed.
    """
    if kept is judged:
        return reasons
    return _ReasonsAndWishes(reasons, judged, kept, kinds, is_comment if comments == "drop" else None)


@dataclass(frozen=True, slots=True, eq=False)
class _ReasonsAndWishes(LazyReasons):
    """A method's reasons, and before them the wish that overruled it, if one did."""

    reasons: Sequence[str]
    judged: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    kinds: Sequence[Kind]
    dropped_comments: NDArray[np.bool_] | None

    def __len__(self) -> int:
        return len(self.reasons)

    def detach(self) -> Sequence[str]:
        """These sentences, without what stays behind."""
        reasons = self.reasons.detach() if isinstance(self.reasons, LazyReasons) else self.reasons
        return replace(self, reasons=reasons)

    def attach(self, method: Method, document: Document) -> Sequence[str]:
        """These sentences once more, after a journey between processes."""
        reasons = self.reasons.attach(method, document) if isinstance(self.reasons, LazyReasons) else self.reasons
        return replace(self, reasons=reasons)

    def reason(self, index: int) -> str:
        """The sentence about one block."""
        reason = self.reasons[index]
        if self.judged[index] == self.kept[index]:
            return reason
        if self.kept[index]:
            return f"comments are wanted; {reason}"
        is_comment = self.dropped_comments is not None and bool(self.dropped_comments[index])
        what = "comments" if is_comment else _SWITCH_OF[self.kinds[index]]
        return f"{what} {'is' if what == 'code' else 'are'} not wanted; {reason}"
