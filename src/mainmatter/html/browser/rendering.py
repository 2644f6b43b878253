"""What a browser measures on a page: `Rendering`; and `rendering_of`, with one browser for the whole process."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, fields
from io import BytesIO
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar
from zipfile import BadZipFile

import numpy as np

from mainmatter.errors import InputError
from mainmatter.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from mainmatter.html.browser.chromium import Chromium
    from mainmatter.records import Document

VERSION = 1  # counts up when what is measured changes, so that older files are refused
_PIECE, _LINE = 11, 5  # numbers that measure.js gives for a piece of a block, and for a line of it
_KEPT = "rendering"  # the attribute of a document that holds its rendering


@dataclass(frozen=True, eq=False)
class Rendering:
    """A page as a browser shows it. Places are in pixels from the upper left corner; one row or entry a block.

    Attributes:
        width: of the page; wider than the window where something sticks out.
        height: of the whole page.
        fold: the height of the window: what a reader sees without scrolling.
        boxes: left, top, width and height of each block: the smallest box around its lines; 0 if it is not shown.
        lines: left, top, width and height of each line of text; a line with links is several.
        line_blocks: the block that each line belongs to.
        font_sizes: in pixels, of most of the block's text.
        weights: 400 is normal, 700 bold.
        colours: red, green, blue (0 to 255) of the text.
        backgrounds: the same for what is behind it; background pictures are ignored.
        visible: whether a reader can see any of it: it is not hidden, transparent, cut off, or outside the page.
        note: what went wrong, if something did: the page took too long, or ends below what is measured.
        failed: nothing is known, because the page could not be shown.
        screenshot: the page as PNG, if requested; very long pages are cut.
    """

    width: int
    height: int
    fold: int
    boxes: NDArray[np.float32]
    lines: NDArray[np.float32]
    line_blocks: NDArray[np.int32]
    font_sizes: NDArray[np.float32]
    weights: NDArray[np.float32]
    colours: NDArray[np.uint8]
    backgrounds: NDArray[np.uint8]
    visible: NDArray[np.bool_]
    note: str = ""
    failed: bool = False
    screenshot: bytes | None = None

    def __len__(self) -> int:
        return len(self.visible)

    @property
    def contrasts(self) -> NDArray[np.float64]:
        """The contrast ratio of each block's text, from 1 (the colour of its background) to 21 (WCAG 2, 1.4.3)."""
        one, other = _luminance(self.colours), _luminance(self.backgrounds)
        ratio: NDArray[np.float64] = (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)
        return ratio

    @classmethod
    def nothing(cls, blocks: int, note: str, fold: int = 0) -> Self:
        """A page of so many blocks that could not be shown, and why."""
        return cls(
            width=0,
            height=0,
            fold=fold,
            boxes=np.zeros((blocks, 4), np.float32),
            lines=np.zeros((0, 4), np.float32),
            line_blocks=np.zeros(0, np.int32),
            font_sizes=np.zeros(blocks, np.float32),
            weights=np.zeros(blocks, np.float32),
            colours=np.zeros((blocks, 3), np.uint8),
            backgrounds=np.zeros((blocks, 3), np.uint8),
            visible=np.zeros(blocks, np.bool_),
            note=note,
            failed=True,
        )

    @classmethod
    def measured(
        cls, blocks: int, found: Mapping[str, Any], *, fold: int, note: str = "", screenshot: bytes | None = None
    ) -> Self:
        """Make one from what measure.js found on a page of so many blocks."""
        pieces = np.array(found["pieces"], np.float64).reshape(-1, _PIECE)
        lines = np.array(found["lines"], np.float32).reshape(-1, _LINE)
        pieces = pieces[(pieces[:, 0] >= 0) & (pieces[:, 0] < blocks)]
        lines = lines[(lines[:, 0] >= 0) & (lines[:, 0] < blocks)]
        owners = lines[:, 0].astype(np.int32)
        looks = np.zeros((blocks, _PIECE))
        # The longest piece that is shown says what a block looks like: it is written last.
        order = np.lexsort((pieces[:, 1], pieces[:, 2]))
        looks[pieces[order, 0].astype(np.intp)] = pieces[order]
        return cls(
            width=int(found["width"]),
            height=int(found["height"]),
            fold=fold,
            boxes=_boxes(blocks, lines[:, 1:], owners),
            lines=np.ascontiguousarray(lines[:, 1:]),
            line_blocks=owners,
            font_sizes=looks[:, 3].astype(np.float32),
            weights=looks[:, 4].astype(np.float32),
            colours=looks[:, 5:8].astype(np.uint8),
            backgrounds=looks[:, 8:11].astype(np.uint8),
            visible=looks[:, 2] > 0,
            note=note,
            screenshot=screenshot,
        )

    def save(self, path: Path) -> None:
        """Write it into a file (NumPy's .npz), whole or not at all."""
        buffer = BytesIO()
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        screenshot = np.frombuffer(values.pop("screenshot") or b"", np.uint8)
        np.savez_compressed(buffer, version=VERSION, screenshot=screenshot, **values)
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read it from a file.

        Raises:
            InputError: there is no such file, or it is not a rendering, or one of another version.
        """
        try:
            with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as stored:
                values = {name: stored[name] for name in stored.files}
            if int(values.pop("version")) != VERSION:
                raise InputError(f"{path}: a rendering of another version; render the page again")
            screenshot = values.pop("screenshot").tobytes() or None
            plain = {name: value.item() if value.ndim == 0 else value for name, value in values.items()}
            return cls(**plain, screenshot=screenshot)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (BadZipFile, EOFError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: not a rendering: {error}") from error


def _boxes(blocks: int, lines: NDArray[np.float32], owners: NDArray[np.int32]) -> NDArray[np.float32]:
    """The smallest box around the lines of each block."""
    low, high = np.full((blocks, 2), np.inf, np.float32), np.full((blocks, 2), -np.inf, np.float32)
    np.minimum.at(low, owners, lines[:, :2])
    np.maximum.at(high, owners, lines[:, :2] + lines[:, 2:])
    boxes = np.zeros((blocks, 4), np.float32)
    shown = np.isfinite(low[:, 0])
    boxes[shown] = np.hstack([low[shown], high[shown] - low[shown]])
    return boxes


def _luminance(colours: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The relative luminance of colours (WCAG 2)."""
    parts = colours / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    luminance: NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return luminance


class _Closable(Protocol):
    def close(self) -> None: ...


Browser = TypeVar("Browser", bound=_Closable)


class SharedBrowser(Generic[Browser]):
    """The process's one browser of a kind, started when it is first needed, closed at the end of the process.

    A fork has to start its own: the parent's is bound to a thread that the fork does not have.

    Args:
        start: starts it.
    """

    def __init__(self, start: Callable[[], Browser]) -> None:
        self._start = start
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._browser: Browser | None = None

    def get(self) -> Browser:
        """The browser; it may be used from any thread."""
        with self._lock:
            if self._browser is None:
                self._browser = self._start()
                # Unlike atexit, this is also done at the end of multiprocessing's children.
                Finalize(None, self.close, exitpriority=10)
            return self._browser

    def close(self) -> None:
        """Close the browser, if there is one; the next `get` starts another."""
        with self._lock:
            browser, self._browser = self._browser, None
        if browser is not None:
            browser.close()


def _start_chromium() -> Chromium:
    from mainmatter.html.browser.chromium import Chromium  # asyncio takes its time

    chromium = Chromium()
    chromium.start()
    return chromium


_shared = SharedBrowser(_start_chromium)


def rendering_of(document: Document) -> Rendering:
    """The rendering of a document: the one that is stored with it, or a new one by the process's browser.

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
    """Store a rendering with a document, for later use."""
    vars(document)[_KEPT] = rendering  # it is frozen
