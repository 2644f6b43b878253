"""One browser for the whole process, started when first needed, closed at the end; and renderings that are kept."""

from __future__ import annotations

import os
import threading
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING

from mainmatter.html.browser.rendering import Rendering

if TYPE_CHECKING:
    from mainmatter.html.browser.chromium import Chromium
    from mainmatter.records import Document

_KEPT = "rendering"  # the attribute of a document that holds its rendering


class _Shared:
    """The process's browser. A fork has to start its own: the parent's is bound to a thread that a fork has not."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.chromium: Chromium | None = None

    def get(self) -> Chromium:
        with self.lock:
            if self.chromium is None:
                from mainmatter.html.browser.chromium import Chromium  # noqa: PLC0415 - asyncio takes its time

                chromium = Chromium()
                chromium.start()
                self.chromium = chromium
                # Unlike atexit, this is also done at the end of multiprocessing's children.
                Finalize(None, self.close, exitpriority=10)
            return self.chromium

    def close(self) -> None:
        with self.lock:
            chromium, self.chromium = self.chromium, None
        if chromium is not None:
            chromium.close()


_shared = _Shared()


def _forget_parents() -> None:
    global _shared  # noqa: PLW0603 - there is one a process
    _shared = _Shared()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)


def rendering_of(document: Document) -> Rendering:
    """The rendering of a document: the one that was kept with it, or a new one by the process's browser.

    May be called from any thread. A page that cannot be shown has a rendering that says so (`failed`).

    Raises:
        MissingExtra: Playwright is not installed.
        InputError: there is no Chromium, or it does not start.
    """
    kept = getattr(document, _KEPT, None)
    if isinstance(kept, Rendering) and len(kept) == len(document):
        return kept
    rendering = _shared.get().render(document)
    keep_rendering(document, rendering)
    return rendering


def keep_rendering(document: Document, rendering: Rendering) -> None:
    """Keep a rendering with a document, for all who ask for it later."""
    vars(document)[_KEPT] = rendering  # it is frozen
