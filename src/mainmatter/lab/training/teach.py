"""Teach a method with annotated pages, and measure honestly what that gains over the shipped model.

Each page is left out once, together with the others of its site; models learn from the rest, and from ever larger
parts of it, and are measured on what was left out. That gives the learning curve (NCleaner, figure 4), whose last point
is the gain to expect of the model that learns from all pages in the end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import InputError, MissingExtra
from mainmatter.lab.evaluation import check_names, evaluate
from mainmatter.lab.metrics import find_metric
from mainmatter.lab.metrics.sequences import need
from mainmatter.lab.training.card import data_entry, method_entry, page_digest
from mainmatter.lab.training.fit import observe_pages
from mainmatter.lab.training.teach_learner import Learner, best_strength, choose_strengths
from mainmatter.lab.training.teach_records import Lesson, PageGain, Point, Step, measure_gain
from mainmatter.lab.training.teach_split import SplitBy, split_pages
from mainmatter.registry import DEFAULT_METHOD
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.evaluation import Evaluation
    from mainmatter.lab.training.fit import Observed
    from mainmatter.lab.training.teach_records import Gain, Told
    from mainmatter.lab.training.teach_split import Split
    from mainmatter.method import Method

FEWEST = 4
METRICS = ("bag", "shingle", "cleaneval")
_ALL_TEXT = "ice-baseline"
_LEARNING_COSTS = 3  # as much time as measuring a page, for each page


@dataclass(frozen=True)
class Teaching:
    """How to teach.

    Attributes:
        method: the method, with parameters if need be; see `Learner`.
        split: whether whole sites are left out, or single pages; "auto": sites, if there are two.
        curve: learn from parts of the pages too, for a curve of several points.
        seed: of all that is random.
        source: what the pages are called in the model's card.
        licence: the licence of the pages, for the card.
        workers: how many processes read and measure pages.
    """

    method: str = DEFAULT_METHOD
    split: SplitBy = "auto"
    curve: bool = True
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
        listen: is told how far it has come, each point of the learning curve, and lines about what is done.

    Returns:
        The lesson, with the model; `teach_save.save_lesson` writes it into a folder.

    Raises:
        InputError: there are too few pages, or the method or a parameter is wrong.
        UnknownName: there is no such method.
        MissingExtra: a package is missing.
        ModelError: the model to go on from is missing or damaged.
    """
    return _Class(pages, teaching or Teaching(method), listen).run()


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
class _Class:
    """One run of teaching, from pages to a lesson."""

    given: Sequence[GoldPage]
    teaching: Teaching
    listen: Callable[[Told], object]
    metrics: tuple[str, ...] = METRICS
    done: int = 0
    of: int = 1
    observed: Observed = field(init=False)
    split: Split = field(init=False)
    learner: Learner = field(init=False)
    shipped: Evaluation = field(init=False)

    def run(self) -> Lesson:
        started = time.monotonic()
        self.learner = Learner(self.teaching.method)
        self._need_extras()
        self._observe()
        sizes = self._sizes()
        self._plan(sizes)
        self.shipped = self._measure(self.learner.shipped, range(len(self.pages)), self.metrics, "the shipped model")
        all_text = self._measure(_ALL_TEXT, range(len(self.pages)), self.metrics[:1], "all text")
        default = None
        if self.learner.shipped != DEFAULT_METHOD:
            found = self._measure(DEFAULT_METHOD, range(len(self.pages)), self.metrics[:1], DEFAULT_METHOD)
            default = _mean(_scores(found, self.metrics[0]))
        curve = [self._point(size) for size in sizes]
        last, taught, scores = self._last_point()
        best = best_strength(scores)
        learning = time.monotonic()
        model = self._learn(range(len(self.pages)), "learning from all pages")[best]
        learning = time.monotonic() - learning
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
            default,
            _figures(all_text.scores[self.metrics[0]], self.metrics[0]),
            self._taught_figures(taught),
            (*curve, last),
            tuple(self._by_page(taught)),
            self.observed.oracle,
            tuple(self.observed.skipped),
            self._notes(),
            time.monotonic() - started,
            model,
            {},
        )
        lesson.card.update(self._card(lesson, learning))
        self._advance(0, "done")
        return lesson

    @property
    def pages(self) -> list[GoldPage]:
        return self.observed.pages

    def _need_extras(self) -> None:
        """Find out before any work."""
        if find_spec("rapidfuzz") is None:
            raise MissingExtra("rapidfuzz", "train")
        need("scipy.special")
        check_names([self.learner.shipped], self.metrics)

    def _observe(self) -> None:
        """Read the pages, each of them once: a copy would be on both sides of a split."""
        pages = list({page_digest(page): page for page in self.given if page.gold.text is not None}.values())
        need_enough(len(pages), len(self.given))
        self.of = len(pages) * 20  # a guess, until the pages are known

        def on_page() -> None:
            self._advance(1, "reading pages")

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
        self.split = split_pages(self.pages, self.teaching.split, self.teaching.seed)
        self.listen(
            f"{_count(len(self.pages), 'page')} of {_count(self.split.sites, 'site')}, left out by {self.split.by} in "
            f"{len(self.split.folds)} parts"
        )
        for note in self._notes():
            self.listen(note)

    def _notes(self) -> tuple[str, ...]:
        notes = list(self.split.notes)
        if not self.learner.start:
            notes.append(
                f"{self.learner.base} learns from nothing but these pages: it forgets what the shipped one knows"
            )
        if self.learner.shipped == self.learner.start != self.learner.base:
            notes.append(f"the gain is over {self.learner.start}, which the learning went on from")
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

        def on_page() -> None:
            self._advance(1, f"measuring {doing}")

        return evaluate(method, "", pages, metrics, workers=self.teaching.workers, on_page=on_page)

    def _learn(self, numbers: Sequence[int], doing: str) -> list[Any]:
        self._advance(0, doing)
        models = self.learner.learn([self.observed.observations[number] for number in numbers], self.teaching.seed)
        self._advance(_LEARNING_COSTS * len(numbers), doing)
        return models

    def _left_out(self, size: int | None, metrics: Sequence[str]) -> tuple[list[list[Any]], float, float]:
        """Learn without each fold in turn, from all or some of the others, and measure on the fold.

        Returns:
            For each strength the rows of all pages; the mean numbers of pages and of words that were learned from.
        """
        rows: list[list[Any]] = [[None] * len(self.pages) for _ in self.learner.strengths]
        sizes, counts = [], []
        for fold in self.split.folds:
            chosen = self.split.rest(fold, self.teaching.seed)[:size]
            sizes.append(len(chosen))
            counts.append(sum(len(words(self.pages[number].gold.text or "")) for number in chosen))
            taught_by = _count(len(chosen), "page")
            for strength, model in enumerate(self._learn(chosen, f"learning from {taught_by}")):
                found = self._measure(model, fold, metrics, f"what {taught_by} taught")
                for number, (_, row) in zip(fold, found.pages, strict=True):
                    rows[strength][number] = row
        return rows, float(np.mean(sizes)), float(np.mean(counts))

    def _point(self, size: int) -> Point:
        rows, _, count = self._left_out(size, self.metrics[:1])
        return self._tell_point(self._choose(rows)[0], size, count)

    def _last_point(self) -> tuple[Point, list[Any], NDArray[np.float64]]:
        """The point of all pages, what the taught models gave for each page, and the scores by strength."""
        rows, size, count = self._left_out(None, self.metrics)
        taught, scores = self._choose(rows)
        return self._tell_point(taught, round(size), count), taught, scores

    def _choose(self, rows: list[list[Any]]) -> tuple[list[Any], NDArray[np.float64]]:
        """Of each page the row of the strength that the other folds choose."""
        headline = find_metric(self.metrics[0]).headline
        scores = np.array([[row[self.metrics[0]][headline] for row in of_one] for of_one in rows])
        chosen = choose_strengths(scores, self.split.folds)
        return [rows[strength][page] for page, strength in enumerate(chosen.tolist())], scores

    def _tell_point(self, taught: list[Any], size: int, count: float) -> Point:
        point = Point(size, round(count), len(self.split.folds), self._gains(taught)[0])
        self.listen(point)
        return point

    def _gains(self, taught: list[Any]) -> tuple[Gain, ...]:
        """The gain by each metric, on the pages whose gold standard has what it needs."""
        gains = []
        for metric in self.metrics:
            headline = find_metric(metric).headline
            both = [
                (shipped[metric], row.get(metric)) for (_, shipped), row in zip(self.shipped.pages, taught, strict=True)
            ]
            measured = [(before[headline], after[headline]) for before, after in both if before and after]
            if measured:
                gains.append(measure_gain(f"{metric} {headline}", *zip(*measured, strict=True)))
        return tuple(gains)

    def _taught_figures(self, taught: list[Any]) -> dict[str, float]:
        metric = self.metrics[0]
        return _figures(find_metric(metric).aggregate([row[metric] for row in taught]), metric)

    def _by_page(self, taught: list[Any]) -> list[PageGain]:
        metric, headline = self.metrics[0], find_metric(self.metrics[0]).headline
        before = _scores(self.shipped, metric)
        after = [row[metric][headline] for row in taught]
        return [
            PageGain(page.page.id or "", page.page.url, *both)
            for page, *both in zip(self.pages, before, after, strict=True)
        ]

    def _card(self, lesson: Lesson, learning: float) -> dict[str, Any]:
        return {
            **method_entry(lesson.method, "blocks"),
            "data": [data_entry(self.teaching.source, self.pages, self.teaching.licence)],
            "pages": {"learned_from": lesson.pages, "skipped": len(self.given) - lesson.pages},
            "oracle": {"bag_f1": round(lesson.oracle, 4)},
            "check": {"pages": lesson.pages, **lesson.taught, "all_text": lesson.all_text},
            "seconds": {"learning": round(learning, 1), "in_all": round(lesson.seconds, 1)},
            "valid": [],
            "lesson": {name: value for name, value in lesson.to_json().items() if name != "by_page"},
        }


def _scores(evaluation: Evaluation, metric: str) -> list[float]:
    headline = find_metric(metric).headline
    return [row[headline] for _, scores in evaluation.pages if (row := scores[metric]) is not None]


def _mean(scores: Sequence[float]) -> float:
    return float(np.mean(scores))


def _figures(scores: dict[str, float], metric: str) -> dict[str, float]:
    return {
        f"{metric}_{column}": round(scores[column], 4) for column in find_metric(metric).columns if column in scores
    }


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
