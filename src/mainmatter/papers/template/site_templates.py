"""What sites repeat, as two sorted tables that are small, can be saved, and are asked for a whole page at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np

from mainmatter.errors import ModelError
from mainmatter.inputs.sites import site_of_url
from mainmatter.models.store import Model, load, save
from mainmatter.papers.template.chunks import UNITS, Unit, find_chunks, hash_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from mainmatter.papers.template.chunks import Chunks
    from mainmatter.records import Document

METHOD = "template"
VERSION = 1
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 by the golden ratio: spreads numbers over all 64 bits
_TYPES = {"sites": "u8", "clusters": "u4", "pages": "u4", "keys": "u8", "counts": "u4"}


def site_key(site: str) -> int:
    """The number by which a site is known; that of "" is for all pages without a URL."""
    return hash_text(site)


class Summary(NamedTuple):
    """What one site repeats: for each of its clusters of pages, how many pages, the chunks of several, their counts."""

    site: int
    clusters: list[tuple[int, NDArray[np.uint64], NDArray[np.intp]]]


@dataclass(frozen=True, slots=True)
class Counted:
    """What is known about the chunks of a page.

    Attributes:
        chunks: the page's chunks.
        counts: on how many of the pages of its site, or of its cluster, each of them is; 1 if on one, or on none.
        pages: how many pages those are; 0 if the site was never counted.
    """

    chunks: Chunks
    counts: NDArray[np.intp]
    pages: int


@dataclass(frozen=True, slots=True, eq=False)
class SiteTemplates:
    """On how many pages of its site each chunk is that is on several; 12 bytes each.

    Attributes:
        unit: what a chunk is.
        sites: the numbers of the sites, sorted.
        clusters: how many clusters of pages each has.
        pages: how many pages were counted of each cluster, in the order of the sites.
        keys: the chunks of all clusters, each mixed with its cluster, sorted.
        counts: on how many pages each is.
    """

    unit: Unit
    sites: NDArray[np.uint64]
    clusters: NDArray[np.intp]
    pages: NDArray[np.intp]
    keys: NDArray[np.uint64]
    counts: NDArray[np.intp]

    @classmethod
    def of(cls, unit: Unit, summaries: Sequence[Summary]) -> Self:
        """Put what was found for each site together."""
        ordered = sorted(summaries, key=lambda summary: summary.site)
        keys = [
            _mix(summary.site, number, hashes)
            for summary in ordered
            for number, (_, hashes, _) in enumerate(summary.clusters)
        ]
        counts = [counts for summary in ordered for _, _, counts in summary.clusters]
        all_keys = np.concatenate([np.zeros(0, np.uint64), *keys])
        order = np.argsort(all_keys, kind="stable")
        return cls(
            unit,
            np.array([summary.site for summary in ordered], np.uint64),
            np.array([len(summary.clusters) for summary in ordered], np.intp),
            np.array([pages for summary in ordered for pages, _, _ in summary.clusters], np.intp),
            all_keys[order],
            np.concatenate([np.zeros(0, np.intp), *counts])[order],
        )

    def look_up(self, document: Document) -> Counted:
        """What is known about the chunks of a page; of several clusters, by that which knows most of them."""
        chunks = find_chunks(document, self.unit)
        site = site_key(site_of_url(document.page.url))
        place = int(np.searchsorted(self.sites, np.uint64(site)))
        unknown = Counted(chunks, np.ones(len(chunks.hashes), np.intp), 0)
        if place == len(self.sites) or int(self.sites[place]) != site:
            return unknown
        first = int(self.clusters[:place].sum())
        found = [
            (int(self.pages[first + number]), self._counts(_mix(site, number, chunks.hashes)))
            for number in range(int(self.clusters[place]))
        ]
        pages, counts = max(found, key=lambda one: float((one[1] - 1).sum()) / max(1, one[0]), default=(0, None))
        return unknown if counts is None else Counted(chunks, counts, pages)

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What a model holds."""
        return {"unit": self.unit}, {name: getattr(self, name).astype(f"<{type_}") for name, type_ in _TYPES.items()}

    @classmethod
    def restore(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From what a model holds.

        Raises:
            KeyError: something is missing.
            ValueError: something does not fit.
        """
        unit = facts["unit"]
        if unit not in UNITS:
            raise ValueError(f"no unit {unit!r}")
        sites, clusters, pages, keys, counts = (arrays[name] for name in _TYPES)
        if any(arrays[name].dtype != np.dtype(f"<{type_}") for name, type_ in _TYPES.items()):
            raise ValueError("the numbers are of other types")
        if any(array.ndim != 1 for array in (sites, clusters, pages, keys, counts)):
            raise ValueError("the tables are no tables")
        if len(sites) != len(clusters) or int(clusters.sum()) != len(pages) or len(keys) != len(counts):
            raise ValueError("the tables do not fit each other")
        if (sites[1:] <= sites[:-1]).any() or (keys[1:] < keys[:-1]).any():
            raise ValueError("the tables are not sorted")
        whole = (clusters.astype(np.intp), pages.astype(np.intp))
        return cls(cast("Unit", unit), sites.astype(np.uint64), *whole, keys.astype(np.uint64), counts.astype(np.intp))

    def save(self, path: str | Path) -> int:
        """Write these tables into a folder, as a model of `template`; gives its size in bytes."""
        facts, arrays = self.facts_and_arrays()
        return save(Model(METHOD, VERSION, {"unit": self.unit}, facts, arrays), path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The tables that a folder holds.

        Raises:
            ModelError: it is missing, damaged, or a model of another method.
        """
        model = load(path)
        if (model.method, model.version) != (METHOD, VERSION):
            raise ModelError(f"{path}: a model of {model.method}, version {model.version}, not of {METHOD}, {VERSION}")
        try:
            return cls.restore(model.facts, model.arrays)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(f"{path}: damaged: {type(error).__name__}: {error}") from error

    def _counts(self, keys: NDArray[np.uint64]) -> NDArray[np.intp]:
        if not len(self.keys):
            return np.ones(len(keys), np.intp)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.counts[places], 1)


def _mix(site: int, cluster: int, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One number for each chunk of a site's cluster. Two of them share one with a chance of 2 ** -64."""
    with np.errstate(over="ignore"):
        mixed = (hashes ^ np.uint64(site)) + np.uint64(cluster + 1) * _ODD
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _ODD
    return mixed ^ (mixed >> np.uint64(29))
