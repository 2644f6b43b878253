"""Splitting by site: pages of one site share their template, so they must not be on both sides of a split."""

from __future__ import annotations

import re
from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.records import Page

_SECOND_LEVEL = frozenset("ac co com edu gob gov ne net nic nom or org".split())
_ADDRESS = re.compile(r"[\d.]+|\[.*\]")


def site_of_url(url: str | None) -> str:
    """The site of a URL: its registered domain, as far as it can be determined; "" if there is none."""
    try:
        host = (urlsplit(url).hostname or "") if url else ""
    except ValueError:
        host = ""
    if not host or _ADDRESS.fullmatch(host):
        return host
    parts = host.split(".")
    is_second_level = len(parts) > 2 and len(parts[-1]) == 2 and parts[-2] in _SECOND_LEVEL
    return ".".join(parts[-3:] if is_second_level else parts[-2:])


def site_of_page(page: Page) -> str:
    """The site of a page, as `site_of_url` determines it; a page without a URL is a site of its own."""
    return site_of_url(page.url) or f"page {page.id}"


def split_by_site(sites: Sequence[str], folds: int, seed: int = 0) -> list[list[int]]:
    """Split things into folds of about the same size, no site in two of them.

    Args:
        sites: the site of each thing; things without a site have none in common with others.
        folds: how many; some are empty where there are fewer sites.
        seed: for another split.

    Returns:
        For each fold the numbers of its things.
    """
    by_site: dict[str, list[int]] = defaultdict(list)
    for number, site in enumerate(sites):
        by_site[site or f"thing {number}"].append(number)
    names = sorted(by_site)
    Random(seed).shuffle(names)  # no secret
    names.sort(key=lambda name: -len(by_site[name]))  # stable: the large ones first, so that the small ones even out
    found: list[list[int]] = [[] for _ in range(folds)]
    for name in names:
        min(found, key=len).extend(by_site[name])
    return [sorted(fold) for fold in found]
