"""Markdown from the page's own markup."""

from __future__ import annotations

import pytest

import mainmatter
from mainmatter.records import Page


def markdown(html: str, **options: bool) -> str:
    return mainmatter.clean(html, method="ice-baseline", url="https://e.example/d/").render("markdown", **options)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("<h1>One</h1><h3>Three</h3>", "# One\n\n### Three"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        (
            "<p>a <b>bold</b>, an <em>emphasised</em> and a <code>coded</code> word",
            "a **bold**, an *emphasised* and a `coded` word",
        ),
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<blockquote><p>said</p></blockquote>", "> said"),
        ("<pre>if x:\n    y</pre>", "```\nif x:\n    y\n```"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<p>one<br>two</p>", "one\\\ntwo"),
        ("<p>one<br><br>two</p>", "one\n\ntwo"),
        ("<p>one<br><br><br><br>two</p>", "one\n\ntwo"),
        ("<p>2 * 3 * 4</p>", "2 * 3 * 4"),
        ("<p><a>Home</a><a>News</a></p>", "Home News"),
        ("<p>a<script>x</script></p><style>y</style>", "a"),
    ],
)
def test_markup(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_links() -> None:
    html = "<p>see <a href=../x>this</a></p>"
    assert markdown(html) == "see [this](https://e.example/x)"
    assert markdown(html, links=False) == "see this"
    assert markdown("<p><a href=javascript:x()>this</a></p>") == "this"


def test_images() -> None:
    html = "<p>a</p><p><img src=i.png alt=pic></p><p>b</p>"
    assert markdown(html) == "a\n\nb"
    assert markdown(html, images=True) == "a\n\n![pic](https://e.example/d/i.png)\n\nb"


def test_only_what_is_kept() -> None:
    long = "this paragraph has <b>more</b> than ten words and they are long enough"
    html = f"<ul><li>Home</ul><div><div><div><h2>Title</h2><p>{long}</p></div></div></div><p>x</p>"
    found = mainmatter.clean(html, method="ice-heuristic")
    assert found.markdown == "## Title\n\nthis paragraph has **more** than ten words and they are long enough"


def test_a_dump() -> None:
    page = Page("## Title\n\nOne\ntwo.\n\n* a\n* b\n\nEnd", format="text")
    assert mainmatter.clean(page, method="density:c1=0,c2=100").markdown == "## Title\n\nOne two.\n\n- a\n- b\n\nEnd"


@pytest.mark.parametrize(
    "html",
    [
        "<label>Name</label><button>Send</button>",
        "<select><option>Name<option>Send</select>",
        "<fieldset><legend>Name</legend>Send</fieldset>",
        "<dialog open>Name</dialog><search>Send</search>",
    ],
)
def test_blocks_are_not_glued(html: str) -> None:
    assert markdown(f"<body>{html}").split() == ["Name", "Send"]


def test_a_declarative_shadow_root_is_there_too() -> None:
    assert markdown("<x-card><template shadowrootmode=open><p>inside</p></template></x-card>") == "inside"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><td><p>one</p><p>two</p></table>", "one\n\ntwo"),
        ("<table><tr><td>one<br><br>two</table>", "one\n\ntwo"),
        (
            "<table><tr><td><ul><li>one<li>two</ul><td><h2>three</h2><p>four</p></table>",
            "- one\n- two\n\n## three\n\nfour",
        ),
        ("<table><tr><td><table><tr><td><p>one</p></table></table>", "one"),
    ],
)
def test_layout_tables_are_no_tables(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>aa<br><br><b>bold bb</b> x</div>", "aa\n\n**bold bb** x"),
        ("<div>word0<center>word1</center>word2</div>", "word0\n\nword1\n\nword2"),
        ("<b>word0<b>word1", "**word0word1**"),
        (
            "<table><tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e</table>",
            "| a |  | b |\n| --- | --- | --- |\n| c | d | e |",
        ),
        ("<ul><li>a<br><br>b</li><li>c</li></ul>", "- a\n\n  b\n\n- c"),
        ("<p>Use <code>&lt;strong&gt;</code> and &lt;em&gt;", "Use `<strong>` and &lt;em>"),
        ("<pre>```\nfoo\n\\\nbar\n</pre>", "````\n```\nfoo\n\\\nbar\n````"),
        ("<pre>a \\\n\\\nb</pre>", "```\na \\\n\\\nb\n```"),
    ],
)
def test_no_tags_are_left_and_code_stays_as_it_is(html: str, expected: str) -> None:
    assert mainmatter.clean(html, method="ice-baseline").markdown == expected
