"""ICE 3.1: all text, every block a paragraph."""

from __future__ import annotations

import random
import re

import mainmatter
from mainmatter.records import Kind


def test_everything_is_a_paragraph() -> None:
    found = mainmatter.clean("<h1>Title</h1><ul><li>one<li>two</ul><p>a<br><br>b</p>", method="ice-baseline")
    assert found.kept.tolist() == [True] * 5
    assert found.scores.tolist() == [1.0] * 5
    assert found.kinds == [Kind.PARAGRAPH] * 5
    assert list(found.reasons) == ["the baseline keeps all text"] * 5
    assert found.cleaneval == "<p> Title\n<p> one\n<p> two\n<p> a\n<p> b"


def test_an_empty_page() -> None:
    found = mainmatter.clean("", method="ice-baseline")
    assert (len(found), found.text, found.cleaneval) == (0, "", "")


BLOCK_LEVEL = r"</?(?:p|div|li|ul|h[1-6])[^>]*>|(?:<br>\s*){2,}"


def test_the_preset_agrees_with_the_paper() -> None:
    """ICE 3.1: block-level elements, two or more line breaks between paragraphs, all of it `<p>`, nothing removed."""
    rng = random.Random(4)
    words = ["river", "stone", "bridge", "<b>winter</b>", "letter", "<a href=x>garden</a>", "window", "<i>summer</i>"]
    breaks = ["<br>", "<br><br>", "<br> <br>\n<br>"]
    for _ in range(300):
        body = ""
        for tag in rng.choices(["p", "div", "li", "h1", "h6", ""], k=rng.randint(1, 8)):
            inside = (rng.choice([*words, *breaks]) for _ in range(rng.randint(1, 9)))
            text = f" {' '.join(inside)} end "
            body += f"<{tag}>{text}</{tag}>" if tag else text
        texts = [" ".join(re.sub("<[^>]*>", " ", piece).split()) for piece in re.split(BLOCK_LEVEL, body)]
        found = mainmatter.clean(f"<body>{body}</body>", method="ice-baseline:preset=paper").cleaneval
        assert " ".join(found.split()) == " ".join(f"<p> {text}" for text in texts if text)
