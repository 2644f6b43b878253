"""Names of elements: which container has which, and which stems they have."""

from __future__ import annotations

import pytest

import mainmatter
from mainmatter.features.names import COUNT, DIV, FIRST_STEM, SEMANTIC_TAGS, STEMS, TAGS, names_of, stems_of
from mainmatter.features.outline import find_containers
from mainmatter.records import Page


def names(page: Page) -> list[tuple[str, str]]:
    document = mainmatter.read(page)
    containers = find_containers(document)
    tags = [TAGS[tag - 1] if tag else "" for tag in containers.tags.tolist()]
    return list(zip(tags, names_of(document, containers), strict=True))


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


def test_numbers() -> None:
    assert TAGS[DIV - 1] == "div"
    assert {TAGS[number - 1] for number in SEMANTIC_TAGS} >= {"nav", "article", "main"}
    assert len(TAGS) + 1 == FIRST_STEM
    assert FIRST_STEM + len(STEMS) == COUNT
