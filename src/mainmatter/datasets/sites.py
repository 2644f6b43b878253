"""Splitting by site: pages of one site share their template, so they must not be on both sides of a split."""

from __future__ import annotations

import re
from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.datasets.read import GoldPage

_SECOND_LEVEL = frozenset("ac co com edu gob gov ne net nic nom or org".split())
_ADDRESS = re.compile(r"[\d.]+|\[.*\]")


def site_of(gold_page: GoldPage) -> str:
    """The site that a page is of: its registered domain, as well as that can be told; without a URL, itself."""
    url = gold_page.page.url
    try:
        host = (urlsplit(url).hostname or "") if url else ""
    except ValueError:
        host = ""
    if not host or _ADDRESS.fullmatch(host):
        return host or f"page {gold_page.page.id}"
    parts = host.split(".")
    is_second_level = len(parts) > 2 and len(parts[-1]) == 2 and parts[-2] in _SECOND_LEVEL
    return ".".join(parts[-3:] if is_second_level else parts[-2:])


def folds_by_site(pages: Sequence[GoldPage], folds: int, seed: int = 0) -> list[list[int]]:
    """Split pages into folds of about the same size, no site in two of them; gives the pages' numbers.

    Some folds are empty where there are fewer sites than folds.
    """
    by_site: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        by_site[site_of(page)].append(number)
    sites = sorted(by_site)
    Random(seed).shuffle(sites)  # noqa: S311 - no secret
    sites.sort(key=lambda site: -len(by_site[site]))  # stable: the large ones first, so that the small ones even out
    found: list[list[int]] = [[] for _ in range(folds)]
    for site in sites:
        min(found, key=len).extend(by_site[site])
    return [sorted(fold) for fold in found]
