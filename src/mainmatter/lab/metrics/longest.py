"""Longest common substring and subsequence of characters: Density (Arias et al. 2009), section 5.2.

White space is removed first, as the paper does for all its results (section 5.3). The substring punishes
every gap, the subsequence only what is missing or too much. Both are precision, recall and F1 of the common
length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mainmatter.lab.metrics.score import Score
from mainmatter.lab.metrics.sequences import common_subsequence
from mainmatter.lab.metrics.substring import CommonSubstring, code_points, longest_common_substring

# Up to so many pairs of characters (316,000 on both sides) the subsequence is exact. They take 2 s on Latin
# text and, at worst, 20 s on Chinese.
EXACT_CELLS = 100_000_000_000

# A cut at the longest common run must save this share of the pairs, or the texts are cut in the middle.
_WORTHWHILE_SAVING = 0.25


@dataclass(frozen=True, slots=True)
class LongestScores:
    """How much of two texts is one common run, and how much is common in the same order."""

    substring: Score
    subsequence: Score


def longest_common(extracted: str, gold: str) -> LongestScores:
    """Score both lengths (Density, tables 2 and 3)."""
    found, wanted = without_spaces(extracted), without_spaces(gold)
    run = longest_common_substring(found, wanted)
    return LongestScores(
        substring=Score.from_counts(run.length, len(found), len(wanted)),
        subsequence=Score.from_counts(subsequence_length(found, wanted), len(found), len(wanted)),
    )


def without_spaces(text: str) -> str:
    """The text without any white space."""
    return "".join(text.split())


def subsequence_length(a: str, b: str, exact_cells: int = EXACT_CELLS) -> int:
    """Length of the longest common subsequence; a lower bound of it where both texts are very long.

    What both texts begin and end with is set aside, which keeps the length exact. If more than `exact_cells`
    pairs of characters remain, the texts are cut in two, at their longest common run or in the middle, and
    each side is taken by itself. What the sides have in common, with the run between them, is common to the
    whole, hence a lower bound; it is the true length whenever some longest subsequence goes through the cut.
    """
    a, b, same = _without_common_ends(a, b)
    if len(a) * len(b) <= exact_cells:
        return same + common_subsequence(a, b)
    run = longest_common_substring(a, b)
    if not run.length:
        return same
    if not _is_good_cut(run, a, b):
        run = CommonSubstring(len(a) // 2, len(b) // 2, 0)
    left = subsequence_length(a[: run.start_a], b[: run.start_b], exact_cells)
    right = subsequence_length(a[run.end_a :], b[run.end_b :], exact_cells)
    return same + left + run.length + right


def _is_good_cut(run: CommonSubstring, a: str, b: str) -> bool:
    """Does a cut at this run save work, and rule out no more common characters than the run itself has?

    A run that stands early in one text and late in the other may be a coincidence; it rules out much.
    """
    after_a, after_b = len(a) - run.end_a, len(b) - run.end_b
    possible = min(run.start_a, run.start_b) + run.length + min(after_a, after_b)
    pairs = run.start_a * run.start_b + after_a * after_b
    saves_enough = pairs <= (1 - _WORTHWHILE_SAVING) * len(a) * len(b)
    return saves_enough and min(len(a), len(b)) - possible <= run.length


def _without_common_ends(a: str, b: str) -> tuple[str, str, int]:
    start = _common_prefix(a, b)
    a, b = a[start:], b[start:]
    end = _common_prefix(a[::-1], b[::-1])
    return a[: len(a) - end], b[: len(b) - end], start + end


def _common_prefix(a: str, b: str) -> int:
    shorter = min(len(a), len(b))
    differs = np.flatnonzero(code_points(a[:shorter]) != code_points(b[:shorter]))
    return int(differs[0]) if differs.size else shorter
