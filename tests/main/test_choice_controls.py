"""What users ask for, done to a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from commenting import PAGE, Commenting
from mainmatter.errors import InputError
from mainmatter.main.choice import SWITCHES, Controls, apply_controls
from mainmatter.main.reasons import ControlReasons
from mainmatter.records import BOILERPLATE, BYLINE, CAPTION, COMMENT, HEADLINE, MAIN, Kind

if TYPE_CHECKING:
    from mainmatter.main.choice import Comments, Piece

KINDS = list(Kind)
ALL = np.ones(len(KINDS), np.bool_)
# heading, paragraph, list-item, table-row, code, quote, caption: the list item and the quote are comments.
LABELLED = np.array([COMMENT if kind in (Kind.LIST_ITEM, Kind.QUOTE) else MAIN for kind in KINDS])
IS_COMMENT = LABELLED == COMMENT
# What users can ask for, and the label of it.
OF_LABELS = np.array([BOILERPLATE, MAIN, HEADLINE, BYLINE, CAPTION, COMMENT])
PARAGRAPHS = [Kind.PARAGRAPH] * len(OF_LABELS)


def left(kept: np.ndarray) -> set[Kind]:
    return {kind for kind, is_kept in zip(KINDS, kept, strict=True) if is_kept}


def test_by_default_the_verdict_stays_as_it_is() -> None:
    assert apply_controls(ALL, KINDS) is ALL


@pytest.mark.parametrize("switch", sorted(SWITCHES))
def test_a_switch_drops_its_kind_and_nothing_else(switch: Piece) -> None:
    before = ALL.copy()
    switches: dict[str, Any] = {switch: False}
    kept = apply_controls(before, KINDS, None, Controls(**switches))
    assert left(kept) == set(KINDS) - {SWITCHES[switch]}
    assert kept.dtype == np.bool_
    assert before.all()


def test_switches_add_nothing() -> None:
    nothing = np.zeros(len(KINDS), np.bool_)
    assert not apply_controls(nothing, KINDS, None, Controls(headings=False, code=False)).any()


def test_several_switches() -> None:
    kept = apply_controls(ALL, KINDS, None, Controls(headings=False, tables=False, code=False))
    assert left(kept) == {Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE, Kind.CAPTION}


def test_by_default_headline_and_main_matter_are_kept() -> None:
    kept = apply_controls(np.ones(len(OF_LABELS), np.bool_), PARAGRAPHS, OF_LABELS)
    assert OF_LABELS[kept].tolist() == [BOILERPLATE, MAIN, HEADLINE]  # what is kept though it is boilerplate stays
    assert not apply_controls(np.zeros(len(OF_LABELS), np.bool_), PARAGRAPHS, OF_LABELS).any()


@pytest.mark.parametrize(
    ("wishes", "label"), [({"bylines": True}, BYLINE), ({"captions": True}, CAPTION), ({"comments": "keep"}, COMMENT)]
)
def test_what_is_asked_for_is_kept_whatever_was_judged(wishes: dict[str, Any], label: int) -> None:
    kept = apply_controls(np.zeros(len(OF_LABELS), np.bool_), PARAGRAPHS, OF_LABELS, Controls(**wishes))
    assert OF_LABELS[kept].tolist() == [label]


def test_the_headline_can_be_dropped() -> None:
    judged = np.ones(len(OF_LABELS), np.bool_)
    assert OF_LABELS[apply_controls(judged, PARAGRAPHS, OF_LABELS, Controls(headline=False))].tolist() == [0, MAIN]


def test_a_method_says_what_it_was_asked_for() -> None:
    method = Commenting(comments="mark", headline=False, bylines=True, tables=False)
    expected = Controls(comments="mark", headline=False, bylines=True, captions=True, tables=False)
    assert vars(Controls.of(method)) == vars(expected)


@pytest.mark.parametrize(
    ("comments", "judged", "expected"),
    [
        ("drop", ALL, set(KINDS) - {Kind.LIST_ITEM, Kind.QUOTE}),
        ("keep", ALL, set(KINDS)),
        ("mark", ALL, set(KINDS)),
        ("drop", ~ALL, set()),
        ("keep", ~ALL, {Kind.LIST_ITEM, Kind.QUOTE}),
        ("mark", ~ALL, {Kind.LIST_ITEM, Kind.QUOTE}),
    ],
)
def test_comments(comments: Comments, judged: np.ndarray, expected: set[Kind]) -> None:
    assert left(apply_controls(judged, KINDS, LABELLED, Controls(comments=comments))) == expected


def test_a_switch_reaches_into_comments() -> None:
    all_comments = np.full(len(KINDS), COMMENT)
    kept = apply_controls(ALL, KINDS, all_comments, Controls(comments="keep", headings=False))
    assert left(kept) == set(KINDS) - {Kind.HEADING}


def test_nothing_is_left_if_that_is_what_was_asked_for() -> None:
    page = "<table><tr><td>a long row<td>of a table</table>"
    assert mainmatter.clean(page, method=Commenting()).text == "a long row\tof a table"
    assert mainmatter.clean(page, method=Commenting(tables=False)).text == ""


def test_an_empty_page() -> None:
    none = np.zeros(0, np.bool_)
    kept = apply_controls(none, [], np.zeros(0, np.intp), Controls(comments="keep", headings=False))
    assert kept.shape == (0,)
    assert kept.dtype == np.bool_


def test_a_method_with_switches() -> None:
    found = mainmatter.clean(PAGE, method=Commenting(tables=False, captions=False, code=False, headings=False))
    assert found.text == "Go where the wind is.\n\nThen let go of it."


# Reasons


def test_reasons_stay_as_they_are_where_nothing_was_changed() -> None:
    reasons = ["because"] * len(KINDS)
    assert list(ControlReasons(reasons, ALL, apply_controls(ALL, KINDS), KINDS, None, Controls())) == reasons


def test_reasons_name_the_wish_that_had_the_last_word() -> None:
    reasons = [f"reason {i}" for i in range(len(KINDS))]
    controls = Controls(headings=False, code=False)
    kept = apply_controls(ALL, KINDS, LABELLED, controls)
    told = ControlReasons(reasons, ALL, kept, KINDS, LABELLED, controls)
    assert list(told) == [told[i] for i in range(len(told))]
    assert list(told) == [
        "headings are not wanted; reason 0",
        "reason 1",
        "a comment: dropped, as comments are unless asked for; reason 2",
        "reason 3",
        "code is not wanted; reason 4",
        "a comment: dropped, as comments are unless asked for; reason 5",
        "reason 6",
    ]


def test_reasons_of_comments_that_are_wanted() -> None:
    reasons = ["reason"] * len(KINDS)
    judged = ~IS_COMMENT
    controls = Controls(comments="mark", tables=False)
    kept = apply_controls(judged, KINDS, LABELLED, controls)
    told = ControlReasons(reasons, judged, kept, KINDS, LABELLED, controls)
    assert told[2] == told[5] == "a comment: kept, as comments are wanted; reason"
    assert told[3] == "tables are not wanted; reason"
    assert told[0:2] == ["reason", "reason"]


def test_a_heading_of_a_wanted_comment_goes_because_it_is_a_heading() -> None:
    controls = Controls(comments="keep", headings=False)
    kept = apply_controls(ALL[:1], [Kind.HEADING], np.array([COMMENT]), controls)
    told = ControlReasons(["r"], ALL[:1], kept, [Kind.HEADING], np.array([COMMENT]), controls)
    assert list(told) == ["headings are not wanted; r"]


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        (
            Controls(),
            [
                "r",
                "r",
                "r",
                "a byline: dropped, as bylines are unless asked for; r",
                "a caption: dropped, as captions are unless asked for; r",
                "a comment: dropped, as comments are unless asked for; r",
            ],
        ),
        (
            Controls(headline=False, bylines=True, captions=True, comments="keep"),
            [
                "r",
                "r",
                "the headline is not wanted; r",
                "a byline: kept, as bylines are wanted; r",
                "a caption: kept, as captions are wanted; r",
                "a comment: kept, as comments are wanted; r",
            ],
        ),
    ],
)
@pytest.mark.parametrize("are_judged", [False, True])
def test_reasons_of_each_label(controls: Controls, expected: list[str], are_judged: bool) -> None:
    judged = np.array([False, True, True, *[are_judged] * 3])
    kept = apply_controls(judged, PARAGRAPHS, OF_LABELS, controls)
    assert list(ControlReasons(["r"] * 6, judged, kept, PARAGRAPHS, OF_LABELS, controls)) == expected


# Wishes that mean nothing


@pytest.mark.parametrize("dial", [-0.1, 1.1, float("nan")])
def test_a_dial_out_of_range(dial: float) -> None:
    with pytest.raises(InputError, match=r"^method 'commenting': dial must be from 0 \(only what is sure\) to 1"):
        Commenting(dial=dial)


@pytest.mark.parametrize("dial", [0, 0.5, 1])
def test_a_dial_in_range(dial: float) -> None:
    assert Commenting(dial=dial).dial == dial


def test_comments_of_an_unknown_kind() -> None:
    with pytest.raises(InputError, match=r"^method 'commenting': comments must be drop, keep or mark, not 'hide'$"):
        Commenting(comments="hide")  # type: ignore[arg-type]
