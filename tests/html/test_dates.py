"""Days and moments: what is written out is read in every language, and nothing else is taken for a date."""

from __future__ import annotations

from datetime import date
from itertools import product
from typing import Literal

import hypothesis.strategies as st
import pytest
from babel.dates import format_date, get_month_names
from hypothesis import given

from mainmatter.html.dates import FIRST_YEAR, LAST_YEAR, read_day, read_moment
from mainmatter.html.metadata import read_metadata
from mainmatter.html.parse import parse

LANGUAGES = """
    ar az be bg bn ca cs da de el en es et fa fi fr gl he hi hr hu id is it lt lv mk ms nl no pl pt ro ru sk sl sq sr sv
    tr uk ur
""".split()
NUMBERING = "ja ko vi zh".split()
DAYS = st.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))
LETTERS = {"en": "abcdeilmnoprst", "de": "aeinrst", "tr": "aeılr", "hr": "aeijk", "ru": "аеинот", "el": "αεινοσ"}


def names(language: str, width: Literal["wide", "abbreviated"] = "wide") -> list[str]:
    contexts: tuple[Literal["format", "stand-alone"], ...] = ("format", "stand-alone")
    return [name for context in contexts for name in get_month_names(width, context, language).values()]


@pytest.mark.parametrize("language", LANGUAGES + NUMBERING)
@given(DAYS)
def test_every_day_is_read_in_every_language(language: str, day: date) -> None:
    locale = "nb" if language == "no" else language
    texts = [format_date(day, "long", locale)]
    if language in LANGUAGES:
        texts += [format_date(day, pattern, locale) for pattern in ("d MMMM y", "d MMM y")]
        texts.append(f"({format_date(day, 'MMMM', locale).upper()} {day.day}, {day.year})")
    for text in texts:
        assert read_day(text, language) == day.isoformat(), text


@given(st.integers(FIRST_YEAR, LAST_YEAR), st.integers(1, 12), st.integers(1, 31), st.sampled_from(["en", "hr", "tr"]))
def test_days_that_do_not_exist_are_refused(year: int, month: int, day: int, language: str) -> None:
    try:
        expected = date(year, month, day).isoformat()
    except ValueError:
        expected = None
    name = get_month_names("wide", "format", language)[month]
    for text in (f"{day} {name} {year}", f"{name} {day}, {year}", f"{year}-{month}-{day}"):
        assert read_day(text, language) == expected, text


@pytest.mark.parametrize("language", LETTERS)
@given(st.data())
def test_words_that_begin_like_a_month_are_none(language: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names(language)))
    begin = data.draw(st.integers(3, len(name)))
    word = name[:begin] + data.draw(st.text(LETTERS[language], min_size=3, max_size=6))
    known = {known.rstrip(".") for width in ("wide", "abbreviated") for known in names(language, width)}
    if word not in known:
        for text in (f"{word} 12, 2024", f"12 {word} 2024", f"2024. {word} 12."):
            assert read_day(text, language) is None, text


def test_nothing_is_invented() -> None:
    words = (
        "Mayor Decade Marching Juno Sepia Octagon Augmented Novice Janitor Febrile Aprons Julienne Set Out Pro".split()
    )
    for word, text in product(words, ("{} 12, 2024", "the {} 12 2024", "{}-12-2024")):
        assert read_day(text.format(word), "en") is None
        html = f"<html lang=en><h1>Mills</h1><p class=date>{text.format(word)}</p><p>{text.format(word)}</p>"
        assert read_metadata(parse(html)).date is None
    for text in ("12 mayode 2024", "May 12024", "12 May 20245", "112 May 2024", "2024 May 123", "5 bananas 2024"):
        assert read_day(text) is None, text


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("١٢ مايو ٢٠٢٤", "2024-05-12"),
        ("12 تشرين الثاني 2024", "2024-11-12"),
        ("१२ मई २०२४", "2024-05-12"),
        ("12 במאי 2024", "2024-05-12"),
        ("12 AOUT 2024", "2024-08-12"),
        ("12 MAYIS 2024", "2024-05-12"),
        ("Maio 12, 2024", "2024-05-12"),
        ("12 set 2024", "2024-09-12"),
        ("2012年01月17日07:33", "2012-01-17"),
        ("12. 5. 2024", "2024-05-12"),
        ("2024. 5. 12.", "2024-05-12"),
        ("Issue 12 in 2020 | 3 June 2021", "2021-06-03"),
    ],
)
def test_days_as_pages_write_them(text: str, day: str) -> None:
    assert read_day(text) == day


def test_a_name_of_several_months_needs_the_language() -> None:
    text = "12. listopada 2024."
    assert [read_day(text, language) for language in ("hr", "pl", "pl-PL", "", "en")] == [
        "2024-10-12",
        "2024-11-12",
        "2024-11-12",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-05T23:10:00+01:00", "2024-03-05T23:10:00+01:00"),
        ("2024-03-05T23:10Z", "2024-03-05T23:10:00+00:00"),
        ("2024-03-05 23:10:59.123 -0330", "2024-03-05T23:10:59-03:30"),
        ("2024-03-05T23:10", "2024-03-05T23:10:00"),
        ("2024-03-05", None),
        ("2024-03-05T24:10Z", None),
        ("2024-02-30T10:00Z", None),
        ("2024-03-05T23:10:00+99:00", None),
    ],
)
def test_moments(text: str, moment: str | None) -> None:
    assert read_moment(text) == moment


@pytest.mark.parametrize(
    "html",
    [
        '<script type=application/ld+json>{"@type": "Article", "datePublished": "2024-03-06T02:00:00+01:00"}</script>',
        "<meta property=article:published_time content=2024-03-06T02:00:00+01:00>",
        "<h1>Mills</h1><time datetime=2024-03-06T02:00:00+01:00>today</time>",
    ],
)
def test_the_moment_of_publication(html: str) -> None:
    metadata = read_metadata(parse(html))
    assert (metadata.date, metadata.published) == ("2024-03-06", "2024-03-06T02:00:00+01:00")


def test_the_moment_is_that_of_the_day() -> None:
    html = "<meta property=article:published_time content=2024-03-06T02:00Z>"
    metadata = read_metadata(parse(html), "https://a.example/2024/03/05/mills")
    assert (metadata.date, metadata.published) == ("2024-03-05", "2024-03-06T02:00:00+00:00")  # the same, west of UTC
    html = "<h1>Mills</h1><p>2024-03-05, changed 2024-04-01T10:00Z</p>"
    assert read_metadata(parse(html)).published is None
