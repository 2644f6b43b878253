"""The classes of characters: counted by hand, and against a naive count."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest

from mainmatter.main.features import (
    CAPITAL,
    COMMA,
    COUNTED,
    DIGIT,
    LETTER,
    MARK,
    OTHER,
    SPACE,
    STOP,
    WIDE,
    Characters,
    count_characters,
)
from timing import assert_linear


def count(*texts: str) -> Characters:
    return count_characters(texts, np.array([len(text) for text in texts]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ab, c. 12!", {LETTER: 2, CAPITAL: 1, COMMA: 1, STOP: 2, DIGIT: 2, SPACE: 2}),
        ("a\tb\nc", {LETTER: 3, SPACE: 2}),
        ("(€)", {MARK: 3}),
        ("Ärger über", {CAPITAL: 1, LETTER: 8, SPACE: 1}),
        ("日本語、です。", {WIDE: 5, COMMA: 1, STOP: 1}),
        ("한국", {WIDE: 2}),
        ("हिन्दी।", {LETTER: 6, STOP: 1}),
        ("١٢٣؟", {DIGIT: 3, STOP: 1}),
        ("\ud800x", {LETTER: 1}),  # half a surrogate pair is nothing that is counted
        ("\U0001f600a", {LETTER: 2}),  # all beyond the table is taken for a letter
        ("\u200b\x07", {}),
    ],
)
def test_classes(text: str, expected: dict[int, int]) -> None:
    assert count(text).counts[:, 0].tolist() == [expected.get(number, 0) for number in range(COUNTED)]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (0x3040, 0x30FF),  # Hiragana and Katakana
        (0x3400, 0x4DBF),  # Chinese characters, extension A
        (0x4E00, 0x9FFF),  # Chinese characters
        (0xAC00, 0xD7AF),  # Hangul
        (0xF900, 0xFAFF),  # Chinese characters, for compatibility
    ],
)
def test_where_wide_scripts_begin_and_end(first: int, last: int) -> None:
    found = count(*map(chr, (first - 1, first, last, last + 1)))
    assert found.counts[WIDE].tolist() == [0, 1, 1, 0]


def test_where_the_table_ends() -> None:
    # Marks of the Aegean are the first beyond, and taken for letters; a mark of full width stands in the last row.
    assert count("\U00010100").counts[[LETTER, MARK], 0].tolist() == [1, 0]
    assert count("\uffe0").counts[[LETTER, MARK], 0].tolist() == [0, 1]


def test_first_and_last() -> None:
    found = count("Ab.", "1, 2", "x\U0001f600", "\u200b")
    assert found.first.tolist() == [CAPITAL, DIGIT, LETTER, OTHER]
    assert found.last.tolist() == [STOP, DIGIT, LETTER, OTHER]


def test_each_text_has_its_own_counts() -> None:
    randomness = random.Random(3)
    signs = "aZ5.,( 漢"
    texts = ["".join(randomness.choices(signs, k=randomness.randrange(1, 60))) for _ in range(200)]
    naive = [[text.count(sign) for text in texts] for sign in "aZ5.,( 漢"]
    assert count(*texts).counts.tolist() == naive


@pytest.mark.parametrize("length", [0xFFFF, 0x10000, 200_000])
def test_long_texts_are_counted_in_full(length: int) -> None:
    found = count("Z.", "a" * length, "漢" * length, "5,")
    assert found.counts[LETTER].tolist() == [0, length, 0, 0]
    assert found.counts[WIDE].tolist() == [0, 0, length, 0]
    assert found.counts[:, 0].sum() == found.counts[:, 3].sum() == 2


def test_many_texts_take_linear_time() -> None:
    assert count(*["Ab. "] * 1_000).counts.sum() == 4_000
    assert_linear(lambda n: partial(count, *["Ab. "] * n), 100_000)
