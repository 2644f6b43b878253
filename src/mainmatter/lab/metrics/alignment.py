"""Two sequences of words, aligned: the scores of ICE, NCleaner and ROUGE-L; the only file that names rapidfuzz.

rapidfuzz works on 64 cells of the table at once: about 5e10 cells a second on Latin text, a tenth of that on Chinese.
Lists of strings are compared by their 64-bit hashes.

The CleanEval score of ICE (Hofmann and Weerkamp 2007), table 1: similarity by edit distance, in percent.

Words (tokens between white space) are inserted, deleted and substituted at equal cost; the distance is
divided by the length of the longer of the two texts. That is our reading: the organisers' Perl script is not
available. The longer text is the largest distance there can be, so that 0 and 100 are both reached, as in table
1, and that extracting too much costs as much as extracting too little.

What table 1 confirms: the combined score is the mean of the other two, which holds for all four rows of
averages, for example ice_bl (50.7 + 73.7) / 2 = 62.2.

What differs: for its score with markup, the script weighed "the extent to which contestant-inserted markup
tags indicate blocks of text starting and ending in the same places"
(https://sigwac.org.uk/cleaneval/devset.html), and it comes out some 20 points lower than its score of the
text. Ours counts each marker as one word among the others, so it stays much closer to the score of the text;
compare methods by it, but not with the published column.

Precision and recall by aligning words: NCleaner (Evert 2008), sections 4 and 5, tables 2 to 4.

The paper's script, cleaneval.py v1.0, aligns with Python's difflib, a heuristic that takes the longest equal
run first. We take a longest common subsequence: it is optimal, so that difflib's count is a lower bound of
ours, and some five times faster. On every seventh page of the CleanEval test set, all text extracted, ours
aligns 0.14 % more tokens and 2 % more markers. Where several alignments are equally long, which markers are
aligned is rapidfuzz's choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import MissingExtra
from mainmatter.lab.metrics.bag import Counts, Score
from mainmatter.text.tokens import MARKERS, marked_tokens, without_markers, words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# To trace an optimal alignment back, rapidfuzz keeps one bit a cell: 2e9 cells are 250 MB.
TRACEABLE_CELLS = 2_000_000_000


def need(module: str) -> ModuleType:
    """Import a module of the `eval` extra.

    Raises:
        MissingExtra: if it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(module.partition(".")[0], "eval") from error


def common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence of two strings or lists of tokens."""
    return int(need("rapidfuzz.distance").LCSseq.similarity(a, b))


def edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Fewest insertions, deletions and substitutions that turn `a` into `b` (Levenshtein)."""
    return int(need("rapidfuzz.distance").Levenshtein.distance(a, b))


def matching_blocks(
    a: Sequence[str], b: Sequence[str], traceable_cells: int = TRACEABLE_CELLS
) -> list[tuple[int, int, int]]:
    """Align two sequences; each (i, j, size) says that a[i:i+size] stands opposite an equal b[j:j+size].

    The alignment is a longest common subsequence while its table fits into memory. Beyond that it is a
    shortest edit script, which rapidfuzz finds in bounded memory (Hirschberg): it may align fewer tokens,
    never more.
    """
    distance = need("rapidfuzz.distance")
    aligner = distance.LCSseq if len(a) * len(b) <= traceable_cells else distance.Levenshtein
    blocks = aligner.editops(a, b).as_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks if block.size]


def rouge_l(extracted: str, gold: str) -> Score:
    """ROUGE-L (Lin 2004): the words that both texts have in the same order, gaps allowed."""
    found, wanted = words(extracted), words(gold)
    return Score.from_counts(common_subsequence(found, wanted), len(found), len(wanted))


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


@dataclass(frozen=True, slots=True)
class Alignment:
    """What the alignment of a page with its gold standard counts.

    Attributes:
        words: words alone; the markup of both texts is removed before they are aligned.
        words_and_markers: words and markers alike, as the paper's script counts in tables 2 and 3.
        labelled: markers that stand at the same place and have the same label (table 4).
        unlabelled: markers that stand at the same place, whatever their label (the script's option -u).
    """

    words: Counts
    words_and_markers: Counts
    labelled: Counts
    unlabelled: Counts


def align(extracted_marked: str, gold_marked: str) -> Alignment:
    """Align two texts with CleanEval markup."""
    found, wanted = marked_tokens(extracted_marked), marked_tokens(gold_marked)
    words_and_markers, labelled = _align_marked(found, wanted)
    _, unlabelled = _align_marked(_without_labels(found), _without_labels(wanted))
    found_words, wanted_words = without_markers(found), without_markers(wanted)
    return Alignment(
        words=Counts(common_subsequence(found_words, wanted_words), len(found_words), len(wanted_words)),
        words_and_markers=words_and_markers,
        labelled=labelled,
        unlabelled=unlabelled,
    )


def _align_marked(found: list[str], wanted: list[str]) -> tuple[Counts, Counts]:
    """Count all tokens of one alignment, and the markers among them."""
    markers_before = np.cumsum([0] + [token in MARKERS for token in found])
    matched = matched_markers = 0
    for start, _, size in matching_blocks(found, wanted):
        matched += size
        matched_markers += int(markers_before[start + size] - markers_before[start])
    wanted_markers = sum(token in MARKERS for token in wanted)
    return (
        Counts(matched, len(found), len(wanted)),
        Counts(matched_markers, int(markers_before[-1]), wanted_markers),
    )


def _without_labels(tokens: list[str]) -> list[str]:
    return ["<p>" if token in MARKERS else token for token in tokens]
