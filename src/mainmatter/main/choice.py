# cython: annotation_typing=True
"""From probabilities to a decision: the blocks with the highest expected F, without comments, and users' controls.

If each block is main matter with a known probability, then the expected words that are kept rightly, kept wrongly and
missed are known for every choice of blocks, and so is (nearly) the expected F of the choice. The best one consists of
the likeliest blocks, down to a threshold that depends on the page: where nothing is sure, the threshold is lower.
(Lipton, Elkan, Naryanaswamy 2014, Optimal thresholding of classifiers to maximize F1, theorem 1.)

The choice is never empty. Then users' controls are applied, exactly as given: a page that is one table has no text left
without tables.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from mainmatter import cython
from mainmatter.errors import InputError
from mainmatter.html.declared import key
from mainmatter.main.features import COLUMNS
from mainmatter.records import BOILERPLATE, BYLINE, CAPTION, COMMENT, HEADLINE, MAIN, Kind

if cython.compiled and not TYPE_CHECKING:
    import cython

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.records import Document

PAGE_TYPES = ("article", "documentation", "service", "forum", "product", "listing", "collection")
Comments = Literal["drop", "keep", "mark"]
Piece = Literal["headline", "bylines", "captions", "comments", "headings", "tables", "code"]
# What users can leave out, and the label, or the kind of block, that each is about.
PIECES: dict[Piece, int] = {"headline": HEADLINE, "bylines": BYLINE, "captions": CAPTION, "comments": COMMENT}
SWITCHES: dict[Piece, Kind] = {"headings": Kind.HEADING, "tables": Kind.TABLE_ROW, "code": Kind.CODE}
ADDITIONS: tuple[Piece, ...] = ("bylines", "captions", "comments")  # what is left out unless users ask for it

# How much recall counts beside precision, by type of page: nets are not sure enough of what is no running text. Chosen
# on sites that were left out of training (scripts/choose_thresholds.py; docs/results/main.md).
_BETA_OF_TYPE = {
    "article": 0.85,
    "documentation": 1.4,
    "service": 2.0,
    "forum": 1.0,
    "product": 1.2,
    "listing": 1.7,
    "collection": 2.0,
}
# Probabilities promise too high an F1: what it lacks of 1 is so many times as much again, where that is little.
_MORE_LACKING_OF_TYPE = {"article": 0.75, "product": 3.0}
_MORE_LACKING = 1.6
_MIN_ROWS = 2  # of a table
_MAX_BETA = 1e6  # all text, to the last block
_TINY = 1e-300  # a probability that can still be divided by
_DIGITS_OF_DIAL = 6  # beyond that, what floats add up to differs
# Of a probability, to be a byline, a caption or a comment. By block and on sites that were left out of training, 0.25
# finds them with an F1 of .48, .54 and .58 in house-a and house-wcxb, the likeliest label with .41, .44 and .56.
_LABEL_THRESHOLD = 0.25
_MAX_LINK_SHARE = 0.9  # a block with a larger share of links is no comment or caption, but stands among them
# What makes a block the headline, beside the net, in log odds; chosen on sites that the net had not seen.
_OF_HEADING, _OF_TOP_HEADING, _OF_MENU = 2.0, 6.0, -8.0
_OF_TITLE = 6.0  # of a block that is the page's title; of a part, or of more than that, in proportion
_LONGEST_HEADLINE = 500  # characters
_MIN_PROBABILITY = 1e-4  # of which log odds are taken: the net is never surer than that of a headline
IN_TITLE, IS_HEADING, IS_ROW, HAS_TITLE, IS_CONTROL, LINK_SHARE = map(
    COLUMNS.index, ("in_title", "kind_heading", "kind_table-row", "page_has_title", "control", "link_share")
)
_IS_TOP_HEADING, _IN_MENU, _IN_FOOTER = map(COLUMNS.index, ("h1", "in_nav", "in_footer"))


class Selection(NamedTuple):
    """The blocks that were chosen.

    Attributes:
        kept: one truth value a block; at least one is true, if there is a block.
        expected: the F1 that this choice promises, from 0 to 1.
        threshold: the probability from which on blocks are kept on this page.
        dials: for each block, the dial from which on it would be kept, from 0 to 1.
    """

    kept: NDArray[np.bool_]
    expected: float
    threshold: float
    dials: NDArray[np.float64]


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
        return Selection(np.zeros(0, np.bool_), 0.0, 0.0, np.zeros(0))
    beta_squared = min(beta * dial / max(1 - dial, 1e-12), _MAX_BETA) ** 2
    order = np.argsort(-probabilities, kind="stable")
    choose = _choose_in_loops if cython.compiled else _choose_in_arrays
    return choose(probabilities, sizes, order, dial, beta, beta_squared)


def _choose_in_arrays(
    probabilities: NDArray[np.float64],
    sizes: NDArray[np.float64],
    order: NDArray[np.intp],
    dial: float,
    beta: float,
    beta_squared: float,
) -> Selection:
    """What `best_choice` chooses, given the order of the blocks from the likeliest to the least likely."""
    true_positives = np.cumsum((probabilities * sizes)[order])
    kept_size = np.cumsum(sizes[order])
    relevant = true_positives[-1]
    expected_f = true_positives / (kept_size + beta_squared * relevant)
    # Of choices that promise the same, the larger one: at dial 1 all are as good.
    best = len(expected_f) - 1 - int(np.argmax(expected_f[::-1])) if dial < 1 else len(expected_f) - 1
    kept = np.zeros(len(probabilities), np.bool_)
    kept[order[: best + 1]] = True
    expected = float(2 * true_positives[best] / (kept_size[best] + relevant))
    # Another block raises F if it is likelier than what F is already, so that is the threshold (theorem 1).
    threshold = float(expected_f[best]) if dial < 1 else 0.0
    dials = np.zeros(len(probabilities))
    if relevant > 0:
        # So a block is kept from that beta on with which all likelier ones have an F of its own probability.
        likely = np.maximum(probabilities.take(order[1:]), _TINY)
        with np.errstate(over="ignore"):
            betas = np.sqrt(np.maximum(true_positives[:-1] / likely - kept_size[:-1], 0) / relevant) / beta
        betas[betas > _MAX_BETA] = np.inf
        dials[order[1:]] = (1 - 1 / (1 + betas)).round(_DIGITS_OF_DIAL)
    return Selection(kept, expected, threshold, dials)


@cython.boundscheck(False)
@cython.wraparound(False)
@cython.cdivision(True)
def _choose_in_loops(
    probabilities_of: NDArray[np.float64],
    sizes_of: NDArray[np.float64],
    order_of: NDArray[np.intp],
    dial: float,
    beta: float,
    beta_squared: float,
) -> Selection:
    """What `_choose_in_arrays` does, for where this file is compiled."""
    probabilities = cython.declare(cython.const[cython.double][::1], probabilities_of)
    sizes = cython.declare(cython.const[cython.double][::1], sizes_of)
    order = cython.declare(cython.const[cython.Py_ssize_t][::1], order_of)
    count: cython.Py_ssize_t = order.shape[0]
    kept_of, dials_of = np.zeros(count, np.bool_), np.zeros(count)
    kept: cython.uchar[::1] = kept_of.view(np.uint8)
    dials: cython.double[::1] = dials_of
    sums: cython.double[:, ::1] = np.empty((2, count))  # of what is kept rightly, and of all that is kept
    rightly: cython.double = 0.0
    in_all: cython.double = 0.0
    expected_f: cython.double
    highest: cython.double = -1.0
    best: cython.Py_ssize_t = 0
    likely: cython.double
    at_beta: cython.double
    max_beta: cython.double = _MAX_BETA
    tiny: cython.double = _TINY
    i: cython.Py_ssize_t
    for i in range(count):
        rightly = rightly + probabilities[order[i]] * sizes[order[i]]
        in_all = in_all + sizes[order[i]]
        sums[0, i], sums[1, i] = rightly, in_all
    for i in range(count):
        expected_f = sums[0, i] / (sums[1, i] + beta_squared * rightly)
        if expected_f >= highest:
            highest, best = expected_f, i
    if dial >= 1:
        best = count - 1
    for i in range(best + 1):
        kept[order[i]] = 1
    if rightly > 0:
        for i in range(1, count):
            likely = max(probabilities[order[i]], tiny)
            dials[order[i]] = max(sums[0, i - 1] / likely - sums[1, i - 1], 0.0) / rightly
        np.sqrt(dials_of, out=dials_of)
        for i in range(count):
            at_beta = dials[i] / beta
            dials[i] = 1 - 1 / (1 + at_beta) if at_beta <= max_beta else 1
    expected = 2 * sums[0, best] / (sums[1, best] + rightly)
    return Selection(kept_of, expected, highest if dial < 1 else 0.0, dials_of.round(_DIGITS_OF_DIAL))


def beta_of(page_type: str) -> float:
    """How much recall counts beside precision on a type of page, in the middle of the dial."""
    return _BETA_OF_TYPE[page_type]


def calibrate(expected: float, page_type: str | None = None) -> float:
    """The F1 that pages have on average whose choice promises `expected`, from 0 to 1.

    A promise close to 1 misses as much again as it owns up to, or more; a low one is about right. The curve is that of
    sites that were left out of training (docs/results/main.md).

    Args:
        expected: what `best_choice` promises.
        page_type: what kind of page it is, if that is known.
    """
    more = _MORE_LACKING_OF_TYPE.get(page_type or "", _MORE_LACKING)
    return 1 - (1 - expected) * (1 + more * expected**4)


def join_tables(
    probabilities: NDArray[np.float64], is_row: NDArray[np.bool_], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What blocks are, where the rows of a table stand or fall together: each has the mean of all, by their sizes.

    A row of numbers by itself looks like a date or a count. On sites that were left out of training, F1 stays as it is.

    Args:
        probabilities: one row a block: that it is each of `records.LABELS`.
        is_row: the block is the row of a table; rows that follow each other are of one table.
        sizes: how much text each block is.
    """
    rows = np.flatnonzero(is_row)
    if len(rows) < _MIN_ROWS:
        return probabilities
    starts = np.flatnonzero(np.diff(rows, prepend=-_MIN_ROWS) > 1)
    weights = sizes[rows, None]
    means = np.add.reduceat(probabilities[rows] * weights, starts) / np.add.reduceat(weights, starts)
    joined = probabilities.copy()
    joined[rows] = np.repeat(means, np.diff(starts, append=len(rows)), axis=0)
    return joined


def find_headline(
    document: Document,
    dense: NDArray[np.float32],
    probabilities: NDArray[np.float64],
    columns: tuple[str, ...] = COLUMNS,
) -> int | None:
    """The page's headline: what the net takes for it, is a heading, and says what the page declares as its title.

    The three are added up as log odds, and the block that has most is the headline if they are above 0. It is never
    the site's name, which many a page has in its first heading.

    Args:
        document: the page.
        dense: what each block looks like.
        probabilities: that each block is the headline.
        columns: the names of the first columns of `dense`; those of a dump tell nothing about headings and menus.
    """
    if not len(dense):
        return None
    odds = np.log(np.maximum(probabilities, _MIN_PROBABILITY) / np.maximum(1 - probabilities, _MIN_PROBABILITY))
    if columns == COLUMNS:
        odds += _OF_HEADING * dense[:, IS_HEADING] + (_OF_TOP_HEADING - _OF_HEADING) * dense[:, _IS_TOP_HEADING]
        odds += _OF_MENU * np.maximum(dense[:, _IN_MENU], dense[:, _IN_FOOTER])
    candidates = np.flatnonzero(odds > -_OF_TITLE)
    candidates = candidates[np.argsort(-odds[candidates], kind="stable")]
    titles, site_names = document.title_keys if len(candidates) else ((), ())
    headline, highest = None, 0.0
    for i, of_block in zip(candidates.tolist(), odds[candidates].tolist(), strict=True):
        if of_block + _OF_TITLE <= highest:
            break
        text = document.texts[i]
        name = key(text) if len(text) <= _LONGEST_HEADLINE else ""
        if not name or name in site_names:
            continue
        # How much of a title the block is, or how much of the block the title is.
        likeness = 0.0
        for title in titles:
            if name in title or title in name:
                likeness = max(likeness, min(len(name), len(title)) / max(len(name), len(title)))
        if of_block + _OF_TITLE * likeness > highest:
            headline, highest = i, of_block + _OF_TITLE * likeness
    return headline


def choose_labels(
    probabilities: NDArray[np.float64],
    headline: int | None,
    dense: NDArray[np.float32],
    columns: tuple[str, ...] = COLUMNS,
) -> NDArray[np.intp]:
    """What each block is.

    A byline, caption or comment is what is likelier that than main matter, and likely enough: few blocks are, so most
    of them are likelier boilerplate, and the highest F1 is at half of itself (Lipton et al., theorem 1). The buttons
    and links that stand among them are none, but bylines may be links. A page of nothing but comments, or captions, has
    them for its main matter.

    Args:
        probabilities: one row a block: that it is each of `records.LABELS`.
        headline: the block that is the headline.
        dense: what each block looks like.
        columns: the names of the first columns of `dense`; those of a dump tell nothing about links and buttons.
    """
    label = _label_in_loops if cython.compiled else _label_in_arrays
    labels = label(probabilities, dense if columns == COLUMNS else None)
    if headline is not None:
        labels[headline] = HEADLINE
    return labels


def _label_in_arrays(probabilities: NDArray[np.float64], dense: NDArray[np.float32] | None) -> NDArray[np.intp]:
    """What each block is, headlines left aside; `dense` is None for a dump."""
    labels = np.where(probabilities[:, MAIN] > probabilities[:, BOILERPLATE], MAIN, BOILERPLATE)
    pieces = probabilities[:, BYLINE:]
    likeliest = BYLINE + pieces.argmax(axis=1)
    least = np.maximum(probabilities[:, MAIN] + probabilities[:, HEADLINE], _LABEL_THRESHOLD)
    found = pieces.max(axis=1) > least
    if dense is not None:
        found &= dense[:, IS_CONTROL] == 0
        found &= (likeliest == BYLINE) | (dense[:, LINK_SHARE] < _MAX_LINK_SHARE)
    if not found.all():
        labels[found] = likeliest[found]
    return labels


@cython.boundscheck(False)
@cython.wraparound(False)
def _label_in_loops(probabilities_of: NDArray[np.float64], dense: NDArray[np.float32] | None) -> NDArray[np.intp]:
    """What `_label_in_arrays` does, for where this file is compiled."""
    probabilities = cython.declare(cython.const[cython.double][:, :], probabilities_of)
    count: cython.Py_ssize_t = probabilities.shape[0]
    labels_of, pieces_of = np.empty(count, np.intp), np.empty(count, np.intp)
    labels: cython.Py_ssize_t[::1] = labels_of
    pieces: cython.Py_ssize_t[::1] = pieces_of
    no_marks = np.zeros(count, np.float32)
    controls = cython.declare(cython.const[cython.float][:], no_marks if dense is None else dense[:, IS_CONTROL])
    link_shares = cython.declare(cython.const[cython.float][:], no_marks if dense is None else dense[:, LINK_SHARE])
    boilerplate: cython.Py_ssize_t = BOILERPLATE
    main: cython.Py_ssize_t = MAIN
    headline: cython.Py_ssize_t = HEADLINE
    byline: cython.Py_ssize_t = BYLINE
    label_threshold: cython.double = _LABEL_THRESHOLD
    max_link_share: cython.float = _MAX_LINK_SHARE
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    likeliest: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    for i in range(count):
        labels[i] = main if probabilities[i, main] > probabilities[i, boilerplate] else boilerplate
        likeliest = byline
        for j in range(byline + 1, probabilities.shape[1]):
            if probabilities[i, j] > probabilities[i, likeliest]:
                likeliest = j
        pieces[i] = labels[i]
        if (
            probabilities[i, likeliest] > max(probabilities[i, main] + probabilities[i, headline], label_threshold)
            and controls[i] == 0
            and (likeliest == byline or link_shares[i] < max_link_share)
        ):
            pieces[i] = likeliest
            found += 1
    return pieces_of if found < count else labels_of


def check_controls(name: str, *, dial: float, comments: str) -> None:
    """Refuse invalid values of controls.

    Args:
        name: the method's name.
        dial: from 0, only what is sure, to 1, all text.
        comments: one of "drop", "keep" and "mark".

    Raises:
        InputError: one of them is wrong.
    """
    if not 0 <= dial <= 1:
        raise InputError(f"method {name!r}: dial must be from 0 (only what is sure) to 1 (all text), not {dial!r}")
    if comments not in get_args(Comments):
        raise InputError(f"method {name!r}: comments must be drop, keep or mark, not {comments!r}")


@dataclass(eq=False)
class Controls:
    """What a user wants to keep; the defaults are those of the guide by which our gold standards were labelled.

    Args:
        dial: from 0, only what is surest, to 1, all text; 0.5 weighs precision and recall alike.
        comments: readers' comments: "drop" keeps none of them; "keep" and "mark" keep all of them, whatever the method
            judged, in their place or marked.
        headline: keep the page's headline if the method does.
        bylines: keep all bylines (authors and dates), whatever the method judged; else none.
        captions: the same for captions and credits of pictures.
        headings: keep headings that the method keeps.
        tables: keep the rows of tables that the method keeps.
        code: keep code that the method keeps.
    """

    dial: float = 0.5
    comments: Comments = "drop"
    headline: bool = True
    bylines: bool = False
    captions: bool = False
    headings: bool = True
    tables: bool = True
    code: bool = True

    @classmethod
    def of(cls, method: object) -> Controls:
        """The controls of a method that has parameters of the same names."""
        return cls(*_CONTROLS(method))

    def wants(self, piece: Piece) -> bool:
        """Whether blocks of a label, or of a kind, are to be kept."""
        return self.comments != "drop" if piece == "comments" else bool(getattr(self, piece))


_CONTROLS = attrgetter(*(field.name for field in fields(Controls)))


def apply_controls(
    kept: NDArray[np.bool_],
    kinds: Sequence[Kind],
    labels: NDArray[np.intp] | None = None,
    controls: Controls | None = None,
) -> NDArray[np.bool_]:
    """Apply the user's controls to a method's decision; the result may be empty.

    Args:
        kept: the blocks that the method would keep, one truth value for each block; it is not changed.
        kinds: what each block is, by its markup.
        labels: what each block is according to the method (`records.LABELS`); None if the method does not say.
        controls: what the user wants; None for the defaults.

    Returns:
        What to keep: `kept` itself if the controls change nothing.
    """
    controls = controls or Controls()
    for piece, label in PIECES.items():
        if labels is not None and (has_label := labels == label).any():
            if not controls.wants(piece):
                kept = kept & ~has_label
            elif piece in ADDITIONS:
                kept = kept | has_label
    unwanted = {kind for switch, kind in SWITCHES.items() if not controls.wants(switch)}
    return kept & np.array([kind not in unwanted for kind in kinds], np.bool_) if unwanted else kept
