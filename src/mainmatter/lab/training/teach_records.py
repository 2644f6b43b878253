"""What teaching gives: gains over the shipped model, points of the learning curve, and a lesson, which is all of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mainmatter.lab.metrics.sequences import need
from mainmatter.lab.metrics.significance import paired_t_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.trainable import Trainable

Splitting = Literal["site", "page"]

SURE = 0.05  # a gain that chance gives less often than this is one
_SAME = 1e-6  # scores that differ by less are those of a draw
_COVERED = 0.95  # of an interval
_TINY = 0.001  # a probability that need not be told more exactly


@dataclass(frozen=True, slots=True)
class Gain:
    """What teaching gains on pages that were not learned from, by one metric.

    Attributes:
        metric: the metric and its column, such as "bag f1".
        pages: on how many pages both were measured.
        shipped: the mean of the shipped model.
        taught: the mean of the taught one.
        low: the gain at the lower end of its 95 % interval.
        high: the gain at the upper end.
        p: how probable such a difference, or a larger one, is by chance (paired t-test over pages).
        wins: the pages on which the taught one is better.
        losses: the pages on which it is worse.
    """

    metric: str
    pages: int
    shipped: float
    taught: float
    low: float
    high: float
    p: float
    wins: int
    losses: int

    @property
    def gain(self) -> float:
        """The mean difference."""
        return self.taught - self.shipped

    @property
    def is_sure(self) -> bool:
        """There is a gain, and it is hardly one of chance."""
        return self.gain > _SAME and self.p < SURE

    def to_json(self) -> dict[str, Any]:
        """The same as a dictionary, with the gain itself."""
        return {**asdict(self), "gain": self.gain, "sure": self.is_sure}


def measure_gain(metric: str, shipped: Sequence[float], taught: Sequence[float]) -> Gain:
    """Compare two models page by page.

    Args:
        metric: what the scores are called.
        shipped: the scores of the shipped model.
        taught: those of the taught one, of the same pages in the same order.

    Raises:
        MissingExtra: scipy is not installed.
    """
    before, after = np.asarray(shipped, float), np.asarray(taught, float)
    difference = after - before
    test = paired_t_test(taught, shipped)
    margin = 0.0
    if test.df:
        quantile = float(need("scipy.special").stdtrit(test.df, (1 + _COVERED) / 2))
        margin = quantile * float(difference.std(ddof=1)) / math.sqrt(len(difference))
    mean = float(difference.mean())
    return Gain(
        metric,
        len(difference),
        float(before.mean()),
        float(after.mean()),
        mean - margin,
        mean + margin,
        test.p,
        int((difference > _SAME).sum()),
        int((difference < -_SAME).sum()),
    )


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the learning curve: what so many pages teach (NCleaner, figure 4).

    Attributes:
        pages: on how many pages each model was trained.
        words: of clean text in them, on average.
        trained: how many models were, each on other pages.
        gain: what they gain on the pages that they were not trained on.
    """

    pages: int
    words: int
    trained: int
    gain: Gain

    def to_json(self) -> dict[str, Any]:
        """The same as a dictionary; `measured` is on how many pages it was."""
        mine = {"pages": self.pages, "words": self.words, "trained": self.trained, "measured": self.gain.pages}
        return {**self.gain.to_json(), **mine}


@dataclass(frozen=True, slots=True)
class Step:
    """How far teaching has come: so many units of work of so many, and what is being done."""

    done: int
    of: int
    doing: str


Told = Step | Point | str  # a text is a line about what is done


@dataclass(frozen=True, slots=True)
class PageGain:
    """How both models did on one page, by the first metric."""

    page: str
    url: str | None
    shipped: float
    taught: float


@dataclass(frozen=True)
class Lesson:
    """What came of teaching: how good the taught model is on pages that it has not seen, and the model itself.

    Attributes:
        method: the method, with the parameters that it learned with.
        start: the model that learning went on from; "" if it began from nothing.
        shipped: the name of the shipped model that it is compared with.
        strength: how far it was led away from the start, from 0 to 1.
        pages: how many pages it learned from.
        sites: how many sites they are of.
        splitting: whether whole sites were left out to measure on, or single pages.
        folds: how many times some were left out.
        gains: over the shipped model, by metric, the most important one first.
        default: what the default method reaches as shipped, by the first metric; None if that is what was taught.
        all_text: what keeping all text gives, by the columns of the first metric.
        taught: what the taught model gives, by the same columns.
        curve: the learning curve; its last point is the first of the gains.
        by_page: how both did on each page.
        oracle: what a perfect choice of blocks would reach.
        skipped: pages that could not be used, with the reason.
        notes: what a reader of the figures should know.
        seconds: how long it took.
        model: the model, trained on all pages.
    """

    method: str
    start: str
    shipped: str
    strength: float
    pages: int
    sites: int
    splitting: Splitting
    folds: int
    gains: tuple[Gain, ...]
    default: float | None
    all_text: dict[str, float]
    taught: dict[str, float]
    curve: tuple[Point, ...]
    by_page: tuple[PageGain, ...]
    oracle: float
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    seconds: float
    model: Trainable[Any] = field(repr=False, compare=False)
    card: dict[str, Any] = field(repr=False, compare=False)

    @property
    def gain(self) -> Gain:
        """The gain by the first metric."""
        return self.gains[0]

    @property
    def is_recommended(self) -> bool:
        """The taught model is surely better than the shipped one, and no worse than the default method as shipped."""
        return self.gain.is_sure and not self._is_below_default

    @property
    def _is_below_default(self) -> bool:
        return self.default is not None and self.default > self.gain.taught

    @property
    def verdict(self) -> str:
        """The result in plain words: whether to use the taught model or to keep the shipped one."""
        gain = self.gain
        figures = (
            f"{gain.metric} {gain.taught:.3f} instead of {gain.shipped:.3f} on pages that it had not seen "
            f"({gain.gain:+.3f}, 95 % interval {gain.low:+.3f} to {gain.high:+.3f}, {_tell_p(gain.p)}; "
            f"better on {gain.wins} of {gain.pages} pages, worse on {gain.losses})"
        )
        if gain.is_sure and self._is_below_default:
            return f"Better than {self.shipped} as shipped, but not as good as main: {figures}. Use main."
        if gain.is_sure:
            return f"Better: {figures}. Use the taught model."
        if not gain.wins and not gain.losses:
            return f"No difference: {figures}. Keep the shipped model."
        if gain.gain > 0:
            return f"No sure gain: {figures}. That may be chance: keep the shipped model, or label more pages."
        return f"No gain: {figures}. Keep the shipped model."

    def to_json(self) -> dict[str, Any]:
        """All of it but the model, as a dictionary that JSON can hold."""
        plain = ("method start shipped strength pages sites splitting folds default all_text taught oracle").split()
        return {
            **{name: getattr(self, name) for name in plain},
            "recommended": self.is_recommended,
            "verdict": self.verdict,
            "gains": [gain.to_json() for gain in self.gains],
            "curve": [point.to_json() for point in self.curve],
            "by_page": [asdict(page) for page in self.by_page],
            "skipped": [list(each) for each in self.skipped],
            "notes": list(self.notes),
            "seconds": round(self.seconds, 1),
        }


def _tell_p(p: float) -> str:
    return "p < 0.001" if p < _TINY else f"p = {p:.3f}"
