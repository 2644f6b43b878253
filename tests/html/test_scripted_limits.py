"""When a page's scripts are searched for its text, and how far: each limit at both sides."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mainmatter.html.parse import parse
from mainmatter.html.read import parse_and_segment
from mainmatter.html.scripted import ShownTexts, as_markup, is_prose, state_pieces

SENTENCE = "The ferry across the sound is out of service until the spring, because its engine is to be replaced."
# Forty-eight different signs, in four windows of twelve.
PARTS = ["abcdefghijkl", "mnopqrstuvwx", "yz0123456789", "äöüßéèêàâîôû"]


def prose(length: int) -> str:
    """A text of exactly so many characters."""
    words = "lorem ipsum dolor sit amet " * (length // 27 + 1)
    return words[: length - 1] + "."


def linked_data(text: str) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "Article", "articleBody": text})}</script>'


def app_state(value: Any) -> str:
    return f'<script type="application/json">{json.dumps(value)}</script>'


def is_added(html: str) -> bool:
    shown = [text for text in parse_and_segment(html)[1].columns.texts if "lorem" in text]
    return bool(shown)


def shown(length: int) -> str:
    return f"<p>{'x' * length}</p>"


@pytest.mark.parametrize(("length", "is_read"), [(3_000, True), (3_001, False)])
def test_a_page_that_shows_much_is_not_searched(length: int, is_read: bool) -> None:
    assert is_added(shown(length) + linked_data(prose(9_000))) == is_read


@pytest.mark.parametrize(("length", "is_read"), [(500, True), (501, False)])
def test_a_state_is_read_where_little_is_shown(length: int, is_read: bool) -> None:
    assert is_added(shown(length) + app_state({"content": prose(3_000)})) == is_read
    assert is_added(shown(length) + linked_data(prose(3_000)))  # what is declared for others is trusted


@pytest.mark.parametrize(("length", "is_read"), [(1_000, True), (1_001, False)])
def test_a_state_is_read_where_little_is_shown_with_links(length: int, is_read: bool) -> None:
    links = f"<p>x</p><p><a href=/>{'y' * (length - 1)}</a></p>"
    assert is_added(links + app_state({"content": prose(3_000)})) == is_read


@pytest.mark.parametrize(("length", "is_read"), [(99, True), (100, False)])
def test_a_description_is_read_where_nothing_is_shown(length: int, is_read: bool) -> None:
    html = f"<meta name=description content='{prose(400)}'><p><a href=/>{'y' * length}</a></p>"
    assert is_added(html) == is_read


@pytest.mark.parametrize(
    ("length", "added", "is_read"), [(0, 200, False), (0, 201, True), (150, 300, False), (150, 301, True)]
)
def test_how_much_must_be_new(length: int, added: int, is_read: bool) -> None:
    assert is_added((shown(length) if length else "") + linked_data(prose(added))) == is_read


def test_half_of_the_windows_of_a_text_are_enough_to_be_shown() -> None:
    apart = ShownTexts([f"{PARTS[0]} -", f"- {PARTS[2]}", f"+ {PARTS[1]}"])
    one, two, three, new = PARTS
    assert one + two + new + new in apart  # two of four, which stand apart
    assert one + new + new + new not in apart
    # Five of eleven are a little less.
    assert (one + two) * 2 + three + new * 6 not in apart
    assert (one + two) * 2 + three + new * 5 in apart


def test_a_text_of_one_window_is_shown_only_as_a_whole() -> None:
    shown = ShownTexts(["Menu", PARTS[0] + PARTS[1] + PARTS[2], PARTS[3]])
    assert PARTS[0] + PARTS[1][:11] not in shown
    assert PARTS[0] + PARTS[1] in shown
    assert PARTS[3] in shown


def test_how_much_of_what_is_shown_is_compared() -> None:
    text = PARTS[0] + PARTS[1]
    assert text in ShownTexts(["x" * (200_000 - 24) + text])
    assert text not in ShownTexts(["x" * 200_000 + text])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (prose(80), True),
        (prose(79), False),
        # Letters and spaces are three quarters of it.
        ("abcdef abcdefg " * 5 + "1" * 25, True),
        ("abcdef abcdefg " * 5 + "1" * 26, False),
        # A space for each fifteen characters.
        (" ".join(["a" * 12] * 7), True),
        (" ".join(["a" * 14] * 6).ljust(90, "a"), False),
        (" ".join(["a" * 12] * 7).ljust(90, "a"), True),
        (" ".join(["a" * 12] * 7).ljust(96, "a"), False),
        # The first 2,000 characters tell.
        (prose(1_990) + "{name}", False),
        (prose(2_000) + "{name}", True),
    ],
)
def test_what_prose_is(text: str, expected: bool) -> None:
    assert is_prose(text) == expected


def pieces(html: str) -> list[str]:
    return state_pieces(parse(html))


def test_two_texts_of_a_name_that_other_things_have_are_texts_and_three_a_list() -> None:
    assert len(pieces(app_state({"message": [f"{SENTENCE} {n}" for n in range(2)]}))) == 2
    assert pieces(app_state({"message": [f"{SENTENCE} {n}" for n in range(3)]})) == []
    assert len(pieces(app_state({"content": [f"{SENTENCE} {n}" for n in range(3)]}))) == 3


@pytest.mark.parametrize(("others", "is_read"), [(49, True), (50, False)])
def test_how_many_states_a_script_may_set(others: int, is_read: bool) -> None:
    states = "window.__STATE = {};" * others + f"window.__STATE = {json.dumps({'content': SENTENCE})}"
    assert bool(pieces(f"<script>{states}</script>")) == is_read


@pytest.mark.parametrize(("others", "is_read"), [(19_999, True), (20_000, False)])
def test_how_many_names_a_state_may_have(others: int, is_read: bool) -> None:
    # Names are looked at from the last to the first.
    state = {"content": SENTENCE} | {f"n{number}": "" for number in range(others)}
    assert bool(pieces(app_state(state))) == is_read


@pytest.mark.parametrize(("others", "is_read"), [(299_997, True), (299_998, False)])
def test_how_many_values_of_a_state_are_looked_at(others: int, is_read: bool) -> None:
    assert bool(pieces(app_state({"content": [*[0] * others, SENTENCE]}))) == is_read


@pytest.mark.parametrize(("length", "is_read"), [(5_000_000, True), (5_000_001, False)])
def test_how_long_a_state_may_be(length: int, is_read: bool) -> None:
    source = json.dumps({"content": SENTENCE}).ljust(length)
    assert bool(pieces(f'<script type="application/json">{source}</script>')) == is_read


@pytest.mark.parametrize(("length", "is_read"), [(80, False), (81, True)])
def test_json_in_a_text_is_read_if_it_is_longer_than_a_text_must_be(length: int, is_read: bool) -> None:
    inner = '{"content":"' + "a" * (length - 14) + '"}'
    assert len(inner) == length
    found = "".join(pieces(app_state({"content": [SENTENCE, inner]})))
    assert ('{"content"' in found) != is_read


def test_how_much_text_is_taken() -> None:
    assert len(as_markup("x" * 1_000_001)) == len("<p></p>") + 1_000_000
    assert len(pieces(app_state({"content": [f"{SENTENCE} {n}" for n in range(2_001)]}))) == 2_000


def test_the_first_value_of_a_payload_of_nuxt_may_be_the_text() -> None:
    payload = json.dumps([SENTENCE, {"content": 0}, {"content": -1}, {"content": 4}])
    assert len(pieces(f'<script type="application/json" id="__NUXT_DATA__">{payload}</script>')) == 1
