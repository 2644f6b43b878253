"""A picture of accuracy against time: the best stand at the top left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OURS, _THEIRS = "#1b7837", "#762a83"
_FONT = 8
# Where a name may stand beside its point, in points of type: right, left, above, below; the first that is free.
_PLACES = tuple((x, y, side) for y in (0, 8, -8, 16, -16, 24, -24) for x, side in ((7, "left"), (-7, "right")))


@dataclass(frozen=True, slots=True)
class Point:
    """A contestant: its name, milliseconds a page, a score from 0 to 1, and whether it is a method of ours."""

    name: str
    milliseconds: float
    score: float
    ours: bool


def save_tradeoff(panels: Sequence[tuple[str, Sequence[Point]]], paths: Sequence[Path]) -> None:
    """Draw titled panels of points side by side into files; their endings tell the formats.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    figure = plot_tradeoff(panels)
    for path in paths:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def plot_tradeoff(panels: Sequence[tuple[str, Sequence[Point]]]) -> Figure:
    """Draw titled panels of points side by side.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    figure = Figure(figsize=(6.5 * max(1, len(panels)), 5), layout="constrained")
    all_axes = figure.subplots(1, max(1, len(panels)), squeeze=False)[0]
    for axes, (title, points) in zip(all_axes, panels, strict=False):
        _draw(axes, title, points)
    figure.draw_without_rendering()  # settles the axes, on which the names' places depend
    for axes, (_, points) in zip(all_axes, panels, strict=False):
        _write_names(figure, axes, points)
    return figure


def _draw(axes: Axes, title: str, points: Sequence[Point]) -> None:
    for ours, colour, marker, label in ((True, _OURS, "o", "mainmatter"), (False, _THEIRS, "s", "others")):
        chosen = [point for point in points if point.ours == ours]
        axes.scatter(
            [point.milliseconds for point in chosen],
            [point.score for point in chosen],
            c=colour,
            marker=marker,
            s=28,
            label=label,
        )
    if points:
        axes.set_xscale("log")
    axes.set_title(title, fontsize=10, parse_math=False)
    axes.set(xlabel="milliseconds a page (one core, log scale)", ylabel="F1")
    axes.margins(0.18, 0.08)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right", frameon=False, fontsize=_FONT)


def _write_names(figure: Figure, axes: Axes, points: Sequence[Point]) -> None:
    """Each name beside its point, where it covers no other name and no point, if there is such a place."""
    scale = figure.dpi / 72
    places = {point.name: axes.transData.transform((point.milliseconds, point.score)) for point in points}
    taken = [_box(x - 4, y - 4, 8, 8) for x, y in places.values()]
    for point in sorted(points, key=lambda point: -point.score):
        x, y = places[point.name]
        width, height = 0.58 * _FONT * scale * len(point.name), 1.1 * _FONT * scale
        boxes = []
        for dx, dy, side in _PLACES:
            left = x + dx * scale - (width if side == "right" else 0)
            boxes.append((_box(left, y + dy * scale - height / 2, width, height), (dx, dy, side)))
        crowds = [sum(_overlap(box, other) for other in taken) for box, _ in boxes]
        box, (dx, dy, side) = boxes[crowds.index(min(crowds))]
        taken.append(box)
        axes.annotate(
            point.name,
            (point.milliseconds, point.score),
            (dx, dy),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=_FONT,
            color=_OURS if point.ours else _THEIRS,
            parse_math=False,
        )


def _box(left: float, bottom: float, width: float, height: float) -> tuple[float, float, float, float]:
    return left, bottom, left + width, bottom + height


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> Any:  # noqa: ANN401 - a number
    across = min(one[2], other[2]) - max(one[0], other[0])
    up = min(one[3], other[3]) - max(one[1], other[1])
    return across * up if across > 0 and up > 0 else 0
