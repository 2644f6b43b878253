"""What counts as structure: for each kind, Markdown that carries it, and Markdown that loses it, which must be seen."""

from __future__ import annotations

import pytest

from bench.structure import FactComparison, address_key, compare, tex_key
from mainmatter.html.read import read_html
from mainmatter.records import Extraction, Page

pytest.importorskip("mdit_py_plugins")

import numpy as np

from bench.structure_markdown import structure_of_markdown
from bench.structure_page import structure_of_page

URL = "https://site.example/page"


def extraction_of(html: str, *dropped: str, marks_comments: bool = False) -> Extraction:
    """A page of which all is kept but the blocks with these texts."""
    document = read_html(Page(html, URL, "page"))
    kept = np.array([text not in dropped for text in document.texts], np.bool_)
    kinds, count = document.columns.kinds, len(document)
    return Extraction(document, "test", np.ones(count), kept, kinds, [""] * count, marks_comments=marks_comments)


def compared(html: str, markdown: str, *dropped: str) -> FactComparison:
    return compare(structure_of_page(extraction_of(html, *dropped)), structure_of_markdown(markdown, URL))


def verdict(html: str, markdown: str, *dropped: str) -> tuple[list[str], list[str]]:
    """The kinds of what was missed, and of what was invented; words that were lost, doubled or added are told, too."""
    found = compared(html, markdown, *dropped)
    missed = [fact.kind for fact in found.missed] + [f"lost {word}" for word in found.lost]
    invented = [fact.kind for fact in found.invented] + [f"twice {word}" for word in found.doubled]
    return missed, invented + [f"added {word}" for word in found.strange]


CASES = {
    "strong": ("<p>a <b>bold</b> word</p>", "a **bold** word", "a bold word"),
    "emphasis": ("<p>a <em>slanted</em> word</p>", "a *slanted* word", "a slanted word"),
    "strikethrough": ("<p>a <del>wrong</del> word</p>", "a ~~wrong~~ word", "a wrong word"),
    "links": ("<p><a href='/x?a=1&amp;b=ü'>there</a></p>", "[there](<https://site.example/x?a=1&b=%C3%BC>)", "there"),
    "list items": ("<ul><li>one<ol><li>two</li></ol></li></ul>", "- one\n\n  1. two", "- one\n- two"),
    "task items": (
        "<ul><li class='task-list-item'><input type=checkbox disabled checked> done</li></ul>",
        "- [x] done",
        "- done",
    ),
    "definitions": ("<dl><dt>term</dt><dd>meaning</dd></dl>", "term\n: meaning", "term\n\nmeaning"),
    "table cells": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "| a | b |\n| --- | --- |\n| 2 | 1 |",
    ),
    "code blocks": ("<pre>if a:\n    b = 1</pre>", "```\nif a:\n    b = 1\n```", "```\nif a:\nb = 1\n```"),
    "code languages": (
        "<pre><code class='language-python'>b = 1</code></pre>",
        "```python\nb = 1\n```",
        "```\nb = 1\n```",
    ),
    "code spans": ("<p>call <code>f(x)</code> now</p>", "call `f(x)` now", "call f(x) now"),
    "headings": ("<h2>Title</h2><p>text</p>", "## Title\n\ntext", "### Title\n\ntext"),
    "block quotes": ("<blockquote><p>said</p></blockquote>", "> said", "said"),
    "images": ("<p>a <img src=/i.png alt=''> b</p>", "a ![](https://site.example/i.png) b", "a b"),
    "alternative texts": (
        "<p>a <img src=/i.png alt='A boat'> b</p>",
        "a ![A boat](https://site.example/i.png) b",
        "a ![](https://site.example/i.png) b",
    ),
    "formulas": (r"<p>that \(x^2 + 1\) is</p>", "that $x^2+1$ is", r"that \\(x^2 + 1\\) is"),
    "sub- and superscripts": ("<p>H<sub>2</sub>O</p>", "H<sub>2</sub>O", "H2O"),
}


@pytest.mark.parametrize("kind", CASES)
def test_kind_comes_through_or_is_missed(kind: str) -> None:
    html, faithful, broken = CASES[kind]
    found = compared(html, faithful)
    assert found.counts[kind] >= 1  # type: ignore[index] # the keys of the cases are kinds
    assert verdict(html, faithful) == ([], [])
    assert kind in verdict(html, broken)[0]


@pytest.mark.parametrize("kind", CASES)
def test_kind_that_the_page_does_not_have_is_invented(kind: str) -> None:
    _, faithful, plain = CASES[kind]
    if kind in ("table cells", "code blocks", "formulas", "headings"):
        plain = "a b 1 2 if a: b = 1 Title text that is"  # these are broken in another way than by being left out
    text = plain.replace("`", "").lstrip("- ").replace("\n\n", "\n")
    assert kind in verdict(f"<p>{text}</p>", faithful)[1]


def test_words_that_are_lost_doubled_or_added() -> None:
    html = "<p>one two three two</p>"
    assert verdict(html, "one two three two") == ([], [])
    assert verdict(html, "one two three") == (["lost two"], [])
    assert verdict(html, "one two three two\n\nthree") == ([], ["twice three"])
    assert verdict(html, "one two three two four") == ([], ["added four"])
    assert compared(html, "").characters == len("onetwothreetwo")


def test_words_that_are_only_joined_or_split_are_not_lost() -> None:
    assert verdict("<p>Home page <b>s</b>plit</p>", "Homepage **s** plit") == ([], [])
    assert verdict("<p>Homepages</p>", "Home pages Home") == ([], ["added Home"])


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a <b>b </b><strong>c</strong>, <b>d</b>: e</p>", "a **b c, d:** e"),  # neighbours are one run
        ("<p>a <b>b <strong>c</strong></b> <b>&nbsp;</b>d</p>", "a **b c** d"),  # nested ones, too; blank ones are none
        ("<p>a <b>b <code>c</code></b> d</p>", "a **b** `c` d"),  # code need not be bold
        ("<h2><b>All</b></h2>", "## All"),
        ("<h2><b>All</b></h2>", "## **All**"),
        ("<p><cite>Book</cite> <mark>word</mark></p>", "*Book* word"),
        ("<p><cite>Book</cite> <mark>word</mark></p>", "Book **word**"),
        ("<p>Press <kbd>Enter</kbd></p>", "Press `Enter`"),
        ("<p>Press <kbd>Enter</kbd></p>", "Press Enter"),
    ],
)
def test_emphasis_that_may_be_written_in_several_ways(html: str, markdown: str) -> None:
    assert verdict(html, markdown) == ([], [])


def test_emphasis_of_a_part_of_a_heading_counts() -> None:
    assert verdict("<h2>A <b>part</b></h2>", "## A part") == (["strong"], [])
    assert verdict("<p><b>All</b></p>", "All") == (["strong"], [])


@pytest.mark.parametrize(
    "markdown", ["## [Title](<https://site.example/x>)\n\ntext", "## Title\n\n[text](<https://site.example/x>)"]
)
def test_link_around_several_blocks_is_carried_by_one(markdown: str) -> None:
    html = "<a href='/x'><h2>Title</h2><p>text</p></a>"
    assert verdict(html, markdown) == ([], [])
    assert verdict(html, "## Title\n\ntext")[0] == ["links"]


@pytest.mark.parametrize(
    "html",
    [
        "<h2>Title<a class=headerlink href='#title'>¶</a></h2>",
        "<h2><a href='#title'>#</a>Title</h2>",
        "<h2>Title <a href='https://site.example/page#title'>Link to this heading</a></h2>",
        "<h2><a href='#title'>Title</a></h2>",
        "<h2>Title <a href='javascript:void(0)'>→</a></h2>",
        "<h2>Title <a class=anchor href='#title'>anchor</a></h2>",
        "<h2>Title <span class=mw-editsection>[<a href='/edit'>edit</a>]</span></h2>",
    ],
)
def test_anchors_of_headings_do_not_count(html: str) -> None:
    assert verdict(html, "## Title") == ([], [])


@pytest.mark.parametrize(
    "html",
    ["<h2>1.2 <a class=anchor href='#t'>Title of it</a></h2>", "<h2>1.2 <a href='#t'>Link to Title of it</a></h2>"],
)
def test_words_in_a_link_of_a_heading_count(html: str) -> None:
    assert "lost Title" in verdict(html, "## 1.2")[0]


def test_links_within_the_page_count() -> None:
    html = "<p>see <a href='#below'>below</a></p>"
    assert verdict(html, "see [below](#below)") == ([], [])
    assert verdict(html, "see [below](https://site.example/page#below)") == ([], [])
    assert verdict(html, "see below") == (["links"], [])


def test_footnotes_may_be_notes_or_items() -> None:
    html = (
        "<p>A claim<sup id=r1><a href='#n1'>1</a></sup> holds.</p>"
        "<ol><li id=n1>Its source <a href='#r1' class='footnote-back'>back</a></li></ol>"
    )
    assert verdict(html, "A claim[^1] holds.\n\n[^1]: Its source") == ([], [])
    assert verdict(html, "A claim<sup>[1](#n1)</sup> holds.\n\n1. Its source [back](#r1)") == ([], [])


@pytest.mark.parametrize(
    "link",
    [
        "<a class='reference internal' href='#n1'>1</a>",
        "<sup><a href='#n1'>see there</a></sup>",
        "<sup><a href='#n2'>2</a></sup>",
        "<a class=footnote href='#n1'>12b</a>",
        "<a href='#reference'>The reference</a>",
    ],
)
def test_other_links_are_no_footnotes(link: str) -> None:
    html = f"<p>A claim {link} holds.</p><ol><li id=n1>Its source</li></ol><div id=n2><h2>Part</h2></div>"
    text = structure_of_page(extraction_of(html)).blocks[0].text
    assert "links" in verdict(html, f"{text}\n\n1. Its source\n\n## Part")[0]


def test_item_without_text_of_its_own_adds_no_depth() -> None:
    html = "<ul><li>Parent<ul><li>Child</li></ul></li></ul>"
    assert verdict(html, "- Parent\n  - Child") == ([], [])
    assert verdict(html, "- Child", "Parent") == ([], [])
    assert verdict(html, "- Parent\n- Child") == (["list items"], ["list items"])


def test_only_tables_of_data_have_cells() -> None:
    rows = "<tr><td>a</td><td>{}</td></tr><tr><td>c</td><td>d</td></tr>"
    assert not compared(f"<table>{rows.format('<p>b</p><p>b</p>')}</table>", "").counts["table cells"]
    assert not compared(f"<table>{rows.format('<h2>b</h2>')}</table>", "").counts["table cells"]
    assert not compared(f"<table>{rows.format('<pre>b</pre>')}</table>", "").counts["table cells"]
    assert not compared("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>", "").counts["table cells"]
    assert compared(f"<table>{rows.format('b')}</table>", "").counts["table cells"] == 4


def test_cells_of_a_table_with_a_header_may_hold_several_blocks() -> None:
    cell = "<p>b <b>c</b></p><ul><li>d</li><li>e</li></ul><img src=/i.png>"
    html = f"<table><tr><th>x<th>y</tr><tr><td><blockquote>a</blockquote><td>{cell}</tr></table>"
    faithful = "| x | y |\n| --- | --- |\n| a | b **c**<br>d<br>e ![](https://site.example/i.png) |"
    assert verdict(html, faithful) == ([], [])
    assert verdict(html, faithful.replace("e !", "!"))[0] == ["table cells", "lost e"]
    for other in ("<h3>z</h3>", "<pre>z</pre>", "<table><tr><td>z</table>", "<dl><dt>z<dd>w</dl>"):
        assert not compared(html.replace("<p>b", f"{other}<p>b"), "").counts["table cells"]


def test_head_of_a_table_comes_first_and_its_foot_last() -> None:
    foot, body = "<tfoot><tr><td>e<td>f</tfoot>", "<tbody><tr><td>c<td>d</tbody>"
    html = f"<table>{foot}{body}<thead><tr><th>a<th>b</thead></table>"
    faithful = "| a | b |\n| --- | --- |\n| c | d |\n| e | f |"
    assert verdict(html, faithful) == ([], [])


@pytest.mark.parametrize(
    "html",
    [
        "<pre><span class=lineno>1</span>x = 2<button>Copy</button></pre>",
        "<pre><span class=lineno><a href='#l1'>1</a></span>x = 2</pre>",
        "<table><tr><td class=rouge-gutter><pre>1</pre><td><pre>x = 2</pre></table>",
    ],
)
def test_numbers_of_lines_and_buttons_are_no_code(html: str) -> None:
    assert verdict(html, "```\nx = 2\n```") == ([], [])
    assert verdict(html, "```\n1x = 2Copy\n```")[0][0] == "code blocks"


def test_merged_cells_and_rows_without_text() -> None:
    html = (
        "<table><tr><td rowspan=2>a</td><td colspan=2>b</td></tr><tr><td>c</td><td>d</td></tr>"
        "<tr><td></td><td></td><td></td></tr><tr><td>e</td><td>f</td><td>g</td></tr></table>"
    )
    faithful = "| | | |\n| --- | --- | --- |\n| a | b | |\n| | c | d |\n| e | f | g |"
    assert verdict(html, faithful) == ([], [])
    assert "table cells" in verdict(html, faithful.replace("| | c |", "| c | |"))[0]


@pytest.mark.parametrize(
    "attributes",
    [
        "src=/blank.gif data-src=/i.png",
        "src='data:image/gif;base64,R0' data-original=/i.png",
        "data-srcset='/j.png 1x, /i.png 2x'",
        "data-srcset='/j,k.png 640w,/i.png 1024w,/l.png'",
    ],
)
def test_image_that_is_loaded_late(attributes: str) -> None:
    html = f"<p>a <img {attributes} alt=''> b</p>"
    assert verdict(html, "a ![](https://site.example/i.png) b") == ([], [])
    assert verdict(html, "a ![](https://site.example/blank.gif) b") == (["images"], ["images"])


@pytest.mark.parametrize(
    "image", ["<img src=/i.png width=2 height=90>", "<img src=/spacer.gif>", "<img class=emoji src=/i.png alt='😀'>"]
)
def test_images_that_need_not_come_through(image: str) -> None:
    assert verdict(f"<p>a {image} b</p>", "a b") == ([], [])


def test_small_images_count() -> None:
    assert verdict("<p>a <img src=/i.png width=3 height=90> b</p>", "a b") == (["images"], [])


def test_items_are_told_by_how_they_begin() -> None:
    html = f"<ul><li>{'a' * 40} <b>more</b></li></ul>"
    assert verdict(html, f"- {'a' * 40} **less**")[0] == ["strong", "lost more"]
    assert "list items" in verdict(html, f"- {'a' * 39} **more**")[0]


def test_language_of_code_may_be_told_by_what_is_around_it() -> None:
    for depth, counts in ((4, 1), (5, 0)):
        inner = "<div>" * (depth - 1) + "<pre>x = 1</pre>" + "</div>" * (depth - 1)
        found = compared(f"<div class='highlight-python'>{inner}</div>", "")
        assert found.counts["code languages"] == counts


@pytest.mark.parametrize(
    "names",
    [
        "language-php",
        "lang-php x",
        "hljs php",
        "hljs language-php",
        "sourceCode php",
        "brush: php",
        "mw-highlight-lang-php",
        "php",
        "lang:php",
        "x' data-enlighter-language='php",
    ],
)
def test_names_of_languages(names: str) -> None:
    assert verdict(f"<pre class='{names}'>x = 1</pre>", "```php\nx = 1\n```") == ([], [])
    assert verdict(f"<pre class='{names}'>x = 1</pre>", "```\nx = 1\n```") == (["code languages"], [])


def test_list_after_an_item_belongs_to_it() -> None:
    html = "<ul><li>Parent</li><ul><li>Child</li></ul></ul>"
    assert verdict(html, "- Parent\n  - Child") == ([], [])
    assert verdict(html, "- Parent\n- Child")[0] == ["list items"]


def test_text_beside_the_items_of_a_list_may_be_an_item() -> None:
    html = "<ul><b>Needed:</b><ul><li>Child</li></ul></ul>"
    assert verdict(html, "- **Needed:**\n  - Child") == ([], [])
    assert verdict(html, "**Needed:**\n\n- Child") == ([], [])


def test_captions_may_be_set_apart_by_emphasis() -> None:
    html = "<figure><p>text</p><figcaption>A <b>boat</b></figcaption></figure>"
    for caption in ("*A **boat***", "**A boat**", "A **boat**"):
        assert verdict(html, f"text\n\n{caption}") == ([], [])


def test_prices_in_double_dollars_are_no_formulas() -> None:
    assert verdict("<p>$$ to $$$ a meal, $$x^2$$</p>", "\\$\\$ to \\$\\$\\$ a meal, $x^2$") == ([], [])


def test_image_beside_dropped_text_need_not_come_through() -> None:
    html = "<p>a</p><div><img src=/i.png></div><p>menu</p><p>b</p>"
    assert verdict(html, "a\n\nb", "menu") == ([], [])
    assert verdict(html, "a\n\nmenu\n\nb") == (["images"], [])
    assert verdict(html, "a\n\n![](https://site.example/i.png)\n\nb", "menu") == ([], [])


MATHML = "<math><mi>x</mi><annotation encoding='application/x-tex'>{\\displaystyle x}</annotation></math>"


@pytest.mark.parametrize(
    "formula",
    [
        MATHML,
        f"<span class=katex><span class=katex-mathml>{MATHML}</span><span class=katex-html>x</span></span>",
        "<span class=MathJax>x</span><script type='math/tex'>x</script>",
        "<math alttext='x'><mi>x</mi></math>",
        "<math><mi>x</mi></math>",
    ],
)
def test_formulas(formula: str) -> None:
    html = f"<p>Let {formula} be.</p>"
    assert verdict(html, "Let $x$ be.") == ([], [])
    assert verdict(html, "Let x be.")[0] == ["formulas"]


def test_prices_are_no_formulas() -> None:
    assert verdict("<p>From $5 to $10.</p>", "From $5 to $10.") == ([], [])
    assert verdict("<p>From $5 to $10.</p>", "From \\$5 to \\$10.") == ([], [])


def test_raw_html_where_markdown_has_a_form() -> None:
    markdown = (
        "H<sub>2</sub>O <b>bold</b>\n\n<details>\n<summary>More</summary>\n\ntext\n\n</details>\n\n"
        "<div>x</div>\n\n| a<br>b | c |\n| --- | --- |\n| 1 | 2 |\n\nline<br>line"
    )
    assert structure_of_markdown(markdown).raw_html == ["b", "div", "br"]


@pytest.mark.parametrize(
    ("fault", "markdown", "sound"),
    [
        ("no-break space as an entity", "a&nbsp;b&#160;c", "a b `&nbsp;` \\&nbsp;"),
        ("link without text", "[](/x)", "[![a](/i.png)](/x) [b](/x)"),
        ("empty list item", "- a\n-\n- b", "- a\n- b"),
        ("neighbouring bulleted lists", "- a\n\n* b", "- a\n\n1. b\n\n1) c"),
        ("anchor of a heading", "## Title[¶](#title)", "## Title in [C#](/x)"),
    ],
)
def test_known_faults(fault: str, markdown: str, sound: str) -> None:
    assert set(structure_of_markdown(markdown).faults) == {fault}
    assert not structure_of_markdown(sound).faults


def test_addresses_and_tex_that_mean_the_same() -> None:
    assert address_key("HTTPS://Site.example") == address_key("https://site.example/")
    assert address_key("https://s.example/a%20b") == address_key("https://s.example/a b")
    assert address_key("https://bücher.example/") == address_key("https://xn--bcher-kva.example")
    assert address_key("https://s.example/a") != address_key("https://s.example/b")
    assert tex_key(r"{\displaystyle x^{2}\,}") == tex_key("x^2")
    assert tex_key(r"\leftarrow") != tex_key("arrow")
