"""What holds for every method and every format, on every page, however odd."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import mainmatter
from mainmatter.html.parse import decode_page, parse
from mainmatter.html.read import parse_and_segment
from mainmatter.records import Extraction, Kind, Page
from mainmatter.registry import FORMATS, METHODS

WORDS = "Some words of a text that is long enough, and then a few more words of it. "

SOURCES: dict[str, str | bytes | Page] = {
    "empty": "",
    "empty bytes": b"",
    "white space": " \n\t\r\n ",
    "no body": "<html><head><title>Only a head</title></head></html>",
    "only script": "<script>document.write('<p>written</p>')</script>",
    "only style": "<style>p { color: red }</style>",
    "only a comment": "<!-- <p>no text</p> -->",
    "text only": WORDS * 3,
    "one letter": "x",
    "article": f"""<!doctype html><html lang=en><head><title>T | Site</title><meta name=author content="Ada"></head>
            <body class=b><nav><ul><li><a href=/>Home</a><li><a href=/n>News</a></ul></nav><article><h1>Title here</h1>
            <p class=lead>{WORDS}<a href=../up onclick=x()>up</a></p><p>{WORDS}<br><br>{WORDS}</p>
            <blockquote><p>{WORDS}</p></blockquote><pre>  if x:\n      y</pre><ul><li>One<li>Two<ul><li>Three</ul></ul>
            <dl><dt>Term<dd>{WORDS}</dl><table><caption>Cap</caption><tr><th>A<th>B<tr><td>1<td>2</table>
            <figure><img src=a.png alt=a><figcaption>Figure</figcaption></figure></article>
            <div hidden>hidden words</div><form><label>Name<input></label><select><option>a<option>b</select>
            <textarea>area</textarea><button>Send</button></form><footer>© 2024</footer></body></html>""",
    "chinese": f"<html lang=zh><h1>标题</h1><p>{'这是一个很长的段落，没有空格。' * 20}</p><p>短</p>",
    "arabic": f"<html lang=ar dir=rtl><h1>عنوان</h1><p>{'هذا نص طويل، وفيه كلمات كثيرة. ' * 10}</p>",
    "hebrew with marks": "<p dir=rtl>\u202bשלום\u202c עולם \u200f12\u200e</p>",
    "thai": f"<p>{'ภาษาไทยไม่มีช่องว่างระหว่างคำ' * 10}</p>",
    "devanagari": f"<p>{'यह एक लंबा वाक्य है। ' * 10}</p>",
    "emoji": "<p>👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301 🇩🇪 \U0010fffd</p><p>👍🏽" + "😀" * 200,
    "broken markup": f"<p>a<b>b<i>c</b>d</i><table><p>e<tr>f<td>g</p></td><div>{WORDS}</span></body>h</html>i<p",
    "unclosed attribute": "<p class='x>one</p><p>two",
    "unclosed comment": "<p>one<!-- two<p>three",
    "misnested links": "<a href=1>one<div><a href=2>two</div>three</a>four",
    "frameset": "<frameset cols=50%,50%><frame src=a.html><frame src=b.html><noframes>old</noframes></frameset>",
    "deeply nested": "<div>" * 3000 + WORDS + "<p>" + WORDS,
    "deeply nested inline": "<span>" * 3000 + WORDS,
    "huge table": "<table>"
    + "".join(f"<tr><td>{n}<td>cell {n}<td><a href={n}>x</a>" for n in range(1500))
    + "</table>",
    "layout table": f"<table><tr><td><a href=1>Home</a><br><a href=2>News</a><td>{WORDS}<br><br>{WORDS}</table>",
    "table in a table": "<table><tr><td>a<table><tr><td>b<td>c</table>d<td>e</table>",
    "control characters": "<p>a\x01\x01b\x02c\x03\x07\x08\x0b\x0c\x0e\x1b\x7f\x9fd</p><p>\x01\x01<p>\ufffe\uffff",
    "nul": "a\x00b<p\x00>c</p><!-- \x00 -->",
    "lone surrogate": "<p title='\udfff'>one \ud800 two</p>",
    "random bytes": b"<p>" + bytes(np.random.default_rng(5).integers(0, 256, 5000, np.uint8)),
    "utf-16": WORDS.encode("utf-16"),
    "wrong charset": b"<meta charset=utf-8><p>caf\xe9 " + WORDS.encode(),
    "svg and math": "<svg><title>t</title><a href=javascript:x()>a</a><p>b</p></svg>"
    "<math><mi>x</mi><annotation>y</annotation></math>",
    "shadow root": "<div><template shadowrootmode=open><p>in the shadow</p><slot></slot></template>light</div>",
    "templates": "<template><p>never</p></template><p>shown</p>",
    "noscript": f"<body><p>Wait</p><noscript><h2>Post</h2><p>{WORDS}</p><noscript>inner</noscript></noscript>",
    "noscript in the head": f"<head><noscript><link rel=x><p>now the body</p></noscript><title>t</title><p>{WORDS}",
    "attacks": """<p onclick=alert(1) style="a:url(javascript:x)">one<a href="jav&#x09;ascript:alert(1)">two</a>
            <img src=x onerror=alert(1)><iframe srcdoc="<script>alert(1)</script>"></iframe><svg onload=alert(1)></svg>
            <a href=" &#14; javascript:alert(1)">three</a><math href="javascript:x">four</math><base href="javascript:">
            <object data=javascript:alert(1)>five</object><form action=javascript:alert(1)>six</form>
            <meta http-equiv=refresh content="0;url=javascript:alert(1)">
            <a href=data:text/html,x xlink:href=javascript:x>seven</a>""",
    "strange names": "<o:p>one</o:p><my-tag.x>two</my-tag.x><h7>three</h7><p/>four<image>five</image>",
    "plaintext": "<p>one<plaintext><p>two</p>",
    "entities": "<p>&lt;b&gt; &amp;amp; &nbsp;&shy;&zwnj;&notanentity; &copy &#128; &#xd800; &#x110000; &#0;</p>",
    "xml": "<?xml version='1.0'?><!DOCTYPE html><html xmlns='x'><body><p>one<br/>two</p><![CDATA[three]]></body>",
    "all spaces": "<p>a\x0bb\x0cc\x1cd\x85e\u1680f\u2003g\u2028h\u2029i\u202fj\u205fk\u3000l\u200bm\ufeffn</p>",
    "dump": Page(
        f"# Title\n\n{WORDS}\n{WORDS}\n\n* one\n* two\n\nEnd\n===\n<b>&amp;\x07</b>", id="dump", format="text"
    ),
    "empty dump": Page("", format="text"),
    "dump of bytes": Page("Größe\n\n• ä".encode("cp1252"), charset="windows-1252", format="text"),
}
PAGES = {
    name: page if isinstance(page, Page) else Page(page, "https://e.example/d/page.html", name)
    for name, page in SOURCES.items()
}

methods = pytest.mark.parametrize("method", sorted(METHODS))
formats = pytest.mark.parametrize("format_name", sorted(FORMATS))
pages = pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())


def facts(found: Extraction) -> tuple[object, ...]:
    return (
        found.document.columns,
        found.document.blocks,
        found.metadata,
        found.scores.tolist(),
        found.kept.tolist(),
        list(found.kinds),
        list(found.reasons),
    )


@methods
@pages
def test_decisions_have_one_entry_a_block(page: Page, method: str) -> None:
    found = mainmatter.clean(page, method=method)
    count = len(found.document)
    assert found.method == method
    assert found.kept.shape == found.scores.shape == (count,)
    assert found.kept.dtype == np.bool_
    assert found.scores.dtype == np.float64
    assert np.isfinite(found.scores).all()
    assert len(found.kinds) == len(found.reasons) == len(found.document.blocks) == count
    assert all(isinstance(kind, Kind) for kind in found.kinds)
    assert all(isinstance(reason, str) and reason for reason in found.reasons)
    assert len(found) == len(found.blocks) == found.kept.sum()
    columns = found.document.columns
    lists = (columns.texts, columns.kinds, columns.levels, columns.positions, columns.link_chars, columns.link_counts)
    assert {len(column) for column in (*lists, columns.controls)} == {count}


@methods
@pages
def test_the_same_page_gives_the_same_answer(page: Page, method: str) -> None:
    copy = Page(page.html, page.url, page.id, page.charset, page.format)
    first, second = mainmatter.clean(page, method=method), mainmatter.clean(page, method=method)
    assert facts(first) == facts(second)
    for name in FORMATS:
        assert first.render(name) == second.render(name)
    # Rendering changes neither the decisions nor the page.
    assert facts(first) == facts(second)
    assert page == copy


@methods
def test_several_threads_give_the_same_answers(method: str) -> None:
    some = [PAGES[name] for name in ("article", "broken markup", "huge table", "dump", "noscript", "attacks")]

    def work(page: Page) -> list[str]:
        found = mainmatter.clean(page, method=method)
        return [found.render(name) for name in sorted(FORMATS)]

    alone = [work(page) for page in some]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, some * 4)) == alone * 4


@methods
def test_several_threads_may_share_an_extraction(method: str) -> None:
    alone = mainmatter.clean(PAGES["article"], method=method)
    shared = mainmatter.clean(PAGES["article"], method=method)
    names = sorted(FORMATS) * 5
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(shared.render, names)) == [alone.render(name) for name in names]


@methods
@formats
@pages
def test_every_format(page: Page, method: str, format_name: str) -> None:
    found = mainmatter.clean(page, method=method)
    output = found.render(format_name)
    assert isinstance(output, str)
    texts = [block.text for block in found.blocks]
    check = CHECKS.get(format_name)
    assert check is not None, f"say in CHECKS what holds for {format_name}"
    check(output, texts)


def check_text(output: str, texts: list[str]) -> None:
    assert output.replace("\n", "") == "".join(texts).replace("\n", "")
    at = 0
    for text in texts:
        at = output.index(text, at) + len(text)


def check_cleaneval(output: str, texts: list[str]) -> None:
    lines = output.split("\n") if output else []
    assert [line[:4] in ("<p> ", "<h> ", "<l> ") for line in lines] == [True] * len(texts)
    assert [line[4:] for line in lines] == [" ".join(text.split()) for text in texts]


def check_json(output: str, texts: list[str]) -> None:
    content = json.loads(output)
    assert [block["text"] for block in content["blocks"] if block["kept"]] == texts
    check_text(content["text"], texts)


def check_tei(output: str, texts: list[str]) -> None:
    root = ET.fromstring(output.encode("utf-8"))
    assert root.tag == "{http://www.tei-c.org/ns/1.0}TEI"
    body = root.find("{*}text/{*}body")
    assert body is not None
    expected = "".join(c for text in texts for c in text if not c.isspace() and (c >= " " and c not in "\ufffe\uffff"))
    expected = "".join(c for c in expected if not "\ud800" <= c <= "\udfff")
    assert "".join("".join(body.itertext()).split()) == expected


def check_html(output: str, texts: list[str]) -> None:
    tree = parse(output)
    for element in tree.iter_elements():
        assert element.tag not in (
            "script",
            "style",
            "iframe",
            "object",
            "embed",
            "form",
            "svg",
            "math",
            "base",
            "template",
        )
        for name, value in element.attrs.items():
            assert not name.lower().startswith("on")
            assert name != "style"
            if name in ("href", "src", "cite"):
                address = "".join(c for c in str(value) if c > " ").lower()
                assert not address.startswith(("javascript:", "vbscript:", "data:"))
    assert (tree.find("meta[charset]") is not None) or output.startswith("<!doctype html>\n<html")


def check_markdown(output: str, texts: list[str]) -> None:
    assert "javascript:alert" not in output.replace("\\", "")
    assert output == output.strip()


def check_jsonl(output: str, texts: list[str]) -> None:
    assert "\n" not in output
    content = json.loads(output)
    assert "blocks" not in content
    check_text(content["text"], texts)


CHECKS = {
    "text": check_text,
    "cleaneval": check_cleaneval,
    "json": check_json,
    "jsonl": check_jsonl,
    "tei": check_tei,
    "html": check_html,
    "markdown": check_markdown,
}


def squeeze(text: str) -> str:
    return "".join(text.split())


# Pages of which the segmenter takes characters out.
_MARKDOWN_WITH_HTML = {"article", "broken markup", "layout table", "table in a table"}
_TAKES_OUT = {"control characters", "entities", "random bytes"}


@pages
def test_an_xpath_finds_its_block_again(page: Page, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.id
    if page.format == "text" or isinstance(page.html, bytes):
        assert page.format == "text" or all(block.xpath for block in mainmatter.read(page).blocks)
        return
    tree, _ = parse_and_segment(decode_page(page)[0])
    if name == "shadow root":  # XPath cannot enter it, but the way to it is right
        for block in mainmatter.read(page).blocks:
            host = tree.xpath(block.xpath.partition("/template")[0])
            assert isinstance(host, list)
            assert len(host) == 1
        return
    xpaths = set()
    for block in mainmatter.read(page).blocks:
        found = tree.xpath(block.xpath)
        assert isinstance(found, list)
        assert len(found) == 1, block.xpath
        xpaths.add(block.xpath)
        node = found[0]
        text = squeeze(node if isinstance(node, str) else node.text)
        if name in _TAKES_OUT:
            continue
        if isinstance(node, str):  # the block's first text node
            assert squeeze(block.text).startswith(text)
        else:
            assert squeeze(block.text) == text or name in ("svg and math", "attacks")
    assert len(xpaths) == len(mainmatter.read(page))


@pages
def test_baseline_html_and_markdown_hold_all_words(page: Page, request: pytest.FixtureRequest) -> None:
    """Whatever is kept is in the output made from the page's markup too."""
    name = request.node.callspec.id
    if name in _TAKES_OUT or name == "all spaces":
        return
    found = mainmatter.clean(page, method="ice-baseline")
    body = parse(found.html).find("body")
    assert body is not None
    words = squeeze("".join(found.document.texts))
    assert squeeze(body.text).replace(r"\(", "").replace(r"\)", "") == words  # around formulas
    if name not in _MARKDOWN_WITH_HTML:
        letters = "".join(c for c in words if c.isalpha())
        assert "".join(c for c in unescape(found.to_markdown(links=False)) if c.isalpha()) == letters


@pytest.mark.parametrize(
    ("method", "threshold"),
    [
        ("ice-lm", 0.5),
        ("ice-regex", None),
        ("ice-tree", None),
        ("ncleaner:heuristics=False,never_empty=False", 0.0),
        ("ncleaner:threshold=2.0,heuristics=False,never_empty=False", 2.0),
        ("fiasco:never_empty=False", 0.0),
    ],
)
def test_the_threshold_parts_what_is_kept_from_what_is_dropped(method: str, threshold: float | None) -> None:
    found = mainmatter.clean((Path(__file__).parents[1] / "pages" / "river.html").read_bytes(), method=method)
    assert found.threshold is not None
    assert threshold is None or found.threshold == threshold
    assert found.kept.tolist() == (found.scores > found.threshold).tolist()


@pytest.mark.parametrize("method", ["density", "ice-baseline", "ice-heuristic", "ice-tree:preset=paper", "template"])
def test_no_threshold_is_told_where_there_is_none(method: str) -> None:
    assert mainmatter.clean("<p>One rope.", method=method).threshold is None
