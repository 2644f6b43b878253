"""What users control, on the pages that we wrote: comments, headings, tables, code, the dial; what `main` reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mainmatter import clean
from mainmatter.lab.datasets import load_dataset

FOLDER = Path(__file__).parent / "pages"
INDEX: dict[str, dict[str, Any]] = json.loads((FOLDER / "index.json").read_text("utf-8"))
NOT_YET: dict[str, dict[str, list[str]]] = json.loads((FOLDER.parent / "not_yet.json").read_text("utf-8"))
PAGES = {page.page.id or "": page for page in load_dataset(str(FOLDER))}
WITH_COMMENTS = [name for name, facts in INDEX.items() if "comments" in facts]
# How many of the pages are taken for something else; in cross-validation on wcxb-dev it is one in five.
WRONG_TYPES = 11


def text_of(name: str, **parameters: Any) -> str:
    return " ".join(clean(PAGES[name].page, method="main", **parameters).text.split())


@pytest.mark.parametrize("name", WITH_COMMENTS)
def test_comments_come_only_when_asked_for(name: str) -> None:
    comments = INDEX[name]["comments"]
    assert [comment for comment in comments if comment in text_of(name)] == []
    for choice in ("keep", "mark"):
        text = text_of(name, comments=choice)
        assert [comment for comment in comments if comment not in text] == NOT_YET.get(name, {}).get("comments", [])
        assert INDEX[name]["must_have"][1] in text


@pytest.mark.parametrize("name", WITH_COMMENTS)
def test_comments_are_known_as_such_whether_kept_or_not(name: str) -> None:
    found = clean(PAGES[name].page, method="main")
    assert found.is_comment is not None
    comments = " ".join(text for text, is_one in zip(found.document.texts, found.is_comment, strict=True) if is_one)
    unknown = [comment for comment in INDEX[name]["comments"] if comment not in " ".join(comments.split())]
    assert unknown == NOT_YET.get(name, {}).get("comments", [])


@pytest.mark.parametrize("name", ["forum-nested-replies", "forum-phpbb", "forum-discourse-noscript"])
def test_posts_of_a_forum_are_no_comments(name: str) -> None:
    posts = INDEX[name]["must_have"][1:]
    dropped = [post for post in posts if " ".join(post.split()) not in text_of(name, comments="drop")]
    assert dropped == NOT_YET.get(name, {}).get("must_have", [])


@pytest.mark.parametrize(
    ("name", "parameter", "snippet"),
    [
        ("article-drupal-data", "headings", "Use by region"),
        ("article-drupal-data", "tables", "Upper Valley 151 149 143"),
        ("article-drupal-data", "captions", "Table 1: litres a head a day"),
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
    found = {name: clean(page.page, method="main").page_type for name, page in PAGES.items()}
    wrong = [f"{name}: {found[name]}" for name in INDEX if found[name] != INDEX[name]["page_type"]]
    assert len(wrong) <= WRONG_TYPES, ", ".join(wrong)


@pytest.mark.parametrize("name", INDEX)
def test_confidence_is_a_share(name: str) -> None:
    confidence = clean(PAGES[name].page, method="main").confidence
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
