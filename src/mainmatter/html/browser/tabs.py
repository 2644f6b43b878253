"""The tabs of one Chromium: pages go in as marked HTML, measurements come out. All of it runs in one thread's loop.

A page that hangs or crashes costs itself: its tab is thrown away and, if that does not work, the browser.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mainmatter.errors import InputError
from mainmatter.html.browser.finding import NO_SANDBOX, arguments, find_chromium, has_sandbox

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright, Route

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


@dataclass(frozen=True, slots=True)
class Order:
    """A page to show.

    Attributes:
        html: the page, harmless and marked.
        measure: whether to measure its blocks.
        screenshot: whether to take its picture.
    """

    html: str
    measure: bool = True
    screenshot: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """What was seen: measurements as measure.js gives them, a picture as PNG, or why there is nothing."""

    found: dict[str, Any] | None = None
    screenshot: bytes | None = None
    error: str = ""


class _Tab:
    """One tab, and the page that is to be shown in it."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.page: Page | None = None
        self.html = ""
        self.pages = 0

    async def open(self) -> None:
        await self.context.route("**/*", self._answer)
        self.page = await self.context.new_page()

    async def _answer(self, route: Route) -> None:
        """Give the page itself; nothing else is there."""
        with suppress(Exception):  # the tab may be gone
            if route.request.url == _ADDRESS and route.request.is_navigation_request():
                headers = {"content-security-policy": _POLICY, "x-dns-prefetch-control": "off"}
                await route.fulfill(body=self.html, content_type="text/html; charset=utf-8", headers=headers)
            else:
                await route.abort()

    async def show(self, order: Order) -> Shown:
        assert self.page is not None
        self.html = order.html
        self.pages += 1
        await self.page.goto(_ADDRESS, wait_until="load", timeout=0)
        self.html = ""
        found = None
        if order.measure:
            limits = {"farthest": FARTHEST, "widest": WIDEST}
            found = await self.page.evaluate(_MEASURE.read_text("utf-8"), limits)
        picture = await self._picture() if order.screenshot else None
        return Shown(found, picture)

    async def _picture(self) -> bytes:
        assert self.page is not None
        assert self.page.viewport_size is not None
        height = await self.page.evaluate("() => document.documentElement.scrollHeight")
        width = self.page.viewport_size["width"]
        clip: Any = {"x": 0, "y": 0, "width": width, "height": min(max(height, 1), HIGHEST_PICTURE + _HEADER)}
        return await self.page.screenshot(full_page=True, clip=clip, animations="disabled", timeout=0)


class Tabs:
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
        from playwright.async_api import Error, async_playwright  # noqa: PLC0415 - an extra

        program = find_chromium()
        if self._playwright is None:
            self._playwright = await async_playwright().start()
        try:
            self._browser = await self._playwright.chromium.launch(
                executable_path=program, args=arguments(), headless=True, chromium_sandbox=has_sandbox(), timeout=60_000
            )
        except Error as error:
            await self.stop()
            hint = f"; set {NO_SANDBOX}=1 where its sandbox cannot work" if "sandbox" in str(error) else ""
            raise InputError(f"{program} does not start: {str(error).splitlines()[0]}{hint}") from error

    async def stop(self) -> None:
        """Close the browser; no page is under way any more."""
        self._idle.clear()
        browser, self._browser = self._browser, None
        playwright, self._playwright = self._playwright, None
        if browser is not None:
            await _in_time(browser.close())
        if playwright is not None:
            await _in_time(playwright.stop())

    async def show(self, order: Order) -> Shown:
        """Show a page. It is tried twice if another page took the browser down."""
        async with self._places:
            shown = await self._try(order)
            if shown is None:
                shown = await self._try(order)
            return shown or Shown(error="the page took the browser down, twice")

    async def _try(self, order: Order) -> Shown | None:
        """Show a page; None if the browser died, which need not be this page's fault."""
        browser = await self._running()
        tab = None
        try:
            async with asyncio.timeout(self._seconds):
                tab = self._idle.pop() if self._idle else await self._open(browser)
                shown = await tab.show(order)
        except TimeoutError:
            await self._drop(tab, browser)
            return Shown(error=f"the page took more than {self._seconds:g} seconds to show")
        except Exception as error:  # Playwright's, of many kinds: the tab crashed, or was closed
            await self._drop(tab, browser)
            if not browser.is_connected():
                return None
            return Shown(error=f"the page could not be shown: {_first_line(error)}")
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
        """Throw a tab away; and the whole browser, if the tab does not let go."""
        if tab is not None and await _in_time(tab.context.close()):
            return
        async with self._restarting:
            if browser is self._browser:
                self._browser = None
                self._idle.clear()
        if not await _in_time(browser.close()) and self._playwright is not None:
            playwright, self._playwright = self._playwright, None
            await _in_time(playwright.stop())


async def _in_time(closing: Any) -> bool:  # noqa: ANN401 - a coroutine of Playwright's
    """Whether something closed in time."""
    try:
        async with asyncio.timeout(_CLOSING_SECONDS):
            await closing
    except Exception:
        return False
    return True


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
