"""FIASCO 3.3: what the page region of each target node looks like when the page is rendered.

Five measures of the blob that a block is part of (visual_regions.py). The paper says what each measures, but not how it
is scaled; table 1 has values of four regions, two ragged lists (I, II) and two of running text (III, IV):

solidity_1      the area of the polygon around the region / that of its bounding rectangle (table 1: 0.71 to 0.99)
solidity_2      the polygon's vertices / the region's height in lines. Running text has 0.00 in table 1, so the four
                that every rectangle has are not counted here.
solidity_3      the mean distance of the vertices from the rectangle's middle, sidewards. Of two rectangles as wide as
                the widest region both have 0.61 in table 1, narrow ones 0.1: so it is in widths of the widest region.
relative_width  the region's width / that of the widest region of the page
headline        1 - the relative difference between the region's height and the mean height of headlines, at least 0:
                in table 1 all regions have 0.00 but one of few lines
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.html.browser.finding import need_browser
from mainmatter.html.browser.shared import rendering_of
from mainmatter.papers.fiasco.visual_regions import find_regions, need_opencv
from mainmatter.records import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.html.browser.rendering import Rendering
    from mainmatter.papers.fiasco.visual_regions import Regions
    from mainmatter.records import Document

VISUAL = ("solidity_1", "solidity_2", "solidity_3", "relative_width", "headline")
_RECTANGLE = 4  # vertices


def need_rendering(*, opencv: bool = True) -> None:
    """Complain early.

    Raises:
        MissingExtra: Playwright or OpenCV is not installed.
        InputError: there is no Chromium.
    """
    if opencv:
        need_opencv()
    need_browser()


def visual_features(document: Document) -> NDArray[np.float64]:
    """The features of each target node, one row a block, one column for each name in `VISUAL`; 0 where not shown.

    The page is rendered if no rendering is kept with it (html/browser/shared.py).

    Raises:
        MissingExtra: Playwright or OpenCV is not installed.
        InputError: there is no Chromium, or it does not start.
    """
    need_opencv()
    return measure_regions(rendering_of(document), document)


def measure_regions(rendering: Rendering, document: Document) -> NDArray[np.float64]:
    """The same, of a rendering."""
    regions = find_regions(rendering)
    values = np.zeros((len(document), len(VISUAL)))
    shown = np.flatnonzero(regions.of_blocks >= 0)
    if not len(shown):
        return values
    mine = regions.of_blocks[shown]
    widest = max(1.0, float(regions.widths[mine].max()))
    heights = regions.heights[mine]
    headline = _headline_height(rendering, document, regions)
    values[shown] = np.stack(
        [
            regions.areas[mine],
            np.maximum(regions.corners[mine] - _RECTANGLE, 0) / np.maximum(heights / regions.line, 1),
            regions.spreads[mine] / widest,
            regions.widths[mine] / widest,
            np.maximum(0, 1 - np.abs(heights - headline) / headline),
        ],
        axis=1,
    )
    return values


def _headline_height(rendering: Rendering, document: Document, regions: Regions) -> float:
    """The mean height of the page's headlines; of a page without any, that of a usual line."""
    is_heading = np.array([kind == Kind.HEADING for kind in document.columns.kinds], np.bool_) & rendering.visible
    return float(rendering.boxes[is_heading, 3].mean()) if is_heading.any() else regions.line
