"""Each construct of a page, and the exact Markdown that it becomes."""

from __future__ import annotations

import pytest
import yaml
from markdown_it import MarkdownIt

import mainmatter
from content_trees import read_markdown
from mainmatter.errors import InputError
from mainmatter.html.parse import parse
from mainmatter.records import Metadata
from mainmatter.render import markdown
from mainmatter.render.content import Content
from mainmatter.render.markdown import to_markdown

CONSTRUCTS = {
    "headings": ("<h1>One</h1><h2>Two <em>and</em></h2><h6>Six #</h6>", "# One\n\n## Two *and*\n\n###### Six \\#"),
    "anchors of headings": ("<h2>Objects<a class=headerlink href='#o'>¶</a></h2><p>a</p>", "## Objects\n\na"),
    "emphasis": (
        "<p>a <b>bold</b>, <i>italic</i>, <b><i>both</i></b>, <s>struck</s> and <code>coded</code> word</p>",
        "a **bold**, *italic*, ***both***, ~~struck~~ and `coded` word",
    ),
    "emphasis of a space": (
        "<p>a <strong>b</strong> c</p><p><strong>&nbsp;</strong>d</p>",
        "a **b** c\n\nd",
    ),
    "spaces inside of emphasis": ("<p>a<b> b </b>c<em>&nbsp;d</em></p>", "a **b** c *d*"),
    "emphasis beside emphasis": ("<p><b>a</b><b>b</b> <i>c</i><b>d</b></p>", "**ab** *c***d**"),
    "emphasis beside emphasis in other emphasis": (
        "<p><b>one <i>two</i></b><i>three</i>, <i>a <b>b</b></i><b>c</b></p>",
        "**one _two_**_three_, _a **b**_**c**",
    ),
    "emphasis beside emphasis within a word": (
        "<p><b>one <i>two</i></b><i>th</i>ree</p>",
        "**one two***th*ree",
    ),
    "emphasis within a word": ("<p>un<b>believ</b>able <i>re</i>do</p>", "un**believ**able *re*do"),
    "emphasis that ends in punctuation": (
        "<p><b>Note:</b>this, and <b>“that”</b>too</p>",
        "**Note**:this, and “**that**”too",
    ),
    "emphasis in Japanese": ("<p>これは<b>「重要」</b>です。</p>", "これは「**重要**」です。"),
    "emphasis that ends in brackets": (
        "<p><b>조사(助詞)</b>가, <b>say (a [b]).</b>c, <b>„a“ »b«</b>c, <b>the \"a\" 'b'</b>c</p>",
        "**조사**(助詞)가, **say** (a [b]).c, **„a“** »b«c, **the \"a\"** 'b'c",
    ),
    "emphasis that begins with brackets": (
        "<p>a<b>(b) c</b>, 가<b>(가)나(다)</b>라</p>",
        "a(b) **c**, 가(가)**나**(다)라",
    ),
    "emphasis in brackets": (
        "<p><i>(f)</i>g, a<b>[x]</b>, <b><i>((f) h).</i></b>g, a<b><i>(f)</i></b></p>",
        "(*f*)g, a[**x**], (***(f) h***).g, a(***f***)",
    ),
    "emphasis in brackets in other emphasis": ("<p><b>a <i>(f)</i></b>g</p>", "**a** (f)g"),
    "emphasis with an apostrophe or half a bracket": (
        "<p><b>the boys'</b>a, <b>it's 'a.</b>b, <b>b)</b>c, a<b>(b</b></p>",
        "**the boys**'a, **it's 'a**.b, **b**)c, a(**b**",
    ),
    "links": (
        "<p><a href='/a?b=1&amp;c=2'>one</a>, <a href='/x (y'>two [2]</a>, <b><a href='/z'>three</a></b></p>",
        "[one](https://e.example/a?b=1&c=2), [two \\[2\\]](https://e.example/x%20\\(y), **[three](https://e.example/z)**",
    ),
    "empty links": ("<p><a href=/x></a>a <a href=/y><img src=z></a> b</p>", "a b"),
    "links that run": ("<p><a href='javascript:x()'>a</a></p>", "a"),
    "an exclamation before a link": ("<p>Look!<a href=/x>here</a></p>", "Look\\![here](https://e.example/x)"),
    "nested lists": (
        "<ul><li>one<ul><li>two<ul><li>three</ul></ul><li>four</ul>",
        "- one\n  - two\n    - three\n- four",
    ),
    "numbered lists": (
        "<ol start=9><li>nine<li>ten<ul><li>below</ul></ol>",
        "9. nine\n10. ten\n    - below",
    ),
    "a numbered list below an item": (
        "<ul><li>a<ol start=3><li>b</ol></ul>",
        "- a\n\n  3. b",
    ),
    "items of several paragraphs": (
        "<ul><li><p>a</p><p>b</p><li><p>c</p></ul>",
        "- a\n\n  b\n\n- c",
    ),
    "neighbouring lists": ("<ul><li>a</ul><ul><li>b</ul>", "- a\n- b"),
    "neighbouring numbered lists": ("<ol><li>a<li>b</ol><ol><li>c</ol>", "1. a\n2. b\n\n1) c"),
    "lists of both sorts": ("<ul><li>a</ul><ol><li>b</ol>", "- a\n\n1. b"),
    "empty items": ("<ul><li>a<li>&nbsp;<li><li>b</ul>", "- a\n- b"),
    "task lists": (
        "<ul><li><input type=checkbox disabled checked> done<li><input type=checkbox disabled> no</ul>",
        "- [x] done\n- [ ] no",
    ),
    "definition lists": (
        "<dl><dt>One<dd>first<dd>second<dt>Two<dd><p>a</p><p>b</p></dl>",
        "One\n:   first\n:   second\n\nTwo\n:   a\n\n    b",
    ),
    "quotes": (
        "<blockquote><p>one</p><ul><li>two</ul><blockquote><p>three</p></blockquote></blockquote>",
        "> one\n>\n> - two\n>\n> > three",
    ),
    "code": (
        "<pre><code class=language-python>def f():\n    return 1\n</code></pre>",
        "```python\ndef f():\n    return 1\n```",
    ),
    "code with fences": ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
    "code with backticks": ("<p><code>a`b</code> <code>``</code></p>", "``a`b`` ``` `` ```"),
    "tables": (
        "<table><tr><th>A<th align=right>B<tr><td><b>x</b> | y<td>1<br>2</table>",
        "| A | B |\n| --- | ---: |\n| **x** \\| y | 1 2 |",
    ),
    "a table without a header": (
        "<table><tr><td>a<td>b<tr><td>c<td>d</table>",
        "| a | b |\n| --- | --- |\n| c | d |",
    ),
    "merged cells": (
        "<table><tr><th colspan=2>Both<th>C<tr><td rowspan=2>a<td>b<td>c<tr><td>d<td>e</table>",
        "| Both |  | C |\n| --- | --- | --- |\n| a | b | c |\n|  | d | e |",
    ),
    "captions": (
        "<table><caption>Prices, <em>all</em></caption><tr><th>A<th>B<tr><td>1<td>2</table>",
        "*Prices, all*\n\n| A | B |\n| --- | --- |\n| 1 | 2 |",
    ),
    "details": (
        "<details><summary>More</summary><p>a</p><p>b</p></details>",
        "**More**\n\na\n\nb",
    ),
    "subscripts and superscripts": ("<p>H<sub>2</sub>O, E=mc<sup>2</sup></p>", "H<sub>2</sub>O, E=mc<sup>2</sup>"),
    "formulas": (
        r"<p>Where \(x_i * 2\) is, and $5.</p><p>\[ a = b \]</p>",
        "Where $x_i * 2$ is, and \\$5.\n\n$$\na = b\n$$",
    ),
    "formulas of one letter": (r"<p>\[a\] text \[b\]</p><p>$$c$$</p>", "$$a$$ text $$b$$\n\n$$\nc\n$$"),
    "formulas before digits": (r"<p>\(d\)5, \(d\)<b>5</b>, \(d\).5</p>", "$d$ 5, $d$**5**, $d$.5"),
    "regular expressions": (r"<p>grep '\(a\|b\)'</p>", r"grep '\\(a\\|b\\)'"),
    "footnotes": (
        "<p>Text<sup><a href=#fn1>1</a></sup>.</p><ol><li id=fn1><p>Note one.</p><p>More.</p></ol>",
        "Text[^1].\n\n[^1]: Note one.\n\n    More.",
    ),
    "rules": ("<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"),
    "line breaks": ("<p>one<br>two <b><br>three</b></p>", "one\\\ntwo\\\n**three**"),
    "no-break spaces and soft hyphens": ("<p>a&nbsp;b&shy;c</p>", "a bc"),
}  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), CONSTRUCTS.values(), ids=CONSTRUCTS.keys())
def test_constructs(html: str, expected: str) -> None:
    found = mainmatter.clean(html, method="ice-baseline", url="https://e.example/d/")
    assert found.render("markdown") == expected
    read_markdown(expected)  # which no raw HTML passes


def test_pictures() -> None:
    picture = "<a href=/big><img src=/i.png alt='A [small] *boat*'></a>"
    html = f"<p>a</p><figure>{picture}<figcaption>A boat</figcaption></figure><p>b"
    found = mainmatter.clean(html, method="ice-baseline", url="https://e.example/d/")
    assert found.render("markdown", images=True) == (
        "a\n\n[![A \\[small\\] \\*boat\\*](https://e.example/i.png)](https://e.example/big)\n\n*A boat*\n\nb"
    )
    assert found.render("markdown") == "a\n\n*A boat*\n\nb"


PAGE = (
    "<h1>One</h1><h2>Two</h2><h3>Three</h3><p>a <a href=/x>link</a></p>"
    "<table><tr><th>A<th>B<tr><td>- 1<td>2 | 3<tr><td>---<td></table>"
)


def options(**chosen: object) -> str:
    found: str = mainmatter.clean(PAGE, method="ice-baseline", url="https://e.example/").render("markdown", **chosen)
    return found


def test_options() -> None:
    assert "a [link](https://e.example/x)" in options()
    assert "a link" in options(links=False)
    assert options().startswith("# One\n\n## Two\n\n### Three\n\n")
    assert options(headings="setext").startswith("One\n===\n\nTwo\n---\n\n### Three\n\n")
    assert options().endswith("| A | B |\n| --- | --- |\n| - 1 | 2 \\| 3 |\n| --- |  |")
    assert options(tables=False).endswith("A | B\\\n\\- 1 | 2 | 3\\\n\\--- |")
    with pytest.raises(InputError, match='not a style of headings; use "atx" or "setext"'):
        options(headings="atxx")


def test_rows_as_lines_keep_their_columns() -> None:
    html = "<table><tr><th>A<th>B<th>C<tr><td>South<br>east<td><td>1<tr><td><td>2<td><tr><td><td><td></table>"
    found = mainmatter.clean(html, method="ice-baseline").render("markdown", tables=False)
    assert found == "A | B | C\\\nSouth east |  | 1\\\n| 2 |"


VALUES = [
    "plain", "with: colon", "- dash", "# hash", "'quotes' \"both\"", "back\\slash", "line\nbreak", "tab\t", "yes",
    "null", "12", "{a}", "[b]", "&c", "*d", "!e", "|", ">", "%", "@", "`", "---",
    "\x85\u2028\u2029\x07\x7f\ufeff", "漢字 🙂", " spaces ",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_front_matter_is_yaml(value: str) -> None:
    metadata = Metadata(title=value, author=value, language=value, site=value, description=value, date="2026-02-28")
    head, _, rest = markdown._front_matter(metadata, "https://e.example/").removeprefix("---\n").rpartition("---")
    assert not rest
    found = yaml.safe_load(head)
    assert list(found) == ["title", "author", "date", "url", "site", "language", "description"]
    assert str(found.pop("date")) == "2026-02-28"
    assert found.pop("url") == "https://e.example/"
    assert set(found.values()) == {value}


def test_front_matter() -> None:
    html = "<html lang=en><title>A &quot;page&quot;</title><p>a</p>"
    found = mainmatter.clean(html, method="ice-baseline").render("markdown", front_matter=True)
    assert found == '---\ntitle: "A \\"page\\""\nlanguage: "en"\n---\n\na'
    assert mainmatter.clean("<p>a", method="ice-baseline").render("markdown", front_matter=True) == "a"
    assert yaml.safe_load(markdown._front_matter(Metadata(date="2026-02-31"), None).strip("-")) == {
        "date": "2026-02-31"
    }


# What is escaped, and what needs no escape.
TEXTS = {
    "snake_case and __init__": "snake_case and \\_\\_init\\_\\_",
    "_x": "_x",
    "3 * 4 * 5": "3 * 4 * 5",
    "5* and 4*": "5* and 4*",
    "*a*": "\\*a\\*",
    "2*3*4": "2\\*3\\*4",
    "1. one": "1\\. one",
    "2026. A year": "2026\\. A year",
    "1.5 and 1.": "1.5 and 1.",
    "3) three": "3\\) three",
    "# a": "\\# a",
    "#tag": "#tag",
    "- a": "\\- a",
    "-5": "-5",
    "+ a": "\\+ a",
    "> a": "\\> a",
    "a > b < c": "a > b < c",
    "| a |": "| a |",
    "<tag> and a<b": "&lt;tag> and a&lt;b",
    "&amp; AT&T &c.": "&amp;amp; AT&T &c.",
    "$5 and $10": "$5 and $10",
    "US$5, US$10": "US$5, US$10",
    "$x$": "\\$x\\$",
    "[a] [b]": "[a] [b]",
    "[a](b)": "[a&#93;(b)",
    "[a]: b": "[a]\\: b",
    "[^1]": "\\[^1]",
    "[x] a": "\\[x] a",
    "~5 km": "~5 km",
    "~~a~~": "\\~\\~a\\~\\~",
    "~~~": "\\~~~",
    "a ` b": "a \\` b",
    "`a`": "\\`a\\`",
    "https://e.example/a_b_c?d=*&e=f": "https://e.example/a_b_c?d=*&e=f",
    "C:\\dir\\*": "C:\\dir\\\\*",
    "---": "\\---",
    "* * *": "\\* * *",
    "===": "===",
    ": a": "\\: a",
    "Wow!": "Wow!",
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_only_what_needs_it_is_escaped(text: str, expected: str) -> None:
    assert to_markdown(Content("document", [Content("paragraph", [text])])) == expected
    assert read_markdown(expected, digits=False) == [("paragraph", [(text, frozenset())])]


@pytest.mark.parametrize("last", ["--- | ---", "---", "===", ":-:", "1. x", "- x", "> x", "# x"])
def test_what_continues_a_paragraph_is_no_underline(last: str) -> None:
    lines: list[Content | str] = ["a | b", Content("break"), last]
    written = to_markdown(Content("document", [Content("paragraph", lines)]))
    assert written == "a | b\\\n" + ("1\\. x" if last == "1. x" else f"\\{last}")
    assert read_markdown(written) == [("paragraph", [(f"a | b\n{last}", frozenset())])]


def test_emphasis_that_markdown_cannot_mark() -> None:
    def write(*children: Content | str) -> str:
        return to_markdown(Content("document", [Content("paragraph", [*children])]))

    code, link = Content("code-span", ["x"]), Content("link", ["x"], address="/y")
    assert write("a", Content("strong", [code]), "b") == "a`x`b"
    assert write("a ", Content("strong", [code]), " b") == "a **`x`** b"
    assert write("a", Content("strong", [link]), "b") == "a[**x**](/y)b"
    assert write("a", Content("strong", ["."]), "b") == "a.b"
    assert write(Content("strong", ["a."]), Content("emphasis", ["b"])) == "**a**.*b*"
    point = Content("emphasis", [Content("strike", ["."])])
    assert write(Content("strong", ["a", point]), "b") == "**a**.b"


def test_empty_texts_do_no_harm() -> None:
    nodes: list[Content | str] = [
        "",
        "a!",
        "",
        Content("link", ["", "x", ""], address="/"),
        "",
        Content("strong", ["b"]),
    ]
    for last in ("", Content("strong", [""]), Content("paragraph", [""])):
        document = Content("document", [Content("paragraph", [*nodes, last])])
        assert to_markdown(document) == r"a\![x](/)**b**"
    assert not to_markdown(Content("document", [Content("paragraph", [""]), Content("list", [Content("item", [])])]))


def test_emphasis_that_takes_too_many_rounds_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes: list[Content | str] = [Content("strong", ["a", Content("emphasis", [Content("strike", ["."])])]), "b"]
    document = Content("document", [Content("paragraph", nodes)])
    for rounds, expected in ((3, "a.b"), (4, "**a**.b")):
        monkeypatch.setattr(markdown, "_ROUNDS", rounds)
        assert to_markdown(document) == expected


def test_underlines_of_headings_are_as_long_as_the_line_within_limits() -> None:
    for length, width in ((1, 3), (3, 3), (4, 4), (80, 80), (81, 80)):
        heading = Content("heading", ["a" * length], level=1)
        assert to_markdown(Content("document", [heading]), headings="setext") == f"{'a' * length}\n{'=' * width}"


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("/a(b)", "/a(b)"),
        ("/(((a)))", "/(((a)))"),
        ("/((((a))))", r"/\(\(\(\(a\)\)\)\)"),
        ("/a)(", r"/a\)\("),
        ("/a b<c>|\\", "/a%20b%3Cc%3E%7C%5C"),
        ("/?a&b;&lt;", "/?a&amp;b;&amp;lt;"),
        ("/`a", "/%60a"),
        ("https://a.example/NZ$", "https://a.example/NZ&#36;"),
    ],
)
def test_addresses(address: str, written: str) -> None:
    link = Content("link", ["x"], address=address)
    assert to_markdown(Content("document", [Content("paragraph", [link])])) == f"[x]({written})"


@pytest.mark.parametrize(
    "html",
    [
        r"<p>See \(x = 1 &lt;img src=x onerror=alert(1)&gt;\)</p>",
        r"<p>See \[&lt;script&gt;alert(1)&lt;/script&gt; = 1\]</p>",
        "<p>See <math><mtext>&lt;script&gt;alert(1)&lt;/script&gt;</mtext></math></p>",
        "<p>See <img class=latex alt='&lt;script&gt;alert(1)&lt;/script&gt;'></p>",
        "<p>See &lt;script&gt;alert(1)&lt;/script&gt;</p>",
        "<p>See <a href='x'>&lt;b onclick=x&gt;</a> <a href='javascript:alert(1)'>y</a></p>",
    ],
)
def test_nothing_of_a_page_is_markup_to_those_who_know_no_formulas(html: str) -> None:
    written = mainmatter.clean(html, method="ice-baseline").to_markdown(images=True)
    rendered = MarkdownIt().render(written)
    assert {element.tag for element in parse(rendered).iter_elements()} <= {"html", "head", "body", "p", "a"}
    assert "javascript:" not in rendered


@pytest.mark.parametrize("text", ["---foo bar", "--- a ---"])
def test_items_that_begin_with_hyphens(text: str) -> None:
    assert mainmatter.clean(f"<ul><li>{text}</ul>", method="ice-baseline").markdown == f"- {text}"


def test_containers_too_deep_are_written_at_the_last_depth() -> None:
    node = Content("paragraph", ["a"])
    for _ in range(100):
        node = Content("quote", [node])
    assert to_markdown(Content("document", [node])) == "> " * 32 + "a"
