"""What the elements around a block are called, however far up."""

from __future__ import annotations

import numpy as np

from mainmatter.api import read
from mainmatter.main.features import COLUMNS, describe_blocks
from mainmatter.main.names import _STEMS, CALLED, INHERITED, bits_of
from mainmatter.records import Document, Page


def called(document: Document) -> list[set[str]]:
    """For each block, the names around it."""
    found = describe_blocks(document, np.array(list(map(bits_of, document.names)))).dense.T[len(COLUMNS) :]
    assert found.shape == (len(CALLED), len(document))
    assert set(np.unique(found).tolist()) <= {0, 1}
    return [{name for name, is_one in zip(INHERITED, column, strict=True) if is_one} for column in found.T.tolist()]


def of_html(html: str) -> list[set[str]]:
    return called(read(Page(html)))


def test_the_names_are_stems_and_fit_into_a_whole_number() -> None:
    assert set(INHERITED) <= set(_STEMS)
    assert len(set(CALLED)) == len(CALLED) == len(INHERITED) <= 63
    assert CALLED[0] == "called_advert"


def test_names_are_inherited() -> None:
    html = """<div class="comments"><div><ul><li>one<li id="reply-3">two</ul></div></div><p>three"""
    assert of_html(html) == [{"comment"}, {"comment", "reply"}, set()]


def test_class_and_id_of_an_element_both_count() -> None:
    assert of_html('<div class="sidebar" id="PostBody"><p>a') == [{"side", "post", "body"}]


def test_names_of_other_languages_count_as_the_english_one() -> None:
    assert of_html('<div class="kommentarliste"><p>a</p></div><div id=inhalt>b') == [{"comment", "list"}, {"content"}]


def test_names_of_neighbours_do_not_count() -> None:
    assert of_html('<p>a</p><div class="menu"><p>b</p></div><p>c') == [set(), {"menu"}, set()]


def test_the_same_name_twice() -> None:
    assert of_html('<div class="menu menu-menu"><div class="menu" id="menu"><p>a') == [{"menu"}]


def test_names_that_are_not_inherited_or_not_known() -> None:
    assert "row" in _STEMS
    assert of_html('<div class="row x7f3a qzx"><p>a') == [set()]


def test_very_deep_pages() -> None:
    for depth in (1, 2, 3, 7, 64, 200):
        html = '<div class="promo"><p>top</p>' + "<div>" * depth + "<p>deep</p>" + "</div>" * depth + "</div><p>out"
        assert of_html(html) == [{"promo"}, {"promo"}, set()]


def test_every_name_has_its_own_bit() -> None:
    html = "".join(f'<div class="{stem}"><p>{stem}</p></div>' for stem in INHERITED)
    for stem, found in zip(INHERITED, of_html(html), strict=True):
        assert found == {stem}


def test_empty_pages_and_dumps() -> None:
    assert of_html("") == []
    assert of_html('<body class="menu">') == []
    assert called(read(Page("menu\n\ncomments", format="text"))) == [set(), set()]
