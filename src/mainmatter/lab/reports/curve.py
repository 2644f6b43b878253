"""The learning curve as a picture (NCleaner, figure 4): SVG, drawn without any library; in a page of HTML; as PNG."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from mainmatter.errors import InputError, MissingExtra
from mainmatter.files import open_whole, write_whole
from mainmatter.lab.reports.html import environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mainmatter.lab.training.teach import CurvePoint, Lesson

ENDINGS = (".svg", ".png", ".html")
_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 48, 56
_TAUGHT, _SHIPPED = "#1b4965", "#b04a33"
_TYPE = 'font-family="sans-serif" font-size="13"'
_MOST_TICKS = 8
_LEAST_SPAN = 0.02  # of the upright axis: tiny differences must not look large


def check_ending(path: Path) -> None:
    """Check, before any work, that a curve can be drawn into a file of that name.

    Raises:
        InputError: the ending is not known.
        MissingExtra: .png needs matplotlib, .html Jinja2, which is not installed.
    """
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: the name of a curve's file must end in {', '.join(ENDINGS)}")
    if path.suffix.lower() == ".png":
        try:
            import matplotlib  # noqa: F401 - an extra
        except ImportError as error:
            raise MissingExtra("matplotlib", "plot") from error
    if path.suffix.lower() == ".html":
        environment()


def save_curve(lesson: Lesson, path: Path) -> None:
    """Draw the learning curve of a lesson; the ending of the file tells the format.

    Raises:
        InputError: the ending is not known.
        MissingExtra: .png needs matplotlib, which is not installed.
    """
    check_ending(path)
    match path.suffix.lower():
        case ".svg":
            write_whole(path, curve_svg(lesson.curve).encode("utf-8"))
        case ".html":
            from markupsafe import Markup  # an extra

            svg = Markup(curve_svg(lesson.curve))  # noqa: S704 - our own
            page = environment().get_template("curve.html").render(lesson=lesson, svg=svg)
            write_whole(path, page.encode("utf-8"))
        case _:
            _save_png(curve_svg(lesson.curve), path)


def curve_svg(curve: Sequence[CurvePoint]) -> str:
    """The learning curve as an SVG document: pages learned from, to the right by powers of two; the score, upwards.

    Raises:
        InputError: there are no points.
    """
    if not curve:
        raise InputError("a curve needs at least one point")
    low, high = _span(curve)
    most = math.log2(max(2, curve[-1].pages))

    def x(pages: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log2(max(1, pages)) / most

    def y(score: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - score) / (high - low)

    last, shipped = curve[-1].gain, curve[-1].gain.shipped
    line = _line(_LEFT, y(shipped), _WIDTH - _RIGHT, y(shipped), f'stroke="{_SHIPPED}" stroke-dasharray="6 4"')
    points = [(x(point.pages), y(point.gain.taught)) for point in curve]
    joined = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    interval = f'stroke="{_TAUGHT}" stroke-opacity="0.45"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" {_TYPE}>',
        (
            f"<title>Learning curve: {curve[-1].pages} pages teach {escape(last.metric)} {last.taught:.3f}; "
            f"as shipped {last.shipped:.3f}</title>"
        ),
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        *(_line(_LEFT, y(score), _WIDTH - _RIGHT, y(score), 'stroke="#dddddd"') for score in _ticks(low, high)),
        *(_text(_LEFT - 8, y(score) + 4, f"{score:.3g}", "end") for score in _ticks(low, high)),
        *(_text(x(point.pages), _HEIGHT - _BOTTOM + 20, f"{point.pages}") for point in curve),
        line,
        *(
            _line(x(each.pages), y(shipped + each.gain.low), x(each.pages), y(shipped + each.gain.high), interval)
            for each in curve
        ),
        f'<polyline fill="none" stroke="{_TAUGHT}" stroke-width="2" points="{joined}"/>',
        *(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="4" fill="{_TAUGHT}"/>' for across, up in points),
        _text(_LEFT, 22, f"taught ({curve[0].gain.metric}, 95 % interval of the gain)", "start", _TAUGHT),
        _text(_WIDTH - _RIGHT, 22, f"as shipped, {shipped:.3f}", "end", _SHIPPED),
        _text(middle, _HEIGHT - 12, "pages learned from"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", colour: str = "#333333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _span(curve: Sequence[CurvePoint]) -> tuple[float, float]:
    """The lowest and the highest score that is drawn."""
    shipped = curve[-1].gain.shipped
    scores = [shipped, *(point.gain.taught for point in curve)]
    scores += [shipped + end for point in curve for end in (point.gain.low, point.gain.high)]
    low, high = max(0.0, min(scores)), min(1.0, max(scores))
    margin = max(_LEAST_SPAN - (high - low), 0.1 * (high - low)) / 2
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Four to eight round numbers between two."""
    step = 10 ** math.floor(math.log10(high - low))
    step = next(step * part for part in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (step * part) <= _MOST_TICKS)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]


def _save_png(svg: str, path: Path) -> None:
    """Draw the shapes of the SVG document with matplotlib: the same picture."""
    from matplotlib.figure import Figure  # an extra

    figure = Figure(figsize=(_WIDTH / 100, _HEIGHT / 100), dpi=200)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, _WIDTH), ylim=(_HEIGHT, 0))
    axes.set_axis_off()
    for shape in ElementTree.fromstring(svg):  # noqa: S314 - our own
        style = shape.attrib
        colour = style.get("stroke", style.get("fill"))
        match shape.tag.rpartition("}")[2]:
            case "line":
                ends = ([float(style[f"{axis}{end}"]) for end in (1, 2)] for axis in "xy")
                dashes = "--" if "stroke-dasharray" in style else "-"
                axes.plot(*ends, dashes, color=colour, alpha=float(style.get("stroke-opacity", 1)), linewidth=0.72)
            case "polyline":
                corners = [tuple(map(float, corner.split(","))) for corner in style["points"].split()]
                axes.plot(*zip(*corners, strict=True), color=colour, linewidth=1.44)
            case "circle":
                axes.plot(float(style["cx"]), float(style["cy"]), "o", color=colour, markersize=5.8)
            case "text":
                side = {"start": "left", "middle": "center", "end": "right"}[style["text-anchor"]]
                place = float(style["x"]), float(style["y"])
                axes.text(
                    *place, shape.text or "", ha=side, va="baseline", color=colour, fontsize=9.4, parse_math=False
                )
    with open_whole(path) as file:
        figure.savefig(file, format="png")
