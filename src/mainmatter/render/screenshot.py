"""A picture of the page as a browser shows it, with its blocks outlined: what was kept, what was dropped.

The picture is an HTML document of our own around the page's screenshot, which the browser takes a picture of: so the
lettering is as good as that of the page, and nothing of the page's styles gets into it.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.html.browser.chromium import Chromium
    from mainmatter.html.browser.rendering import Rendering
    from mainmatter.records import Extraction

_LONGEST_NAME = 90
_LABEL_WIDTH, _LABEL_HEIGHT = 58, 13  # pixels
_MOST_COMPARED = 5_000  # blocks: beyond, all labels stand on the upper edge
_STYLE = """
* { box-sizing: border-box; margin: 0 }
body { background: #fff; font: 13px/1.4 system-ui, "DejaVu Sans", sans-serif; color: #24292b }
header { min-height: 84px; padding: 14px 20px; background: #f7f5ef; border-bottom: 1px solid #cfcabd }
h1 { font: 600 20px/1.3 Georgia, "DejaVu Serif", serif; overflow-wrap: anywhere }
header p { display: flex; flex-wrap: wrap; gap: 2px 20px; margin-top: 8px }
header i { display: inline-block; width: 26px; height: 13px; margin-right: 7px; vertical-align: -2px }
#page { position: relative; overflow: hidden }
#page img { display: block }
#page div { position: absolute }
.kept, i.kept { background: rgba(38, 139, 72, .13); border: 1px solid #268b48; border-left: 4px solid #1c7339 }
.dropped, i.dropped { background: rgba(255, 255, 255, .45); border: 1px dashed #b06a68 }
b { position: absolute; right: -1px; top: -10px; padding: 0 3px; font: 600 9px/12px "DejaVu Sans", sans-serif;
  color: #fff; background: #1c7339; border-radius: 2px; white-space: nowrap; opacity: .92 }
b.beside { right: auto; left: calc(100% + 3px); top: 1px }
.dropped b { background: #7d5452; opacity: .9 }
"""


def take_picture(extraction: Extraction, browser: Chromium) -> tuple[bytes, Rendering]:
    """Show a page, and draw what was kept of it.

    Returns:
        The picture as PNG, and what the browser said about the page.

    Raises:
        InputError: the browser cannot show the page.
    """
    rendering = browser.render(extraction.document, screenshot=True)
    if rendering.screenshot is None:
        raise InputError(f"{_name(extraction)}: {rendering.note}")
    return browser.picture(outlined_html(extraction, rendering)), rendering


def outlined_html(extraction: Extraction, rendering: Rendering) -> str:
    """The page's screenshot with an outline, a number and a score for each block that is on it."""
    picture = b64encode(rendering.screenshot or b"").decode("ascii")
    return "".join(
        [
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><style>{_STYLE}</style></head><body>',
            _header(extraction, rendering),
            f'<div id="page"><img alt="" src="data:image/png;base64,{picture}">',
            *_outlines(extraction, rendering),
            "</div></body></html>",
        ]
    )


def summary(extraction: Extraction, rendering: Rendering) -> str:
    """What the picture shows and what it cannot show, in one sentence."""
    count = len(extraction.document)
    told = [f"{len(extraction)} of {count} blocks kept by {extraction.method}"]
    unseen = ~rendering.visible
    if unseen.any():
        told.append(
            f"{int(unseen.sum())} not visible on the page, {int((unseen & extraction.kept).sum())} of them kept"
        )
    return "; ".join([*told, *filter(None, [rendering.note])])


def _name(extraction: Extraction) -> str:
    page = extraction.document.page
    name = page.id or page.url or "page"
    return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"


def _header(extraction: Extraction, rendering: Rendering) -> str:
    told = escape(summary(extraction, rendering))
    return (
        f"<header><h1>{escape(_name(extraction))}</h1><p><span>{told}</span>"
        '<span><i class="kept"></i>kept</span><span><i class="dropped"></i>dropped</span>'
        "<span>number and score of each block</span></p></header>"
    )


def _outlines(extraction: Extraction, rendering: Rendering) -> list[str]:
    """One element a block; those that are kept last, so that they are never covered."""
    found = []
    beside = _has_room(rendering)
    for number in np.argsort(extraction.kept, kind="stable").tolist():
        if not rendering.visible[number]:
            continue
        left, top, width, height = rendering.boxes[number].tolist()
        name, bar = ("kept", 4) if extraction.kept[number] else ("dropped", 1)
        place = (
            f"left:{left - bar - 2:.1f}px;top:{top - 2:.1f}px;width:{width + bar + 5:.1f}px;height:{height + 4:.1f}px"
        )
        label = f"<b{' class=beside' if beside[number] else ''}>{number} · {extraction.scores[number]:.2f}</b>"
        found.append(f'<div class="{name}" style="{place}">{label}</div>')
    return found


def _has_room(rendering: Rendering) -> NDArray[np.bool_]:
    """Which blocks have nothing at their right, so that a label there covers no text."""
    left, top, width, height = rendering.boxes.T
    ends, middles = left + width, top + _LABEL_HEIGHT / 2
    is_free: NDArray[np.bool_] = rendering.visible & (ends + _LABEL_WIDTH < rendering.width)
    if len(rendering) > _MOST_COMPARED:
        return np.zeros_like(is_free)
    for number in np.flatnonzero(is_free).tolist():
        start = ends[number]
        covered = rendering.visible & (left < start + _LABEL_WIDTH) & (ends > start + 1)
        covered &= (top < middles[number] + _LABEL_HEIGHT / 2) & (top + height > middles[number] - _LABEL_HEIGHT / 2)
        is_free[number] = not covered.any()
    return is_free
