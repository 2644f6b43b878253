"""Methods x datasets x metrics: run methods over gold standards, measure and show the results, compare two."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from mainmatter.api import clean
from mainmatter.errors import InputError, UnknownName
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.learned import learned_by, short_digest
from mainmatter.lab.metrics import Output, find_metric
from mainmatter.lab.metrics.alignment import need
from mainmatter.lab.peers import PEERS, get_peer
from mainmatter.method import OUR_CONVENTION, Trainable, parse_parameters
from mainmatter.records import Gold, Metadata
from mainmatter.registry import get_method, is_method, method_names, split_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.metrics import Row
    from mainmatter.method import Method
    from mainmatter.records import Page

    PageScores = dict[str, Row | None]

Convention = Literal["own", "house"]
"""Whose rules a method follows, if it knows several: those of each page's gold standard, or ours."""

_FIGURE = re.compile(r"-|-?\d+(\.\d+)?")  # a lone dash stands for none


@dataclass(frozen=True)
class Evaluation:
    """How one method did on one dataset.

    Attributes:
        method: the name of the method or peer.
        dataset: the name of the dataset.
        scores: for each metric, its figures for the whole set.
        groups: the same for parts of the set, such as groups["page_type=forum"].
        pages: for each page its id and, for each metric, its figures.
        failures: the pages on which the method failed, with the reason; they count as empty.
        convention: whose rules it followed, if it knows several.
        learned_from: for each page, whether the method's model has learned from it; None if unknown.
        unseen: `scores` of the pages that it has not learned from; empty if it has learned from none, or all.
    """

    method: str
    dataset: str
    scores: dict[str, Row]
    groups: dict[str, dict[str, Row]] = field(default_factory=dict)
    pages: list[tuple[str, PageScores]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    convention: Convention = "own"
    learned_from: list[bool] | None = None
    unseen: dict[str, Row] = field(default_factory=dict)

    @property
    def count_learned_from(self) -> str:
        """How many of the pages its model has learned from, in words; "-" for other tools, where that is unknown."""
        if self.learned_from is None:
            return "-" if self.method in PEERS else "unknown"
        return str(sum(self.learned_from))

    @property
    def tells_learned_from(self) -> bool:
        """Whether there is something to tell about pages that were learned from."""
        return self.count_learned_from not in ("-", "0")

    @property
    def on_others(self) -> dict[str, Row]:
        """The figures on the pages that it has not learned from; empty if there are none, or if that is unknown."""
        return self.scores if self.count_learned_from == "0" else self.unseen


class MethodByConvention:
    """A method as it is run on pages of several gold standards: by the rules of each, if it knows them.

    Peers, and methods that know no conventions, are run as they are; so is a method whose convention was chosen, as in
    "main:convention=wcxb".

    Args:
        method: its name, or a method itself.
        convention: whose rules it is to follow.

    Attributes:
        follows: whether it follows the rules of each page's gold standard.

    Raises:
        UnknownName: there is no such method.
    """

    def __init__(self, method: str | Method, convention: Convention = "own") -> None:
        self._method = get_method(method) if isinstance(method, str) and method not in PEERS else method
        is_chosen = getattr(self._method, "convention", OUR_CONVENTION) != OUR_CONVENTION
        if isinstance(method, str) and convention_of(method) != "own":
            is_chosen = True
        knows_some = isinstance(self._method, Trainable) and bool(self._method.conventions)
        self.follows = convention == "own" and knows_some and not is_chosen
        self._by_convention: dict[str, Method] = {}

    def on(self, page: GoldPage) -> str | Method:
        """What to run on a page: a method, or the name of a peer."""
        if not self.follows or not isinstance(self._method, Trainable):
            return self._method
        if page.convention not in self._by_convention:
            self._by_convention[page.convention] = self._method.by_convention(page.convention)
        return self._by_convention[page.convention]

    def unknown(self, pages: Iterable[GoldPage]) -> list[str]:
        """The conventions of pages that it would follow, had it learned them; it follows ours instead."""
        if not self.follows or not isinstance(self._method, Trainable):
            return []
        return sorted({page.convention for page in pages} - set(self._method.conventions))


def convention_of(name: str) -> Convention:
    """Whose rules a method of that name follows: those of each gold standard, unless the name says whose."""
    return "house" if "convention" in parse_parameters(*split_name(name)) else "own"


def spell_conventions(methods: Iterable[str], convention: Literal["own", "house", "both"]) -> list[str]:
    """The names of methods, and of peers, such that those that know conventions follow the ones that are wanted.

    Args:
        methods: their names.
        convention: "own" for those of each gold standard, which leaves the names as they are; "house" for ours;
            "both" for both of them, one name each.

    Raises:
        UnknownName: there is no such method.
    """
    found = []
    for name in methods:
        follows = MethodByConvention(name).follows
        if convention != "house" or not follows:
            found.append(name)
        if convention != "own" and follows:
            found.append(f"{name}{',' if split_name(name)[1] else ':'}convention={OUR_CONVENTION}")
    return found


def evaluate(
    method: str | Method,
    dataset: str,
    pages: Sequence[GoldPage],
    metrics: Sequence[str],
    *,
    convention: Convention = "own",
    workers: int = 1,
    on_page: Callable[[], object] = lambda: None,
) -> Evaluation:
    """Measure one method, or one peer, on one dataset.

    Gold standards differ in what they take for main matter. A method that knows their conventions, as `main` does,
    follows that of each page, so that the figures measure the method and not the convention.

    Args:
        method: its name, or a method itself, which has its own name in the report.
        dataset: the name of the dataset, for the report.
        pages: the dataset's pages.
        metrics: the names of the metrics.
        convention: whose rules it follows, if it knows several: "own" for those of each page's gold standard, "house"
            for ours. A convention that was chosen by the method's parameter wins.
        workers: how many processes.
        on_page: called after each page, for showing progress.

    Raises:
        UnknownName: there is no such method or metric.
        MissingExtra: a peer or what a metric needs is not installed.
    """
    check_names([method] if isinstance(method, str) else [], metrics)
    runner = MethodByConvention(method, convention)
    measured: list[PageScores] = []
    failures = []
    for page, result in zip(pages, ordered_map(partial(_measure, runner, tuple(metrics)), pages, workers), strict=True):
        if isinstance(result, Failure):
            failures.append((page.page.id or "", result.error))
            measured.append(compare(Output(""), page, metrics))
        else:
            measured.append(result)
        on_page()
    name = method if isinstance(method, str) else method.name
    found = replace(summarise(name, dataset, pages, metrics, measured, failures), convention=convention)
    known = learned_by(method) if isinstance(method, str) else None if isinstance(method, Trainable) else frozenset()
    if known is None:
        return found
    seen = [short_digest(page) in known for page in pages]
    others = [scores for scores, is_seen in zip(measured, seen, strict=True) if not is_seen]
    return replace(found, learned_from=seen, unseen=_aggregate(others, metrics) if 0 < len(others) < len(seen) else {})


def summarise(
    method: str,
    dataset: str,
    pages: Sequence[GoldPage],
    metrics: Sequence[str],
    measured: Sequence[PageScores],
    failures: list[tuple[str, str]],
) -> Evaluation:
    """From the figures of pages to those of the set and of its parts.

    Args:
        method: the name of the method or peer.
        dataset: the name of the dataset.
        pages: the dataset's pages.
        metrics: the names of the metrics.
        measured: what `compare` said of each page.
        failures: the pages on which the method failed, with the reason.
    """
    return Evaluation(
        method,
        dataset,
        _aggregate(measured, metrics),
        {name: _aggregate(group, metrics) for name, group in _groups(pages, measured).items()},
        [(page.page.id or "", scores) for page, scores in zip(pages, measured, strict=True)],
        failures,
    )


def check_names(methods: Iterable[str], metrics: Iterable[str]) -> None:
    """Raise early, before hours of work, if a method or metric does not exist or is not installed."""
    for name in methods:
        if name in PEERS:
            get_peer(name)
        elif is_method(name):
            get_method(name)
        else:
            raise UnknownName("method", name, [*method_names(), *PEERS])
    for metric in metrics:
        find_metric(metric).measure(_PROBE, _PROBE_GOLD)


# Whatever a metric needs to be installed, it needs for this page too.
_PROBE = Output("a", "<p> a", Metadata())
_PROBE_GOLD = Gold(text="a", marked="<p> a", must_have=("a",), title="a")


def _measure(runner: MethodByConvention, metrics: Sequence[str], page: GoldPage) -> PageScores:
    output = _run(runner.on(page), page.page, with_metadata="metadata" in metrics)
    return compare(output, page, metrics)


def _run(method: str | Method, page: Page, *, with_metadata: bool) -> Output:
    """What a method or a peer gives for a page, in the form that metrics compare."""
    if isinstance(method, str) and method in PEERS:
        return PEERS[method](page, with_metadata)
    extraction = clean(page, method=method)
    return Output(extraction.text, extraction.render("cleaneval"), extraction.metadata if with_metadata else None)


def compare(output: Output, page: GoldPage, metrics: Sequence[str]) -> PageScores:
    """What each metric says of a page's output; None where the gold standard lacks what the metric needs."""
    return {metric: find_metric(metric).measure(output, page.gold) for metric in metrics}


def _aggregate(measured: Sequence[PageScores], metrics: Sequence[str]) -> dict[str, Row]:
    return {metric: find_metric(metric).aggregate([scores[metric] for scores in measured]) for metric in metrics}


def _groups(pages: Sequence[GoldPage], measured: Sequence[PageScores]) -> dict[str, list[PageScores]]:
    groups: dict[str, list[PageScores]] = defaultdict(list)
    for page, scores in zip(pages, measured, strict=True):
        for name, value in page.groups.items():
            groups[f"{name}={value}"].append(scores)
    # A set of one language or one type has no parts.
    kinds = [name.partition("=")[0] for name in groups]
    return {name: groups[name] for name in sorted(groups) if kinds.count(name.partition("=")[0]) > 1}


def to_table(evaluations: Sequence[Evaluation], metrics: Sequence[str], *, groups: bool = False) -> str:
    """A Markdown table: one row for each method on each dataset.

    Several metrics show their headline figure each; a single metric shows all its columns. If a model has learned
    from some of the pages, or that is unknown, columns show from how many, and the headline figures on the others.

    Args:
        evaluations: what to show.
        metrics: the names of the metrics.
        groups: show page types and languages too.
    """
    columns = _columns(metrics)
    of_others = [(metric, find_metric(metric).headline) for metric in metrics]
    rows = [["dataset", "method", "pages", *(title for _, _, title in columns)]]
    is_told = any(evaluation.tells_learned_from for evaluation in evaluations)
    if is_told:
        names = [key if len(metrics) == 1 else f"{metric} {key}" for metric, key in of_others]
        rows[0] += ["learned from", *(f"{name} on others" for name in names)]
    for evaluation in evaluations:
        rows.append(_row(evaluation.dataset, evaluation.method, evaluation.scores, columns))
        if is_told:
            others = [_figure(evaluation.on_others.get(metric, {}), metric, key) for metric, key in of_others]
            rows[-1] += [evaluation.count_learned_from, *others]
        if groups:
            blank = ["-"] * (len(rows[0]) - len(rows[0][:3]) - len(columns))
            rows += [
                [*_row(f"  {group}", evaluation.method, scores, columns), *blank]
                for group, scores in evaluation.groups.items()
            ]
    return format_table(rows)


def _columns(metrics: Sequence[str]) -> list[tuple[str, str, str]]:
    """Metric, key, and title of each column."""
    if len(metrics) > 1:
        return [(name, find_metric(name).headline, f"{name} {find_metric(name).headline}") for name in metrics]
    metric = find_metric(metrics[0])
    return [(metric.name, column, column) for column in metric.columns]


def _row(dataset: str, method: str, scores: dict[str, Row], columns: Sequence[tuple[str, str, str]]) -> list[str]:
    pages = max((int(row["pages"]) for row in scores.values()), default=0)
    return [dataset, method, str(pages), *(_figure(scores[metric], metric, key) for metric, key, _ in columns)]


def _figure(row: Row, metric: str, key: str) -> str:
    if key not in row:
        return "-"
    return f"{row[key]:.1f}" if find_metric(metric).percent else f"{row[key]:.3f}"


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows, the first of them the head, as a Markdown table with aligned columns; figures to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    is_text = [any(_FIGURE.fullmatch(row[i]) is None for row in rows[1:]) for i in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(c.ljust(w) if t else c.rjust(w) for c, w, t in zip(row, widths, is_text, strict=True)) + " |"
        for row in rows
    ]
    rule = (
        "|" + "|".join("-" * (w + 2) if t else "-" * (w + 1) + ":" for w, t in zip(widths, is_text, strict=True)) + "|"
    )
    return "\n".join([lines[0], rule, *lines[1:]])


def to_json(evaluations: Sequence[Evaluation]) -> str:
    """All figures, those of every page included."""
    return json.dumps([asdict(evaluation) for evaluation in evaluations], ensure_ascii=False, indent=1)


@dataclass(frozen=True, slots=True)
class TTest:
    """Student's t, its degrees of freedom, and the two-sided probability of such a difference by chance."""

    t: float
    df: int
    p: float


def paired_t_test(a: Sequence[float], b: Sequence[float]) -> TTest:
    """The paired t-test of NCleaner, section 4: scores of the same pages; t is positive if those of `a` are higher.

    Defined where scipy.stats.ttest_rel warns and returns NaN: equal scores, or fewer than two pages, prove
    nothing (t = 0, p = 1), and one and the same difference on all pages is certain (t infinite, p = 0).

    Raises:
        InputError: if the lists differ in length.
    """
    if len(a) != len(b):
        raise InputError(f"a paired t-test needs the same pages on both sides, not {len(a)} and {len(b)} scores")
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    df = max(len(a) - 1, 0)
    if df == 0 or not difference.any():
        return TTest(0.0, df, 1.0)
    mean = float(difference.mean())
    error = float(difference.std(ddof=1)) / math.sqrt(len(a)) if np.ptp(difference) else 0.0
    t = mean / error if error else math.copysign(math.inf, mean)
    return TTest(t, df, 2 * float(need("scipy.special").stdtr(df, -abs(t))))
