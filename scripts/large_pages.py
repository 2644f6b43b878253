"""How long the workbench takes to show pages of very many blocks, in a real Chromium.

python scripts/large_pages.py [--blocks 1000 10000 50000]

It starts a server of its own on pages that it makes. Times are milliseconds from the deed, or from the server's answer,
until the browser has painted what came of it; of deeds that are done several times, the median and the longest.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from mainmatter.html.browser.chromium import find_chromium
from mainmatter.records import Page
from mainmatter.workbench.labels.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

ARGUMENTS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split()
PATIENCE = 300_000  # milliseconds
TABS = ("text", "plot", "table")
WORDS = "Before there was radar a ship in fog had only its ears and the keepers of the north coast fired a gun".split()

# A task that is queued while a frame is made runs after its style, layout and paint.
PAINTED = """window.painted = () => new Promise((done) => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done(performance.now());
  channel.port2.postMessage(0);
}));
window.answered = (path) => performance.getEntriesByType("resource")
  .findLast((one) => one.name.includes(path)).responseEnd;
window.timed = async (deed) => { const start = performance.now(); deed(); return (await painted()) - start; };
"""
TURN = """value => timed(() => {
  const dial = document.querySelector("#dial");
  dial.value = Math.round(value * dial.max); // its steps are the page's own
  dial.dispatchEvent(new Event("input"));
})"""
POINT = """([selector, type, x, y]) => timed(() => {
  const target = document.querySelector(selector);
  const box = target.getBoundingClientRect();
  const at = { clientX: box.left + x, clientY: Math.max(0, box.top) + y, pointerType: "mouse" };
  target.dispatchEvent(new PointerEvent(type, { ...at, pointerId: 1, bubbles: true }));
})"""


def make_page(blocks: int) -> str:
    """A page of so many blocks: sections of twenty, with links, paragraphs, list items and rows of a table."""
    parts = ["<!doctype html><title>A page of many blocks</title><body>"]
    for number in range(0, blocks, 20):
        some = [" ".join(WORDS[i % 20 :] * (1 + (number + i) % 4)) for i in range(20)]
        parts.append(f"<section><h2>Section {number}: {' '.join(WORDS[:5])}</h2><ul>")
        parts += [f"<li><a href=/{number}/{i}>{' '.join(WORDS[i : i + 3])}</a></li>" for i in range(5)]
        parts += ["</ul>", *(f"<p>{text}, the <b>story</b> of day {number} goes.</p>" for text in some[:8])]
        parts += ["<table>", *(f"<tr><td>Day {number + i}<td>{WORDS[i]}<td>{i}</tr>" for i in range(4)), "</table>"]
        parts += [f"<div class=share><a href=/s>Share this {i}</a></div>" for i in range(2)]
        parts.append("</section>")
    return "".join(parts)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A server with a workbench in a folder; gives its address."""
    command = [sys.executable, "-m", "mainmatter", "serve", "--port", "0", "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield re.search(r"http://[\w.]+:\d+", server.stdout.readline())[0]  # type: ignore[index]
        finally:
            server.terminate()


def inspect(tab: Tab, html: str) -> dict[str, Any]:
    """Open a page in Inspect; turn the dial and point at blocks with each of the tabs open."""
    tab.goto("/")
    tab.locator("html[data-ready=true]").wait_for()
    with tab.expect_response("**/api/inspect") as answer:
        tab.set_input_files("#input-file", {"name": "a.html", "mimeType": "text/html", "buffer": html.encode()})
    tab.locator("#main:not(.is-first, [aria-busy])").wait_for(state="attached")
    figures: dict[str, Any] = {
        "Inspect, shown": tab.evaluate("painted().then((now) => now - answered('/api/inspect'))")
    }
    figures["Inspect, MB of the answer"] = len(answer.value.body()) / 1e6
    figures["Inspect, seconds of the server"] = answer.value.request.timing["responseStart"] / 1000
    for name in TABS:
        tab.click(f"#tab-{name}")
        tab.evaluate("painted()")
        figures[f"dial, {name}"] = [tab.evaluate(TURN, step / 20) for step in (*range(21), *range(20, -1, -2), 10)]
        figures[f"hover the page, {name}"] = many(tab, ".page-overlay", "pointermove", 60)
    return figures


def annotate(tab: Tab, page: int) -> dict[str, Any]:
    """Open a page in Annotate; label one block after the other; select by drag; drop the rest; take it back."""
    tab.goto("/annotate")
    tab.get_by_label("Your name").fill("Ada")
    tab.get_by_role("button", name="Begin").click()
    tab.locator("table.pages:visible").wait_for()
    tab.evaluate("page => { location.hash = `#/page/${page}`; }", page)
    tab.locator(".frame-place[data-loaded]").wait_for()
    path = f"/api/annotate/pages/{page}"
    figures: dict[str, Any] = {"Annotate, shown": tab.evaluate(f"painted().then((now) => now - answered('{path}'))")}
    press = (
        "key => timed(() => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true})))"
    )
    figures["Annotate, a key that labels"] = [tab.evaluate(press, key) for key in "kdkdkdkd"]
    saved(tab)
    figures["Annotate, hover"] = many(tab, ".page-overlay", "pointermove", 60)
    point(tab, "pointerdown", 30)
    figures["Annotate, step of a drag"] = many(tab, ".page-overlay", "pointermove", 40)
    figures["Annotate, end of a drag"] = point(tab, "pointerup", 400)
    saved(tab)
    figures["Annotate, all blocks selected"] = tab.evaluate(
        "window.timed(() => document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'End', shiftKey: true, bubbles: true})))"
    )
    figures["Annotate, all blocks labelled"] = tab.evaluate(press, "k")
    saved(tab)
    return figures


def compare(tab: Tab, html: str) -> dict[str, Any]:
    """Compare two methods on a page."""
    tab.goto("/compare?methods=main,density")
    tab.locator("html[data-ready=true]").wait_for()
    tab.set_input_files("#input-file", {"name": "a.html", "mimeType": "text/html", "buffer": html.encode()})
    tab.locator("#live", has_text="Compared").wait_for(state="attached")
    return {"Compare, shown": tab.evaluate("painted().then((now) => now - answered('/api/compare'))")}


def many(tab: Tab, selector: str, kind: str, pixels: int) -> list[float]:
    """Times of ten movements of the pointer, from place to place."""
    return [tab.evaluate(POINT, [selector, kind, 80, 30 + pixels * step]) for step in range(10)]


def point(tab: Tab, kind: str, y: float) -> float:
    """One event of the pointer in the page."""
    time: float = tab.evaluate(POINT, [".page-overlay", kind, 80, y])
    return time


def saved(tab: Tab) -> None:
    """Wait until all is stored, so that no answer of the server comes between."""
    tab.locator('.saved[data-saved="saved"]').wait_for()


def use(browser: Browser, address: str, deed: Callable[[Tab, Any], dict[str, Any]], page: str | int) -> dict[str, Any]:
    """Do something with a page in a tab of its own."""
    tab = browser.new_page(base_url=address, viewport={"width": 1280, "height": 860})
    tab.set_default_timeout(PATIENCE)
    tab.add_init_script(PAINTED)
    figures = deed(tab, page)
    tab.close()
    return figures


def told(value: float | list[float]) -> str:
    """A figure, or the median and the longest of several."""
    if isinstance(value, list):
        return f"{statistics.median(value):,.0f} ({max(value):,.0f})"
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, nargs="+", default=[1000, 10_000, 50_000])
    sizes = parser.parse_args().blocks
    columns: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        with Store(Path(folder) / "annotations.db") as store:
            pages = [store.add_page(Page(make_page(size)), "made", name=f"{size} blocks") for size in sizes]
        with serving(Path(folder)) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
            for size, page in zip(sizes, pages, strict=True):
                html = make_page(size)
                figures = use(browser, address, inspect, html) | use(browser, address, compare, html)
                columns.append(figures | use(browser, address, annotate, page))
            browser.close()
    print("| blocks | " + " | ".join(f"{size:,}" for size in sizes) + " |")
    print("| --- |" + " ---: |" * len(sizes))
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(told(column[name]) for column in columns) + " |")


if __name__ == "__main__":
    main()
