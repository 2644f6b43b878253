"""Fetch a page as its scripts build it: Chromium loads it, waits until it settles, and returns its DOM.

The browser runs untrusted code, so everything that it does has limits. Every connection goes through our own proxy
(inputs/proxy.py), which refuses addresses that are not public. There is no other way out of the browser: it resolves no
names, and QUIC and WebRTC without a proxy are off. Time, bytes, requests, navigations and memory are limited. Pictures,
fonts, films, downloads, windows and dialogs are blocked, since only the DOM is needed.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mainmatter.errors import FetchError, PageTooLarge, warn_caller
from mainmatter.html.browser.rendering import SharedBrowser
from mainmatter.inputs.fetch import HOW_TO_ALLOW, REDIRECTS, AddressRefused, check_answer, is_url
from mainmatter.inputs.proxy import CheckingProxy
from mainmatter.isolation.memory import end_largest
from mainmatter.limits import DEFAULT_LIMITS, MEGABYTE, Limits, format_size
from mainmatter.records import Page

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Playwright, Request, Response, Route
    from playwright.async_api import Page as BrowserPage

TIMEOUT = 30.0  # seconds, from the first request until the page is quiet
QUIET = 0.5  # seconds without requests and without new text or elements
SLOW = 5.0  # seconds: an answer that takes longer is not waited for, since it may be one that never ends
MOST_BYTES = 100 * MEGABYTE  # that a page may load, all together
MOST_REQUESTS = 1_000
MOST_MEMORY = 2_000  # megabytes that the browser may hold
_FEW_CHARACTERS = 20  # that may come and go on a quiet page: clocks, counters
_POLL = 0.1  # seconds between two looks, at the page and at the browser's memory
_OPENING = 60.0  # seconds for a tab to open, which takes a fraction of one
_STOPPING = 5.0  # seconds for scripts to be stopped, and again for the DOM to be read
_MOST_NAMED = 3  # addresses that were refused
_LEFT_OUT = frozenset(("font", "media", "texttrack", "manifest", "ping", "cspviolationreport", "prefetch"))
_NOT_WAITED_FOR = _LEFT_OUT | {"image", "eventsource", "websocket"}
# A picture of one pixel for all: scripts that wait for pictures go on.
_PICTURE = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c000000000100010000020144003b")
_PROXY_NAME = "proxy.invalid"  # this browser resolves nothing else, not even IP addresses
_SWITCHES = (
    f"--host-resolver-rules=MAP {_PROXY_NAME} 127.0.0.1,MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the same in older versions
    "--block-new-web-contents",
    "--mute-audio",
)
# What each page and each frame begins with: dialogs would keep it waiting, and no page needs calls between people.
_FIRST_SCRIPT = """for (const name of ["alert", "confirm", "prompt", "print"]) window[name] = () => undefined
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete window[name]"""
_NET_ERROR = re.compile(r"net::ERR_\w+")
_GONE = re.compile(r"closed|crashed", re.IGNORECASE)  # in what Playwright says about a tab that is gone

# Both run in a JavaScript world of their own, where nothing that the page's scripts have changed is in force.
_WALK = """const roots = []
  for (const waiting = [document]; waiting.length;)
    for (const element of waiting.pop().querySelectorAll("*"))
      if (element.shadowRoot) { roots.push(element.shadowRoot); waiting.push(element.shadowRoot) }"""
_LOOK = f"""(() => {{
  {_WALK}
  let elements = 0, characters = 0
  for (const root of [document.documentElement, ...roots]) {{
    elements += root?.querySelectorAll("*").length ?? 0
    characters += root?.textContent.length ?? 0
  }}
  return [document.readyState === "complete", elements, characters]
}})()"""
_SERIALISE = f"""(most => {{
  {_WALK}
  const root = document.documentElement
  if (!root) return ""
  const inside = root.getHTML ? root.getHTML({{ shadowRoots: roots }}) : root.innerHTML
  if (inside.length > most) return null
  const start = root.cloneNode(false).outerHTML.replace(/<\\/\\w+>$/, "")
  return (document.compatMode === "BackCompat" ? "" : "<!DOCTYPE html>") + start + inside + "</html>"
}})"""


def fetch_with_browser(
    url: str, *, limits: Limits = DEFAULT_LIMITS, timeout: float = TIMEOUT, public_only: bool = True
) -> Page:
    """Fetch a page from the web and let Chromium run its scripts; the result is its DOM once it has settled.

    The process keeps one browser, which may be used from any thread and loads one page at a time. Needs the extra
    `visual`.

    Args:
        url: an address that begins with http:// or https://.
        limits: how large the DOM may be.
        timeout: how many seconds it may take. What has loaded by then is returned, with a warning.
        public_only: let neither the URL nor the page's scripts reach an address that is not public. Otherwise a page
            whose host has only such addresses may reach others of that kind. A page whose host also has a public
            address never may, even if a private page led to it.

    Warns:
        PageWarning: the page may not be complete: it did not settle in time, or some of its requests were refused.

    Raises:
        MissingExtra: Playwright is not installed.
        AddressRefused: the URL leads to an address that may not be reached.
        FetchError: it could not be fetched, or its scripts took too much memory, or crashed the browser.
        NotAPage: it is neither a page nor plain text.
        PageTooLarge: it is over the limits.
        InputError: there is no Chromium, or it does not start.
    """
    if not is_url(url):
        raise AddressRefused(f"{url}: is not fetched: only http:// and https:// URLs are")
    loaded = _shared.get().load(url, limits, timeout, public_only)
    for note in loaded.notes:
        warn_caller(f"{url}: {note}")
    return loaded.page


@dataclass(frozen=True, slots=True)
class LoadedPage:
    """A page that a browser has loaded.

    Attributes:
        page: its DOM, or its text.
        notes: why it may not be complete, in words.
    """

    page: Page
    notes: list[str]


class PageLoader:
    """A browser that loads pages with their scripts, one at a time; `close` ends it.

    Raises:
        MissingExtra: Playwright is not installed.
        InputError: there is no Chromium.
    """

    def __init__(self) -> None:
        from mainmatter.html.browser import chromium  # asyncio and threads, which few need

        self._chromium = chromium
        self._thread = chromium.BrowserThread()
        self._turn = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._process = 0

    def load(self, url: str, limits: Limits, seconds: float, public_only: bool) -> LoadedPage:
        """Load a page; see `fetch_with_browser`."""
        return self._thread.submit(self._load(url, limits, seconds, public_only)).result()

    def close(self) -> None:
        """Close the browser."""
        self._thread.close(self._stop())

    async def _load(self, url: str, limits: Limits, seconds: float, public_only: bool) -> LoadedPage:
        async with self._turn:
            browser = await self._running()
            async with CheckingProxy(public_only=public_only, most_bytes=MOST_BYTES) as proxy:
                loading = _Loading(url, limits, seconds, proxy, public_only)
                watching = asyncio.ensure_future(self._watch_memory(loading))
                try:
                    return await loading.load(browser)
                finally:
                    watching.cancel()
                    if loading.context is None or not await self._chromium.in_time(loading.context.close()):
                        await self._stop()

    async def _running(self) -> Browser:
        from playwright.async_api import async_playwright  # an extra

        if self._browser is None or not self._browser.is_connected():
            await self._stop()
            self._playwright = await async_playwright().start()
            # Playwright would let pages open windows.
            self._browser = await self._chromium.launch(
                self._playwright, *_SWITCHES, ignore_default_args=["--disable-popup-blocking"]
            )
            session = await self._browser.new_browser_cdp_session()
            processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
            self._process = next((one["id"] for one in processes if one["type"] == "browser"), 0)
        return self._browser

    async def _stop(self) -> None:
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        if browser is not None:
            await self._chromium.in_time(browser.close())
        if playwright is not None:
            await self._chromium.in_time(playwright.stop())

    async def _watch_memory(self, loading: _Loading) -> None:
        while self._process:
            loading.took_memory |= end_largest(self._process, MOST_MEMORY)
            await asyncio.sleep(_POLL)


_shared = SharedBrowser(PageLoader)


class _Loading:
    """One page that is being loaded."""

    def __init__(self, url: str, limits: Limits, seconds: float, proxy: CheckingProxy, public_only: bool) -> None:
        self.context: BrowserContext | None = None
        self.took_memory = False
        self._url, self._limits, self._seconds, self._proxy = url, limits, seconds, proxy
        self._public_only = public_only  # what was asked for; the proxy knows what applies now
        self._page: BrowserPage | None = None
        self._session: CDPSession | None = None
        self._world: int | None = None  # the JavaScript world that is ours
        self._requests = 0
        self._navigations = 0
        self._document: Request | None = None  # the latest of the page itself
        self._answer: Response | None = None  # to that
        self._is_cut = False  # whether that broke off
        self._waiting: dict[Request, float] = {}  # since when
        self._changed = 0.0  # when the last request began or ended
        self._crashed = asyncio.Event()

    async def load(self, browser: Browser) -> LoadedPage:
        """Load the page; its tab is left to the caller to close."""
        from playwright.async_api import Error  # an extra

        loading = asyncio.ensure_future(self._load(browser))
        crash = asyncio.ensure_future(self._crashed.wait())
        try:
            # What was asked of a tab that crashes may never be answered.
            await asyncio.wait((loading, crash), return_when=asyncio.FIRST_COMPLETED)
            if loading.done():
                return await loading
            why = "it crashed the browser"
        except Error as error:
            found = _NET_ERROR.search(str(error))
            why = found[0] if found else str(error).splitlines()[0]
        finally:
            loading.cancel()
            crash.cancel()
            await asyncio.gather(loading, crash, return_exceptions=True)
        if self.took_memory:
            why = f"it took more than {MOST_MEMORY:,} MB of memory"
        raise FetchError(f"{self._url}: could not be loaded: {why}")

    async def _load(self, browser: Browser) -> LoadedPage:
        notes: list[str] = []
        try:
            async with asyncio.timeout(_OPENING):
                await self._open(browser)
        except TimeoutError:
            raise FetchError(f"{self._url}: could not be loaded: the browser does not answer") from None
        try:
            async with asyncio.timeout(self._seconds):
                await self._go()
                if self._check_answer() == "html":
                    notes += await self._wait_until_quiet()
        except TimeoutError:
            if self._answer is None:
                why = self._why() or f"no answer after {self._seconds:g} seconds"
                raise FetchError(f"{self._url}: could not be fetched: {why}") from None
            notes.append(f"had not finished after {self._seconds:g} seconds; what was there by then was used")
            await self._stop_scripts()
        try:
            async with asyncio.timeout(_STOPPING):
                page = await self._read()
        except TimeoutError:
            raise FetchError(f"{self._url}: could not be loaded: its scripts cannot be stopped") from None
        return LoadedPage(page, [*notes, *self._notes()])

    async def _open(self, browser: Browser) -> None:
        proxy: Any = {"server": f"http://{_PROXY_NAME}:{self._proxy.port}", "bypass": "<-loopback>"}
        self.context = await browser.new_context(
            proxy=proxy, accept_downloads=False, service_workers="block", reduced_motion="reduce"
        )
        await self.context.add_init_script(_FIRST_SCRIPT)
        await self.context.route("**/*", self._route)
        self._page = await self.context.new_page()
        self._session = await self.context.new_cdp_session(self._page)
        self._page.on("request", self._on_request)
        self._page.on("response", self._on_response)
        self._page.on("requestfinished", self._on_end)
        self._page.on("requestfailed", self._on_end)
        self._page.on("crash", lambda _: self._crashed.set())
        self._page.on("close", lambda _: self._crashed.set())

    async def _route(self, route: Route) -> None:
        """Let a request pass, or block it; the proxy checks its address."""
        with suppress(Exception):  # the tab may be gone
            request = route.request
            self._requests += 1
            if request.is_navigation_request() and request.frame.parent_frame is None:
                self._navigations += 1
            if (
                not is_url(request.url)
                or not await self._may_be_document(request)
                or request.resource_type in _LEFT_OUT
                or self._requests > MOST_REQUESTS
                or self._navigations > 1 + REDIRECTS
            ):
                await route.abort("aborted")  # of all errors, the one that shows no page about it
            elif request.resource_type == "image":
                await route.fulfill(body=_PICTURE, content_type="image/gif")
            else:
                await route.continue_()

    async def _may_be_document(self, request: Request) -> bool:
        """Whether a request is not for a document, or is for one that is wanted, which the proxy is then told about.

        The content of frames is not used. So frames of a private page that come from public hosts are blocked: their
        scripts must not reach what the page itself may.
        """
        if not request.is_navigation_request():
            return True
        parts = urlsplit(request.url)
        host = parts.hostname or ""
        if not self._proxy.public_only and request.frame.parent_frame is not None:
            return await self._proxy.is_private(host, parts.port or 80)
        self._proxy.add_document(host)
        return True

    def _is_of_page(self, request: Request) -> bool:
        """Whether a request is made by the page itself, not by a frame in it."""
        assert self._page is not None
        return request.frame == self._page.main_frame

    def _on_request(self, request: Request) -> None:
        if request.redirected_from is not None and request.is_navigation_request():  # not seen by `_route`
            self._proxy.add_document(urlsplit(request.url).hostname or "")
        if not self._is_of_page(request):
            return
        if request.is_navigation_request():
            self._document, self._answer, self._is_cut = request, None, False
        if request.resource_type not in _NOT_WAITED_FOR:
            self._waiting[request] = self._changed = _now()

    def _on_response(self, response: Response) -> None:
        if response.request == self._document:
            self._answer = response

    def _on_end(self, request: Request) -> None:
        if self._waiting.pop(request, None) is not None:
            self._changed = _now()
        if request == self._document:
            self._is_cut = request.failure is not None

    async def _go(self) -> None:
        """Go to the page, until its first bytes are there."""
        from playwright.async_api import Error  # an extra

        assert self._page is not None
        try:
            await self._page.goto(self._url, wait_until="commit", timeout=0)
        except Error:
            self._check_answer()  # which knows more, if there is one
            self._check_bytes()
            if why := self._why():
                raise FetchError(f"{self._url}: could not be fetched: {why}") from None
            raise

    def _check_answer(self) -> str:
        """The format of the page that the server sent, "" if it has sent none yet; raises if it sent no page."""
        if self._answer is None:
            if self._document is not None and _place(self._document.url) in self._proxy.refused:
                self._refuse()
            return ""
        if self._answer.status == 403 and _place(self._answer.url) in self._proxy.refused:
            self._refuse()
        if self._answer.status == 502 and (why := self._why()):
            raise FetchError(f"{self._url}: could not be fetched: {why}")
        header = self._answer.headers.get("content-type", "")
        return check_answer(self._url, self._answer.status, self._answer.status_text, header)[0]

    def _check_bytes(self) -> None:
        """Refuse a page whose own document was cut where the limit of bytes was; without its scripts it is a page."""
        if self._proxy.is_full:
            raise PageTooLarge(f"{self._url} loads more than {format_size(MOST_BYTES)}, the limit for a browser")

    def _refuse(self) -> None:
        why = self._why()
        if not self._public_only or self._document is None or _place(self._document.url) != _place(self._url):
            why = why.removesuffix(HOW_TO_ALLOW)  # which does not lift it for pages that a public one leads to
        raise AddressRefused(f"{self._url}: is not fetched: {why}")

    def _why(self) -> str:
        """What the proxy says about the last server that was asked for the page; "" if nothing."""
        return "" if self._document is None else self._proxy.problems.get(_place(self._document.url), "")

    async def _wait_until_quiet(self) -> list[str]:
        """Wait until the page neither loads nor changes any more; returns what there is to note."""
        quiet_since, before = _now(), (False, 0, 0)
        while True:
            if self._is_cut:
                self._check_bytes()
            began = _now()
            found = await self._evaluate(_LOOK)
            seen = tuple(found) if found else (False, 0, 0)
            if seen[:2] != before[:2] or abs(seen[2] - before[2]) > _FEW_CHARACTERS:
                quiet_since, before = began, seen
            quiet_since = max(quiet_since, self._changed)
            late = [since for since in self._waiting.values() if since < began - SLOW]
            if seen[0] and len(late) == len(self._waiting) and began - quiet_since >= QUIET:
                return [f"{_count(len(late), 'request')} had not been answered yet"] if late else []
            await asyncio.sleep(max(_POLL, 2 * (_now() - began)))  # a page with a million elements takes its time

    async def _evaluate(self, expression: str) -> Any:  # whatever it gives
        """The value of an expression; None if it fails. Waits for the next page where one is gone."""
        from playwright.async_api import Error  # an extra

        assert self._session is not None
        while True:
            try:
                if self._world is None:
                    frame = (await self._session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
                    made = await self._session.send("Page.createIsolatedWorld", {"frameId": frame})
                    self._world = made["executionContextId"]
                request = {"expression": expression, "contextId": self._world, "returnByValue": True}
                answer = await self._session.send("Runtime.evaluate", request)
            except Error as error:
                if _GONE.search(str(error)):
                    raise
                self._world = None
                await asyncio.sleep(_POLL)
            else:
                return answer["result"].get("value")

    async def _stop_scripts(self) -> None:
        """Stop the page's scripts, also those that never end."""
        assert self._session is not None
        stopping = asyncio.ensure_future(self._session.send("Emulation.setScriptExecutionDisabled", {"value": True}))
        ending: list[asyncio.Future[Any]] = []
        end = _now() + _STOPPING
        while not stopping.done() and _now() < end:  # each time ends one script, and others may be waiting
            ending.append(asyncio.ensure_future(self._session.send("Runtime.terminateExecution")))
            await asyncio.wait([stopping], timeout=_POLL)
        for one in (stopping, *ending):
            one.cancel()
        await asyncio.gather(stopping, *ending, return_exceptions=True)

    async def _read(self) -> Page:
        """The page as it is now."""
        assert self._page is not None
        if self._check_answer() == "text":
            assert self._answer is not None
            content = await self._answer.body()
            self._limits.check_size(len(content), self._url)
            charset = check_answer(self._url, 200, None, self._answer.headers.get("content-type", ""))[1]
            return Page(content, self._page.url, self._url, charset, "text")
        html = await self._evaluate(f"{_SERIALISE}({self._limits.size})")
        if not isinstance(html, str):
            self._limits.check_size(self._limits.size + 1, self._url)
        content = html.encode("utf-8", "replace")  # scripts may make half a character
        self._limits.check_size(len(content), self._url)
        return Page(content, self._page.url, self._url, "utf-8")

    def _notes(self) -> list[str]:
        """Why the page may not be complete."""
        refused = self._proxy.refused
        notes = []
        if refused:
            named = ", ".join(list(refused)[:_MOST_NAMED])
            more = f" and {len(refused) - _MOST_NAMED:,} others" if len(refused) > _MOST_NAMED else ""
            notes.append(
                f"{_count(refused.total(), 'request')} refused, because only public addresses are allowed: "
                f"{named}{more}"
            )
        if self._proxy.is_full:
            notes.append(f"tried to load more than {format_size(MOST_BYTES)}; loading stopped there")
        if self._requests > MOST_REQUESTS:
            notes.append(f"made more than {MOST_REQUESTS:,} requests; the others were refused")
        if self._navigations > 1 + REDIRECTS:
            notes.append(f"went to another page more than {REDIRECTS} times; the last one that was loaded was used")
        if self.took_memory:
            notes.append(f"took more than {MOST_MEMORY:,} MB of memory; one of the browser's processes was killed")
        return notes


def _now() -> float:
    return asyncio.get_running_loop().time()


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def _place(url: str) -> str:
    """Host and port of a URL, as the proxy names them."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
