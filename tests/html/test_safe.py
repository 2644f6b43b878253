"""The marked page: every block can be found in it, and nothing of it runs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainmatter.api import read
from mainmatter.html import safe
from mainmatter.html.parse import as_text, parse
from mainmatter.html.safe import safe_html, with_loads
from mainmatter.records import Document, Page

URL = "https://example.org/news/page.html"


def marked(html: str, url: str | None = URL) -> tuple[Document, str]:
    document = read(Page(html, url))
    return document, safe_html(document)


def text_of_block(html: str, number: int) -> str:
    """The text that a browser finds in the marks of a block."""
    marks = [mark for mark in parse(html).iter_elements("mm-block") if mark.attr("data-block") == str(number)]
    return " ".join(" ".join(mark.text for mark in marks).split())


def test_every_block_can_be_found_by_its_number() -> None:
    document, html = marked(
        "<h1>Harvest</h1><p>The <b>first</b> apples are <a href=x>ripe</a>.</p>one<br><br>two<ul><li>red<li>green</ul>"
        "<table><tr><td>a<td>b</table>"
    )
    for number, text in enumerate(document.texts):
        assert text_of_block(html, number).replace(" ", "") == "".join(text.split())


@pytest.mark.parametrize(
    ("element", "text"),
    [
        ("<textarea>typed text</textarea>", "typed text"),
        ("<select><option>first choice<option>second choice</select>", "first choicesecond choice"),
        ("<math><mi>x</mi><mo>=</mo><mn>1</mn></math>", "x=1"),
        ("<xmp><b>literal</b></xmp>", "<b>literal</b>"),
        ("<template shadowrootmode=open><p>in the shadow</p></template>", "in the shadow"),
    ],
)
def test_elements_that_allow_no_marks_inside_are_marked_all_the_same(element: str, text: str) -> None:
    _, html = marked(f"<div>{element}</div>")
    assert text_of_block(html, 0) == text


def test_the_posts_of_a_page_that_holds_them_in_noscript_are_marked() -> None:
    post = "A post of the forum, long enough to be more than what is shown outside of it. " * 3
    document, html = marked(f"<body><p>Menu</p><noscript><div><p>{post}</p></div></noscript>")
    number = next(i for i, text in enumerate(document.texts) if text.startswith("A post"))
    assert text_of_block(html, number) == post.strip()


@pytest.mark.parametrize(
    "markup",
    [
        "<script>alert(1)</script>",
        "<svg><script>alert(1)</script></svg>",
        "<svg><a xlink:href='javascript:alert(1)'>x</a><set attributeName=href to='javascript:alert(1)' /></svg>",
        "<a href=' java\nscript:alert(1)'>x</a>",
        "<a href='&#1;javascript:alert(1)'>x</a>",
        "<img src=x onerror=alert(1)>",
        "<body onload=alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<object data=alert(1)></object><embed src=alert(1)>",
        "<form action=//alert(1)><button formaction=//alert(1)>x</button></form>",
        "<meta http-equiv=refresh content='0;url=//alert(1)'>",
        "<link rel=prefetch href=//alert(1)><link rel='modulepreload' href=//alert(1)>",
        "<a ping=//alert(1) href=x>x</a>",
        "<img src='data:image/svg+xml,<svg onload=alert(1)>'>",
        "<a href='data:text/html,alert(1)'>x</a>",
        "<noscript><p title='</noscript><script>alert(1)</script>'>",
        "<template><script>alert(1)</script></template>",
    ],
)
def test_what_could_run_or_act_is_taken_out(markup: str) -> None:
    assert "alert" not in re.sub(r">[^<]*<", "><", marked(f"<p>Words.</p>{markup}")[1])


def test_how_the_page_looks_is_kept() -> None:
    html = marked(
        "<style>p { color: red }</style><link rel='stylesheet preload' href=look.css>"
        "<p style='font-size: 2em' class=intro>Words.</p><img src=picture.png>"
    )[1]
    assert "<style>p { color: red }</style>" in html
    assert '<p style="font-size: 2em" class="intro">' in html
    assert '<link rel="stylesheet" href="look.css">' in with_loads(html)
    assert '<img src="picture.png">' in with_loads(html)


LOADED = """<style>@import "a.css"; @FONT-FACE { src: url(a.woff) } b > i { background: #234 Url( 'x.png' ) }</style>
<body background=b.png><p style="background: url(y.png)">Words. <img src=x.png srcset="a 2x, b 3x">
<video src=v.mp4 poster=p.png></video><svg><use xlink:href="b.svg#a"></use><image href="q.png"></image></svg>"""
HERE = """<style>b { fill: url(#a); background: url( "data:image/png;base64,AA" ) }</style>
<p>Words. <a href="/x">A link</a> <img src="data:image/png;base64,AA"><svg><use href="#a"></use></svg>"""


def test_what_would_be_loaded_is_set_aside_until_it_is_wanted() -> None:
    document, html = marked(LOADED)
    assert not re.search(r"""[\s"](?:src|srcset|poster|background|xlink:href)=""", html)
    assert set(re.findall(r"""url\(\s*['"]?(.{9})""", html, re.IGNORECASE)) == {"data:,mm-"}
    assert not re.search("@(?:import|font-face)", html, re.IGNORECASE)
    assert "background: #234" in html, "the colour behind a picture is lost"
    assert without_base(with_loads(html)) == safe_html(document, base=False)


def test_what_the_page_holds_itself_stays() -> None:
    document, html = marked(HERE)
    assert without_base(html) == safe_html(document, base=False)


def without_base(html: str) -> str:
    return re.sub(r"<base [^>]*>", "", html)


def test_names_of_ours_bring_nothing_back() -> None:
    html = with_loads(marked("<p data-mm-onclick='alert(1)' title=' data-mm-onclick=alert(2)'>Words.")[1])
    assert re.findall(r"<p[^>]*>", html) == ['<p title=" onclick=alert(2)">']


def test_marks_of_the_pages_own_are_none() -> None:
    _, html = marked("<p><mm-block data-block=7>Forged.</mm-block></p><p>True.</p>")
    assert [mark.attr("data-block") for mark in parse(html).iter_elements("mm-block")] == ["0", "1"]


def test_the_base_is_that_of_the_page_and_can_be_left_out() -> None:
    document, html = marked("<base href='https://other.example/'><p>Words.</p>")
    assert '<base href="https://other.example/">' in html
    assert "<base" not in safe_html(document, base=False)
    assert f'<base href="{URL}">' in marked("<p>Words.</p>")[1]
    assert "<base" not in marked("<p>Words.</p>", None)[1]
    assert "<base" not in marked("<p>Words.</p>", "javascript:alert(1)")[1]


def test_a_plain_text_dump_becomes_paragraphs() -> None:
    document = read(Page("A <b>title</b>\n\nSome words of a text & more.\n", format="text"))
    html = safe_html(document)
    for number, text in enumerate(document.texts):
        assert text_of_block(html, number) == " ".join(text.split())
    assert "<b>" not in html


@given(st.text(alphabet="<>/abp ='\"\n!-&;", max_size=60))
def test_any_markup_can_be_marked(html: str) -> None:
    document, result = marked(html)
    assert result.startswith("<!") or "<html" in result
    assert all(text_of_block(result, number) for number in range(len(document)))


# Each is harmless as it is parsed first, and another tree when that is written and parsed again.
MUTATING = [
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<math><mtext><table><mglyph><style><math><img src onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>",
    "<svg><p><style><!--</style><img src=1 onerror=alert(1)>--></style></p></svg>",
    "<math><annotation-xml encoding='text/html'><style><img src=x onerror=alert(1)></style></annotation-xml></math>",
    "<svg><foreignobject><p></svg><style><img src=x onerror=alert(1)></style></p></foreignobject></svg>",
    "<form><form><table></form><form></form></form></table><svg><style><img src=x onerror=alert(1)></style>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<select><option><style></option></select><img src=x onerror=alert(1)></style>",
    "<xmp><p id='</xmp><img src=x onerror=alert(1)>'>",
    "<a><table><a></table><p><a><i></p></a><div></i><button><p></button>",
    "<b><table><tr><td><b><p></b><form><td></form><form><a><svg><a><mi></table>",
]
PIECES = """
    <math> <svg> <mtext> <mglyph> <malignmark> <mi> <annotation-xml␣encoding=text/html> <foreignObject> <desc>
    <title> <style> <form> <table> <tr> <td> <caption> <p> <a> <b> <i> <select> <option> <template> <noscript>
    <textarea> <xmp> <pre> <button> <frameset> <!-- --> <![CDATA[ ]]> <img␣src=x␣onerror=alert(1)>
    <script>alert(1)</script> <a␣href=javascript:alert(1)>x</a> <plaintext>
    <a␣id="</style><img␣src=x␣onerror=alert(1)>"> <p␣title="--><script>alert(1)</script>"> <iframe␣src=x>
    <body␣onload=alert(1)> word </math> </svg> </mtext> </mglyph> </style> </form> </table> </p> </a> </b> </select>
    </title> </noscript> </td> </xmp>
"""


def assert_is_stable_and_harmless(html: str) -> None:
    tree = parse(html)
    safe._make_harmless(tree)
    safe._write_head(tree, "")
    assert tree.serialize() == html, "it is another page when it is parsed and made harmless again"
    for element in parse(html).iter_elements():
        assert element.tag not in safe._DROPPED
        assert not any(name.startswith("on") for name in element.attrs)
        assert "javascript" not in as_text(element.attr("href"))


@pytest.mark.parametrize("markup", MUTATING)
def test_what_is_parsed_again_is_still_harmless(markup: str) -> None:
    document = read(Page(f"<p>Words.</p>{markup}"))
    assert_is_stable_and_harmless(safe_html(document, base=False))


@given(st.lists(st.sampled_from(PIECES.split()), max_size=14))
def test_any_page_stays_the_same_when_it_is_parsed_again(pieces: list[str]) -> None:
    document = read(Page("<p>Words.</p>" + "".join(pieces).replace("␣", " ")))
    assert_is_stable_and_harmless(safe_html(document, base=False))


def test_a_page_that_does_not_settle_is_shown_as_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe, "_MOST_ROUNDS", 0)
    html = marked("<h2>A title</h2><p style='color: red'>Some <b>words</b>.</p>")[1]
    assert text_of_block(html, 1) == "Some words."
    assert "<b>" not in html
    assert "style" not in html
