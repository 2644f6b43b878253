"""Pages made to hurt: cleaned in time linear in their size, under a second for 5 MB, by every method in every format.

The limit in these tests is three times that for text, since the machines they run on are slow, and five times for
formats that need the tree a second time; how it is measured is in timing.py. The slowest are told at the end of the run
(`pytest -rP tests/test_hostile.py`).
"""

from __future__ import annotations

import gc
import random
import tracemalloc
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import pytest

import mainmatter
from mainmatter.records import Page
from mainmatter.registry import FORMATS, METHODS, get_method
from timing import least_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mainmatter.method import Method
    from mainmatter.records import Extraction

SECONDS_PER_MEGABYTE = 1 / 5
MARGIN = 3
FORMAT_MARGIN = 5

# What took how long for its size, as a share of the time that it may take (without the margin).
times: list[tuple[float, float, str, str]] = []


def soup(count: int) -> str:
    rng = random.Random(7)
    return "".join(rng.choice(["<b>", "<a href=x>", "<table>", "<p>"]) + "w " for _ in range(count))


def random_bytes() -> bytes:
    return b"<p>" + random.Random(1).randbytes(1_000_000)  # which makes them a page


PAGES: dict[str, Callable[[], str | bytes]] = {
    "100,000 nested div": lambda: "<div>" * 100_000 + "text",
    "100,000 nested span": lambda: "<span>" * 100_000 + "text",
    "100,000 nested b": lambda: "<b>" * 100_000 + "text",
    "20,000 nested div, each with text": lambda: "<div>some words " * 20_000,
    "200,000 attributes": lambda: "<p " + " ".join(f"a{n}=v{n}" for n in range(200_000)) + ">text",
    "200,000 times the same attribute": lambda: "<p " + "class=x " * 200_000 + ">text",
    "one attribute of 5 MB": lambda: "<p title='" + "x " * 2_500_000 + "'>text",
    "2,000 tables with a huge colspan": lambda: "<table><tr><td colspan=99999>a<td>b</table>" * 2_000,
    "2,000 tables with a large colspan": lambda: "<table><tr><td colspan=9000 rowspan=9>a<td>b</table>" * 2_000,
    "huge colspan": lambda: "<table><tr><td colspan=1000000000 rowspan=999999999>a<td>b</table>" * 1000,
    "NUL bytes": lambda: b"<p>a\x00b</p>\x00" * 20_000,
    "nothing but NUL": lambda: b"<p>" + b"\x00" * 1_000_000,
    "random bytes": random_bytes,
    "UTF-16 that says UTF-8": lambda: "<meta charset=utf-8><p>Wörter</p>".encode("utf-16") * 20_000,
    "Shift_JIS that says UTF-8": lambda: b"<meta charset=utf-8>" + "<p>日本語の文章</p>".encode("shift_jis") * 10_000,
    "500,000 br": lambda: "<br>" * 500_000,
    "100,000 br with text": lambda: "x<br>" * 100_000,
    "20,000 br pairs with text": lambda: "x<br><br>" * 20_000,
    "200,000 unclosed b, a, table, p": lambda: soup(200_000),
    "50,000 unclosed b": lambda: "<b>w " * 50_000,
    "50,000 unclosed a": lambda: "<a href=x>w " * 50_000,
    "20,000 unclosed table": lambda: "<table>w " * 20_000,
    "20,000 unclosed p": lambda: "<p>w " * 20_000,
    "10,000 times a and div": lambda: "<a href=x><div>w " * 10_000,
    "10,000 times b and p": lambda: "<b><p>w " * 10_000,
    "100,000 siblings": lambda: "<p>word</p>" * 100_000,
    "100,000 inline siblings": lambda: "<i>word</i>" * 100_000,
    "100,000 links": lambda: "<a href=x>link</a> " * 100_000,
    "one text of 5 MB": lambda: "some words, and more " * 250_000,
    "one word of 5 MB": lambda: "x" * 5_000_000,
    "5 MB of spaces": lambda: "<p>a" + " " * 5_000_000 + "b",
    "1 MB of <": lambda: "<" * 1_000_000,
    "1 MB of </": lambda: "</" * 500_000,
    "1 MB of &": lambda: "&" * 1_000_000,
    "1 MB of <!--": lambda: "<!--" * 250_000,
    "a tag name of 2 MB": lambda: "<" + "a" * 2_000_000 + ">text",
    "15,000 nested tables": lambda: "<table><tr><td>cell " * 15_000,
    "20,000 nested lists": lambda: "<ul><li>item " * 20_000,
    "20,000 nested quotes": lambda: "<blockquote>said " * 20_000,
    "20,000 noscript": lambda: "<body>" + "<noscript><p>words in it</p></noscript>" * 20_000,
    "50,000 nested noscript": lambda: "<body>" + "<noscript>" * 50_000 + "text",
    "one row of 50,000 cells": lambda: "<table><tr>" + "<td>x" * 50_000,
    "10,000 rows": lambda: "<table>" + "<tr><td>x<td>y" * 10_000,
    "20,000 options": lambda: "<select>" + "<option>x" * 20_000,
    "10,000 nested shadow roots": lambda: "<div><template shadowrootmode=open>t " * 10_000,
    "50,000 nested svg": lambda: "<svg>" * 50_000 + "text",
    "50,000 nested math": lambda: "<math><mi>" * 50_000 + "text",
    "20,000 images": lambda: "<p>a</p><img src=x>" * 20_000,
    "2 MB of preformatted lines": lambda: "<pre>" + "a  line\n" * 250_000,
    "marks of the segmenter": lambda: "<p>\x01\x01\x02\x01" * 20_000,
    "a noscript of 1 MB of <": lambda: "<body><noscript>" + "<" * 1_000_000 + "</noscript>text",
    "1 MB of spaces in a pre": lambda: "<pre>x" + " " * 1_000_000 + "y",
    "a title of 1 MB": lambda: "<title>" + "a | b - " * 125_000 + "</title><h1>" + "a | b - " * 125_000 + "</h1>",
    "an author of 1 MB": lambda: "<p><a rel=author>By " + "Ada and " * 125_000 + "</a></p>",
    "a byline of digits": lambda: "<p class=byline>By " + "2024-" * 100_000 + "</p><time>" + "1" * 500_000 + "</time>",
    "a style of spaces": lambda: "<p style='" + "display" + " " * 500_000 + "x" + " display:" * 50_000 + "'>text",
    "soft hyphens": lambda: "<p>" + "\u00ad" * 1_000_000 + "x",
    "100,000 meta": lambda: "<meta property=og:title content=x>" * 100_000,
    "a deep JSON-LD": lambda: "<script type=application/ld+json>" + "[" * 500_000 + "</script><p>text",
    "Markdown in a text": lambda: "<p>" + "* _ ` [x](y) # | \\ " * 100_000,
}


WORDS = "some words of a text that goes on and on, "
# Markup that only formats with markup look at, of so many pieces that what takes quadratic time takes many seconds.
MARKUP_PAGES: dict[str, Callable[[], str]] = {
    "100,000 nested marks": lambda: "<p>" + "<b>a<i>b<sup>c<code>d" * 25_000,
    "50,000 marks beside each other": lambda: "<p>" + "<b>a</b><i>b</i>" * 25_000,
    "20,000 marks of punctuation": lambda: "<p>" + "<b>*</b>_" * 20_000,
    "100,000 empty marks": lambda: "<p>x" + "<b> </b>" * 100_000 + "y",
    "100,000 texts with the same mark": lambda: "<p><b>" + f"<span>{WORDS}</span>" * 100_000,
    "20,000 code spans": lambda: "<p>" + "<code>`a`</code> " * 20_000,
    "a line of 100,000 hyphens": lambda: "<p>a<br>" + "-|" * 100_000 + "x" + "<br>- a" * 20_000,
    "a heading of 100,000 words": lambda: "<h2>" + "word # " * 100_000,
    "30,000 anchors in a heading": lambda: "<h2>" + "<a class=anchor href='#x'>word</a>" * 30_000,
    "50,000 lists": lambda: f"<ul><li>{WORDS}{WORDS}</ul>" * 50_000,
    "100,000 nested lists without a text": lambda: "<ul><li>" * 100_000 + "x",
    "20,000 tasks": lambda: "<ul>" + "<li><input type=checkbox>x" * 20_000,
    "50,000 definitions of a term": lambda: "<dl><dt>a" + f"<dd>{WORDS}{WORDS}" * 50_000,
    "10,000 nested definition lists": lambda: "<dl><dt>a<dd>b" * 10_000,
    "20,000 paragraphs in 60 quotes": lambda: "<blockquote>" * 60 + "<p>x" * 20_000,
    "5,000 merged cells": lambda: "<table>" + "<tr><td rowspan=1000 colspan=1000>x<td>y" * 5_000,
    "a column of cells that grow": lambda: "<table>" + "".join("<tr>" + "<td>x" * i for i in range(2, 300)),
    "10,000 tables": lambda: "<table><tr><td>a<td>b</table>" * 10_000,
    "20,000 formulas": lambda: "<p>" + "<math><mi>x</mi></math> " * 20_000,
    "100,000 nested rows of a formula": lambda: "<math>" + "<mrow>" * 100_000 + "<mi>x",
    "50,000 nested formulas without TeX": lambda: "<p>" + "<span class=katex>a" * 50_000,
    "100,000 formulas in a text": lambda: "<p>" + r"\(x\) \(y" * 50_000,
    "20,000 pictures of formulas": lambda: "<p>a</p>" + "<p><img class=latex alt=x></p>" * 20_000,
    "20,000 scripts with formulas": lambda: "<p>a" + "<script type=math/tex>x</script>" * 20_000,
    "50,000 references to a footnote": lambda: "<p>a<sup>" + "<a href='#n'>1</a>" * 50_000 + "</sup><p id=n>note",
    "20,000 footnotes": lambda: (
        "<p>"
        + "".join(f"a<sup><a href='#n{i}'>{i}</a></sup> " for i in range(20_000))
        + "".join(f"<p id=n{i}>note" for i in range(20_000))
    ),
}


@pytest.fixture(autouse=True, scope="module")
def _without_the_test_runner() -> Iterator[None]:
    """What the test runner holds is no part of the pages: the garbage collector need not go through it."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def measure(name: str, what: str, size: int, prepare: Callable[[], Callable[[], object]], before: float = 0.0) -> float:
    """Measure the work that `prepare` gives, and hold it, with the time `before` it, against what is allowed."""
    allowed = max(1.0, size / 1e6 * SECONDS_PER_MEGABYTE)
    limit = allowed * (FORMAT_MARGIN if what in FORMATS else MARGIN)
    seconds = before + least_seconds(prepare, limit - before)
    times.append((seconds / allowed, seconds, name, what))
    assert seconds < limit, f"{what} took {seconds:.2f} s for {size / 1e6:.1f} MB"
    return seconds


@cache
def method_of(name: str) -> Method:
    return get_method(name)


def measure_all(name: str, page: Page, formats: Iterable[str]) -> None:
    """Measure every method, from the page to its text, the metadata and these formats.

    What is the same for all methods, reading the page, is done once, and its time counts for each. The formats write
    what ice-baseline found: it keeps everything, so no method can give a format more to write.
    """
    size = len(page.html)
    reading = measure(name, "reading", size, lambda: partial(mainmatter.read, page))
    document = mainmatter.read(page)

    def found(method: str = "ice-baseline") -> Extraction:
        return method_of(method).extract(replace(document))  # a copy has nothing of what was worked out for another

    for method in sorted(METHODS):
        measure(name, method, size, lambda method=method: lambda: found(method).text, reading)  # type: ignore[misc]
    measure(name, "metadata", size, lambda: partial(getattr, found(), "metadata"))
    for format_name in formats:
        measure(name, format_name, size, lambda form=format_name: partial(found().render, form))  # type: ignore[misc]


@pytest.mark.parametrize("name", PAGES)
def test_every_method_and_format_in_linear_time(name: str) -> None:
    measure_all(name, Page(PAGES[name](), "https://e.example/"), sorted(FORMATS))


@pytest.mark.parametrize("name", MARKUP_PAGES)
def test_formats_with_markup_in_linear_time(name: str) -> None:
    page = MARKUP_PAGES[name]()
    found = method_of("ice-baseline").extract(mainmatter.read(Page(page, "https://e.example/")))
    for format_name in ("html", "markdown", "tei"):
        measure(name, format_name, len(page), lambda form=format_name: partial(found.render, form))  # type: ignore[misc]


def test_25_megabytes() -> None:
    words = b"Some words of a paragraph that goes on and on, with a <a href=/x>link</a> in it, too. " * 8
    block = b"<div class=c><p>" + words + b"</p></div>\n"
    page = Page(block * (25_000_000 // len(block)))
    assert len(mainmatter.clean(page, method="ice-baseline")) == len(page.html) // len(block)
    measure_all("25 MB", page, sorted(FORMATS))


@pytest.mark.parametrize(
    "text", ["word and\n", "* item\n", "x\n\n", "# h\n", "word ", "1. a\n\n", "\n", "=" * 10 + "\n", "a\n---\n"]
)
def test_plain_text_dumps_too(text: str) -> None:
    page = Page(text * (200_000 // len(text)), format="text")
    measure_all(f"0.2 MB dump of {text!r}", page, ("html", "markdown", "tei"))


@pytest.mark.parametrize(
    ("one", "count"),
    [("<div>some words ", 2_000), ("<p>word</p>", 4_000), ("<table><tr><td>cell ", 1_500), ("x<br>", 5_000)],
)
def test_memory_grows_with_the_page_only(one: str, count: int) -> None:
    """Twice the page takes about twice the memory, not four times; and not thousands of times its own size."""

    def peak(count: int) -> int:
        page = one * count
        tracemalloc.start()
        try:
            found = mainmatter.clean(page, method="ice-baseline")
            assert found.json
            assert found.html
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    small, large = peak(count), peak(2 * count)
    assert large < 3 * small
    assert large / (2 * count * len(one)) < 1000


def test_what_is_found_on_hostile_pages() -> None:
    """They are not only survived: their text is found."""

    def texts(name: str) -> list[str]:
        return mainmatter.clean(PAGES[name](), method="ice-baseline").document.texts

    assert texts("100,000 nested div") == ["text"]
    assert texts("100,000 nested b") == ["text"]
    assert texts("200,000 attributes") == ["text"]
    assert texts("a tag name of 2 MB") == ["text"]
    assert texts("500,000 br") == []
    assert texts("20,000 br pairs with text") == ["x"] * 20_000
    assert texts("1 MB of <") == ["<" * 1_000_000]
    assert texts("one word of 5 MB") == ["x" * 5_000_000]
    assert texts("5 MB of spaces") == ["a b"]
    assert texts("100,000 siblings") == ["word"] * 100_000
    assert texts("one row of 50,000 cells") == ["\t".join(["x"] * 50_000)]
    assert texts("20,000 nested lists") == ["item"] * 20_000
    assert texts("20,000 noscript") == ["words in it"] * 20_000
    assert texts("NUL bytes") == ["ab"] * 20_000


def test_the_slowest() -> None:
    """Stands at the end of the file: `pytest -rP` shows what it prints."""
    if not times:
        pytest.skip("run with the others")
    for share, seconds, name, what in sorted(times, reverse=True)[:5]:
        print(f"{seconds:.2f} s, {share:.0%} of the time allowed: {name}, {what}")
    assert max(times)[0] < max(MARGIN, FORMAT_MARGIN)
