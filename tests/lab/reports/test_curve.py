"""The learning curve as a picture."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from mainmatter.errors import InputError, MissingExtra
from mainmatter.lab.reports.curve import check_ending, curve_svg, save_curve
from mainmatter.lab.training.teach import CurvePoint, Gain, teach
from teaching_pages import boards
from toys import hide_package

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.lab.training.teach import Lesson


def point(pages: int, taught: float, margin: float = 0.05) -> CurvePoint:
    gain = taught - 0.5
    return CurvePoint(pages, 100 * pages, 5, Gain("bag f1", 10, 0.5, taught, gain - margin, gain + margin, 0.01, 7, 2))


def heights(svg: str) -> list[float]:
    return [float(height) for height in re.findall(r'<circle [^>]*cy="([\d.]+)"', svg)]


def test_better_is_higher_and_more_pages_are_farther_right() -> None:
    svg = curve_svg([point(1, 0.4), point(2, 0.6), point(4, 0.8)])
    assert len(heights(svg)) == 3
    assert heights(svg) == sorted(heights(svg), reverse=True)
    right = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', svg)]
    assert right[1] - right[0] == pytest.approx(right[2] - right[1])  # by powers of two
    line = re.search(r'y1="([\d.]+)"[^>]*stroke-dasharray', svg)
    assert line is not None
    assert heights(svg)[1] < float(line[1]) < heights(svg)[0]  # of the shipped model


@pytest.mark.parametrize("curve", [[point(1, 0.5, 0)], [point(3, 0.5)], [point(1, 0), point(2, 1)], [point(1, 0.5, 9)]])
def test_odd_curves_can_be_drawn(curve: list[CurvePoint]) -> None:
    svg = curve_svg(curve)
    ElementTree.fromstring(svg)
    assert "nan" not in svg
    assert len(heights(svg)) == len(curve)


def test_no_point_is_no_curve() -> None:
    with pytest.raises(InputError, match="at least one point"):
        curve_svg([])


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return teach(boards(5), "ncleaner")


@pytest.mark.parametrize("name", ["curve.svg", "curve.PNG", "deep/curve.html"])
def test_the_ending_tells_the_format(tmp_path: Path, lesson: Lesson, name: str) -> None:
    save_curve(lesson, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert data.startswith({"g": b"<svg", "G": b"\x89PNG", "l": b"<!doctype html>"}[name[-1]])
    if name.endswith("html"):
        assert escape(lesson.verdict).encode() in data
        assert data.count(b'<th scope="row">') == len(lesson.curve)


def test_other_endings_and_a_missing_library_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"must end in \.svg"):
        check_ending(tmp_path / "curve.gif")
    hide_package(monkeypatch, "matplotlib")
    with pytest.raises(MissingExtra):
        check_ending(tmp_path / "curve.png")
    check_ending(tmp_path / "curve.svg")
