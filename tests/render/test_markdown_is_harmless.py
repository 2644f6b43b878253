"""What a page only spells becomes no HTML in any Markdown parser: hostile pages, rendered by those that people use."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import HealthCheck, given, settings

import mainmatter
from mainmatter.html.parse import as_text, parse
from mainmatter.render.content import Content, is_harmless
from mainmatter.render.markdown import to_markdown

if TYPE_CHECKING:
    from collections.abc import Callable

    Renderer = Callable[[str], str]

SOME = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
MARKED = Path(sys.prefix) / "marked"  # npm install --prefix .venv/marked marked
RUN_MARKED = """const {marked} = require(process.argv[1]);
require("readline").createInterface({input: process.stdin}).on("line",
    line => console.log(JSON.stringify(marked.parse(JSON.parse(line)))));"""


def markdown_it() -> Renderer:
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": True})
    return parser.enable(["table", "strikethrough"]).render  # type: ignore[no-any-return]


def cmark_gfm() -> Renderer:
    package = pytest.importorskip("cmarkgfm")
    unsafe = package.cmark.Options.CMARK_OPT_UNSAFE
    return lambda text: package.github_flavored_markdown_to_html(text, options=unsafe)


def cmark() -> Renderer:
    package = pytest.importorskip("cmarkgfm")
    return lambda text: package.markdown_to_html(text, options=package.cmark.Options.CMARK_OPT_UNSAFE)


def commonmark() -> Renderer:
    return pytest.importorskip("commonmark").commonmark  # type: ignore[no-any-return]


def mistune() -> Renderer:
    plugins = ["strikethrough", "footnotes", "table", "url", "task_lists", "def_list"]
    return pytest.importorskip("mistune").create_markdown(escape=False, plugins=plugins)  # type: ignore[no-any-return]


def python_markdown() -> Renderer:
    package = pytest.importorskip("markdown")
    extensions = ["toc", "tables", "pymdownx.superfences"]  # MkDocs's, which knows fences in lists with the last one
    return lambda text: package.markdown(text, extensions=extensions)


def marked() -> Renderer:
    node = shutil.which("node")
    if node is None or not MARKED.exists():
        pytest.skip("needs node, and marked: npm install --prefix .venv/marked marked")
    package = str(MARKED / "node_modules" / "marked")
    process = subprocess.Popen(
        [node, "-e", RUN_MARKED, package], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )

    def render(text: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(text) + "\n")
        process.stdin.flush()
        return str(json.loads(process.stdout.readline()))

    return render


RENDERERS = {
    made.__name__: cache(made)
    for made in (markdown_it, cmark_gfm, cmark, commonmark, mistune, python_markdown, marked)
}  # fmt: skip

WORDS = st.sampled_from(
    """
    <img␣src=x␣onerror=alert(1)> <svg/onload=alert(1)> <script>alert(1)</script> <b> </p> <!-- --> <?x <![CDATA[ <
    <x-y <javascript:alert(1)> [x](javascript:alert(1)) [x](<javascript:alert(1)>) ![i](https://evil.example/i.png)
    [x]: [x] javascript:alert(1) ](javascript:alert(1)) (javascript:alert(1)) [ ] ( ) https://a.example/
    http://a.example/b?c= & www.a.example/ me@a.example &lt;img␣src=x␣onerror=alert(1)&gt; &amp;lt;
    &#60;img␣src=x&#62; ` `` ``` ~~~ \\ \\\\ * ** _ ~ ~~ | \\| : ! ^ $ $$ a b 1 \x02 \x03 [^1] [^1]: --- # > -
    {:␣onclick=alert(1)} "t" 'u' <␣div␣onclick=alert(1)> <div␣onclick=alert(1)>
    """.split()
).map(lambda word: word.replace("␣", " "))
TEXTS = st.lists(WORDS | st.just(" "), min_size=1, max_size=5).map("".join)
ADDRESSES = st.sampled_from(
    """
    https://ok.example/ https://ok.example/(a)$b$&amp;c;"d javascript:alert(1) javascript&colon;alert(1)
    &#106;avascript:alert(1) /a javascript&amp;colon;alert(1) java&Tab;script:alert(1)
    java&amp;NewLine;script:alert(1) &#x6a&#97;vascript:alert(1) a<b>"c'd\\)
    data:text/html,<script>alert(1)</script> data&#58text/html,a vbscript:a
    """.split()
)
BLOCKS = st.sampled_from(
    """
    <p>{} <p>{}<b>{}</b>{} <p>{}<code>{}</code>{} <p>{}<a␣href="https://ok.example/">{}</a>{}
    <p>{}<a␣href="{@}">{}</a> <h2>{} <p>{}<br>{} <p>{}<a␣href="https://ok.example/"><code>{}</code></a>
    <p>{}<i><code>{}</code></i>{}<sub>{}</sub><code>{}</code>
    <table><tr><th>{}<th>{}<tr><td>{}<td><code>{}</code></table> <dl><dt>{}<dd>{}<dd><code>{}</code></dl>
    <pre>{}</pre> <blockquote><p>{} <ul><li>{}<li>{}<code>{}</code></ul>
    <p>{}<img␣src="https://ok.example/a.png"␣alt="{}"> <p>a<img␣src="{@}"␣alt="{}">
    <p>{}<script␣type="math/tex">{}</script>{}<code>{}</code> <script␣type="math/tex;mode=display">{}</script>
    <p>a<sup><a␣href="#f1"␣id="r1">1</a></sup><ol><li␣id="f1">{}<a␣href="#r1">^</a></ol>
    <ul><li>{}<pre>{}\n\n{}</pre></ul>
    """.split()
).map(lambda block: block.replace("␣", " "))  # fmt: skip


@st.composite
def pages(draw: st.DrawFn) -> str:
    """A page whose texts spell markup. Only its own elements and addresses at ok.example may come out of it."""
    blocks = draw(st.lists(BLOCKS, min_size=1, max_size=3))
    page = "".join(f"{block}\n" for block in ['<title>{}</title><meta name=author content="{}">', *blocks])
    page = re.sub(r"\{@\}", lambda _: escape(draw(ADDRESSES)), page)
    return re.sub(r"\{\}", lambda _: escape(draw(TEXTS)), page)


ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "input": {"type", "disabled", "checked"},
    "ol": {"start"},
    "td": {"align", "style"},
    "th": {"align", "style"},
}
TAGS = {
    *ATTRIBUTES,
    *"html head body p em strong del s sub sup code pre ul li blockquote table thead tbody tr dl dt dd hr br".split(),
    *"h1 h2 h3 h4 h5 h6 section div span".split(),
}
LIVE = re.compile(r"\s*(?:javascript|vbscript|data)\s*:", re.IGNORECASE)


def live(html: str) -> list[str]:
    """The elements and attributes of rendered Markdown that nothing but a page's text can be the reason for."""
    found = []
    for element in parse(html).iter_elements():
        attributes = {name: as_text(value) for name, value in element.attrs.items()}
        address = attributes.get("href", attributes.get("src", ""))
        if element.tag not in TAGS or not attributes.keys() <= ATTRIBUTES.get(element.tag, set()) | {"id", "class"}:
            found.append(f"<{element.tag} {' '.join(attributes)}>")
        elif LIVE.match(address) or (element.tag == "img" and (address == "x" or "evil" in address)):
            found.append(address)
    return found


@pytest.mark.parametrize("name", RENDERERS)
@SOME
@given(page=pages(), url=st.sampled_from([None, "https://ok.example/"]), tables=st.booleans(), setext=st.booleans())
def test_text_becomes_no_markup(name: str, page: str, url: str | None, tables: bool, setext: bool) -> None:
    extraction = mainmatter.clean(page, method="ice-baseline", url=url)
    headings = "setext" if setext else "atx"
    written = extraction.render("markdown", images=True, front_matter=True, tables=tables, headings=headings)
    assert live(RENDERERS[name]()(written)) == [], written


def letters(text: str) -> str:
    """A text without what renderers may change: white space, and a backslash that one of them takes for a letter."""
    return re.sub(r"[\s\\\x02\x03\ufffd]", "", unescape(unescape(text)))


@pytest.mark.parametrize("name", RENDERERS)
@SOME
@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_text_comes_back(name: str, texts: list[str]) -> None:
    nodes: list[Content | str] = []
    for text in filter(str.strip, texts):
        nodes += [" and ", Content("emphasis", [" ".join(text.split())]), " or ", " ".join(text.split())]
    written = to_markdown(Content("document", [Content("paragraph", ["Text", *nodes])]))
    expected = "Text" + "".join(node if isinstance(node, str) else str(node.children[0]) for node in nodes)
    assert letters(parse(RENDERERS[name]()(written)).text) == letters(expected), written


@pytest.mark.parametrize(
    "address",
    ["javascript&colon;a", "javascript&amp;colon;a", "&#106;avascript:a", "java&Tab;script:a", "data&#58text/html,a",
     "&" + "amp;" * 1000 + "#106;avascript:a", " &#1;javascript:a", "vbscript:a", ""],
)  # fmt: skip
def test_addresses_are_judged_as_programs_may_read_them(address: str) -> None:
    assert not is_harmless(address)
    page = f'<p>A <a href="{escape(address)}">link</a> and <img src="{escape(address)}" alt="a picture">.'
    extraction = mainmatter.clean(page, method="ice-baseline")
    assert extraction.render("markdown", images=True) == "A link and ."
    for written in (extraction.render("html", images=True), extraction.render("tei", images=True)):
        assert not re.search("<a |<img|<ref|<graphic", written)


@pytest.mark.parametrize("address", ["/a?b=c&amp;d", "a&b;c", "https://e.example/?a&colon;b", "mailto:a@e.example"])
def test_other_addresses_stay(address: str) -> None:
    assert is_harmless(address)


def test_front_matter_is_no_markup_where_it_is_read_as_markdown() -> None:
    title = "<img src=x onerror=alert(1)> of [a](javascript:alert(1)) page"
    page = f"<title>{escape(title)}</title><p>Words."
    written = mainmatter.clean(page, method="ice-baseline").render("markdown", front_matter=True)
    assert yaml.safe_load(written.split("---")[1])["title"] == title
    for make in RENDERERS.values():
        try:
            assert live(make()(written)) == []
        except pytest.skip.Exception:
            continue
