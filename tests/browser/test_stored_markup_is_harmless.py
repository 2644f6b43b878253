"""What one user stores never runs for another: pages, names of files and annotators, addresses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from browser.annotate_steps import add_page, ask, open_page, sign_in, wait_until_saved

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page as Tab

    from browser.conftest import Server, Watch

MARKUP = "<img src=x onerror=window.ran=1><script>window.ran=1"
NAME = "<svg onload=window.ran=1>Eve"
HOSTILE = """<!doctype html><html><head><title></title>
<meta http-equiv="refresh" content="0;url=/api"><base target="_top">
<script>parent.ran = 1; top.location = "/api";</script>
<style>@import "http://outside.example/x.css"; body { background: url(http://outside.example/x.png) }</style></head>
<body onload="parent.ran = 1"><h1>&lt;script&gt;window.ran=1&lt;/script&gt;</h1>
<p onclick="parent.ran=1">Some text of a page <img src="http://outside.example/y.png" onerror="parent.ran=1"> on.</p>
<a href="javascript:parent.ran=1">A link</a><iframe srcdoc="<script>top.ran=1</script>"></iframe>
<form action="/api/annotate/pages" target="_top"><button autofocus onfocus="parent.ran=1">Press</button></form>
<svg><script>parent.ran = 1</script></svg><mm-block data-block="0" data-state="kept">a forged mark</mm-block>
<p>&lt;img src=x onerror=window.ran=1&gt;</p></body></html>"""


def assert_nothing_ran(tab: Tab) -> None:
    tab.wait_for_timeout(100)
    assert tab.evaluate("() => window.ran") is None
    assert tab.evaluate("() => document.querySelectorAll('main img, main svg, main script').length") == 0


def test_what_others_stored_is_text_and_nothing_else(new_tab: Callable[..., Tab], server: Server, watch: Watch) -> None:
    page = add_page(server.url, "", name=f"{MARKUP}.html", html=HOSTILE)
    eve = new_tab()
    sign_in(eve, NAME)
    open_page(eve, page)
    for key in "khp":
        eve.keyboard.press(key)
    eve.keyboard.press("Shift+D")
    wait_until_saved(eve)
    eve.get_by_role("button", name="Mark as done").click()
    eve.get_by_role("button", name="Reopen").wait_for()
    assert_nothing_ran(eve)

    victim = new_tab()
    sign_in(victim, "Ada")
    shown = victim.locator("tr", has_text="<script>")
    shown.wait_for()
    assert NAME in shown.inner_text()
    assert MARKUP in shown.inner_text()
    victim.get_by_label("Find").fill("onerror")
    assert_nothing_ran(victim)
    open_page(victim, page)
    victim.keyboard.press("d")
    victim.keyboard.press("Shift+D")
    victim.get_by_label("Suggestions", exact=True).check()
    wait_until_saved(victim)
    assert "<script>window.ran=1</script>" in victim.locator("li.block").first.inner_text()
    assert_nothing_ran(victim)
    victim.get_by_role("button", name="Mark as done").click()
    wait_until_saved(victim)
    victim.get_by_role("button", name="History").click()
    victim.locator(".events > li", has_text=NAME).first.wait_for()
    assert_nothing_ran(victim)
    victim.keyboard.press("Escape")
    victim.evaluate("page => { location.hash = `#/merge/${page}`; }", page)
    victim.locator("li.case").first.wait_for()
    assert NAME in victim.locator("li.case").first.inner_text()
    assert_nothing_ran(victim)
    victim.evaluate("() => { localStorage.removeItem('mainmatter-annotator'); }")
    victim.reload()
    victim.get_by_role("button", name=NAME).wait_for()  # among the names that were used here
    assert_nothing_ran(victim)
    assert victim.url.startswith(server.url)
    blocked = ("Content Security Policy", "outside.example", "sandboxed", "ERR_BLOCKED")
    watch.errors[:] = [error for error in watch.errors if not any(word in error for word in blocked)]


def test_the_frame_of_a_page_runs_no_script_even_if_its_markup_had_one(tab: Tab, server: Server, watch: Watch) -> None:
    page = add_page(server.url, "", name="frame.html", html=HOSTILE.replace("Some text", "Another text"))
    frame = ask(f"{server.url}/api/annotate/pages/{page}?annotator=Ada")["frame"]
    answer = tab.request.get(frame)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox allow-same-origin" in policy
    assert "allow-scripts" not in policy
    body = answer.text().lower()
    assert "<script" not in body
    assert "onload=" not in body
    assert "javascript:" not in body
    sign_in(tab, "Ada")
    open_page(tab, page)
    assert tab.locator("iframe").get_attribute("sandbox") == "allow-same-origin"
    # A script that is put into the frame all the same does not run either.
    tab.evaluate(
        """() => {
            const inside = document.querySelector("iframe").contentDocument;
            const script = inside.createElement("script");
            script.textContent = "parent.ran = 1";
            inside.body.append(script);
        }"""
    )
    assert_nothing_ran(tab)
    blocked = ("Content Security Policy", "outside.example", "sandboxed", "ERR_BLOCKED")
    watch.errors[:] = [error for error in watch.errors if not any(word in error for word in blocked)]


def test_addresses_with_markup_are_shown_as_text(tab: Tab, server: Server) -> None:
    address = "javascript:window.ran=1//<b>"
    line = json.dumps({"id": "addressed", "url": address, "html": "<h1>Addressed</h1><p>It has an odd address.</p>"})
    page = add_page(server.url, "", name="addressed.jsonl", html=line)
    sign_in(tab, "Ada")
    tab.locator("tr", has_text="addressed").first.wait_for()
    assert tab.evaluate("() => [...document.links].filter((link) => link.protocol === 'javascript:').length") == 0
    open_page(tab, page)
    tab.keyboard.press("k")
    wait_until_saved(tab)
    assert tab.evaluate("() => [...document.links].filter((link) => link.protocol === 'javascript:').length") == 0
    assert_nothing_ran(tab)
    tab.goto(f"/annotate?{quote(MARKUP)}#/page/{quote(MARKUP)}")
    tab.locator("table.pages").wait_for()
    assert_nothing_ran(tab)
