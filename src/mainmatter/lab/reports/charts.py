"""Plots as SVG, drawn by hand: small files, no library, colours that follow the page's scheme.

Each has a title and a description for screen readers. They are 480 units wide, so that their text can be read on a
phone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.lab.reports.html import markup, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markupsafe import Markup

    _Place = Callable[[float, float], tuple[float, float]]
    _Shape = tuple[str, str, dict[str, object]]  # an element, its text, its attributes

WIDTH = 480
_BINS = 25
_MOST_BARS = 200
_ANCHORS = ("start", "middle", "middle", "middle", "end")  # of the five labels of an axis
_NAME = 44  # characters of a method's name


@dataclass(frozen=True, slots=True)
class Words:
    """What is said about a plot.

    Attributes:
        id: unique in the report.
        title: its name.
        description: what it shows, for those who cannot see it.
        caption: what stands above it.
    """

    id: str
    title: str
    description: str
    caption: str


def distributions(words: Words, scores: Sequence[tuple[str, Sequence[float]]], highest: float) -> Markup:
    """For each method how many pages have which score: a histogram, and below it quartiles and median."""
    row, parts = 72, []
    for number, (name, values) in enumerate(scores):
        top = number * row
        middle = f"median {_figure(float(np.median(values)), highest)}" if len(values) else "no page measured"
        parts += [
            _text(0, top + 14, shorten(name, _NAME), class_="strong"),
            _text(WIDTH, top + 14, middle, class_="quiet", text_anchor="end"),
            _shape("line", x1=0, x2=WIDTH, y1=top + 52, y2=top + 52, class_="grid"),
            *(_histogram_row(values, highest, top + 20, 32) if len(values) else ()),
            *(_box(values, highest, top + 59) if len(values) else ()),
        ]
    bottom = len(scores) * row + 4
    for step in range(5):
        x = WIDTH * step / 4
        parts.append(
            _text(x, bottom + 12, _figure(highest * step / 4, highest), class_="quiet", text_anchor=_ANCHORS[step])
        )
    return _figure_of(words, bottom + 18, parts)


def scatter(words: Words, points: Sequence[tuple[str, float, float]]) -> Markup:
    """Methods by recall, to the right, and precision, upwards; lines of equal F1 behind them."""
    left, right, top, bottom = 44, WIDTH - 12, 28, 340
    ticks = _ticks(min([0.9, *(min(x, y) for _, x, y in points)]))
    low = ticks[0]

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (x - low) / (1 - low) * (right - left), bottom - (y - low) / (1 - low) * (bottom - top)

    parts: list[_Shape] = []
    for value in ticks:
        x, y = place(value, value)
        parts += [
            _shape("line", x1=_round(x), x2=_round(x), y1=top, y2=bottom, class_="grid"),
            _shape("line", x1=left, x2=right, y1=_round(y), y2=_round(y), class_="grid"),
            _text(x, bottom + 16, f"{value:.2f}", class_="quiet", text_anchor="end" if value == 1 else "middle"),
            _text(left - 6, y + 4, f"{value:.2f}", class_="quiet", text_anchor="end"),
        ]
    parts += [
        _text((left + right) / 2, bottom + 34, "recall →", class_="quiet", text_anchor="middle"),
        _text(0, 12, "precision ↑", class_="quiet"),
    ]
    labels = _labels(sorted((*place(x, y), name) for name, x, y in points), left, right, top, bottom)
    parts += _equal_f1(low, place, labels)
    parts += [part for label in labels for part in _dot(label)]
    return _figure_of(words, bottom + 42, parts)


def differences(words: Words, values: Sequence[float]) -> Markup:
    """The pages' differences between two methods, from the largest gain of the first to its largest loss."""
    ranked = sorted(values, reverse=True)
    if len(ranked) > _MOST_BARS:
        ranked = [ranked[round(i * (len(ranked) - 1) / (_MOST_BARS - 1))] for i in range(_MOST_BARS)]
    gain, loss = max([0.0, *ranked[:1]]), max([0.0, *(-value for value in ranked[-1:])])
    height, margin = 170, 18
    scale = (height - 2 * margin) / ((gain + loss) or 1.0)
    zero = margin + gain * scale
    width = min(24.0, WIDTH / max(1, len(ranked)))
    parts = []
    for number, value in enumerate(ranked):
        size = max(0.5, abs(value) * scale)
        y = zero - size if value > 0 else zero
        kind = "second" if value < 0 else "fill"
        box = {"x": number * width, "y": y, "width": width - min(1.0, width / 5), "height": size}
        parts.append(_shape("rect", **{key: _round(one) for key, one in box.items()}, class_=kind))
    parts.append(_shape("line", x1=0, x2=WIDTH, y1=_round(zero), y2=_round(zero), class_="grid"))
    if gain:
        parts.append(_text(0, 12, f"+{gain:.3g}", class_="quiet"))
    if loss:
        parts.append(_text(WIDTH, height - 4, f"−{loss:.3g}", class_="quiet", text_anchor="end"))
    return _figure_of(words, height, parts)


def histogram(words: Words, bars: Sequence[tuple[str, int]]) -> Markup:
    """Counts side by side.

    Args:
        words: what is said about it.
        bars: a label, or "" for none, which stands where the bar begins, and a count.
    """
    top, bottom = 20, 170
    most = max((count for _, count in bars), default=0) or 1
    width = WIDTH / max(1, len(bars))
    parts = [_shape("line", x1=0, x2=WIDTH, y1=bottom, y2=bottom, class_="grid")]
    for number, (label, count) in enumerate(bars):
        size = max(1.0, count / most * (bottom - top)) if count else 0.0
        x = number * width
        parts.append(_bar(x, bottom, width, size))
        if label:
            parts.append(_shape("line", x1=_round(x), x2=_round(x), y1=bottom, y2=bottom + 5, class_="grid"))
            parts.append(_text(x, bottom + 18, label, class_="quiet"))
    peak = max(range(len(bars)), key=lambda i: bars[i][1], default=0)
    if bars:
        anchor = "end" if peak > len(bars) * 2 / 3 else "start"
        x = (peak + (1 if anchor == "end" else 0)) * width
        parts.append(_text(x, top - 6, f"{most:,} pages", class_="quiet", text_anchor=anchor))
    return _figure_of(words, bottom + 26, parts)


def _histogram_row(values: Sequence[float], highest: float, top: float, height: float) -> list[_Shape]:
    counts, _ = np.histogram(np.clip(np.asarray(values, float), 0, highest), bins=_BINS, range=(0, highest))
    most = counts.max()
    width = WIDTH / _BINS
    return [
        _bar(i * width, top + height, width, max(1.0, count / most * height))
        for i, count in enumerate(counts.tolist())
        if count
    ]


def _bar(x: float, bottom: float, width: float, height: float) -> _Shape:
    place = {"x": x + 1, "y": bottom - height, "width": width - 2, "height": height}
    return _shape("rect", **{name: _round(value) for name, value in place.items()}, class_="fill")


def _box(values: Sequence[float], highest: float, y: float) -> list[_Shape]:
    least, lower, middle, upper, most = (
        float(x) / highest * WIDTH for x in np.percentile(np.clip(values, 0, highest), [0, 25, 50, 75, 100])
    )
    return [
        _shape("line", x1=_round(least), x2=_round(most), y1=y, y2=y, class_="line"),
        _shape("rect", x=_round(lower), y=y - 4, width=_round(max(1.0, upper - lower)), height=8, class_="soft"),
        _shape("line", x1=_round(middle), x2=_round(middle), y1=y - 6, y2=y + 6, class_="tick"),
    ]


def _ticks(least: float) -> list[float]:
    """Round numbers up to 1 for an axis that shows all from `least` on, six at most."""
    for step in (0.05, 0.1, 0.2):
        count = max(2, math.ceil((1 - max(0.0, least - 0.01)) / step - 1e-9))
        if count <= 5:
            break
    return [round(1 - step * i, 2) for i in range(count, -1, -1)]


def _equal_f1(low: float, place: _Place, labels: Sequence[_Label]) -> list[_Shape]:
    """Where precision and recall give the same F1; named where there is room for that."""
    parts = []
    for f1 in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        recalls = np.linspace(max(low, f1 / (2 - f1)), 1, 24).tolist()
        corners = [place(r, p) for r in recalls if low <= (p := f1 * r / (2 * r - f1)) <= 1.0001]
        if len(corners) < 2:
            continue
        path = " ".join(f"{_round(x)},{_round(y)}" for x, y in corners)
        parts.append(_shape("polyline", points=path, class_="iso"))
        x, y = corners[-1]
        if not any(label.covers(x - 50, x, y - 4) for label in labels):
            parts.append(_text(x - 3, y - 4, f"F1 {f1:g}", class_="quiet", text_anchor="end"))
    return parts


@dataclass(frozen=True, slots=True)
class _Label:
    """A dot, and where its name stands."""

    x: float
    y: float
    name: str
    start: float
    end: float
    line: float

    def covers(self, start: float, end: float, line: float) -> bool:
        is_name = start < self.end and self.start < end and abs(line - self.line) < 18
        return is_name or (start < self.x + 6 and self.x - 6 < end and abs(line - 4 - self.y) < 12)


def _labels(
    points: Sequence[tuple[float, float, str]], left: float, right: float, top: float, bottom: float
) -> list[_Label]:
    """Places for names, none over another: one that has no room moves down."""
    found: list[_Label] = []
    for x, y, name in points:
        shown = shorten(name, 30)
        wide = len(shown) * 9
        start = x + 10 if x + 10 + wide <= right else max(left, x - 10 - wide)
        line = y + 4
        for _ in range(40):
            if not any(label.covers(start, start + wide, line) for label in found):
                break
            line = line + 18 if line + 18 < bottom - 4 else top + 30
        found.append(_Label(x, y, shown, start, start + wide, line))
    return found


def _dot(label: _Label) -> list[_Shape]:
    """A dot, its name, and a line between them where they are apart."""
    is_left = label.start < label.x
    edge = label.end if is_left else label.start
    far = abs(label.line - label.y - 4) > 8
    x, y = _round(label.x), _round(label.y)
    return [
        *([_shape("line", x1=x, y1=y, x2=_round(edge), y2=_round(label.line - 4), class_="leader")] if far else []),
        _shape("circle", cx=x, cy=y, r=5, class_="fill"),
        _text(edge, label.line, label.name, class_="strong", text_anchor="end" if is_left else "start"),
    ]


def _figure_of(words: Words, height: float, shapes: Sequence[_Shape]) -> Markup:
    return markup("parts", "figure", words, WIDTH, _round(height), shapes)


def _shape(name: str, text: str = "", **attributes: object) -> _Shape:
    """An element; in the names of its attributes `_` at the end is dropped, and others become `-`."""
    return name, text, {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}


def _text(x: float, y: float, words: str, **attributes: object) -> _Shape:
    return _shape("text", words, x=_round(x), y=_round(y), **attributes)


def _figure(value: float, highest: float) -> str:
    return f"{value:.1f}" if highest > 1 else f"{value:.2f}"


def _round(value: float) -> str:
    """A short number: half a pixel does not matter."""
    return f"{value:.1f}".removesuffix(".0")
