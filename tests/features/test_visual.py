"""FIASCO 3.3: the place where features of rendered pages come in."""

from __future__ import annotations

import mainmatter
from mainmatter.features.visual import VISUAL, visual_features
from mainmatter.records import Page


def test_none_without_a_table() -> None:
    document = mainmatter.read(Page("<p>one<p>two"))
    assert visual_features(document).tolist() == [[0] * len(VISUAL)] * 2


def test_values_from_a_table() -> None:
    document = mainmatter.read(Page("<p>one<p>two"))
    document.source.visual = {document.blocks[1].xpath: [0.97, 0.0, 0.61, 1.0, float("nan")]}  # type: ignore[attr-defined]
    assert visual_features(document).tolist() == [[0, 0, 0, 0, 0], [0.97, 0, 0.61, 1, 0]]


def test_no_value_is_beyond_what_single_floats_hold() -> None:
    document = mainmatter.read(Page("<p>one"))
    document.source.visual = {document.blocks[0].xpath: [float("inf"), float("-inf"), 1e300, -5.0, 0.5]}  # type: ignore[attr-defined]
    assert visual_features(document).tolist() == [[1e9, -1e9, 1e9, -5, 0.5]]
