"""Names of elements: which container has which, and which stems they have."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mainmatter
from mainmatter.main.names import (
    _NUMBER_OF_STEM,
    DIV,
    FIRST_STEM,
    SEMANTIC_TAGS,
    STEMS,
    TAGS,
    TOKEN_COUNT,
    stems_of,
)
from mainmatter.records import Page


def names(page: Page) -> list[tuple[str, str]]:
    document = mainmatter.read(page)
    tags = [TAGS[tag - 1] if tag else "" for tag in document.containers.tags.tolist()]
    return list(zip(tags, document.names, strict=True))


def test_tag_class_and_id() -> None:
    page = Page('<body class="Home page" id=top><div></div><div id=x><p class>a</p></div><p>b')
    assert names(page) == [("", ""), ("html", ""), ("body", "Home page top"), ("div", " x"), ("p", ""), ("p", "")]


def test_pages_without_names() -> None:
    assert names(Page("")) == [("", "")]
    assert names(Page("One.\n\nTwo.", format="text")) == [("", "")]


def test_shadow_roots_have_the_tag_of_their_template() -> None:
    assert ("template", "card") in names(Page("<div><template shadowrootmode=open class=card><p>a</template></div>"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", []),
        ("x7f3a", []),
        ("post-content", ["content", "post"]),
        ("articleBody", ["article", "body"]),
        ("comment comment-list", ["comment", "list"]),
        ("kommentarliste", ["comment", "list"]),
        ("footnotes", ["footnote"]),  # the longest that fits, so no "foot"
        ("INHALT", ["content"]),
        ("x" * 300 + "main", []),  # too long for a name
    ],
)
def test_stems(name: str, expected: list[str]) -> None:
    assert [STEMS[number - FIRST_STEM] for number in stems_of(name)] == expected


@given(st.lists(st.sampled_from([*_NUMBER_OF_STEM, "x", "-", "foo", "Commen"]), max_size=6).map("".join))
def test_stems_are_the_longest_from_left_to_right(name: str) -> None:
    stems = re.findall("|".join(sorted(_NUMBER_OF_STEM, key=len, reverse=True)), name[:300].lower())
    assert stems_of(name) == tuple(sorted({_NUMBER_OF_STEM[stem] for stem in stems}))


def test_numbers() -> None:
    assert TAGS[DIV - 1] == "div"
    assert {TAGS[number - 1] for number in SEMANTIC_TAGS} >= {"nav", "article", "main"}
    assert len(TAGS) + 1 == FIRST_STEM
    assert FIRST_STEM + len(STEMS) == TOKEN_COUNT


def test_a_name_is_read_up_to_300_characters() -> None:
    number = FIRST_STEM + STEMS.index("menu")
    assert stems_of("x" * 296 + "menu" + "x" * 100) == (number,)
    assert stems_of("x" * 297 + "menu") == ()
