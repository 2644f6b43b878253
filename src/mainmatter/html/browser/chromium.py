"""A headless Chromium that shows pages and measures their blocks, through Playwright.

Playwright's objects are bound to the thread that made them. So each `Chromium` has a thread of its own, which does the
work for all others: it can be used from any thread, and from code that runs in an event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Self, TypeVar

from mainmatter.errors import InputError
from mainmatter.html.browser.finding import need_browser
from mainmatter.html.browser.rendering import Rendering
from mainmatter.html.browser.tabs import FARTHEST, HIGHEST_PICTURE, Order, Shown, Tabs
from mainmatter.html.safe import safe_html

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator
    from concurrent.futures import Future

    from mainmatter.records import Document

Result = TypeVar("Result")

WIDTH, HEIGHT = 1280, 900  # of the window
SECONDS = 10.0  # that a page may take
_LONGEST = 20_000_000  # characters of a page that is shown
_STOPPING_SECONDS = 15.0


class Chromium:
    """A browser without a window, for one page or many. Use it in a `with`, or call `start` and `close`.

    Pages are shown without network: no picture, style sheet, font or frame is fetched, no script runs. A page that
    takes too long, or crashes its tab, costs that page only.

    Args:
        width: of the window, in pixels.
        height: of the window.
        seconds: how long a page may take.
        tabs: how many pages `render_many` shows at the same time.
    """

    def __init__(self, *, width: int = WIDTH, height: int = HEIGHT, seconds: float = SECONDS, tabs: int = 2) -> None:
        for name, value, most in (("width", width, 4_000), ("height", height, 4_000), ("tabs", tabs, 64)):
            if not 1 <= value <= most:
                raise InputError(f"a browser's {name} is from 1 to {most:,}, not {value!r}")
        self.width, self.height, self.seconds, self.tabs = width, height, seconds, tabs
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open_tabs: Tabs | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the browser; most of a second.

        Raises:
            MissingExtra: Playwright is not installed.
            InputError: there is no Chromium, or it does not start.
        """
        need_browser()
        if self._thread is not None:
            raise InputError("this browser is running already")
        self._loop = asyncio.new_event_loop()
        # What a tab that is thrown away still had to say interests nobody.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        self._thread = threading.Thread(target=self._loop.run_forever, name="mainmatter-chromium", daemon=True)
        self._thread.start()
        try:
            self._open_tabs = self._submit(self._make_tabs()).result()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the browser; nothing happens if it is closed already."""
        loop, thread, tabs = self._loop, self._thread, self._open_tabs
        self._loop = self._thread = self._open_tabs = None
        if loop is None or thread is None:
            return
        if tabs is not None:
            stopping = asyncio.run_coroutine_threadsafe(tabs.stop(), loop)
            try:
                stopping.result(_STOPPING_SECONDS)
            except Exception:  # what does not stop ends with us: its pipes close
                stopping.cancel()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_STOPPING_SECONDS)
        if not thread.is_alive():
            loop.close()

    def render(self, document: Document, *, screenshot: bool = False) -> Rendering:
        """Show a page and measure its blocks.

        Args:
            document: the page.
            screenshot: take its picture too, which takes some tenths of a second.

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
        waiting: deque[tuple[int, Future[Shown] | None]] = deque()
        for document in documents:
            waiting.append((len(document), self._order(document, screenshot)))
            if len(waiting) > self.tabs:
                yield self._result(*waiting.popleft())
        while waiting:
            yield self._result(*waiting.popleft())

    def picture(self, html: str) -> bytes:
        """The picture of an HTML document of our own, as PNG; it may hold pictures as `data:` addresses.

        Raises:
            InputError: the browser is not running, or cannot show it.
        """
        shown = self._submit(self._tabs().show(Order(html, measure=False, screenshot=True))).result()
        if shown.screenshot is None:
            raise InputError(f"no picture: {shown.error}")
        return shown.screenshot

    def _order(self, document: Document, screenshot: bool) -> Future[Shown] | None:
        """Have a page shown; None for one that is too long."""
        html = safe_html(document, base=False)
        if len(html) > _LONGEST:
            return None
        return self._submit(self._tabs().show(Order(html, screenshot=screenshot)))

    def _result(self, blocks: int, future: Future[Shown] | None) -> Rendering:
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

    async def _make_tabs(self) -> Tabs:
        tabs = Tabs(width=self.width, height=self.height, seconds=self.seconds, count=self.tabs)
        await tabs.start()
        return tabs

    def _tabs(self) -> Tabs:
        if self._open_tabs is None:
            raise InputError("this browser is not running: use it in a with statement, or start it")
        return self._open_tabs

    def _submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)
