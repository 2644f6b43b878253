"""The smoothed density curve of the paper's section 6."""

from __future__ import annotations

import numpy as np
import pytest

from mainmatter.errors import InputError
from mainmatter.papers.density.method import Density
from mainmatter.papers.density.smoothing import Edge, smooth_curve, smooth_region
from mainmatter.records import Columns, Document, Page

# Two hills, the second one higher, with a valley at 10.
LENGTHS = np.array(
    [round(100 * np.exp(-(((i - 5) / 3) ** 2)) + 160 * np.exp(-(((i - 15) / 3) ** 2))) for i in range(21)]
)
POSITIONS = list(range(21))


def test_the_curve_is_the_polynomial_nearest_by_least_squares() -> None:
    rng = np.random.default_rng(6)
    positions = sorted(rng.choice(60, 25, replace=False).tolist())
    lengths = rng.integers(1, 200, 25)
    values = np.zeros(positions[-1] + 1)
    values[positions] = lengths  # strings without text have the length 0
    places = np.arange(len(values))
    for degree in (1, 2, 5):
        expected = np.polyval(np.polyfit(places, values, degree), places)
        assert smooth_curve(lengths, positions, degree)(places) == pytest.approx(expected)


@pytest.mark.parametrize(("edge", "share"), [("minimum", 0), ("inflection", 0), ("cutoff", 0.2), ("cutoff", 0.6)])
def test_the_region_ends_where_the_curve_says(edge: Edge, share: float) -> None:
    curve = np.polyfit(POSITIONS, LENGTHS, 8)
    heights, slopes, bends = (np.polyval(np.polyder(curve, order), POSITIONS) for order in range(3))
    top = int(heights.argmax())
    assert top in (14, 15, 16)

    def goes_on(place: int, direction: int) -> bool:
        if edge == "minimum":
            return bool(slopes[place] * direction <= 0)
        return bool(bends[place] < 0 if edge == "inflection" else heights[place] > share * heights[top])

    first = last = top
    while first > 0 and goes_on(first - 1, -1):
        first -= 1
    while last < 20 and goes_on(last + 1, 1):
        last += 1
    assert smooth_region(LENGTHS, POSITIONS, 8, edge, share) == (first, last)
    assert 8 <= first < last <= 20  # the other hill is not part of it


def test_the_region_is_kept_and_says_why() -> None:
    document = Document(Page(""), Columns.of(["x" * (length + 1) for length in LENGTHS], positions=POSITIONS))
    found = Density(smoothing=8, edge="minimum").extract(document)
    first, last = smooth_region(LENGTHS + 1, POSITIONS, 8, "minimum", 0)
    assert np.flatnonzero(found.kept).tolist() == list(range(first, last + 1))
    assert found.reasons[15] == "around the highest point of the smoothed density curve"
    assert found.reasons[2] == "outside the dense region"


@pytest.mark.parametrize("degree", [1, 8, 64])
@pytest.mark.parametrize("edge", ["cutoff", "minimum", "inflection"])
@pytest.mark.parametrize("positions", [[0], [7], [0, 1], [0, 500], list(range(0, 90, 3))])
def test_any_page_has_a_region(degree: int, edge: Edge, positions: list[int]) -> None:
    lengths = np.arange(len(positions)) % 7 + 1
    first, last = smooth_region(lengths, positions, degree, edge, 0.333)
    assert 0 <= first <= last < len(positions)


def test_where_the_highest_point_has_no_text_the_longest_one_is_kept() -> None:
    # A parabola through two texts at the ends of many empty strings is highest at an end, and positive nowhere else;
    # with the whole height as cutoff nothing but that place is left.
    assert smooth_region(np.array([5, 9]), [3, 40], 2, "cutoff", 1.0) == (1, 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strings": "words"}, "strings must be one of blocks, tags, not 'words'"),
        ({"edge": "middle"}, "edge must be one of cutoff, minimum, inflection, not 'middle'"),
        ({"smoothing": -1}, "smoothing must be a whole number from 0 to 64, not -1"),
        ({"smoothing": 65}, "smoothing must be a whole number from 0 to 64, not 65"),
    ],
)
def test_wrong_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Density(**parameters)  # type: ignore[arg-type]
