"""FIASCO 3.3: what each target node looks like when the page is rendered.

Regions: lines of text that are near one another flow together into blobs. The paper takes the page's picture, finds out
with bright purple blocks where the text of a node is, and blurs the picture until lines coalesce. A browser of today
says where each line is. So the picture that is blurred here shows the lines of text as bars and nothing else: pictures,
borders and backgrounds cannot be taken for text.

The paper has five measures of the region that a block is part of. It says what each measures, but not how it is scaled;
table 1 has values of four regions, two ragged lists (I, II) and two of running text (III, IV):

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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import MissingExtra
from mainmatter.html.browser.rendering import rendering_of
from mainmatter.records import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.html.browser.rendering import Rendering
    from mainmatter.records import Document


# The regions of a page

# All in units of a usual line's height. With these, lines flow together that have less than 0.8 of a line between
# them, as they do in lists and in running text up to twice the usual spacing; paragraphs with a blank line do not.
_KERNEL = 1.2
_ENOUGH_INK = 0.35  # of the kernel's area
_CORNER = 0.8  # a polygon's corners stand out at least by this; else round edges would have several
_SCALE = 0.5  # of the picture; the browser's pixels are finer than needed
_MOST_PIXELS = 16_000_000  # of the picture; a page that is higher is drawn smaller


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """The blobs of a page, and which blob each block is part of.

    Attributes:
        of_blocks: the number of the region that holds most of each block; -1 for one that is not shown.
        widths: of the text in each region, in the page's pixels; blurring has made the region itself a little larger.
        heights: the same.
        areas: of the outline, as a share of the region's bounding rectangle.
        corners: how many vertices the polygon around the region has.
        spreads: the mean distance of its vertices from the middle of the rectangle, sidewards, in pixels.
        line: the height of a usual line of text.
    """

    of_blocks: NDArray[np.intp]
    widths: NDArray[np.float64]
    heights: NDArray[np.float64]
    areas: NDArray[np.float64]
    corners: NDArray[np.float64]
    spreads: NDArray[np.float64]
    line: float


def need_opencv() -> Any:  # the module; its types say little
    """OpenCV.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import cv2  # an extra
    except ImportError as error:
        raise MissingExtra("opencv-python-headless", "visual") from error
    return cv2


def find_regions(rendering: Rendering) -> Regions:
    """Blur a page's text until lines flow together, and draw a polygon around each blob.

    Raises:
        MissingExtra: OpenCV is not installed.
    """
    cv2 = need_opencv()
    nobody = np.full(len(rendering), -1, np.intp)
    lines = rendering.lines.astype(np.float64)
    if not len(lines):
        none = np.zeros(0)
        return Regions(nobody, none, none, none, none, none, 1.0)
    line = usual_line(lines)
    scale = min(_SCALE, float(np.sqrt(_MOST_PIXELS / np.prod((lines[:, :2] + lines[:, 2:]).max(axis=0)))))
    text = _draw(lines, scale, margin=_reach(line * scale))
    size = 2 * _reach(line * scale) + 1
    blurred = cv2.blur(text, (size, size), borderType=cv2.BORDER_CONSTANT)
    blobs = ((blurred > 255 * _ENOUGH_INK) | (text > 0)).astype(np.uint8)
    count, labels = cv2.connectedComponents(blobs, connectivity=8)
    outlines, nesting = cv2.findContours(blobs, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    shapes = np.zeros((count, 3))
    for outline, (_, _, _, parent) in zip(outlines, nesting[0], strict=True):
        if parent < 0:  # else it is the edge of a hole
            x, y = outline[0, 0]
            shapes[labels[y, x]] = _shape(cv2, outline, line * scale)
    margin = _reach(line * scale)
    centres = ((lines[:, :2] + lines[:, 2:] / 2) * scale).astype(np.intp) + margin
    of_lines = labels[centres[:, 1], centres[:, 0]]
    areas, corners, spreads = shapes.T
    sizes = _extents(lines, of_lines, count)
    return Regions(
        of_blocks=_most(nobody, rendering.line_blocks, of_lines, lines[:, 2] * lines[:, 3]),
        widths=sizes[:, 0],
        heights=sizes[:, 1],
        areas=areas,
        corners=corners,
        spreads=spreads / scale,
        line=line,
    )


def usual_line(lines: NDArray[np.float64]) -> float:
    """The height of the line of text that most of a page's text has."""
    order = np.argsort(lines[:, 3])
    widths = np.cumsum(lines[order, 2])
    return float(max(1.0, lines[order[np.searchsorted(widths, widths[-1] / 2)], 3]))


def _reach(line: float) -> int:
    """How far the kernel reaches to each side, in pixels of the picture."""
    return max(1, round((_KERNEL * line - 1) / 2))


def _draw(lines: NDArray[np.float64], scale: float, margin: int) -> NDArray[np.uint8]:
    """The lines of text as bars, with an empty margin around."""
    starts = np.floor(lines[:, :2] * scale).astype(np.intp) + margin
    ends = np.maximum(np.ceil((lines[:, :2] + lines[:, 2:]) * scale).astype(np.intp) + margin, starts + 1)
    width, height = ends.max(axis=0) + margin + 1
    text = np.zeros((height, width), np.uint8)
    for (left, top), (right, bottom) in zip(starts.tolist(), ends.tolist(), strict=True):
        text[top:bottom, left:right] = 255
    return text


def _shape(cv2: Any, outline: NDArray[np.int32], line: float) -> list[float]:
    """The share of the bounding rectangle, the number of corners, and their mean distance from the middle."""
    polygon = cv2.approxPolyDP(outline, _CORNER * line, closed=True)[:, 0]
    low, high = outline[:, 0].min(axis=0), outline[:, 0].max(axis=0)
    width, height = (float(each) for each in high - low)
    # The outline goes through the middles of pixels. So does this rectangle. The polygon would have too few corners to
    # have the region's area.
    area = cv2.contourArea(outline) / max(1.0, width * height)
    spread = float(np.abs(polygon[:, 0] - (low[0] + high[0]) / 2).mean())
    return [area, float(len(polygon)), spread]


def _extents(lines: NDArray[np.float64], of_lines: NDArray[np.int32], count: int) -> NDArray[np.float64]:
    """The width and the height of the text in each region."""
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    np.minimum.at(low, of_lines, lines[:, :2])
    np.maximum.at(high, of_lines, lines[:, :2] + lines[:, 2:])
    return np.where(np.isfinite(low), high - low, 0.0)


def _most(
    of_blocks: NDArray[np.intp], blocks: NDArray[np.int32], regions: NDArray[np.int32], areas: NDArray[np.float64]
) -> NDArray[np.intp]:
    """For each block, the region that holds most of its area."""
    pairs, inverse = np.unique(np.stack([blocks, regions], axis=1), axis=0, return_inverse=True)
    held = np.bincount(inverse.reshape(-1), weights=areas)
    order = np.argsort(held, kind="stable")  # the largest is written last
    of_blocks[pairs[order, 0]] = pairs[order, 1]
    return of_blocks


# The paper's five measures

VISUAL = ("solidity_1", "solidity_2", "solidity_3", "relative_width", "headline")
_RECTANGLE = 4  # vertices


def need_rendering() -> None:
    """Check this before any work.

    Raises:
        MissingExtra: Playwright or OpenCV is not installed.
        InputError: there is no Chromium.
    """
    need_opencv()
    from mainmatter.html.browser.chromium import need_browser  # asyncio takes its time

    need_browser()


def visual_features(document: Document) -> NDArray[np.float64]:
    """The features of each target node, one row a block, one column for each name in `VISUAL`; 0 where not shown.

    The page is rendered if no rendering is kept with it (html/browser/rendering.py).

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
    is_heading = np.array([kind == Kind.HEADING for kind in document.columns.kinds], np.bool_) & rendering.visible
    # The mean height of the page's headlines; of a page without any, that of a usual line.
    headline = float(rendering.boxes[is_heading, 3].mean()) if is_heading.any() else regions.line
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
