"""The two best methods of a dataset, page by page: who wins where, and whether it may be chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.errors import MissingExtra
from mainmatter.lab.metrics.significance import TTest, paired_t_test
from mainmatter.lab.reports.study import page_scores

if TYPE_CHECKING:
    from mainmatter.lab.evaluation import Evaluation
    from mainmatter.lab.reports.study import Study

_SAME = 1e-9  # a smaller difference is none
_EXTREMES = 5


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two methods on the same pages.

    Attributes:
        first: the one with the higher score.
        second: the other one.
        differences: of each page that both were measured on: its id, and how much higher the first one's score is.
        test: Student's paired t-test; None if what it needs is not installed.
    """

    first: Evaluation
    second: Evaluation
    differences: tuple[tuple[str, float], ...]
    test: TTest | None

    @property
    def wins(self) -> int:
        """On how many pages the first is better."""
        return sum(difference > _SAME for _, difference in self.differences)

    @property
    def losses(self) -> int:
        """On how many pages the second is better."""
        return sum(difference < -_SAME for _, difference in self.differences)

    @property
    def ties(self) -> int:
        """On how many pages they are equally good."""
        return len(self.differences) - self.wins - self.losses

    @property
    def mean(self) -> float:
        """By how much the first is better, a page."""
        return sum(difference for _, difference in self.differences) / max(1, len(self.differences))

    @property
    def extremes(self) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """The pages on which the first wins most, and those on which it loses most."""
        ranked = sorted(self.differences, key=lambda one: -one[1])
        gains = [one for one in ranked[:_EXTREMES] if one[1] > _SAME]
        return gains, [one for one in reversed(ranked[-_EXTREMES:]) if one[1] < -_SAME]


def ranking(study: Study) -> list[Evaluation]:
    """The methods that were measured, by the headline figure of the leading metric, best first."""
    metric = study.metric
    if metric is None:
        return []
    measured = [one for one in study.evaluations if metric.headline in one.scores.get(metric.name, {})]
    return sorted(measured, key=lambda one: -one.scores[metric.name][metric.headline])


def compare_best(study: Study) -> Comparison | None:
    """The two best methods of a dataset side by side; None if it has no two."""
    ranked = ranking(study)[:2]
    if len(ranked) < 2:
        return None
    first, second = ranked
    pairs = [
        (name, one, other)
        for (name, _), one, other in zip(first.pages, page_scores(first), page_scores(second), strict=True)
        if one is not None and other is not None
    ]
    try:
        test = paired_t_test([one for _, one, _ in pairs], [other for _, _, other in pairs])
    except MissingExtra:
        test = None
    return Comparison(first, second, tuple((name, one - other) for name, one, other in pairs), test)
