"""Plots: what they draw, and that any figures can be drawn."""

from __future__ import annotations

import re

import pytest

from mainmatter.lab.reports.charts import WIDTH, Words, differences, distributions, histogram, scatter

WORDS = Words("x", "A title", "A <description>", "A caption")


def numbers(svg: str, name: str, attribute: str) -> list[float]:
    return [float(one) for one in re.findall(rf'<{name} [^>]*?\b{attribute}="([-\d.]+)"', svg)]


def test_each_has_a_title_and_a_description() -> None:
    svg = histogram(WORDS, [("0", 1)])
    assert '<title id="x-t">A title</title><desc id="x-d">A &lt;description&gt;</desc>' in svg
    assert 'role="img" aria-labelledby="x-t x-d"' in svg
    assert "<figcaption>A caption</figcaption>" in svg


def test_bars_are_as_high_as_their_counts() -> None:
    assert numbers(histogram(WORDS, [("a", 4), ("", 1), ("", 0), ("b", 2)]), "rect", "height") == [150, 37.5, 0, 75]


def test_differences_stand_above_and_below_the_line() -> None:
    svg = differences(WORDS, [0.5, -0.25, 0.0])
    zero = numbers(svg, "line", "y1")[0]
    tops, heights = numbers(svg, "rect", "y"), numbers(svg, "rect", "height")
    assert heights[0] == pytest.approx(2 * heights[2], abs=0.2)
    assert tops[0] + heights[0] == pytest.approx(zero, abs=0.2)
    assert tops[2] == zero
    assert "+0.5" in svg
    assert "−0.25" in svg


def test_many_pages_are_few_bars() -> None:
    assert len(numbers(differences(WORDS, [i / 5000 for i in range(5000)]), "rect", "x")) == 200


def test_points_stand_at_their_figures_and_names_do_not_cover_each_other() -> None:
    points = [("good", 0.9, 0.8), ("as good", 0.9, 0.8), ("better", 1.0, 1.0), ("nothing", 0.0, 0.0)]
    svg = scatter(WORDS, points)
    x, y = numbers(svg, "circle", "cx"), numbers(svg, "circle", "cy")
    assert x[-1] == max(x)
    assert y[-1] == min(y)
    assert x[0] == min(x)
    names = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" class="strong"', svg)
    assert len(names) == 4
    assert len(set(names)) == 4


@pytest.mark.parametrize("values", [[], [0.5], [0.0] * 3, [1.0] * 1000, [0.0, 1.0]])
def test_any_scores_can_be_drawn(values: list[float]) -> None:
    svg = distributions(WORDS, [("a method with a name that is much too long to be shown in full", values)], 1.0)
    differences(WORDS, values)
    histogram(WORDS, [("", int(one)) for one in values])
    assert all(0 <= one <= WIDTH for one in numbers(svg, "rect", "x"))
    assert "nan" not in svg


def test_no_method_can_be_drawn() -> None:
    assert "circle" not in scatter(WORDS, [])
    assert "<svg" in distributions(WORDS, [], 100.0)
