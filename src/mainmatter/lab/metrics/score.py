"""Precision, recall and F1, and the counts that they are made of."""

from __future__ import annotations

from dataclasses import dataclass


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
