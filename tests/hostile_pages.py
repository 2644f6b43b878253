"""Pages made to hurt, and what holds that they are cleaned in time linear in their size.

How that is measured is in timing.py.
"""

from __future__ import annotations

import gc
import random
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import mainmatter
from mainmatter.records import Page
from mainmatter.registry import FORMATS, METHODS, get_method
from timing import QUICK, assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mainmatter.method import Method
    from mainmatter.records import Document, Extraction

# What took how many seconds on which page, and how many for each megabyte of it (at least one is counted).
times: list[tuple[float, float, str, str]] = []


def soup(count: int) -> str:
    rng = random.Random(7)
    return "".join(rng.choice(["<b>", "<a href=x>", "<table>", "<p>"]) + "w " for _ in range(count))


def random_bytes(count: int) -> bytes:
    return b"<p>" + random.Random(1).randbytes(count)  # which makes them a page


def attributes(count: int) -> str:
    return "<p " + " ".join(f"a{n}=v{n}" for n in range(count)) + ">text"


def footnotes(count: int) -> str:
    references = "".join(f"a<sup><a href='#n{i}'>{i}</a></sup> " for i in range(count))
    return "<p>" + references + "".join(f"<p id=n{i}>note" for i in range(count))


def growing_rows(count: int) -> str:
    """Some cells, in rows each of which is longer than the one above."""
    return "<table>" + "".join("<tr>" + "<td>x" * i for i in range(2, int((2 * count) ** 0.5)))


# Pages, each with how large it is.
PAGES: dict[str, tuple[int, Callable[[int], str | bytes]]] = {
    "100,000 nested div": (100_000, lambda n: "<div>" * n + "text"),
    "100,000 nested span": (100_000, lambda n: "<span>" * n + "text"),
    "100,000 nested b": (100_000, lambda n: "<b>" * n + "text"),
    "20,000 nested div, each with text": (20_000, lambda n: "<div>some words " * n),
    "200,000 attributes": (200_000, attributes),
    "200,000 times the same attribute": (200_000, lambda n: "<p " + "class=x " * n + ">text"),
    "one attribute of 5 MB": (2_500_000, lambda n: "<p title='" + "x " * n + "'>text"),
    "2,000 tables with a huge colspan": (2_000, lambda n: "<table><tr><td colspan=99999>a<td>b</table>" * n),
    "2,000 tables with a large colspan": (2_000, lambda n: "<table><tr><td colspan=9000 rowspan=9>a<td>b</table>" * n),
    "huge colspan": (1_000, lambda n: "<table><tr><td colspan=1000000000 rowspan=999999999>a<td>b</table>" * n),
    "NUL bytes": (20_000, lambda n: b"<p>a\x00b</p>\x00" * n),
    "nothing but NUL": (1_000_000, lambda n: b"<p>" + b"\x00" * n),
    "random bytes": (1_000_000, random_bytes),
    "UTF-16 that says UTF-8": (20_000, lambda n: "<meta charset=utf-8><p>Wörter</p>".encode("utf-16") * n),
    "Shift_JIS that says UTF-8": (
        10_000,
        lambda n: b"<meta charset=utf-8>" + "<p>日本語の文章</p>".encode("shift_jis") * n,
    ),
    "500,000 br": (500_000, lambda n: "<br>" * n),
    "100,000 br with text": (100_000, lambda n: "x<br>" * n),
    "20,000 br pairs with text": (20_000, lambda n: "x<br><br>" * n),
    "200,000 unclosed b, a, table, p": (200_000, soup),
    "50,000 unclosed b": (50_000, lambda n: "<b>w " * n),
    "50,000 unclosed a": (50_000, lambda n: "<a href=x>w " * n),
    "20,000 unclosed table": (20_000, lambda n: "<table>w " * n),
    "20,000 unclosed p": (20_000, lambda n: "<p>w " * n),
    "10,000 times a and div": (10_000, lambda n: "<a href=x><div>w " * n),
    "10,000 times b and p": (10_000, lambda n: "<b><p>w " * n),
    "100,000 siblings": (100_000, lambda n: "<p>word</p>" * n),
    "100,000 inline siblings": (100_000, lambda n: "<i>word</i>" * n),
    "100,000 links": (100_000, lambda n: "<a href=x>link</a> " * n),
    "one text of 5 MB": (250_000, lambda n: "some words, and more " * n),
    "one word of 5 MB": (5_000_000, lambda n: "x" * n),
    "5 MB of spaces": (5_000_000, lambda n: "<p>a" + " " * n + "b"),
    "1 MB of <": (1_000_000, lambda n: "<" * n),
    "1 MB of </": (500_000, lambda n: "</" * n),
    "1 MB of &": (1_000_000, lambda n: "&" * n),
    "1 MB of <!--": (250_000, lambda n: "<!--" * n),
    "a tag name of 2 MB": (2_000_000, lambda n: "<" + "a" * n + ">text"),
    "15,000 nested tables": (15_000, lambda n: "<table><tr><td>cell " * n),
    "20,000 nested lists": (20_000, lambda n: "<ul><li>item " * n),
    "20,000 nested quotes": (20_000, lambda n: "<blockquote>said " * n),
    "20,000 noscript": (20_000, lambda n: "<body>" + "<noscript><p>words in it</p></noscript>" * n),
    "50,000 nested noscript": (50_000, lambda n: "<body>" + "<noscript>" * n + "text"),
    "one row of 50,000 cells": (50_000, lambda n: "<table><tr>" + "<td>x" * n),
    "10,000 rows": (10_000, lambda n: "<table>" + "<tr><td>x<td>y" * n),
    "20,000 options": (20_000, lambda n: "<select>" + "<option>x" * n),
    "10,000 nested shadow roots": (10_000, lambda n: "<div><template shadowrootmode=open>t " * n),
    "50,000 nested svg": (50_000, lambda n: "<svg>" * n + "text"),
    "50,000 nested math": (50_000, lambda n: "<math><mi>" * n + "text"),
    "20,000 images": (20_000, lambda n: "<p>a</p><img src=x>" * n),
    "2 MB of preformatted lines": (250_000, lambda n: "<pre>" + "a  line\n" * n),
    "marks of the segmenter": (20_000, lambda n: "<p>\x01\x01\x02\x01" * n),
    "a noscript of 1 MB of <": (1_000_000, lambda n: "<body><noscript>" + "<" * n + "</noscript>text"),
    "1 MB of spaces in a pre": (1_000_000, lambda n: "<pre>x" + " " * n + "y"),
    "a title of 1 MB": (125_000, lambda n: "<title>" + "a | b - " * n + "</title><h1>" + "a | b - " * n + "</h1>"),
    "an author of 1 MB": (125_000, lambda n: "<p><a rel=author>By " + "Ada and " * n + "</a></p>"),
    "a byline of digits": (
        100_000,
        lambda n: "<p class=byline>By " + "2024-" * n + "</p><time>" + "1" * 5 * n + "</time>",
    ),
    "a style of spaces": (50_000, lambda n: "<p style='" + "display" + " " * 10 * n + "x" + " display:" * n + "'>text"),
    "soft hyphens": (1_000_000, lambda n: "<p>" + "\u00ad" * n + "x"),
    "100,000 meta": (100_000, lambda n: "<meta property=og:title content=x>" * n),
    "a deep JSON-LD": (500_000, lambda n: "<script type=application/ld+json>" + "[" * n + "</script><p>text"),
    "Markdown in a text": (100_000, lambda n: "<p>" + "* _ ` [x](y) # | \\ " * n),
}


WORDS = "some words of a text that goes on and on, "
# Markup that only formats with markup look at, of so many pieces that what takes quadratic time takes many seconds.
MARKUP_PAGES: dict[str, tuple[int, Callable[[int], str]]] = {
    "100,000 nested marks": (25_000, lambda n: "<p>" + "<b>a<i>b<sup>c<code>d" * n),
    "50,000 marks beside each other": (25_000, lambda n: "<p>" + "<b>a</b><i>b</i>" * n),
    "20,000 marks of punctuation": (20_000, lambda n: "<p>" + "<b>*</b>_" * n),
    "100,000 empty marks": (100_000, lambda n: "<p>x" + "<b> </b>" * n + "y"),
    "100,000 texts with the same mark": (100_000, lambda n: "<p><b>" + f"<span>{WORDS}</span>" * n),
    "20,000 code spans": (20_000, lambda n: "<p>" + "<code>`a`</code> " * n),
    "a line of 100,000 hyphens": (20_000, lambda n: "<p>a<br>" + "-|" * 5 * n + "x" + "<br>- a" * n),
    "a heading of 100,000 words": (100_000, lambda n: "<h2>" + "word # " * n),
    "30,000 anchors in a heading": (30_000, lambda n: "<h2>" + "<a class=anchor href='#x'>word</a>" * n),
    "50,000 lists": (50_000, lambda n: f"<ul><li>{WORDS}{WORDS}</ul>" * n),
    "100,000 nested lists without a text": (100_000, lambda n: "<ul><li>" * n + "x"),
    "20,000 tasks": (20_000, lambda n: "<ul>" + "<li><input type=checkbox>x" * n),
    "50,000 definitions of a term": (50_000, lambda n: "<dl><dt>a" + f"<dd>{WORDS}{WORDS}" * n),
    "10,000 nested definition lists": (10_000, lambda n: "<dl><dt>a<dd>b" * n),
    "20,000 paragraphs in 60 quotes": (20_000, lambda n: "<blockquote>" * 60 + "<p>x" * n),
    "5,000 merged cells": (5_000, lambda n: "<table>" + "<tr><td rowspan=1000 colspan=1000>x<td>y" * n),
    "a column of cells that grow": (45_000, growing_rows),
    "10,000 tables": (10_000, lambda n: "<table><tr><td>a<td>b</table>" * n),
    "20,000 formulas": (20_000, lambda n: "<p>" + "<math><mi>x</mi></math> " * n),
    "100,000 nested rows of a formula": (100_000, lambda n: "<math>" + "<mrow>" * n + "<mi>x"),
    "50,000 nested formulas without TeX": (50_000, lambda n: "<p>" + "<span class=katex>a" * n),
    "100,000 formulas in a text": (50_000, lambda n: "<p>" + r"\(x\) \(y" * n),
    "20,000 pictures of formulas": (20_000, lambda n: "<p>a</p>" + "<p><img class=latex alt=x></p>" * n),
    "20,000 scripts with formulas": (20_000, lambda n: "<p>a" + "<script type=math/tex>x</script>" * n),
    "50,000 references to a footnote": (
        50_000,
        lambda n: "<p>a<sup>" + "<a href='#n'>1</a>" * n + "</sup><p id=n>note",
    ),
    "20,000 footnotes": (20_000, footnotes),
}


@cache
def method_of(name: str) -> Method:
    return get_method(name)


def make_page(name: str, size: int) -> Page:
    return Page((PAGES | MARKUP_PAGES)[name][1](size), "https://e.example/")


def make_25_megabytes(count: int) -> Page:
    words = b"Some words of a paragraph that goes on and on, with a <a href=/x>link</a> in it, too. " * 8
    return Page((b"<div class=c><p>" + words + b"</p></div>\n") * count)


PARAGRAPHS = 25_000_000 // len(make_25_megabytes(1).html)
"""How many make 25 MB."""


def hold_every_format(name: str, share: int) -> None:
    """Hold it for a page of `PAGES`, by every method, in every format, at this part of its size."""
    hold_all(name, partial(make_page, name), PAGES[name][0], FORMATS, share=share)


def hold_formats_with_markup(name: str, share: int) -> None:
    """Hold it for a page of `MARKUP_PAGES`, at this part of its size."""
    hold_all(
        name, partial(make_page, name), MARKUP_PAGES[name][0], ("html", "markdown", "tei"), methods=(), share=share
    )


def hold_all(
    name: str,
    make: Callable[[int], Page],
    size: int,
    formats: Iterable[str],
    *,
    methods: Iterable[str] = METHODS,
    share: int = 1,
) -> None:
    """Hold that time is linear for reading, for methods from what was read to its text, for the metadata and formats.

    The formats write what ice-baseline finds: it keeps everything, so no method can give a format more to write. A
    `share` of 5 takes a fifth of the size, and compares what takes a fifth of the time that is compared otherwise.
    """
    size //= share

    @cache
    def document(size: int) -> Document:
        return mainmatter.read(make(size))

    def extract(size: int, method: str = "ice-baseline") -> Extraction:
        return method_of(method).extract(replace(document(size)))  # a copy has nothing that was worked out for another

    def text_by(method: str, size: int) -> Callable[[], str]:
        return lambda: extract(size, method).text

    work: dict[str, Callable[[int], Callable[[], object]]] = {
        "reading": lambda size: partial(mainmatter.read, make(size)),
        "metadata": lambda size: partial(getattr, extract(size), "metadata"),
    }
    work |= {method: partial(text_by, method) for method in methods}
    for format_name in formats:
        work[format_name] = lambda size, form=format_name: partial(extract(size).render, form)  # type: ignore[misc]
    megabytes = max(1.0, len(make(size).html) / 1e6)
    gc.freeze()  # the garbage collector need not go through what the test runner holds
    try:
        for what, prepare in work.items():
            seconds = assert_linear(prepare, size, QUICK / share)
            times.append((seconds / megabytes, seconds, name, what))
    finally:
        gc.unfreeze()
