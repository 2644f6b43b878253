"""Containers of small trees, worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mainmatter
from mainmatter.html.containers import AROUND
from mainmatter.html.segment import TAGS
from mainmatter.records import Containers, Document, Page
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = "<body><nav><ul><li>a</li><li>b</li></ul></nav><div></div><div><p>c<br><br>d<img></p><div>e</div></div>"


def containers(html: str) -> tuple[Document, Containers]:
    document = mainmatter.read(Page(html))
    return document, document.containers


def tags(document: Document, found: Containers) -> list[str]:
    outline = document.parsed[1].outline
    return [TAGS[outline.tags[number]] for number in found.numbers]


def test_elements_without_text_are_left_out() -> None:
    document, found = containers(PAGE)
    assert tags(document, found) == ["", "html", "body", "nav", "ul", "li", "li", "div", "p", "div"]
    assert found.parents.tolist() == [0, 0, 1, 2, 3, 4, 4, 2, 7, 7]
    assert found.depth.tolist() == [0, 1, 2, 3, 4, 5, 5, 3, 4, 4]


def test_what_they_hold() -> None:
    document, found = containers(PAGE)
    assert document.texts == ["a", "b", "c", "d", "e"]
    assert found.first.tolist() == [0, 0, 0, 0, 0, 0, 1, 2, 2, 4]
    assert found.end.tolist() == [5, 5, 5, 2, 2, 1, 2, 5, 4, 5]
    assert found.holders.tolist() == [5, 6, 8, 8, 9]
    # From the list to the body, since the navigation holds no more than the list does.
    assert found.wider.tolist() == [0, 0, 0, 2, 2, 4, 4, 2, 7, 7]
    assert found.siblings.tolist() == [2, 2, 1, 2, 1, 2, 2, 2, 2, 2]  # the document counts as its own child
    assert found.alike.tolist() == [1, 1, 1, 1, 1, 2, 2, 1, 1, 1]


def test_what_is_around() -> None:
    _, found = containers(PAGE)
    names = [
        {tags.split()[0] for bit, tags in enumerate(AROUND) if around >> bit & 1} for around in found.around.tolist()
    ]
    assert names == [set(), set(), set(), {"nav"}, {"nav", "ul"}, {"nav", "ul"}, {"nav", "ul"}, set(), set(), set()]


def test_pictures_and_text_nodes() -> None:
    document, found = containers("<img><p>a <b>b</b> c</p><img><img><p>d</p><img>")
    assert document.texts == ["a b c", "d"]
    assert found.pictures.tolist() == [1, 2]  # none is after the last block
    assert found.text_nodes.tolist() == [3, 1]


def test_joined_cells_are_one_block_of_their_row() -> None:
    document, found = containers("<table><tr><td>a<td>b<tr><td>c<td>d</table><p>e")
    assert document.texts == ["a\tb", "c\td", "e"]
    assert [tags(document, found)[holder] for holder in found.holders] == ["tr", "tr", "p"]
    assert found.text_nodes.tolist() == [2, 2, 1]
    assert found.end[0] == 3


def test_a_plain_text_dump_is_one_container() -> None:
    found = mainmatter.read(Page("One.\n\nTwo.\n", format="text")).containers
    assert (found.first.tolist(), found.end.tolist(), found.holders.tolist()) == ([0], [2], [0, 0])
    assert found.text_nodes.tolist() == [1, 1]


def test_an_empty_page() -> None:
    _, found = containers("")
    assert (found.first.tolist(), found.end.tolist(), len(found.holders)) == ([0], [0], 0)


def test_deep_and_long_pages() -> None:
    deep = containers("<aside>" + "<div>" * 500 + "a")[1]
    assert deep.depth.tolist() == list(range(len(deep.depth)))
    assert deep.around[-1] == 1 << AROUND.index("aside")
    assert not deep.wider.any()  # nothing around holds more than the innermost
    document = mainmatter.read(Page("<ul>" + "<li>a" * 100_000))
    assert document.containers.alike[-1] == 100_000


def test_long_pages_take_linear_time() -> None:
    def find(size: int) -> Callable[[], object]:
        document = mainmatter.read(Page("<ul>" + "<li>a" * size))
        return lambda: document.containers

    assert_linear(find, 100_000)
