"""Words, capitals, punctuation and stop words: counted by hand, and against a naive count."""

from __future__ import annotations

import random
import re
import unicodedata

import numpy as np
import pytest

from mainmatter.papers.ice.tree import count_shallow
from mainmatter.text.tokens import count_words

STOPS = frozenset(["the", "on", "and", "it", "的", "是", "и"])


def counts(text: str) -> tuple[int, ...]:
    found = count_shallow([text], STOPS)
    return tuple(int(row[0]) for row in (found.words, found.capitals, found.punctuation, found.stop_words))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Cat sat on the mat.", (6, 2, 1, 3)),
        ("", (0, 0, 0, 0)),
        ("...", (1, 0, 3, 0)),
        # More capitals than words, as in figure 2 of ICE, where cap_ratio is above 1.25 for two words.
        ("Low-Cost Flights/Hotels", (2, 4, 0, 0)),
        ("It's 2007, and THE end", (5, 2, 1, 3)),
        ("Дом и сад", (3, 1, 0, 1)),
        # Six Han characters are three words; two of them are stop words; the comma is no word.
        ("这是我的，家吗", (4, 0, 1, 2)),
        ("हिन्दी में", (2, 0, 0, 0)),
        ("\ud800 The", (2, 1, 0, 1)),
        ("İstanbul the", (2, 1, 0, 1)),
        ("𝔸 the", (2, 0, 0, 1)),
    ],
)
def test_by_hand(text: str, expected: tuple[int, ...]) -> None:
    assert counts(text) == expected


def test_no_block() -> None:
    assert len(count_shallow([], STOPS).words) == 0


def naive(text: str) -> tuple[int, ...]:
    """Character by character."""
    wide = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
    runs, run = [], ""
    for character in text + " ":
        if unicodedata.category(character)[0] in "LNM" and not wide.match(character):
            run += character
        elif run:
            runs.append(run)
            run = ""
    return (
        count_words(text)[0],
        sum(run[0].isupper() for run in runs),
        sum(character in ".,;:!?…。，、；：！？·؟،؛।" for character in text),
        sum(run.lower() in STOPS for run in runs) + sum(c in STOPS for c in text if wide.match(c)),
    )


def test_against_a_naive_count() -> None:
    rng = random.Random(3)
    letters = "The and it Cat ÄÖ é; . , ! -'/ 12 и Дом 的是家 \n ب"
    texts = ["".join(rng.choice(letters) for _ in range(rng.randint(0, 40))) for _ in range(300)]
    texts += ["only ascii, The end"] * 2
    found = count_shallow(texts, STOPS)
    rows = np.stack([found.words, found.capitals, found.punctuation, found.stop_words]).T.tolist()
    assert [tuple(row) for row in rows] == [naive(text) for text in texts]
    # Alone a block of ASCII takes another way than among others.
    assert all(counts(text) == tuple(row) for text, row in zip(texts, rows, strict=True))
