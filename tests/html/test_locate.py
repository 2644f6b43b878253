"""Where a block stands: its XPath finds it again, and what hides it is known."""

from __future__ import annotations

import pytest

from mainmatter.html.locate import MAX_ATTRIBUTES, MAX_DEPTH, locate
from mainmatter.html.parse import Tree, parse
from mainmatter.html.segment import segment
from mainmatter.records import Block


def blocks(html: str) -> list[Block]:
    tree = parse(html)
    return locate(tree, segment(tree))


def find(tree: Tree, xpath: str) -> str:
    """The text of the one node that an XPath finds."""
    found = tree.xpath(xpath)
    assert isinstance(found, list)
    (node,) = found
    return node if isinstance(node, str) else node.text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a</p>", ["/html[1]/body[1]/p[1]"]),
        ("<p>a</p><div>b</div><p>c</p>", ["/html[1]/body[1]/p[1]", "/html[1]/body[1]/div[1]", "/html[1]/body[1]/p[2]"]),
        ("a<p>b</p>c", ["/html[1]/body[1]/text()[1]", "/html[1]/body[1]/p[1]", "/html[1]/body[1]/text()[2]"]),
        # The br's have text nodes between them: two blocks, found by their first text node.
        ("<p>a<br><br>b<br>c</p>", ["/html[1]/body[1]/p[1]/text()[1]", "/html[1]/body[1]/p[1]/text()[2]"]),
        (
            "<p><b>a</b><br><br><i>b</i></p>",
            ["/html[1]/body[1]/p[1]/b[1]/text()[1]", "/html[1]/body[1]/p[1]/i[1]/text()[1]"],
        ),
        ("<table><tr><td>a<td>b</table>", ["/html[1]/body[1]/table[1]/tbody[1]/tr[1]"]),
        # Names that are no plain HTML names are counted among all elements.
        ("<p>z</p><x-y><p>a</p></x-y>", ["/html[1]/body[1]/p[1]", "/html[1]/body[1]/*[2]/p[1]"]),
        ("loose", ["/html[1]/body[1]"]),
    ],
)
def test_xpaths(html: str, expected: list[str]) -> None:
    assert [block.xpath for block in blocks(html)] == expected


def test_xpaths_find_the_blocks_again() -> None:
    html = """<div>one<br><br>two<p>three</p>four</div><ul><li>five<ul><li>six</ul>seven</ul>
    <table><tr><td>eight<td>nine<tr><td><p>ten</p><td>eleven</table><my-card><p>twelve</p>thirteen</my-card>
    <div><div></div><!-- c --><div><section><h2>fourteen</h2></section></div></div>"""
    tree = parse(html)
    words = "one two three four five six seven eight\tnine ten eleven twelve thirteen fourteen".split(" ")
    found = locate(tree, segment(tree))
    assert [block.text for block in found] == words
    for block in found:
        assert find(tree, block.xpath).strip() == block.text.replace("\t", ""), block.xpath


def test_path_tag_and_depth() -> None:
    first, second = blocks("<div><ul><li>in <b>a</b> list</ul></div>after")
    assert (first.tag, first.path, first.depth) == ("li", "html/body/div/ul/li", 5)
    assert (second.tag, second.path, second.depth) == ("body", "html/body", 2)


def test_the_facts_of_the_columns_are_there_too() -> None:
    (block,) = blocks("<h2 id=top class='big red'>See <a href=x>this</a></h2>")
    assert block == Block(
        index=0,
        text="See this",
        kind=block.kind,
        level=2,
        position=3,
        tag="h2",
        path="html/body/h2",
        xpath="/html[1]/body[1]/h2[1]",
        depth=3,
        link_chars=4,
        link_count=1,
        attributes={"id": "top", "class": "big red"},
    )
    assert block.kind == "heading"


@pytest.mark.parametrize(
    ("html", "hidden"),
    [
        ("<p>a", False),
        ("<p hidden>a", True),
        ("<p hidden=until-found>a", True),
        ("<p aria-hidden=true>a", True),
        ("<p aria-hidden=false>a", False),
        ("<p style='display:none'>a", True),
        ("<p style='color: red; DISPLAY : NONE !important'>a", True),
        ("<p style='visibility: hidden'>a", True),
        ("<p style='display: block'>a", False),
        ("<div hidden><div><p>a</div></div>", True),
        ("<dialog>a</dialog>", True),
        ("<dialog open>a</dialog>", False),
        ("<body hidden><p>a", True),
        ("<div hidden></div><p>a", False),
    ],
)
def test_what_the_page_hides_is_marked_and_not_lost(html: str, hidden: bool) -> None:
    (block,) = blocks(html)
    assert block.text == "a"
    assert block.hidden is hidden


def test_deep_blocks_have_short_paths_that_still_find_them() -> None:
    depth = MAX_DEPTH + 50
    tree = parse("".join(f"<div>text{n} " for n in range(depth)))
    found = locate(tree, segment(tree))
    assert len(found) == depth
    assert max(block.depth for block in found) == MAX_DEPTH
    assert max(len(block.path) for block in found) < MAX_DEPTH * 5
    for block in found[-60:]:
        assert find(tree, block.xpath).split()[0] == block.text


def test_a_deep_place_inherits_what_hides_it() -> None:
    (block,) = blocks("<div>" * (MAX_DEPTH + 5) + "<div hidden>" + "<div>" * 5 + "a")
    assert block.hidden


def test_attributes_are_bounded() -> None:
    (block,) = blocks("<p " + " ".join(f"a{n}=v{n}" for n in range(1000)) + ">x")
    assert len(block.attributes) == MAX_ATTRIBUTES
    assert block.attributes["a0"] == "v0"


def test_how_deep_paths_are_and_how_many_attributes_there_are() -> None:
    # html and body are the first two.
    assert [block.depth for block in blocks("<div>" * 126 + "a")] == [128]
    assert [block.depth for block in blocks("<div>" * 127 + "a")] == [128]
    (at, beyond) = (blocks("<div>" * count + "a")[0].xpath for count in (126, 127))
    assert "descendant" not in at
    assert beyond.endswith("/descendant::text()[1]")
    for count, expected in ((64, 64), (65, 64)):
        (block,) = blocks(f"<p {' '.join(f'a{n}=x' for n in range(count))}>a")
        assert len(block.attributes) == expected
