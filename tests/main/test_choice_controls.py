"""What users ask for, done to a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from commenting import PAGE, Commenting
from mainmatter.errors import InputError
from mainmatter.main.choice import SWITCHES, apply_controls
from mainmatter.main.reasons import ControlReasons
from mainmatter.records import Kind

if TYPE_CHECKING:
    from mainmatter.main.choice import Comments

KINDS = list(Kind)
ALL = np.ones(len(KINDS), np.bool_)
# heading, paragraph, list-item, table-row, code, quote, caption: the list item and the quote are comments.
IS_COMMENT = np.array([kind in (Kind.LIST_ITEM, Kind.QUOTE) for kind in KINDS])


def left(kept: np.ndarray) -> set[Kind]:
    return {kind for kind, is_kept in zip(KINDS, kept, strict=True) if is_kept}


def test_by_default_the_verdict_stays_as_it_is() -> None:
    assert apply_controls(ALL, KINDS) is ALL


@pytest.mark.parametrize("switch", sorted(SWITCHES))
def test_a_switch_drops_its_kind_and_nothing_else(switch: str) -> None:
    before = ALL.copy()
    switches = {switch: False}
    kept = apply_controls(before, KINDS, None, comments="drop", **switches)
    assert left(kept) == set(KINDS) - {SWITCHES[switch]}
    assert kept.dtype == np.bool_
    assert before.all()


def test_switches_add_nothing() -> None:
    nothing = np.zeros(len(KINDS), np.bool_)
    assert not apply_controls(nothing, KINDS, headings=False, code=False).any()


def test_several_switches() -> None:
    kept = apply_controls(ALL, KINDS, headings=False, tables=False, captions=False, code=False)
    assert left(kept) == {Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE}


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
    assert left(apply_controls(judged, KINDS, IS_COMMENT, comments=comments)) == expected


def test_a_switch_reaches_into_comments() -> None:
    all_comments = np.ones(len(KINDS), np.bool_)
    kept = apply_controls(ALL, KINDS, all_comments, comments="keep", headings=False)
    assert left(kept) == set(KINDS) - {Kind.HEADING}


def test_nothing_is_left_if_that_is_what_was_asked_for() -> None:
    page = "<table><tr><td>a long row<td>of a table</table>"
    assert mainmatter.clean(page, method=Commenting()).text == "a long row\tof a table"
    assert mainmatter.clean(page, method=Commenting(tables=False)).text == ""


def test_an_empty_page() -> None:
    none = np.zeros(0, np.bool_)
    kept = apply_controls(none, [], none, comments="keep", headings=False)
    assert kept.shape == (0,)
    assert kept.dtype == np.bool_


def test_a_method_with_switches() -> None:
    found = mainmatter.clean(PAGE, method=Commenting(tables=False, captions=False, code=False, headings=False))
    assert found.text == "Go where the wind is.\n\nThen let go of it."


# Reasons


def test_reasons_stay_as_they_are_where_nothing_was_changed() -> None:
    reasons = ["because"] * len(KINDS)
    assert list(ControlReasons(reasons, ALL, apply_controls(ALL, KINDS), KINDS)) == reasons


def test_reasons_name_the_wish_that_had_the_last_word() -> None:
    reasons = [f"reason {i}" for i in range(len(KINDS))]
    kept = apply_controls(ALL, KINDS, IS_COMMENT, headings=False, code=False)
    told = ControlReasons(reasons, ALL, kept, KINDS, IS_COMMENT)
    assert list(told) == [
        "headings are not wanted; reason 0",
        "reason 1",
        "comments are not wanted; reason 2",
        "reason 3",
        "code is not wanted; reason 4",
        "comments are not wanted; reason 5",
        "reason 6",
    ]


def test_reasons_of_comments_that_are_wanted() -> None:
    reasons = ["reason"] * len(KINDS)
    judged = ~IS_COMMENT
    kept = apply_controls(judged, KINDS, IS_COMMENT, comments="mark", tables=False)
    told = ControlReasons(reasons, judged, kept, KINDS, IS_COMMENT, comments="mark")
    assert told[2] == told[5] == "comments are wanted; reason"
    assert told[3] == "tables are not wanted; reason"
    assert told[0:2] == ["reason", "reason"]


def test_a_heading_of_a_wanted_comment_goes_because_it_is_a_heading() -> None:
    is_comment = np.ones(1, np.bool_)
    kept = apply_controls(is_comment, [Kind.HEADING], is_comment, comments="keep", headings=False)
    told = ControlReasons(["r"], is_comment, kept, [Kind.HEADING], is_comment, comments="keep")
    assert list(told) == ["headings are not wanted; r"]


# Wishes that mean nothing


@pytest.mark.parametrize("dial", [-0.1, 1.1, float("nan")])
def test_a_dial_out_of_range(dial: float) -> None:
    with pytest.raises(InputError, match=r"^method 'commenting': dial is from 0 \(only what is sure\) to 1"):
        Commenting(dial=dial)


@pytest.mark.parametrize("dial", [0, 0.5, 1])
def test_a_dial_in_range(dial: float) -> None:
    assert Commenting(dial=dial).dial == dial


def test_comments_of_an_unknown_kind() -> None:
    with pytest.raises(InputError, match=r"^method 'commenting': comments is drop, keep or mark, not 'hide'$"):
        Commenting(comments="hide")  # type: ignore[arg-type]
