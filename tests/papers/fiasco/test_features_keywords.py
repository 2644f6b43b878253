"""FIASCO 3.1, note 3: which words are the keywords of labelled pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from mainmatter.papers.fiasco.features import find_keywords
from mainmatter.papers.fiasco.texts import NumberedWords
from mainmatter.records import Page

if TYPE_CHECKING:
    from mainmatter.papers.fiasco.features import Labelled

pytest.importorskip("wordfreq", reason="the extra train is not installed")


def page(clean: str, dirty: str, language: str = "en") -> Labelled:
    document = mainmatter.read(Page(f"<p>{clean}<p>{dirty}"))
    return NumberedWords.of(document), np.array([True, False]), language


def test_each_side_has_its_words() -> None:
    pages = [page("the bridge and the river", "sitemap and the copyright")] * 20
    assert find_keywords(pages, 10, 5) == (("bridge", "river"), ("copyright", "sitemap"))
    assert find_keywords(pages, 1, 5) == (("bridge",), ("copyright",))
    assert find_keywords(pages, 10, 21) == ((), ())
    assert find_keywords([], 10, 5) == ((), ())


def test_a_word_of_one_page_is_no_keyword() -> None:
    pages = [page("the bridge", "the copyright")] * 20 + [page("water " * 1000, "the copyright")]
    clean, _ = find_keywords(pages, 10, 1)
    assert clean == ("bridge",)


def test_it_is_the_share_of_all_words_that_is_more_than_in_general() -> None:
    # "people" is on each page, once in 20 words or in 2,000; in general it is about one word in 1,000.
    few = [page("people " + "the " * 19, "the sitemap")] * 20
    many = [page("people " + "the " * 1999, "the sitemap")] * 20
    assert find_keywords(few, 10, 5)[0] == ("people",)
    assert find_keywords(many, 10, 5)[0] == ()


def test_general_language_is_that_of_the_page() -> None:
    # "und" is no English word, and one of forty in German.
    for language, expected in (("en", ("und",)), ("de", ())):
        pages = [page("und " + "xyz " * 39, "sitemap", language)] * 20
        assert find_keywords(pages, 1, 5)[0][:1] == (expected or ("xyz",))
