"""Filters drop what they are asked to drop, say why, and nothing else."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from mainmatter.corpus.filters import Filters, why_not_indexed
from mainmatter.corpus.records import Record
from mainmatter.corpus.typed_json import parse
from mainmatter.errors import InputError
from mainmatter.html.robots import noindex_in_header, noindex_in_html
from mainmatter.records import Page
from timing import assert_linear


def record(html: str | bytes = b"<p>Hello", **headers: str) -> Record:
    return Record(Page(html), "crawl.warc.gz", 0, headers={name.replace("_", "-"): headers[name] for name in headers})


def row(**values: object) -> dict[str, object]:
    return {"text": "Hello", "language": "de", "language_score": 0.9, "words": 100, **values}


def test_nothing_is_dropped_unless_asked() -> None:
    page = record('<meta name=robots content="noindex">', x_robots_tag="none")
    assert Filters().why_dropped(page, row(language=None, language_score=None, words=0)) is None


@pytest.mark.parametrize(
    ("wanted", "language", "stays"),
    [
        ("de", "de", True),
        ("de", "de-AT", True),
        ("de", "DE_at", True),
        ("DE", "de", True),
        ("de", "en", False),
        ("de", None, False),
        ("de", "", False),
        ("no", "nb-NO", True),
        ("nb", "no", True),
        ("zh", "yue", True),
        ("da", "de", False),
    ],
)
def test_languages(wanted: str, language: str | None, stays: bool) -> None:
    filters = Filters(languages=(wanted,))
    dropped = filters.why_dropped(record(), row(language=language))
    assert (dropped is None) == stays
    assert stays or (dropped is not None and dropped[0] == "language")


def test_several_languages_and_the_sentence_about_them() -> None:
    filters = Filters(languages=("de", "fr", "de"))
    assert filters.languages == ("de", "fr")
    assert filters.why_dropped(record(), row(language="fr-CA")) is None
    assert filters.why_dropped(record(), row(language="en")) == ("language", "in en, not in de or fr")
    told = filters.why_dropped(record(), row(language=None))
    assert told == ("language", "in a language that could not be identified, not in de or fr")


@pytest.mark.parametrize(("score", "stays"), [(0.9, True), (0.5, True), (0.49, False), (0.0, False), (None, False)])
def test_unsure_languages(score: float | None, stays: bool) -> None:
    filters = Filters(min_language_score=0.5)
    assert (filters.why_dropped(record(), row(language_score=score)) is None) == stays


@pytest.mark.parametrize(("words", "stays"), [(49, False), (50, True), (200, True), (201, False)])
def test_lengths(words: int, stays: bool) -> None:
    dropped = Filters(min_words=50, max_words=200).why_dropped(record(), row(words=words))
    assert (dropped is None) == stays
    assert stays or (dropped is not None and dropped[0] == "length" and str(words) in dropped[1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"languages": "de"},
        {"languages": ("german",)},
        {"languages": ("xx",)},
        {"languages": ("pt-BR",)},
        {"languages": (1,)},
        {"languages": ("",)},
        {"languages": None},
        {"min_words": -1},
        {"min_words": 1.5},
        {"min_words": True},
        {"min_words": None},
        {"max_words": -1},
        {"max_words": "9"},
        {"min_words": 10, "max_words": 9},
        {"min_language_score": 1.1},
        {"min_language_score": float("nan")},
        {"min_language_score": "0.5"},
        {"noindex": 1},
        {"robots_txt": "yes"},
    ],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Filters(**wrong)


def test_filters_travel_as_json() -> None:
    for filters in (Filters(), Filters(("de", "ja"), 0.5, 10, 1000, True, True)):
        assert parse(Filters, json.dumps(filters.to_json())) == filters
    with pytest.raises(ValueError, match="there is no field 'colour'"):
        parse(Filters, '{"colour": "red"}')


@pytest.mark.parametrize(
    "html",
    [
        '<meta name="robots" content="noindex">',
        "<META NAME='ROBOTS' CONTENT='NOINDEX,NOFOLLOW'>",
        "<meta content=noindex name=robots>",
        '<head><meta name="description" content="x"><meta name="robots" content="follow, noindex" /></head>',
        '<meta name="robots" content="none">',
        '<meta name="googlebot" content="noindex">',
        '<meta name="robots" content="index"><meta name="robots" content="noindex">',
        '<meta\n  name = "robots"\n  content = "nofollow , noindex"\n>',
        '<script>var a = "<body>";</script><meta name="robots" content="noindex"><body>',
        "<!-- <body> --><meta name=robots content=noindex>",
        '<meta name="robots" content="&#110;oindex">',
        "<title>A <body> of work</title><meta name=robots content=noindex>",
    ],
)
def test_pages_that_ask_not_to_be_indexed(html: str) -> None:
    assert noindex_in_html(html)
    assert noindex_in_html(html.encode())
    assert noindex_in_html(html.encode("utf-16"))
    dropped = Filters(noindex=True).why_dropped(record(html.encode()), row())
    assert dropped is not None
    assert dropped[0] == "noindex"


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>noindex",
        '<meta name="robots" content="index, follow">',
        '<meta name="robots" content="nofollow">',
        '<meta name="otherbot" content="noindex">',
        '<meta name="description" content="noindex">',
        '<meta property="x" content="noindex">',
        '<meta content="noindex">',
        '<!-- <meta name="robots" content="noindex"> -->',
        '<script>\'<meta name="robots" content="noindex">\'</script>',
        '<noscript><meta name="robots" content="noindex"></noscript>',
        '<body><p>A reader: <meta name="robots" content="noindex">',
        '<metadata name="robots" content="noindex">',
        '<meta name="robots">',
    ],
)
def test_pages_that_do_not(html: str) -> None:
    assert noindex_in_html(html) is None
    assert noindex_in_html(html.encode()) is None
    assert Filters(noindex=True).why_dropped(record(html.encode()), row()) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("noindex", "noindex"),
        ("NoIndex, nofollow", "noindex"),
        ("nofollow, none", "none"),
        ("googlebot: noindex", "googlebot: noindex"),
        ("otherbot: nofollow, googlebot: nofollow, noindex", "googlebot: noindex"),
        ("otherbot: noindex\nnoindex", "noindex"),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", "noindex"),
        ("max-snippet:20, noindex", "noindex"),
        ("", None),
        ("index", None),
        ("nofollow, noarchive", None),
        ("otherbot: noindex", None),
        ("otherbot: noindex, none", None),
        ("otherbot: noindex\nnofollow", None),
        ("max-image-preview:none", None),
    ],
)
def test_headers_that_ask_not_to_be_indexed(value: str, found: str | None) -> None:
    assert noindex_in_header(value) == found
    assert (why_not_indexed(record(x_robots_tag=value)) is not None) == (found is not None)


def test_a_text_dump_has_no_meta_tags_but_may_have_headers() -> None:
    page = Page('<meta name="robots" content="noindex">', format="text")
    assert why_not_indexed(Record(page, "x.wet", 0)) is None
    assert why_not_indexed(Record(page, "x.wet", 0, headers={"x-robots-tag": "noindex"}))


@pytest.mark.parametrize(
    "piece", ["<!--", "<script>", "<meta ", "<meta name=", "<meta a=\"'", "<", "<meta name=robots content=", "<title"]
)
def test_hostile_heads_take_linear_time(piece: str) -> None:
    assert_linear(lambda n: partial(noindex_in_html, piece * n), 5_000_000 // len(piece))
