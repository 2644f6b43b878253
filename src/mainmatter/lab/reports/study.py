"""What a report shows of a dataset: its facts, a few pages of each method with what went wrong, and the two best."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from mainmatter.api import clean
from mainmatter.errors import MissingExtra
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.evaluation import MethodByConvention, TTest, paired_t_test
from mainmatter.lab.metrics import find_metric
from mainmatter.lab.metrics.bag import count_snippets
from mainmatter.lab.peers import PEERS
from mainmatter.lab.reports.diff import MOST_CHARACTERS, Diff, diff
from mainmatter.lab.versions import dataset_digest, version_of
from mainmatter.text.tokens import marked_tokens, without_markers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.evaluation import Evaluation
    from mainmatter.lab.metrics import Metric, Row
    from mainmatter.method import Method
    from mainmatter.records import Gold, Page

WORST, BEST = 10, 3  # pages of each method on each dataset
_MOST_OF_ALL = 3_000_000  # characters of all diffs of a report
_FEWEST_CHARACTERS = 1000
_MOST_SNIPPETS = 20
_SAME = 1e-9  # a smaller difference is none
_EXTREMES = 5


@dataclass(frozen=True, slots=True)
class Snippets:
    """What became of a page's snippets, where there is no gold text.

    Attributes:
        missed: those that must be there and are not.
        wrong: those that must not be there and are.
        right: how many are as they should be.
    """

    missed: tuple[str, ...]
    wrong: tuple[str, ...]
    right: int


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of which the report shows what a method did.

    Attributes:
        id: the page's.
        url: the page's, if known.
        groups: what the dataset says of it, such as its type.
        score: its headline figure.
        row: all its figures by that metric.
        page_type: what the method takes it for, if it says so.
        confidence: how sure the method is, if it says so.
        failure: why there is no text, if so.
        diff: the gold text against what was kept, if there is a gold text.
        snippets: what became of the snippets, if there is no gold text.
    """

    id: str
    url: str | None
    groups: Mapping[str, str]
    score: float
    row: Row
    page_type: str | None = None
    confidence: float | None = None
    failure: str | None = None
    diff: Diff | None = None
    snippets: Snippets | None = None


@dataclass(frozen=True, slots=True)
class ShownPages:
    """The pages of a method that are shown, worst first and best first; a page without fault is not among the worst."""

    worst: tuple[ShownPage, ...] = ()
    best: tuple[ShownPage, ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """A dataset with the evaluations on it, and all that a report needs besides.

    Attributes:
        dataset: its name.
        digest: of its pages and gold texts.
        pages: how many.
        evaluations: one a method.
        versions: of each method.
        choices: the pages that are shown, by method.
    """

    dataset: str
    digest: str
    pages: int
    evaluations: tuple[Evaluation, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, ShownPages] = field(default_factory=dict)

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, in the order in which they were asked for."""
        return list(dict.fromkeys(name for one in self.evaluations for name in one.scores))

    @property
    def metric(self) -> Metric | None:
        """The metric by which methods and pages are ranked here: the first that any page could be measured by."""
        return leading_metric(self.evaluations)


def study(
    dataset: str,
    pages: Sequence[GoldPage],
    evaluations: Sequence[Evaluation],
    *,
    methods: Mapping[str, Method] | None = None,
    worst: int = WORST,
    best: int = BEST,
    characters: int = MOST_CHARACTERS,
) -> Study:
    """Look closer at a dataset: clean the worst and the best pages of each method again, and compare.

    Args:
        dataset: its name.
        pages: its pages, those that were evaluated.
        evaluations: of methods on it.
        methods: those that are not in the registry, by name.
        worst: how many pages with low scores to show for each method.
        best: how many with high scores.
        characters: how many each diff may show.

    Raises:
        MissingExtra: comparing texts needs rapidfuzz.
    """
    own = methods or {}
    versions = {one.method: "" if one.method in own else version_of(one.method) for one in evaluations}
    choices = {}
    for one in evaluations:
        low, high = _choose(one, worst, best)
        runner = MethodByConvention(own.get(one.method, one.method), one.convention)
        choices[one.method] = ShownPages(
            tuple(_show(one, runner, pages, low, characters)), tuple(_show(one, runner, pages, high, characters))
        )
    return Study(dataset, dataset_digest(pages), len(pages), tuple(evaluations), versions, choices)


def characters_each(cells: int) -> int:
    """How many characters each diff may show in a report of so many methods on so many datasets, all in all."""
    return max(_FEWEST_CHARACTERS, min(MOST_CHARACTERS, _MOST_OF_ALL // max(1, cells * (WORST + BEST))))


def leading_metric(evaluations: Sequence[Evaluation]) -> Metric | None:
    """The first metric that any page could be measured by; the first of all if there is none, None if there is none."""
    names = dict.fromkeys(name for one in evaluations for name in one.scores)
    measured = (name for name in names if any(one.scores.get(name, {}).get("pages") for one in evaluations))
    name = next(measured, next(iter(names), None))
    return None if name is None else find_metric(name)


def page_scores(evaluation: Evaluation) -> list[float | None]:
    """The headline figure of each page by the leading metric; None where it could not be measured."""
    metric = leading_metric([evaluation])
    if metric is None:
        return [None] * len(evaluation.pages)
    return [(scores.get(metric.name) or {}).get(metric.headline) for _, scores in evaluation.pages]


def highest_score(metric: Metric) -> float:
    """What a page without fault has."""
    return 100.0 if metric.percent else 1.0


def _choose(evaluation: Evaluation, worst: int, best: int) -> tuple[list[int], list[int]]:
    """The numbers of the pages with the lowest and those with the highest scores; none is in both."""
    metric = leading_metric([evaluation])
    scores = [(score, number) for number, score in enumerate(page_scores(evaluation)) if score is not None]
    if metric is None:
        return [], []
    low = [number for score, number in sorted(scores)[:worst] if score < highest_score(metric)]
    ranked = sorted(scores, key=lambda one: (-one[0], one[1]))
    return low, [number for _, number in ranked if number not in low][:best]


def shown_name(page_id: str) -> str:
    """What a page is called in a report."""
    return page_id or "(no id)"


def _show(
    evaluation: Evaluation,
    runner: MethodByConvention,
    pages: Sequence[GoldPage],
    numbers: Sequence[int],
    characters: int,
) -> list[ShownPage]:
    # If several pages share an id, it is unknown which of them failed.
    count = Counter(name for name, _ in evaluation.pages)
    failures = {name: error for name, error in evaluation.failures if count[name] == 1}
    metric = leading_metric([evaluation])
    shown: list[ShownPage] = []
    if metric is None:
        return shown
    for number in numbers:
        page = pages[number]
        name = evaluation.pages[number][0]
        row = evaluation.pages[number][1][metric.name] or {}
        kept = _kept(runner.on(page), page.page) if name not in failures else _MethodOutput("", failure=failures[name])
        text = page.gold.text
        if text is None and page.gold.marked is not None:
            text = " ".join(without_markers(marked_tokens(page.gold.marked)))
        shown.append(
            ShownPage(
                name,
                page.page.url,
                page.groups,
                row[metric.headline],
                row,
                kept.page_type,
                kept.confidence,
                kept.failure,
                None if text is None else diff(text, kept.text, characters),
                _snippets(page.gold, kept.text) if text is None else None,
            )
        )
    return shown


@dataclass(frozen=True, slots=True)
class _MethodOutput:
    text: str
    page_type: str | None = None
    confidence: float | None = None
    failure: str | None = None


def _kept(method: str | Method, page: Page) -> _MethodOutput:
    """What a method keeps of a page; nothing if it fails, even if it did not fail in the evaluation."""
    (result,) = ordered_map(partial(_run, method), [page])
    return _MethodOutput("", failure=result.error) if isinstance(result, Failure) else result


def _run(method: str | Method, page: Page) -> _MethodOutput:
    if isinstance(method, str) and method in PEERS:
        return _MethodOutput(PEERS[method](page, False).text)
    found = clean(page, method=method)
    confidence = None if found.confidence is None else float(found.confidence)
    return _MethodOutput(found.text, found.page_type, confidence)


def _snippets(gold: Gold, kept: str) -> Snippets:
    missed = [one for one in gold.must_have if count_snippets(kept, (one,)).false_negatives]
    wrong = [one for one in gold.must_not_have if count_snippets(kept, (), (one,)).false_positives]
    right = len(gold.must_have) + len(gold.must_not_have) - len(missed) - len(wrong)
    return Snippets(tuple(missed[:_MOST_SNIPPETS]), tuple(wrong[:_MOST_SNIPPETS]), right)


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
