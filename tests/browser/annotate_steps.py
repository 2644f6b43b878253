"""Steps that the tests of Annotate share."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from browser.annotated_pages import page_html
from timing import PATIENCE, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

_BOUNDARY = "a-boundary-that-no-page-holds"


def ask(url: str, body: Any = None) -> Any:
    """Ask the server itself, without a browser."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


def add_page(url: str, title: str, *, name: str | None = None, html: str | None = None) -> int:
    """Add a page to the workbench; gives its number."""
    shown = name or f"{title}.html"
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{shown}"\r\n\r\n'
    content = page_html(title) if html is None else html
    body = f"{head}{content}\r\n--{_BOUNDARY}--\r\n".encode()
    form = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
    request = urllib.request.Request(f"{url}/api/annotate/imports/files", body, form)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        job = json.load(answer)
    wait_until(lambda: ask(f"{url}/api/annotate/imports/{job['id']}")["state"] != "running")
    job = ask(f"{url}/api/annotate/imports/{job['id']}")
    assert job["added"] == 1, job
    return max(int(row["id"]) for row in ask(f"{url}/api/annotate/pages?annotator=x")["pages"])


def labels_of(url: str, page: int, annotator: str) -> dict[str, dict[str, Any]]:
    """What is stored of an annotator's labels, by the texts of blocks; with what suggested them, if anything did."""
    view = ask(f"{url}/api/annotate/pages/{page}?annotator={quote(annotator)}")
    labels = {ref: {name: said for name, said in label.items() if said != ""} for ref, label in view["labels"].items()}
    return {block["text"]: labels[block["ref"]] for block in view["blocks"] if block["ref"] in labels}


def sign_in(tab: Page, name: str, place: str = "", mode: str = "gold") -> None:
    """Begin to annotate under a name, to "teach" or for a "gold" standard; `place` is the hash of a view."""
    tab.goto("/annotate")
    tab.get_by_label("Your name").fill(name)
    tab.locator(f"#modes input[value={mode}]").check()
    tab.get_by_role("button", name="Begin").click()
    tab.locator("table.pages:visible, .empty:visible").first.wait_for()
    if place:
        tab.evaluate("place => { location.hash = place; }", place)


def open_page(tab: Page, page: int) -> None:
    """Open a page to label, and wait until it is there."""
    tab.evaluate("page => { location.hash = `#/page/${page}`; }", page)
    wait_until_open(tab)


def wait_until_open(tab: Page) -> None:
    """Wait until a page to label is there, in the list and in the frame."""
    tab.locator(".frame-place[data-loaded]").wait_for()


def wait_until_saved(tab: Page) -> None:
    """Wait until the browser says that all is stored."""
    tab.locator('.saved[data-saved="saved"]').wait_for()


def middle_of(tab: Page, block: int) -> tuple[float, float]:
    """Where a block is on the screen, inside of the frame."""
    script = """block => {
        const host = document.querySelector(".page-frame");
        const frame = host.querySelector("iframe");
        const scale = frame.getBoundingClientRect().width / frame.clientWidth;
        const mark = frame.contentDocument.querySelector(`mm-block[data-block="${block}"]`);
        const box = mark.getClientRects()[0];
        const origin = frame.getBoundingClientRect();
        const [x, y] = [box.left + Math.min(box.width / 2, 20), box.top + box.height / 2];
        return [origin.left + x * scale, origin.top + y * scale];
    }"""
    x, y = tab.evaluate(script, block)
    return x, y


def frame_state(tab: Page, block: int) -> str:
    """How a block is tinted in the frame."""
    script = """block => document.querySelector(".page-frame iframe").contentDocument
        .querySelector(`mm-block[data-block="${block}"]`).dataset.state ?? "" """
    state: str = tab.evaluate(script, block)
    return state
