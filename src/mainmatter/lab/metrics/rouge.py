"""ROUGE-L (Lin 2004): the longest common subsequence of words, as precision, recall and F1."""

from __future__ import annotations

from mainmatter.lab.metrics.score import Score
from mainmatter.lab.metrics.sequences import common_subsequence
from mainmatter.text.tokens import words


def rouge_l(extracted: str, gold: str) -> Score:
    """Score the words that both texts have in the same order, gaps allowed."""
    found, wanted = words(extracted), words(gold)
    return Score.from_counts(common_subsequence(found, wanted), len(found), len(wanted))
