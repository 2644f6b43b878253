"""ICE 3.2, figure 1: cases worked out by hand from the pseudo-code."""

from __future__ import annotations

import itertools
import random
import re
from html import unescape
from typing import Any

import pytest

import mainmatter
from mainmatter.errors import InputError
from mainmatter.papers.ice.heuristic import IceHeuristic
from mainmatter.records import Columns, Document, Kind, Page

LONG = "these eleven words have more than three letters each on average"  # 11 words
SHORT = "Short line"


def document(texts: list[str], positions: list[int] | None = None) -> Document:
    columns = Columns.of(texts, kinds=[Kind.LIST_ITEM] * len(texts), positions=positions or [*range(len(texts))])
    return Document(Page(""), columns)


def labels(texts: list[str], positions: list[int] | None = None, **parameters: Any) -> str:
    """A letter a block: p, h, or . for dropped."""
    found = IceHeuristic(**parameters).extract(document(texts, positions))
    letters = {Kind.PARAGRAPH: "p", Kind.HEADING: "h"}
    return "".join(letters[kind] if keep else "." for kind, keep in zip(found.kinds, found.kept, strict=True))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], ""),
        ([LONG], "p"),
        ([SHORT], "."),
        ([SHORT, LONG], "hp"),
        ([SHORT, SHORT, LONG], ".hp"),
        ([SHORT, LONG, LONG], "hpp"),
        ([LONG, SHORT], "p."),
        ([LONG, SHORT, LONG], "php"),
        # Lines of at most three characters are nothing, but count: fewer than three may stand between.
        (["abc", LONG], ".p"),
        (["abcd", LONG], "hp"),
        ([SHORT, "abc", LONG], "h.p"),
        ([SHORT, "a", "b", LONG], "h..p"),
        ([SHORT, "a", "b", "c", LONG], "...." + "p"),
        # A new candidate resets the counter.
        ([SHORT, "a", "b", "c", SHORT, LONG], "....hp"),
        # After a paragraph the candidate is gone.
        ([SHORT, LONG, "a", LONG], "hp.p"),
    ],
)
def test_figure_1(texts: list[str], expected: str) -> None:
    assert labels(texts) == expected


@pytest.mark.parametrize(
    ("line", "is_paragraph"),
    [
        (" ".join(["word"] * 10), False),  # more than 10 words
        (" ".join(["word"] * 11), True),
        (" ".join(["abc"] * 11), False),  # more than 3 characters on average
        (" ".join(["abc"] * 10 + ["abcd"]), True),
        (" ".join(["ab", "abcd"] * 10), False),
        (" ".join(["ab", "abcd"] * 10 + ["abcd"]), True),
        ("x" * 500, False),
        (" ".join("a" * 100), False),
    ],
)
def test_what_a_paragraph_is(line: str, is_paragraph: bool) -> None:
    assert labels([line]) == ("p" if is_paragraph else ".")


def test_empty_lines_are_the_tags_between_two_blocks() -> None:
    # Positions 5 and 8: two empty lines between, which is fewer than three; 5 and 9: three.
    assert labels([SHORT, LONG], [5, 8]) == "hp"
    assert labels([SHORT, LONG], [5, 9]) == ".p"
    assert labels([SHORT, "a", LONG], [5, 6, 8]) == "h.p"
    assert labels([SHORT, "a", LONG], [5, 7, 9]) == "..p"


def test_parameters() -> None:
    assert labels([SHORT, LONG], [0, 5]) == ".p"
    assert labels([SHORT, LONG], [0, 5], heading_window=5) == "hp"
    assert labels([LONG], min_words=11) == "."
    assert labels(["two words"], min_words=1) == "p"
    assert labels([" ".join(["ab"] * 20)], min_word_length=1) == "p"
    assert labels([SHORT, LONG], min_chars=10) == ".p"
    assert labels([SHORT, LONG], min_chars=9) == "hp"


def test_scores_kinds_and_reasons() -> None:
    found = IceHeuristic().extract(document([SHORT, "a", LONG, SHORT]))
    assert found.scores.tolist() == [0.75, 0.0, 1.0, 0.25]
    assert found.kinds == [Kind.HEADING, Kind.LIST_ITEM, Kind.PARAGRAPH, Kind.LIST_ITEM]
    assert list(found.reasons) == [
        "short, and a paragraph follows: its heading",
        "too few characters to be anything",
        "many words of some length: a paragraph",
        "too short for a paragraph, and none follows for which it could be the heading",
    ]


def figure_1(lines: list[str]) -> list[tuple[str, str]]:
    """The paper's pseudo-code, transcribed; an empty line is a line."""
    output: list[tuple[str, str]] = []
    possible_title: str | None = None
    line_counter = 0
    for line in lines:
        if len(line) > 3:
            words = line.split()
            if len(words) > 10 and sum(map(len, words)) / len(words) > 3:
                if possible_title is not None and line_counter < 3:
                    output.append(("h", possible_title))
                possible_title, line_counter = None, 0
                output.append(("p", line))
            else:
                possible_title, line_counter = line, 0
        elif possible_title is not None:
            line_counter += 1
    return output


def test_it_agrees_with_the_pseudo_code_line_by_line() -> None:
    rng = random.Random(3)
    for _ in range(500):
        lines = [
            rng.choice(["", "", "x", "abc", f"Heading {n}", f"{n} {LONG}", " ".join(["ab"] * 12), "Contents"])
            for n in range(rng.randint(1, 25))
        ]
        numbered = [(line, n) for n, line in enumerate(lines) if line]
        found = IceHeuristic().extract(document([line for line, _ in numbered], [n for _, n in numbered]))
        letters = {Kind.PARAGRAPH: "p", Kind.HEADING: "h"}
        output = [
            (letters[kind], text)
            for (text, _), kind, keep in zip(numbered, found.kinds, found.kept, strict=True)
            if keep
        ]
        assert output == figure_1(lines)


def test_a_page() -> None:
    html = f"<ul><li>Home<li>News</ul><h1>The title</h1><p>{LONG}</p><div>Share</div><p>{LONG}</p><p>Imprint</p>"
    found = mainmatter.clean(html, method="ice-heuristic")
    assert found.cleaneval == f"<h> The title\n<p> {LONG}\n<h> Share\n<p> {LONG}"


def test_a_line_without_spaces_is_a_paragraph_by_its_width() -> None:
    assert labels(["\u6f22" * 20]) == "."  # ten words of two characters
    assert labels(["\u6f22" * 22]) == "p"


def page_with_lines(rng: random.Random) -> tuple[str, list[str]]:
    """A page whose lines and blocks do not agree, and the texts of its blocks, in which no word comes twice."""
    count = itertools.count(100)
    texts = [
        " ".join(f"{rng.choice('wxy')}{next(count)}" for _ in range(rng.choice([1, 2, 9, 14, 30])))
        for _ in range(rng.randint(3, 12))
    ]
    parts = ["<html><head><title>Not part of the body, though it has more than ten words in its line</title></head>\n"]
    parts += [rng.choice(["<body>", '<body class="x">\n', "<body><script>\nvar a = 1;\n\n</script>"])]
    for text in texts:
        tag = rng.choice(["p", "div", "li", "h2", "blockquote"])
        broken = re.sub(" ", lambda _: rng.choice([" "] * 20 + ["\n", " \n", " <b>", "</b> ", "&nbsp;", "  "]), text)
        parts.append(f"<{tag}>{broken}</{tag}>")
        parts.append(rng.choice(["", "\n", "\r\n", "\n\n\n", "\n<hr>\n<br>\n\n", "<!-- a comment\n of two lines -->"]))
    return "".join(parts), texts


def test_the_preset_agrees_with_the_paper_on_the_lines_of_the_source() -> None:
    """ICE 3.2: tags are removed, what is left of the body is split into lines, figure 1 decides about each of them."""
    rng = random.Random(11)
    decisions = set()
    for _ in range(300):
        source, texts = page_with_lines(rng)
        body = re.sub(r"<script>.*?</script>|<!--.*?-->", "", source[source.index("<body") :], flags=re.DOTALL)
        lines = [unescape(line).strip() for line in re.sub("<[^>]*>", "", body).splitlines()]
        labels = {line: label for label, line in figure_1(lines)}
        found = mainmatter.clean(source, method="ice-heuristic:preset=paper")
        assert found.document.texts == texts
        for text, kept, kind in zip(texts, found.kept.tolist(), found.kinds, strict=True):
            sizes = {"h": 0, "p": 0, "": 0}
            for word in text.split():
                line = next(line for line in lines if word in line)
                sizes[labels.get(line, "")] += len(word)
            is_kept = sizes["h"] + sizes["p"] > sizes[""]
            assert kept == is_kept
            if is_kept:
                assert kind is (Kind.HEADING if sizes["h"] > sizes["p"] else Kind.PARAGRAPH)
            decisions.add((is_kept, kind if is_kept else None))
    assert decisions == {(True, Kind.HEADING), (True, Kind.PARAGRAPH), (False, None)}


def test_a_block_needs_more_than_half_of_its_characters_in_kept_lines() -> None:
    for dropped, is_kept in (("lone " * 10, True), ("lone " * 10 + "\nfour", False)):
        html = f"<p>{'word ' * 11}\n{dropped}</p>"  # of lines with ten words, no paragraph follows the last
        assert mainmatter.clean(html, method="ice-heuristic:preset=paper").kept.tolist() == [is_kept]


def test_words_as_in_the_paper() -> None:
    assert labels(["\u6f22" * 22], estimate_words=False) == "."
    assert labels([LONG], estimate_words=False) == "p"
    with pytest.raises(InputError, match="lines must be blocks or source, not 'x'"):
        IceHeuristic(lines="x")  # type: ignore[arg-type]


def test_a_dump_has_its_blocks_for_lines() -> None:
    page = Page(f"{SHORT}\n\n{LONG}\n", format="text")
    assert mainmatter.clean(page, method="ice-heuristic:preset=paper").cleaneval == f"<h> {SHORT}\n<p> {LONG}"
