"""A page as lines of markup, and which share of each block a span of that markup covers."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from mainmatter.api import read
from mainmatter.papers.ice.linear_markup import LinearMarkup, write_markup
from mainmatter.records import Columns, Document, Kind, Page


def markup(html: str) -> str:
    return write_markup(read(Page(html))).text


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<p>one  two\n three</p>", ["<p> one two three"]),
        ("<p>one <a href=x>two</a> three", ["<p> one <a>two</a> three"]),
        ("<p>one <b><a href=x>two <i>three</i></a></b>", ["<p> one <a>two three</a>"]),
        ("<ul><li><a href=1>Home</a><li><a href=2>News</a></ul>", ["<ul><li> <a>Home</a>", "<ul><li> <a>News</a>"]),
        ("<p><a href=1>one</a> | <a href=2>two</a></p>", ["<p> <a>one</a> | <a>two</a>"]),
        ("<a href=x><div>one</div></a>", ["<div> <a>one</a>"]),
        # div and span say nothing about what is in them, nor does a tag twice.
        ("<div><section><section><div><h2>one</h2>two", ["<section><h2> one", "<section><div> two"]),
        ("one<br>two<br><br>three", ["<body> one two", "<body> three"]),
        ("<p>1 &lt; 2 &gt; 0", ["<p> 1 ‹ 2 › 0"]),
        ("<table><tr><td>a<td>b</table>", ["<table><tr> a\tb"]),
        ("<div class='page-footer x'><p>one</p></div>", ["<.footer><p> one"]),
        ("<div id=comments><div class=content><p>one", ["<.comments><.content><p> one"]),
        ("<body class=nav><ul class='main-menu'><li class=menu-item>one", ["<.nav><ul><li> one"]),
        ("<form><label>Name</label><button>Send</button>", ["<form><label> Name", "<form><button> Send"]),
        ("<pre>a\n  b</pre>", ["<pre> a   b"]),
        ("", []),
    ],
)
def test_lines(html: str, lines: list[str]) -> None:
    assert markup(html) == "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("names", "tag"),
    [
        ("AD", "<.aside>"),
        ("top-ads", "<.aside>"),
        ("ads2", ""),
        ("road", ""),
        ("madness", ""),
        ("Main-MENU", "<.nav>"),
        ("ſidebar", "<.aside>"),  # a small s to Unicode, where case does not count
        ("fußleiste FOOTER", "<.footer>"),
        ("toc", "<.nav>"),
        ("entry reply", "<.comments>"),
    ],
)
def test_what_names_say(names: str, tag: str) -> None:
    assert markup(f"<div class='{names}'><p>one") == f"{tag}<p> one\n"
    assert markup(f"<div id='{names}'><p>one") == f"{tag}<p> one\n"


def test_a_deep_page_has_short_lines() -> None:
    written = write_markup(read(Page("<ul><li>one" * 3000)))
    assert len(written) == 3000
    assert max(map(len, written.text.split("\n"))) < 60
    assert written.text.endswith("<ul><li><ul><li><ul><li><ul><li><ul><li> one\n")


def test_a_dump_gets_tags_by_kind() -> None:
    kinds = list(Kind)
    levels = [2 if kind is Kind.HEADING else 0 for kind in kinds]
    columns = Columns.of(["a\nb"] * len(kinds), kinds=kinds, levels=levels)
    page = Page("", format="text")
    assert write_markup(Document(page, columns)).text.split("\n") == [
        "<h2> a b",
        "<p> a b",
        "<ul><li> a b",
        "<table><tr> a b",
        "<pre> a b",
        "<blockquote> a b",
        "<figcaption> a b",
        "",
    ]


HTML = "<p>one <a href=x>two</a> three<ul><li><a href=x>Home</a><li>four"
# <p> one <a>two</a> three   |  <ul><li> <a>Home</a>  |  <ul><li> four


@pytest.mark.parametrize(
    ("captured", "shares"),
    [
        (["one <a>two</a> three"], [1, 0, 0]),
        (["one <a>two</a> three", "Home", "four"], [1, 1, 1]),
        (["<a>Home</a>"], [0, 1, 0]),
        # The text of the first block is "one two three": 4, 3 and 6 characters, with the spaces around the link.
        (["one "], [4 / 13, 0, 0]),
        (["<p> one <a>t"], [5 / 13, 0, 0]),
        (["two</a> three\n<ul><li> <a>Ho"], [9 / 13, 2 / 4, 0]),
        (["<p>", "<ul>"], [0, 0, 0]),
        (["ou"], [0, 0, 0.5]),
        ([], [0, 0, 0]),
    ],
)
def test_shares(captured: list[str], shares: list[float]) -> None:
    written = write_markup(read(Page(HTML)))
    spans = [(start := written.text.index(each), start + len(each)) for each in captured]
    assert written.shares(spans).tolist() == pytest.approx(shares)


def shares_one_by_one(written: LinearMarkup, spans: list[tuple[int, int]]) -> list[float]:
    """The same by looking at each character."""
    inside = {place for start, end in spans for place in range(start, end)}
    shares = []
    for first, end in zip(written.firsts[:-1], written.firsts[1:], strict=True):
        places = [p for run in range(first, end) for p in range(written.runs[0][run], written.runs[1][run])]
        shares.append(sum(place in inside for place in places) / max(1, len(places)))
    return shares


def test_shares_agree_with_counting() -> None:
    rng = random.Random(1)
    pieces = ("one two", "<a href=x>link</a> ", "&lt;", " three ", "<b>four</b>", "x")
    for _ in range(150):
        html = "".join(f"<p>{''.join(rng.choices(pieces, k=rng.randint(1, 5)))}</p>" for _ in range(rng.randint(1, 6)))
        written = write_markup(read(Page(html)))
        count = 2 * rng.randint(0, 5)
        cuts = sorted(rng.sample(range(len(written.text) + 1), min(count, len(written.text) // 2 * 2)))
        spans = list(zip(cuts[::2], cuts[1::2], strict=True))
        np.testing.assert_allclose(written.shares(spans), shares_one_by_one(written, spans))


def test_lines_and_runs_are_where_they_are_said_to_be() -> None:
    document = read(Page(HTML + "<p>a <a href=x> b </a>c<p>1 &lt; 2<pre>x\n y</pre>"))
    written = write_markup(document)
    assert [written.text[start:].split("\n")[0] for start in written.lines] == written.text.split("\n")[:-1]
    texts = [
        "".join(written.text[start:end] for start, end in written.runs[:, first:last].T)
        for first, last in zip(written.firsts[:-1], written.firsts[1:], strict=True)
    ]
    assert texts[:3] == ["one two three", "Home", "four"]
    assert texts[3:] == ["a bc", "1 ‹ 2", "x  y"]
    assert not re.search("[<>\n]", "".join(texts))


def test_an_empty_page() -> None:
    written = write_markup(read(Page("")))
    assert (written.text, len(written), written.shares([]).tolist()) == ("", 0, [])
