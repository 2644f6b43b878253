"""FIASCO 2.1 and 2.2: which nodes there are and which of them are target nodes, by hand and by a naive count."""

from __future__ import annotations

import random

import numpy as np
import pytest

import mainmatter
from mainmatter.papers.fiasco.nodes import (
    IN_ARTICLE,
    IN_FORM,
    IN_LIST,
    IN_MARGIN,
    IN_TABLE,
    Nodes,
    find_nodes,
    sum_below,
)
from mainmatter.records import Document, Page


def nodes_of(html: str) -> tuple[Document, Nodes]:
    document = mainmatter.read(Page(html))
    return document, find_nodes(document)


def targets(html: str) -> list[tuple[str, str]]:
    """The tag of each block's target node, and the texts below it."""
    document, nodes = nodes_of(html)
    first, end = nodes.spans
    return [
        (nodes.tags[node], " | ".join(document.texts[a:b]))
        for node, a, b in zip(nodes.targets.tolist(), first.tolist(), end.tolist(), strict=True)
    ]


def test_each_text_of_its_own_element_is_a_target_node() -> None:
    assert targets("<div><h1>Title</h1><p>One <b>two</b></p></div><ul><li><a href=x>Home</a></ul>") == [
        ("h1", "Title"),
        ("p", "One two"),
        ("li", "Home"),
    ]


def test_two_line_breaks_make_paragraphs() -> None:
    assert targets("<div>One<br><br>Two<br>and three</div>") == [("p", "One"), ("p", "Two\nand three")]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        # 10 of 100 characters are enough, 9 of 99 are not: then the text is a paragraph of its own.
        (10, ("li", "o" * 10 + " | " + "x" * 90)),
        (9, ("p", "o" * 9)),
    ],
)
def test_ten_percent_of_the_text(own: int, expected: tuple[str, str]) -> None:
    assert targets(f"<ul><li>{'o' * own}<ul><li>{'x' * 90}</ul></ul>")[0] == expected


def test_numbers_of_a_small_tree() -> None:
    document, nodes = nodes_of(
        "<html><body><div><p>abc<a href=x>de</a><a>f</a><img></p><img></div><nav><ul><li>ghij</ul></nav></body></html>"
    )
    assert nodes.tags == ["", "html", "body", "div", "p", "nav", "ul", "li"]
    assert nodes.parents.tolist() == [0, 0, 1, 2, 3, 2, 5, 6]
    assert nodes.depths.tolist() == [0, 1, 2, 3, 4, 3, 4, 5]
    assert nodes.first.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert nodes.end.tolist() == [2, 2, 2, 1, 1, 2, 2, 2]
    lengths = [len(text) for text in document.texts]
    assert lengths == [len("abcdef"), 4]
    assert nodes.own_chars.tolist() == [0, 0, 0, 0, 6, 0, 0, 4]
    assert nodes.chars.tolist() == [10, 10, 10, 6, 6, 4, 4, 4]
    assert nodes.elements[[3, 4, 7]].tolist() == [6, 4, 1]
    assert nodes.links[[2, 3, 7]].tolist() == [2, 2, 0]
    assert nodes.addresses[[2, 3, 7]].tolist() == [1, 1, 0]
    assert nodes.images[[3, 4]].tolist() == [2, 1]
    assert nodes.targets.tolist() == [4, 7]
    assert nodes.around[[4, 5, 7]].tolist() == [0, IN_MARGIN, IN_MARGIN | IN_LIST]


def test_what_a_node_is_inside_of() -> None:
    _, nodes = nodes_of("<article><table><tr><td><form><p>x</form></table></article>")
    assert nodes.around[nodes.targets].tolist() == [IN_ARTICLE | IN_TABLE | IN_FORM]


def test_no_more_links_than_elements() -> None:
    _, nodes = nodes_of("<div>" + "<a href=1>a</a> <a href=2>b</a><br><br>" * 3 + "c</div>")
    assert (nodes.links <= nodes.elements).all()


def test_sums_below() -> None:
    _, nodes = nodes_of(f"<ul><li>{'o' * 50}<ul><li>{'x' * 90}<li>y</ul></ul>")
    assert sum_below(nodes.spans, np.array([1, 10, 100])).tolist() == [111, 10, 100]


def test_a_dump_and_empty_pages() -> None:
    document = mainmatter.read(Page("One\n\nTwo", format="text"))
    nodes = find_nodes(document)
    assert nodes.tags == ["", "p", "p"]
    assert nodes.targets.tolist() == [1, 2]
    for page in (Page(""), Page("", format="text"), Page("<p></p>")):
        empty = find_nodes(mainmatter.read(page))
        assert len(empty) == 1
        assert empty.targets.tolist() == []


def test_shadow_roots_and_noscript() -> None:
    assert targets("<div><template shadowrootmode=open><p>in the shadow</p></template>light</div>") == [
        ("p", "in the shadow"),
        ("div", "in the shadow | light"),
    ]
    assert targets("<body><noscript><p>words of a text, many of them</p></noscript>")[0][0] == "p"


def random_page(rng: random.Random) -> str:
    pieces = ["<div>", "</div>", "<p>", "</p>", "<ul>", "<li>", "</ul>", "<b>", "</b>", "<a href=x>", "</a>", "<br>"]
    pieces += ["<table><tr><td>", "<td>", "</table>", "<span>", "</span>", "<br><br>", "<img>", "word ", "more words "]
    return "".join(rng.choice(pieces) + rng.choice(["", "x ", "some text "]) for _ in range(rng.randint(0, 60)))


def test_it_agrees_with_a_naive_count() -> None:
    rng = random.Random(3)
    for _ in range(150):
        document, nodes = nodes_of(random_page(rng))
        _, segments = document.parsed
        below: dict[object, set[int]] = {}
        for block, element in enumerate(segments.elements):
            node = element
            while node is not None:
                below.setdefault(node, set()).add(block)
                node = node.parent
        spans = {(int(a), int(b)) for a, b in zip(nodes.first, nodes.end, strict=True)}
        texts = document.texts
        for block, element in enumerate(segments.elements):
            target = int(nodes.targets[block])
            own = [i for i, other in enumerate(segments.elements) if other is element]
            inside = below.get(element, set(range(len(texts))))
            is_target = (
                element is not None and own == [block] and 10 * len(texts[block]) >= sum(len(texts[i]) for i in inside)
            )
            expected = inside if is_target else {block}
            assert (min(expected), max(expected) + 1) == (nodes.first[target], nodes.end[target])
            assert len(expected) == nodes.end[target] - nodes.first[target]
            assert nodes.chars[target] == sum(len(texts[i]) for i in expected)
            assert nodes.own_chars[target] == len(texts[block])
            assert (min(inside), max(inside) + 1) in spans
