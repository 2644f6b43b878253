"""Nothing that is not markup becomes markup."""

from __future__ import annotations

import sys

import pytest

from mainmatter.errors import MissingExtra
from mainmatter.lab.reports.html import Cell, environment, html_page, markup, shorten, table

pytest.importorskip("jinja2")


def filled(template: str, **values: object) -> str:
    return environment().from_string(template).render(**values)


def test_text_and_attributes_are_escaped_and_markup_is_not() -> None:
    values = {"text": "<b>", "ready": markup("parts", "code", "x"), "title": '"><script>'}
    assert filled('<p title="{{ title }}">{{ text }}{{ ready }}</p>', **values) == (
        '<p title="&#34;&gt;&lt;script&gt;">&lt;b&gt;<code>x</code></p>'
    )
    assert markup("parts", "code", "<i>") == "<code>&lt;i&gt;</code>"


def test_nothing_is_shown_of_nothing_and_what_is_not_there_is_told() -> None:
    assert filled("{{ nothing }}{{ number }}", nothing=None, number=1) == "1"
    with pytest.raises(Exception, match="'title' is undefined"):
        filled("{{ title }}")


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x85", "\ud800", "\u202e", "\u2066", "\uffff"])
def test_characters_that_disturb_are_replaced(character: str) -> None:
    assert filled("{{ text }}", text=f"a{character}b") == "a\ufffdb"
    html = html_page(character, character, [(character, character)], [])
    assert character not in html
    html.encode()


def test_white_space_and_letters_of_all_kinds_stay() -> None:
    assert filled("{{ text }}", text="a\n\tb é 中 א 😀") == "a\n\tb é 中 א 😀"


def test_cells_have_no_white_space_around_them() -> None:
    cells = [Cell("a"), Cell("b<", 1.5, 2.0, is_best=True), Cell(None), Cell("c", 2)]
    made = table("caption", ["x", "y", "z", "w"], [cells], name="n", numbers=(1,))
    assert made.partition("<tbody>\n")[2].partition("\n")[0] == (
        '<tr><th scope="row">a</th><td class="number best" data-value="1.5">b&lt;<span class="unseen"> (best)</span>'
        '<span class="bar" style="--share:1.000" aria-hidden="true"></span></td><td></td><td data-value="2">c</td></tr>'
    )


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
    shown = markup("parts", "address", url)
    assert "<a " not in shown
    assert "<script" not in shown
    assert len(shown) < 2000


def test_an_address_of_the_web_is_a_link_that_tells_nothing() -> None:
    assert markup("parts", "address", "https://a.example/?a=1&b=2") == (
        '<a href="https://a.example/?a=1&amp;b=2" rel="noreferrer noopener nofollow" class="url">'
        "https://a.example/?a=1&amp;b=2</a>"
    )
    assert markup("parts", "address", None) == ""


def test_shorten() -> None:
    assert (shorten("abcdef", 6), shorten("abcdefg", 6)) == ("abcdef", "abcde…")


def test_missing_jinja_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=r"needs jinja2, .*pip install 'mainmatter\[eval\]'"):
        environment()
