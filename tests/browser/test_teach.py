"""Teach in a real browser: from labels to a model that Inspect offers, and what it gained."""

from __future__ import annotations

import re
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from mainmatter.workbench.labels import Store
from teaching_pages import annotate_boards, boards

pytest.importorskip("fastapi")
pytest.importorskip("playwright")
pytest.importorskip("uvicorn")
import uvicorn
from playwright.sync_api import expect

from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings
from mainmatter.workbench.teach import TeachingJobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Page, Route

    from browser.conftest import Watch

LONG = 90_000  # milliseconds that a job may take on a busy machine
SMALL = {"width": 400, "height": 800}


@dataclass(frozen=True)
class OwnServer:
    """A server of this file alone: pages that other tests label would be taught, too."""

    url: str
    folder: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnServer]:
    """A server whose workbench has five labelled pages, and two that nobody has labelled."""
    folder = tmp_path_factory.mktemp("teaching")
    annotate_boards(folder / "annotations.db", 5)
    with Store(folder / "annotations.db") as store:
        for page in boards(7)[5:]:
            store.add_page(page.page, "tests", name=page.page.id)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        app = make_app(Settings(port=port, folder=folder, workers=1))
        running = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not running.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.02)
        yield OwnServer(f"http://127.0.0.1:{port}", folder)
        TeachingJobs(folder).cancel()
        running.should_exit = True
        thread.join(LONG / 1000)


def start(tab: Page, name: str, method: str = "ncleaner", *, curve: bool = True) -> None:
    tab.goto("/teach")
    expect(tab.locator("#start")).to_be_enabled()
    tab.get_by_label("Name", exact=True).fill(name)
    tab.get_by_label("Method", exact=True).select_option(method)
    tab.get_by_label("for a learning curve").set_checked(curve)
    tab.get_by_role("button", name="Teach", exact=True).click()
    expect(tab.locator("#job-heading")).to_have_text(f"{name} ({method})")


def test_from_labels_to_a_model_in_inspect(tab: Page, axe: Callable[[Page], list[str]]) -> None:
    tab.goto("/teach")
    expect(tab.locator("#ready-figure")).to_have_text("5 of 7 pages ready")
    expect(tab.locator("#ready-parts")).to_contain_text("done by one annotator")
    assert axe(tab) == []
    start(tab, "boards")
    expect(tab.locator("#job-state")).to_have_text("finished", timeout=LONG)
    expect(tab.locator("#result-heading")).to_have_text(re.compile(r"^9\d %\s+likely better than the shipped model"))
    expect(tab.locator("#result .gain").first).to_have_text(re.compile(r"^\+0\.\d{3}$"))
    expect(tab.locator("#verdict")).to_contain_text("Probably better (9")
    expect(tab.locator("#live")).to_contain_text("Probably better (9")
    expect(tab.locator("#curve-table tbody tr")).to_have_count(3)
    expect(tab.locator("#curve-picture circle")).to_have_count(3)
    expect(tab.locator("#models-table")).to_contain_text("boards")
    expect(tab.locator("#lessons-table tbody tr")).to_have_count(1)
    assert axe(tab) == []
    tab.reload()  # all of it is on the server
    expect(tab.locator("#verdict")).to_contain_text("Probably better (9")
    compare_blindly(tab, axe)
    tab.get_by_role("button", name="Use it from now on").click()
    expect(tab.locator("#in-use")).to_contain_text("boards is in use")
    expect(tab.locator("#next-step")).to_contain_text("It is in use.")
    tab.goto("/")
    expect(tab.locator("#method")).to_have_value("models/boards")
    tab.goto("/teach")
    tab.locator("#back-to-main").press("Enter")
    expect(tab.locator("#in-use")).to_have_text("main, as shipped, is in use.")
    compare = tab.get_by_role("link", name="Compare it with main").get_attribute("href")
    tab.get_by_role("link", name="Try boards in Inspect").click()
    expect(tab.locator("#method")).to_have_value("models/boards")
    tab.click("#input-example")
    expect(tab.locator("#counts")).to_contain_text("blocks kept")
    tab.goto(str(compare))
    expect(tab.locator("#columns .column")).to_have_count(2)
    expect(tab.locator("#columns")).to_contain_text("models/boards")


def compare_blindly(tab: Page, axe: Callable[[Page], list[str]]) -> None:
    """By keys alone, from the first page to the result, on which the probability stands."""
    tab.locator("#next-step").get_by_role("button", name="Compare blindly").press("Enter")
    expect(tab.locator("#blind-count")).to_contain_text("Page 1 of 2: board-0")
    expect(tab.locator("#blind-rows .only").first).to_be_visible()
    assert axe(tab) == []
    for turn in (1, 2):
        expect(tab.locator("#blind-count")).to_contain_text(f"Page {turn} of 2")
        law_on_left = tab.locator("#blind-rows td:first-child.only", has_text="takes no responsibility").count()
        tab.keyboard.press("2" if law_on_left else "1")  # as somebody would who wants the notices alone
    expect(tab.locator("#blind-words")).to_contain_text("preferred on 2 of 2 pages")
    tab.keyboard.press("Escape")
    expect(tab.locator("#next-step")).to_contain_text("Preferred blindly on 2 of 2 pages.")


def test_progress_is_shown_and_can_be_cancelled(new_tab: Callable[..., Page], server: OwnServer) -> None:
    TeachingJobs(server.folder).start("endless", "main:epochs=100000")
    tab = new_tab(viewport=SMALL, color_scheme="dark")
    tab.goto("/teach")
    expect(tab.locator("#job-state")).to_have_text("running")
    expect(tab.locator("#job-doing")).to_contain_text("learning", timeout=LONG)
    expect(tab.locator("#start")).to_be_disabled()
    tab.reload()
    expect(tab.locator("#job-state")).to_have_text("running")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.get_by_role("button", name="Cancel").click()
    expect(tab.locator("#job-state")).to_have_text("cancelled", timeout=LONG)
    expect(tab.locator("#start")).to_be_enabled()
    assert not (server.folder / "models" / "endless").exists()


def test_a_dark_and_narrow_page_with_a_result(new_tab: Callable[..., Page], axe: Callable[[Page], list[str]]) -> None:
    tab = new_tab(viewport=SMALL, color_scheme="dark")
    start(tab, "by-keyboard", curve=False)
    expect(tab.locator("#job-state")).to_have_text("finished", timeout=LONG)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe(tab) == []
    tab.on("dialog", lambda dialog: dialog.accept())
    button = tab.get_by_role("button", name="Delete by-keyboard")
    button.focus()
    tab.keyboard.press("Enter")
    expect(button).to_have_count(0)


def test_too_few_pages_are_told_before_they_are_taught(tab: Page) -> None:
    def take_some_away(route: Route) -> None:
        answer = route.fetch()
        stand = answer.json()
        stand["ready"] |= {"usable": 2}
        route.fulfill(response=answer, json=stand | {"job": None})

    tab.route("**/api/teach", take_some_away)
    tab.goto("/teach")
    expect(tab.locator("#ready-hint")).to_contain_text("Teaching needs at least 4 pages")
    expect(tab.locator("#start-about")).to_have_text("2 more pages needed.")
    expect(tab.locator("#start")).to_be_disabled()


def test_errors_are_shown_and_text_is_no_markup(tab: Page, watch: Watch) -> None:
    watch.expected.append("409")
    tab.goto("/teach")
    expect(tab.locator("#start")).to_be_enabled()
    tab.route("**/api/teach", lambda route: route.fulfill(status=409, json={"error": "<b>no</b>", "hint": "wait"}))
    tab.get_by_label("Name", exact=True).fill("x")
    tab.get_by_role("button", name="Teach", exact=True).click()
    expect(tab.locator("#problem")).to_contain_text("<b>no</b>. Wait.")
