"""Density, section 4: cases worked out by hand from the paper's definition."""

from __future__ import annotations

import random
from typing import Any

import pytest

import mainmatter
from mainmatter.papers.density.method import Density
from mainmatter.records import Columns, Document, Extraction, Page


def document(lengths: list[int], positions: list[int]) -> Document:
    return Document(Page(""), Columns.of(["x" * length for length in lengths], positions=positions))


def kept(lengths: list[int], positions: list[int] | None = None, **parameters: Any) -> str:
    if positions is None:
        positions = list(range(len(lengths)))
    decided = Density(**parameters).extract(document(lengths, positions)).kept
    return "".join("x" if keep else "." for keep in decided)


@pytest.mark.parametrize(
    ("lengths", "positions", "expected"),
    [
        ([5], [0], "x"),
        ([10, 10, 10], [0, 1, 2], "xxx"),
        # 100 * 0.333 = 33.3: 33 is not longer than that, 34 is.
        ([33, 100, 34], [0, 1, 2], ".xx"),
        # |i - j| < 4: a difference of 3 is near, one of 4 is not.
        ([50, 100], [0, 3], "xx"),
        ([50, 100], [0, 4], ".x"),
        # Short texts within the region are kept, outside of it they are not.
        ([5, 100, 5, 5, 90, 5], [0, 1, 2, 3, 4, 5], ".xxxx."),
        # The region grows from text to text: each is near the one before, though not near the longest.
        ([40, 40, 40, 100], [0, 3, 6, 9], "xxxx"),
        # A text that is too far away is not reached, nor what is behind it.
        ([40, 40, 100, 40], [0, 1, 10, 11], "..xx"),
        ([100, 40, 40, 40], [0, 3, 7, 8], "xx.."),
        # Of two longest texts, the first.
        ([100, 10, 100], [0, 5, 10], "x.."),
    ],
)
def test_regions(lengths: list[int], positions: list[int], expected: str) -> None:
    assert kept(lengths, positions) == expected


def test_parameters() -> None:
    lengths, positions = [20, 100, 60, 10, 60], [0, 2, 4, 6, 10]
    assert kept(lengths, positions) == ".xx.."
    assert kept(lengths, positions, c1=0.1) == "xxx.."
    assert kept(lengths, positions, c2=7) == ".xxxx"
    assert kept(lengths, positions, c1=0.65) == ".x..."
    assert kept(lengths, positions, c1=1) == ".x..."
    assert kept(lengths, positions, c1=0, c2=100) == "xxxxx"


def test_scores_and_reasons() -> None:
    found = Density().extract(document([5, 100, 5, 50, 5, 60], [1, 2, 3, 4, 5, 9]))
    assert found.scores.tolist() == [0.05, 1.0, 0.05, 0.5, 0.05, 0.6]
    assert list(found.reasons) == [
        "outside the dense region",
        "the longest text, where the dense region starts",
        "between two long texts of the dense region",
        "long, and near the dense region's other texts",
        "outside the dense region",
        "long, but too many tags away from the dense region",
    ]
    assert found.kept.tolist() == [False, True, True, True, False, False]


def test_an_empty_page() -> None:
    found = Density().extract(document([], []))
    assert (found.kept.tolist(), found.scores.tolist(), list(found.reasons)) == ([], [], [])


def region_of_the_paper(lengths: list[int], positions: list[int], c1: float, c2: int) -> str:
    """The algorithm as the paper words it: add strings to R until no more can be added."""
    cutoff = max(lengths) * c1
    region = {lengths.index(max(lengths))}
    while True:
        more = {
            i
            for i, length in enumerate(lengths)
            if i not in region and length > cutoff and any(abs(positions[i] - positions[j]) < c2 for j in region)
        }
        if not more:
            break
        region |= more
    return "".join("x" if min(region) <= i <= max(region) else "." for i in range(len(lengths)))


def test_it_agrees_with_the_paper_word_by_word() -> None:
    rng = random.Random(4)
    for _ in range(500):
        count = rng.randint(1, 30)
        lengths = [rng.randint(1, 60) for _ in range(count)]
        positions = sorted(rng.sample(range(count * 4), count))
        c1, c2 = rng.choice([0.0, 0.2, 0.333, 0.6, 0.9]), rng.randint(1, 9)
        assert kept(lengths, positions, c1=c1, c2=c2) == region_of_the_paper(lengths, positions, c1, c2)


def test_a_page() -> None:
    sentence = "The river rose by two metres in the night, and the old bridge had to be closed. "
    html = f"""<ul><li>Home<li>News<li>Sport</ul>
      <div><h1>Bridge closed</h1><p>{sentence * 2}</p><p>{sentence}</p><h2>What next</h2><p>{sentence * 2}</p></div>
      <ul><li>Imprint<li>Contact</ul><div><div><div><p>{sentence}</p></div></div></div>"""
    found: Extraction = mainmatter.clean(html, method="density")
    # The last paragraph is long enough, but ul, li, li, div, div, div, p stand before it. The title is not inside.
    assert [block.text.split()[0] for block in found.blocks] == ["The", "The", "What", "The"]
    assert [block.tag for block in found.blocks] == ["p", "p", "h2", "p"]
