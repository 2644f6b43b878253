"""What all places of the workbench have in common."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright")
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

PLACES = {"/": "Inspect", "/compare": "Compare", "/annotate": "Annotate", "/teach": "Teach", "/api": "API"}
WIDTHS = (400, 640, 1280)  # a phone; a desktop at 200 %; a desktop


def test_every_place_has_a_name_and_fits_its_window(tab: Page) -> None:
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
