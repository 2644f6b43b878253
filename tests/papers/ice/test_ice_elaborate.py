"""ICE 3.2, "more elaborate heuristics": what the paper says must raise or lower a label, and our shares by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

import mainmatter
from mainmatter.errors import InputError
from mainmatter.papers.ice.elaborate import IceElaborate
from mainmatter.records import Columns, Document, Kind, Page

P, H, L = Kind.PARAGRAPH, Kind.HEADING, Kind.LIST_ITEM
# 16 words, 2 marks = 1 every 8, 1 conjunction = 1 every 16, more than 1 every 24: a full score.
RUNNING = "the old bridge was closed at noon, and the two ferries carried the people over it."
FLAT = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho"


def document(blocks: list[tuple[Kind, str]], links: list[int] | None = None) -> Document:
    columns = Columns.of(
        [text for _, text in blocks], kinds=[kind for kind, _ in blocks], link_counts=links or [0] * len(blocks)
    )
    return Document(Page(""), columns)


def decide(blocks: list[tuple[Kind, str]], links: list[int] | None = None, **parameters: Any) -> str:
    """A letter a block: p, h, l, or . for dropped."""
    found = IceElaborate(**parameters).extract(document(blocks, links))
    letters = {P: "p", H: "h", L: "l"}
    return "".join(letters[kind] if keep else "." for kind, keep in zip(found.kinds, found.kept, strict=True))


def scores(blocks: list[tuple[Kind, str]], links: list[int] | None = None) -> list[float]:
    return [float(score) for score in IceElaborate().extract(document(blocks, links)).scores]


def test_running_text_is_a_paragraph() -> None:
    assert len(RUNNING.split()) == 16
    assert decide([(P, RUNNING)]) == "p"
    assert scores([(P, RUNNING)]) == [1.0]


def test_text_without_punctuation_and_conjunctions_is_not() -> None:
    assert decide([(P, FLAT)]) == "."
    assert scores([(P, FLAT)]) == [0.0]


def test_the_two_ratios_have_equal_shares() -> None:
    # 16 words: one mark is half of what running text has, so 0.25; one conjunction is more than all of it, so 0.5.
    assert scores([(P, FLAT.replace("rho", "rho."))]) == [pytest.approx(0.25)]
    assert scores([(P, FLAT.replace("rho", "and"))]) == [pytest.approx(0.5)]
    assert scores([(P, FLAT.replace("pi rho", "and rho."))]) == [pytest.approx(0.75)]


def test_the_threshold_must_be_exceeded() -> None:
    half = FLAT.replace("rho", "and")
    assert decide([(P, half)]) == "."
    assert decide([(P, half)], threshold=0.49) == "p"
    assert decide([(P, RUNNING)], threshold=1.0) == "."


def test_a_heading_by_its_tag_its_shortness_and_the_long_text_after_it() -> None:
    blocks = [(H, "the flood"), (P, FLAT)]
    assert decide(blocks) == "h."
    # tag 0.5 + 0.25 * (1 - 2 / 15) + long neighbour 0.25
    assert scores(blocks)[0] == pytest.approx(0.5 + 0.25 * 13 / 15 + 0.25)
    # Without the tag, it has only the other two shares.
    assert decide([(P, "the flood"), (P, FLAT)]) == ".."


def test_the_long_text_has_more_than_ten_words() -> None:
    ten, eleven = " ".join(FLAT.split()[:10]), " ".join(FLAT.split()[:11])
    assert scores([(H, "flood"), (P, eleven)])[0] - scores([(H, "flood"), (P, ten)])[0] == pytest.approx(0.25)


def test_a_list_item_by_its_tag_its_shortness_its_capital_and_its_neighbours() -> None:
    # alone: tag 0.5 + 0.15 * (1 - 2 / 25) + capital 0.1; a neighbour counts half of its own 0.75.
    alone = 0.5 + 0.15 * 23 / 25 + 0.1
    assert scores([(L, "Two eggs")]) == [pytest.approx(alone)]
    assert scores([(L, "Two eggs")] * 3) == [
        pytest.approx(alone + alone / 2 / 0.75 * 0.25),
        pytest.approx(alone + alone / 0.75 * 0.25),
        pytest.approx(alone + alone / 2 / 0.75 * 0.25),
    ]
    assert decide([(L, "Two eggs")] * 3) == "lll"


def test_every_word_makes_a_list_item_less_likely_and_a_capital_more() -> None:
    short, longer, small = "Eggs", "Eggs milk flour sugar", "eggs"
    assert scores([(L, short)])[0] > scores([(L, longer)])[0]
    assert scores([(L, short)])[0] - scores([(L, small)])[0] == pytest.approx(0.1)


@pytest.mark.parametrize("kind", [H, L])
def test_neither_contains_a_link(kind: Kind) -> None:
    assert decide([(kind, "Contact us"), (P, FLAT)]) == f"{'h' if kind is H else 'l'}."
    assert decide([(kind, "Contact us"), (P, FLAT)], links=[1, 0]) == ".."


def test_a_paragraph_may_contain_links() -> None:
    assert decide([(P, RUNNING)], links=[3]) == "p"


def test_a_running_text_in_a_list_is_a_paragraph() -> None:
    assert decide([(L, RUNNING)]) == "p"


def test_the_label_threshold() -> None:
    blocks = [(H, "the flood"), (P, FLAT)]
    assert decide(blocks, label_threshold=0.97) == ".."
    assert decide([(P, "the flood"), (P, FLAT)], label_threshold=0.4) == "h."


def test_dropped_blocks_keep_their_kind() -> None:
    found = IceElaborate().extract(document([(Kind.TABLE_ROW, FLAT)]))
    assert list(found.kinds) == [Kind.TABLE_ROW]
    assert list(found.reasons) == ["too little punctuation and too few conjunctions for running text"]


@pytest.mark.parametrize(
    "text",
    [
        "Die Brücke wurde geschlossen, und die Fähre fuhr, weil das Wasser stieg.",
        "Le pont est fermé, et le bac circule, car l'eau monte encore.",
        "Мост закрыли, но паром ходит, потому что вода поднялась.",
    ],
)
def test_it_knows_the_conjunctions_of_some_languages(text: str) -> None:
    assert decide([(P, text)]) == "p"


def test_an_empty_page() -> None:
    found = mainmatter.clean("", method="ice-elaborate")
    assert (found.kept.tolist(), found.scores.tolist(), list(found.kinds), list(found.reasons)) == ([], [], [], [])


def test_a_page() -> None:
    html = f"<h1>The flood</h1><p>{RUNNING}</p><ul><li>Boats<li>Sand bags</ul><p><a href=x>Imprint</a></p>"
    assert mainmatter.clean(html, method="ice-elaborate").cleaneval == (
        f"<h> The flood\n<p> {RUNNING}\n<l> Boats\n<l> Sand bags"
    )


def flat(words: int, *others: str) -> str:
    """So many words without a meaning, the last of them others."""
    return " ".join([*["alpha"] * (words - len(others)), *others])


def test_what_running_text_reaches() -> None:
    # One conjunction in 48 words is half of what running text has, and one mark in 16 is so too.
    assert scores([(P, flat(48, "and"))]) == [pytest.approx(0.25)]
    assert scores([(P, flat(16, "rho."))]) == [pytest.approx(0.25)]


def test_both_thresholds_are_one_half() -> None:
    # 24 / 48 + 8 * 3 / 48 halves are one half, which is not enough; with a word less it is more.
    assert decide([(P, flat(48, "a,", "b,", "c.", "and"))]) == "."
    assert decide([(P, flat(47, "a,", "b,", "c.", "and"))]) == "p"
    # A heading of 15 words has nothing but its tag, one of 14 a little more.
    assert decide([(H, flat(15))]) == "."
    assert decide([(H, flat(14))]) == "h"


def by_the_paper(elements: list[tuple[str, str, bool]]) -> list[str]:
    """ICE 3.2, the last two paragraphs, for elements (tag, text, whether it has a link); shares are ours."""
    numbers = [len(text.split()) for _, text, _ in elements]

    def alone(i: int) -> float:
        if not 0 <= i < len(elements):
            return 0.0
        tag, text, _ = elements[i]
        return 0.5 * (tag == "li") + 0.15 * max(0, 1 - numbers[i] / 25) + 0.1 * text[0].isupper()

    decisions = []
    for i, (tag, text, has_link) in enumerate(elements):
        words = text.split()
        marks = sum(text.count(mark) for mark in ".,;:!?")
        conjunctions = sum(word.strip(".,").lower() in ("and", "but", "because") for word in words)
        paragraph = min(marks / len(words) * 8, 1) / 2 + min(conjunctions / len(words) * 24, 1) / 2
        next_is_long = i + 1 < len(elements) and numbers[i + 1] > 10
        heading = 0.5 * (tag[0] == "h") + 0.25 * max(0, 1 - numbers[i] / 15) + 0.25 * next_is_long
        item = alone(i) + (alone(i - 1) + alone(i + 1)) / 2 / 0.75 * 0.25
        if has_link:
            heading = item = 0.0
        best = max(paragraph, heading, item)
        if best == paragraph:
            decisions.append("p" if paragraph > 0.5 else ".")
        else:
            decisions.append("h" if best == heading else "l")
    return decisions


def test_the_preset_agrees_with_the_paper() -> None:
    rng = random.Random(8)
    pieces = "Bridge river, and but stone. because Winter Garden, the of old; summer".split()
    seen = set()
    for _ in range(200):
        elements = [
            (
                rng.choice(["p", "div", "li", "h2", "h5", "dd"]),
                " ".join(rng.choices(pieces, k=rng.choice([1, 2, 5, 9, 12, 20, 30]))),
                rng.random() < 0.2,
            )
            for _ in range(rng.randint(1, 9))
        ]
        html = "".join(f"<{tag}>{f'<a href=x>{text}</a>' if link else text}</{tag}>" for tag, text, link in elements)
        found = mainmatter.clean(html, method="ice-elaborate:preset=paper")
        assert found.document.texts == [text for _, text, _ in elements]
        letters = {P: "p", H: "h", L: "l"}
        decided = [letters[kind] if keep else "." for kind, keep in zip(found.kinds, found.kept, strict=True)]
        assert decided == by_the_paper(elements)
        seen.update(decided)
    assert seen == {"p", "h", "l", "."}


def test_the_own_tag_alone() -> None:
    assert decide([(L, "Two eggs")], parent_tag="own") == "l"  # a dump: what would stand there
    html = "<li><p>Two eggs</p></li><dl><dd>Two eggs</dd></dl>"
    assert mainmatter.clean(html, method="ice-elaborate").kept.tolist() == [True, True]
    assert mainmatter.clean(html, method="ice-elaborate:parent_tag=own").kept.tolist() == [False, False]
    with pytest.raises(InputError, match="parent_tag must be around or own, not 'x'"):
        IceElaborate(parent_tag="x")  # type: ignore[arg-type]


def test_words_as_in_the_paper() -> None:
    text = "\u6f22" * 100 + "。" * 3  # one word by its spaces, with three marks
    assert decide([(P, text)], threshold=0.3) == "."
    assert decide([(P, text)], threshold=0.3, estimate_words=False) == "p"
