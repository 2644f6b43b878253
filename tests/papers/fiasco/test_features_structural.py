"""FIASCO 3.2: features of places in the tree, worked out by hand."""

from __future__ import annotations

from math import log

import pytest

import mainmatter
from mainmatter.papers.fiasco.features import STRUCTURAL, structural_features
from mainmatter.papers.fiasco.nodes import find_nodes
from mainmatter.records import Page


def features(page: str | Page) -> list[dict[str, float]]:
    document = mainmatter.read(page if isinstance(page, Page) else Page(page))
    found = structural_features(document, find_nodes(document))
    assert found.shape == (len(document), len(STRUCTURAL))
    return [dict(zip(STRUCTURAL, row, strict=True)) for row in found.tolist()]


def test_kinds_and_surroundings() -> None:
    heading, paragraph, item = features("<body><h2>Head</h2><article><p>Text</article><nav><ul><li>x</ul></nav>")
    assert [row["heading"] for row in (heading, paragraph, item)] == [1, 0, 0]
    assert [row["paragraph"] for row in (heading, paragraph, item)] == [0, 1, 0]
    assert [row["list_item"] for row in (heading, paragraph, item)] == [0, 0, 1]
    assert [row["depth"] for row in (heading, paragraph, item)] == [3, 4, 5]
    assert (paragraph["in_article"], paragraph["in_margin"], paragraph["in_list"]) == (1, 0, 0)
    assert (item["in_article"], item["in_margin"], item["in_list"]) == (0, 1, 1)
    assert [row["before"] for row in (heading, paragraph, item)] == [0, 0.44, 0.89]  # of 9 characters


def test_tags_and_links() -> None:
    [row] = features("<p>abcd <a href=x>efg</a> <a>hi</a><img></p>")
    assert row["links"] == 2 / 4  # of p, a, a, img
    assert row["addresses"] == 1 / 4
    assert row["images"] == 1 / 4
    assert row["own_link_density"] == row["all_link_density"] == 5 / 11


def test_the_nearest_node_that_holds_more() -> None:
    rows = features("<div><div><div><p>aaaa</p></div></div><p><a href=x>bb</a></p></div><p>cccccc</p>")
    # The two texts in the outer div: 6 characters, of which 2 are a link.
    assert rows[0]["around_chars"] == rows[1]["around_chars"] == pytest.approx(log(1 + 6))
    assert rows[0]["around_link_density"] == pytest.approx(2 / 6)
    assert rows[0]["around_mean_chars"] == pytest.approx(log(1 + 3))
    assert rows[2]["around_chars"] == pytest.approx(log(1 + 12))


def test_a_dump_and_nothing() -> None:
    assert [row["paragraph"] for row in features(Page("One\n\nTwo", format="text"))] == [1, 1]
    assert features("") == []
