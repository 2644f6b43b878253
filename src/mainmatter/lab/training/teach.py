"""Teach a method with annotated pages, and measure honestly what that gains over the shipped model.

Teaching is training with a split and a measured gain. Each page is left out once, together with the others of its site;
models learn from the rest, and from ever larger parts of it, and are measured on what was left out. That gives the
learning curve (NCleaner, figure 4), whose last point is the gain to expect of the model that learns from all pages in
the end.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mainmatter.errors import InputError, ModelError
from mainmatter.inputs.sites import site_of_page, split_by_site
from mainmatter.lab.evaluation import check_names, evaluate, paired_t_test
from mainmatter.lab.metrics import find_metric
from mainmatter.lab.metrics.alignment import need
from mainmatter.lab.training.train import (
    different_pages,
    figures,
    make_card,
    need_aligner,
    observe_pages,
    save_model,
    start_of,
)
from mainmatter.lab.training.verdict import LIKELY, MOST_PAGES, UNLIKELY, judge_gain
from mainmatter.main.method import Main
from mainmatter.main.rehearsal import LEARNED_AGAIN, REHEARSAL, load_rehearsal, score_known
from mainmatter.method import be_silent, parse_parameters
from mainmatter.models.store import SHIPPED, is_model, load, may_be_written
from mainmatter.registry import DEFAULT_METHOD, get_method, make_untrained, split_name
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.evaluation import Evaluation
    from mainmatter.lab.training.train import ObservedPages
    from mainmatter.lab.training.verdict import Outlook
    from mainmatter.main.examples import ObservedPage
    from mainmatter.method import Method, Trainable

Splitting = Literal["site", "page"]
SplitBy = Literal["auto", "site", "page"]

FEWEST = 4  # pages
METRICS = ("bag", "shingle", "cleaneval")
LESSONS = "lessons.jsonl"  # in the folder of a workbench's models
_ALL_TEXT = "ice-baseline"
_LEARNING_COSTS = 3  # as much time as measuring a page, for each page
_FOLDS, QUICK_FOLDS = 5, 4

# A net that was trained further on a few pages forgets some of what it knew. Part of the way between its weights before
# and after, it has learned most and forgotten little (Wortsman et al. 2022, Robust fine-tuning of zero-shot models,
# section 4). How far is best depends on how unlike the pages are; docs/results/teaching.md says how these were chosen.
STRENGTHS = (0.4, 0.7, 1.0)
_OF_MAIN = {"start": "main", "epochs": "6"}
# By how much at most a taught model may be worse on pages like those that the model knew before, in F1.
MOST_FORGOTTEN = 0.015

_SAME = 1e-6  # scores that differ by less are those of a draw
_COVERED = 0.95  # of an interval


@dataclass(frozen=True)
class Split:
    """Pages in folds.

    Attributes:
        folds: the numbers of the pages that are left out together, each page in one fold.
        by: whether pages of one site are always in one fold.
        sites: how many sites there are; a page without URL counts as one.
        notes: what a reader of the figures should know about the split.
    """

    folds: tuple[tuple[int, ...], ...]
    by: Splitting
    sites: int
    notes: tuple[str, ...]

    def rest(self, fold: Sequence[int], seed: int = 0) -> list[int]:
        """The pages that are not in a fold, in random order."""
        left_out = set(fold)
        rest = [page for other in self.folds for page in other if page not in left_out]
        Random(f"{seed} {fold[0]}").shuffle(rest)  # no secret
        return rest


def split_pages(pages: Sequence[GoldPage], by: SplitBy = "auto", seed: int = 0, folds: int = _FOLDS) -> Split:
    """Split pages into folds: by site if they are of several, else by page.

    Args:
        pages: at least two.
        by: "site" or "page" decide; by site nonetheless needs two sites.
        seed: for another split.
        folds: how many, as far as there are as many sites.
    """
    sites = [site_of_page(page.page) for page in pages]
    different = len(set(sites))
    notes = []
    without_url = sum(not page.page.url for page in pages)
    if without_url:
        notes.append(
            f"{without_url} of {len(pages)} pages have no URL, and each counts as a site of its own: if they are "
            "from one site, the gain applies to more pages of that site"
        )
    is_by_site = by == "site" or (by == "auto" and different > 1)
    if different == 1:
        is_by_site = False
        notes.append(
            "all pages are from one site, so single pages were left out: the gain applies to more pages of that site"
        )
    elif not is_by_site:
        notes.append("single pages were left out, not sites: the gain applies to more pages of these sites")
    groups = sites if is_by_site else [""] * len(pages)
    parts = tuple(tuple(fold) for fold in split_by_site(groups, folds, seed) if fold)
    return Split(parts, "site" if is_by_site else "page", different, tuple(notes))


@dataclass(frozen=True)
class Learner:
    """A method that is to learn from annotated pages.

    Args:
        method: its name, with parameters if need be, as in "main:epochs=4" or "ncleaner:n=4". `main` goes on from the
            shipped model, unless `start` names another one, or is empty.

    Raises:
        UnknownName: there is no such method.
        InputError: the method does not learn, or a parameter is wrong.
        MissingExtra: learning needs a package that is not installed.
        ModelError: the model to go on from is missing or damaged.
    """

    method: str

    def __post_init__(self) -> None:
        if is_model(split_name(self.method)[0]):
            raise InputError(
                f"{self.method} is a model, not a method; to go on from it: main:start={split_name(self.method)[0]}"
            )
        self.make().need_extras()
        _ = self.shipped

    @property
    def base(self) -> str:
        """The name of the method, without parameters."""
        return split_name(self.method)[0]

    @property
    def full_name(self) -> str:
        """The method with all parameters that it learns with."""
        name, listed = split_name(self.method)
        chosen = parse_parameters(name, listed)
        added = [f"{key}={value}" for key, value in _OF_MAIN.items() if name == "main" and key not in chosen]
        listed = ",".join([*added, *filter(None, [listed])])
        return f"{name}:{listed}" if listed else name

    @property
    def start(self) -> str:
        """The model that learning goes on from; "" if it begins from nothing."""
        return start_of(self.make())

    @property
    def strengths(self) -> tuple[float, ...]:
        """How far from the start models are taken, for the best of them to be chosen."""
        return STRENGTHS if self.start else (1.0,)

    @property
    def shipped(self) -> str:
        """The model to compare with: the one to go on from or, without one, the method's own that ships.

        Where none of the method ships, it is the default method's.
        """
        if self.start and self.start != self.base:
            return self.start
        try:
            get_method(self.base)
        except ModelError:
            return DEFAULT_METHOD
        return self.base

    def make(self) -> Trainable[Any]:
        """The method, as yet untrained."""
        return make_untrained(self.full_name)

    @cached_property
    def rehearsal(self) -> list[ObservedPage]:
        """Pages that the model knew before, for it to look at again; those that ship if it brings none of its own."""
        if self.base != DEFAULT_METHOD or not self.start:
            return []
        own = Path(self.start) / REHEARSAL
        return load_rehearsal(own if own.is_file() else SHIPPED / DEFAULT_METHOD / REHEARSAL)

    def forgotten(self, models: Sequence[Any]) -> list[float]:
        """By how much models are worse than the start on pages that it knew, and that were not looked at again."""
        known = self.rehearsal[LEARNED_AGAIN:]
        if not known:
            return [0.0] * len(models)
        before: Any = get_method(self.start)
        return [score_known(before, known) - score_known(model, known) for model in models]

    def learn(
        self,
        observations: Sequence[Any],
        seed: int = 0,
        report: Callable[[str], object] = be_silent,
        *,
        dumps: bool = True,
    ) -> list[Trainable[Any]]:
        """Learn from what was observed: one model for each strength.

        Pages for rehearsal count as much as those that are new, however few these are.

        Args:
            observations: of the pages.
            seed: for everything that is random.
            report: called with a line about the progress now and then.
            dumps: `main` learns to judge plain-text dumps, too.

        Raises:
            InputError: there is nothing to learn from.
        """
        method = self.make()
        if self.start and seed:
            method = make_untrained(f"{self.full_name},seed={seed}")
        if again := self.rehearsal[:LEARNED_AGAIN]:
            observations = [*_repeated(observations, len(again)), *again]
        if isinstance(method, Main):
            method.learn(observations, report, dumps=dumps)
        else:
            method.learn(observations, report)
        if not self.start:
            return [method]
        shipped: Any = get_method(self.base) if self.start == self.base else None
        before = load(self.start).arrays if shipped is None else shipped.facts_and_arrays()[1]
        after = method.facts_and_arrays()[1]
        return [self._between(method, before, after, strength) for strength in self.strengths]

    def _between(
        self,
        trained: Trainable[Any],
        before: dict[str, NDArray[Any]],
        after: dict[str, NDArray[Any]],
        strength: float,
    ) -> Trainable[Any]:
        """A model whose weights are so far on the way from one to another."""
        mixed = {}
        for name, array in after.items():
            mixed[name] = array
            # What is not a weight is a size, and the same in both; a net that the start did not have is all new, and so
            # are the last rows where the start knew fewer conventions.
            if name in before and array.dtype.kind == "f":
                old = before[name]
                known = ((1 - strength) * old + strength * array[: len(old)]).astype(array.dtype)
                mixed[name] = np.concatenate([known, array[len(old) :]])
        method = type(trained)(**trained.parameters)
        method.restore(trained.facts_and_arrays()[0], mixed)
        return method


def _repeated(pages: Sequence[ObservedPage], count: int) -> list[ObservedPage]:
    """Pages that count as much as so many, because they are repeated, and because each of them counts more.

    The one teaches a little more, the other takes less time.
    """
    times = max(1, count // (2 * max(1, len(pages))))
    weight = max(1.0, count / max(1, len(pages) * times))
    return [
        replace(page, example=replace(page.example, weight=weight), dump=replace(page.dump, weight=weight))
        for page in pages
    ] * times


def choose_strengths(scores: NDArray[np.float64], folds: Sequence[Sequence[int]]) -> NDArray[np.intp]:
    """For each page, the strength that is best on the pages of all other folds.

    So no page has a say in the choice of the model that it is measured with. Where several are as good, the gentlest.

    Args:
        scores: one row a strength, one column a page: its score while it was left out.
        folds: the numbers of the pages that were left out together.
    """
    chosen = np.zeros(scores.shape[1], np.intp)
    for fold in folds:
        others = np.ones(scores.shape[1], bool)
        others[list(fold)] = False
        chosen[list(fold)] = best_strength(scores[:, others])
    return chosen


def best_strength(scores: NDArray[np.float64]) -> int:
    """The number of the strength with the highest mean score; of several, the gentlest."""
    means = scores.mean(axis=1).round(6)
    return int(means.argmax())


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

    def to_json(self) -> dict[str, Any]:
        """The same as a dictionary, with the gain itself."""
        return {**asdict(self), "gain": self.gain}


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
class CurvePoint:
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
    """The progress of teaching: how many units of work are done, of how many, and what is being done."""

    done: int
    of: int
    doing: str


Told = Step | CurvePoint | str  # a text is a line about what is done


@dataclass(frozen=True, slots=True)
class PageGain:
    """How both models did on one page, by the first metric."""

    page: str
    url: str | None
    shipped: float
    taught: float


@dataclass(frozen=True)
class Lesson:
    """The result of teaching: how good the taught model is on pages that it has not seen, and the model itself.

    Attributes:
        method: the method, with the parameters that it learned with.
        start: the model that learning went on from; "" if it began from nothing.
        shipped: the name of the shipped model that it is compared with.
        strength: how far learning moved it away from the start, from 0 to 1.
        pages: how many pages it learned from.
        sites: how many sites they are of.
        splitting: whether whole sites were left out to measure on, or single pages.
        folds: how many times some were left out.
        gains: over the shipped model, by metric, the most important one first.
        outlook: how probable it is that there is a gain on other pages of this kind.
        default: what the default method reaches as shipped, by the first metric; None if that is what was taught.
        all_text: what keeping all text gives, by the columns of the first metric.
        taught: what the taught model gives, by the same columns.
        curve: the learning curve; its last point is the first of the gains.
        by_page: how both did on each page.
        oracle: what a perfect choice of blocks would reach.
        skipped: pages that could not be used, with the reason.
        notes: what a reader of the figures should know.
        seconds: how long it took.
        forgotten: by how much it is worse on pages like those that the start knew; at most `MOST_FORGOTTEN`, unless
            even the gentlest strength forgets more.
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
    outlook: Outlook
    default: float | None
    all_text: dict[str, float]
    taught: dict[str, float]
    curve: tuple[CurvePoint, ...]
    by_page: tuple[PageGain, ...]
    oracle: float
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    seconds: float
    forgotten: float
    model: Trainable[Any] = field(repr=False, compare=False)
    card: dict[str, Any] = field(repr=False, compare=False)

    @property
    def gain(self) -> Gain:
        """The gain by the first metric."""
        return self.gains[0]

    @property
    def is_recommended(self) -> bool:
        """The taught model is likely better than the shipped one, and no worse than the default method as shipped."""
        return self.outlook.probability >= LIKELY and not self.is_below_default

    @property
    def is_below_default(self) -> bool:
        """The default method as shipped is better still."""
        return self.default is not None and self.default > self.gain.taught

    @property
    def verdict(self) -> str:
        """The result in plain words: whether to use the taught model or to keep the shipped one."""
        gain, outlook = self.gain, self.outlook
        likely = format_percent(outlook.probability)
        figures = (
            f"{gain.metric} {gain.taught:.3f} instead of {gain.shipped:.3f} on pages that it had not seen "
            f"({gain.gain:+.3f}; better on {gain.wins} of {gain.pages} pages, worse on {gain.losses})"
        )
        if outlook.probability < UNLIKELY or not (gain.wins or gain.losses):
            return f"Probably no better ({likely}): {figures}. Keep the shipped model."
        if self.is_below_default:
            better = f"Better than {self.shipped} as shipped ({likely} likely)"
            return f"{better}, but not as good as main: {figures}. Use main."
        if self.is_recommended:
            return f"Probably better ({likely}): {figures}. Use the taught model."
        if outlook.more_pages is None:
            advice = f"Even {MOST_PAGES} more pages might not settle it; a blind comparison may"
        else:
            advice = f"About {_count(outlook.more_pages, 'more page')} would settle it, or a blind comparison"
        return f"Cannot tell yet ({likely} likely better): {figures}. {advice}."

    def to_json(self) -> dict[str, Any]:
        """All of it but the model, as a dictionary that JSON can hold."""
        plain = (
            "method start shipped strength pages sites splitting folds default all_text taught oracle forgotten".split()
        )
        return {
            **{name: getattr(self, name) for name in plain},
            "recommended": self.is_recommended,
            "below_default": self.is_below_default,
            "probability": self.outlook.probability,
            "outlook": asdict(self.outlook),
            "verdict": self.verdict,
            "gains": [gain.to_json() for gain in self.gains],
            "curve": [point.to_json() for point in self.curve],
            "by_page": [asdict(page) for page in self.by_page],
            "skipped": [list(each) for each in self.skipped],
            "notes": list(self.notes),
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True)
class Teaching:
    """How to teach.

    Attributes:
        method: the method, with parameters if need be; see `Learner`.
        split: whether whole sites are left out, or single pages; "auto": sites, if there are two.
        curve: also learn from parts of the pages, for a curve of several points.
        folds: in how many parts pages are left out.
        metrics: what to measure by, the most important one first.
        seed: of all that is random.
        source: what the pages are called in the model's card.
        licence: the licence of the pages, for the card.
        workers: how many processes read and measure pages.
    """

    method: str = DEFAULT_METHOD
    split: SplitBy = "auto"
    curve: bool = True
    folds: int = _FOLDS
    metrics: tuple[str, ...] = METRICS
    seed: int = 0
    source: str = "annotations"
    licence: str | None = None
    workers: int = 1


def teach(
    pages: Sequence[GoldPage],
    method: str = DEFAULT_METHOD,
    *,
    teaching: Teaching | None = None,
    listen: Callable[[Told], object] = lambda _: None,
) -> Lesson:
    """Train a method on annotated pages and measure the gain.

    Args:
        pages: the pages, as `Store.gold_pages` or `load_dataset` give them.
        method: the method, if `teaching` does not say more.
        teaching: how.
        listen: called with the progress, with each point of the learning curve, and with lines about each step.

    Returns:
        The lesson, with the model; `save_lesson` writes it into a folder.

    Raises:
        InputError: there are too few pages, or the method or a parameter is wrong.
        UnknownName: there is no such method.
        MissingExtra: a package is missing.
        ModelError: the model to go on from is missing or damaged.
    """
    return _TeachingRun(pages, teaching or Teaching(method), listen).run()


def need_enough(count: int, in_all: int | None = None) -> None:
    """Refuse to teach with too few pages.

    Raises:
        InputError: there are.
    """
    if count < FEWEST:
        of_all = f" of {in_all}" if in_all is not None and in_all != count else ""
        raise InputError(
            f"{count}{of_all} page{'s' * ((in_all or count) != 1)} ready, and teaching needs at least {FEWEST}: one "
            "to measure on and some to learn from; label all blocks of a page, mark it as done, and merge conflicts"
        )


@dataclass
class _TeachingRun:
    """One run of teaching, from pages to a lesson."""

    given: Sequence[GoldPage]
    teaching: Teaching
    listen: Callable[[Told], object]
    done: int = 0
    of: int = 1
    observed: ObservedPages = field(init=False)
    split: Split = field(init=False)
    learner: Learner = field(init=False)
    shipped: Evaluation = field(init=False)
    strengths: int = 0  # that may be chosen: the gentlest ones, which do not forget too much

    def run(self) -> Lesson:
        started = time.monotonic()
        self.learner = Learner(self.teaching.method)
        need_aligner()  # before any work
        need("scipy.special")
        check_names([self.learner.shipped], self.teaching.metrics)
        self._observe()
        sizes = self._sizes()
        self._plan(sizes)
        metrics = self.teaching.metrics
        self.shipped = self._measure(self.learner.shipped, range(len(self.pages)), metrics, "the shipped model")
        all_text = self._measure(_ALL_TEXT, range(len(self.pages)), metrics[:1], "all text")
        default = None
        if self.learner.shipped != DEFAULT_METHOD:
            found = self._measure(DEFAULT_METHOD, range(len(self.pages)), metrics[:1], DEFAULT_METHOD)
            default = float(np.mean(_scores(found, metrics[0])))
        learning = time.monotonic()
        models = self._learn(range(len(self.pages)), "learning from all pages")
        learning = time.monotonic() - learning
        forgotten = self.learner.forgotten(models)
        self.strengths = max(1, sum(lost <= MOST_FORGOTTEN for lost in forgotten))
        curve = [self._point(size, metrics[:1])[0] for size in sizes]
        last, taught, scores = self._point(None, metrics)
        best = best_strength(scores)
        lesson = Lesson(
            self.learner.full_name,
            self.learner.start,
            self.learner.shipped,
            self.learner.strengths[best],
            len(self.pages),
            self.split.sites,
            self.split.by,
            len(self.split.folds),
            self._gains(taught),
            self._judge(taught),
            default,
            figures(all_text.scores[metrics[0]], metrics[0]),
            figures(find_metric(metrics[0]).aggregate([row[metrics[0]] for row in taught]), metrics[0]),
            (*curve, last),
            tuple(self._by_page(taught)),
            self.observed.oracle,
            tuple(self.observed.skipped),
            self._notes(),
            time.monotonic() - started,
            forgotten[best],
            models[best],
            {},
        )
        lesson.card.update(self._card(lesson, learning))
        self._advance(self.of - self.done, "done")
        return lesson

    @property
    def pages(self) -> list[GoldPage]:
        return self.observed.pages

    def _observe(self) -> None:
        """Read the pages, each of them once: a copy would be on both sides of a split."""
        pages = different_pages(page for page in self.given if page.gold.text is not None)
        need_enough(len(pages), len(self.given))
        self.of = len(pages) * 20  # a guess, until the pages are known
        on_page = partial(self._advance, 1, "reading pages")
        self.observed = observe_pages(self.learner.make(), pages, workers=self.teaching.workers, on_page=on_page)
        need_enough(len(self.pages), len(self.given))
        without_text = sum(page.gold.text is None for page in self.given)
        if without_text:
            self.observed.skipped.append((_count(without_text, "page"), "without gold text"))
        copies = len(self.given) - without_text - len(pages)
        if copies:
            self.observed.skipped.append((_count(copies, "page"), "the same as others"))
        for page, reason in self.observed.skipped:
            self.listen(f"left out: {page}: {reason}")
        self.split = split_pages(self.pages, self.teaching.split, self.teaching.seed, self.teaching.folds)
        self.listen(
            f"{_count(len(self.pages), 'page')} of {_count(self.split.sites, 'site')}, left out by {self.split.by} in "
            f"{len(self.split.folds)} parts"
        )
        for note in self._notes():
            self.listen(note)

    def _notes(self) -> tuple[str, ...]:
        notes = list(self.split.notes)
        if not self.learner.start:
            notes.append(f"{self.learner.base} learns from these pages only: it forgets what the shipped model knows")
        if self.learner.shipped == self.learner.start != self.learner.base:
            notes.append(f"the gain is over {self.learner.start}, from which learning continued")
        elif self.learner.shipped != self.learner.base:
            notes.append(f"no model of {self.learner.base} ships: the gain is over {self.learner.shipped}")
        return tuple(notes)

    def _sizes(self) -> list[int]:
        """1, 2, 4, ... pages, as far as all folds leave more than that."""
        fewest = min(len(self.pages) - len(fold) for fold in self.split.folds)
        return [2**power for power in range(fewest.bit_length()) if 2**power < fewest] if self.teaching.curve else []

    def _plan(self, sizes: list[int]) -> None:
        """How much work there will be, in pages that are measured."""
        count, folds = len(self.pages), self.split.folds
        measured = count * len(self.learner.strengths)
        all_sizes = [[size] * len(folds) for size in sizes] + [[count - len(fold) for fold in folds]]
        learning = sum(_LEARNING_COSTS * sum(each) + measured for each in all_sizes)
        references = 3 if self.learner.shipped != DEFAULT_METHOD else 2
        self.of = count + references * count + learning + _LEARNING_COSTS * count

    def _advance(self, units: int, doing: str) -> None:
        self.done = min(self.done + units, self.of)
        self.listen(Step(self.done, self.of, doing))

    def _measure(self, method: str | Method, numbers: Sequence[int], metrics: Sequence[str], doing: str) -> Evaluation:
        pages = [self.pages[number] for number in numbers]
        on_page = partial(self._advance, 1, f"measuring {doing}")
        return evaluate(method, "", pages, metrics, workers=self.teaching.workers, on_page=on_page)

    def _learn(self, numbers: Sequence[int], doing: str) -> list[Any]:
        self._advance(0, doing)
        is_last = len(numbers) == len(self.pages)
        dumps = is_last or any(self.pages[number].page.format == "text" for number in range(len(self.pages)))
        observations = [self.observed.observations[number] for number in numbers]
        models = self.learner.learn(observations, self.teaching.seed, dumps=dumps)
        self._advance(_LEARNING_COSTS * len(numbers), doing)
        return models

    def _left_out(self, size: int | None, metrics: Sequence[str]) -> tuple[list[list[Any]], float, float]:
        """Learn without each fold in turn, from all or some of the others, and measure on the fold.

        Returns:
            For each strength the rows of all pages; the mean numbers of pages and of words that were learned from.
        """
        rows: list[list[Any]] = [[None] * len(self.pages) for _ in range(self.strengths)]
        sizes, counts = [], []
        for fold in self.split.folds:
            chosen = self.split.rest(fold, self.teaching.seed)[:size]
            sizes.append(len(chosen))
            counts.append(sum(len(words(self.pages[number].gold.text or "")) for number in chosen))
            taught_by = _count(len(chosen), "page")
            for strength, model in enumerate(self._learn(chosen, f"learning from {taught_by}")[: self.strengths]):
                found = self._measure(model, fold, metrics, f"what {taught_by} taught")
                for number, (_, row) in zip(fold, found.pages, strict=True):
                    rows[strength][number] = row
        return rows, float(np.mean(sizes)), float(np.mean(counts))

    def _point(self, size: int | None, metrics: Sequence[str]) -> tuple[CurvePoint, list[Any], NDArray[np.float64]]:
        """What so many pages teach, or all that are not left out.

        Returns:
            The point of the curve; of each page the row of the strength that the other folds choose; the scores by
            strength.
        """
        rows, mean_size, count = self._left_out(size, metrics)
        headline = find_metric(metrics[0]).headline
        scores = np.array([[row[metrics[0]][headline] for row in of_one] for of_one in rows])
        chosen = choose_strengths(scores, self.split.folds)
        taught = [rows[strength][page] for page, strength in enumerate(chosen.tolist())]
        point = CurvePoint(round(mean_size), round(count), len(self.split.folds), self._gains(taught)[0])
        self.listen(point)
        return point, taught, scores

    def _gains(self, taught: list[Any]) -> tuple[Gain, ...]:
        """The gain by each metric, on the pages whose gold standard has what it needs."""
        gains = []
        for metric in self.teaching.metrics:
            headline = find_metric(metric).headline
            both = [
                (shipped[metric], row.get(metric)) for (_, shipped), row in zip(self.shipped.pages, taught, strict=True)
            ]
            measured = [(before[headline], after[headline]) for before, after in both if before and after]
            if measured:
                gains.append(measure_gain(f"{metric} {headline}", *zip(*measured, strict=True)))
        return tuple(gains)

    def _judge(self, taught: list[Any]) -> Outlook:
        differences = [page.taught - page.shipped for page in self._by_page(taught)]
        is_by_site = self.split.by == "site"
        sites = [site_of_page(page.page) if is_by_site else number for number, page in enumerate(self.pages)]
        return judge_gain(differences, sites)

    def _by_page(self, taught: list[Any]) -> list[PageGain]:
        metric = self.teaching.metrics[0]
        headline = find_metric(metric).headline
        before = _scores(self.shipped, metric)
        after = [row[metric][headline] for row in taught]
        return [
            PageGain(page.page.id or "", page.page.url, *both)
            for page, *both in zip(self.pages, before, after, strict=True)
        ]

    def _card(self, lesson: Lesson, learning: float) -> dict[str, Any]:
        data, skipped = {self.teaching.source: self.pages}, len(self.given) - lesson.pages
        return {
            **make_card(lesson.method, "blocks", data, self.teaching.licence, self.observed, skipped, lesson.start),
            "check": {"pages": lesson.pages, **lesson.taught, "all_text": lesson.all_text},
            "seconds": {"learning": round(learning, 1), "in_all": round(lesson.seconds, 1)},
            "valid": [],
            "lesson": {name: value for name, value in lesson.to_json().items() if name != "by_page"},
        }


def _scores(evaluation: Evaluation, metric: str) -> list[float]:
    headline = find_metric(metric).headline
    return [row[headline] for _, scores in evaluation.pages if (row := scores[metric]) is not None]


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def format_percent(probability: float) -> str:
    """A probability in whole percent, never 0 or 100, since nothing is that certain."""
    return f"{min(99, max(1, round(100 * probability)))} %"


def save_lesson(lesson: Lesson, folder: Path) -> int:
    """Write the model that was taught, with its card, in one step: after an interrupt, all of it is there, or nothing.

    Args:
        lesson: what `teach` gave.
        folder: where; an older model there is replaced.

    Returns:
        The model's size in bytes.

    Raises:
        InputError: the folder holds something else.
        OSError: it cannot be written.
    """
    if not may_be_written(folder):
        raise InputError(f"{folder} holds something other than a model; choose another folder")
    more = _gain_section(lesson)
    if is_model(folder):  # the model's own file is replaced in one step, and the card's page after it
        return save_model(lesson.model, lesson.card, folder, more)
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        size = save_model(lesson.model, lesson.card, draft, more)
        if folder.is_dir():
            shutil.rmtree(folder)  # empty, or what is left of a model that was not finished
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return size


_SECTION = """
## Gain

{verdict}
{notes}
Each page was left out once, by {splitting}, in {folds} parts. Learning continued from: {start}.

| metric | pages | shipped | taught | gain | 95 % interval | p | better on | worse on |
| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |
{gains}

| pages learned from | words | shipped | taught | gain | 95 % interval | p | better on | worse on |
| ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |
{curve}
"""


def _gain_section(lesson: Lesson) -> str:
    return _SECTION.format(
        verdict=lesson.verdict,
        notes="".join(f"\nNote: {note}.\n" for note in lesson.notes),
        splitting=lesson.splitting,
        folds=lesson.folds,
        start=f"`{lesson.start}`, {lesson.strength:.0%} of the way" if lesson.start else "nothing",
        gains="\n".join(f"| {gain.metric} | {gain.pages} |{_cells(gain)}" for gain in lesson.gains),
        curve="\n".join(f"| {point.pages} | {point.words:,} |{_cells(point.gain)}" for point in lesson.curve),
    )


def _cells(gain: Gain) -> str:
    figures = (f"{gain.shipped:.3f}", f"{gain.taught:.3f}", f"{gain.gain:+.3f}", f"{gain.low:+.3f} to {gain.high:+.3f}")
    return "".join(f" {figure} |" for figure in (*figures, f"{gain.p:.2g}", gain.wins, gain.losses))


def record_lesson(file: Path, name: str, lesson: Lesson) -> None:
    """Add a lesson to the list of all, in short: so the learning curve grows as annotations come.

    Args:
        file: the list, one JSON object a line.
        name: of the model.
        lesson: what `teach` gave.
    """
    gain = lesson.gain
    entry = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "name": name,
        "method": lesson.method,
        "pages": lesson.pages,
        "sites": lesson.sites,
        "splitting": lesson.splitting,
        "recommended": lesson.is_recommended,
        "probability": lesson.outlook.probability,
        "verdict": lesson.verdict,
        **{key: value for key, value in gain.to_json().items() if key != "pages"},
        "curve": [point.to_json() for point in lesson.curve],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(entry, ensure_ascii=False) + "\n"
    with file.open("a", encoding="utf-8") as lines:  # one write of one line: others may append at the same time
        lines.write(line)


def read_lessons(file: Path) -> list[dict[str, Any]]:
    """All lessons, the oldest first; a line that a crash cut short is left out."""
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            found.append(entry)
    return found
