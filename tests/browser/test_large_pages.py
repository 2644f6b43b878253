"""Pages of very many blocks: the browser does what can be seen at once, and the rest when it comes into view."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.annotate_steps import (
    add_page,
    frame_state,
    labels_of,
    middle_of,
    sign_in,
    wait_until_open,
    wait_until_saved,
)
from mainmatter import clean
from mainmatter.errors import PageTooLarge
from mainmatter.records import Page as Input
from mainmatter.workbench.inspect import MOST_SHOWN, Question, inspect_page
from mainmatter.workbench.page_source import PageSource

pytest.importorskip("playwright")
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from browser.conftest import Server

BLOCKS = 2400  # more than are tinted at once
LAST = BLOCKS - 1
SECTION = (
    "<h2>Section {0}</h2><p>The keepers of the north coast fired a gun in fog every quarter of an hour on day {0}.</p>"
    "<p>It could be heard for five miles on a still night, and hardly for one against the wind.</p>"
    "<p><a href=/{0}>Share section {0}</a></p>"
)
# The page wants to be scrolled slowly, and has something that wants to stay in view.
HTML = (
    "<title>Many</title><style>html { scroll-behavior: smooth } @media all { .bar { position: fixed } }</style>"
    "<div class=bar></div>" + "".join(SECTION.format(number) for number in range(BLOCKS // 4))
)
WATCH_TEXT = """() => {
  const host = document.querySelector("#clean-text");
  window.touched = new Set();
  new MutationObserver((changes) => {
    for (const { target } of changes) window.touched.add(target === host ? target : target.closest(".chunk"));
  }).observe(host, { childList: true, subtree: true });
}"""


def mark(tab: Page, block: int) -> Locator:
    return tab.frame_locator(".page-frame iframe").locator(f'mm-block[data-block="{block}"]')


def tinted(tab: Page) -> Locator:
    return tab.frame_locator(".page-frame iframe").locator("mm-block[data-state]")


def open_large(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.set_input_files("#input-file", {"name": "a.html", "mimeType": "text/html", "buffer": HTML.encode()})
    expect(tab.locator("#live")).to_contain_text(f"of {BLOCKS:,} blocks kept")
    expect(tab.locator("#main")).not_to_have_attribute("aria-busy", "true")


def wait_for_text(tab: Page, text: str) -> None:
    """Wait until the clean text is this one, to the letter."""
    tab.wait_for_function("text => document.querySelector('#clean-text').textContent === text", arg=text)


def test_what_is_in_view_is_shown_and_the_rest_when_it_comes(tab: Page) -> None:
    open_large(tab)
    kept = clean(HTML)
    wait_for_text(tab, kept.text)
    expect(tab.locator("#clean-text [data-block]").first).to_be_visible()
    assert tab.locator("#clean-text [data-block]").count() < 400
    assert 0 < tinted(tab).count() < 400
    tab.keyboard.press("k")  # the last block
    expect(mark(tab, LAST)).to_be_in_viewport()
    expect(mark(tab, LAST)).to_have_attribute("data-state", "kept" if kept.kept[LAST] else "dropped")
    expect(mark(tab, LAST)).to_have_attribute("data-focus", "")
    last_kept = int(kept.kept.nonzero()[0][-1])
    for _ in range(LAST - last_kept):
        tab.keyboard.press("k")
    expect(tab.locator(f'#clean-text [data-block="{last_kept}"][data-focus]')).to_be_in_viewport()
    box = mark(tab, LAST - 1).bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + 10, box["y"] + box["height"] / 2)  # a point of the frame is a point of the page
    expect(tab.locator("#detail")).to_contain_text(f"Block {LAST - 1} ")
    expect(tab.frame_locator("#page iframe").locator(".bar")).to_have_css("position", "absolute")
    tab.locator("#page").evaluate("page => { page.scrollTop = page.scrollHeight / 2; }")
    expect(mark(tab, BLOCKS // 2)).to_have_attribute("data-state", re.compile("kept|dropped"))
    tab.keyboard.press("3")
    row = tab.locator(f'#table tr[data-block="{LAST - 1}"]')
    expect(row).to_be_in_viewport()
    expect(row).to_have_attribute("aria-rowindex", str(LAST + 1))
    tab.keyboard.press("2")
    bars = tab.locator("#plot .bars").evaluate_all("bars => bars.map((bar) => bar.getAttribute('d').split('M').length)")
    assert 0 < sum(bars) - 2 < BLOCKS, "bars that stand in the same place are one"


def test_the_dial_touches_what_it_changes(tab: Page) -> None:
    open_large(tab)
    expect(tab.locator("#clean-text [data-block]").first).to_be_visible()
    tab.evaluate(WATCH_TEXT)
    usual = int(tab.locator("#dial").input_value())
    for step, value in ((int(tab.locator("#dial").get_attribute("max") or 0), 1.0), (usual, 0.5)):
        tab.locator("#dial").evaluate(
            "(dial, to) => { dial.value = to; dial.dispatchEvent(new Event('input')); }", step
        )
        expect(tab.locator("#dial-value")).to_have_text(f"{value:.2f}")
        wait_for_text(tab, clean(HTML, dial=value).text)
    assert tab.evaluate("touched.size") > 0
    tab.evaluate("touched.clear()")
    tab.locator("#dial").evaluate("dial => dial.dispatchEvent(new Event('input'))")  # to where it is
    assert tab.evaluate("touched.size") == 0
    states = tinted(tab).evaluate_all("marks => marks.map((one) => [Number(one.dataset.block), one.dataset.state])")
    kept = clean(HTML).kept
    near = [(block, state) for block, state in states if block < 20]
    assert near
    assert near == [(block, "kept" if kept[block] else "dropped") for block, _ in near]


def test_a_large_page_is_labelled(tab: Page, server: Server) -> None:
    page = add_page(server.url, "Large", html=HTML)
    sign_in(tab, "Ada", place=f"#/page/{page}")
    wait_until_open(tab)
    rows = tab.locator("li.block")
    assert rows.count() < 400
    tab.keyboard.press("End")
    last = tab.locator("li.block.active")
    expect(last).to_have_attribute("aria-posinset", str(BLOCKS))
    expect(last).to_have_attribute("aria-setsize", str(BLOCKS))
    expect(last).to_be_in_viewport()
    expect(mark(tab, LAST)).to_be_in_viewport()
    assert rows.count() < 400
    tab.mouse.move(*middle_of(tab, LAST - 3))
    tab.mouse.down()
    tab.mouse.move(*middle_of(tab, LAST - 1), steps=4)
    assert "selected" in frame_state(tab, LAST - 2)
    tab.mouse.up()
    wait_until_saved(tab)
    assert frame_state(tab, LAST - 2).startswith("kept")
    assert len(labels_of(server.url, page, "Ada")) == 3
    tab.keyboard.press("Home")
    tab.keyboard.press("Shift+End")
    tab.keyboard.press("d")
    wait_until_saved(tab)
    tab.locator(".page-frame").evaluate("page => { page.scrollTop = page.scrollHeight / 2; }")
    middle = BLOCKS // 2
    expect(mark(tab, middle)).to_have_attribute("data-state", "dropped")
    tab.mouse.click(*middle_of(tab, middle))  # from drop to no label
    expect(tab.locator("li.block.active")).to_have_attribute("data-index", str(middle))
    expect(tab.locator("li.block.active")).to_be_in_viewport()
    expect(tab.locator("li.block.active")).to_have_attribute("data-state", "none")
    expect(tab.locator(f"#block-{middle + 1}")).to_have_attribute("data-state", "dropped")


def test_a_page_of_too_many_blocks_is_refused_in_words() -> None:
    page = Input("<title>T</title>" + "<p>a" * (MOST_SHOWN + 1))
    with pytest.raises(PageTooLarge, match="has 100,001 blocks, and Inspect shows up to 100,000"):
        inspect_page(Question(PageSource(page), Path("no-models"), "density"))
