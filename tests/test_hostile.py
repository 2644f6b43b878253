"""Pages made to hurt: cleaned in time linear in their size, by every method in every format.

Here they have a fifth of the size that their names tell, which is enough to notice what takes time in proportion to its
square; slow/test_hostile.py takes all of it.
"""

from __future__ import annotations

import tracemalloc

import pytest

import mainmatter
from hostile_pages import (
    MARKUP_PAGES,
    PAGES,
    PARAGRAPHS,
    hold_all,
    hold_every_format,
    hold_formats_with_markup,
    make_25_megabytes,
    make_page,
)
from mainmatter.records import Page
from mainmatter.registry import FORMATS

SHARE = 5


@pytest.mark.parametrize("name", PAGES)
def test_every_method_and_format_in_linear_time(name: str) -> None:
    hold_every_format(name, SHARE)


@pytest.mark.parametrize("name", MARKUP_PAGES)
def test_formats_with_markup_in_linear_time(name: str) -> None:
    hold_formats_with_markup(name, SHARE)


def test_5_megabytes() -> None:
    hold_all("5 MB", make_25_megabytes, PARAGRAPHS, FORMATS, share=SHARE)


@pytest.mark.parametrize(
    "text", ["word and\n", "* item\n", "x\n\n", "# h\n", "word ", "1. a\n\n", "\n", "=" * 10 + "\n", "a\n---\n"]
)
def test_plain_text_dumps_too(text: str) -> None:
    def make(size: int) -> Page:
        return Page(text * size, format="text")

    hold_all(f"0.2 MB dump of {text!r}", make, 200_000 // len(text), ("html", "markdown", "tei"))


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
        return mainmatter.read(make_page(name, PAGES[name][0])).texts

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
