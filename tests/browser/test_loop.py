"""The whole loop, as a new user goes it: see an error, correct it, teach, use what was taught.

Of a club's pages, the shipped model keeps the days of notes, and a pledge that is on every page; it drops a note.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browser.annotate_steps import wait_until_open, wait_until_saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from playwright.sync_api import Locator, Page

    from browser.conftest import Server

MOST_ACTIONS = 6  # a page, besides opening it
MOST_SECONDS = 180.0  # until the model is there, which takes 10 on a machine that has nothing else to do
TOPICS = (
    "the boat house",
    "the spring regatta",
    "the youth crew",
    "the winter store",
    "the new jetty",
    "the old ferry",
)
PLEDGE = (
    "Members promise to keep the river clean, to help each other on the water and on land, and to leave every "
    "landing as they found it. Whoever breaks it is asked to speak to the board, which listens first and decides later."
)


@pytest.fixture(scope="module")
def server(
    start_server: Callable[..., AbstractContextManager[Server]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server of this file alone: pages that other tests label would be taught, too."""
    with start_server(tmp_path_factory.mktemp("loop")) as server:
        yield server


def club_page(topic: str) -> str:
    notes = "".join(
        f'<div class="entry"><span class="when">{day}. May</span><div class="note">{words} {topic}</div></div>'
        for day, words in enumerate(
            ("Paint ordered for", "Ada looks after", "Two planks missing at", "Keys found near", "Supper for all at"), 2
        )
    )
    return (
        f"<title>Notes on {topic}</title><nav><a href=/>Home</a> <a href=/crew>Crew</a> <a href=/boats>Boats</a></nav>"
        f'<h1>Notes on {topic}</h1><div class="board">{notes}</div><div class="pledge"><p>{PLEDGE}</p></div>'
        "<footer>River club, since 1911</footer>"
    )


class Hands:
    """Counts what a person does with the workbench."""

    def __init__(self, tab: Page) -> None:
        self.tab = tab
        self.actions = 0

    def click(self, place: Locator) -> None:
        self.actions += 1
        place.click()

    def press(self, key: str) -> None:
        self.actions += 1
        self.tab.keyboard.press(key)


def inspect(tab: Page, topic: str) -> None:
    """Open a page in Inspect."""
    tab.goto("/")
    expect(tab.locator("#page-title")).not_to_be_empty()
    if not tab.locator("#input-text").is_visible():
        tab.locator("#input-panel summary").click()
    tab.locator("#input-text").fill(club_page(topic))
    tab.locator("#input-url").fill(f"https://river.example/{topic.replace(' ', '-')}")
    tab.locator("#input-go").click()
    expect(tab.locator("#page-title")).to_contain_text(topic)


def correct(hands: Hands) -> None:
    """Correct the page that is open: the days go, the notes stay, the pledge goes."""
    tab = hands.tab
    wait_until_open(tab)

    def flip(words: str, state: str, *, all_alike: bool = False) -> None:
        wrong = tab.locator(f'[role=option][data-state="{state}"]', has_text=words)
        if wrong.count():
            hands.click(wrong.first)
            if all_alike and wrong.count():
                expect(tab.locator("#alike")).to_be_enabled()
                hands.press("e")
            expect(wrong).to_have_count(0)

    flip(". May", "kept", all_alike=True)
    flip("Paint ordered", "dropped", all_alike=True)
    flip("Members promise", "kept")
    hands.press("g")
    wait_until_saved(tab)


def test_from_an_error_to_a_model_in_use(new_tab: Callable[..., Page]) -> None:
    tab = new_tab()
    inspect(tab, TOPICS[0])
    expect(tab.locator("#clean-text")).to_contain_text("Members promise")  # the error
    began = time.monotonic()
    actions = []
    for topic in TOPICS[:5]:
        inspect(tab, topic)
        hands = Hands(tab)
        hands.click(tab.locator("#correct"))
        if topic == TOPICS[0]:
            tab.locator("#correct-name").fill("Ada")
            tab.keyboard.press("Enter")
        correct(hands)
        actions.append(hands.actions)
    assert max(actions) <= MOST_ACTIONS
    tab.goto("/teach")
    tab.get_by_role("button", name="Use auto from now on").click(timeout=MOST_SECONDS * 1000)
    expect(tab.locator("#in-use")).to_contain_text("auto is in use")
    print(f"{time.monotonic() - began:.1f} s, actions: {actions}")
    inspect(tab, TOPICS[5])
    expect(tab.locator("#method")).to_have_value("models/auto")
    expect(tab.locator("#clean-text")).to_contain_text("Paint ordered for the old ferry")
    expect(tab.locator("#clean-text")).not_to_contain_text("Members promise")
