"""Labelling pages in a real browser: click, drag, keyboard; what is saved is said truthfully, and stays."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from browser.annotate_steps import (
    add_page,
    ask,
    frame_state,
    labels_of,
    middle_of,
    open_page,
    sign_in,
    wait_until_open,
    wait_until_saved,
)
from teaching_pages import notice_board
from timing import PATIENCE, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Dialog, Route
    from playwright.sync_api import Page as Tab

    from browser.conftest import Server, Watch

    Axe = Callable[[Tab], list[str]]

# The blocks of the page in annotated_pages.py
HOME, HEADLINE, BYLINE, FIRST, THIRD, SECTION, ITEM, LAST_ITEM = 0, 5, 6, 7, 9, 10, 11, 13


def test_blocks_are_labelled_by_key_click_and_drag(tab: Tab, server: Server) -> None:
    page = add_page(server.url, "By key, click and drag")
    sign_in(tab, "Ada")
    tab.get_by_role("link", name="By key, click and drag.html").click()
    wait_until_open(tab)
    tab.keyboard.press("Shift+ArrowDown")  # all five links of the navigation
    for _ in range(3):
        tab.keyboard.press("Shift+ArrowDown")
    tab.keyboard.press("d")
    tab.keyboard.press("h")
    tab.mouse.click(*middle_of(tab, BYLINE))  # keep
    tab.mouse.click(*middle_of(tab, BYLINE))  # drop
    tab.mouse.move(*middle_of(tab, FIRST))
    tab.mouse.down()
    tab.mouse.move(*middle_of(tab, FIRST + 1), steps=4)
    tab.frame_locator(".page-frame iframe").locator(f'[data-block="{FIRST + 1}"][data-state~="selected"]').wait_for()
    tab.mouse.move(*middle_of(tab, THIRD), steps=4)
    tab.mouse.up()
    tab.get_by_role("button", name="List item").click()  # a brush
    rows = tab.locator("li.block")
    rows.nth(ITEM).click()
    rows.nth(ITEM + 1).drag_to(rows.nth(LAST_ITEM))
    wait_until_saved(tab)
    assert frame_state(tab, HEADLINE).startswith("kept heading")
    labels = labels_of(server.url, page, "Ada")
    assert [label["kept"] for label in labels.values()] == [False] * 5 + [True, False] + [True] * 6
    assert [label["kind"] for label in labels.values()][5:] == ["heading", "paragraph"] + ["paragraph"] * 3 + [
        "list"
    ] * 3
    events = ask(f"{server.url}/api/annotate/pages/{page}/history?annotator=Ada")["events"]
    assert [len(event["changes"]) for event in events] == [5, 1, 1, 1, 3, 1, 2], "one step for each deed"


def test_undo_works_after_a_reload_and_the_history_tells_all(tab: Tab, server: Server) -> None:
    page = add_page(server.url, "Undone later")
    sign_in(tab, "Ada")
    open_page(tab, page)
    for key in "dkx":
        tab.keyboard.press(key)
    tab.keyboard.press("c")
    wait_until_saved(tab)
    assert [label["kind"] for label in labels_of(server.url, page, "Ada").values()] == ["list", "list", "comment"]
    tab.reload()
    wait_until_open(tab)
    assert tab.locator('li.block[data-state="kept"]').count() == 2
    tab.get_by_role("button", name="Undo").click()
    tab.locator('li.block[data-state="kept"]').nth(1).wait_for(state="detached")
    tab.keyboard.press("z")
    tab.locator('li.block[data-state="kept"]').wait_for(state="detached")
    tab.keyboard.press("Shift+Z")
    tab.locator('li.block[data-state="kept"]').wait_for()
    wait_until_saved(tab)
    assert [label["kept"] for label in labels_of(server.url, page, "Ada").values()] == [False, True]
    tab.get_by_role("button", name="History").click()
    events = tab.locator(".events > li")
    events.first.wait_for()
    assert "redid a change" in events.first.inner_text()
    assert "labelled 1 block" in events.last.inner_text()
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    tab.get_by_label("Use single letters").uncheck()
    tab.keyboard.press("Escape")
    tab.keyboard.press("k")
    tab.wait_for_timeout(100)
    assert len(labels_of(server.url, page, "Ada")) == 2, "letters are switched off"


def test_suggestions_are_off_until_asked_for_and_the_rest_is_dropped(tab: Tab, server: Server) -> None:
    page = add_page(server.url, "Suggestions")
    sign_in(tab, "Ada")
    open_page(tab, page)
    assert frame_state(tab, FIRST) == ""
    tab.get_by_label("Suggestions", exact=True).check()
    tab.get_by_text("Leave them off for a gold standard").wait_for()
    tab.get_by_role("button", name="Accept for all unlabelled").wait_for()
    assert frame_state(tab, FIRST) == "suggested-kept"
    assert labels_of(server.url, page, "Ada") == {}
    tab.get_by_label("Suggestions", exact=True).uncheck()
    tab.locator("li.block").nth(FIRST).click()
    tab.keyboard.press("Shift+D")
    wait_until_saved(tab)
    labels = labels_of(server.url, page, "Ada")
    assert len(labels) == 25
    assert sum(label["kept"] for label in labels.values()) == 1
    tab.keyboard.press("Control+Enter")
    tab.get_by_role("button", name="Reopen").wait_for()
    wait_until_saved(tab)
    rows = ask(f"{server.url}/api/annotate/pages?annotator=Ada")["pages"]
    assert next(row["done"] for row in rows if row["id"] == page)


def test_suggestions_are_corrected_until_a_model_learns_from_it(tab: Tab, server: Server, axe: Axe) -> None:
    html = [notice_board(number, number % 2).page for number in range(7)]
    asked = [{"html": page.html.decode(), "url": page.url, "annotator": "Tia"} for page in html]  # type: ignore[union-attr]
    first, *_ = [ask(f"{server.url}/api/annotate/correct", body) for body in asked]
    assert first["labelled"] == 12
    sign_in(tab, "Tia", first["url"].removeprefix("/annotate"), mode="teach")
    wait_until_open(tab)
    model = tab.locator("#suggesting-model")
    model.filter(has_text="Suggestions by").wait_for()
    notices = tab.locator("li.block", has_text="Lost near")
    assert set(notices.evaluate_all("all => all.map(one => one.dataset.open)")) == {"dropped"}
    tab.keyboard.press("u")
    least = tab.locator("li.block.active")
    assert least.get_attribute("data-sureness") in ("unsure", "likely")
    notices.first.click(modifiers=["Alt"])  # it and all that are like it
    tab.locator("li.block", has_text="The publisher takes").first.click()
    tab.locator("#alike", has_text="Same for 2 like it").click()
    wait_until_saved(tab)
    said = labels_of(server.url, first["page"], "Tia")
    assert [label["kept"] for label in said.values()] == [False] * 3 + [True] * 6 + [False] * 3
    assert [text for text, label in said.items() if "suggested_by" in label] == ["Home", "All notices", "Write one"]
    assert axe(tab) == []
    tab.emulate_media(color_scheme="dark")
    assert axe(tab) == []
    for _ in range(4):  # pages, three actions each
        here = tab.evaluate("location.hash")
        tab.keyboard.press("g")
        tab.wait_for_function("here => location.hash !== here", arg=here)
        wait_until_open(tab)
        model.filter(has_text="Suggestions by").wait_for()
        if (
            notices.first.get_attribute("data-open") == "dropped"
        ):  # other tests' pages teach, too, so it may know already
            notices.first.click(modifiers=["Alt"])
        law = tab.locator("li.block", has_text="The publisher takes").first
        if law.get_attribute("data-open") == "kept":
            law.click(modifiers=["Alt"])
    tab.keyboard.press("g")
    model.filter(has_text="Suggestions by auto, taught with").wait_for(timeout=1000 * PATIENCE)
    kept = "[...document.querySelectorAll(`li.block[data-open=kept]`)].map((one) => one.innerText).join()"
    tab.wait_for_function(f"() => {kept}.split(`Lost near`).length === 7")
    tab.get_by_role("link", name="← All pages").click()
    tab.locator("td", has_text="% sure").first.wait_for()
    assert axe(tab) == []
    tab.set_viewport_size({"width": 400, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    tab.locator("#begin").click()
    wait_until_open(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400


def test_what_a_site_repeats_is_dropped_once(tab: Tab, server: Server, axe: Axe) -> None:
    links = "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(6))
    stories = [
        f"<nav>{links}</nav><h1>Story {n}</h1><p>The ferry {n} sails at nine, with the tide.</p>" for n in range(3)
    ]
    corrected = [
        ask(f"{server.url}/api/annotate/correct", {"html": story, "url": f"http://coast.example/{n}", "annotator": "x"})
        for n, story in enumerate(stories)
    ]
    number = corrected[0]["page"]
    sign_in(tab, "Una", f"#/page/{number}", mode="teach")
    wait_until_open(tab)
    tab.locator("#recurring", has_text="6 blocks of this page recur on the 3 pages of coast.example").wait_for()
    tab.locator("li.block").nth(1).click()  # her own word stays
    wait_until_saved(tab)
    own = labels_of(server.url, number, "Una")["Section 1"]
    assert axe(tab) == []
    tab.keyboard.press("t")
    assert axe(tab) == []
    tab.locator("#recurring-dialog").get_by_label("Section 5").uncheck()
    tab.locator("#recurring-drop", has_text="Drop 5 blocks on all 3 pages").click()
    tab.locator(".toast", has_text="Dropped 14 blocks on 3 pages").wait_for()
    dropped = {"kept": False, "kind": "list", "suggested_by": "template"}
    assert labels_of(server.url, number, "Una") == {
        "Section 1": own,
        **dict.fromkeys([f"Section {n}" for n in (0, 2, 3, 4)], dropped),
    }
    assert len(labels_of(server.url, corrected[1]["page"], "Una")) == 5
    tab.keyboard.press("z")
    wait_until_saved(tab)
    assert labels_of(server.url, number, "Una") == {"Section 1": own}


def test_a_window_that_is_stale_is_told_and_catches_up(
    new_tab: Callable[..., Tab], server: Server, watch: Watch
) -> None:
    page = add_page(server.url, "Two windows")
    first = new_tab()
    sign_in(first, "Ada")
    open_page(first, page)
    second = first.context.new_page()
    second.goto(f"/annotate#/page/{page}")
    wait_until_open(second)
    second.keyboard.press("d")
    wait_until_saved(second)
    first.locator("li.block").nth(HEADLINE).click()
    first.get_by_text("changed in another window").wait_for()
    assert first.locator(".saved").inner_text() == "Not saved: 1 change"
    assert "not saved yet" in first.locator("li.block").nth(HEADLINE).inner_text()
    assert len(labels_of(server.url, page, "Ada")) == 1
    first.get_by_role("button", name="Load them, then save").click()
    wait_until_saved(first)
    assert first.locator("li.block").nth(HOME).get_attribute("data-state") == "dropped"
    assert len(labels_of(server.url, page, "Ada")) == 2
    second.keyboard.press("k")
    second.get_by_role("button", name="Load the stored labels").click()
    wait_until_saved(second)
    assert second.locator("li.block").nth(HEADLINE).get_attribute("data-state") == "kept"
    assert len(labels_of(server.url, page, "Ada")) == 2
    watch.errors[:] = [error for error in watch.errors if "409" not in error]


def test_what_is_not_saved_is_shown_retried_and_warned_about(tab: Tab, server: Server, watch: Watch) -> None:
    page = add_page(server.url, "Interrupted")
    sign_in(tab, "Ada")
    open_page(tab, page)
    tab.route("**/labels", lambda route: route.abort())
    tab.keyboard.press("k")
    tab.keyboard.press("d")
    tab.get_by_text("Not saved: 2 changes. Trying again").wait_for()
    assert tab.locator("li.block.pending").count() == 2
    assert "pending" in frame_state(tab, HOME)
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    tab.once("dialog", stay)
    with tab.expect_event("dialog"):
        tab.get_by_role("link", name="← All pages").click()
    tab.wait_for_function("() => location.hash.startsWith('#/page/')")
    assert asked == ["2 changes not saved yet. Leave this page and lose them?"]
    with tab.expect_event("dialog") as leaving:
        tab.once("dialog", lambda dialog: dialog.dismiss())
        tab.evaluate("() => { setTimeout(() => location.reload()); }")
    assert leaving.value.type == "beforeunload"
    tab.unroute("**/labels")
    wait_until_saved(tab)
    assert tab.locator("li.block.pending").count() == 0
    assert [label["kept"] for label in labels_of(server.url, page, "Ada").values()] == [True, False]
    watch.errors[:] = [error for error in watch.errors if "ERR_FAILED" not in error]


def test_an_acknowledgement_that_was_lost_is_no_conflict(tab: Tab, server: Server, watch: Watch) -> None:
    page = add_page(server.url, "Lost answer")
    sign_in(tab, "Ada")
    open_page(tab, page)
    lost: list[int] = []

    def lose_one(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(route.fetch().status)  # the server has stored it
            route.abort()

    tab.route("**/labels", lose_one)
    tab.keyboard.press("k")
    wait_until_saved(tab)
    tab.wait_for_timeout(50)
    tab.keyboard.press("d")
    tab.locator('li.block[data-state="dropped"]').wait_for()
    wait_until_saved(tab)
    tab.unroute_all(behavior="wait")
    assert lost == [200]
    assert [label["kept"] for label in labels_of(server.url, page, "Ada").values()] == [True, False]
    watch.errors[:] = [error for error in watch.errors if "ERR_FAILED" not in error and "409" not in error]


def test_labels_that_could_not_be_carried_over_are_shown_with_their_text(tab: Tab, server: Server) -> None:
    page = add_page(server.url, "Cut otherwise")

    def lose_a_label(route: Route) -> None:
        answer = route.fetch()
        lost = [{"text": "A paragraph that is two now.", "label": {"kept": True, "kind": "paragraph"}}]
        route.fulfill(response=answer, json=answer.json() | {"lost": lost})

    tab.route(f"**/api/annotate/pages/{page}?*", lose_a_label)
    sign_in(tab, "Ada")
    open_page(tab, page)
    assert "1 label could not be carried over" in tab.locator(".lost summary").inner_text()
    assert tab.locator(".lost li").inner_text() == "keep, paragraph: A paragraph that is two now."


def test_axe_finds_nothing_serious(tab: Tab, server: Server, axe: Callable[[Tab], list[str]]) -> None:
    page = add_page(server.url, "Seen by axe")
    sign_in(tab, "Ada")
    tab.get_by_role("button", name="Add pages").click()
    tab.get_by_role("button", name="Export").click()
    tab.get_by_text("The export will contain").wait_for()
    assert axe(tab) == []
    open_page(tab, page)
    for key in "dkhx":
        tab.keyboard.press(key)
    tab.get_by_label("Suggestions", exact=True).check()
    tab.get_by_role("button", name="Accept for all unlabelled").wait_for()
    wait_until_saved(tab)
    assert axe(tab) == []
    tab.emulate_media(color_scheme="dark")
    assert axe(tab) == []
    tab.get_by_role("button", name="History").click()
    tab.locator(".events > li").first.wait_for()
    assert axe(tab) == []
    tab.get_by_role("button", name="Close").click()
    tab.get_by_role("link", name="← All pages").click()
    tab.locator("table.pages").wait_for()
    assert axe(tab) == []


def test_it_works_on_a_phone(new_tab: Callable[..., Tab], server: Server) -> None:
    page = add_page(server.url, "On a phone")
    tab = new_tab(viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    sign_in(tab, "Ada")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    assert tab.locator("#lead").evaluate("lead => lead.getBoundingClientRect().width") > 350  # who signed in is below
    buttons = tab.locator(".list-head").locator("a, button")
    assert len(set(buttons.evaluate_all("all => all.map(one => one.getBoundingClientRect().top)"))) == 1
    open_page(tab, page)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    tab.get_by_role("button", name="Heading").tap()
    tab.touchscreen.tap(*middle_of(tab, HEADLINE))
    tab.get_by_role("button", name="Keep", exact=True).tap()
    tab.locator("li.block").nth(FIRST).tap()
    tab.get_by_label("Up to the next click").check()
    tab.locator("li.block").nth(THIRD).tap()
    wait_until_saved(tab)
    kinds = [label["kind"] for label in labels_of(server.url, page, "Ada").values()]
    assert kinds == ["heading", "paragraph", "paragraph", "paragraph"]


def test_files_are_added_in_the_browser(tab: Tab, tmp_path: Path) -> None:
    sign_in(tab, "Ada")
    if tab.locator("#add-pages").is_hidden():
        tab.get_by_role("button", name="Add pages").click()
    tab.get_by_text("put files, folders or a corpus into import/").wait_for()
    (tmp_path / "chosen.html").write_bytes(b"<h1>Chosen</h1><p>A file that was chosen.</p>")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n0")
    tab.locator("#files").set_input_files([tmp_path / "chosen.html", tmp_path / "photo.png"])
    tab.get_by_role("button", name="Upload").click()
    tab.locator('.job[data-state="done"]').wait_for()
    assert "1 added, 1 not added" in tab.locator(".job").inner_text()
    tab.get_by_role("link", name="chosen.html").wait_for()
    tab.get_by_label("A web address").fill("http://127.0.0.1:9/")
    tab.get_by_role("button", name="Fetch").click()
    tab.locator(".job", has_text="is not fetched").wait_for()
    tab.get_by_label("Find").fill("chosen")
    tab.wait_for_function("() => document.querySelectorAll('table.pages tbody tr').length === 1")


def test_a_page_without_blocks_is_not_offered(tab: Tab, server: Server) -> None:
    page = add_page(server.url, "Before the empty one")
    empty = add_page(server.url, "Empty", html="<script>fill()</script>")
    sign_in(tab, "Eve")
    tab.locator("tr", has_text="Empty.html").get_by_text("nothing to label").wait_for()
    tab.get_by_label("Show").select_option("open")
    tab.get_by_label("Find").fill("empty")
    tab.wait_for_function("() => document.querySelectorAll('table.pages tbody tr').length === 1")
    assert tab.locator("table.pages tbody").inner_text().startswith("Before the empty one.html")
    open_page(tab, page)
    tab.keyboard.press("Shift+D")
    tab.get_by_role("button", name="Mark as done").click()
    offered = tab.get_by_role("link", name=re.compile("Next page|That was the last one"))
    offered.wait_for()
    assert offered.get_attribute("href") != f"#/page/{empty}"


class KillableServer:
    """A server in a process of its own, always at the same port and with the same folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "mainmatter", "serve", "--port", str(self.port), "--folder", str(self.folder)]
        self.process = subprocess.Popen(
            [*command, "--workers", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        wait_until(self.answers)

    def answers(self) -> bool:
        try:
            ask(f"{self.url}/api/health")
        except OSError:
            assert self.process.poll() is None
            return False
        return True

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)


def send_slowly(route: Route) -> None:
    time.sleep(0.02)
    route.continue_()


def test_kill_while_saving_loses_nothing_that_was_acknowledged(chromium: Browser, tmp_path: Path) -> None:
    server = KillableServer(tmp_path)
    context = chromium.new_context(base_url=server.url)
    try:
        page = add_page(server.url, "Killed while saving")
        tab = context.new_page()
        sign_in(tab, "Ada")
        open_page(tab, page)
        # The keys come faster than the server can store them; it is killed in the midst of that.
        tab.route("**/labels", send_slowly)
        tab.evaluate(
            """() => { for (let i = 0; i < 25; i += 1) setTimeout(() => document.dispatchEvent(
                new KeyboardEvent("keydown", {key: i % 3 ? "k" : "d", bubbles: true})), 10 * i); }"""
        )
        acknowledged_blocks = "li.block:not([data-state=none]):not(.pending)"
        tab.locator(acknowledged_blocks).nth(3).wait_for()
        server.kill()
        tab.get_by_text("Trying again").wait_for()
        acknowledged = tab.locator(f"{acknowledged_blocks} .block-text").all_inner_texts()
        waiting = tab.locator("li.block.pending").count()
        server.start()
        stored = labels_of(server.url, page, "Ada")
        assert {text[:40] for text in acknowledged} <= {text[:40] for text in stored}
        assert len(acknowledged) >= 3
        assert waiting >= 1, "it was killed too late to show anything"
        wait_until_saved(tab)
        kept = [label["kept"] for label in labels_of(server.url, page, "Ada").values()]
        assert kept == [i % 3 != 0 for i in range(25)]
        history = ask(f"{server.url}/api/annotate/pages/{page}/history?annotator=Ada")["events"]
        assert len(history) == 25, "a change was stored twice"
    finally:
        context.close()
        server.kill()
