"""Cross-validation over the gold standards that are not for tests only: the fold of each page, a model for each fold.

Gold standards share sites, and some share pages: of house-a with trafilatura-eval-a, of house-wcxb with wcxb-dev. What
they share is in one fold, so that no model is measured on a page, or a site, that it learned from in another set. The
split is the same wherever it is made: models of folds may be trained elsewhere, and used again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainmatter.errors import DatasetError, ModelError
from mainmatter.inputs.sites import site_of_url, split_by_site
from mainmatter.lab.datasets import DATASETS, load_dataset
from mainmatter.lab.training.train import observe_pages
from mainmatter.method import Trainable, be_silent
from mainmatter.registry import get_method, make_untrained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from mainmatter.lab.datasets import GoldPage

# Measured on, but not learned from: snippets of pages that house-a has whole, and what only the papers' presets may
# learn from.
NOT_LEARNED_FROM = frozenset(
    ("trafilatura-eval-a", *(name for name, dataset in DATASETS.items() if dataset.use == "papers"))
)


@dataclass(frozen=True, slots=True)
class FoldPage:
    """A page of a gold standard that is not for tests only.

    Attributes:
        dataset: the name of the gold standard.
        gold: the page, and what the gold standard says about it.
        fold: the number of its fold, whose model has not learned from it.
    """

    dataset: str
    gold: GoldPage
    fold: int


def load_fold_pages(data: str | Path, folds: int) -> list[FoldPage]:
    """All pages of all gold standards that are not for tests only, each with its fold.

    Args:
        data: the folder of the gold standards.
        folds: how many parts.

    Raises:
        DatasetError: a gold standard is missing or damaged, or there are fewer than two folds.
        MissingExtra: Parquet files need pyarrow.
    """
    if folds < 2:
        raise DatasetError(f"cross-validation needs at least two folds, not {folds}")
    names = [name for name, dataset in DATASETS.items() if dataset.use != "tests"]
    pages = [(name, page) for name in names for page in load_dataset(name, data)]
    numbers = assign_folds([page for _, page in pages], folds)
    return [FoldPage(name, page, fold) for (name, page), fold in zip(pages, numbers, strict=True)]


def assign_folds(pages: Sequence[GoldPage], folds: int) -> list[int]:
    """The fold of each page; pages of one site, and those that are the same byte by byte, are in the same one."""
    first: dict[object, int] = {}  # the first page of each site, and with each content
    group = list(range(len(pages)))

    def find(number: int) -> int:
        while group[number] != number:
            number = group[number]
        return number

    for number, page in enumerate(pages):
        html = page.page.html
        content = hashlib.sha256(html if isinstance(html, bytes) else html.encode("utf-8", "surrogatepass")).digest()
        for key in filter(None, (site_of_url(page.page.url), content)):
            one, other = find(first.setdefault(key, number)), find(number)
            group[max(one, other)] = min(one, other)
    found = [0] * len(pages)
    for fold, numbers in enumerate(split_by_site([str(find(number)) for number in range(len(pages))], folds)):
        for number in numbers:
            found[number] = fold
    return found


def train_folds(
    method: str, pages: Sequence[FoldPage], *, workers: int = 1, report: Callable[[str], object] = be_silent
) -> Iterator[Trainable[Any]]:
    """For each fold in turn, a model that has learned from the pages of all others.

    Args:
        method: the method with its parameters, as in "main:epochs=12".
        pages: what `load_fold_pages` gave.
        workers: how many processes read pages; learning takes one.
        report: called with a line about the progress now and then.

    Raises:
        UnknownName: no method of that name learns.
        InputError: a parameter is wrong, or there are no pages to learn from.
    """
    learned_from = [page for page in pages if page.dataset not in NOT_LEARNED_FROM]
    fold_of = {id(page.gold): page.fold for page in learned_from}
    observed = observe_pages(make_untrained(method), [page.gold for page in learned_from], workers=workers)
    for fold in range(1 + max(page.fold for page in pages)):
        rest = [
            observation
            for page, observation in zip(observed.pages, observed.observations, strict=True)
            if fold_of[id(page)] != fold
        ]
        report(f"fold {fold}: learning from {len(rest):,} pages")
        yield make_untrained(method).learn(rest, report)


def load_folds(folder: Path, folds: int) -> list[Trainable[Any]]:
    """The models of all folds, in folders 0, 1, ... as `Trainable.save` writes them.

    Raises:
        ModelError: one is missing, damaged, or of a method that does not learn.
    """
    models = []
    for fold in range(folds):
        method = get_method(str(folder.resolve() / str(fold)))
        if not isinstance(method, Trainable):
            raise ModelError(f"{folder / str(fold)}: not a model of a method that learns")
        models.append(method)
    return models
