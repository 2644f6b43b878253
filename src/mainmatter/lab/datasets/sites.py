"""Splitting and sampling gold pages by site."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

from mainmatter.inputs.sites import site_of_url, split_by_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets.read import GoldPage


def site_of(gold_page: GoldPage) -> str:
    """The site that a page is of: its registered domain, as well as that can be told; without a URL, itself."""
    return site_of_url(gold_page.page.url) or f"page {gold_page.page.id}"


def folds_by_site(pages: Sequence[GoldPage], folds: int, seed: int = 0) -> list[list[int]]:
    """Split pages into folds of about the same size, no site in two of them; gives the pages' numbers.

    Some folds are empty where there are fewer sites than folds.
    """
    return split_by_site([site_of(page) for page in pages], folds, seed)


def sample_by_site(pages: Sequence[GoldPage], most: int | None, seed: int = 0) -> Sequence[GoldPage]:
    """At most so many pages, drawn at random, of as many sites as there are; in the order of the set."""
    if most is None or len(pages) <= most:
        return pages
    order = list(range(len(pages)))
    Random(seed).shuffle(order)  # noqa: S311 - no secret
    seen: Counter[str] = Counter()
    turns = {}
    for number in order:
        site = site_of(pages[number])
        turns[number] = seen[site]
        seen[site] += 1
    chosen = sorted(order, key=lambda number: turns[number])[
        :most
    ]  # stable: the first page of each site, then the next
    return [pages[number] for number in sorted(chosen)]
