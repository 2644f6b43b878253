"""What all places of the workbench have in common."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Literal

import pytest

pytest.importorskip("playwright")
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from browser.conftest import Watch

PLACES = {
    "/": "Inspect",
    "/corpus": "Corpus",
    "/compare": "Compare",
    "/annotate": "Annotate",
    "/teach": "Teach",
    "/api": "API",
}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS = (400, 640, 1280)  # a phone; a desktop at 200 %; a desktop


def test_every_place_has_a_name_and_fits_its_window(tab: Page, axe: Callable[[Page], list[str]]) -> None:
    tab.emulate_media(reduced_motion="no-preference")
    for path, name in PLACES.items():
        tab.goto(path)
        expect(tab.get_by_role("heading", level=1)).to_have_text(name)
        expect(tab).to_have_title(f"{name} · mainmatter")
        expect(tab.locator("nav a[aria-current=page]")).to_have_text(name)
        assert tab.locator("link[rel=icon]").get_attribute("href") == "/static/favicon.svg"
        assert tab.locator("a[href], button, input").first.text_content() == "Skip to content"
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 800})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, f"{path} at {width}"
        tab.wait_for_load_state("networkidle")  # Inspect shows the example, and Compare compares it
        for width, scheme in product((400, 1280), SCHEMES):
            tab.set_viewport_size({"width": width, "height": 800})
            tab.emulate_media(color_scheme=scheme)
            assert axe(tab) == [], f"{path} at {width}, {scheme}"


def test_an_unknown_address_leads_home(tab: Page, watch: Watch) -> None:
    watch.expected.append("404")
    tab.goto("/nowhere")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Page not found")
    tab.get_by_role("link", name="Go to the start").click()
    expect(tab).to_have_title("Inspect · mainmatter")


def test_no_name_is_proposed_for_a_model_of_no_pages(tab: Page) -> None:
    ready = {"pages": 2, "usable": 0, "needed": 5}
    stand: dict[str, object] = {"ready": ready, "methods": [], "job": None, "lessons": [], "models": []}
    tab.route("**/api/teach", lambda route: route.fulfill(json=stand))
    tab.goto("/teach")
    expect(tab.locator("#start-about")).to_have_text("5 more pages needed.")
    expect(tab.locator("#name")).to_have_value("")


def test_the_way_back_leads_from_place_to_place(tab: Page) -> None:
    tab.goto("/")
    for name in ("Compare", "Teach"):
        tab.get_by_role("navigation", name="Workbench").get_by_role("link", name=name).click()
        expect(tab.get_by_role("heading", level=1)).to_have_text(name)
    tab.go_back()
    expect(tab).to_have_url(re.compile("/compare$"))
    tab.go_back()
    expect(tab).to_have_title("Inspect · mainmatter")
    tab.go_forward()
    expect(tab).to_have_title("Compare · mainmatter")


def test_methods_that_need_a_model_are_not_offered(tab: Page) -> None:
    for address, offered in (("/", "#method option"), ("/compare", "#methods input")):
        tab.goto(address)
        expect(tab.locator(f'{offered}[value="density"]')).to_have_count(1)
        expect(tab.locator(f'{offered}[value="template"]')).to_have_count(0)


def test_an_archive_is_told_where_it_can_be_read(tab: Page, watch: Watch) -> None:
    watch.expected.append("422")
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    archive = {"name": "crawl.warc", "mimeType": "application/warc", "buffer": b"WARC/1.0\r\nWARC-Type: warcinfo\r\n"}
    tab.set_input_files("#input-file", archive)  # type: ignore[arg-type]
    for words in ("This is a WARC archive", "the import of Annotate", "mainmatter serve --corpus", "mainmatter corpus"):
        expect(tab.locator("#problem")).to_contain_text(words)
