"""Chunks: where a text is cut, and what each chunk says about its place."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import mainmatter
from commenting import COMMENTS, END, MAIN, PAGE, Commenting
from mainmatter.records import Page
from mainmatter.registry import METHODS
from mainmatter.render import chunks as rules
from mainmatter.render.text import COMMENTS_LINE
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.records import Extraction

clean_all = partial(mainmatter.clean, method="ice-baseline")


def texts(html: str, *arguments: Any, **options: Any) -> list[str]:
    return [chunk.text for chunk in clean_all(html).chunks(*arguments, **options)]


def words(text: str) -> list[str]:
    return text.split()


def test_headings_and_provenance() -> None:
    html = "<h1>Book</h1><h2>One</h2><p>First.</p><ul><li>a<li>b</ul><h3>Deep</h3><p>Second.</p><h2>Two</h2><p>Third."
    found = clean_all(html)
    first, second, third = found.chunks()
    assert first.text == "Book\n\nOne\n\nFirst.\n\na\nb"
    assert (first.start, first.end, first.tokens) == (0, 22, 6)
    assert first.headings == ("Book", "One")
    assert first.blocks == (0, 1, 2, 3, 4)
    assert first.xpaths[2:4] == ("/html[1]/body[1]/p[1]", "/html[1]/body[1]/ul[1]/li[1]")
    assert (second.text, second.headings, second.blocks) == ("Deep\n\nSecond.", ("Book", "One", "Deep"), (5, 6))
    assert (third.text, third.headings, third.blocks) == ("Two\n\nThird.", ("Book", "Two"), (7, 8))
    assert found.text[second.start : second.end] == second.text


def test_a_heading_of_the_same_level_begins_a_chunk_even_after_a_heading() -> None:
    assert texts("<h2>One</h2><h2>Two</h2><h3>Three</h3><p>text</p>") == ["One", "Two\n\nThree\n\ntext"]


def test_whole_blocks_as_long_as_they_fit() -> None:
    html = "<p>one two three</p><p>four five six</p><p>seven</p>"
    assert texts(html, 6, tokenizer=words) == ["one two three\n\nfour five six", "seven"]
    assert texts(html, 5, tokenizer=words) == ["one two three", "four five six\n\nseven"]


def test_short_blocks_fill_a_chunk_although_each_alone_is_rounded_up() -> None:
    first, *_ = clean_all("<p>ab</p>" * 400).chunks(100)
    assert rules._FULL_ENOUGH * 100 <= first.tokens <= 100


def test_long_blocks_are_cut_after_sentences_words_characters() -> None:
    assert texts("<p>One two. Three four! Five?</p>", 4, tokenizer=words) == ["One two. Three four!", "Five?"]
    assert texts("<p>One two “three.” Four five", 4, tokenizer=words) == ["One two “three.”", "Four five"]
    assert texts("<p>one two<br>three four five", 4, tokenizer=words) == ["one two", "three four five"]
    assert texts("<p>one two three four five", 2, tokenizer=words) == ["one two", "three four", "five"]
    assert texts("<p>我们去。他们来了！", 5, tokenizer=len) == ["我们去。", "他们来了！"]
    assert texts("<p>abcdefgh", 3, tokenizer=len) == ["abc", "def", "gh"]
    assert texts("<pre>if x:\n    one two\n    three", 4, tokenizer=words) == ["if x:\n    one two", "    three"]


def test_a_heading_stays_with_the_beginning_of_what_follows() -> None:
    first, second = clean_all("<h1>Title</h1><p>one two three four").chunks(4, tokenizer=words)
    assert (first.text, second.text) == ("Title\n\none two three", "four")
    assert second.headings == ("Title",)


def test_overlap() -> None:
    assert texts("<p>One two. Three four. Five six.", 4, 2, words) == ["One two. Three four.", "Three four. Five six."]
    assert texts("<p>one two</p><p>three</p><p>four five", 3, 1, words) == ["one two\n\nthree", "three\n\nfour five"]
    assert texts("<p>one two three four five six", 4, 2, words) == ["one two three four", "three four five six"]
    assert texts("<p>abcdefgh", 4, 2, len) == ["abcd", "cdef", "efgh"]


def test_overlap_shrinks_before_a_block_that_would_be_split() -> None:
    assert texts("<p>a. b. c.</p><p>one two three four", 5, 3, words) == ["a. b. c.", "c.\n\none two three four"]


def test_no_overlap_over_headings() -> None:
    assert texts("<p>one</p><h1>Title</h1><p>two</p>", 9, 5, words) == ["one", "Title\n\ntwo"]


def test_marked_comments_have_chunks_of_their_own() -> None:
    found = mainmatter.clean(PAGE, method=Commenting(comments="mark"))
    chunks = found.chunks()
    assert [(chunk.text, chunk.headings) for chunk in chunks] == [
        (f"{MAIN}\n\n{END}", ("How to fly a kite",)),
        (COMMENTS, ("Comments", "Comment by Bo")),
    ]
    assert [found.text[chunk.start : chunk.end] for chunk in chunks] == [chunk.text for chunk in chunks]
    assert [found.document.texts[i] for i in chunks[1].blocks] == COMMENTS.split("\n\n")[:1] + COMMENTS.split("\n")[2:]


def test_nothing_but_comments() -> None:
    found = mainmatter.clean("<p>Comment: only this one.", method=Commenting(comments="mark"))
    (chunk,) = found.chunks()
    assert (chunk.text, chunk.headings, chunk.blocks) == ("Comment: only this one.", ("Comments",), (0,))
    assert found.text[chunk.start : chunk.end] == chunk.text


def test_a_dump_has_no_xpaths() -> None:
    found = mainmatter.clean(Page("# Title\n\nSome text.", format="text"), method="ice-baseline")
    (chunk,) = found.chunks()
    assert (chunk.text, chunk.headings, chunk.blocks, chunk.xpaths) == ("Title\n\nSome text.", ("Title",), (0, 1), ())


def test_a_page_without_text_has_no_chunks() -> None:
    assert clean_all("").chunks() == []


def test_long_headings_are_cut_short_in_paths() -> None:
    (chunk,) = clean_all(f"<h1>{'x' * 201}</h1><p>text").chunks()
    assert chunk.headings == ("x" * 199 + "…",)
    (chunk,) = clean_all(f"<h1>{'x' * 200}</h1><p>text").chunks()
    assert chunk.headings == ("x" * 200,)


def test_the_estimate_is_a_token_for_four_bytes() -> None:
    assert list(map(rules.estimate_tokens, ["", "a", "abcd", "abcde", "漢字", "\ud800"])) == [0, 1, 1, 2, 2, 1]


def test_the_usual_limit() -> None:
    assert [chunk.tokens for chunk in clean_all("<p>" + "abcd" * 513).chunks()] == [512, 1]


class Tiktoken:
    """As an encoding of tiktoken: `encode` refuses special tokens in a text."""

    def encode(self, text: str) -> list[int]:
        raise ValueError("disallowed special token")

    def encode_ordinary(self, text: str) -> list[int]:
        return [0] * len(text.split())


class HuggingFace:
    """As a tokenizer of transformers: can be called, too, and adds tokens unless told not to."""

    def __call__(self, text: str) -> dict[str, list[int]]:
        raise AssertionError

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [0] * (len(text.split()) + 2 * add_special_tokens)


def test_tokenizers() -> None:
    counted: list[Any] = [words, lambda text: len(text.split()), Tiktoken(), HuggingFace()]
    for tokenizer in counted:
        chunks = clean_all("<p>one two three four five").chunks(2, tokenizer=tokenizer)
        assert [(chunk.text, chunk.tokens) for chunk in chunks] == [("one two", 2), ("three four", 2), ("five", 1)]


def test_a_tokenizer_that_counts_more_in_a_whole_than_in_its_parts() -> None:
    found = clean_all("<p>aa</p>" * 20)
    chunks = found.chunks(10, 3, tokenizer=lambda text: len(text.split()) + text.count("\n\n") ** 2)
    assert max(chunk.tokens for chunk in chunks) <= 10
    assert {i for chunk in chunks for i in chunk.blocks} == set(range(20))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens is 0; it must be a whole number, 1 or more"),
        ({"max_tokens": 5.5}, "max_tokens is 5.5; it must be a whole number"),
        ({"max_tokens": True}, "max_tokens is True"),
        ({"overlap": -1}, "overlap is -1; it must be a whole number, 0 or more"),
        ({"max_tokens": 8, "overlap": 8}, "overlap is 8; it must be less than max_tokens, which is 8"),
        ({"tokenizer": "gpt-4"}, "tokenizer is 'gpt-4'; it must be a function"),
        ({"tokenizer": lambda text: 1.5}, "the tokenizer returned 1.5; it must return a number of tokens"),
        ({"tokenizer": lambda text: -1}, "the tokenizer returned -1"),
        ({"tokenizer": lambda text: 600}, "counts 600 tokens in an empty text; max_tokens is 512 and must be more"),
    ],
)
def test_arguments_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mainmatter.InputError) as raised:
        clean_all("<p>text").chunks(**options)
    assert message in str(raised.value)


some_blocks = st.lists(
    st.tuples(
        st.sampled_from(["p", "p", "li", "h1", "h2", "h3", "pre", "td"]),
        st.text(st.sampled_from("ab 。.!?\n\t漢🙂é"), max_size=60),
    ),
    max_size=12,
)
counters = st.sampled_from([None, len, words, lambda text: len(text.encode()) + 1])


@given(some_blocks, st.integers(2, 40), st.integers(0, 39), counters, st.sampled_from(["drop", "keep", "mark"]))
def test_chunks_are_slices_that_miss_nothing(
    blocks: list[tuple[str, str]], max_tokens: int, overlap: int, tokenizer: Any, comments: Any
) -> None:
    html = "".join(
        f"<{tag}>{'Comment ' if number % 3 == 2 else ''}{text}</{tag}>" for number, (tag, text) in enumerate(blocks)
    )
    found = mainmatter.clean(html, method=Commenting(dial=1, comments=comments))
    overlap = min(overlap, max_tokens - 1)
    count = rules._counter(tokenizer)
    chunks = found.chunks(max_tokens, overlap, tokenizer)
    covered = [False] * len(found.text)
    texts = found.document.texts
    for before, chunk in zip([None, *chunks], chunks, strict=False):
        assert found.text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        assert chunk.tokens == count(chunk.text)
        assert chunk.tokens <= max_tokens or len(chunk.text) == 1
        assert len(chunk.xpaths) == len(chunk.blocks)
        assert list(chunk.blocks) == [i for i in chunk.blocks if found.kept[i]]
        pieces = "".join(texts[i] for i in chunk.blocks)
        assert "".join(chunk.text.split()) in "".join(pieces.split())
        if before is not None:
            assert before.start < chunk.start
            assert before.end < chunk.end
            repeated = found.text[chunk.start : before.end]
            assert count(repeated) <= max(overlap, count(""))
            assert not repeated or before.headings == chunk.headings
        covered[chunk.start : chunk.end] = [True] * len(chunk.text)
    missed = "".join(char for char, is_in in zip(found.text, covered, strict=True) if not is_in)
    assert "".join(missed.split()) in ("", COMMENTS_LINE.replace(" ", ""))


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method(method: str) -> None:
    found = mainmatter.clean(PAGE, method=method)
    assert [i for chunk in found.chunks() for i in chunk.blocks] == [block.index for block in found.blocks]


@pytest.mark.parametrize(
    ("size", "make"),
    [
        (250_000, lambda n: "some words, and more " * n),
        (5_000_000, lambda n: "x" * n),
        (5_000_000, lambda n: "<p>" + "." * n),
        (1_500_000, lambda n: "<p>" + "a. " * n),
        (5_000_000, lambda n: "<pre>" + " " * n + "x"),
        (100_000, lambda n: "<p>word</p>" * n),
        (1_000_000, lambda n: "<h1>" + "word " * n),
        (20_000, lambda n: "<h2>word</h2>" * n),
    ],
    ids=["one text", "one word", "full stops", "sentences", "spaces", "blocks", "one heading", "headings"],
)
def test_linear_time(size: int, make: Callable[[int], str]) -> None:
    @cache
    def extraction(size: int) -> Extraction:
        found = clean_all(make(size))
        assert found.text
        assert found.document.blocks
        return found

    assert_linear(lambda n: partial(extraction(n).chunks, overlap=100), size)


def test_how_well_long_texts_fill_their_chunks() -> None:
    """How often a text is counted to find out what fits decides where it is cut."""
    text = " ".join("w" * (1 + i * 7 % 11) + "é" * (i * 5 % 13 if i % 50 < 25 else 0) for i in range(1500))
    found = clean_all(f"<p>{text}")
    assert [chunk.tokens for chunk in found.chunks(150, tokenizer=words)] == [
        144,
        142,
        142,
        143,
        150,
        149,
        150,
        147,
        148,
        149,
        36,
    ]
    assert [chunk.tokens for chunk in found.chunks(400, 50)] == [
        337,
        387,
        389,
        391,
        395,
        389,
        396,
        393,
        395,
        390,
        395,
        389,
        396,
        388,
        121,
    ]
