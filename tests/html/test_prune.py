"""The page's own markup, without what was dropped and without anything that runs."""

from __future__ import annotations

import pytest

from mainmatter.html.parse import Element, Text, parse
from mainmatter.html.prune import prune
from mainmatter.html.segment import segment


def pruned(html: str, kept: str, *, images: bool = False, url: str | None = None) -> str:
    """Prune a page; `kept` has a letter for each block, x for those that are kept."""
    tree = parse(html)
    segments = segment(tree)
    assert len(segments.columns.texts) == len(kept)
    body = prune(tree, segments, [letter == "x" for letter in kept], images=images, url=url)
    assert body is not None
    return body.inner_html


@pytest.mark.parametrize(
    ("html", "kept", "expected"),
    [
        ("<p>a</p><p>b</p><p>c</p>", "x.x", "<p>a</p><p>c</p>"),
        ("<p>a</p>", ".", ""),
        ("<div><p>a</p></div><div><p>b</p></div>", ".x", "<div><p>b</p></div>"),
        ("<p>one <b>two</b> <i>three</i></p>", "x", "<p>one <b>two</b> <i>three</i></p>"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "x.x", "<ul><li>a</li><li>c</li></ul>"),
        (
            "<table><tr><th>A<th>B<tr><td>1<td>2</table>",
            "x.",
            "<table><tbody><tr><th>A</th><th>B</th></tr></tbody></table>",
        ),
        ("<p>one<br><br>two<br>three</p>", "xx", "<p>one<br><br>two<br>three</p>"),
        ("<pre>a\n  b</pre>", "x", "<pre>a\n  b</pre>"),
        ("<p>a<script>x()</script><style>s</style><!-- c --></p>", "x", "<p>a</p>"),
        ("<p>a</p><iframe src=x></iframe><svg><circle/></svg><img src=y>", "x", "<p>a</p>"),
        # The page sets its links apart by style; the words must not be glued without it.
        ("<p><a>Home</a><a>News</a></p>", "x", "<p><a>Home</a><a> News</a></p>"),
    ],
)
def test_what_is_left(html: str, kept: str, expected: str) -> None:
    assert pruned(html, kept) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p onclick='x()' style='s' class=c id=i data-x=y>a</p>", "<p>a</p>"),
        ("<p lang=de dir=rtl title=t>a</p>", '<p lang="de" dir="rtl" title="t">a</p>'),
        ("<p><a href='javascript:x()'>a</a></p>", "<p><a>a</a></p>"),
        ("<p><a href=' jAvA\tscript:x()'>a</a></p>", "<p><a>a</a></p>"),
        ("<p><a href='data:text/html,x' target=_blank>a</a></p>", "<p><a>a</a></p>"),
        (
            "<p><a href='https://e.example/?a=1&amp;b=2'>a</a></p>",
            '<p><a href="https://e.example/?a=1&amp;b=2">a</a></p>',
        ),
        ("<p><font color=red>a</font></p>", "<p>a</p>"),
        ("<td>a", "a"),
        (
            "<table><tr><td colspan=2 bgcolor=x>a<td>b</table>",
            '<table><tbody><tr><td colspan="2">a</td><td>b</td></tr></tbody></table>',
        ),
    ],
)
def test_markup_is_reduced_to_structure_and_links(html: str, expected: str) -> None:
    assert pruned(html, "x") == expected


@pytest.mark.parametrize(
    ("html", "kept", "expected"),
    [
        # Without a doctype a table does not close a paragraph (HTML standard, 13.2.6.4.7); when read again, it would.
        (
            "<p>a<table><tr><td>b<td>c</table>",
            "xx",
            "<div>a<table><tbody><tr><td>b</td><td>c</td></tr></tbody></table></div>",
        ),
        ("<p>a<table><tr><td>b</table>", "x.", "<p>a</p>"),
        ("<p>a<button>b</button>", "xx", "<div>a<div>b</div></div>"),
        ("<p>x = <math><mi>y</mi><mo>+</mo><mn>1</mn><annotation>tex</annotation></math>.</p>", "x", "<p>x = y+1.</p>"),
        ("<form><label>a</label><select><option>b<option>c</select></form>", "xxx",
         "<section><div>a</div><div><div>b</div><div>c</div></div></section>"),
        ("<xmp>a  &amp; b</xmp>", "x", "<pre>a  &amp;amp; b</pre>"),
        ("<div><template shadowrootmode=open><p>a</p><p>b</p></template>c</div>", "x.x",
         "<div><div><p>a</p></div>c</div>"),
        ("<template shadowrootmode=open><div><template shadowrootmode=open><p>a</p></template></div>b</template>", "xx",
         "<div><div><div><p>a</p></div></div>b</div>"),
    ],
)  # fmt: skip
def test_markup_that_is_no_output_leaves_its_text(html: str, kept: str, expected: str) -> None:
    assert pruned(f"<body>{html}", kept) == expected


def test_links_are_made_absolute_when_the_address_is_known() -> None:
    html = "<p><a href=/x>l</a> <a href=y>m</a> <a href='#z'>n</a></p>"
    assert pruned(html, "x", url="https://e.example/d/p.html") == (
        '<p><a href="https://e.example/x">l</a> <a href="https://e.example/d/y">m</a> '
        '<a href="https://e.example/d/p.html#z">n</a></p>'
    )
    assert pruned(html, "x") == '<p><a href="/x">l</a> <a href="y">m</a> <a href="#z">n</a></p>'


def test_a_base_element_counts() -> None:
    html = "<head><base href='https://cdn.example/z/'></head><p><a href=y>m</a></p>"
    assert pruned(html, "x", url="https://e.example/") == '<p><a href="https://cdn.example/z/y">m</a></p>'


def test_images_between_kept_blocks_are_kept_if_asked() -> None:
    html = "<p>a</p><img src=1.png alt=one onerror=x()><p>b</p><img src=2.png><p>c<img src=3.png>d</p>"
    assert pruned(html, "xx.", images=True) == '<p>a</p><img src="1.png" alt="one"><p>b</p>'
    assert pruned(html, "..x", images=True) == '<p>c<img src="3.png">d</p>'
    assert pruned(html, "xx.") == "<p>a</p><p>b</p>"


def test_a_page_without_a_body() -> None:
    tree = parse("<frameset><frame src=a></frameset>")
    assert prune(tree, segment(tree), [], images=False, url=None) is None


@pytest.mark.parametrize(
    "html",
    [
        "<svg><script>alert(1)</script></svg>kept",
        "<p>kept<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table>",
        "<p>kept<a href='&#106;avascript:alert(1)'>kept</a>",
        "<p>kept<form action=javascript:alert(1)><button formaction=javascript:alert(1)>kept</button></form>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>kept</noscript>",
        "<details open ontoggle=alert(1)>kept</details>",
        "<p>kept<img src='x' onerror='alert(1)'><a href='vbscript:x'>kept</a>",
        "<xmp><img src=x onerror=alert(1)></xmp>kept",
        "<template shadowrootmode=open><script>alert(1)</script>kept</template>",
        "<plaintext><script>alert(1)</script>",
    ],
)
@pytest.mark.parametrize("images", [False, True])
def test_nothing_that_runs_survives(html: str, images: bool) -> None:
    tree = parse(html)
    segments = segment(tree)
    body = prune(tree, segments, [True] * len(segments.columns.texts), images=images, url="https://e.example/")
    assert body is not None
    for element in parse(body.html).iter_elements():
        assert element.tag not in ("script", "style", "form", "button", "svg", "math", "iframe", "object", "template")
        for name, value in element.attrs.items():
            assert not name.startswith("on")
            assert "script:" not in str(value).lower()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="//[">x</a><a href="y">y</a>', '<a>x</a><a href="https://e.example/d/y">y</a>'),
        ('<base href="https://other.example/b/"><a href=x>y</a>', '<a href="https://other.example/b/x">y</a>'),
        # A table brings a link into a link: the outer one goes, since HTML cannot hold both.
        ("<a href=/x>a<table><tr><td><a href=/y>b</a><td>c</table></a>", None),
    ],
)
def test_links(html: str, expected: str | None) -> None:
    tree = parse(html)
    segments = segment(tree)
    body = prune(tree, segments, [True] * len(segments.elements), images=False, url="https://e.example/d/")
    assert body is not None
    assert "&lt;" not in body.inner_html
    if expected is not None:
        assert body.inner_html == expected


@pytest.mark.parametrize(("depth", "is_kept"), [(15, True), (16, False)])
def test_how_deep_an_image_or_a_space_may_stand_in_a_block(depth: int, is_kept: bool) -> None:
    opened, closed = "<span>" * depth, "</span>" * depth
    assert ("<img" in pruned(f"<p>a{opened}<img src=x>{closed}</p><p>b</p>", "x.", images=True)) == is_kept
    assert (" " in pruned(f"<p>a{opened} {closed}b</p>", "x")) == is_kept


@pytest.mark.parametrize(("depth", "is_separated"), [(15, True), (16, False)])
def test_how_deep_an_item_may_stand_in_another(depth: int, is_separated: bool) -> None:
    tree = parse(f"<ul><li>a{'<div>' * depth}</ul>")
    outer = tree.find("li")
    assert outer is not None
    innermost = [*outer.iter_elements("div")][-1]
    item = Element("li")
    item.append(Text("b"))
    innermost.append(item)
    body = prune(tree, segment(tree), [True, True], images=False, url=None)
    assert body is not None
    assert ("&lt;li&gt;" in body.inner_html) != is_separated  # what stands in another one is no markup to others


def test_a_table_of_one_cell_a_row_is_for_layout() -> None:
    assert "<table>" in pruned("<table><tr><td>a<td>b</table>", "x")
    assert "<table>" in pruned("<table><tr><td><p>a</p><td>b</table>", "xx")
    assert "<table>" not in pruned("<table><tr><td>a<tr><td>b</table>", "xx")
    assert "<table>" not in pruned("<table><tr><td>a<br><br>b<td>c</table>", "xxx")


def test_two_line_breaks_stand_between_two_blocks_of_one_element() -> None:
    two = "<p>one<br><br>two</p>"
    assert pruned(two, "xx") == two
    # What stood between them is dropped, and one line break is not enough.
    assert pruned("<div>one<p>x</p>two</div>", "x.x") == "<div>one<br><br>two</div>"
    assert pruned("<div>one<p>x</p><br>two</div>", "x.x") == "<div>one<br><br><br>two</div>"
