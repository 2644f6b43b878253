"""What was kept of a page, as a tree: one test a construct."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from mainmatter.html.read import parse_and_segment
from mainmatter.render.build import kept_content
from mainmatter.render.content import HOLD_BLOCKS, HOLD_INLINE, Content
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://example.org/news/page.html"


def build(html: str, *, images: bool = False, dropped: str = "") -> Content:
    """The tree of a page of which all is kept but the blocks with that text."""
    tree, segments = parse_and_segment(html)
    kept = [not dropped or dropped not in text for text in segments.columns.texts]
    return kept_content(tree, segments, kept, images=images, url=URL)


def short(node: Content | str) -> str:
    """A node on one line: its type, what is told of it, and its children in parentheses."""
    if isinstance(node, str):
        return repr(node)
    told = {
        "heading": str(node.level),
        "list": f"ordered-{node.start}" if node.ordered else "",
        "item": "" if node.checked is None else str(node.checked),
        "row": "head" if node.is_header else "",
        "cell": " ".join(filter(None, ("head" if node.is_header else "", node.align))),
        "code": node.language,
        "link": node.address,
        "image": node.address,
        "footnote": node.label,
        "reference": node.label,
    }.get(node.type, "")
    return f"{node.type}{f'[{told}]' if told else ''}({', '.join(map(short, node.children))})"


def tree_of(html: str, *, images: bool = False, dropped: str = "") -> list[str]:
    """What the document holds, each on a line."""
    return [short(child) for child in build(html, images=images, dropped=dropped).children]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        pytest.param("<h3>A <b>b</b></h3>", ["heading[3]('A ', strong('b'))"], id="heading"),
        pytest.param(
            "<h2><strong>All bold</strong></h2>", ["heading[2]('All bold')"], id="a heading is strong as it is"
        ),
        pytest.param(
            '<h2>Name<a class="headerlink" href="#name" title="Link to this heading">¶</a></h2>',
            ["heading[2]('Name')"],
            id="link to the heading itself",
        ),
        pytest.param(
            '<h2>Name <a class="anchor" href="#name">Permalink</a></h2>',
            ["heading[2]('Name')"],
            id="permalink in words",
        ),
        pytest.param(
            '<h2>1.2 <a class="anchor" href="#t">Title of it</a></h2>',
            ["heading[2]('1.2 ', link[https://example.org/news/page.html#t]('Title of it'))"],
            id="a heading that is in part a link to itself",
        ),
        pytest.param(
            '<h2><a class="anchor" href="#name">Name</a></h2>',
            ["heading[2](link[https://example.org/news/page.html#name]('Name'))"],
            id="a heading that is a link to itself",
        ),
        pytest.param(
            "<p>a <strong>b</strong> c</p><p><strong>&nbsp;</strong>d</p>",
            ["paragraph('a ', strong('b'), ' c')", "paragraph('d')"],
            id="bold white space is none",
        ),
        pytest.param("<p>a&nbsp;b&shy;c\n d</p>", ["paragraph('a bc d')"], id="white space"),
        pytest.param(
            "<p><b>a </b><b>b</b><i> c</i></p>",
            ["paragraph(strong('a b'), ' ', emphasis('c'))"],
            id="neighbouring emphasis is one, spaces stand outside",
        ),
        pytest.param(
            "<p><b>a <i>b</i></b><i>c</i></p>", ["paragraph(strong('a ', emphasis('b')), emphasis('c'))"], id="nested"
        ),
        pytest.param(
            "<b>one<br><br>two</b> tail",
            ["paragraph(strong('one'))", "paragraph(strong('two'), ' tail')"],
            id="paragraphs in emphasis",
        ),
        pytest.param("<p><b>a<br>b</b></p>", ["paragraph(strong('a', break(), 'b'))"], id="line break in emphasis"),
        pytest.param("<p>a<span> </span>b<span><br></span>c</p>", ["paragraph('a b', break(), 'c')"], id="lone glue"),
        pytest.param("<p><br>a<br></p>", ["paragraph('a')"], id="line breaks at the ends"),
        pytest.param(
            "<p><code>a</code> <code>b <i>c</i></code></p>",
            ["paragraph(code-span('a'), ' ', code-span('b c'))"],
            id="code spans are not joined, and are text alone",
        ),
        pytest.param(
            "<p><s>a</s><del>b</del> H<sub>2</sub>O<sup>x</sup></p>",
            ["paragraph(strike('ab'), ' H', subscript('2'), 'O', superscript('x'))"],
            id="other marks",
        ),
        pytest.param(
            '<p><a href="a b.html">x</a><a href="//[">y</a><a href="/r"></a><a href="../q#f">z</a></p>',
            ["paragraph(link[https://example.org/news/a b.html]('x'), 'y', link[https://example.org/q#f]('z'))"],
            id="links",
        ),
        pytest.param(
            "<head><base href='https://cdn.example/z/'></head><p><a href=y>m</a></p>",
            ["paragraph(link[https://cdn.example/z/y]('m'))"],
            id="base",
        ),
        pytest.param("<p><a>Home</a><a>News</a></p>", ["paragraph('Home News')"], id="words set apart by style"),
        pytest.param(
            "<a href=/x>a<table><tr><td><a href=/y>b</a><td>c</table></a>",
            [
                "paragraph(link[https://example.org/x]('a'))",
                "table(row(cell(link[https://example.org/y]('b')), cell(link[https://example.org/x]('c'))))",
            ],
            id="a link in a link",
        ),
        pytest.param(
            "<form><label>a</label><select><option>b<option>c</select></form>",
            ["paragraph('a')", "paragraph('b')", "paragraph('c')"],
            id="form",
        ),
        pytest.param(
            "<div><template shadowrootmode=open><p>a</p><p>b</p></template>c</div>",
            ["paragraph('a')", "paragraph('b')", "paragraph('c')"],
            id="shadow root",
        ),
        pytest.param(
            "<table><tr><td>a</td><template shadowrootmode=open>b</template><tr><td>c<td>d</table>",
            [
                "table(row(cell('a'), cell('b')), row(cell('c'), cell('d')))",
            ],
            id="shadow root in a row",
        ),
        pytest.param(
            "<table><tr><template shadowrootmode=open>a</template></table>",
            ["paragraph('a')"],
            id="shadow root that is a row",
        ),
        pytest.param("<xmp>a  &amp; b</xmp>", ["code('a  &amp; b')"], id="text that is no markup"),
        pytest.param("<frameset><frame src=a></frameset>", [], id="nothing"),
        pytest.param(
            '<p><code>f(<a href="/x">x</a>)</code></p>',
            ["paragraph(code-span('f('), link[https://example.org/x](code-span('x')), code-span(')'))"],
            id="a link in code",
        ),
        pytest.param(
            '<a href="/c"><h3>Card</h3><p>Text</p></a>',
            ["heading[3](link[https://example.org/c]('Card'))", "paragraph(link[https://example.org/c]('Text'))"],
            id="blocks in a link",
        ),
        pytest.param(
            "<ul><li>a<ul><li>b</ul><li><p>d<p>e</ul>",
            ["list(item(paragraph('a'), list(item(paragraph('b')))), item(paragraph('d'), paragraph('e')))"],
            id="nested list",
        ),
        pytest.param(
            "<ul><li>a</li><ul><li>b</li></ul></ul>",
            ["list(item(paragraph('a'), list(item(paragraph('b')))))"],
            id="a list between the items of another",
        ),
        pytest.param("<ol start=3><li>a</ol>", ["list[ordered-3](item(paragraph('a')))"], id="start"),
        pytest.param("<ol><li value=7>a</ol>", ["list[ordered-7](item(paragraph('a')))"], id="value"),
        pytest.param("<li>a</li><li>b</li>", ["list(item(paragraph('a')), item(paragraph('b')))"], id="items alone"),
        pytest.param(
            "<ul><li class=task><input type=checkbox checked> a<li><input type=checkbox disabled>b"
            "<li><input type=checkbox>c</ul>",
            ["list(item[True](paragraph('a')), item[False](paragraph('b')), item(paragraph('c')))"],
            id="tasks",
        ),
        pytest.param(
            "<dl><div><dt>t<dt>u<dd>d</div></dl>",
            ["definitions(term('t'), term('u'), definition(paragraph('d')))"],
            id="definitions",
        ),
        pytest.param("<dl><dt>t<dt>u</dl>", ["paragraph('t')", "paragraph('u')"], id="terms without definitions"),
        pytest.param("<blockquote>a<p>b</p></blockquote>", ["quote(paragraph('a'), paragraph('b'))"], id="quote"),
        pytest.param(
            "<details><summary>s</summary>a</details>", ["details(summary('s'), paragraph('a'))"], id="details"
        ),
        pytest.param("<p>a</p><hr><p>b</p><hr>", ["paragraph('a')", "rule()", "paragraph('b')", "rule()"], id="rule"),
    ],
)
def test_constructs(html: str, expected: list[str]) -> None:
    assert tree_of(html) == expected


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="language-python">x</code></pre>', "python"),
        ('<pre class="lang-js">x</pre>', "js"),
        ('<div class="highlight-rust notranslate"><div class="highlight"><pre>x</pre></div></div>', "rust"),
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "shell"),
        ('<div class="mw-highlight mw-highlight-lang-ini"><pre>x</pre></div>', "ini"),
        ('<pre class="brush: php; gutter: false">x</pre>', "php"),
        ('<pre class="sourceCode haskell"><code>x</code></pre>', "haskell"),
        ('<pre><code class="hljs cpp">x</code></pre>', "cpp"),
        ('<pre data-lang="go">x</pre>', "go"),
        ('<pre class="javascript">x</pre>', "javascript"),
        ('<pre><code class="wrap Python">x</code></pre>', "python"),
        ('<pre data-enlighter-language="java">x</pre>', "java"),
        ('<pre class="lang:ruby decode:true">x</pre>', "ruby"),
        ('<div class="highlight-default notranslate"><pre>x</pre></div>', ""),
        ('<pre class="language-plaintext">x</pre>', ""),
        ('<pre><code class="lang-auto">x</code></pre>', ""),
        ('<pre><code class="language-undefined">x</code></pre>', ""),
        ("<pre>x</pre>", ""),
    ],
)
def test_language_of_code(html: str, language: str) -> None:
    assert [child.language for child in build(html).nodes] == [language]


def test_code_keeps_its_white_space_and_no_other() -> None:
    html = "<pre>\n\n  a\n<span>    b</span>\n</pre><pre><div>c</div><div>&nbsp;d</div></pre><pre>e<br><br>f</pre>"
    assert [child.children for child in build(html).nodes] == [["  a\n    b"], ["c\n d"], ["e\n\nf"]]


def test_code_with_an_element_for_each_line() -> None:
    lines = "<div>f {<br></div><div><br></div><div>  <i>a</i>;<br></div><div>}</div>"
    assert [child.children for child in build(f"<pre><code>{lines}</code></pre>").nodes] == [["f {\n\n  a;\n}"]]


@pytest.mark.parametrize(
    "picture",
    [
        "<img src=/real.jpg data-src=/other.jpg>",
        "<img src=/img/placeholder.svg data-src=/real.jpg>",
        "<img src=/img/placeholder.svg srcset='/small.jpg 1x, /real.jpg 2x'>",
        "<picture><source data-srcset='/real.jpg 1x'><img src='data:image/gif,0' data-src=''></picture>",
        "<img src=/real.jpg>",
    ],
)
def test_address_of_a_picture(picture: str) -> None:
    assert tree_of(f"<p>{picture} Text</p>", images=True) == [
        "paragraph(image[https://example.org/real.jpg](), ' Text')"
    ]


def test_table_of_data() -> None:
    html = """<table><caption>Cap</caption><thead><tr><td>A<td colspan=2 align=right>B<tbody>
        <tr><th rowspan=2>1<td>2<td style="text-align: center"><b>3</b><tr><td><a href="/x">4</a></table>"""
    assert [short(part) for part in build(html).nodes[0].children] == [
        "caption('Cap')",
        "row[head](cell('A'), cell[right]('B'), cell[right]())",
        "row(cell[head]('1'), cell('2'), cell[center](strong('3')))",
        "row(cell(), cell(link[https://example.org/x]('4')), cell())",
    ]


def test_merged_cells_of_a_table_that_was_dissolved_change_no_other() -> None:
    layout = "<table><tr><th colspan=2><h3>T</h3></th></tr></table>"
    data = "<table><tr><td class=a>a</td><td>b</td></tr><tr><td class=a>c</td><td>d</td></tr></table>"
    assert "cell()" not in str(tree_of((layout + data) * 20))


def test_table_in_preformatted_text_is_no_code() -> None:
    assert tree_of("<pre><table><tr><td>a<td>b</table></pre>") == ["table(row(cell('a'), cell('b')))"]


def test_row_of_header_cells_is_a_header() -> None:
    assert tree_of("<table><tr><th>A<th>B<tr><td>1<td>2</table>")[0].startswith("table(row[head](cell[head]('A')")


def test_cells_of_a_table_with_a_header_may_hold_paragraphs_and_lists() -> None:
    html = "<table><tr><th>A<th>B<tr><td>1<td><p>a</p><ul><li>b<li><b>c</b></ul></table>"
    assert short(build(html).nodes[0].children[1]) == "row(cell('1'), cell('a', break(), 'b', break(), strong('c')))"
    assert tree_of(html.replace("<p>a</p>", "<h3>a</h3>"))[0] == "paragraph('A')"


def test_sections_of_a_table_in_their_order() -> None:
    html = "<table><tfoot><tr><td>sum<td>3<thead><tr><td>k<td>v<tbody><tr><td>a<td>3</table>"
    assert [part.partition(")")[0] for part in map(short, build(html).nodes[0].children)] == [
        "row[head](cell('k'",
        "row(cell('a'",
        "row(cell('sum'",
    ]


def test_tools_are_no_content() -> None:
    html = """<h2>Use<span class="mw-editsection">[<a href="/e">edit</a>]</span></h2>
        <table><tr><td class="gutter gl"><pre class="lineno">1\n2</pre><td><pre>a\nb</pre></table>
        <pre><span class="lineno"><a>1</a></span>c<button><b>Copy</b></button></pre>"""
    assert tree_of(html) == ["heading[2]('Use')", r"code('a\nb')", "code('c')"]


@pytest.mark.parametrize("numbers", [99, 100])
def test_text_in_a_gutter_is_content(numbers: int) -> None:
    assert tree_of('<div class="gutter">An article</div>') == ["paragraph('An article')"]
    assert tree_of('<pre class="linenos">a = 1</pre>') == ["code('a = 1')"]
    # So many texts are looked at.
    assert bool(tree_of(f'<div class="gutter">{"<b>1</b>" * numbers}An article</div>')) is (numbers == 99)


def test_the_largest_picture_and_no_ornaments() -> None:
    html = '<p>a<img srcset="/s.jpg 400w, /l,1.jpg 800w,/m.jpg 640w"><img src="/spacer.gif"><img srcset="/one.jpg"></p>'
    images = [f"image[https://example.org/{name}]()" for name in ("l,1.jpg", "one.jpg")]
    assert tree_of(html, images=True) == [f"paragraph('a', {', '.join(images)})"]


def test_title_that_is_said_to_be_wider_than_its_table() -> None:
    rows = "<tr><td>a<td>b" * 50
    [table] = tree_of(f"<table><tr><th colspan=999>All{rows}</table>")
    assert table.startswith("table(row[head](cell[head]('All'), cell()), row(")


@pytest.mark.parametrize("candidates", ["#, # 2x", " 150w,  200w", "{{ image | width: 2048 }} 2048w"])
def test_sizes_without_an_address_are_no_pictures(candidates: str) -> None:
    assert tree_of(f'<p>a<img srcset="{candidates}"></p>', images=True) == ["paragraph('a')"]


def test_many_sources_of_pictures_take_linear_time() -> None:
    def make(size: int) -> Callable[[], object]:
        return partial(build, "<p>a<picture>" + "<source>" * size + "<img>" * size, images=True)

    assert_linear(make, 4_000)  # what is quadratic takes ten seconds


def test_dropped_cells_leave_their_places_but_no_empty_column() -> None:
    html = "<table><tr><td>a<td>b<td><img><tr><td><p>c</p><td><p>drop</p><td></table>"
    assert tree_of(html, dropped="drop") == ["table(row(cell('a'), cell('b')), row(cell('c'), cell()))"]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><td>a<p>b</p><td>c</table>", ["paragraph('a')", "paragraph('b')", "paragraph('c')"]),
        ("<table><tr><td><h2>a</h2><td>b</table>", ["heading[2]('a')", "paragraph('b')"]),
        ("<table><tr><td>a<tr><td>b</table>", ["paragraph('a')", "paragraph('b')"]),
        (
            "<table><tr><td>a<td><table><tr><td>b<td>c</table></table>",
            ["paragraph('a')", "table(row(cell('b'), cell('c')))"],
        ),
    ],
)
def test_layout_tables_are_dissolved(html: str, expected: list[str]) -> None:
    assert tree_of(html) == expected


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td colspan=1000 rowspan=60000>a<td>b" * 300,
        "<tr>" + "<td>a" * 10_003 + "<tr><td>a<td>b",
        "<tr>" + "<td rowspan=9>a" * 2_000 + "<tr><td>b" * 9,
    ],
)
def test_tables_that_would_need_too_many_empty_cells_are_dissolved(rows: str) -> None:
    assert {child.type for child in build(f"<table>{rows}</table>").nodes} == {"paragraph"}


def test_pictures() -> None:
    html = """<p>nav</p><img src=logo.png><h1>Title</h1><p>nav</p><figure><a href="/big.jpg"><img data-src="/l.jpg"
        src="data:image/gif,0" alt=" Lead "></a><figcaption>C</figcaption></figure><p><img src="/x.png">Text</p>
        <img src="pixel.gif" width=1 height=1><p>nav</p><img src="teaser.jpg"><p>nav</p>"""
    assert tree_of(html, images=True, dropped="nav") == [
        "heading[1]('Title')",
        "figure(paragraph(link[https://example.org/big.jpg](image[https://example.org/l.jpg]('Lead'))), caption('C'))",
        "paragraph(image[https://example.org/x.png](), 'Text')",
    ]
    assert "image" not in str(tree_of(html, dropped="nav"))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a <math><mi>x</mi></math> b</p>", ["paragraph('a ', formula('x'), ' b')"]),
        (
            "<p>a</p><div class='katex-display'><math><mi>x</mi></math><span>x</span></div>",
            ["paragraph('a')", "formula('x')"],
        ),
        ("<p>a <script type='math/tex'>x</script>b</p>", ["paragraph('a ', formula('x'), 'b')"]),
        (
            "<p>a</p><script type='math/tex; mode=display'>x</script><p>b</p>",
            ["paragraph('a')", "formula('x')", "paragraph('b')"],
        ),
        (r"<p>a <b>b \(x^2\)</b></p>", ["paragraph('a ', strong('b ', formula('x^2')))"]),
        ("<p>$5 or $10</p>", ["paragraph('$5 or $10')"]),
        ("<script>inlineMath: [['$','$']]</script><p>let $x^2$ be</p>", ["paragraph('let ', formula('x^2'), ' be')"]),
        (r"<p><code>\(x^2\)</code></p>", [r"paragraph(code-span('\\(x^2\\)'))"]),
        ("<p>a<br><br><math><mi>x</mi></math> b</p>", ["paragraph('a')", "paragraph(formula('x'), ' b')"]),
        ("<h2><math><mi>x</mi></math></h2>", ["heading[2](formula('x'))"]),
        ("<p>a<br>$$ x^2<br>+ y $$</p>", ["paragraph('a', break(), formula('x^2 + y'))"]),
        (r"<p>\(a<br>b<br>c</p>", [r"paragraph('\\(a', break(), 'b', break(), 'c')"]),
        (
            "<p>a <span><img class=latex alt='x'></span> <i><script type='math/tex'>y</script></i>",
            ["paragraph('a ', formula('x'), ' ', formula('y'))"],
        ),
        (
            "<p>a</p><p><img class=latex alt='x'></p><center> <script type='math/tex'>y</script></center><p>b",
            ["paragraph('a')", "paragraph(formula('x'))", "paragraph(formula('y'))", "paragraph('b')"],
        ),
        ("<p><img class=latex alt='x'></p><p>a</p><p>nav <img class=latex alt='x'></p>", ["paragraph('a')"]),
    ],
)
def test_formulas(html: str, expected: list[str]) -> None:
    assert tree_of(html, dropped="nav") == expected


def test_a_soft_hyphen_alone_is_no_space() -> None:
    assert tree_of("<p>co<b>&shy;</b>op<i> &shy;</i>x</p>") == ["paragraph('coop x')"]


def test_footnotes() -> None:
    html = """<p>a<sup><a href="#fn1">1</a></sup> b<sup>[<a href="#fn2" id="r2">*</a>]</sup>
        <a href="#sec" class="reference">see</a></p>
        <ol><li id=fn1>One <a href="#r1">↩</a><li id=fn2><p>Two <a href="#r2">^</a></p></ol>"""
    assert tree_of(html) == [
        "paragraph('a', reference[1](), ' b', reference[note-2](), ' ', link[https://example.org/news/page.html#sec]('see'))",
        "footnote[1](paragraph('One'))",
        "footnote[note-2](paragraph('Two'))",
    ]


@pytest.mark.parametrize(
    "html",
    [
        '<p>See <a class="reference internal" href="#s">Setup</a></p><div id=s><h2>Setup</h2><p>b</p></div>',
        '<p>See<sup><a href="#s">1</a></sup></p><div id=s><h2>1</h2><p>b</p></div>',
    ],
)
def test_sections_are_no_footnotes(html: str) -> None:
    assert "footnote" not in str(tree_of(html))
    assert "link[https://example.org/news/page.html#s]" in tree_of(html)[0]


def test_footnote_that_was_dropped_leaves_a_link() -> None:
    html = '<p>a<sup><a href="#fn1">1</a></sup></p><ol><li id=fn1>One</ol>'
    address = "https://example.org/news/page.html#fn1"
    assert tree_of(html, dropped="One") == [f"paragraph('a', superscript(link[{address}]('1')))"]


def test_blocks_stay_apart_when_what_was_between_them_is_dropped() -> None:
    assert tree_of("<div>one<p>drop</p>two</div>", dropped="drop") == ["paragraph('one')", "paragraph('two')"]


@pytest.mark.parametrize(("depth", "is_kept"), [(15, True), (16, False)])
def test_how_deep_a_picture_may_stand_in_a_block(depth: int, is_kept: bool) -> None:
    html = f"<p>a{'<span>' * depth}<img src=x>{'</span>' * depth}</p><p>drop</p>"
    assert ("image" in str(tree_of(html, images=True, dropped="drop"))) == is_kept


def test_item_whose_text_was_dropped_is_none() -> None:
    html = "<ul><li>drop<ul><li>a<li>b</ul><li>c</ul>"
    assert tree_of(html, dropped="drop") == ["list(item(paragraph('a')), item(paragraph('b')), item(paragraph('c')))"]


def test_what_is_deeply_nested_is_flattened() -> None:
    def depth(node: Content | str) -> int:
        return 0 if isinstance(node, str) else 1 + max(map(depth, node.children), default=0)

    for html in ("<ul><li>a" * 250, "<blockquote>a" * 500, "<b><i>" * 200 + "a", "<table><tr><td>a<td>b" * 100):
        assert depth(build(html)) < 60


def test_the_page_is_not_changed() -> None:
    html = "<p>a<b> b</b></p><table><tr><td>c<td>d</table><ul><li>e</ul>"
    tree, segments = parse_and_segment(html)
    before = tree.serialize()
    kept_content(tree, segments, [True] * len(segments.columns.texts), images=True, url=URL)
    assert tree.serialize() == before


def test_nodes_hold_what_the_vocabulary_says() -> None:
    html = """<div>x<ul>a<li>b<h2>c</h2><table><tr><td>d<td>e</table></ul><dl>f<dt>g<ul><li>h</ul><dd>i</dl><li>j
        <figure>k<figcaption>l<p>m</figcaption></figure><details>n<summary>o</summary></details><dd>p<table>q<tr>r<td>s
        <caption>t</caption></table><blockquote><pre>u</pre></blockquote><summary>v</summary><dt>w</div>"""
    found = set()

    def check(node: Content) -> None:
        for child in node.children:
            if node.type in HOLD_BLOCKS | {"list", "definitions", "table", "row"}:
                assert isinstance(child, Content)
                found.add(node.type)
            if node.type in HOLD_INLINE and isinstance(child, Content):
                assert child.type not in HOLD_BLOCKS | {"paragraph", "heading", "list", "table", "code"}
            if isinstance(child, Content):
                check(child)

    check(build(html))
    assert {"list", "definitions", "table", "quote"} <= found
