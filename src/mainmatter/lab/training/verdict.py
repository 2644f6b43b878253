"""How probable it is that a taught model is better than the shipped one, on other pages of the kind it was taught with.

For each given page, we know how much better the taught model was while the page was left out: a mean gain d with its
standard error s. Judging by d alone is too cautious with few pages, since teaching mostly helps. So we begin with
experience: the true gains on kinds of pages are normally distributed, and what is measured at hand differs from the
true one by s. Both are normal, so there is a formula for the probability that the true gain is above 0. The numbers of
experience were fitted to trials in which the true gain was measured on many other pages: docs/results/teaching.md has
them, and shows that of models that are called 90 % likely better at least as many are.

What people prefer who compare both models' texts without knowing which is which is further evidence (`weigh_answers`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import comb, erf, sqrt
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

# The difference of two models on a page varies by as much. A few may agree by chance, so this counts as some more.
PAGE_SPREAD, COUNTS_AS_PAGES = 0.12, 4

LIKELY = 0.9  # of the models that are this probably better, at most one in ten is not
UNLIKELY = 0.5
MOST_PAGES = 60  # more that you may be asked to label


@dataclass(frozen=True, slots=True)
class Experience:
    """What is known about teaching before anything is measured, in F1.

    Attributes:
        expected: the gain to expect.
        spread: the standard deviation of the true gain from kind to kind of pages.
    """

    expected: float
    spread: float


# What `scripts/teaching_curve.py report` fits to all of its trials.
EXPERIENCE = Experience(expected=0.038, spread=0.044)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known about a taught model's gain on other pages.

    Attributes:
        probability: that there is one, from 0 to 1.
        expected: the gain to expect.
        spread: the standard deviation of what it may be.
        more_pages: about how many pages more would settle it; 0 if it is settled, None if more than `MOST_PAGES`.
    """

    probability: float
    expected: float
    spread: float
    more_pages: int | None


def judge_gain(differences: Sequence[float], sites: Sequence[Hashable], experience: Experience = EXPERIENCE) -> Outlook:
    """How probable a gain is.

    Args:
        differences: by how much the taught model's score is above the shipped one's, on each page while left out.
        sites: of what each page is: pages of one site are alike, and count as little more than one. Where single pages
            were left out, each page is its own.
        experience: what is known beforehand.
    """
    gain, error = fmean(differences), standard_error(differences, sites)
    expected, spread = _posterior(experience, gain, error)
    count = len(differences)
    more = range(MOST_PAGES + 1)
    settled = (
        number for number in more if _is_settled(*_posterior(experience, gain, error * sqrt(count / (count + number))))
    )
    return Outlook(_normal(expected / spread), expected, spread, next(settled, None))


def standard_error(differences: Sequence[float], sites: Sequence[Hashable]) -> float:
    """That of the mean difference, as if some pages more had been measured that differ as pages usually do."""
    mean = fmean(differences)
    by_site: dict[Hashable, float] = defaultdict(float)
    for difference, site in zip(differences, sites, strict=True):
        by_site[site] += difference - mean
    squares = sum(each * each for each in by_site.values()) + COUNTS_AS_PAGES * PAGE_SPREAD**2
    return sqrt(squares / (len(differences) - 1 + COUNTS_AS_PAGES) / len(differences))


def weigh_answers(probability: float, wins: int, losses: int) -> float:
    """The probability after a blind comparison of both models' texts.

    If the taught model is better, it is preferred on more than half of all pages on which one is preferred, and all
    shares above a half are as probable as each other; if it is worse, likewise below a half. So the odds are multiplied
    by P / (1 - P), where P is the probability that as many tosses of a coin and one more show at most so many heads as
    the taught model was preferred: a sign test.

    Args:
        probability: that the taught model is better, from 0 to 1, before.
        wins: on how many pages its text was preferred.
        losses: on how many the other one's; pages without a preference do not count.
    """
    tosses = wins + losses + 1
    heads = sum(comb(tosses, number) for number in range(wins + 1)) / 2.0**tosses
    better, worse = probability * heads, (1 - probability) * (1 - heads)
    return better / (better + worse)


def _posterior(experience: Experience, gain: float, error: float) -> tuple[float, float]:
    """Mean and deviation of the true gain, given what was measured."""
    of_experience, of_pages = 1 / experience.spread**2, 1 / error**2
    precision = of_experience + of_pages
    return (experience.expected * of_experience + gain * of_pages) / precision, sqrt(1 / precision)


def _is_settled(expected: float, spread: float) -> bool:
    return not 1 - LIKELY < _normal(expected / spread) < LIKELY


def _normal(deviations: float) -> float:
    """The probability that a normal variable is below so many deviations."""
    return (1 + erf(deviations / sqrt(2))) / 2
