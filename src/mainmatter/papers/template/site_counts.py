"""What sites repeat: on how many pages of its site each chunk is (Template, sections 3 and 4).

`SiteCounts` counts in one pass, in bounded memory. Most templates are on every page of their site, so some pages tell
as much as all (Template 4.4). Of each site those pages are counted whose hash is among the lowest, `sample` of them: a
random sample that does not depend on the order of the pages, nor on how they are spread over shards, and that can be
merged. A page that is not in the sample need not even be read: ask `wants`.

The counts of a sample are exact. What the sample does not tell is stated by its size: the share of pages with a chunk
differs from that of the whole site by more than sqrt(ln(2 / d) / (2 n)) with a chance of at most d, where n is the
number of pages in the sample (Hoeffding): with 200 pages, by more than 0.1 once in 27 chunks.

`SiteTemplates` holds the result as two sorted tables that are small, can be saved, and are asked for a whole page at
once.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, cast, get_args

import numpy as np

from mainmatter.errors import InputError, ModelError
from mainmatter.inputs.sites import site_of_url
from mainmatter.models.store import Model, load, save
from mainmatter.papers.template.chunks import UNITS, Unit, check_unit, find_chunks, hash_text
from mainmatter.papers.template.imatch import LEAST_IDF, imatch_signatures, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from mainmatter.papers.template.chunks import Chunks
    from mainmatter.records import Document, Page


# What sites repeat, as two sorted tables

METHOD = "template"
VERSION = 1
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 by the golden ratio: spreads numbers over all 64 bits
_TYPES = {"sites": "u8", "clusters": "u4", "pages": "u4", "keys": "u8", "counts": "u4"}


def site_key(site: str) -> int:
    """The number by which a site is known; that of "" is for all pages without a URL."""
    return hash_text(site)


class SiteSummary(NamedTuple):
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
    def of(cls, unit: Unit, summaries: Sequence[SiteSummary]) -> Self:
        """Put what was found for each site together."""
        ordered = sorted(summaries, key=lambda summary: summary.site)
        keys = [
            _mix_keys(summary.site, number, hashes)
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
            (int(self.pages[first + number]), self._counts(_mix_keys(site, number, chunks.hashes)))
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


def _mix_keys(site: int, cluster: int, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One number for each chunk of a site's cluster. Two of them share one with a chance of 2 ** -64."""
    with np.errstate(over="ignore"):
        mixed = (hashes ^ np.uint64(site)) + np.uint64(cluster + 1) * _ODD
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _ODD
    return mixed ^ (mixed >> np.uint64(29))


# Min-max clustering (Template 4.2)

# Of 1, the distance of two sets that have nothing in common. Chosen on sites that are made up, where two templates
# share their header and footer (docs/results/template-clusters.md).
FAR = 0.5
MOST_CLUSTERS = 32


def cluster_sets(
    sets: Sequence[NDArray[np.uint64]], *, far: float = FAR, most: int = MOST_CLUSTERS
) -> NDArray[np.intp]:
    """Put sets that share most of their members together.

    Members that only one set has say nothing about what sets share, and do not count. The distance of two sets is one
    minus the share of common members among those that either has (Jaccard).

    Args:
        sets: the members of each, none twice.
        far: a set becomes the centre of a cluster of its own if its nearest centre is farther away than this.
        most: there are no more clusters than this.

    Returns:
        The number of each set's cluster: 0 for that of the first set, then in the order in which they first occur.
    """
    if not len(sets):
        return np.zeros(0, np.intp)
    members, owners = _shared_members(sets)
    sizes = np.bincount(owners, minlength=len(sets))
    common_in_all = np.bincount(members) if len(members) else np.zeros(1, np.intp)
    popularity = np.bincount(owners, common_in_all[members], len(sets)) if len(members) else np.zeros(len(sets))
    centre = int(popularity.argmax())
    nearest = np.zeros(len(sets), np.intp)
    distance = _distances(centre, members, owners, sizes)
    for number in range(1, min(most, len(sets))):
        centre = int(distance.argmax())
        if distance[centre] <= far:
            break
        to_new = _distances(centre, members, owners, sizes)
        closer = to_new < distance
        nearest[closer] = number
        distance[closer] = to_new[closer]
    return _in_order(nearest)


def _shared_members(sets: Sequence[NDArray[np.uint64]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The members that several sets have, as small numbers, and the set of each."""
    owners = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    _, members, counts = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)
    is_shared = counts[members] > 1
    return members[is_shared], owners[is_shared]


def _distances(
    centre: int, members: NDArray[np.intp], owners: NDArray[np.intp], sizes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """How far each set is from one of them."""
    is_member = np.zeros(int(members.max(initial=0)) + 1, np.bool_)
    is_member[members[owners == centre]] = True
    common = np.bincount(owners, is_member[members], len(sizes)) if len(members) else np.zeros(len(sizes))
    either = sizes + sizes[centre] - common
    distances: NDArray[np.float64] = 1 - common / np.maximum(either, 1)
    # A set that shares nothing with any other is like none; it must not become a centre, nor be its own.
    distances[sizes == 0] = 0
    distances[centre] = 0
    return distances


def _in_order(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """The same clusters, numbered by their first sets."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.intp)
    order[np.argsort(first)] = np.arange(len(first))
    return order[inverse]


# Counting

SAMPLE = 200
# In all, of all sites. Each takes about 1.1 KB: 8 bytes a chunk, and what Python needs. Pages are bounded, not chunks:
# how many chunks there are on the way depends on the order of the pages, and the samples must not.
MOST_PAGES = 1 << 20
# A page with more chunks is counted by those with the lowest hashes, which are the same chunks on all pages.
_MOST_CHUNKS = 2048
_FEWEST_OF_SITE = 4
Terms = Literal["chunk", "word"]
_MAGIC = b"mainmatter site counts 2\n"
_DIGEST = 16  # bytes


@dataclass(eq=False)
class SiteCounts:
    """The chunks of a sample of each site's pages.

    Args:
        unit: what a chunk is (papers/template/chunks.py).
        sample: how many pages of each site are counted.
        most_pages: how many are, of all sites together. Where there would be more, the sample of each site is halved,
            down to four pages; a crawl of more sites than a quarter of this takes more memory.
        terms: what duplicates are told by: "chunk", which are counted anyway, or "word", the paper's, which takes
            some 2 KB more for each page.
    """

    unit: Unit = "container"
    sample: int = SAMPLE
    most_pages: int = MOST_PAGES
    terms: Terms = "chunk"

    name: ClassVar[str] = "template"

    # By site and by the page's hash: the chunks' hashes; if words are kept, how many chunks, their hashes, the words.
    _pages: dict[int, dict[int, bytes]] = field(init=False, repr=False, default_factory=dict)
    _highest: dict[int, int] = field(init=False, repr=False, default_factory=dict)  # of the sites with a full sample
    _count: int = field(init=False, repr=False, default=0)
    _sample: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_unit(self.name, self.unit)
        if self.terms not in get_args(Terms):
            raise InputError(f"method {self.name!r}: terms must be chunk or word, not {self.terms!r}")
        for name, least in (("sample", _FEWEST_OF_SITE), ("most_pages", 1)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise InputError(f"method {self.name!r}: {name} must be a whole number from {least}, not {value!r}")
        self._sample = self.sample

    def __len__(self) -> int:
        return self._count

    def wants(self, page: Page) -> bool:
        """Whether a page belongs to its site's sample, so far; one that does not need not be read."""
        site, key = _site_and_key(page)
        return self._has_place(site, key)

    def add(self, document: Document) -> None:
        """Count a page, if it belongs to the sample; the same page twice counts once."""
        site, key = _site_and_key(document.page)
        if self._has_place(site, key):
            hashes = np.unique(find_chunks(document, self.unit).hashes)[:_MOST_CHUNKS].astype("<u8").tobytes()
            if self.terms == "word":
                words = (term.encode("utf-8", "surrogatepass") for term in terms_of("\n".join(document.columns.texts)))
                hashes = len(hashes).to_bytes(8, "little") + hashes + b"\n".join(sorted(words))
            self._put(site, key, hashes)
            self._shrink()

    def merge(self, other: SiteCounts) -> None:
        """Take over what was counted elsewhere. The result is that of counting all pages here, in any order.

        Raises:
            InputError: the other was counted with other parameters.
        """
        if any(getattr(other, name) != getattr(self, name) for name in ("unit", "sample", "most_pages", "terms")):
            raise InputError("site counts that were made with other parameters cannot be merged")
        if other._sample < self._sample:
            self._use_sample(other._sample)
        for site, pages in other._pages.items():
            for key, hashes in pages.items():
                if self._has_place(site, key):
                    self._put(site, key, hashes)
        self._shrink()

    def to_bytes(self) -> bytes:
        """What was counted, in an open format: the magic, BLAKE2b of the rest, a line of JSON, and plain numbers.

        The same counts give the same bytes.
        """
        sites = sorted(self._pages)
        pages = [page for site in sites for page in sorted(self._pages[site].items())]
        facts: dict[str, str | int] = {
            "unit": self.unit,
            "sample": self.sample,
            "most_pages": self.most_pages,
            "reduced": self._sample,
        }
        facts |= {"sites": len(sites), "pages": len(pages)}
        facts |= {"terms": self.terms} if self.terms != "chunk" else {}  # as it was before there were others
        parts = [
            json.dumps(facts, sort_keys=True).encode() + b"\n",
            np.array(sites, "<u8").tobytes(),
            np.array([len(self._pages[site]) for site in sites], "<u8").tobytes(),
            np.array([key for key, _ in pages], "<u8").tobytes(),
            np.array([len(hashes) for _, hashes in pages], "<u8").tobytes(),
            *(hashes for _, hashes in pages),
        ]
        return b"".join((_MAGIC, _digest(parts), *parts))

    @classmethod
    def from_bytes(cls, data: bytes) -> SiteCounts:
        """The counts once more.

        Raises:
            InputError: these bytes are not site counts, or are damaged.
        """
        if not data.startswith(_MAGIC):
            raise InputError("not mainmatter's site counts, or from another version")
        rest = data[len(_MAGIC) + _DIGEST :]
        if data[len(_MAGIC) : len(_MAGIC) + _DIGEST] != _digest([rest]):
            raise InputError("damaged site counts: their digest does not match")
        return cls._read(rest)

    def templates(
        self,
        *,
        cluster: bool = False,
        drop_duplicates: bool = True,
        least_idf: float = LEAST_IDF,
        most_idf: float = 1.0,
    ) -> SiteTemplates:
        """On how many pages of its site each chunk is that is on several.

        Args:
            cluster: put pages of one template together first, and count each cluster by itself (Template 4.2).
            drop_duplicates: count pages that are duplicates once. They are found by I-Match, with `terms` for terms.
            least_idf: if terms are words, leave out those with a lower idf (papers/template/imatch.py),
            most_idf: and those with a higher one.
        """
        summaries = []
        has_words = self.terms == "word"
        for site in sorted(self._pages):
            stored = [_unpack(one) if has_words else (one, b"") for _, one in sorted(self._pages[site].items())]
            pages = [np.frombuffer(hashes, "<u8") for hashes, _ in stored]
            if drop_duplicates:
                words = [of_page.split(b"\n") for _, of_page in stored]
                signatures = imatch_signatures(words, least_idf, most_idf) if has_words else _chunk_signatures(pages)
                first: dict[bytes, NDArray[np.uint64]] = {}
                for page, signature in zip(pages, signatures, strict=True):
                    first.setdefault(signature, page)
                pages = list(first.values())
            labels = cluster_sets(pages) if cluster else np.zeros(len(pages), np.intp)
            groups = [
                [page for page, label in zip(pages, labels, strict=True) if label == number]
                for number in range(int(labels.max(initial=0)) + 1)
            ]
            summaries.append(SiteSummary(site, [(len(group), *_several(group)) for group in groups]))
        return SiteTemplates.of(self.unit, summaries)

    def _has_place(self, site: int, key: int) -> bool:
        highest = self._highest.get(site)
        return (highest is None or key < highest) and key not in self._pages.get(site, ())

    def _put(self, site: int, key: int, hashes: bytes) -> None:
        pages = self._pages.setdefault(site, {})
        pages[key] = hashes
        self._count += 1
        if len(pages) > self._sample:
            del pages[self._highest.get(site) or max(pages)]
            self._count -= 1
        if len(pages) >= self._sample:
            self._highest[site] = max(pages)

    def _shrink(self) -> None:
        """Halve the samples while there are too many pages.

        Whether that comes to pass depends on how many pages each site has, not on their order.
        """
        while self._count > self.most_pages and self._sample > _FEWEST_OF_SITE:
            self._use_sample(max(_FEWEST_OF_SITE, self._sample // 2))

    def _use_sample(self, sample: int) -> None:
        self._sample = sample
        for site, pages in self._pages.items():
            for key in sorted(pages)[sample:]:
                del pages[key]
            if len(pages) == sample:
                self._highest[site] = max(pages)
        self._count = sum(map(len, self._pages.values()))

    @classmethod
    def _read(cls, data: bytes) -> SiteCounts:
        """The counts of bytes that are known to be as they were written."""
        start = data.index(b"\n") + 1
        facts = json.loads(data[:start])
        counts = cls(facts["unit"], facts["sample"], facts["most_pages"], facts.get("terms", "chunk"))
        counts._sample = facts["reduced"]
        sizes = (facts["sites"], facts["sites"], facts["pages"], facts["pages"])
        columns = []
        for size in sizes:
            columns.append(np.frombuffer(data, "<u8", size, start).tolist())
            start += 8 * size
        sites, pages_of_site, keys, lengths = columns
        pages = iter(zip(keys, lengths, strict=True))
        for site, count in zip(sites, pages_of_site, strict=True):
            for key, length in islice(pages, count):
                counts._put(site, key, data[start : start + length])
                start += length
        return counts


def _digest(parts: Iterable[bytes]) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for part in parts:
        digest.update(part)
    return digest.digest()


def _site_and_key(page: Page) -> tuple[int, int]:
    """The site of a page, and the hash by which it may be drawn: of its URL and its name, or else its content.

    A URL alone is not enough: some collections have no more of it than the host.
    """
    name = page.id
    if name is None:
        name = page.html if isinstance(page.html, str) else page.html.decode("latin-1")
    return site_key(site_of_url(page.url)), hash_text(f"{page.url}\n{name}")


def _several(pages: list[NDArray[np.uint64]]) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """The chunks that are on several pages, and on how many."""
    if not pages:
        return np.zeros(0, np.uint64), np.zeros(0, np.intp)
    hashes, counts = np.unique(np.concatenate(pages), return_counts=True)
    return hashes[counts > 1], counts[counts > 1]


def _unpack(page: bytes) -> tuple[bytes, bytes]:
    """The hashes of a page's chunks, and its words."""
    end = 8 + int.from_bytes(page[:8], "little")
    return page[8:end], page[end:]


def _chunk_signatures(pages: list[NDArray[np.uint64]]) -> list[bytes]:
    """The same for pages that are duplicates: I-Match with chunks for terms (Template 3).

    What more than the square root of all pages have is left out, which is half of the largest idf, so that copies match
    that differ in an advert which other pages have too.
    """
    if not pages:
        return []
    chunks, counts = np.unique(np.concatenate(pages), return_counts=True)
    frequent = chunks[counts**2 > len(pages)]
    signatures = []
    for page in pages:
        rare = page[~np.isin(page, frequent, assume_unique=True)]
        terms = rare if len(rare) else page  # what has nothing of its own is a duplicate only of the very same
        signatures.append(hashlib.sha1(terms.tobytes(), usedforsecurity=False).digest())
    return signatures
