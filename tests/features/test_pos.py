"""FIASCO 3.1, note 4: shares of parts of speech."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

import mainmatter
from mainmatter.errors import MissingExtra
from mainmatter.features import pos
from mainmatter.features.nodes import find_nodes
from mainmatter.features.pos import MOST_WORDS, POS, need_tagger, pos_features
from mainmatter.records import Page

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
    monkeypatch.setattr(pos, "_MOST_DIFFERENT", 2)
    [row] = shares("<p>house garden water garden")
    assert (row["open_class"], row["unknown_words"]) == (3 / 4, 1 / 4)
    monkeypatch.undo()
    [row] = shares("<p>" + "y" * 100_000)
    assert row["unknown_words"] == 1


def test_a_missing_tagger_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import_module = builtins.__import__

    def refuse(name: str, *args: Any, **options: Any) -> Any:
        if name.startswith("HanTa"):
            raise ImportError(name)
        return import_module(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"mainmatter\[pos\]"):
        need_tagger()
