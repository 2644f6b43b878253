"""Bag of words: how many words are right, whatever their order. The measure of WCXB."""

from __future__ import annotations

from collections import Counter

from mainmatter.lab.metrics.score import Score
from mainmatter.text.tokens import words


def bag_of_words(extracted: str, gold: str) -> Score:
    """Precision, recall and F1 over the multisets of words."""
    found, wanted = words(extracted), words(gold)
    matched = (Counter(found) & Counter(wanted)).total()
    return Score.from_counts(matched, len(found), len(wanted))
