"""Snippets: is what must be there there, and what must not be not? Counted as in trafilatura's evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


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
