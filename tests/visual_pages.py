"""Pages whose look is known, for the tests of what a browser says about pages."""

from __future__ import annotations

import mainmatter
from mainmatter.records import Document, Page

WORDS = (
    "the river rose by two metres in the night and an old bridge near mill had to be closed for all traffic until "
    "water went down again while people on both banks stood with lamps counting trees that came floating by"
).split()


def text(count: int, start: int = 0) -> str:
    """Running text of so many words."""
    return " ".join(WORDS[(start + 7 * number + number * number // 3) % len(WORDS)] for number in range(count))


def styled(body: str, style: str = "") -> Document:
    """A page of known fonts without margins around it."""
    rules = f"body {{ margin: 0; font: 16px/20px 'DejaVu Sans', sans-serif }} {style}"
    return mainmatter.read(Page(f"<!doctype html><html><head><style>{rules}</style></head><body>{body}</body></html>"))


def block_of(document: Document, beginning: str) -> int:
    """The number of the block whose text begins so."""
    return next(number for number, words in enumerate(document.texts) if words.startswith(beginning))


def two_columns() -> Document:
    """A ragged menu at the left, a headline and paragraphs at the right."""
    items = "".join(f"<li>{'menu ' * (1 + number * 3 % 4)}</li>" for number in range(12))
    return styled(
        f"<div id=all><ul>{items}</ul><div id=main><h1>Headline of it all</h1>"
        f"<p class=even>Justified {text(143)}</p><p>Plain {text(60)}</p></div></div>",
        "#all { display: flex; gap: 60px } ul { width: 220px; margin: 0 } #main { width: 800px }"
        ".even { text-align: justify; text-align-last: justify } h1 { font-size: 32px; line-height: 40px }",
    )
