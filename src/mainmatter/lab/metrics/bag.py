r"""Words, runs of words and snippets that two texts share, as precision, recall and F1.

bag       how many words are right, whatever their order: the measure of WCXB
shingles  runs of four words, so that a little of the order counts: the measure of the article extraction benchmark of
          Scrapinghub (now Zyte), https://github.com/scrapinghub/article-extraction-benchmark, with its tokens: runs of
          `\w`, case kept
snippets  whether what must be there is there, and what must not be is not, counted as in trafilatura's evaluation
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Iterable

SHINGLE_WORDS = 4

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and their harmonic mean, each from 0 to 1."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def from_counts(cls, matched: float, extracted: float, gold: float) -> Score:
        """Score `matched` items among those extracted and those of the gold standard.

        Nothing extracted where nothing was to be found is right (1); if only one side is empty, all is wrong
        (0).
        """
        if not extracted and not gold:
            return cls(1.0, 1.0, 1.0)
        precision = matched / extracted if extracted else 0.0
        recall = matched / gold if gold else 0.0
        return cls(precision, recall, 2 * matched / (extracted + gold))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items two texts share, and how many each has; counts of pages add up to micro averages."""

    matched: int
    extracted: int
    gold: int

    @property
    def score(self) -> Score:
        """Precision, recall and F1."""
        return Score.from_counts(self.matched, self.extracted, self.gold)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.matched + other.matched, self.extracted + other.extracted, self.gold + other.gold)


def bag_of_words(extracted: str, gold: str) -> Score:
    """Precision, recall and F1 over the multisets of words."""
    found, wanted = words(extracted), words(gold)
    matched = (Counter(found) & Counter(wanted)).total()
    return Score.from_counts(matched, len(found), len(wanted))


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Every run of four words, with how often it occurs; a text of fewer words is one shingle."""
    tokens = _WORD.findall(text)
    if 0 < len(tokens) < SHINGLE_WORDS:
        return Counter([tuple(tokens)])
    return Counter(zip(*(tokens[start:] for start in range(SHINGLE_WORDS)), strict=False))


def count_shingles(extracted: str, gold: str) -> Counts:
    """Compare the multisets of shingles of two texts."""
    found, wanted = shingles(extracted), shingles(gold)
    return Counts((found & wanted).total(), found.total(), wanted.total())


def benchmark_score(pages: list[Counts]) -> Score:
    """The benchmark's figures for a set of pages.

    Its precision is the mean over the pages where something was extracted, its recall the mean over those
    where there is something to find, and its F1 is the harmonic mean of these two, not the mean of the pages'
    F1.
    """
    precisions = [page.matched / page.extracted for page in pages if page.extracted]
    recalls = [page.matched / page.gold for page in pages if page.gold]
    precision = sum(precisions) / len(precisions) if precisions else 0.0
    recall = sum(recalls) / len(recalls) if recalls else 0.0
    both = precision + recall
    return Score(precision, recall, 2 * precision * recall / both if both else 0.0)


@dataclass(frozen=True, slots=True)
class SnippetCounts:
    """Snippets of a page or, added up, of a set of pages.

    As in trafilatura's evaluation, a share of nothing is 0.
    """

    true_positives: int  # must be there and is
    false_negatives: int  # must be there and is not
    false_positives: int  # must not be there and is
    true_negatives: int  # must not be there and is not

    @property
    def precision(self) -> float:
        """The share of the snippets found that were wanted."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """The share of the snippets wanted that were found."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        wrong = self.false_positives + self.false_negatives
        return _share(2 * self.true_positives, 2 * self.true_positives + wrong)

    @property
    def accuracy(self) -> float:
        """The share of all snippets that are as they must be."""
        right = self.true_positives + self.true_negatives
        return _share(right, right + self.false_positives + self.false_negatives)

    def __add__(self, other: SnippetCounts) -> SnippetCounts:
        return SnippetCounts(
            self.true_positives + other.true_positives,
            self.false_negatives + other.false_negatives,
            self.false_positives + other.false_positives,
            self.true_negatives + other.true_negatives,
        )


def count_snippets(extracted: str, must_have: Iterable[str] = (), must_not_have: Iterable[str] = ()) -> SnippetCounts:
    """Look for each snippet; case matters, the amount of white space does not; blank ones are skipped."""
    text = _spaced(extracted)
    wanted = [snippet in text for snippet in map(_spaced, must_have) if snippet]
    unwanted = [snippet in text for snippet in map(_spaced, must_not_have) if snippet]
    return SnippetCounts(
        true_positives=wanted.count(True),
        false_negatives=wanted.count(False),
        false_positives=unwanted.count(True),
        true_negatives=unwanted.count(False),
    )


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
