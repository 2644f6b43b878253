"""What is counted in texts is the same by fast ways, compiled or not, as by plain ones."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from mainmatter.papers.fiasco.texts import (
    _SPECIAL_SYMBOL,
    NumberedWords,
    _count_different,
    _number_words,
    count_symbols,
)
from mainmatter.records import Columns, Document, Page
from mainmatter.text.tokens import words

EVERY_CHARACTER = [chr(code) for code in range(sys.maxunicode + 1)]
PIECES = [
    *"aZ09_ .,;-'\t\n",
    "é",
    "ß",
    "İ",
    "Σ",
    "Ⅷ",
    "²",
    "‿",
    "你",
    "ガ",
    "ー",
    "\u303f",
    "\u3040",
    "한",
    "𠀀",
    "\ud800",
]


def random_texts(count: int) -> list[str]:
    rng = random.Random(7)
    return [
        "".join(rng.choices(PIECES[: rng.choice((12, 18, len(PIECES)))], k=rng.randint(0, 9))) for _ in range(count)
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ["One two, TWO_three", "", "…", "two x"],
        ["a\u303f", "a\u3040", "你好 a"],
        [f"a{character}b" for character in EVERY_CHARACTER],
        random_texts(3000),
        [],
    ],
    ids=["words", "borders", "every character", "random", "no text"],
)
def test_words_are_numbered(texts: list[str]) -> None:
    expected = [words(text) for text in texts]
    vocabulary = list(dict.fromkeys(word for found in expected for word in found))
    numbered = NumberedWords.of(Document(Page("", format="text"), Columns.of(texts)))
    for found, ids, starts in (
        (numbered.vocabulary, numbered.ids, numbered.starts),
        _number_words(texts),  # also where it is not compiled
    ):
        assert found == vocabulary
        assert [vocabulary[number] for number in ids] == [word for each in expected for word in each]
        assert np.diff(starts).tolist() == list(map(len, expected))
        assert {ids.dtype, starts.dtype} == {np.dtype(np.int32)}


def test_different_words_are_counted() -> None:
    rng = np.random.default_rng(3)
    ids = rng.integers(0, 20, 500).astype(np.int32)
    first = rng.integers(0, 500, 100).astype(np.int32)
    end = np.minimum(first + rng.integers(0, 60, 100), 500).astype(np.int32)
    expected = [len(set(ids[a:b].tolist())) for a, b in zip(first, end, strict=True)]
    words_of_a_page = NumberedWords([str(number) for number in range(20)], ids, np.zeros(1, np.int32))
    assert words_of_a_page._count_different(first, end).tolist() == expected
    assert _count_different(ids, first, end, 20).tolist() == expected


def test_symbols_are_counted() -> None:
    texts = [*EVERY_CHARACTER, *random_texts(1000), "a|b © _ “c” – d"]
    assert count_symbols(texts).tolist() == [len(_SPECIAL_SYMBOL.findall(text)) for text in texts]
    assert count_symbols(["a|b © _ “c” – d", "", "-.,"]).tolist() == [3, 0, 0]
