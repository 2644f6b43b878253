"""Gold text to labels of blocks, word by word."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from mainmatter.clean import read
from mainmatter.datasets import load_dataset
from mainmatter.metrics import Gold
from mainmatter.metrics.bag import bag_of_words
from mainmatter.metrics.sequences import common_subsequence
from mainmatter.records import Kind, Page
from mainmatter.training import align
from mainmatter.training.align import label, make_example

DATA = Path(__file__).parents[3] / "shared" / "data"


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


def test_few_words_by_chance_do_not_count() -> None:
    html = "<p>a fox of one and two or three for four</p><p>The fox, a friend of man and dog.</p>"
    example = label(read(Page(html)), Gold("The fox, a friend of man and dog."))
    assert example.shares.tolist() == [0, 1]


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


def test_closing_gaps_keeps_an_alignment_an_alignment() -> None:
    rng = random.Random(7)
    for _ in range(300):
        page = [rng.choice("abcd") for _ in range(rng.randint(0, 30))]
        gold = [rng.choice("abcd") for _ in range(rng.randint(0, 15))]
        cuts = sorted(rng.sample(range(len(page) + 1), min(3, len(page))))
        blocks = [page[a:b] for a, b in zip([0, *cuts], [*cuts, len(page)], strict=True)]
        found = np.concatenate(align._align(blocks, gold)) if page else np.array([], int)
        used = found[found >= 0]
        assert (np.diff(used) > 0).all()
        assert all(page[i] == gold[g] for i, g in enumerate(found) if g >= 0)
        assert len(used) == common_subsequence(page, gold)


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="the gold standards are not there")
def test_labels_of_cleaneval() -> None:
    scores = []
    for page in load_dataset("cleaneval-dev", DATA):
        example = make_example(page)
        kept = "\n".join(text for text, kept in zip(example.document.texts, example.kept, strict=True) if kept)
        scores.append(bag_of_words(kept, page.gold.text or "").f1)
    assert np.mean(scores) > 0.977
