"""A headless Chromium that shows pages and measures their blocks, through Playwright.

Playwright's objects are bound to the thread that made them. So each `Chromium` has a thread of its own, which does the
work for all others: it can be used from any thread, and from code that runs in an event loop. A page that hangs or
crashes harms no other: its tab is discarded or, if that does not work, the browser.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from mainmatter.errors import InputError, MissingExtra
from mainmatter.html.browser.rendering import Rendering
from mainmatter.html.safe import safe_html

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator
    from concurrent.futures import Future

    from playwright.async_api import Browser, BrowserContext, Playwright, Route
    from playwright.async_api import Page as BrowserPage

    from mainmatter.records import Document

Result = TypeVar("Result")

WIDTH, HEIGHT = 1280, 900  # of the window
SECONDS = 10.0  # that a page may take
_LONGEST = 20_000_000  # characters of a page that is shown
_STOPPING_SECONDS = 15.0
# No such name can exist (RFC 6761): whatever goes wrong, a request to it ends nowhere.
_ADDRESS = "http://page.invalid/"
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'"
)
_MEASURE = Path(__file__).with_name("measure.js")
_CLOSING_SECONDS = 3.0
_MOST_PAGES = 200  # in one tab: a new one has what the old one would not give back
FARTHEST = 200_000  # pixels from the top: text below is not measured
WIDEST = 5_000  # pixels from the left: text beyond is not measured
HIGHEST_PICTURE = 20_000  # pixels
_HEADER = 100  # pixels that a picture around a picture may have besides

PROGRAM = "MAINMATTER_CHROMIUM"  # the variable that names the program
NO_SANDBOX = "MAINMATTER_NO_SANDBOX"  # the variable that switches its sandbox off
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# These are added to Playwright's switches. They stop traffic that no page requested: connections made in advance,
# updates, reports. The proxy is a port on which nothing listens; only a context with its own proxy can connect.
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--dns-prefetch-disable",
    "--force-color-profile=srgb",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
)
# Requests of rendered pages are stopped before they are made (`_Tab`). In addition, the browser resolves no names, not
# even IP addresses.
_NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND"


class Chromium:
    """A browser without a window, for one page or many. Use it in a `with`, or call `start` and `close`.

    Pages are rendered without network: no picture, style sheet, font or frame is fetched, no script runs. If a page
    takes too long, or crashes its tab, only that page fails.

    Args:
        width: of the window, in pixels.
        height: of the window.
        seconds: how long a page may take.
        tabs: how many pages `render_many` shows at the same time.
    """

    def __init__(self, *, width: int = WIDTH, height: int = HEIGHT, seconds: float = SECONDS, tabs: int = 2) -> None:
        for name, value, most in (("width", width, 4_000), ("height", height, 4_000), ("tabs", tabs, 64)):
            if not 1 <= value <= most:
                raise InputError(f"the browser's {name} must be from 1 to {most:,}, not {value!r}")
        self.width, self.height, self.seconds, self.tabs = width, height, seconds, tabs
        self._thread: BrowserThread | None = None
        self._open_tabs: _Tabs | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the browser, which takes most of a second.

        Raises:
            MissingExtra: Playwright is not installed.
            InputError: there is no Chromium, or it does not start.
        """
        if self._thread is not None:
            raise InputError("this browser is already running")
        thread = BrowserThread()
        try:
            self._open_tabs = thread.submit(self._make_tabs()).result()
        except BaseException:
            thread.close()
            raise
        self._thread = thread

    def close(self) -> None:
        """Close the browser, unless it is already closed."""
        thread, tabs = self._thread, self._open_tabs
        self._thread = self._open_tabs = None
        if thread is not None and tabs is not None:
            thread.close(tabs.stop())

    def render(self, document: Document, *, screenshot: bool = False) -> Rendering:
        """Show a page and measure its blocks.

        Args:
            document: the page.
            screenshot: take a screenshot too, which takes some tenths of a second.

        Returns:
            Where its blocks are and what they look like; a page that cannot be shown has a rendering that says so.

        Raises:
            InputError: the browser is not running, or cannot be started again.
        """
        return next(self.render_many([document], screenshot=screenshot))

    def render_many(self, documents: Iterable[Document], *, screenshot: bool = False) -> Iterator[Rendering]:
        """Show pages, some at a time, and measure their blocks; in order, read as needed.

        Raises:
            InputError: the browser is not running, or cannot be started again.
        """
        waiting: deque[tuple[int, Future[TabResult] | None]] = deque()
        for document in documents:
            waiting.append((len(document), self._order(document, screenshot)))
            if len(waiting) > self.tabs:
                yield self._result(*waiting.popleft())
        while waiting:
            yield self._result(*waiting.popleft())

    def picture(self, html: str) -> bytes:
        """A screenshot of an HTML document of our own, as PNG; it may contain pictures as `data:` URLs.

        Raises:
            InputError: the browser is not running, or cannot show it.
        """
        shown = self._submit(self._tabs().show(html, measure=False, screenshot=True)).result()
        if shown.screenshot is None:
            raise InputError(f"no picture: {shown.error}")
        return shown.screenshot

    def _order(self, document: Document, screenshot: bool) -> Future[TabResult] | None:
        """Have a page rendered; None for one that is too long."""
        html = safe_html(document, base=False)
        if len(html) > _LONGEST:
            return None
        return self._submit(self._tabs().show(html, screenshot=screenshot))

    def _result(self, blocks: int, future: Future[TabResult] | None) -> Rendering:
        if future is None:
            return Rendering.nothing(blocks, f"the page has more than {_LONGEST:,} characters", self.height)
        shown = future.result()
        if shown.found is None:
            return Rendering.nothing(blocks, shown.error, self.height)
        notes = []
        if shown.found["height"] > FARTHEST:
            notes.append(f"the page is {shown.found['height']:,} pixels high; measured to {FARTHEST:,}")
        if shown.screenshot is not None and shown.found["height"] > HIGHEST_PICTURE:
            notes.append(f"the picture is cut at {HIGHEST_PICTURE:,} pixels")
        return Rendering.measured(
            blocks, shown.found, fold=self.height, note="; ".join(notes), screenshot=shown.screenshot
        )

    async def _make_tabs(self) -> _Tabs:
        tabs = _Tabs(width=self.width, height=self.height, seconds=self.seconds, count=self.tabs)
        await tabs.start()
        return tabs

    def _tabs(self) -> _Tabs:
        if self._open_tabs is None:
            raise InputError("this browser is not running: use it in a with statement, or start it")
        return self._open_tabs

    def _submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        assert self._thread is not None
        return self._thread.submit(work)


class BrowserThread:
    """A thread with an event loop, for objects that are bound to one; it runs until `close`.

    Raises:
        MissingExtra: Playwright is not installed.
        InputError: there is no Chromium.
    """

    def __init__(self) -> None:
        need_browser()
        self._loop = asyncio.new_event_loop()
        # Ignore what a discarded tab still reports.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        self._thread = threading.Thread(target=self._loop.run_forever, name="mainmatter-chromium", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run a coroutine in the thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, last: Coroutine[Any, Any, None] | None = None) -> None:
        """End the thread, after a last coroutine has run there."""
        if last is not None:
            stopping = self.submit(last)
            try:
                stopping.result(_STOPPING_SECONDS)
            except Exception:  # what does not stop ends with us: its pipes close
                stopping.cancel()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOPPING_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()


@dataclass(frozen=True, slots=True)
class TabResult:
    """What was found: measurements from measure.js, a screenshot as PNG, or why there is nothing."""

    found: dict[str, Any] | None = None
    screenshot: bytes | None = None
    error: str = ""


class _Tab:
    """One tab, and the page to be rendered in it."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.page: BrowserPage | None = None
        self.html = ""
        self.pages = 0

    async def open(self) -> None:
        await self.context.route("**/*", self._answer)
        self.page = await self.context.new_page()

    async def _answer(self, route: Route) -> None:
        """Serve the page itself, and nothing else."""
        with suppress(Exception):  # the tab may be gone
            if route.request.url == _ADDRESS and route.request.is_navigation_request():
                headers = {"content-security-policy": _POLICY, "x-dns-prefetch-control": "off"}
                await route.fulfill(body=self.html, content_type="text/html; charset=utf-8", headers=headers)
            else:
                await route.abort()

    async def show(self, html: str, *, measure: bool, screenshot: bool) -> TabResult:
        assert self.page is not None
        self.html = html
        self.pages += 1
        await self.page.goto(_ADDRESS, wait_until="load", timeout=0)
        self.html = ""
        found = None
        if measure:
            limits = {"farthest": FARTHEST, "widest": WIDEST}
            found = await self.page.evaluate(_MEASURE.read_text("utf-8"), limits)
        picture = await self._picture() if screenshot else None
        return TabResult(found, picture)

    async def _picture(self) -> bytes:
        assert self.page is not None
        assert self.page.viewport_size is not None
        height = await self.page.evaluate("() => document.documentElement.scrollHeight")
        width = self.page.viewport_size["width"]
        clip: Any = {"x": 0, "y": 0, "width": width, "height": min(max(height, 1), HIGHEST_PICTURE + _HEADER)}
        return await self.page.screenshot(full_page=True, clip=clip, animations="disabled", timeout=0)


class _Tabs:
    """A Chromium with some tabs.

    Args:
        width: of the window.
        height: of the window.
        seconds: how long a page may take.
        count: how many tabs work at the same time.
    """

    def __init__(self, *, width: int, height: int, seconds: float, count: int) -> None:
        self._size = {"width": width, "height": height}
        self._seconds = seconds
        self._places = asyncio.Semaphore(count)
        self._restarting = asyncio.Lock()
        self._idle: list[_Tab] = []
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    async def start(self) -> None:
        """Start the browser.

        Raises:
            InputError: there is no Chromium, or it does not start.
        """
        from playwright.async_api import async_playwright  # an extra

        if self._playwright is None:
            self._playwright = await async_playwright().start()
        try:
            self._browser = await launch(self._playwright, _NO_NETWORK)
        except InputError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Close the browser; no page is under way any more."""
        self._idle.clear()
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        if browser is not None:
            await in_time(browser.close())
        if playwright is not None:
            await in_time(playwright.stop())

    async def show(self, html: str, *, measure: bool = True, screenshot: bool = False) -> TabResult:
        """Show a page, harmless and marked; measure its blocks, take its picture.

        It is tried twice if another page crashed the browser.
        """
        async with self._places:
            shown = await self._try(html, measure=measure, screenshot=screenshot)
            if shown is None:
                shown = await self._try(html, measure=measure, screenshot=screenshot)
            return shown or TabResult(error="the page crashed the browser twice")

    async def _try(self, html: str, *, measure: bool, screenshot: bool) -> TabResult | None:
        """Render a page; None if the browser died, which may not be this page's fault."""
        browser = await self._running()
        tab = None
        try:
            async with asyncio.timeout(self._seconds):
                tab = self._idle.pop() if self._idle else await self._open(browser)
                shown = await tab.show(html, measure=measure, screenshot=screenshot)
        except TimeoutError:
            await self._drop(tab, browser)
            return TabResult(error=f"the page took more than {self._seconds:g} seconds to show")
        except Exception as error:  # Playwright's, of many kinds: the tab crashed, or was closed
            await self._drop(tab, browser)
            if not browser.is_connected():
                return None
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            return TabResult(error=f"the page could not be shown: {reason}")
        if tab.pages < _MOST_PAGES:
            self._idle.append(tab)
        else:
            await self._drop(tab, browser)
        return shown

    async def _running(self) -> Browser:
        async with self._restarting:
            if self._browser is None or not self._browser.is_connected():
                self._idle.clear()
                await self.start()
            assert self._browser is not None
            return self._browser

    async def _open(self, browser: Browser) -> _Tab:
        context = await browser.new_context(
            viewport=self._size,  # type: ignore[arg-type] # mypy sees a dict where Playwright wants a TypedDict
            java_script_enabled=False,
            offline=True,
            service_workers="block",
            reduced_motion="reduce",
            color_scheme="light",
            accept_downloads=False,
            locale="en-US",
            timezone_id="UTC",
        )
        tab = _Tab(context)
        await tab.open()
        return tab

    async def _drop(self, tab: _Tab | None, browser: Browser) -> None:
        """Discard a tab or, if it does not close, the whole browser."""
        if tab is not None and await in_time(tab.context.close()):
            return
        async with self._restarting:
            if browser is self._browser:
                self._browser = None
                self._idle.clear()
        if not await in_time(browser.close()) and self._playwright is not None:
            playwright, self._playwright = self._playwright, None
            await in_time(playwright.stop())


async def launch(playwright: Playwright, *arguments: str, **options: Any) -> Browser:  # Playwright's
    """Start Chromium, with its sandbox where it can have one.

    Args:
        playwright: what starts it.
        arguments: switches that it gets besides those that keep it from using the network on its own.
        options: of Playwright's `launch`.

    Raises:
        InputError: there is no Chromium, or it does not start.
    """
    from playwright.async_api import Error  # an extra

    program = find_chromium()
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    has_sandbox = not is_root and not os.environ.get(NO_SANDBOX)
    try:
        return await playwright.chromium.launch(
            executable_path=program,
            args=[*_ARGUMENTS, *arguments, *([] if has_sandbox else ["--no-sandbox"])],
            headless=True,
            chromium_sandbox=has_sandbox,
            timeout=60_000,
            **options,
        )
    except Error as error:
        hint = f"; set {NO_SANDBOX}=1 if its sandbox cannot work here" if "sandbox" in str(error) else ""
        raise InputError(f"{program} does not start: {str(error).splitlines()[0]}{hint}") from error


async def in_time(closing: Any) -> bool:  # a coroutine of Playwright's
    """Whether something closed in time."""
    try:
        async with asyncio.timeout(_CLOSING_SECONDS):
            await closing
    except Exception:
        return False
    return True


def need_browser() -> None:
    """Check, before any work, that pages can be rendered.

    Raises:
        MissingExtra: Playwright is not installed.
        InputError: there is no Chromium.
    """
    try:
        import playwright  # noqa: F401 - an extra
    except ImportError as error:
        raise MissingExtra("playwright", "visual") from error
    find_chromium()


def find_chromium() -> str:
    """The path of Chromium or Chrome: the one that MAINMATTER_CHROMIUM names, or the first that the system has.

    Raises:
        InputError: there is none.
    """
    named = os.environ.get(PROGRAM)
    if named:
        found = shutil.which(named)
        if found is None:
            raise InputError(f"{PROGRAM} is {named}, which is not a program; set it to the path of Chromium or Chrome")
        return found
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    raise InputError(
        "rendering pages needs Chromium, which was not found; install it (Debian or Ubuntu: apt-get install chromium), "
        f"or set {PROGRAM} to its path"
    )
