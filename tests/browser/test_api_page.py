"""The API page: what the server can do, and a form to try it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_try_a_call(width: int, scheme: str, new_tab: Callable[..., Page], axe: Callable[[Page], list[str]]) -> None:
    tab = new_tab(viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.goto("/api")
    tab.get_by_role("link", name="POST clean").click()
    form = tab.locator("#post-api-clean form")
    form.get_by_label("Query").fill("format=markdown")
    form.get_by_label("Request body").fill('{"html": "<h1>Fog</h1><p>Ships need <b>signals</b> in fog.</p>"}')
    form.get_by_role("button", name="Send POST").click()
    answer = form.get_by_role("region", name="Response", exact=True)
    answer.wait_for()
    assert "# Fog\\n\\nShips need **signals** in fog." in answer.inner_text()
    assert "200" in form.locator(".note").inner_text()
    assert axe(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_errors_are_shown_and_markup_stays_text(tab: Page) -> None:
    tab.goto("/api#post-api-clean")
    form = tab.locator("#post-api-clean form")
    form.get_by_label("Content-Type").select_option("text/html")
    form.get_by_label("Query").fill("format=html&raw")
    form.get_by_label("Request body").fill("<h1>Fog</h1><p>Ships need <img src=x onerror=alert(1)> signals in fog.</p>")
    form.get_by_role("button", name="Send POST").click()
    answer = form.get_by_role("region", name="Response", exact=True)
    answer.wait_for()
    assert "<h1>Fog</h1>" in answer.inner_text()
    assert answer.locator("*").count() == 0


def test_with_the_keyboard_alone(tab: Page) -> None:
    tab.goto("/api")
    tab.get_by_role("link", name="GET health").focus()
    tab.keyboard.press("Enter")
    details = tab.locator("#get-api-health")
    details.locator("summary:focus").wait_for()
    button = details.get_by_role("button", name="Send GET")
    for _ in range(12):
        tab.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    tab.keyboard.press("Enter")
    details.get_by_role("region", name="Response", exact=True).wait_for()
    assert '"alive": true' in details.get_by_role("region", name="Response", exact=True).inner_text()
