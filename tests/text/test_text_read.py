"""Plain-text dumps: blank lines, bullets, numbers and headings (NCleaner 2)."""

from __future__ import annotations

import sys
import textwrap

import pytest

from mainmatter.api import read
from mainmatter.records import Columns, Kind, Metadata, Page
from mainmatter.text.read import segment_text

P, L, H = Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.HEADING


def kinds(text: str) -> list[tuple[Kind, str]]:
    found = segment_text(text)
    return list(zip(found.kinds, found.texts, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n\r\n  ", []),
        ("one", [(P, "one")]),
        ("one\ntwo", [(P, "one two")]),
        ("one\n\ntwo", [(P, "one"), (P, "two")]),
        ("one\n \t \n\n\ntwo\n", [(P, "one"), (P, "two")]),
        ("one\r\ntwo\r\n\r\nthree", [(P, "one two"), (P, "three")]),
        ("  a   b\tc  ", [(P, "a b c")]),
        ("* a\n* b", [(L, "a"), (L, "b")]),
        ("- a\n  goes on\n- b", [(L, "a goes on"), (L, "b")]),
        ("intro:\n• a\n• b\n\nafter", [(P, "intro:"), (L, "a"), (L, "b"), (P, "after")]),
        ("1. a\n2) b\n(3) c\n12. d", [(L, "1. a"), (L, "2) b"), (L, "(3) c"), (L, "12. d")]),
        ("Steps:\n1. a\n2. b", [(P, "Steps:"), (L, "1. a"), (L, "2. b")]),
        # Not every line that begins with a number or a dash begins an item: it may have been broken there.
        ("It happened on\n12. May", [(P, "It happened on 12. May")]),
        ("a thought\n- and another", [(P, "a thought - and another")]),
        ("a) first\nb. second", [(P, "a) first b. second")]),
        ("1984 was a year", [(P, "1984 was a year")]),
        ("1984. A novel", [(P, "1984. A novel")]),
        ("-5 degrees", [(P, "-5 degrees")]),
        ("e.g. this", [(P, "e.g. this")]),
        ("*", [(P, "*")]),
        ("# Title\ntext", [(H, "Title"), (P, "text")]),
        ("text\n## Title", [(P, "text"), (H, "Title")]),
        ("#hashtag", [(P, "#hashtag")]),
        ("####### seven", [(P, "####### seven")]),
        ("Title\n=====\ntext", [(H, "Title"), (P, "text")]),
        ("Title\n---", [(H, "Title")]),
        ("one\ntwo\n---", [(P, "one two ---")]),
        ("a\n--", [(P, "a --")]),
    ],
)
def test_blocks(text: str, expected: list[tuple[Kind, str]]) -> None:
    assert kinds(text) == expected


def test_white_space_of_all_kinds() -> None:
    """What Python calls white space either breaks a line or counts as a space, alone or with others."""
    for char in filter(str.isspace, map(chr, range(sys.maxunicode + 1))):
        breaks = len(f"a{char}b".splitlines()) > 1
        assert kinds(f"{char}a{char}b{char} {char}{char}c{char}") == [
            *([(P, "a b"), (P, "c")] if breaks else [(P, "a b c")])
        ], repr(char)
    assert kinds("a" + " " * 1001 + "b") == [(P, "a b")]
    assert kinds("٣. a\n\n²") == [(L, "٣. a"), (P, "²")]


def test_all_columns() -> None:
    text = "# Title\n\nFirst\nparagraph\n\n* item\nSub\n~~~\n\nUnder\n~~~~\n"
    assert segment_text(text) == Columns(
        texts=["Title", "First paragraph", "item Sub ~~~", "Under"],
        kinds=[H, P, L, H],
        levels=[1, 0, 0, 2],
        positions=[0, 1, 2, 3],
        link_chars=[0] * 4,
        link_counts=[0] * 4,
        controls=[False] * 4,
    )


def test_positions_count_blocks_and_wide_gaps() -> None:
    # One blank line only separates; each one more stands for a tag that was lost.
    assert segment_text("a\n\nb\n\n\nc\n\n\n\n* d\n* e").positions == [0, 1, 3, 6, 7]


def test_levels_of_headings() -> None:
    assert segment_text("# a\n## b\n###### c\n\nd\n===\n\ne\n---").levels == [1, 2, 6, 1, 2]


WET = """Home
About us
- Contact
How fog signals got their voices
Before there were sirens there were bells, and before there were bells there was a man with a drum, paid by the hour.
1. The siren could be heard for eleven miles on a calm day, when the wind came from the land.
Privacy policy
"""


def test_each_line_is_a_block_where_none_was_broken() -> None:
    lines = WET.splitlines()
    expected = [
        (P, lines[0]),
        (P, lines[1]),
        (L, "Contact"),
        (P, lines[3]),
        (P, lines[4]),
        (L, lines[5]),
        (P, lines[6]),
    ]
    assert kinds(WET) == kinds(f"\n\n{WET}\n\n") == expected
    assert segment_text(WET).positions == [0, 1, 2, 3, 4, 5, 6]
    with_blank_line = WET.replace("us\n", "us\n\n", 1)
    assert kinds(with_blank_line)[0][1] == "Home About us"
    assert len(kinds("\n".join(lines[:4]))) == 1  # too few to tell
    assert kinds("\n".join(["首页", "关于我们", "联系方式", "很久以前" * 60, "隐私政策"])) == [
        (P, text) for text in ("首页", "关于我们", "联系方式", "很久以前" * 60, "隐私政策")
    ]


@pytest.mark.parametrize("width", [45, 60, 72, 80, 120])
@pytest.mark.parametrize("indent", ["", "   "])
def test_a_paragraph_that_was_broken_is_one_block(width: int, indent: str) -> None:
    text = " ".join(
        f"In the year {1800 + i} the keeper of the lighthouse wrote {i * 7919 % 97} letters to the harbour office."
        for i in range(12)
    )
    broken = textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)
    assert kinds(broken) == [(P, text)]


def test_whoever_knows_that_lines_are_blocks_says_so() -> None:
    text = "one\ntwo\n\n* three\nTitle\n=====\nfour"
    assert segment_text(text, lines_are_blocks=True).texts == ["one", "two", "three", "Title", "four"]
    assert segment_text(text, lines_are_blocks=True).kinds == [P, P, L, H, P]
    rule = "A line of many words that nobody underlined.\n----\nfive"
    assert H not in segment_text(rule, lines_are_blocks=True).kinds
    assert read(Page("one\ntwo", format="text", lines_are_blocks=True)).texts == ["one", "two"]
    assert read(Page("one\ntwo", format="text")).texts == ["one two"]


def test_a_dump_becomes_a_document() -> None:
    document = read(
        Page("Überschrift\n\n* eins".encode("latin-1"), "https://e.example/", charset="iso-8859-1", format="text")
    )
    assert document.texts == ["Überschrift", "eins"]
    assert document.encoding == "iso-8859-1"
    assert document.metadata == Metadata(url="https://e.example/")
    assert [(block.index, block.text, block.kind, block.tag, block.xpath) for block in document.blocks] == [
        (0, "Überschrift", P, "", ""),
        (1, "eins", L, "", ""),
    ]


def test_markup_in_a_dump_is_text() -> None:
    assert kinds("<p>a & b</p>") == [(P, "<p>a & b</p>")]


def full_lines(width: int, count: int = 5) -> list[str]:
    """Lines of words that reach some width: there was no room for a word more."""
    return [f"{letter * 8} ".ljust(width, "x") for letter in "abcdefgh"[:count]]


@pytest.mark.parametrize(("width", "are_broken"), [(39, False), (40, True), (132, True), (133, False)])
def test_widths_at_which_lines_are_broken(width: int, are_broken: bool) -> None:
    assert len(kinds("\n".join(full_lines(width)))) == (1 if are_broken else 5)


def test_four_lines_do_not_tell() -> None:
    assert len(kinds("one\ntwo\nthree\nfour")) == 1
    assert len(kinds("one\ntwo\nthree\nfour\nfive")) == 5


@pytest.mark.parametrize(
    ("followed", "full", "are_broken"),
    [(5, 1, False), (5, 2, False), (5, 3, True), (5, 5, True), (6, 2, False), (6, 3, True)],
)
def test_lines_were_broken_if_half_of_them_had_no_room_for_a_word_more(
    followed: int, full: int, are_broken: bool
) -> None:
    # Words are longer than twenty characters, and were broken themselves: 40 + 1 + 20 is more than 60, 39 + 1 + 20 not.
    word = "w" * 30 + " "
    lines = [full_lines(60)[0], *[word.ljust(40, "x")] * (full - 1), *[word.ljust(39, "x")] * (1 + followed - full)]
    assert len(lines) == followed + 1
    assert len(kinds("\n".join(lines))) == (1 if are_broken else followed + 1)


def test_an_underline_is_at_least_half_as_long_as_its_line() -> None:
    for text, kind in (("sixsix", H), ("sevens!", P)):
        assert segment_text(f"{text}\n---\nfour", lines_are_blocks=True).kinds[0] == kind
