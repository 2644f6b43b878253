"""FIASCO 3.1, note 4: shares of parts of speech."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import mainmatter
from mainmatter.errors import MissingExtra
from mainmatter.papers.fiasco import features
from mainmatter.papers.fiasco.features import MOST_WORDS, POS, need_tagger, pos_features
from mainmatter.papers.fiasco.nodes import find_nodes
from mainmatter.records import Page
from timing import assert_linear
from toys import hide_package

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("HanTa", reason="the extra pos is not installed")


def shares(html: str) -> list[dict[str, float]]:
    document = mainmatter.read(Page(html))
    return [dict(zip(POS, row, strict=True)) for row in pos_features(document, find_nodes(document).spans).tolist()]


def test_english() -> None:
    [row] = shares("<p>the house and the garden 2004")
    assert row == pytest.approx({"open_class": 2 / 6, "closed_class": 3 / 6, "unknown_words": 0, "special_symbols": 0})


def test_unknown_words_and_symbols() -> None:
    [row] = shares("<html lang=en-GB><p>Schnellzug © | »")
    assert row == pytest.approx({"open_class": 0, "closed_class": 0, "unknown_words": 1 / 4, "special_symbols": 3 / 4})


def test_german_and_dutch() -> None:
    [row] = shares("<html lang=de><p>das Haus und der Garten")
    assert (row["open_class"], row["closed_class"]) == (2 / 5, 3 / 5)
    [row] = shares("<html lang=nl><p>het huis en een tuin")
    assert (row["open_class"], row["closed_class"]) == (2 / 5, 3 / 5)


def test_other_languages_have_none() -> None:
    assert shares("<html lang=fr><p>la maison") == [dict.fromkeys(POS, 0)]


def test_only_the_first_words_are_tagged() -> None:
    [row] = shares("<p>" + "the " * MOST_WORDS + "garden " * 100)
    assert row["closed_class"] == 1


def test_many_and_long_words_are_not_tagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "_MOST_LETTERS", len("housegarden"))
    [row] = shares("<p>house garden water garden")
    assert (row["open_class"], row["unknown_words"]) == (3 / 4, 1 / 4)
    monkeypatch.undo()
    tagged: list[str] = []

    def class_of(language: str, token: str) -> int:
        tagged.append(token)
        assert language == "en"
        return 0

    monkeypatch.setattr(features, "_class_of", class_of)
    [row] = shares(f"<p>{'x' * 20} {'y' * 21} {'z' * 100_000}")
    assert row["unknown_words"] == 2 / 3
    assert tagged == ["x" * 20]


@pytest.mark.parametrize("length", [5, 20, 40])
def test_random_words_take_linear_time(length: int) -> None:
    rng = random.Random(length)

    def make(count: int) -> Callable[[], list[dict[str, float]]]:
        words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=length)) for _ in range(count)]
        html = "".join(f"<p>{' '.join(words[start : start + 50])}</p>" for start in range(0, len(words), 50))
        return lambda: shares(f"<html lang=de>{html}")

    assert make(50)()[-1]["unknown_words"] == 1  # which also loads the model
    assert_linear(make, 4_500)


def test_a_missing_tagger_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_package(monkeypatch, "HanTa")
    with pytest.raises(MissingExtra, match=r"mainmatter\[pos\]"):
        need_tagger()
