"""Annotators' labels of blocks, as methods learn them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mainmatter.api import read
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.datasets.labels import Label, make_references
from mainmatter.lab.training.examples import make_example, use_labels
from mainmatter.lab.training.train import observe_pages
from mainmatter.main.method import Main
from mainmatter.records import COMMENT, Gold, Kind, Page
from mainmatter.registry import make_untrained
from toys import LONG

HTML = (
    f"<ul><li>Home<li>News</ul><h1>Otters</h1><p>{LONG}</p><div class=comments><p>Anna: {LONG}</p></div><p>Bert: x</p>"
)
SAID = ("d", "d", "h", "k", "d", "c")  # block 4 is in what the page calls comments, and none for the annotator


def gold_page(said: str = "".join(SAID), html: str = HTML) -> GoldPage:
    texts = read(Page(HTML)).texts
    kinds = {"h": "heading", "c": "comment"}
    labels = tuple(
        Label(letter in "kh", kinds.get(letter, "paragraph"), ref, text)  # type: ignore[arg-type]
        for ref, text, letter in zip(make_references(texts), texts, said, strict=True)
        if letter != "-"
    )
    kept = "\n".join(label.text for label in labels if label.kept)
    return GoldPage(Page(html, id="otters"), Gold(kept), {}, labels)


def test_main_learns_which_blocks_annotators_call_comments() -> None:
    observed = Main().observe(make_example(gold_page())).example
    assert observed.labels.tolist() == [-1, -1, -1, -1, -1, COMMENT]
    assert observed.shares.tolist() == [0, 0, 1, 1, 0, 0]
    observed = Main().observe(make_example(gold_page("ddhk--"), unknown=math.nan)).example
    assert observed.labels.tolist() == [
        -1,
        -1,
        -1,
        -1,
        COMMENT,
        -1,
    ]  # where they said nothing, the page's own names tell
    assert np.isnan(observed.shares).tolist() == [False] * 4 + [True] * 2


@pytest.mark.parametrize(("method", "is_nan"), [("main", True), ("ncleaner", False)])
def test_what_annotators_left_open_is_unknown_only_to_methods_that_can_take_it(method: str, is_nan: bool) -> None:
    observed = observe_pages(make_untrained(method), [gold_page("--hkdd")])
    assert observed.skipped == []
    [observation] = observed.observations
    numbers = observation.example.shares if method == "main" else observation.matched
    assert bool(np.isnan(numbers).any()) == is_nan


def test_labels_are_found_again_on_a_page_that_changed_a_little() -> None:
    changed = HTML.replace("<h1>", "<p>An advert that was not there before</p><h1>").replace(
        "Bert: x", "Bert: <b>x</b>"
    )
    example = make_example(gold_page(html=changed))
    assert example.kept.tolist() == [False, False, False, True, True, False, False]


@pytest.mark.parametrize(
    ("found", "lost", "are_used"),
    [(5, 5, True), (5, 6, False), (9, 11, False), (6, 5, True)],  # half of them may be lost
)
def test_labels_are_used_unless_most_are_lost(found: int, lost: int, are_used: bool) -> None:
    there, gone = (
        (f"paragraph {number} is here" for number in range(found)),
        ("yonder " * n for n in range(1, lost + 1)),
    )
    texts = [*there, *gone]
    labels = [Label(True, "paragraph", *both) for both in zip(make_references(texts), texts, strict=True)]
    document = read(Page("".join(f"<p>{text}</p>" for text in texts[:found])))
    used = use_labels(document, labels)
    assert (used is not None) == are_used
    if used is not None:
        assert used[0].tolist() == [1] * found


def test_blocks_without_a_label_keep_what_the_page_calls_them() -> None:
    document = read(Page("<h2>One</h2><li>two</li><pre>three</pre><p>four"))
    texts = document.texts
    labels = [Label(True, "comment", make_references(texts)[3], texts[3])]
    used = use_labels(document, labels)
    assert used is not None
    shares, kinds, found = used
    assert shares.tolist() == [0, 0, 0, 1]  # as if annotators had dropped the others
    assert kinds == [Kind.HEADING, Kind.LIST_ITEM, Kind.PARAGRAPH, Kind.PARAGRAPH]
    assert found.tolist() == [-1, -1, -1, COMMENT]
    assert make_example(GoldPage(document.page, Gold("four"), {}, tuple(labels))).shares.tolist() == [0, 0, 0, 1]


def test_labels_win_over_the_text() -> None:
    page = gold_page()
    other = GoldPage(page.page, Gold("Home News"), {}, page.labels)
    assert make_example(other).shares.tolist() == [0, 0, 1, 1, 0, 0]
    assert make_example(GoldPage(page.page, Gold("Home News"), {})).kept.tolist() == [True, True, *[False] * 4]
