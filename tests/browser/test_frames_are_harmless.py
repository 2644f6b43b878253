"""A hostile page in the workbench: nothing of it runs, nothing is loaded, nothing reaches the API or our own markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.records import Page as WebPage

pytest.importorskip("playwright")
pytest.importorskip("fastapi")
from fastapi import FastAPI
from playwright.sync_api import expect

from mainmatter.workbench.frames import Frames, frame_response, router

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Dialog, Page

# Each would leave its name in `ran` of any window that it can reach, or ask somebody for something.
RUN = "(top.ran=top.ran||[]).push('{0}');(window.ran=window.ran||[]).push('{0}');fetch('/api/health?{0}')"


RUN_FIRST = ["inline", "module", "svg", "toggle"]  # these need nobody to click


def run(name: str) -> str:
    return RUN.format(name)


ATTACKS = f"""
<script>{run("inline")}</script>
<script src="//evil.example/remote.js"></script>
<script type="module">{run("module")}</script>
<img src="x" onerror="{run("onerror")}">
<img src="http://evil.example/pixel.gif" srcset="http://evil.example/2x.gif 2x">
<a href="javascript:{run("javascript")}" id="link">Click this link, please</a>
<a href="java&#10;script:{run("newline")}">or this one</a>
<svg onload="{run("svg")}"><script>{run("svg-script")}</script>
<a xlink:href="javascript:{run("xlink")}"><text>svg</text></a></svg>
<svg><animate attributeName="href" values="javascript:{run("animate")}"/></svg>
<math><mi xlink:href="javascript:{run("math")}">m</mi></math>
<meta http-equiv="refresh" content="0; url=http://evil.example/refresh">
<meta http-equiv="Content-Security-Policy" content="default-src *">
<iframe srcdoc="<script>parent.{run("srcdoc")}</script>"></iframe>
<iframe src="javascript:{run("frame")}"></iframe>
<iframe src="http://evil.example/frame"></iframe>
<object data="data:text/html,<script>{run("object")}</script>"></object>
<embed src="http://evil.example/embed">
<form action="http://evil.example/form" id="form"><button>Send</button>
<input name="q" autofocus onfocus="{run("focus")}"></form>
<style>@import url("http://evil.example/import.css"); body {{ background: url(http://evil.example/background.png) }}
@font-face {{ font-family: x; src: url(http://evil.example/font.woff) }} p {{ font-family: x }}</style>
<link rel="stylesheet" href="http://evil.example/style.css"><link rel="prefetch" href="http://evil.example/prefetch">
<video src="http://evil.example/film.mp4" autoplay poster="http://evil.example/poster.png"></video>
<template shadowrootmode="open"><script>{run("shadow")}</script>
<p onclick="{run("shadow-click")}">Words in a shadow.</p></template>
<template><template><script>{run("template")}</script></template></template>
<noscript><img src="http://evil.example/noscript.gif" onerror="{run("noscript")}"></noscript>
<body onload="{run("body")}" onpageshow="{run("pageshow")}">
<details open ontoggle="{run("toggle")}"><summary>More</summary>Some more words.</details>
<plaintext-trap><mm-block data-block="0" onclick="{run("forged")}">A forged block that says to be the first.</mm-block>
<mm-block data-block="99999">Another forged one.</mm-block></plaintext-trap>
"""
TITLE = "<img src=x onerror=alert(1)>The title"
HOSTILE = f"""<!doctype html><html><head><base href="http://evil.example/"><title>{TITLE.replace("<", "&lt;")}</title>
<meta name="author" content="&lt;script&gt;alert(2)&lt;/script&gt;"></head><body>
<h1>&lt;img src=x onerror=alert(1)&gt;The title</h1>
<p>The first real paragraph of this page, with &lt;b&gt;words that look like markup&lt;/b&gt; and are not.</p>
{ATTACKS}
<p>The last real paragraph of this page, long enough to be kept by any method that there is.</p></body></html>"""


@pytest.fixture(autouse=True)
def expect_what_is_blocked(watch: Any) -> None:
    """The browser notes what it does not let through. Of what would be loaded it notes nothing: that is set aside."""
    watch.expected += ["frame is sandboxed"]


def open_hostile(tab: Page, address: str = "/") -> None:
    tab.goto(address)
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.fill("#input-text", HOSTILE)
    tab.click("#input-go")
    expect(tab.locator("#result")).to_be_visible()


def assert_nothing_ran(tab: Page, watch: Any) -> None:
    assert tab.evaluate("window.ran ?? []") == []
    frame = tab.evaluate("[...document.querySelectorAll('iframe')].flatMap((one) => one.contentWindow?.ran ?? [])")
    assert frame == []
    assert [url for url in watch.requests if "/api/health" in url] == []
    assert watch.outside == []


def test_nothing_of_an_inspected_page_runs_or_is_loaded(tab: Page, watch: Any) -> None:
    dialogs: list[str] = []

    def note_dialog(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    tab.on("dialog", note_dialog)
    open_hostile(tab)
    marks = tab.frame_locator("#page iframe").locator("mm-block")
    expect(marks.first).to_have_attribute("data-state", "kept")
    # What a user would do: point, click everywhere, walk through, look at everything.
    for text in ("Click this link", "or this one", "Send", "More", "A forged block"):
        mark = tab.frame_locator("#page iframe").get_by_text(text).first
        mark.evaluate("mark => mark.scrollIntoView({ block: 'center' })")
        box = mark.bounding_box()
        if box is not None:
            tab.mouse.click(box["x"] + 3, box["y"] + 3)
    tab.locator("#page").focus()
    for key in ("j", "Enter", "Tab", "Enter", "2", "3", "1"):
        tab.keyboard.press(key)
    tab.click("#about summary")
    tab.wait_for_timeout(300)  # a refresh, had it been obeyed
    assert_nothing_ran(tab, watch)
    assert dialogs == []
    assert tab.url.startswith(tab.evaluate("location.origin") + "/")


def test_forged_marks_do_not_count(tab: Page, watch: Any) -> None:
    open_hostile(tab)
    frame = tab.frame_locator("#page iframe")
    expect(frame.locator("mm-block[data-state]").first).to_be_attached()
    expect(frame.locator('mm-block[data-block="99999"]')).to_have_count(0)
    first = frame.locator('mm-block[data-block="0"]')
    expect(first).to_have_count(1)
    expect(first).to_contain_text("The title")


@pytest.mark.parametrize("address", ["/", "/compare?methods=main,density"])
def test_markup_in_titles_and_texts_is_shown_as_text(tab: Page, watch: Any, address: str) -> None:
    open_hostile(tab, address)
    place = "#page-title" if address == "/" else ".column[data-name=main]"
    expect(tab.locator(place)).to_contain_text(TITLE)
    expect(tab.locator("main")).to_contain_text("<b>words that look like markup</b>")
    assert tab.locator("main img, main b, main script").count() == 0
    assert_nothing_ran(tab, watch)


@pytest.mark.parametrize("has_policy", [True, False])
def test_the_policy_holds_even_for_a_page_that_was_not_made_harmless(chromium: Any, has_policy: bool) -> None:
    """The frame alone, with the hostile page as it is: the second wall stands without the first, and is needed."""
    response = frame_response(HOSTILE)
    sandbox = 'sandbox="allow-same-origin"' if has_policy else ""
    headers = dict(response.headers) if has_policy else {"Content-Type": "text/html"}
    context = chromium.new_context()
    tab = context.new_page()
    asked: list[str] = []

    def answer(route: Any) -> None:
        url = route.request.url
        asked.append(url)
        if url == "http://workbench.test/":
            body = f'<!doctype html><iframe {sandbox} src="/frame/1" width=900 height=900></iframe>'
            route.fulfill(body=body, content_type="text/html")
        elif url == "http://workbench.test/frame/1":
            route.fulfill(body=bytes(response.body), headers=headers)
        else:
            route.abort()

    context.route("**/*", answer)
    tab.goto("http://workbench.test/")
    if not has_policy:  # until they have run
        tab.wait_for_function("names => names.every((name) => (window.ran ?? []).includes(name))", arg=RUN_FIRST)
    tab.wait_for_timeout(500)
    ran = set(tab.evaluate("window.ran ?? []"))
    loaded = {url for url in asked if "evil.example" in url}
    context.close()
    if has_policy:
        assert ran == set()
        assert set(asked) == {"http://workbench.test/", "http://workbench.test/frame/1"}
    else:  # these attacks are real ones
        assert set(RUN_FIRST) <= ran
        assert {"http://evil.example/pixel.gif", "http://evil.example/import.css"} <= loaded


def test_frames_are_found_by_their_key_alone() -> None:
    testclient = pytest.importorskip("fastapi.testclient")
    app = FastAPI()
    app.include_router(router)

    class Workbench:
        frames = Frames()

    app.state.workbench = Workbench()
    key = Workbench.frames.put("<p>Words", WebPage("<p>Words"))
    client = testclient.TestClient(app)
    assert client.get(f"/frame/{key}").text == "<p>Words"
    for wrong in (key[:-1], "", "..%2f..%2fetc%2fpasswd", key.swapcase()):
        assert client.get(f"/frame/{wrong}").status_code == 404


def test_pictures_and_styles_are_loaded_only_when_asked_for(new_tab: Callable[..., Page], watch: Any) -> None:
    tab = new_tab()
    asked: list[str] = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(body="p { color: rgb(1, 2, 3) }", content_type="text/css")

    tab.context.route("https://pictures.example/**", answer)
    tab.goto("/")
    expect(tab.locator("html")).to_have_attribute("data-ready", "true")
    tab.fill(
        "#input-text",
        '<link rel="stylesheet" href="/style.css"><title>T</title><p>Words of a page.<script src="/x.js"></script>',
    )
    tab.fill("#input-url", "https://pictures.example/page.html")
    tab.click("#input-go")
    frame = tab.frame_locator("#page iframe")
    expect(frame.locator("mm-block[data-state]")).to_have_count(1)
    assert asked == []
    tab.check("#remote")
    expect(frame.locator("p")).to_have_css("color", "rgb(1, 2, 3)")
    assert asked == ["https://pictures.example/style.css"]
    watch.outside.clear()
