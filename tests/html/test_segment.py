"""Where a page's text is cut, what kind each piece is, and how its text is put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mainmatter.html.parse import parse
from mainmatter.html.read import parse_and_segment
from mainmatter.html.segment import segment
from mainmatter.records import Columns, Kind

if TYPE_CHECKING:
    from mainmatter.html.segment import Segments


def columns(html: str) -> Columns:
    return parse_and_segment(html)[1].columns


def texts(html: str) -> list[str]:
    return columns(html).texts


def kinds(html: str) -> list[tuple[str, str]]:
    found = columns(html)
    return [(str(kind), text) for kind, text in zip(found.kinds, found.texts, strict=True)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", []),
        ("   \n\t ", []),
        ("<html><head><title>Only a title</title></head></html>", []),
        ("<script>run()</script><style>p { color: red }</style>", []),
        ("<!-- a comment --><!doctype html>", []),
        ("words", ["words"]),
        ("<p>one</p><p>two</p>", ["one", "two"]),
        ("<p>one<p>two", ["one", "two"]),
        ("before <div>inside</div> after", ["before", "inside", "after"]),
        ("<div>a<section>b<p>c</p>d</section>e</div>", ["a", "b", "c", "d", "e"]),
        ("above<hr>below", ["above", "below"]),
        ("<p></p><p> </p><div>&nbsp;</div><p>x</p>", ["x"]),
        ("<form>a<label>b</label><button>c</button>d</form>", ["a", "b", "c", "d"]),
        ("<select><option>one<option>two</select>", ["one", "two"]),
        ("<details><summary>sum</summary>body</details>", ["sum", "body"]),
    ],
)
def test_block_elements_cut_the_text(html: str, expected: list[str]) -> None:
    assert texts(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("one<br>two", ["one\ntwo"]),
        ("one<br><br>two", ["one", "two"]),
        ("one<br> \n <br>two", ["one", "two"]),
        ("one<br><br><br><br>two", ["one", "two"]),
        ("one<br><b><br>two</b>", ["one", "two"]),
        ("one<br>two<br>three<br><br>four", ["one\ntwo\nthree", "four"]),
        ("<br><br>one<br><br>", ["one"]),
        ("<br>one<br>", ["one"]),
        ("<p>a<br></p><p><br>b</p>", ["a", "b"]),
        ("<br><br><br>", []),
    ],
)
def test_one_line_break_keeps_the_block_and_two_end_it(html: str, expected: list[str]) -> None:
    assert texts(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>un<b>break</b>able</p>", "unbreakable"),
        ("<p>un<!-- -->broken</p>", "unbroken"),
        ("<p>a<script>x</script>b<style>y</style>c</p>", "abc"),
        ("<p>soft\u00adhy\u00adphen</p>", "softhyphen"),
        ("<p>  many \n\t spaces&nbsp;&nbsp;here </p>", "many spaces here"),
        ("<p>one <i>two</i> three</p>", "one two three"),
        ("<p>one<i> two </i>three</p>", "one two three"),
        ("<p>1&lt;2 &amp; 3&gt;2</p>", "1<2 & 3>2"),
        ("<p>w<wbr>b<wbr>r</p>", "wbr"),
        ("<p>a\x00b</p>", "ab"),
        ("<p>&#0;&#x110000;</p>", "\ufffd\ufffd"),
        ("<p>漢字<b>かな</b><i>交じり</i></p>", "漢字かな交じり"),
    ],
)
def test_inline_elements_do_not_cut_words(html: str, expected: str) -> None:
    assert texts(html) == [expected]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=1>Home</a><a href=2>News</a>", "Home News"),
        ("<span>Home</span><span>News</span><span>Contact</span>", "Home News Contact"),
        ("<span>Price</span><i>12</i>", "Price 12"),
        ("<b>Wiki</b><i>pedia</i>", "Wikipedia"),
        ("Home<img src=dot.gif>News<input>More", "Home News More"),
        ("<span>Home</span><span><span></span>News</span>", "Home News"),
        # Single letters are left alone: drop capitals, animated headlines. Two are a word.
        ("<span>S</span><span>PQR</span>", "SPQR"),
        ("<span>SPQ</span><span>R</span>", "SPQR"),
        ("<span>S</span><span>P</span><span>Q</span><span>R</span>", "SPQR"),
        ("<span>SP</span><span>QR</span>", "SP QR"),
        ("<b>S</b><i>PQR</i>", "SPQR"),  # nor are those that are emphasised
        ("<b>end.</b><i>Start</i>", "end.Start"),
        ("<b>漢字</b><i>漢字</i>", "漢字漢字"),
        ("<b>one</b>two", "onetwo"),
    ],
)
def test_neighbouring_inline_elements_do_not_glue_words(html: str, expected: str) -> None:
    assert texts(f"<p>{html}</p>") == [expected]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>t</h1>", [("heading", "t")]),
        ("<h3>a<p>b</p></h3>", [("heading", "a"), ("heading", "b")]),
        ("<p>t", [("paragraph", "t")]),
        ("<ul><li>a<li><p>b</p></ul>", [("list-item", "a"), ("list-item", "b")]),
        ("<ul><li>a<ul><li>b</ul>c</ul>", [("list-item", "a"), ("list-item", "b"), ("list-item", "c")]),
        ("<dl><dt>term<dd>meaning</dl>", [("list-item", "term"), ("list-item", "meaning")]),
        ("<blockquote>a<p>b</p></blockquote>", [("quote", "a"), ("quote", "b")]),
        ("<figure><img><figcaption>c</figcaption></figure>", [("caption", "c")]),
        ("<table><caption>c</caption></table>", [("caption", "c")]),
        ("<pre>x  y</pre>", [("code", "x  y")]),
        ("<xmp><b>x</b></xmp>", [("code", "<b>x</b>")]),
        ("<li><article>a<section>b</section></article></li>", [("paragraph", "a"), ("paragraph", "b")]),
        ("<blockquote><h2>a</h2></blockquote>", [("heading", "a")]),
        ("<table><tr><td><div>in a cell</div></table>", [("paragraph", "in a cell")]),
    ],
)
def test_kinds(html: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(html) == expected


def test_headings_have_their_level_and_others_none() -> None:
    found = columns("<h1>a</h1><h2>b</h2><h3>c</h3><h4>d</h4><h5>e</h5><h6>f</h6><p>g</p>")
    assert found.levels == [1, 2, 3, 4, 5, 6, 0]
    assert found.kinds == [Kind.HEADING] * 6 + [Kind.PARAGRAPH]


def test_preformatted_text_is_kept_verbatim() -> None:
    # The newline right after <pre> is not part of it (HTML standard, 13.2.6.4.7); trailing white space goes too.
    assert texts("<pre>\n  if x:\n\t\ty  =  1\n\n    z\n\n</pre>") == ["  if x:\n\t\ty  =  1\n\n    z"]
    assert texts("<pre>a<br>b</pre>") == ["a\nb"]
    assert texts("<pre><b>def</b> <i>f</i>():\n  pass</pre>") == ["def f():\n  pass"]


def test_controls_of_forms_are_known() -> None:
    html = "<p>a</p><label>b</label><button>c<b>d</b></button><select><option>e</select><textarea>f</textarea><p>g"
    assert columns(html).texts == ["a", "b", "cd", "e", "f", "g"]
    assert columns(html).controls == [False, True, True, True, True, False]


@pytest.mark.parametrize(
    ("html", "chars", "counts"),
    [
        ("<p>no link</p>", [0], [0]),
        ("<p>see <a href=x>this</a></p>", [4], [1]),
        ("<p><a href=x>one</a> and <a href=y>three</a></p>", [8], [2]),
        ("<p><a href=x>un<b>break</b>able</a></p>", [11], [1]),
        ("<a href=x><p>one</p><p>three</p></a>", [3, 5], [1, 1]),
        ("<a href=x>one</a><p>none</p><a href=x>two</a>", [3, 0, 3], [1, 0, 1]),
        ("<p><a href=x><img></a> text</p>", [0], [0]),
    ],
)
def test_link_characters_and_links_are_counted(html: str, chars: list[int], counts: list[int]) -> None:
    assert columns(html).link_chars == chars
    assert columns(html).link_counts == counts


def test_positions_number_the_structural_tags() -> None:
    # html 1, body 2, div 3, p 4, p 5 (empty), ul 6, li 7, li 8, p 9, b is not structural.
    html = "<div><p>four</p><p></p><ul><li>seven<li>eight</ul><p>ni<b>ne</b></p></div>"
    assert list(zip(columns(html).texts, columns(html).positions, strict=True)) == [
        ("four", 4),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
    ]


def test_text_after_the_end_of_a_block_has_a_position_of_its_own() -> None:
    # html 1, body 2, div 3; the texts around the div are three strings, since two tags stand between them.
    assert columns("a<div>b</div>c").positions == [2, 3, 4]
    assert columns("a<div>b</div>c<p>d").positions == [2, 3, 4, 5]


def test_positions_grow_with_every_block() -> None:
    found = columns("a<br><br>b<p>c<br><br>d</p>e<div><div>f</div>g<hr>h").positions
    assert found == sorted(set(found))
    assert len(found) == 8


@pytest.mark.parametrize(
    "html",
    [
        "<svg><title>t</title><text>drawn</text></svg>",
        "<canvas>fallback</canvas><video>fallback</video><audio>fallback</audio><object>fallback</object>",
        "<iframe>fallback</iframe><noframes>fallback</noframes><noembed>fallback</noembed>",
        "<template><p>not shown</p></template>",
        "<datalist><option>suggestion</datalist>",
        "<head><title>t</title><style>s</style><script>s</script></head>",
        "<frameset><frame src=a><noframes><p>old browsers</p></noframes></frameset>",
    ],
)
def test_what_is_no_text_of_the_page_is_skipped(html: str) -> None:
    assert texts(html) == []


def test_a_formula_is_read_without_its_source() -> None:
    assert texts("<p>If <math><semantics><mi>x</mi><annotation>\\frac</annotation></semantics></math> then</p>") == [
        "If x then"
    ]


def test_a_declarative_shadow_root_is_read() -> None:
    html = "<x-card><template shadowrootmode=open><p>inside the card</p></template></x-card><template>no</template>"
    assert texts(html) == ["inside the card"]


class TestNoscript:
    def test_a_notice_is_left_out(self) -> None:
        html = "<body><noscript><p>Turn scripts on</p></noscript><p>The text of the page is longer.</p>"
        assert texts(html) == ["The text of the page is longer."]

    def test_it_is_read_where_the_page_has_little_else(self) -> None:
        html = "<body><p>Forum</p><noscript><p>First post of the thread</p><p>Second post</p></noscript>"
        assert texts(html) == ["Forum", "First post of the thread", "Second post"]

    def test_styles_in_noscript_are_no_text(self) -> None:
        html = "<body><p>12345</p><noscript><style>p{color:red}</style><p>ab</p></noscript>"
        assert texts(html) == ["12345"]

    def test_it_is_left_out_when_it_is_as_long_as_the_rest(self) -> None:
        assert texts("<body><p>12345</p><noscript><p>67890</p></noscript>") == ["12345"]

    def test_it_is_read_when_it_is_one_character_longer(self) -> None:
        assert texts("<body><p>12345</p><noscript><p>678901</p></noscript>") == ["12345", "678901"]

    def test_a_page_of_nothing_else(self) -> None:
        assert texts("<body><noscript>All of it</noscript>") == ["All of it"]


def test_marks_of_the_segmenter_in_a_page_do_no_harm() -> None:
    assert texts("<p>a\x01\x01b</p><p>c\x01</p><p>\x01d</p>") == ["a b", "c", "d"]
    assert texts("<p>a\x02b</p><p>c</p>") == ["a\nb", "c"]


@pytest.mark.parametrize("text", ["\u00ad", "\u00ad \u00ad", "\x02", "\x01\x01"])
def test_no_block_is_empty(text: str) -> None:
    assert texts(f"<p>{text}</p><p>x</p>") == ["x"]


@pytest.mark.parametrize("space", ["\x0c", "\x0b", "\x85", "\u2003", "\u2028", "\u3000"])
def test_all_white_space_is_collapsed(space: str) -> None:
    assert texts(f"<p>a{space}b</p>") == texts(f"<p>a{space} b</p>") == ["a b"]


@pytest.mark.parametrize("link", ["\n      link\n   ", "  link"])
def test_link_characters_are_characters_of_the_text(link: str) -> None:
    found = columns(f"<p>a <a href=x>{link}</a></p>")
    assert found.texts == ["a link"]
    assert found.link_chars == [4]


@pytest.mark.parametrize("html", ["<pre>  x</pre>", "<pre>  <b>x</b></pre>"])
def test_preformatted_text_keeps_the_indentation_of_its_first_line(html: str) -> None:
    assert texts(html) == ["  x"]


def test_foster_parented_text_stands_before_its_table() -> None:
    assert texts("<table>lost<tr><td>cell</table>") == ["lost", "cell"]


def test_text_nodes_of_the_blocks_are_those_of_the_page_in_order() -> None:
    segments = segment(parse("<p>one <b>two</b></p> <p>three<br>four</p><script>x</script>five"))
    assert [[node.data for node in segments.text_nodes(i)] for i in range(3)] == [
        ["one ", "two"],
        ["three", "four"],
        ["five"],
    ]


def test_only_keeps_all_lists_parallel() -> None:
    segments = segment(parse("<h1>a</h1><p>b <a href=x>c</a></p><ul><li>d</ul>"))
    some: Segments = segments.only([1, 2])
    assert some.columns == Columns(
        texts=["b c", "d"],
        kinds=[Kind.PARAGRAPH, Kind.LIST_ITEM],
        levels=[0, 0],
        positions=[4, 6],
        link_chars=[1, 0],
        link_counts=[1, 0],
        controls=[False, False],
    )
    assert [element.tag for element in some.elements if element is not None] == ["p", "li"]
    assert [[node.data for node in some.text_nodes(i)] for i in range(2)] == [["b ", "c"], ["d"]]


def test_names_inside_of_a_formula_mean_nothing() -> None:
    assert texts("<p>a <math><link>b</link><th>c</th><annotation>d</annotation></math> e") == ["a bc e"]
    # The tags of templates in formulas do not reach the parser (html/depth.py).
    assert texts("<p>a <math><template>b</template><mtext>c<template>d</template></mtext></math> e") == ["a bc d e"]
