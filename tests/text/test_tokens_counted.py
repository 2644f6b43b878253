"""How many words a text has, also without spaces: where the estimates change."""

from __future__ import annotations

import random

import pytest

from mainmatter.text.tokens import count_words, word_count

HAN, THAI = "\u6f22", "\u0e01"


@pytest.mark.parametrize(
    ("text", "words", "width"),
    [
        (HAN * 2, 1, 4),  # a word has two characters, each as wide as two letters
        (HAN * 3, 2, 6),
        (HAN * 4, 2, 8),
        (THAI * 4, 1, 4),  # a word has four
        (THAI * 5, 2, 5),
        (THAI * 8, 2, 8),
        (f"abc{HAN}", 2, 5),  # six bytes for four characters: enough to look for such scripts
        (f"abcd{HAN}", 1, 5),  # seven for five
        ("one two", 2, 6),
        ("", 0, 0),
    ],
)
def test_words_and_width(text: str, words: int, width: int) -> None:
    assert count_words(text) == (words, width)


def test_a_text_has_as_many_words_as_it_has_with_its_white_space_collapsed() -> None:
    letters = random.Random(1)
    for alphabet in ("a ", "aé \n", "é\u3000\xa0 ", "a東京 ", "東 ", "aไ\t ", "\U00020000 \u2028", "\ud800 a"):
        for length in range(40):
            text = "".join(letters.choices(alphabet, k=length))
            assert word_count(text) == count_words(" ".join(text.split()))[0], text
