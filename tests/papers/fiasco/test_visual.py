"""FIASCO 3.3 on renderings that are written by hand: no browser, so that the figures are known."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from mainmatter.errors import MissingExtra
from mainmatter.html.browser.rendering import Rendering, keep_rendering
from mainmatter.papers.fiasco.visual import (
    VISUAL,
    find_regions,
    measure_regions,
    visual_features,
)
from mainmatter.records import Document, Page

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 1000


def rendered(blocks: list[list[tuple[int, int, int, int]]], tag: str = "p") -> tuple[Document, Rendering]:
    """A page whose blocks have these lines: left, top, width and height; one without lines is not visible."""
    document = mainmatter.read(Page("".join(f"<{tag}>Text{' and more' * len(lines)}</{tag}>" for lines in blocks)))
    lines = [line for block in blocks for line in block]
    pieces = [[number, 10, len(block) > 0, 16, 400, 0, 0, 0, 255, 255, 255] for number, block in enumerate(blocks)]
    found = {
        "width": WIDTH,
        "height": 2000,
        "pieces": [number for piece in pieces for number in piece],
        "lines": [number for i, block in enumerate(blocks) for line in block for number in (i, *line)],
    }
    assert len(lines) == sum(map(len, blocks))
    return document, Rendering.measured(len(blocks), found, fold=900)


def measured(blocks: list[list[tuple[int, int, int, int]]], tag: str = "p") -> NDArray[np.float64]:
    document, rendering = rendered(blocks, tag)
    return measure_regions(rendering, document)


def paragraph(top: int, lines: int, left: int = 0, width: int = 600) -> list[tuple[int, int, int, int]]:
    return [(left, top + 24 * line, width, 18) for line in range(lines)]


RAGGED = [[(700, 24 * line, 60 + 45 * (line * 3 % 5), 18)] for line in range(10)]


def test_running_text_beside_a_ragged_list() -> None:
    pytest.importorskip("cv2")
    values = measured([paragraph(0, 10), *RAGGED])
    text, items = dict(zip(VISUAL, values[0], strict=True)), dict(zip(VISUAL, values[1], strict=True))
    assert (values[1:] == values[1]).all()  # the items of a list flow together into one region
    # FIASCO, table 1: 0.97 and 0.99 against 0.71 and 0.88, 0 against 1.3, 0.61 against 0.1, 1 against 0.53 and 0.6
    assert text["solidity_1"] > 0.97 > 0.85 > items["solidity_1"]
    assert text["solidity_2"] == 0
    assert items["solidity_2"] > 0.5
    assert text["solidity_3"] == pytest.approx(0.5, abs=0.02)
    assert items["solidity_3"] < 0.2
    assert text["relative_width"] == 1
    assert items["relative_width"] == pytest.approx(240 / 600)


def test_paragraphs_stay_apart_and_lines_do_not() -> None:
    pytest.importorskip("cv2")
    _, rendering = rendered([paragraph(0, 4), paragraph(4 * 24 + 18, 4), paragraph(400, 1)])
    regions = find_regions(rendering)
    assert len(set(regions.of_blocks.tolist())) == 3
    assert regions.line == 18
    assert regions.heights[regions.of_blocks[0]] == 3 * 24 + 18
    _, rendering = rendered([[(0, 24 * line, 300, 18)] for line in range(5)])
    assert len(set(find_regions(rendering).of_blocks.tolist())) == 1


def test_columns_stay_apart_and_words_of_a_menu_do_not() -> None:
    pytest.importorskip("cv2")
    _, rendering = rendered([paragraph(0, 4, 0, 300), paragraph(0, 4, 330, 300)])
    assert len(set(find_regions(rendering).of_blocks.tolist())) == 2
    _, rendering = rendered([[(60 * number, 0, 50, 18)] for number in range(6)])
    assert len(set(find_regions(rendering).of_blocks.tolist())) == 1


def test_headlines() -> None:
    pytest.importorskip("cv2")
    headline = VISUAL.index("headline")
    values = measured([[(0, 0, 300, 36)], [(0, 200, 300, 18)]], "h2")
    assert values[:, headline] == pytest.approx([1 - 9 / 27] * 2)  # their mean height is 27
    # Without headlines it is a single line that counts as one; far higher regions have nothing of it.
    values = measured([[(0, 0, 300, 18)], paragraph(200, 9)])
    assert values[0, headline] == 1
    assert values[1, headline] == 0


def test_small_print_and_the_unseen() -> None:
    pytest.importorskip("cv2")
    values = measured([paragraph(0, 10), [(0, 500, 200, 5)], []])
    assert values[1, 0] > 0.8  # thinner than what the kernel asks for, and yet a region
    assert values[2].tolist() == [0] * len(VISUAL)
    assert measured([[], []]).tolist() == [[0] * len(VISUAL)] * 2
    assert measured([]).shape == (0, len(VISUAL))


def test_a_very_high_page_is_drawn_smaller() -> None:
    pytest.importorskip("cv2")
    near = measured([paragraph(0, 10), *RAGGED])
    far = measured([paragraph(0, 10), *RAGGED, paragraph(190_000, 10)])
    assert far[:11] == pytest.approx(near, abs=0.2)


def test_a_rendering_that_is_kept_is_used() -> None:
    pytest.importorskip("cv2")
    document, rendering = rendered([paragraph(0, 10), []])
    keep_rendering(document, rendering)
    assert np.array_equal(visual_features(document), measure_regions(rendering, document))


def test_a_page_that_could_not_be_shown() -> None:
    pytest.importorskip("cv2")
    document = mainmatter.read(Page("<p>one<p>two"))
    keep_rendering(document, Rendering.nothing(2, "took too long"))
    assert not visual_features(document).any()


def test_opencv_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    document, rendering = rendered([paragraph(0, 10)])
    keep_rendering(document, rendering)
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtra, match=r"opencv.*mainmatter\[visual\]"):
        visual_features(document)
