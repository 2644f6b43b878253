"""Compare in a real browser: several methods on one page, their differences marked, measured against a gold text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter import clean

pytest.importorskip("playwright")
pytest.importorskip("rapidfuzz")
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page, Route

EXAMPLE = (Path(__file__).parents[2] / "src/mainmatter/workbench/static/example.html").read_text()
SMALL = {"width": 400, "height": 800}


def open_page(tab: Page, address: str = "/compare?methods=main,density", html: str = EXAMPLE) -> None:
    tab.goto(address)
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.fill("#input-text", html)
    tab.click("#input-go")
    expect(tab.locator("#columns .column")).not_to_have_count(0)


def words(tab: Page, name: str, without: str) -> list[str]:
    """The words of a column, without its marks of one kind."""
    text = tab.locator(f'.column[data-name="{name}"] .prose').evaluate(
        "(prose, without) => { const copy = prose.cloneNode(true); "
        "copy.querySelectorAll(without).forEach((mark) => mark.replaceWith(' ')); return copy.textContent; }",
        without,
    )
    return str(text).split()


def test_two_methods_stand_side_by_side_with_their_differences(tab: Page) -> None:
    open_page(tab)
    columns = tab.locator("#columns .column")
    expect(columns).to_have_count(2)
    boxes = [columns.nth(i).bounding_box() for i in (0, 1)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"]
    expect(columns.nth(0).locator("ins, del")).to_have_count(0)
    expect(columns.nth(1).locator("del").first).to_contain_text("The clock that counted fish")
    assert words(tab, "main", "del") == clean(EXAMPLE).text.split()
    assert words(tab, "density", "del") == clean(EXAMPLE, method="density").text.split()
    assert words(tab, "density", "ins") == clean(EXAMPLE).text.split()
    expect(tab.locator("#legend")).to_contain_text("main")
    expect(tab.locator("#metrics")).to_be_hidden()


def test_with_a_gold_text_all_are_measured_and_the_best_is_marked(tab: Page) -> None:
    open_page(tab)
    tab.check("input[name=method][value=turbohtml]")
    tab.click("#gold-panel summary")
    tab.fill("#gold", clean(EXAMPLE).cleaneval)
    tab.click("#compare-go")
    expect(tab.locator("#metrics")).to_be_visible()
    expect(tab.locator("#columns .column")).to_have_count(3)
    row = tab.locator("#metrics-table tr", has_text="combined")
    cells = row.locator("td.number")
    expect(cells.nth(0)).to_have_text("100.0")
    names = tab.locator("#columns .column").evaluate_all("columns => columns.map((column) => column.dataset.name)")
    f1s = [float(text.removeprefix("F1 ")) for text in tab.locator("#columns .f1").all_text_contents()]
    assert names[0] == "main"
    assert f1s[0] == 100
    assert f1s == sorted(f1s, reverse=True)
    expect(cells.nth(0)).to_have_class("number best")
    expect(cells.nth(1)).not_to_have_class("number best")
    expect(tab.locator("#legend")).to_contain_text("the gold text")
    assert words(tab, "density", "ins") == clean(EXAMPLE).text.split()
    tab.reload()  # keeps the page, the methods and the gold text
    expect(tab.locator("#metrics")).to_be_visible()
    expect(tab.locator("#columns .column")).to_have_count(3)
    tab.check("#only-differences")
    expect(tab.locator('.column[data-name="density"] .same').first).to_contain_text("…")


def test_a_tool_that_fails_loses_its_column_only(tab: Page) -> None:
    def break_one(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        told["columns"][1] |= {"error": "it <b>hung</b>", "text": "", "parts": []}
        route.fulfill(response=answer, json=told)

    tab.route(
        lambda url: url.endswith("/api/compare"),
        lambda route: break_one(route) if route.request.method == "POST" else route.continue_(),
    )
    open_page(tab)
    expect(tab.locator('.column[data-name="density"]')).to_contain_text("density failed: it <b>hung</b>")
    expect(tab.locator('.column[data-name="main"]')).to_contain_text("The clock that counted fish")
    tab.click("#input-panel summary")
    tab.fill("#input-text", "<h1>Another</h1><p>Words of another page, which was typed and not yet used.</p>")
    tab.click("#compare-go")
    expect(tab.locator('.column[data-name="main"]')).to_contain_text("Words of another page")


def test_addresses_hold_the_page_and_the_methods_and_the_way_back_leads_there(tab: Page) -> None:
    asked: list[Any] = []

    def answer(route: Route) -> None:
        asked.append(route.request.post_data_json)
        if "html" not in asked[-1]:
            page = asked[-1] | {"html": f"<h1>From afar</h1><p>Words of the page {asked[-1]['url']}, for all to read."}
            route.continue_(post_data=json.dumps(page))
        else:
            route.continue_()

    tab.route(
        lambda url: url.endswith("/api/compare"),
        lambda route: answer(route) if route.request.method == "POST" else route.continue_(),
    )
    tab.goto("/compare?url=https://far.example/1&methods=density,main")
    expect(tab.locator('.column[data-name="main"]')).to_contain_text("the page https://far.example/1")
    expect(tab.locator("#columns .column")).to_have_count(2)
    tab.click("#input-panel summary")
    tab.fill("#input-text", "https://far.example/2")
    tab.click("#input-go")
    expect(tab.locator('.column[data-name="main"]')).to_contain_text("the page https://far.example/2")
    tab.uncheck("input[value=density]")
    tab.click("#compare-go")
    expect(tab.locator("#columns .column")).to_have_count(1)
    expect(tab).to_have_url(re.compile(r"/compare\?url=https%3A%2F%2Ffar.example%2F2&methods=main$"))
    tab.go_back()
    expect(tab.locator('.column[data-name="density"]')).to_contain_text("the page https://far.example/1")
    expect(tab.locator("input[value=density]")).to_be_checked()
    assert [each["url"][-1] for each in asked] == ["1", "2", "2", "1"]


def test_a_page_goes_to_annotate_with_what_a_column_kept(tab: Page) -> None:
    asked: list[Any] = []

    def answer(route: Route) -> None:
        asked.append(route.request.post_data_json)
        route.fulfill(json={"page": 7, "labelled": 36, "url": "/teach#corrected"})

    tab.route("**/api/annotate/correct", answer)
    tab.goto("/compare")
    tab.evaluate("localStorage.setItem('mainmatter-annotator', 'Ada')")
    open_page(tab)
    tab.get_by_role("button", name="Correct this page, starting from what density kept").click()
    expect(tab).to_have_url(re.compile("/teach#corrected$"))
    assert asked == [{"html": EXAMPLE, "method": "density", "options": {}, "annotator": "Ada"}]
    tab.goto("/compare?methods=main,turbohtml")
    expect(tab.locator("#columns .column")).to_have_count(2)
    expect(tab.locator("button.correct")).to_have_count(1)  # not of other people's tools
    tab.click("#input-panel summary")
    page = {
        "name": "a.html",
        "mimeType": "text/html",
        "buffer": "<p>Die Straße führt über den Fluss.".encode("latin-1"),
    }
    tab.set_input_files("#input-file", page)  # type: ignore[arg-type]
    expect(tab.locator('.column[data-name="main"]')).to_contain_text("Die Straße")
    tab.keyboard.press("2")
    tab.keyboard.press("c")
    expect(tab).to_have_url(re.compile("/teach#corrected$"))
    assert asked[1] == {"frame": asked[1]["frame"], "method": "main", "options": {}, "annotator": "Ada"}


def test_markup_of_a_page_is_shown_as_text(tab: Page) -> None:
    html = (
        "<title>T</title><h1>Tags</h1><p>Write &lt;b onclick=x&gt;bold&lt;/b&gt; and &lt;script&gt; with care, always."
    )
    open_page(tab, html=html)
    expect(tab.locator('.column[data-name="main"]')).to_contain_text("<b onclick=x>bold</b> and <script> with care")
    expect(tab.locator("#columns b")).to_have_count(0)


def test_a_page_goes_from_inspect_to_compare(tab: Page) -> None:
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.click("#input-example")
    expect(tab.locator("#page-title")).to_be_visible()
    tab.get_by_role("navigation").get_by_role("link", name="Compare").click()
    expect(tab.locator("#columns .column").first).to_contain_text("The clock that counted fish")


def test_it_is_accessible_in_both_schemes(tab: Page, axe: Callable[[Page], list[str]]) -> None:
    open_page(tab)
    tab.click("#gold-panel summary")
    tab.fill("#gold", "The clock that counted fish")
    tab.click("#compare-go")
    expect(tab.locator("#metrics")).to_be_visible()
    assert axe(tab) == []
    tab.emulate_media(color_scheme="dark")
    assert axe(tab) == []


def test_it_can_be_used_on_a_small_screen(new_tab: Callable[..., Page], axe: Callable[[Page], list[str]]) -> None:
    tab = new_tab(viewport=SMALL)
    open_page(tab, "/compare?methods=main,density,ice-heuristic")
    assert tab.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
    expect(tab.locator('.column[data-name="density"]')).to_be_visible()
    expect(tab.locator('.column[data-name="main"]')).to_be_hidden()
    tab.select_option("#chooser", label="main")
    expect(tab.locator('.column[data-name="main"]')).to_be_visible()
    assert axe(tab) == []
