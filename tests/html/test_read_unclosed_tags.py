"""Pages of which nothing is seen, because a tag was never closed."""

from __future__ import annotations

from functools import partial

import pytest

from mainmatter import clean
from mainmatter.html.read import without_unclosed_tag
from timing import assert_linear

REST = (
    '<body><div class="x"><h1>Ferry late</h1><p>The ferry from the islands was late again on Sunday.</p></div></body>'
)
TEXT = "Ferry late\n\nThe ferry from the islands was late again on Sunday."


@pytest.mark.parametrize(
    "start",
    [
        "<html><head><title>Sport library-->\n",
        "<title>One</title><TITLE>two ",
        "<html><head><script>var a = '<b>'; if (a < 1) x();\n",
        "<style>p { color: red }\n",
        "<!-- start of the page ",
        "<script>'<!--'</script><iframe src=x>",
    ],
)
def test_what_was_swallowed_is_found(start: str) -> None:
    assert clean(start + REST, method="ice-baseline").text == TEXT


def test_what_stands_before_stays() -> None:
    page = f'<html lang=en><head><meta name=author content="Ada"><title>Ferry -->{REST}'
    found = clean(page, method="ice-baseline")
    assert found.metadata.author == "Ada"
    assert found.text == TEXT


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<title>closed</title>",
        "<script>only a script",
        "<!-- only a comment",
        "<title>a</title><style>b</style><!-- c --><script>'<title>'</script>",
    ],
)
def test_nothing_to_find(html: str) -> None:
    assert without_unclosed_tag(html) is None
    assert clean(html, method="ice-baseline").text == ""


def test_a_page_that_shows_something_is_left_alone() -> None:
    assert clean(f"<p>Shown.</p><!-- {REST}", method="ice-baseline").text == "Shown."


@pytest.mark.parametrize("piece", ["<title>", "<!--", "<title></title>", "<script "])
def test_in_time_linear_in_the_page(piece: str) -> None:
    assert_linear(lambda n: partial(without_unclosed_tag, piece * n), 200_000)


def test_text_in_a_noscript_of_the_head_is_found_where_there_is_no_other() -> None:
    noscript = "<noscript><p>All the words of this page.</p></noscript>"
    assert clean(f"<title>x</title>{noscript}", method="ice-baseline").text == "All the words of this page."
    assert clean(f"<title>x</title>{noscript}<p>Shown.</p>", method="ice-baseline").text == "Shown."
