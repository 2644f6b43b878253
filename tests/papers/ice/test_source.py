"""The page's HTML: where its text stands, its lines without tags, and which block a span of it is text of."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from mainmatter.api import read
from mainmatter.papers.ice.source import Source
from mainmatter.records import Page
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable


def source(html: str) -> Source:
    return Source.of(read(Page(html)))


def shares(html: str, *kept: str) -> list[float]:
    """The share of each block, if these parts of the HTML are kept."""
    document = read(Page(html))
    spans = sorted((html.index(part), html.index(part) + len(part)) for part in kept)
    return [round(float(share), 3) for share in Source.of(document).shares(spans, document)]


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("", []),
        ("plain", ["plain"]),
        ("<p>one</p><p class='a>b'>two", ["one", "two"]),
        ('<a title="x > y">in</a> after', ["in", " after"]),
        ("<a title=it's>text</a> don't", ["text", " don't"]),
        ("<!-- <p>no</p> -->yes<!-- never closed", ["yes"]),
        ("a<script>if (a<b) '</p>'</script>b<STYLE>p > a {}</style>c", ["a", "b", "c"]),
        ("a<script>never closed", ["a"]),
        ("1 < 2 and 2<3", ["1 < 2 and 2<3"]),
        ("<!doctype html><?xml?>a</ p>b", ["a", "b"]),
        ("a<p title='never closed>b</p>", ["a"]),
        ("a<p", ["a"]),
    ],
)
def test_where_text_stands(html: str, texts: list[str]) -> None:
    assert [html[start:end] for start, end in source(html).runs] == texts


def test_lines_are_those_of_the_body_without_tags() -> None:
    html = "<title>T</title>\n<body\nclass=x>a &amp; <b>b</b>\r\n\n<p>c  &nbsp;d</p>\re<!--\n--><script>\n</script>f"
    assert [line.text for line in source(html).lines()] == ["a & b", "", "c d", "ef"]
    assert [line.text for line in source("<title>T</title>\n<p>no body").lines()] == ["T", "no body"]
    spans = source("<b>x\ny</b>z").lines()[1].spans
    assert spans == ((5, 6), (10, 11))


def test_shares() -> None:
    html = "<p>one two</p><p>three</p>"
    assert shares(html) == [0, 0]
    assert shares(html, "one") == [0.5, 0]
    assert shares(html, "two</p><p>three") == [0.5, 1]
    assert shares(html, "<p>", "</p>") == [0, 0]
    assert shares(html, html) == [1, 1]
    assert shares("<table><tr><td>a<td>bc</table><ul><li>d</ul>", "<td>a<td>") == [pytest.approx(1 / 3, abs=1e-3), 0]


def test_a_character_reference_is_not_cut() -> None:
    assert shares("<p>a&eacute;b", "a&ea") == [pytest.approx(2 / 3, abs=1e-3)]
    assert shares("<p>a&eacute;b", "cute;b") == [pytest.approx(1 / 3, abs=1e-3)]


@pytest.mark.parametrize("nothing", ["&nbsp;", "&#160;", "\u00ad", "  "])
def test_what_shows_nothing_makes_no_block(nothing: str) -> None:
    html = f"<p>{nothing}</p><p>one</p><div>{nothing}</div>"
    assert shares(html, html) == [1]


def test_text_that_a_parser_moves_is_found() -> None:
    html = "<table>moved<tr><td>cell</td></tr></table>"
    document = read(Page(html))
    found = dict(zip(document.texts, shares(html, "moved"), strict=True))
    assert found == {"moved": 1, "cell": 0}


def test_marks_of_a_page_are_no_marks() -> None:
    assert shares("<p>a\ufdd0b\ufdd1</p><p>c", "c") == [0, 1]


def test_a_dump_is_its_blocks() -> None:
    document = read(Page("One.\n\nTwo words here.", format="text"))
    found = Source.of(document)
    assert found.text == "One.\nTwo words here."
    assert found.shares([(0, 8)], document).round(2).tolist() == [1, 0.23]
    assert [line.text for line in found.lines()] == ["One.", "Two words here."]


def test_broken_pages_do_no_harm() -> None:
    rng = random.Random(5)
    pieces = [
        "<p>",
        "</p>",
        "<td>",
        "<table>",
        "text ",
        "&amp;",
        "&am",
        "<",
        ">",
        "'",
        '"',
        "=",
        "<!--",
        "-->",
        "\n",
        "&",
    ]
    pieces += ["<script>", "</script>", "<a href='", "<br>", "<pre>", "</table>", "\ufdd0", "x"]
    for _ in range(300):
        html = "".join(rng.choices(pieces, k=rng.randint(1, 30)))
        document = read(Page(html))
        found = Source.of(document)
        cuts = sorted(rng.sample(range(len(html) + 1), min(4, len(html) // 2 * 2)))
        share = found.shares(list(zip(cuts[::2], cuts[1::2], strict=True)), document)
        assert share.shape == (len(document),)
        assert ((share >= 0) & (share <= 1)).all()
        assert found.lines()


@pytest.mark.parametrize("piece", ["<a ", "<a b='", "<!--", "<script>", "=  ", "&amp", "<p>x", "x\n", "<", "&"])
def test_it_takes_linear_time(piece: str) -> None:
    def make(size: int) -> Callable[[], object]:
        document = read(Page(piece * size))
        text = Source.of(document).text
        every_other = [(place, place + 1) for place in range(0, len(text), 1000)]

        def look() -> None:
            fresh = Source(text)
            fresh.lines()
            fresh.shares(every_other, document)

        return look

    assert_linear(make, 200_000 // len(piece))
