"""Nothing that is not markup becomes markup."""

from __future__ import annotations

import pytest

from mainmatter.lab.reports.markup import Markup, address, escaped, join, shorten, tag


def test_text_and_attributes_are_escaped_and_markup_is_not() -> None:
    assert tag("p", "<b>", Markup("<i>x</i>"), title='"><script>') == (
        '<p title="&quot;&gt;&lt;script&gt;">&lt;b&gt;<i>x</i></p>'
    )


def test_what_is_left_out_and_what_is_joined() -> None:
    assert tag("p", None, False, ["a", (1, "b")], class_="x", aria_label=None, hidden=True) == (
        '<p class="x" hidden>a1b</p>'
    )
    assert join() == ""
    assert tag("meta", name="x", content="y") == '<meta name="x" content="y">'


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x85", "\ud800", "\u202e", "\u2066", "\uffff"])
def test_characters_that_disturb_are_replaced(character: str) -> None:
    assert escaped(f"a{character}b") == "a\ufffdb"
    escaped(character).encode()


def test_white_space_and_letters_of_all_kinds_stay() -> None:
    assert escaped("a\n\tb é 中 א 😀") == "a\n\tb é 中 א 😀"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)//https://a.example/",
        " https://a.example/",
        "https://a.example/\njavascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        'https://a.example/"onmouseover="alert(1)',
        "file:///etc/passwd",
        "//a.example/",
        "https://a.example/" + "a" * 3000,
    ],
)
def test_only_addresses_of_the_web_are_links(url: str) -> None:
    shown = address(url)
    assert "<a " not in shown
    assert "<script" not in shown
    assert len(shown) < 2000


def test_an_address_of_the_web_is_a_link_that_tells_nothing() -> None:
    assert address("https://a.example/?a=1&b=2") == (
        '<a href="https://a.example/?a=1&amp;b=2" rel="noreferrer noopener nofollow" class="url">'
        "https://a.example/?a=1&amp;b=2</a>"
    )
    assert address(None) == ""


def test_shorten() -> None:
    assert (shorten("abcdef", 6), shorten("abcdefg", 6)) == ("abcdef", "abcde…")
