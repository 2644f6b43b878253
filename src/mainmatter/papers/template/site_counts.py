"""On how many pages of its site each chunk is: counting in one pass, in bounded memory (Template, sections 3 and 4.4).

Most templates are on every page of their site, so some pages tell as much as all (Template 4.4). Of each site those
pages are counted whose hash is among the lowest, `sample` of them: a random sample that does not depend on the order of
the pages, nor on how they are spread over shards, and that can be merged. A page that is not in the sample need not
even be read: ask `wants`.

The counts of a sample are exact. What the sample does not tell is stated by its size: the share of pages with a chunk
differs from that of the whole site by more than sqrt(ln(2 / d) / (2 n)) with a chance of at most d, where n is the
number of pages in the sample (Hoeffding): with 200 pages, by more than 0.1 once in 27 chunks.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mainmatter.errors import InputError
from mainmatter.inputs.sites import site_of_url
from mainmatter.papers.template.chunks import Unit, check_unit, find_chunks, hash_text
from mainmatter.papers.template.min_max import cluster_sets
from mainmatter.papers.template.site_templates import SiteTemplates, Summary, site_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from mainmatter.records import Document, Page

SAMPLE = 200
# In all, of all sites. Each takes about 1.1 KB: 8 bytes a chunk, and what Python needs. Pages are bounded, not chunks:
# how many chunks there are on the way depends on the order of the pages, and the samples must not.
MOST_PAGES = 1 << 20
# A page with more chunks is counted by those with the lowest hashes, which are the same chunks on all pages.
_MOST_CHUNKS = 2048
_FEWEST_OF_SITE = 4
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
    """

    unit: Unit = "container"
    sample: int = SAMPLE
    most_pages: int = MOST_PAGES

    name: ClassVar[str] = "template"

    # By site and by the page's hash: the chunks' hashes.
    _pages: dict[int, dict[int, bytes]] = field(init=False, repr=False, default_factory=dict)
    _highest: dict[int, int] = field(init=False, repr=False, default_factory=dict)  # of the sites with a full sample
    _count: int = field(init=False, repr=False, default=0)
    _sample: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_unit(self.name, self.unit)
        for name, least in (("sample", _FEWEST_OF_SITE), ("most_pages", 1)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise InputError(f"method {self.name!r}: {name} is a whole number from {least}, not {value!r}")
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
            hashes = np.unique(find_chunks(document, self.unit).hashes)[:_MOST_CHUNKS]
            self._put(site, key, hashes.astype("<u8").tobytes())
            self._shrink()

    def merge(self, other: SiteCounts) -> None:
        """Take over what was counted elsewhere. The result is that of counting all pages here, in any order.

        Raises:
            InputError: the other was counted with other parameters.
        """
        if (other.unit, other.sample, other.most_pages) != (self.unit, self.sample, self.most_pages):
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
        facts = {"unit": self.unit, "sample": self.sample, "most_pages": self.most_pages, "reduced": self._sample}
        facts |= {"sites": len(sites), "pages": len(pages)}
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
            InputError: these bytes are none, or are damaged.
        """
        if not data.startswith(_MAGIC):
            raise InputError("not site counts of mainmatter, or of another version")
        rest = data[len(_MAGIC) + _DIGEST :]
        if data[len(_MAGIC) : len(_MAGIC) + _DIGEST] != _digest([rest]):
            raise InputError("damaged site counts: what was written is not what is there")
        return cls._read(rest)

    def templates(self, *, cluster: bool = False, drop_duplicates: bool = True) -> SiteTemplates:
        """On how many pages of its site each chunk is that is on several.

        Args:
            cluster: put pages of one template together first, and count each cluster by itself (Template 4.2).
            drop_duplicates: count pages that are duplicates once. They are found by I-Match, with chunks for
                terms.
        """
        summaries = []
        for site in sorted(self._pages):
            pages = [np.frombuffer(hashes, "<u8") for _, hashes in sorted(self._pages[site].items())]
            if drop_duplicates:
                pages = _without_duplicates(pages)
            labels = cluster_sets(pages) if cluster else np.zeros(len(pages), np.intp)
            groups = [
                [page for page, label in zip(pages, labels, strict=True) if label == number]
                for number in range(int(labels.max(initial=0)) + 1)
            ]
            summaries.append(Summary(site, [(len(group), *_several(group)) for group in groups]))
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
        counts = cls(facts["unit"], facts["sample"], facts["most_pages"])
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

    A URL alone is not enough: some collections know no more of it than the host.
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


def _without_duplicates(pages: list[NDArray[np.uint64]]) -> list[NDArray[np.uint64]]:
    """The pages without those that repeat an earlier one: I-Match with chunks for terms (Template 3).

    What more than the square root of all pages have is left out, which is half of the largest idf, so that copies match
    that differ in an advert which other pages have too.
    """
    if not pages:
        return pages
    chunks, counts = np.unique(np.concatenate(pages), return_counts=True)
    frequent = chunks[counts**2 > len(pages)]
    first: dict[bytes, NDArray[np.uint64]] = {}
    for page in pages:
        rare = page[~np.isin(page, frequent, assume_unique=True)]
        terms = rare if len(rare) else page  # what has nothing of its own is a duplicate only of the very same
        first.setdefault(hashlib.sha1(terms.tobytes(), usedforsecurity=False).digest(), page)
    return list(first.values())
