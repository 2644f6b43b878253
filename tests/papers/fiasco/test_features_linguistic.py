"""FIASCO 3.1: features of texts, worked out by hand."""

from __future__ import annotations

import random
import re
from functools import partial
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from mainmatter.papers.fiasco.features import KEYWORDS, LINGUISTIC, keyword_features, linguistic_features
from mainmatter.papers.fiasco.nodes import find_nodes
from mainmatter.papers.fiasco.texts import _SENTENCE_END, NumberedWords
from mainmatter.records import Page
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def features(html: str) -> list[dict[str, float]]:
    document = mainmatter.read(Page(html))
    found = linguistic_features(document, find_nodes(document).spans, NumberedWords.of(document))
    assert found.shape == (len(document), len(LINGUISTIC))
    return [dict(zip(LINGUISTIC, row, strict=True)) for row in found.tolist()]


def test_a_text() -> None:
    [row] = features("<p>The cat saw the dog. It ran! © | »Why?« Now")
    assert row["own_chars"] == pytest.approx(log(1 + len("The cat saw the dog. It ran! © | »Why?« Now")))
    assert row["own_tokens"] == pytest.approx(log(1 + 9))
    assert row["own_types"] == pytest.approx(log(1 + 8))  # "the" is there twice
    assert row["own_sentences"] == pytest.approx(log(1 + 2))  # « is no closing mark after a question mark here
    assert row["own_sentence_length"] == pytest.approx(log(1 + 9 / 2))
    assert row["own_symbols"] == pytest.approx(2 / 43)
    assert all(row[f"own_{name}"] == row[f"all_{name}"] for name in ("chars", "tokens", "types", "sentences"))


def test_a_subtree() -> None:
    outer, inner = features("<ul><li>One two. <ul><li>Two three four.</ul></ul>")
    assert outer["own_tokens"] == pytest.approx(log(1 + 2))
    assert outer["all_tokens"] == pytest.approx(log(1 + 5))
    assert outer["all_types"] == pytest.approx(log(1 + 4))
    assert outer["all_sentences"] == pytest.approx(log(1 + 2))
    assert inner["all_tokens"] == inner["own_tokens"] == pytest.approx(log(1 + 3))


def test_chinese_sentences() -> None:
    [row] = features("<p>你好。再见！")
    assert row["own_sentences"] == pytest.approx(log(1 + 2))
    assert row["own_tokens"] == pytest.approx(log(1 + 4))
    assert row["own_symbols"] == 0


def test_keywords() -> None:
    document = mainmatter.read(Page("<ul><li>Copyright copyright water<ul><li>Water rights, water!</ul></ul>"))
    spans, words = find_nodes(document).spans, NumberedWords.of(document)
    assert words.vocabulary == ["copyright", "water", "rights"]
    assert words.count({"water"}).tolist() == [1, 2]
    found = keyword_features(spans, words, frozenset(("water",)), frozenset(("copyright", "rights", "menu")))
    assert KEYWORDS == ("own_clean_keywords", "own_dirty_keywords", "all_clean_keywords", "all_dirty_keywords")
    assert found == pytest.approx(np.array([[1 / 3, 2 / 3, 3 / 6, 3 / 6], [2 / 3, 1 / 3, 2 / 3, 1 / 3]]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", 2),
        ("Is it 3.5 or www.example.org?", 1),
        ("Well... Yes!? No?!", 3),
        ('He said "no." She (too!) left…', 3),
        ('He said "no.", she said "yes".', 1),
        ("(It rained.) »So.«", 1),
        ("...a. b", 1),
        ("你好。。再见！? ", 3),
        (".)a .) .", 2),
        ("no end", 0),
    ],
)
def test_ends_of_sentences(text: str, expected: int) -> None:
    [row] = features(f"<p>{text}</p>")
    assert round(np.expm1(row["own_sentences"])) == expected


def test_ends_of_sentences_agree_with_a_plain_expression() -> None:
    plain = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？।؟]+")
    rng = random.Random(4)
    for _ in range(3000):
        text = "".join(rng.choices('a.!…)"。？ \n', k=rng.randint(0, 12)))
        assert _SENTENCE_END.findall(text) == plain.findall(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "." * n + "a",
        lambda n: "!?" * (n // 2) + "a",
        lambda n: "." + ")" * n + "a",
        lambda n: ".)" * (n // 2) + "a",
        lambda n: "…" * n + "_",
        lambda n: "。" * n + "a",
        lambda n: ". " * (n // 2),
        lambda n: "|" * n,
        lambda n: "_" * n,
    ],
    ids=["dots", "marks", "brackets", "dots and brackets", "ellipses", "Chinese", "sentences", "bars", "underscores"],
)
def test_hostile_texts_take_linear_time(make: Callable[[int], str]) -> None:
    def measure(size: int) -> Callable[[], NDArray[np.float64]]:
        document = mainmatter.read(Page(make(size), format="text"))
        return partial(linguistic_features, document, find_nodes(document).spans, NumberedWords.of(document))

    assert np.isfinite(measure(10_000)()).all()
    assert_linear(measure, 1_000_000)


def test_texts_without_words_and_empty_pages() -> None:
    [row] = features("<p>***")
    assert row["own_tokens"] == row["own_sentence_length"] == 0
    assert row["own_symbols"] == 1
    assert features("") == []
