"""Which pages are left out together, so that a model is measured on none that it has learned from."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal

from mainmatter.inputs.sites import split_by_site
from mainmatter.lab.datasets import site_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.training.teach_records import Splitting

SplitBy = Literal["auto", "site", "page"]

_FOLDS, _FOLDS_OF_FEW, _FEW = 5, 10, 20  # of few pages each model needs all but one or two


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
        Random(f"{seed} {fold[0]}").shuffle(rest)  # noqa: S311 - no secret
        return rest


def split_pages(pages: Sequence[GoldPage], by: SplitBy = "auto", seed: int = 0) -> Split:
    """Split pages into folds: by site if they are of several, else by page.

    Args:
        pages: at least two.
        by: "site" or "page" decide; by site nonetheless needs two sites.
        seed: for another split.
    """
    sites = [site_of(page) for page in pages]
    different = len(set(sites))
    notes = []
    without_url = sum(not page.page.url for page in pages)
    if without_url:
        notes.append(
            f"{without_url} of {len(pages)} pages have no URL and count as sites of their own: if they are of one "
            "site, the gain is that on more pages of it"
        )
    wanted = _FOLDS if len(pages) >= _FEW else _FOLDS_OF_FEW
    is_by_site = by == "site" or (by == "auto" and different > 1)
    if different == 1:
        is_by_site = False
        notes.append("all pages are of one site, so single pages were left out: the gain is that on more pages of it")
    elif not is_by_site:
        notes.append("single pages were left out, not sites: the gain is that on more pages of these sites")
    groups = sites if is_by_site else [""] * len(pages)
    folds = tuple(tuple(fold) for fold in split_by_site(groups, wanted, seed) if fold)
    return Split(folds, "site" if is_by_site else "page", different, tuple(notes))
