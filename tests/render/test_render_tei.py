"""TEI P5: well-formed, whatever the page holds."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import mainmatter
from mainmatter.records import BYLINE, CAPTION, HEADLINE, MAIN, Page

TEI = "{http://www.tei-c.org/ns/1.0}"


def body(html: str) -> list[str]:
    """The content of the TEI body, one string an element."""
    text = mainmatter.clean(html, method="density:c1=0,c2=1000").tei
    root = ET.fromstring(text.encode())
    found = root.find(f"{TEI}text/{TEI}body")
    assert found is not None
    ET.register_namespace("", "http://www.tei-c.org/ns/1.0")
    return [
        "".join(ET.tostring(child, encoding="unicode").replace(' xmlns="http://www.tei-c.org/ns/1.0"', "").split("\n"))
        .replace("  ", "")
        .replace("> <", "><")
        .strip()
        for child in found
    ]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a &amp; &lt;b&gt;</p>", ["<p>a &amp; &lt;b&gt;</p>"]),
        ("<h2>t</h2><p>a</p>", ['<ab type="head" rend="h2">t</ab>', "<p>a</p>"]),
        ("<ul><li>a<li>b</ul><p>c", ["<list><item>a</item><item>b</item></list>", "<p>c</p>"]),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>",
         ["<table><row><cell>a</cell><cell>b</cell></row><row><cell>c</cell><cell>d</cell></row></table>"]),
        ("<blockquote>a</blockquote>", ["<quote><p>a</p></quote>"]),
        ("<pre>a b</pre>", ['<ab type="code">a b</ab>']),
        ("<figure><figcaption>a</figcaption></figure>", ['<figure><ab type="caption">a</ab></figure>']),
        ("<p>a<br>b</p>", ["<p>a<lb />b</p>"]),
        ("<ol start=2><li>a<ul><li>b</ul></ol>",
         ['<list rend="numbered" n="2"><item>a <list><item>b</item></list></item></list>']),
        ("<dl><dt>t<dd>d</dl>", ['<list type="gloss"><label>t</label><item>d</item></list>']),
        ("<table><caption>c</caption><tr><th>a<th>b<tr><td>1<td>2</table>",
         [('<table><head>c</head><row role="label"><cell role="label">a</cell><cell role="label">b</cell></row>'
          "<row><cell>1</cell><cell>2</cell></row></table>")]),
        ("<p><b>a</b>, <a href='https://e.example/x y'>b</a> H<sub>2</sub>, <code>c</code></p>",
         [('<p><hi rend="bold">a</hi>, <ref target="https://e.example/x%20y">b</ref> H<hi rend="subscript">2</hi>, '
          "<code>c</code></p>")]),
        ("<pre class=language-c>a\nb</pre>", ['<ab type="code" subtype="c">a<lb />b</ab>']),
        (r"<p>a \(x\)</p>", ['<p>a <formula notation="TeX">x</formula></p>']),
        ("<p>a<sup><a href=#n>1</a></sup></p><p id=n>b</p>",
         ['<p>a<ref target="#fn-1">1</ref></p>', '<note place="foot" n="1" xml:id="fn-1"><p>b</p></note>']),
        ("<details><summary>s</summary><p>a</details>", ['<ab type="summary">s</ab>', "<p>a</p>"]),
        ("<p>a</p><hr><p>b", ["<p>a</p>", '<milestone unit="section" rend="rule" />', "<p>b</p>"]),
    ],
)  # fmt: skip
def test_blocks(html: str, expected: list[str]) -> None:
    assert body(html) == expected


def test_the_header() -> None:
    html = """<html lang=de><title>Titel</title><meta name=author content="Ada Lind">
      <meta name=description content="Kurz"><link rel=canonical href="https://e.example/a">
      <meta property="article:published_time" content="2024-03-05"><meta property="og:site_name" content="Blatt"><p>a"""
    root = ET.fromstring(mainmatter.clean(html, url="https://e.example/a?x").tei.encode())
    header = root.find(f"{TEI}teiHeader")
    assert header is not None

    def text(path: str) -> str | None:
        return header.findtext("/".join(TEI + step for step in path.split("/")))

    assert text("fileDesc/titleStmt/title") == "Titel"
    assert text("fileDesc/titleStmt/author") == "Ada Lind"
    assert text("fileDesc/publicationStmt/p") == "Blatt"
    assert text("fileDesc/sourceDesc/bibl/date") == "2024-03-05"
    assert text("profileDesc/abstract/p") == "Kurz"
    pointer = header.find(f"{TEI}fileDesc/{TEI}sourceDesc/{TEI}bibl/{TEI}ptr")
    language = header.find(f"{TEI}profileDesc/{TEI}langUsage/{TEI}language")
    assert pointer is not None
    assert language is not None
    assert pointer.get("target") == "https://e.example/a"
    assert language.get("ident") == "de"


def test_an_empty_page() -> None:
    assert body("") == []


def test_what_xml_cannot_hold_is_left_out() -> None:
    html = "<html lang='a\x0b'><title>t\x08</title><p>a\x07b\x1b\ufffe\ud800c 🙂</p>"
    root = ET.fromstring(mainmatter.clean(html, method="ice-baseline", url="https://e.example/\x01").tei.encode())
    assert [p.text for p in root.iterfind(f"{TEI}text/{TEI}body/{TEI}p")] == ["ab\ufffdc 🙂"]


def test_a_dump() -> None:
    page = Page("# Title\n\n* a\n* b", format="text")
    root = ET.fromstring(mainmatter.clean(page, method="density:c1=0,c2=100").tei.encode())
    assert [item.text for item in root.iter(f"{TEI}item")] == ["a", "b"]


def test_what_a_method_says_that_paragraphs_are() -> None:
    html = "<p>Otters</p><p>By Ann</p><p>They swim.</p><p>An otter</p><ul><li>By Bo</ul>"
    found = mainmatter.clean(html, method="ice-baseline")
    labels = np.array([HEADLINE, BYLINE, MAIN, CAPTION, BYLINE])
    told = replace(found, found_labels=labels, kinds=found.document.columns.kinds)
    lines = [line.strip() for line in told.tei.splitlines()]
    assert lines[lines.index("<body>") + 1 : lines.index("</body>")] == [
        '<ab type="head">Otters</ab>',
        '<ab type="byline">By Ann</ab>',
        "<p>They swim.</p>",
        '<ab type="caption">An otter</ab>',
        "<list>",
        "<item>By Bo</item>",
        "</list>",
    ]
