"""How far metadata are looked for, each limit at both sides: names, bylines, days, values, elements."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mainmatter.html.dates import read_day
from mainmatter.html.declared import Declared, gather, lines_after, lines_before, main_items, read_json, text_of, tidy
from mainmatter.html.metadata import people, read_metadata, without_site
from mainmatter.html.parse import parse

URL = "https://www.riverpost.example/town/bridge-opens"
NAME = "Ada Lind"


def declared(html: str) -> Declared:
    return gather(parse(html))


def author(html: str) -> str | None:
    return read_metadata(parse(html), URL).author


def linked_data(*values: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(values)}</script>'


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("1990-01-01", "en", "1990-01-01"),
        ("1989-12-31", "en", None),
        ("2099-12-31", "en", "2099-12-31"),
        ("3/13/2024", "fr", "2024-03-13"),  # no year has 13 months
        ("3/12/2024", "fr", "2024-12-03"),
        ("12/5/2024", "en", "2024-12-05"),
        ("13/5/2024", "en", "2024-05-13"),
        ("x" * 90 + "2024-05-17", "en", "2024-05-17"),
        ("x" * 93 + "2024-05-17", "en", None),  # beyond a hundred characters
    ],
)
def test_days(text: str, language: str, day: str | None) -> None:
    assert read_day(text, language) == day


@pytest.mark.parametrize(("length", "is_read"), [(100, True), (101, False)])
def test_how_long_a_line_with_a_day_may_be(length: int, is_read: bool) -> None:
    html = f"<h1>Old mills</h1><p>{'17 May 2024'.ljust(length, 'x')}</p>"
    assert (read_metadata(parse(html), URL).date == "2024-05-17") == is_read


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("Xu", True),
        ("X", False),
        ("x" * 80, True),
        ("x" * 81, False),
        ("Aa Bb Cc Dd Ee Ff Gg Hh", True),
        ("Aa Bb Cc Dd Ee Ff Gg Hh Ii", False),
    ],
)
def test_how_long_a_name_may_be(text: str, is_name: bool) -> None:
    assert people([text]) == ([text] if is_name else [])


@pytest.mark.parametrize(
    ("text", "is_person"),
    [("Lind", False), ("Ada Lind", True), ("Ada B C D Lind", True), ("Ada B C D E Lind", False)],
)
def test_a_person_has_two_to_five_names(text: str, is_person: bool) -> None:
    assert author(f"<h1>Old mills</h1><p class=byline>{text}</p>") == (text if is_person else None)


@pytest.mark.parametrize(("length", "is_read"), [(100, True), (101, False)])
def test_how_long_a_byline_may_be(length: int, is_read: bool) -> None:
    line = f"By {NAME} | ".ljust(length, "x")
    assert author(f"<h1>Old mills</h1><p>{line}</p>") == (NAME if is_read else None)


@pytest.mark.parametrize(("lines", "is_read"), [(24, True), (25, False)])
def test_how_many_lines_after_the_headline_a_byline_may_stand(lines: int, is_read: bool) -> None:
    assert author(f"<h1>Old mills</h1>{'<p>x</p>' * lines}<p>By {NAME}</p>") == (NAME if is_read else None)


@pytest.mark.parametrize(("pieces", "is_read"), [(7, True), (8, False)])
def test_how_many_pieces_of_a_byline_are_read(pieces: int, is_read: bool) -> None:
    html = f"<h1>Old mills</h1><div class=byline>{'<p>reads mills</p>' * pieces}<p>{NAME}</p></div>"
    assert author(html) == (NAME if is_read else None)


@pytest.mark.parametrize("attribute", ["rel=author", "class=byline"])
@pytest.mark.parametrize(("elements", "is_read"), [(9, True), (10, False)])
def test_how_many_bylines_are_read(attribute: str, elements: int, is_read: bool) -> None:
    html = f"<h1>Old mills</h1>{f'<a {attribute}></a>' * elements}<a {attribute}>{NAME}</a>"
    assert author(html) == (NAME if is_read else None)


@pytest.mark.parametrize(
    ("title", "key", "stripped"),
    [
        ("Old mills - abcd forum", "abcd", "Old mills"),
        ("Old mills - abc forum", "abc", "Old mills - abc forum"),  # three letters are found by chance
        ("Old mills - abcd", "abcdefg", "Old mills"),
        ("Old mills - abc", "abcdefg", "Old mills - abc"),
    ],
)
def test_how_short_the_name_of_a_site_may_be(title: str, key: str, stripped: str) -> None:
    assert without_site(title, {key}) == stripped


@pytest.mark.parametrize(("others", "is_read"), [(9, True), (10, False)])
def test_how_many_items_may_have_the_headline_and_the_publisher(others: int, is_read: bool) -> None:
    last = {"@type": "Article", "headline": "Old mills", "publisher": {"name": "River Post"}}
    found = read_metadata(parse(linked_data(*[{"@type": "Article"}] * others, last)), None)
    assert (found.title, found.site) == (("Old mills", "River Post") if is_read else (None, None))


def test_how_long_a_value_may_be() -> None:
    assert len(tidy("x" * 2_001)) == len(tidy("x" * 2_000)) == 2_000


def test_how_long_a_script_may_be() -> None:
    for length, value in ((1_000_000, []), (1_000_001, None)):
        assert read_json("[".ljust(length - 1) + "]") == value


def test_how_many_items_are_looked_at() -> None:
    for count, expected in ((200, 200), (201, 200)):
        assert len(list(main_items([{"n": n} for n in range(count)]))) == expected


def test_how_many_values_a_meta_name_may_have() -> None:
    tags = "<meta name=author content=' '><meta name=author content=x>"
    assert list(declared(tags * 201).contents("author")) == ["x"] * 200


def test_how_many_headings_and_marked_elements_are_looked_at() -> None:
    assert len(declared("<h1>x</h1>" * 20).headings) == len(declared("<h1>x</h1>" * 21).headings) == 20
    assert len(declared("<time>x</time>" * 200).marked) == len(declared("<time>x</time>" * 201).marked) == 200


def test_how_many_nodes_of_an_element_are_read() -> None:
    element = parse(f"<p>{'<b>x</b>' * 300}</p>").find("p")
    assert element is not None
    assert len(text_of(element)) == 250  # of 500 nodes every other one is a text


@pytest.mark.parametrize(("nodes", "is_read"), [(249, True), (250, False)])
def test_how_many_nodes_after_the_headline_are_read(nodes: int, is_read: bool) -> None:
    heading = parse(f"<h1>Old mills</h1>{'<i></i>' * nodes}x").find("h1")
    assert list(lines_after(heading)) == ["x"] * is_read


@pytest.mark.parametrize(("nodes", "is_read"), [(59, True), (60, False)])
def test_how_many_nodes_before_the_headline_are_read(nodes: int, is_read: bool) -> None:
    heading = parse(f"<body>x{'<i></i>' * nodes}<h1>Old mills</h1>").find("h1")
    assert list(lines_before(heading)) == ["x"] * is_read
