"""References to blocks, and labels carried over to blocks that were segmented otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from mainmatter.lab.datasets import labels as labels_module
from mainmatter.lab.datasets.labels import Label, Referred, carry_over, make_references, trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

texts_ = st.lists(st.sampled_from(["Home", "Share", "otters were seen", "again  at the mill", "•", ""]), max_size=12)


def referred(texts: Sequence[str]) -> Referred:
    return Referred(make_references(texts), texts)


def carried(then: Sequence[str], now: Sequence[str], said: str) -> tuple[str, list[str]]:
    """Carry labels over: `said` has a letter for each block of then: k(ept), d(ropped), c(omment), h(eading), or -.

    Gives the letters of the blocks of now, and the texts of those whose label was lost.
    """
    labels = {
        i: Label(letter in "kh", {"c": "comment", "h": "heading"}.get(letter, "paragraph"))  # type: ignore[arg-type]
        for i, letter in enumerate(said)
        if letter != "-"
    }
    letters = {(True, "paragraph"): "k", (True, "heading"): "h", (False, "paragraph"): "d", (False, "comment"): "c"}
    found = carry_over(labels, trace(referred(then), referred(now)))
    now_said = (found.labels.get(i) for i in range(len(now)))
    return "".join("-" if each is None else letters[each.kept, each.kind] for each in now_said), [
        then[i] for i in found.lost
    ]


@given(texts_)
def test_references_are_unique_and_do_not_depend_on_white_space(texts: list[str]) -> None:
    refs = make_references(texts)
    assert len(set(refs)) == len(texts)
    assert refs == make_references([text.replace(" ", "\n ") for text in texts])


@given(st.text(), st.text())
def test_any_text_has_a_reference(first: str, second: str) -> None:
    assert len(make_references([first, second, "\ud800"])) == 3


@given(texts_, st.data())
def test_carrying_over_to_the_same_blocks_changes_nothing(texts: list[str], data: st.DataObject) -> None:
    said = data.draw(st.text("kdch-", min_size=len(texts), max_size=len(texts)))
    assert carried(texts, texts, said) == (said, [])


@given(texts_, texts_, st.data())
def test_no_label_vanishes_without_a_word(then: list[str], now: list[str], data: st.DataObject) -> None:
    said = data.draw(st.text("kd", min_size=len(then), max_size=len(then)))
    labels = {i: Label(letter == "k", "paragraph") for i, letter in enumerate(said)}
    found = carry_over(labels, trace(referred(then), referred(now)))
    assert sorted([*found.lost, *found.moved]) == list(labels)
    assert all(0 <= j < len(now) for j in found.labels)


def test_new_blocks_have_no_label_and_do_not_disturb_others() -> None:
    then = ["Home", "Share", "An otter.", "Share"]
    now = ["Menu", "Home", "Share", "An advert", "An otter.", "Share", "Share"]
    said, lost = carried(then, now, "dhkd")
    assert said in ("-dh-kd-", "-dh-k-d")
    assert lost == []


def test_a_split_block_gives_its_label_to_its_parts() -> None:
    then = ["Home", "The otters were seen. Nobody had expected that at all.", "Share"]
    now = ["Home", "The otters were seen.", "Nobody had expected that at all.", "Share"]
    assert carried(then, now, "dkd") == ("dkkd", [])
    assert carried(then, now, "d-d") == ("d--d", [])


def test_joined_blocks_give_their_label_to_the_whole_if_they_agree() -> None:
    then = ["Home", "The otters were seen.", "Nobody had expected that at all.", "Share"]
    now = ["Home", "The otters were seen. Nobody had expected that at all.", "Share"]
    assert carried(then, now, "dkkd") == ("dkd", [])
    assert carried(then, now, "dddd") == ("ddd", [])
    assert carried(then, now, "dhkd") == ("dkd", [])  # the larger part says what it is


def test_joined_blocks_that_differ_are_lost_and_told() -> None:
    then = ["Home", "The otters were seen.", "Nobody had expected that at all.", "Share"]
    now = ["Home", "The otters were seen. Nobody had expected that at all.", "Share"]
    assert carried(then, now, "dkdd") == ("d-d", then[1:3])
    assert carried(then, now, "ddcd") == ("d-d", then[1:3])
    assert carried(then, now, "dk-d") == ("d-d", then[1:2])  # of the other part nobody said anything


def test_what_is_gone_is_lost_and_told() -> None:
    assert carried(["Home", "An otter.", "Share"], ["Home", "Share"], "dkd") == ("dd", ["An otter."])
    assert carried(["Home", "An otter.", "Share"], [], "dkd") == ("", ["Home", "An otter.", "Share"])
    assert carried([], ["Home"], "") == ("-", [])


def test_small_changes_of_a_text_do_not_lose_its_label() -> None:
    then = ["Home", "The otters were seen at the old mill again.", "Share"]
    now = ["Home", "The otters were seen at the old mill again . [ 1 ]", "Share"]
    assert carried(then, now, "dkd") == ("dkd", [])


def test_a_few_common_words_are_no_reason() -> None:
    then = ["Home", "The otters were seen at the old mill again, three of them.", "Share"]
    now = ["Home", "Read the news of the day at your own pace, and save three pounds.", "Share"]
    assert carried(then, now, "dkd") == ("d-d", [then[1]])


def test_a_page_too_large_to_align_loses_labels_rather_than_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    then, now = ["Home", "one two three", "four five six"], ["Home", "one two three four five six"]
    assert carried(then, now, "dkk") == ("dk", [])
    monkeypatch.setattr(labels_module, "_MOST_CELLS", 8)
    assert carried(then, now, "dkk") == ("d-", then[1:])


def test_what_has_a_label_of_its_own_needs_none_and_replaces_others() -> None:
    then, now = referred(["one two three", "four five six"]), referred(["one two three four five six"])
    labels = {0: Label(True, "paragraph"), 1: Label(False, "paragraph")}
    assert carry_over(labels, trace(then, now)).lost == [0, 1]
    assert carry_over(labels, trace(then, now), decided=[0]).lost == []
