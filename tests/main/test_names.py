"""Names of elements: which container has which, and which stems they have."""

from __future__ import annotations

import pickle
import re
from functools import reduce
from operator import or_

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mainmatter
from mainmatter.main.names import (
    _BIT_OF_STEM,
    DIV,
    FIRST_WORD,
    INHERITED,
    SEMANTIC_TAGS,
    TAGS,
    Vocabulary,
    bits_of,
    words_of,
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
        ("", set()),
        ("post-content", {"post-content", "post", "content"}),
        ("articleBody", {"articlebody", "article", "body"}),
        ("mainHTMLText", {"mainhtmltext", "main", "html", "text"}),
        ("comment comment-list", {"comment", "comment-list", "list"}),
        ("col-6 x", {"col-6", "col", "x"}),  # parts of one letter, and numbers, are none
        ("комментарии", {"комментарии"}),
        ("a" * 40, {"a" * 40}),
        ("a" * 20 + "-" + "b" * 20, {"a" * 20, "b" * 20}),  # too long to be a word as it stands
    ],
)
def test_words(name: str, expected: set[str]) -> None:
    assert words_of(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", []),
        ("x7f3a", []),
        ("post-content", ["content", "post"]),
        ("kommentarliste", ["comment", "list"]),
        ("footnotes headline", []),  # the longest stems that fit, so no "foot" and no "head"
        ("INHALT", ["content"]),
        ("x" * 296 + "menu" + "x" * 100, ["menu"]),
        ("x" * 297 + "menu", []),  # too long for a name
    ],
)
def test_bits(name: str, expected: list[str]) -> None:
    assert [stem for bit, stem in enumerate(INHERITED) if bits_of(name) >> bit & 1] == expected


@given(st.lists(st.sampled_from([*_BIT_OF_STEM, "x", "-", "foo", "Commen"]), max_size=6).map("".join))
def test_stems_are_the_longest_from_left_to_right(name: str) -> None:
    stems = re.findall("|".join(sorted(_BIT_OF_STEM, key=len, reverse=True)), name[:300].lower())
    assert bits_of(name) == reduce(or_, (_BIT_OF_STEM[stem] for stem in stems), 0)


def test_a_vocabulary_has_the_words_of_enough_sites() -> None:
    sites = {"a": ["post-body", "x1"], "b": ["post"], "c": ["postBody"], "d": ["body", "body"]}
    assert Vocabulary.learn(sites, 3).words == ("body", "post")
    assert Vocabulary.learn(sites, 4).words == ()
    vocabulary = Vocabulary(["body", "post"])
    assert vocabulary.numbers_of("postBody other") == [FIRST_WORD, FIRST_WORD + 1]
    assert vocabulary.meaning_of("post") == (FIRST_WORD + 1, bits_of("post"))
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(["body", "body"])


def test_numbers() -> None:
    assert TAGS[DIV - 1] == "div"
    assert {TAGS[number - 1] for number in SEMANTIC_TAGS} >= {"nav", "article", "main"}
    assert len(TAGS) + 1 == FIRST_WORD


@pytest.mark.parametrize("rounds", [1, 2])  # the second time, words are known
def test_a_name_means_what_its_words_mean(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainmatter.main.names._MAX_NAMES", 3)
    vocabulary = Vocabulary(["body", "post", "postbody", "x" * 40, "x" * 41, "éé"])
    some = ("postBody", "post-body  comments", "", "x" * 40, "x" * 41, "postéé", "a " * 149 + "menu post", "Post post")
    for name in some * rounds:
        known = words_of(name).intersection(vocabulary.words)
        numbers = sorted(FIRST_WORD + vocabulary.words.index(word) for word in known)
        assert vocabulary.meaning_of(name) == (*numbers, bits_of(name))
        assert vocabulary.numbers_of(name) == numbers
        assert len(vocabulary._meanings) <= 3
    again = pickle.loads(pickle.dumps(vocabulary))
    assert (again.words, again._meanings) == (vocabulary.words, {})
