"""A real server and a real browser, for the tests of the workbench."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.errors import InputError
from mainmatter.html.browser.chromium import find_chromium
from timing import PATIENCE, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Request

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
SECONDS = 120  # that anything may take on a busy machine


@dataclass(frozen=True)
class Server:
    """A server that runs.

    Attributes:
        url: where, without a slash at the end.
        folder: its workbench.
    """

    url: str
    folder: Path


@dataclass
class Watch:
    """What a tab did that it should not do; a test that provokes such a thing takes it out of the list.

    Attributes:
        errors: errors on the console and exceptions of scripts.
        outside: addresses of requests that left for elsewhere; not of those that a policy of ours stopped.
        requests: addresses of all requests.
        expected: parts of errors that a test expects: they are not noted.
    """

    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def note_error(self, text: str) -> None:
        if not any(part in text for part in self.expected):
            self.errors.append(text)


@pytest.fixture(autouse=True, scope="session")
def workers_may_start_slowly() -> Iterator[None]:
    """On a busy machine, one takes its time."""
    pytest.importorskip("fastapi")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mainmatter.workbench.workers.START_LIMIT", PATIENCE)
        yield


@contextmanager
def running(folder: Path, **chosen: Any) -> Iterator[Server]:
    """`mainmatter serve` on a free port, with a workbench of its own; `chosen` goes to `Settings`."""
    uvicorn = pytest.importorskip("uvicorn")
    pytest.importorskip("fastapi")
    from mainmatter.workbench.app import make_app  # an extra
    from mainmatter.workbench.settings import Settings

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        app = make_app(Settings(port=port, folder=folder, **chosen))
        serving = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: serving.started or not thread.is_alive())
        assert thread.is_alive(), "the server did not start"
        yield Server(f"http://127.0.0.1:{port}", folder)
        serving.should_exit = True
        thread.join(PATIENCE)


@pytest.fixture(scope="session")
def start_server() -> Callable[..., AbstractContextManager[Server]]:
    """`with start_server(folder, ...) as server`: one with other settings than most tests need."""
    return running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of most tests."""
    with running(tmp_path_factory.mktemp("workbench")) as server:
        yield server


# Not for the whole session: while Playwright's sync interface is open, asyncio.run works nowhere in this thread.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    pytest.importorskip("playwright")
    from playwright.sync_api import expect, sync_playwright  # an extra

    try:
        program = find_chromium()
    except InputError as error:
        pytest.skip(str(error))
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def watch() -> Watch:
    """What the tab of this test did that it should not do."""
    return Watch()


@pytest.fixture
def new_tab(chromium: Browser, server: Server, watch: Watch) -> Iterator[Callable[..., Page]]:
    """Opens tabs, each in a context (cookies, storage) of its own, with the options of `Browser.new_context`."""
    contexts = []

    def open_tab(**options: Any) -> Page:
        usual = {"base_url": server.url, "viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
        context = chromium.new_context(**usual | options)
        contexts.append(context)
        context.set_default_timeout(SECONDS * 1000)
        tab = context.new_page()
        _observe(tab, server, watch)
        return tab

    yield open_tab
    for context in contexts:
        context.close()
    assert watch.errors == [], "errors in the browser"
    assert watch.outside == [], "requests left the server"


@pytest.fixture
def tab(new_tab: Callable[..., Page]) -> Page:
    """A new tab, 1280 pixels wide; errors in it, and requests to elsewhere, fail the test."""
    return new_tab()


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """Gives the findings of axe on a tab, one line each."""
    checker = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def findings(tab: Page) -> list[str]:
        # The frame with the inspected page runs no script, axe's included, and is not ours to mend.
        result = checker.run(tab, options={"iframes": False, "resultTypes": ["violations"]}).response
        return [
            f"{finding['impact']}: {finding['id']}: {node['target']} {node.get('failureSummary', '')}"
            for finding in result["violations"]
            for node in finding["nodes"]
        ]

    return findings


def _observe(tab: Page, server: Server, watch: Watch) -> None:
    def note(url: str) -> None:
        watch.requests.append(url)
        if not url.startswith((server.url + "/", "data:", "blob:", "about:")):
            watch.outside.append(url)

    def take_back(request: Request) -> None:
        if request.failure == "csp" and request.url in watch.outside:
            watch.outside.remove(request.url)

    tab.on("console", lambda message: watch.note_error(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: watch.note_error(str(error)))
    tab.on("request", lambda request: note(request.url))
    tab.on("requestfailed", take_back)
