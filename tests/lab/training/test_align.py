"""Gold text to labels of blocks, word by word."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from mainmatter.api import read
from mainmatter.lab.datasets import GoldPage, load_dataset
from mainmatter.lab.metrics.alignment import common_subsequence
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training import examples
from mainmatter.lab.training.examples import align_snippets, label, make_example
from mainmatter.records import Gold, Kind, Page

DATA = Path(__file__).parents[4] / "shared" / "data"


def labels(html: str, gold: Gold) -> list[tuple[float, str]]:
    example = label(read(Page(html)), gold)
    return list(zip(example.shares.round(2).tolist(), example.kinds, strict=True))


def test_blocks_get_the_share_of_their_words_that_is_gold() -> None:
    html = "<ul><li>Home<li>About us</ul><h2>On foxes</h2><p>The quick brown fox. Advert here!</p><p>© 2024</p>"
    found = labels(html, Gold("On foxes\n\nThe quick brown fox."))
    assert [share for share, _ in found] == [0, 0, 1, pytest.approx(4 / 6, abs=0.01), 0]


def test_the_same_word_in_a_menu_is_not_gold() -> None:
    html = "<p>News</p><p>Sport</p><h1>News from the fox</h1><p>It was seen today.</p><p>seen</p><p>today</p>"
    example = label(read(Page(html)), Gold("News from the fox. It was seen today."))
    assert example.kept.tolist() == [False, False, True, True, False, False]


MENU = "<p>home news sport weather fox travel shop jobs help imprint</p>"  # one of ten words is in the gold text


def test_few_words_by_chance_do_not_count() -> None:
    # The gold text begins with a headline that the page lacks, so its words are free for others to take.
    html = f"{MENU}<p>The quick brown one jumps.</p>"
    example = label(read(Page(html)), Gold("Fox hunting. The quick brown one jumps."))
    assert example.shares.tolist() == [0, 1]


def test_words_by_chance_do_not_take_the_place_of_others() -> None:
    # A longest common subsequence has "one two" of the menu and "three" of the text; without the menu, "two three".
    html = "<p>one two home news map help jobs</p><p>two three one</p>"
    example = label(read(Page(html)), Gold("one two three"))
    assert example.shares.tolist() == [0, pytest.approx(2 / 3)]


@pytest.mark.parametrize(
    ("block", "share"),
    [
        ("fox hunting today a b c d e f g", 0.3),  # three of ten words are as many as it takes
        ("fox hunting a b c d e", 0),  # two of seven are fewer
        ("fox hunting today a b c d e f g h", 0),
    ],
)
def test_a_block_counts_from_three_words_of_ten(block: str, share: float) -> None:
    html = f"<p>{block}</p><p>The quick brown one jumps.</p>"
    example = label(read(Page(html)), Gold("Fox hunting today. The quick brown one jumps."))
    assert example.shares.tolist() == [share, 1]


def test_the_first_word_of_a_gold_text_tells_a_kind_too() -> None:
    found = labels("<div>Foxes</div><p>They run.</p>", Gold("Foxes. They run.", "<h>Foxes <l>They run."))
    assert found == [(1, Kind.HEADING), (1, Kind.LIST_ITEM)]


def test_kinds_are_the_golds_where_it_has_them() -> None:
    html = "<div>On foxes</div><div>quick ones</div><p>brown ones</p><h1>Elsewhere</h1><li>x y z</li>"
    marked = "<h> On foxes\n<l>quick ones\n<L> brown ones"
    found = labels(html, Gold("On foxes\nquick ones\nbrown ones", marked))
    assert [kind for _, kind in found] == [
        Kind.HEADING,
        Kind.LIST_ITEM,
        Kind.LIST_ITEM,
        Kind.HEADING,  # by its own markup: the gold standard has it not
        Kind.LIST_ITEM,
    ]
    assert [share for share, _ in found] == [1, 1, 1, 0, 0]


def test_kinds_are_the_pages_own_otherwise() -> None:
    html = "<h1>One</h1><li>two</li><pre>three</pre><table><tr><td>four<td>five</table>"
    found = labels(html, Gold("One two three four five"))
    assert [kind for _, kind in found] == [Kind.HEADING, Kind.LIST_ITEM, Kind.PARAGRAPH, Kind.PARAGRAPH]


@pytest.mark.parametrize(("html", "text"), [("", "words"), ("<p>words", ""), ("<p>!!!</p><p>…", "words"), ("", "")])
def test_nothing_to_align(html: str, text: str) -> None:
    example = label(read(Page(html)), Gold(text))
    assert not example.kept.any()
    assert len(example.shares) == len(example.kinds) == len(example.document)


@pytest.mark.parametrize(
    ("page", "gold", "expected"),
    [
        ("a a b", "a b", [-1, 0, 1]),  # runs of one word each: the left one moves to the right
        ("b a b b", "a b a b", [1, 2, 3, -1]),  # the last word moves to the longer run on its left
        ("c a a", "d c a", [1, -1, 2]),  # a run that is as long as the one on its left stays
    ],
)
def test_words_move_to_the_longer_run(page: str, gold: str, expected: list[int]) -> None:
    [found] = examples._align([page.split()], gold.split())
    assert found.tolist() == expected


def test_closing_gaps_keeps_an_alignment_an_alignment() -> None:
    rng = random.Random(7)
    for _ in range(300):
        page = [rng.choice("abcd") for _ in range(rng.randint(0, 30))]
        gold = [rng.choice("abcd") for _ in range(rng.randint(0, 15))]
        cuts = sorted(rng.sample(range(len(page) + 1), min(3, len(page))))
        blocks = [page[a:b] for a, b in zip([0, *cuts], [*cuts, len(page)], strict=True)]
        found = np.concatenate(examples._align(blocks, gold)) if page else np.array([], int)
        used = found[found >= 0]
        assert (np.diff(used) > 0).all()
        assert all(page[i] == gold[g] for i, g in enumerate(found) if g >= 0)
        assert len(used) == common_subsequence(page, gold)


def snippet_labels(
    html: str, must_have: tuple[str, ...] = (), must_not_have: tuple[str, ...] = ()
) -> list[float | None]:
    """One label a block; None where nothing is known."""
    found = align_snippets(read(Page(html)), Gold(must_have=must_have, must_not_have=must_not_have))
    return [None if np.isnan(share) else share for share in found.tolist()]


def test_snippets_label_the_blocks_that_hold_them() -> None:
    html = "<p>Home</p><h1>On foxes</h1><p>The quick brown fox jumps.</p><p>Another fox.</p><p>© 2024 Zoo</p>"
    assert snippet_labels(html, ("quick brown", "On foxes"), ("2024",)) == [None, 1, 1, None, 0]
    assert snippet_labels(html, ("fox",)) == [None, 1, 1, 1, None]
    assert snippet_labels(html) == [None] * 5


def test_white_space_in_snippets_does_not_matter() -> None:
    html = "<p>The  quick<br>brown\n fox</p><table><tr><td>a<td>b</table>"
    assert snippet_labels(html, ("\tquick brown\nfox ",), ("a  b",)) == [1, 0]


def test_snippets_that_are_not_there_or_empty() -> None:
    assert snippet_labels("<p>a fox</p><p>x", ("a dog", "", "  "), ("", "\n")) == [None, None]
    assert snippet_labels("", ("a",), ("b",)) == []
    assert snippet_labels("<p>a</p><p>fox", ("a fox",)) == [None, None]  # it is in neither of them


def test_what_must_be_kept_is_kept_whatever_else_is_in_the_block() -> None:
    html = "<p>A fox. Share this!</p><p>Share this!</p>"
    assert snippet_labels(html, ("A fox",), ("Share this",)) == [1, 0]


def test_pages_with_snippets_only_are_labelled_by_them() -> None:
    page = Page("<h1>On foxes</h1><p>The fox.</p><p>Imprint</p>")
    by_snippets = make_example(GoldPage(page, Gold(must_have=("The fox",), must_not_have=("Imprint",)), {}))
    assert by_snippets.shares[1:].tolist() == [1, 0]
    assert np.isnan(by_snippets.shares[0])
    assert by_snippets.kept.tolist() == [False, True, False]
    assert list(by_snippets.kinds) == [Kind.HEADING, Kind.PARAGRAPH, Kind.PARAGRAPH]
    both = make_example(GoldPage(page, Gold("On foxes. The fox.", must_not_have=("The fox",)), {}))
    assert both.shares.tolist() == [1, 1, 0]  # the text says more
    nothing = make_example(GoldPage(page, Gold("", must_have=("The fox",)), {}))
    assert nothing.shares.tolist() == [0, 0, 0]  # an empty text is a text


def test_an_example_knows_the_type_of_its_page() -> None:
    page = Page("<p>The fox.")
    for gold in (Gold("The fox."), Gold(must_have=("fox",))):
        assert make_example(GoldPage(page, gold, {"page_type": "forum", "lang": "en"})).page_type == "forum"
        assert make_example(GoldPage(page, gold, {"lang": "en"})).page_type is None


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="the gold standards are not there")
def test_labels_of_cleaneval() -> None:
    scores = []
    for page in load_dataset("cleaneval-dev", DATA):
        example = make_example(page)
        kept = "\n".join(text for text, kept in zip(example.document.texts, example.kept, strict=True) if kept)
        scores.append(bag_of_words(kept, page.gold.text or "").f1)
    assert np.mean(scores) > 0.977
