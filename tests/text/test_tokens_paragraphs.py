"""The paragraphs of gold texts."""

from __future__ import annotations

import pytest

from mainmatter.records import Gold
from mainmatter.text.tokens import gold_paragraphs

LINE = "the river rose by two metres in the night"


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        (
            Gold(text="x", marked="<h>A title\n\n<p>One\n line.<P> Two\n\nlines. <l> "),
            ["A title", "One line.", "Two lines."],
        ),
        (Gold(text="One.\n  Two.\n\n"), ["One.", "Two."]),
        (Gold(text="A title\n\nOne  line.\n\nTwo."), ["A title", "One line.", "Two."]),
        # Lines that were wrapped: none is long, and most go on in the next.
        (Gold(text=f"{LINE}\n{LINE}\n{LINE}\n \n{LINE}\n{LINE}\n"), [f"{LINE} {LINE} {LINE}", f"{LINE} {LINE}"]),
        # Not wrapped: one is too long for that.
        (Gold(text=f"{LINE * 3}\n{LINE}\n{LINE}\n\n{LINE}\n{LINE}"), [LINE * 3, LINE, LINE, LINE, LINE]),
        # Not wrapped: a text without blank lines has no other borders than its lines.
        (Gold(text=f"{LINE}\n{LINE}\n{LINE}"), [LINE] * 3),
        (Gold(text=""), []),
        (Gold(text=None), []),
        (Gold(text="x", marked=""), []),
    ],
)
def test_gold_paragraphs(gold: Gold, expected: list[str]) -> None:
    assert gold_paragraphs(gold) == expected
