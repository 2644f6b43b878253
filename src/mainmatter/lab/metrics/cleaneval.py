"""The CleanEval score of ICE (Hofmann and Weerkamp 2007), table 1: similarity by edit distance, in percent.

Words (tokens between white space) are inserted, deleted and substituted at equal cost; the distance is
divided by the length of the longer of the two texts. That is our reading: the organisers' Perl script is not
at hand. The longer text is the largest distance there can be, so that 0 and 100 are both reached, as in table
1, and that extracting too much costs as much as extracting too little.

What table 1 confirms: the combined score is the mean of the other two, which holds for all four rows of
averages, for example ice_bl (50.7 + 73.7) / 2 = 62.2.

What differs: for its score with markup, the script weighed "the extent to which contestant-inserted markup
tags indicate blocks of text starting and ending in the same places"
(https://sigwac.org.uk/cleaneval/devset.html), and it comes out some 20 points lower than its score of the
text. Ours counts each marker as one word among the others, so it stays much closer to the score of the text;
compare methods by it, but not with the published column.
"""

from __future__ import annotations

from dataclasses import dataclass

from mainmatter.lab.metrics.sequences import edit_distance
from mainmatter.text.tokens import marked_tokens, without_markers


@dataclass(frozen=True, slots=True)
class CleanEvalScore:
    """Similarity with the gold standard, from 0 to 100."""

    text_only: float
    text_and_markup: float

    @property
    def combined(self) -> float:
        """The mean of the two, by which CleanEval ranked its participants."""
        return (self.text_only + self.text_and_markup) / 2


def cleaneval_score(extracted_marked: str, gold_marked: str) -> CleanEvalScore:
    """Compare two texts with CleanEval markup; `text_and_markup` is table 1's column "text-alignment"."""
    found, wanted = marked_tokens(extracted_marked), marked_tokens(gold_marked)
    return CleanEvalScore(
        text_only=similarity(without_markers(found), without_markers(wanted)),
        text_and_markup=similarity(found, wanted),
    )


def similarity(found: list[str], wanted: list[str]) -> float:
    """100 for equal sequences, 0 if no token can stay."""
    longer = max(len(found), len(wanted))
    return 100.0 * (1 - edit_distance(found, wanted) / longer) if longer else 100.0
