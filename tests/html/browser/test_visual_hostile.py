"""Pages that want to reach the network, run scripts, or never end."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import mainmatter
from mainmatter.html.browser.chromium import FARTHEST, HIGHEST_PICTURE
from mainmatter.records import Page
from visual_pages import styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.html.browser.chromium import Chromium


class Listener:
    """Counts who connects, and answers nobody."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()
    yield listening
    listening.socket.close()


LOADING = """<!doctype html><html><head><base href="http://HOST/"><title>x</title>
<link rel=stylesheet href="http://HOST/a.css"><link rel=preconnect href="http://HOST">
<link rel=dns-prefetch href="//HOST">
<link rel=prefetch href="http://HOST/b"><link rel=preload as=image href="http://HOST/c.png">
<link rel=icon href="http://HOST/favicon.ico"><link rel=manifest href="http://HOST/m.json">
<link rel=modulepreload href="http://HOST/m.js"><script src="http://HOST/d.js"></script>
<style>@import "http://HOST/e.css"; @font-face { font-family: f; src: url(http://HOST/f.woff) }
body { background: url(http://HOST/g.png); font-family: f } p::after { content: url(http://HOST/h.png) }</style>
<script>document.documentElement.style.background = "red"; fetch("http://HOST/i"); new Image().src = "http://HOST/j"
new WebSocket("ws://HOST/k"); navigator.sendBeacon("http://HOST/l")</script></head>
<body onload="document.body.style.background='red'"><img src="http://HOST/m.png" srcset="http://HOST/n.png 2x">
<iframe src="http://HOST/o"></iframe><object data="http://HOST/p"></object><embed src="http://HOST/q">
<video src="http://HOST/r" autoplay poster="http://HOST/s"></video><audio src="http://HOST/t" autoplay></audio>
<svg><image href="http://HOST/u"/><use href="http://HOST/v#w"/></svg><input type=image src="http://HOST/x">
<a href="http://HOST/y" ping="http://HOST/z">link</a><iframe srcdoc="<img src='http://HOST/1'>"></iframe>
<img src=x onerror="document.body.style.background='red'"><p>Some text of the page.</p></body></html>"""


def test_nothing_is_fetched_and_nothing_runs(browser: Chromium, listener: Listener) -> None:
    cv2: Any = pytest.importorskip("cv2")
    numpy: Any = pytest.importorskip("numpy")
    with socket.create_connection(("127.0.0.1", listener.port)):
        pass  # the listener does count
    html = LOADING.replace("HOST", f"127.0.0.1:{listener.port}")
    refreshing = html.replace("<title>", f'<meta http-equiv=refresh content="0;url=http://127.0.0.1:{listener.port}/">')
    rendering = browser.render(mainmatter.read(Page(refreshing, f"http://127.0.0.1:{listener.port}/")), screenshot=True)
    assert rendering.visible.any()
    raw = browser.picture(html)  # not made harmless first: the browser has to hold by itself
    for picture in (rendering.screenshot, raw):
        pixels = cv2.imdecode(numpy.frombuffer(picture, numpy.uint8), cv2.IMREAD_COLOR)
        assert pixels[-1, -1].tolist() == [255, 255, 255]  # scripts would have made it red
    time.sleep(0.5)  # for connections that are made in advance
    assert listener.connections == 1


def test_a_page_that_takes_too_long_costs_itself_only(browser: Chromium, monkeypatch: pytest.MonkeyPatch) -> None:
    document = styled("<p>Some text</p>" * 500)
    tabs: Any = browser._open_tabs
    with monkeypatch.context() as hurry:
        hurry.setattr(tabs, "_seconds", 0.02)
        rendering = browser.render(document)
    assert rendering.failed
    assert "took more than 0.02 seconds" in rendering.note
    assert len(rendering) == 500
    assert not rendering.visible.any()
    assert not browser.render(document).failed


def test_a_browser_that_dies_is_started_again(browser: Chromium) -> None:
    tabs: Any = browser._open_tabs
    before = tabs._browser
    browser._submit(before.close()).result(20)
    renderings = list(browser.render_many([styled("<p>one</p>"), styled("<p>one</p><p>two</p>")]))
    assert [rendering.visible.tolist() for rendering in renderings] == [[True], [True, True]]
    assert tabs._browser is not before


def test_a_page_without_end(browser: Chromium) -> None:
    high = styled("<p>Above</p><div style='height:33554000px'></div><p>Far below</p>")
    rendering = browser.render(high, screenshot=True)
    assert rendering.visible.tolist() == [True, False]
    assert f"measured to {FARTHEST:,}" in rendering.note
    assert f"cut at {HIGHEST_PICTURE:,}" in rendering.note
    wide = styled("<div style='width:500000px'>Left<span style='margin-left:400000px'>Right</span></div>")
    assert not browser.render(wide).failed


HOSTILE = {
    "100,000 paragraphs": "<p>word</p>" * 100_000,
    "deep tables": "<table><tr><td>x" * 5_000,
    "deep boxes": "<div style='display:grid;padding:1px'>word " * 5_000,
    "one long word": f"<p>{'x' * 1_000_000}</p>",
    "many columns": f"<div style='columns:500'>{'word ' * 50_000}</div>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_page_keeps_the_browser_longer_than_it_may(
    browser: Chromium, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser._open_tabs, "_seconds", 2.0)
    document = mainmatter.read(Page(HOSTILE[name]))
    rendering = browser.render(document)  # without its limit, some would take minutes
    assert len(rendering) == len(document)
    assert rendering.failed == bool("took more" in rendering.note)


def test_a_page_that_is_too_long_is_not_shown(browser: Chromium) -> None:
    rendering = browser.render(mainmatter.read(Page(f"<p>{'x' * 20_000_001}</p>")))
    assert rendering.failed
    assert "20,000,000 characters" in rendering.note
