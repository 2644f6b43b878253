"""What a browser tells about blocks besides the five measures of FIASCO 3.3: size, colour and place of the text.

The paper looked at local maps of luminance, colour and texture and found little in them. These are what today's style
sheets decide: how large the text is beside the page's running text, how it stands out, in which column it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.html.browser.shared import rendering_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.html.browser.rendering import Rendering
    from mainmatter.records import Document

LAYOUT = (
    "rendered",
    "visible",
    "font_size",
    "weight",
    "contrast",
    "other_background",
    "left",
    "right",
    "top",
    "width_share",
    "area_share",
    "above_fold",
    "in_main_column",
    "line_count",
    "line_chars",
)
_HIGHEST_CONTRAST = 21.0
_SAME_COLUMN = 8.0  # pixels between left edges that readers take for one


def layout_features(document: Document) -> NDArray[np.float64]:
    """The features of each block, one row a block, one column for each name in `LAYOUT`.

    All are 0 on a page that could not be shown, all but `rendered` for a block that readers do not see. The page is
    rendered if no rendering is kept with it (html/browser/shared.py).

    Raises:
        MissingExtra: Playwright is not installed.
        InputError: there is no Chromium, or it does not start.
    """
    return measure_layout(rendering_of(document), document)


def measure_layout(rendering: Rendering, document: Document) -> NDArray[np.float64]:
    """The same, of a rendering."""
    values = np.zeros((len(document), len(LAYOUT)))
    if rendering.failed:
        return values
    values[:, 0] = 1
    shown = np.flatnonzero(rendering.visible)
    if len(shown):
        values[shown, 1:] = np.stack(_of_shown(rendering, document, shown), axis=1)
    return values


def _of_shown(rendering: Rendering, document: Document, shown: NDArray[np.intp]) -> list[NDArray[np.float64]]:
    """The columns after the first, of the blocks that readers see."""
    chars = np.maximum(document.lengths[shown], 1).astype(np.float64)
    left, top, width, height = rendering.boxes[shown].astype(np.float64).T
    sizes = np.maximum(rendering.font_sizes[shown].astype(np.float64), 1)
    backgrounds = rendering.backgrounds[shown].astype(np.int64) @ (1 << 16, 1 << 8, 1)
    areas = width * height
    lines = np.maximum(_rows(rendering)[shown], 1)
    return [
        np.ones(len(shown)),
        np.clip(np.log2(sizes / _usual(sizes, chars)), -3, 3),
        np.clip((rendering.weights[shown] - 400) / 300, -1, 2),
        np.log(rendering.contrasts[shown]) / np.log(_HIGHEST_CONTRAST),
        (backgrounds != _usual(backgrounds, chars)).astype(np.float64),
        np.minimum(left / max(1, rendering.width), 1),
        np.minimum((left + width) / max(1, rendering.width), 1),
        np.minimum(top / max(1, rendering.height), 1),
        np.minimum(width / max(1, rendering.width), 1),
        np.sqrt(areas / max(1.0, float(areas.sum()))),
        (top < rendering.fold).astype(np.float64),
        (np.abs(left - _usual(left, areas)) < _SAME_COLUMN).astype(np.float64),
        np.log1p(lines),
        np.log1p(chars / lines),
    ]


def _usual(values: NDArray[np.float64] | NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """The value that most of the weight has."""
    different, places = np.unique(values, return_inverse=True)
    return float(different[np.bincount(places.reshape(-1), weights=weights).argmax()])


def _rows(rendering: Rendering) -> NDArray[np.float64]:
    """How many lines of text each block has: pieces of text that begin at the same height are one line."""
    middles = np.round((rendering.lines[:, 1] + rendering.lines[:, 3] / 2) / 6).astype(np.int64)
    different = np.unique(np.stack([rendering.line_blocks.astype(np.int64), middles], axis=1), axis=0)
    return np.bincount(different[:, 0], minlength=len(rendering)).astype(np.float64)
