"""How the server and its workbench do under load; each starts a server of its own.

    python scripts/workbench_load.py clients                200 clients, each asks again as soon as it has an answer
    python scripts/workbench_load.py clients --patient      the same, but after a 429 they wait as Retry-After says
    python scripts/workbench_load.py requests               requests of 9 MB that make no sense
    python scripts/workbench_load.py requests --items 15000 the same, cut so that they are not refused by count
    python scripts/workbench_load.py pages --blocks 1000    pages of many blocks, in a real Chromium

`clients` asks on loopback for the pages of examples/site, and prints how often each status came, the times of answers,
and the memory of the server and its workers. The exit code is 1 if there was any status but 200 and 429, a connection
that was dropped, or memory that grew by more than a tenth.

`requests` sends them to each call that takes JSON, and some forms, and prints for each the status, the seconds until
its answer, the longest time that /api/health took meanwhile, and by how much the memory of the server itself rose. The
exit code is 1 if /api/health took more than a second or the memory rose by more than 100 MB.

`pages` prints milliseconds from the deed, or from the server's answer, until the browser has painted what came of it;
of deeds that are done several times, the median and the longest.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from playwright.sync_api import sync_playwright

from mainmatter.html.browser.chromium import find_chromium
from mainmatter.records import Page
from mainmatter.workbench.labels.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

# Clients
EXAMPLES = Path(__file__).parents[1] / "examples" / "site"
SETTLED = 5.0  # seconds until all that is made once has been made
MOST_GROWTH = 0.1
ALLOWED = {200, 429}

# Requests
SIZE = 9_000_000  # bytes; the server takes 10 MB
LONGEST_WAIT = 1.0  # seconds until /api/health has answered
MOST_MEMORY = 100.0  # MB above what the server had
_PAUSE = 0.01
_JSON = "application/json"

# Pages
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


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[int, int]]:
    """A server with its workbench in a folder; gives its port and its process id."""
    command = [sys.executable, "-m", "mainmatter", "serve", "--port", "0", "--folder", str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = re.search(r":(\d+)/", server.stdout.readline())
            assert port is not None
            yield int(port[1]), server.pid
        finally:
            server.terminate()


@click.group(help=__doc__.split("\n\n", maxsplit=1)[0])
def main() -> None:
    """Measure one of the three."""


@dataclass
class Tally:
    """What the clients saw: the seconds of each answer by its status, and what went wrong with connections."""

    seconds: defaultdict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    dropped: list[str] = field(default_factory=list)


async def be_client(port: int, requests: list[bytes], end: float, tally: Tally, *, patient: bool) -> None:
    """Send requests over one connection, one after the other, until it is time to stop."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in cycle(requests):
            if time.monotonic() >= end:
                break
            start = time.perf_counter()
            writer.write(request)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            await reader.readexactly(int(re.search(r"(?i)^content-length: (\d+)", head, re.MULTILINE)[1]))  # type: ignore[index]
            status = int(head.split(" ", 2)[1])
            tally.seconds[status].append(time.perf_counter() - start)
            if status == 429 and patient:
                wait = re.search(r"(?i)^retry-after: (\d+)", head, re.MULTILINE)
                await asyncio.sleep(float(wait[1]) if wait else 1.0)
        writer.close()
        await writer.wait_closed()
    except (OSError, asyncio.IncompleteReadError) as error:
        tally.dropped.append(f"{type(error).__name__}: {error}")


def make_requests() -> list[bytes]:
    """A request for each example page."""
    requests = []
    for file in sorted(EXAMPLES.rglob("*.html")):
        body = file.read_bytes()
        head = f"POST /api/clean HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
        requests.append(f"{head}\r\n\r\n".encode() + body)
    return requests


def resident_mb(server: int) -> tuple[float, float]:
    """The memory of the server and of its workers, in megabytes."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii").split()
    others = [child for task in Path(f"/proc/{server}/task").iterdir() for child in _children(task)]
    return _resident(server), sum(_resident(int(child)) for child in {*children, *others})


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text(encoding="ascii").split()
    except OSError:
        return []


def _resident(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1000 if found else 0.0


async def attack(
    port: int, server: int, count: int, seconds: float, *, patient: bool
) -> tuple[Tally, list[tuple[float, float]]]:
    """All clients at once; what they saw, and the memory at the start, after some seconds and at the end."""
    tally = Tally()
    requests = make_requests()
    memory = [resident_mb(server)]
    end = time.monotonic() + seconds
    clients = [
        asyncio.create_task(be_client(port, requests[n % len(requests) :] + requests, end, tally, patient=patient))
        for n in range(count)
    ]
    await asyncio.sleep(min(SETTLED, seconds / 2))
    memory.append(resident_mb(server))
    await asyncio.sleep(max(0.0, end - time.monotonic() - 0.5))
    memory.append(resident_mb(server))
    await asyncio.wait(clients, timeout=60)
    late = sum(not client.done() for client in clients)
    if late:
        tally.dropped.append(f"{late} clients got no answer")
    return tally, memory


def percentile(seconds: list[float], share: float) -> str:
    """In milliseconds."""
    return f"{sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))] * 1000:,.1f}"


def report(tally: Tally, memory: list[tuple[float, float]], count: int, seconds: float, *, patient: bool) -> list[str]:
    """Print what was seen; returns what is wrong with it."""
    patience = "wait as Retry-After says" if patient else "ask again at once"
    print(f"{count} clients for {seconds:g} s, which {patience}; {os.cpu_count()} cores\n")
    print("| Status | Answers | a second | p50 ms | p95 ms | p99 ms | longest ms |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for status, times in sorted(tally.seconds.items()):
        figures = " | ".join(percentile(times, share) for share in (0.5, 0.95, 0.99, 1.0))
        print(f"| {status} | {len(times):,} | {len(times) / seconds:,.0f} | {figures} |")
    print("\n| Memory, MB | at the start | after 5 s | at the end |\n| --- | ---: | ---: | ---: |")
    for name, part in (("server", 0), ("workers", 1)):
        print(f"| {name} | " + " | ".join(f"{each[part]:.0f}" for each in memory) + " |")
    print(f"\nconnections dropped: {len(tally.dropped)}")
    problems = [f"status {status}: {len(tally.seconds[status])} times" for status in set(tally.seconds) - ALLOWED]
    problems += sorted(set(tally.dropped))
    settled, last = sum(memory[1]), sum(memory[2])
    if last > settled * (1 + MOST_GROWTH):
        problems.append(f"memory grew from {settled:.0f} to {last:.0f} MB")
    if not tally.seconds[200]:
        problems.append("no page was cleaned")
    return problems


@main.command(name="clients")
@click.option("--clients", "count", default=200, show_default=True)
@click.option("--seconds", default=30.0, show_default=True)
@click.option("--workers", type=int, help="Of the server.")
@click.option("--patient", is_flag=True, help="Clients wait as Retry-After says.")
def run_clients(count: int, seconds: float, workers: int | None, patient: bool) -> None:
    """Many clients at once."""
    options = () if workers is None else ("--workers", str(workers))
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), *options) as (port, server):
        tally, memory = asyncio.run(attack(port, server, count, seconds, patient=patient))
    problems = report(tally, memory, count, seconds, patient=patient)
    for problem in problems:
        print(f"PROBLEM: {problem}")
    sys.exit(1 if problems else 0)


@dataclass(frozen=True)
class BadRequest:
    """A request that makes no sense.

    Attributes:
        path: the call.
        what: what is wrong with it, for people.
        body: what is sent.
        media_type: what it is said to be.
    """

    path: str
    what: str
    body: bytes
    media_type: str = _JSON


@dataclass(frozen=True)
class Cost:
    """What a request cost.

    Attributes:
        status: of the answer.
        answer: the answer.
        seconds: until the answer was there.
        wait: the longest time that /api/health took meanwhile, in seconds.
        memory: by how much the memory of the server rose, in MB.
    """

    status: int
    answer: bytes
    seconds: float
    wait: float
    memory: float


def bad_requests(size: int, items: int | None = None) -> list[BadRequest]:
    """Requests with wrong values and unknown fields, of about that many bytes and at most so many of them."""

    def fill(start: str, item: str, end: str) -> bytes:
        """Items with different numbers in them, between a start and an end."""
        least = len(item.replace("#", "0000000")) + 1
        count = size // least if items is None else min(items, size // least)
        return (start + ",".join(item.replace("#", str(number)) for number in range(count)) + end).encode()

    unknown = fill("{", '"a#":1', "}")
    options = fill('{"html":"<p>Fog","options":{', '"a#":[]', "}}")
    label = '"r#":{"kept":2,"kind":3}'
    bodies = [
        ("/api/clean", "wrong options", options),
        ("/api/clean", "right options", options.replace(b"[]", b"1")),
        ("/api/clean", "a list as html", fill('{"html":[', "[]", "]}")),
        ("/api/clean", "nested lists", b"[" * size),
        ("/api/clean", "no JSON at the end", unknown[:-1]),
        ("/api/evaluate", "empty pages", fill('{"pages":[', "{}", "]}")),
        ("/api/evaluate", "pages with unknown fields", b'{"pages":[' + unknown + b"]}"),
        ("/api/evaluate", "right pages", fill('{"pages":[', '{"html":"a","gold":"b"}', "]}")),
        ("/api/inspect", "wrong options", options),
        ("/api/inspect", "unknown fields of a corpus", b'{"corpus":' + unknown + b"}"),
        ("/api/inspect/text", "wrong options", options),
        ("/api/inspect/reasons", "wrong blocks", fill('{"html":"a","blocks":[', '"a#"', "]}")),
        ("/api/compare", "wrong methods", fill('{"html":"a","methods":[', "1", "]}")),
        ("/api/annotate/correct", "wrong options", options),
        (
            "/api/annotate/pages/1/labels",
            "wrong labels",
            fill('{"annotator":"Ada","revision":0,"labels":{', label, "}}"),
        ),
        ("/api/annotate/pages/1/labels", "unknown fields of a label", b'{"labels":{"a":' + unknown + b"}}"),
        ("/api/annotate/pages/1/recurring", "wrong keys", fill('{"annotator":"Ada","keys":[', "1", "]}")),
    ]
    paths = "pages/1/undo pages/1/redo pages/1/done pages/1/accept-agreed imports/url imports/folder imports/corpus"
    others = ["teach", "teach/use", "teach/blind", "teach/blind/0123456789abcdef"]
    calls = [f"annotate/{path}" for path in paths.split()] + others
    bodies += [(f"/api/{path}", "unknown fields", unknown) for path in calls]
    form = "multipart/form-data; boundary=b"
    pairs = b"&".join(b"a%d=1" % number for number in range(size // 10))
    part = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    file = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n<p>Fog\r\n'
    option = b'--b\r\nContent-Disposition: form-data; name="options"\r\n\r\n' + options[28:900_000] + b'"":[]}\r\n--b--'
    return [
        *(BadRequest(*each) for each in bodies),
        BadRequest("/api/annotate/imports/files", "fields of a form", pairs, "application/x-www-form-urlencoded"),
        BadRequest("/api/annotate/imports/files", "parts of a form", part * (size // len(part)) + b"--b--", form),
        BadRequest("/api/clean", "parts of a form", part * (size // len(part)) + b"--b--", form),
        BadRequest("/api/clean", "wrong options in a form", file + option, form),
        BadRequest("/api/clean", "line ends in a form", b"--b\r\n" + b"\r\n-" * (size // 3), form),
    ]


def measure(port: int, server: int, request: BadRequest) -> Cost:
    """Send a request and ask for /api/health again and again until it is answered."""
    Path(f"/proc/{server}/clear_refs").write_text("5", "ascii")  # the peak is what it has now
    before = _peak(server)
    done = threading.Event()
    waits: list[float] = []

    def watch() -> None:
        while not done.is_set():
            start = time.monotonic()
            _ask(port, "GET", "/api/health")
            waits.append(time.monotonic() - start)
            time.sleep(_PAUSE)

    watching = threading.Thread(target=watch)
    watching.start()
    time.sleep(3 * _PAUSE)
    start = time.monotonic()
    try:
        status, answer = _ask(port, "POST", request.path, request.body, request.media_type)
        seconds = time.monotonic() - start
    finally:
        done.set()
        watching.join()
    return Cost(status, answer, seconds, max(waits), _peak(server) - before)


def _ask(port: int, method: str, path: str, body: bytes | None = None, media_type: str = _JSON) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body, {"Content-Type": media_type})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _peak(pid: int) -> float:
    """The most memory that a process has had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1000


@main.command(name="requests")
@click.option("--size", default=SIZE, show_default=True, help="Of each request, in bytes.")
@click.option("--items", type=int, help="How many wrong values and unknown fields at most.")
@click.option("--only", default="", help="Only those whose call or description has this in it.")
def run_requests(size: int, items: int | None, only: str) -> None:
    """Large requests that make no sense."""
    is_well = True
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (port, server):
        print("| Call | What is sent | Status | Answered after, s | /api/health, s | Memory, MB |")
        print("| --- | --- | ---: | ---: | ---: | ---: |")
        for request in bad_requests(size, items):
            if only not in f"{request.path} {request.what}":
                continue
            cost = measure(port, server, request)
            figures = f"{cost.status} | {cost.seconds:.1f} | {cost.wait:.2f} | {cost.memory:,.0f}"
            print(f"| `{request.path}` | {request.what} | {figures} |", flush=True)
            is_well &= cost.wait <= LONGEST_WAIT and cost.memory <= MOST_MEMORY
    sys.exit(0 if is_well else 1)


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


@main.command(name="pages")
@click.option("--blocks", "sizes", multiple=True, type=int, default=(1000, 10_000, 50_000), show_default=True)
def run_pages(sizes: tuple[int, ...]) -> None:
    """Pages of very many blocks in the workbench."""
    columns: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        with Store(Path(folder) / "annotations.db") as store:
            pages = [store.add_page(Page(make_page(size)), "made", name=f"{size} blocks") for size in sizes]
        with serving(Path(folder)) as (port, _), sync_playwright() as playwright:
            address = f"http://127.0.0.1:{port}"
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
