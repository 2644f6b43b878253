"""ICE 3.1: all text, every block a paragraph."""

from __future__ import annotations

import mainmatter
from mainmatter.records import Kind


def test_everything_is_a_paragraph() -> None:
    found = mainmatter.clean("<h1>Title</h1><ul><li>one<li>two</ul><p>a<br><br>b</p>", method="ice-baseline")
    assert found.kept.tolist() == [True] * 5
    assert found.scores.tolist() == [1.0] * 5
    assert found.kinds == [Kind.PARAGRAPH] * 5
    assert list(found.reasons) == ["the baseline keeps all text"] * 5
    assert found.cleaneval() == "<p> Title\n<p> one\n<p> two\n<p> a\n<p> b"


def test_an_empty_page() -> None:
    found = mainmatter.clean("", method="ice-baseline")
    assert (len(found), found.text, found.cleaneval()) == (0, "", "")
