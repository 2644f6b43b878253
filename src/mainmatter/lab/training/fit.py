"""Gold pages to a trained method, and cross-validation by site."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.datasets import folds_by_site
from mainmatter.lab.evaluation import Evaluation, evaluate
from mainmatter.lab.metrics import find_metric
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.align import make_example
from mainmatter.registry import make_untrained
from mainmatter.trainable import be_silent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.training.align import Aligner
    from mainmatter.trainable import Trainable


@dataclass
class Observed:
    """What a method observed on pages.

    Attributes:
        pages: the pages that it could observe, in order.
        observations: what it observed on each of them.
        skipped: the pages that it could not, with the reason.
        oracle_scores: for each page, bag of words F1 of the text of exactly those blocks that are labelled as kept;
            None for a page with snippets only.
    """

    pages: list[GoldPage] = field(default_factory=list)
    observations: list[Any] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    oracle_scores: list[float | None] = field(default_factory=list)

    @property
    def oracle(self) -> float:
        """What a perfect choice of blocks would reach on average."""
        known = [score for score in self.oracle_scores if score is not None]
        return sum(known) / max(1, len(known))


def observe_pages(
    method: Trainable[Any],
    pages: Sequence[GoldPage],
    *,
    by: Aligner = "words",
    workers: int = 1,
    on_page: Callable[[], object] = lambda: None,
) -> Observed:
    """Label pages by their gold text and take from each what a method needs for learning.

    Args:
        method: the method that is to learn.
        pages: pages with gold text; those without are skipped, unless the method learns from their snippets.
        by: how to label blocks; see `lab/training/align.py`.
        workers: how many processes.
        on_page: called after each page, for showing progress.
    """
    found = Observed()
    with_gold = [page for page in pages if _is_of_use(page, method)]
    found.skipped += [(page.page.id or "", "has no gold text") for page in pages if not _is_of_use(page, method)]
    results = ordered_map(partial(_observe, method, by), with_gold, workers)
    for page, result in zip(with_gold, results, strict=True):
        if isinstance(result, Failure):
            found.skipped.append((page.page.id or "", result.error))
        else:
            found.pages.append(page)
            observation, oracle_score = result
            found.observations.append(observation)
            found.oracle_scores.append(oracle_score)
        on_page()
    return found


def _is_of_use(page: GoldPage, method: Trainable[Any]) -> bool:
    has_snippets = bool(page.gold.must_have or page.gold.must_not_have)
    return page.gold.text is not None or (method.learns_from_snippets and has_snippets)


def _observe(method: Trainable[Any], by: Aligner, page: GoldPage) -> tuple[Any, float | None]:
    # What annotators left open is unknown, but only some methods know of that.
    example = make_example(page, by, unknown=math.nan if method.learns_from_snippets else 0.0)
    if page.gold.text is None:
        return method.observe(example), None
    labelled = "\n".join(compress(example.document.columns.texts, example.kept))
    return method.observe(example), bag_of_words(labelled, page.gold.text).f1


def cross_validate(
    name: str,
    observed: Observed,
    metrics: Sequence[str],
    *,
    folds: int = 10,
    workers: int = 1,
    report: Callable[[str], object] = be_silent,
) -> Evaluation:
    """Measure a method on pages of sites that it has not learned from: each page is judged once.

    Args:
        name: the method with its parameters, as in "ncleaner:n=4".
        observed: what it observed on the pages; parameters that change observations need another observation.
        metrics: the names of the metrics.
        folds: how many parts; fewer where there are fewer sites.
        workers: how many processes evaluate; learning takes one.
        report: told a line after each fold.
    """
    rows: dict[int, tuple[str, Any]] = {}
    failures: list[tuple[str, str]] = []
    parts = [fold for fold in folds_by_site(observed.pages, folds) if fold]
    for number, fold in enumerate(parts):
        held_out = set(fold)
        rest = [each for i, each in enumerate(observed.observations) if i not in held_out]
        method = make_untrained(name).learn(rest)
        result = evaluate(method, "", [observed.pages[i] for i in fold], metrics, workers=workers)
        rows.update(zip(fold, result.pages, strict=True))
        failures += result.failures
        report(f"fold {number + 1} of {len(parts)}: {headline(result, metrics[0])}")
    in_order = [rows[i] for i in range(len(observed.pages))]
    scores = {metric: find_metric(metric).aggregate([row[metric] for _, row in in_order]) for metric in metrics}
    return Evaluation(name, "", scores, {}, in_order, failures)


def headline(evaluation: Evaluation, name: str) -> str:
    """The one figure to look at, with its name."""
    metric = find_metric(name)
    figure = evaluation.scores[name].get(metric.headline)
    return f"{metric.name} {metric.headline} {'-' if figure is None else f'{figure:.3f}'}"
