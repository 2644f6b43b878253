"""`template`: what a site repeats on many of its pages is template, and what is left is the text (Template, section 3).

Unlike all other methods, this one learns a site, not what pages look like: `fit` counts on how many pages of their site
chunks are (site_counts.py), and `extract` drops the chunks that are on many. It keeps
everything of a site that was not counted; so does a method that was not fitted at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mainmatter.errors import InputError
from mainmatter.html.read import read_html
from mainmatter.method import Example, LazyReasons, Trainable, be_silent, need_some
from mainmatter.papers.template.imatch import LEAST_IDF
from mainmatter.papers.template.site_counts import (
    METHOD,
    MOST_PAGES,
    SAMPLE,
    VERSION,
    Counted,
    SiteCounts,
    SiteTemplates,
)
from mainmatter.records import Document, Extraction, Page
from mainmatter.text.read import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from mainmatter.papers.template.chunks import Unit
    from mainmatter.papers.template.site_counts import Terms


@dataclass(eq=False)
class Template(Trainable[SiteCounts]):
    """Drop the chunks that many pages of the site have; needs some pages of each site, and no gold text.

    Args:
        unit: what a chunk is: the text between two nearest tags of tables ("table", the paper's) or of anything that
            holds blocks ("container"), or each block by itself ("block").
        threshold: a chunk is template if it is on at least so many pages of the site (the paper's figure 3: 4),
        share: and on at least this share of them.
        sample: count at most so many pages of each site.
        cluster: put pages with the same template together first, and count each cluster by itself (Template 4.2).
        drop_duplicates: count pages that are duplicates once.
        over: a chunk must be on more pages than `threshold`, as the paper says, not on as many.
        terms: what I-Match tells duplicates by: "chunk", since chunks are counted anyway, or "word" (the paper's).
        least_idf: if terms are words, I-Match leaves those out whose idf is lower: 0 on every page, 1 on one,
        most_idf: and those whose idf is higher.
    """

    unit: Unit = "container"
    threshold: int = 4
    share: float = 0.1
    sample: int = SAMPLE
    cluster: bool = False
    drop_duplicates: bool = True
    over: bool = False
    terms: Terms = "chunk"
    least_idf: float = LEAST_IDF
    most_idf: float = 1.0

    sites_: SiteTemplates = field(init=False, repr=False)

    name: ClassVar[str] = METHOD
    summary: ClassVar[str] = "all but what many pages of the site have; learns each site (Template 3)"
    # Section 3, without the clusters that section 4.2 tries; the threshold of figure 3. All pages are counted, as many
    # as memory is meant for.
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "unit": "table",
            "threshold": 4,
            "over": True,
            "share": 0.0,
            "sample": MOST_PAGES,
            "cluster": False,
            "drop_duplicates": True,
            "terms": "word",
            "least_idf": 0.1,
            "most_idf": 1.0,
        }
    }
    version: ClassVar[int] = VERSION
    learned_with: ClassVar[frozenset[str]] = frozenset({"unit"})
    learns_from_snippets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.no_counts()  # complains, if need be
        if type(self.threshold) is not int or self.threshold < 2:
            raise InputError(f"method {self.name!r}: threshold must be a whole number from 2, not {self.threshold!r}")
        for name in ("share", "least_idf", "most_idf"):
            if not 0 <= (value := getattr(self, name)) <= 1:
                raise InputError(f"method {self.name!r}: {name} must be from 0 to 1, not {value!r}")

    def no_counts(self) -> SiteCounts:
        """Counts of this method's unit, sample and terms, before the first page."""
        return SiteCounts(self.unit, self.sample, terms=self.terms)

    def fit(self, examples: Iterable[Page | Document | Example], report: Callable[[str], object] = be_silent) -> Self:
        """Count the pages of one or many sites, one after the other; those of no URL are one site.

        Args:
            examples: the pages, read or not; gold texts are not needed, and are ignored.
            report: called with a line about the progress now and then.

        Raises:
            InputError: there are no pages.
        """
        counts, pages = self.no_counts(), 0
        for pages, example in enumerate(examples, 1):  # noqa: B007 - counted
            _count(counts, example)
        return self.learn([counts] if pages else [], report)

    def observe(self, example: Page | Document | Example) -> SiteCounts:
        """Take the chunks of one page."""
        counts = self.no_counts()
        _count(counts, example)
        return counts

    def learn(self, observations: Sequence[SiteCounts], report: Callable[[str], object] = be_silent) -> Self:
        """Put the counts of pages, or of parts of a collection, together.

        Raises:
            InputError: there are none.
        """
        need_some(observations, self.name)
        counts = self.no_counts()
        for observed in observations:
            counts.merge(observed)
        self.sites_ = counts.templates(
            cluster=self.cluster,
            drop_duplicates=self.drop_duplicates,
            least_idf=self.least_idf,
            most_idf=self.most_idf,
        )
        pages, sites = len(counts), len(self.sites_.sites)
        report(f"{pages:,} page{'s' * (pages != 1)} of {sites:,} site{'s' * (sites != 1)} counted")
        return self

    def extract(self, document: Document) -> Extraction:
        """Keep the chunks that few pages of the site have, or all if the site is unknown."""
        if not hasattr(self, "sites_"):
            return self._keep_all(document, "no site was counted")
        counted = self.sites_.look_up(document)
        if not counted.pages:
            return self._keep_all(document, "no page of this site was counted")
        of_block = counted.chunks.of_block
        return Extraction(
            document,
            self.name,
            scores=(1 - counted.counts / max(1, counted.pages))[of_block],
            kept=~self.is_template(counted)[of_block],
            kinds=document.columns.kinds,
            reasons=SiteReasons(counted.counts[of_block], counted.pages),
            threshold=1 - self._least(counted) / max(1, counted.pages),
        )

    def is_template(self, counted: Counted) -> NDArray[np.bool_]:
        """Which chunks of a page are template."""
        return counted.counts >= self._least(counted)

    def _least(self, counted: Counted) -> float:
        """On how many pages what is template is at least."""
        return max(self.threshold + self.over, self.share * counted.pages)

    def load_shipped(self) -> Self:
        """Nothing ships: what this method learns is a site."""
        return self

    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The tables of all sites.

        Raises:
            InputError: no site was counted.
        """
        if not hasattr(self, "sites_"):
            raise InputError(f"method {self.name!r} has not counted any site: call fit or load first")
        return self.sites_.facts_and_arrays()

    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over the tables."""
        sites = SiteTemplates.restore(facts, arrays)
        if sites.unit != self.unit:
            raise ValueError(f"counted by {sites.unit}, not by {self.unit}")
        self.sites_ = sites

    def _keep_all(self, document: Document, reason: str) -> Extraction:
        count = len(document)
        return Extraction(
            document, self.name, np.ones(count), np.ones(count, np.bool_), document.columns.kinds, [reason] * count
        )


@dataclass(frozen=True, slots=True, eq=False)
class SiteReasons(LazyReasons):
    """One sentence a block: on how many pages of the site its chunk is."""

    counts: NDArray[np.intp]
    pages: int

    def __len__(self) -> int:
        return len(self.counts)

    def reason(self, index: int) -> str:
        """The sentence about one block."""
        count = int(self.counts[index])
        if self.pages < 2:
            return "no other page of the site was counted"
        if count < 2:
            return f"its chunk is on no other of {self.pages} pages of the site"
        return f"its chunk is on {count} of {self.pages} pages of the site"


def _count(counts: SiteCounts, example: Page | Document | Example) -> None:
    """Count a page; one that is not in the sample is not read."""
    if isinstance(example, Page):
        if counts.wants(example):
            counts.add(read_text(example) if example.format == "text" else read_html(example))
    else:
        counts.add(example.document if isinstance(example, Example) else example)
