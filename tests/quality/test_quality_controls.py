"""What users control, on the pages that we wrote: labels, headings, tables, code, the dial; what `main` reports."""

from __future__ import annotations

from typing import Any

import pytest

from expectations import INDEX, PAGES, PIECES, cleaned, missing, not_yet, present, spaced, unmet
from mainmatter import clean

EVERY_PIECE = [(name, piece) for name, facts in INDEX.items() for piece in PIECES if piece in facts]
SWITCHES: dict[str, list[dict[str, Any]]] = {
    "byline": [{"bylines": True}],
    "captions": [{"captions": True}],
    "comments": [{"comments": "keep"}, {"comments": "mark"}],
}
# Of the pages that are taken for something else.
WRONG_TYPES = 0.15


def text_of(name: str, **parameters: Any) -> str:
    return spaced(clean(PAGES[name].page, method="main", **parameters).text)


@pytest.mark.parametrize(("name", "piece"), EVERY_PIECE)
def test_pieces_are_known_as_what_they_are(name: str, piece: str) -> None:
    assert unmet(name)[piece] == not_yet(name, piece)


@pytest.mark.parametrize(("name", "piece"), EVERY_PIECE)
def test_pieces_come_only_when_asked_for(name: str, piece: str) -> None:
    known = [snippet for snippet in INDEX[name][piece] if snippet not in not_yet(name, piece)]
    assert present(text_of(name), known) == []
    for switch in SWITCHES[piece]:
        text = text_of(name, **switch)
        assert missing(text, known) == []
        # What was wrongly taken for such a piece, and so was missing, comes out with it.
        assert set(missing(text, INDEX[name]["must_have"])) <= set(not_yet(name, "must_have"))


@pytest.mark.parametrize("name", [name for name, facts in INDEX.items() if "headline" in facts])
def test_the_headline_is_known_and_can_be_left_out(name: str) -> None:
    assert unmet(name)["headline"] == not_yet(name, "headline")
    found = clean(PAGES[name].page, method="main", headline=False)
    assert [
        text
        for text, kept, label in zip(found.document.texts, found.kept, found.labels, strict=True)
        if kept and label == "headline"
    ] == []


@pytest.mark.parametrize("name", [name for name, facts in INDEX.items() if facts["page_type"] == "forum"])
def test_posts_of_a_forum_are_no_comments(name: str) -> None:
    posts = INDEX[name]["must_have"][1:]
    assert missing(text_of(name, comments="drop"), posts) == [
        post for post in not_yet(name, "must_have") if post in posts
    ]


@pytest.mark.parametrize(
    ("name", "parameter", "snippet"),
    [
        ("article-drupal-data", "headings", "Use by region"),
        ("article-drupal-data", "tables", "Upper Valley 151 149 143"),
        ("documentation-docusaurus", "code", "brew install lantern"),
        ("forum-questions-answers", "code", "A03 Corran 8"),
    ],
)
def test_parts_can_be_left_out(name: str, parameter: str, snippet: str) -> None:
    assert snippet in text_of(name)
    without = text_of(name, **{parameter: False})
    assert snippet not in without
    assert len(without) > len(text_of(name)) / 2


@pytest.mark.parametrize("name", INDEX)
def test_the_dial_goes_from_little_to_all(name: str) -> None:
    lengths = [len(text_of(name, dial=dial)) for dial in (0.0, 0.5, 1.0)]
    assert lengths == sorted(lengths)
    assert lengths[0] > 0


def test_pages_are_taken_for_what_they_are() -> None:
    found = {name: cleaned(name).page_type for name in INDEX}
    wrong = [f"{name}: {found[name]}" for name in INDEX if found[name] != INDEX[name]["page_type"]]
    assert len(wrong) <= WRONG_TYPES * len(INDEX), ", ".join(wrong)


@pytest.mark.parametrize("name", INDEX)
def test_confidence_is_a_share(name: str) -> None:
    confidence = cleaned(name).confidence
    assert confidence is not None
    assert 0 <= confidence <= 1


@pytest.mark.parametrize(
    "html",
    [
        "<p>Hello.",
        "plain words without any tag",
        "<nav><a href=/>Home</a><a href=/a>About</a></nav>",
        "<footer>© 2024</footer>",
        "<ul><li><a href=1>One</a><li><a href=2>Two</a></ul>",
        "<div hidden>Hidden words only.</div>",
        "<button>Press</button>",
    ],
)
def test_a_page_with_text_never_comes_out_empty(html: str) -> None:
    assert clean(html, method="main").text
