"""FIASCO 5.1: paragraphs to subtrees, by hand and by a naive search."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from mainmatter.lab.training.examples import label
from mainmatter.papers.fiasco.alignment import align_dice, match_paragraphs, spread
from mainmatter.papers.fiasco.nodes import find_nodes
from mainmatter.records import Gold, Page
from mainmatter.text.tokens import gold_paragraphs, words
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable


def labels(html: str, *paragraphs: str, similar_enough: float = 0.5) -> str:
    document = mainmatter.read(Page(html))
    shares = align_dice(document, Gold(text="\n".join(paragraphs)), similar_enough)
    return "".join("x" if share else "." for share in shares)


def test_the_most_similar_subtree_is_clean() -> None:
    page = "<p>one two three<p>one two four five<p>six"
    assert labels(page, "one two four") == ".x."
    # 2 * 2 / (2 + 3) = 0.8 for the first paragraph.
    assert labels(page, "one two", similar_enough=0.8) == "x.."
    assert labels(page, "one two", similar_enough=0.81) == "..."
    assert labels(page, "seven eight") == "..."
    assert labels(page) == "..."


@pytest.mark.parametrize(
    ("others", "is_clean"),
    [(4, True), (5, False)],  # 2 * 4 / (8 + 8) is one half; 2 * 4 / (8 + 9) is less
)
def test_half_of_the_words_are_like_enough(others: int, is_clean: bool) -> None:
    page = f"<p>one two three four {' '.join('abcdef'[:others])}<p>menu"
    document = mainmatter.read(Page(page))
    gold = Gold(text="one two three four five six seven eight")
    assert align_dice(document, gold).tolist() == [is_clean, 0]
    assert match_paragraphs(document, gold).rate == is_clean
    assert label(document, gold, "dice").shares.tolist() == [is_clean, 0]


def test_the_whole_page_may_be_the_subtree() -> None:
    document = mainmatter.read(Page("<p>one two</p><p>three four</p>"))
    matches = match_paragraphs(document, Gold(text="one two three four"))
    nodes = matches.nodes
    # The document itself is node 0, and stands for all that is on the page.
    whole = np.array([0])
    assert (nodes.first[0], nodes.end[0]) == (0, 2)
    assert spread(nodes, whole).tolist() == [True, True]
    assert replace(matches, found=whole).rate == 1


def test_down_the_tree() -> None:
    # The gold paragraph is like all three together, and not like one of them.
    page = "<div><p>one two three<p>four five six<p>seven eight nine</div><p>menu"
    assert labels(page, "one two three four five six seven eight nine") == "xxx."


def test_up_the_tree() -> None:
    # The own text of the outer item is not in the gold text, but it dominates two clean nodes and one other.
    page = "<ul><li>intro words here<ul><li>one two three<li>four five six<li>seven eight</ul></ul><p>menu"
    assert labels(page, "one two three", "four five six") == "xxx.."
    assert labels(page, "one two three") == ".x..."


def test_words_count_as_often_as_they_occur() -> None:
    page = "<p>go go go stop<p>go stop"
    assert labels(page, "go go go") == "x."
    assert labels(page, "go") == ".x"


def test_equal_subtrees_are_taken_in_the_order_of_the_page() -> None:
    page = "<p>menu<p>one two<p>menu"
    assert labels(page, "menu") == "x.."
    assert labels(page, "one two", "menu") == ".xx"
    # Where one is found does not depend on where the same words were found before.
    document = mainmatter.read(Page("<p>menu<p>one two<p>menu<p>three"))
    matches = match_paragraphs(document, Gold(text="menu\none two\nmenu\nthree\nmenu"))
    assert [int(matches.nodes.first[node]) for node in matches.found] == [0, 1, 2, 3, 0]


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        (Gold(text="x", marked="<h>One\n\n <p>two\n three<l>four"), ["One", "two three", "four"]),
        (Gold(text="One line.\n\nAnother one.\nA third."), ["One line.", "Another one.", "A third."]),
        (
            Gold(text="A text that is\nwrapped by hand\nand goes on.\n\nAnother one\nthat is\nwrapped."),
            ["A text that is wrapped by hand and goes on.", "Another one that is wrapped."],
        ),
        (Gold(text=""), []),
        (Gold(), []),
    ],
)
def test_paragraphs_of_gold_texts(gold: Gold, expected: list[str]) -> None:
    assert gold_paragraphs(gold) == expected


def test_matches_tell_how_well_a_page_aligns() -> None:
    document = mainmatter.read(Page("<p>one two three<p>four five six"))
    matches = match_paragraphs(document, Gold(text="one two three\nfour five\nnot there\n***"))
    assert matches.similarities.tolist() == [1.0, 0.8, 0.0]
    assert matches.rate == pytest.approx(2 / 3)
    assert match_paragraphs(document, Gold(text="")).rate == 1.0


def test_examples_can_be_labelled_so() -> None:
    document = mainmatter.read(Page("<p>one two three<p>four five six"))
    assert label(document, Gold(text="four five six"), "dice").kept.tolist() == [False, True]


def test_empty_pages_and_dumps() -> None:
    assert align_dice(mainmatter.read(Page("")), Gold(text="one")).tolist() == []
    dump = mainmatter.read(Page("one two\n\nthree four", format="text"))
    assert align_dice(dump, Gold(text="three four")).tolist() == [0, 1]


def naive(html: str, gold: Gold, similar_enough: float) -> list[float]:
    """The best similarity of each paragraph with any subtree, all tried out."""
    document = mainmatter.read(Page(html))
    nodes = find_nodes(document)
    best = []
    for paragraph in gold_paragraphs(gold):
        wanted = Counter(words(paragraph))
        dice = [0.0]
        for first, end in zip(nodes.first, nodes.end, strict=True):
            found = Counter(words(" ".join(document.texts[first:end])))
            dice.append(2 * (wanted & found).total() / (wanted.total() + found.total()))
        best.append(max(dice) if max(dice) >= similar_enough else 0.0)
    return best


def test_it_agrees_with_a_naive_search() -> None:
    rng = random.Random(5)
    vocabulary = "a b c d e f g h i j".split()
    for _ in range(60):
        pieces = ["<div>", "</div>", "<p>", "<ul>", "<li>", "</ul>", "<br><br>"]
        html = "".join(
            rng.choice(pieces) + " ".join(rng.choices(vocabulary, k=rng.randint(0, 6)))
            for _ in range(rng.randint(1, 30))
        )
        lines = [" ".join(rng.choices([*vocabulary, "z"], k=rng.randint(1, 12))) for _ in range(5)]
        gold = Gold(text="\n".join(lines))
        threshold = rng.choice([0.3, 0.5, 0.8])
        document = mainmatter.read(Page(html))
        matches = match_paragraphs(document, gold, threshold)
        assert matches.similarities == pytest.approx(naive(html, gold, threshold))
        assert ((matches.found >= 0) == (matches.similarities > 0)).all()
        kept = spread(matches.nodes, matches.found)
        below = {i for n in matches.found if n >= 0 for i in range(matches.nodes.first[n], matches.nodes.end[n])}
        for block in range(len(document)):
            target = matches.nodes.targets[block]
            others = set(range(matches.nodes.first[target], matches.nodes.end[target])) - {block}
            assert kept[block] == (block in below or 2 * len(others & below) > len(others))


@pytest.mark.parametrize(
    ("size", "make", "line"),
    [
        (4000, lambda n: "<p>yes</p>" * n, "yes"),
        # Each line has a word that is on the page too, elsewhere, so that no line is like another.
        (1000, lambda n: "<p>yes and no</p>" * n + "<p>" + " ".join(map(str, range(4 * n))), "yes {} no"),
    ],
    ids=["equal", "almost equal"],
)
def test_many_alike(size: int, make: Callable[[int], str], line: str) -> None:
    def match(count: int) -> Callable[[], object]:
        document = mainmatter.read(Page(make(count)))
        gold = Gold(text="\n".join(line.format(number) for number in range(count)))
        matches = match_paragraphs(document, gold)
        assert matches.rate == 1
        assert len(matches.found) == count
        return lambda: match_paragraphs(document, gold)

    assert_linear(match, size)  # tried out one by one, it takes a minute


def test_no_gold_paragraph_no_clean_node() -> None:
    document = mainmatter.read(Page("<p>one"))
    nodes = find_nodes(document)
    assert spread(nodes, np.array([], np.intp)).tolist() == [False]
    assert spread(nodes, np.array([-1])).tolist() == [False]
