"""Real sites, whose templates nobody has marked: what their pages repeat and no gold text has (Template 4.4).

The paper's authors looked at pages and counted their template tables. Here a gold standard stands for that judgement: a
block is part of the template if at least half of the site's pages have its text, and on none of them it is part of the
gold text. That is less than a person would see, who knows a header with a clock in it again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.lab.datasets import site_of
from mainmatter.lab.training.examples import make_example

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction import Run
    from mainmatter.papers.template.method import Template
    from mainmatter.records import Document

SETS = ("cleanportaleval", "daniel-a")
FEWEST_PAGES = 8  # of a site: as many as the smallest of the paper that it tells of
_SHARE_OF_PAGES = 0.5


@dataclass(frozen=True)
class GoldSite:
    """The pages of a site, and of each block what it is.

    Attributes:
        name: its domain.
        documents: its pages.
        is_text: for each page, which blocks are part of its gold text, with most of their words.
        is_template: for each page, which blocks are taken for the template.
    """

    name: str
    documents: tuple[Document, ...]
    is_text: tuple[NDArray[np.bool_], ...]
    is_template: tuple[NDArray[np.bool_], ...]

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def template_blocks(self) -> int:
        """How many blocks of all pages are taken for the template."""
        return sum(int(mask.sum()) for mask in self.is_template)


@dataclass(frozen=True)
class Found:
    """What a method found of a site's template.

    Attributes:
        ratio: the share of the template's blocks that was dropped; None if there are none.
        outside: the share that was dropped of all characters outside of the gold texts.
        precision: the share of the characters dropped that is outside of the gold texts; 1 if none was dropped.
    """

    ratio: float | None
    outside: float
    precision: float


def sites_of(pages: Sequence[GoldPage]) -> list[list[GoldPage]]:
    """The pages of each site that has enough of them, the largest site first."""
    by_site: dict[str, list[GoldPage]] = defaultdict(list)
    for one in pages:
        by_site[site_of(one)].append(one)
    in_order = sorted(by_site.items(), key=lambda item: (-len(item[1]), item[0]))
    return [its for _, its in in_order if len(its) >= FEWEST_PAGES]


def load_sites(run: Run) -> dict[str, list[list[GoldPage]]]:
    """The large sites of each gold standard that is used here."""
    return {name: sites_of(run.load(name)) for name in SETS}


def describe(name: str, sites: Sequence[Sequence[GoldPage]]) -> str:
    """Which part of a gold standard is measured, in words."""
    pages = sum(map(len, sites))
    return f"**{name}**: {pages} pages of the {len(sites)} sites with {FEWEST_PAGES} pages or more"


def read_site(pages: Sequence[GoldPage]) -> GoldSite:
    """Read the pages of a site, align their gold texts, and look what they repeat."""
    examples = [make_example(one) for one in pages]
    documents = tuple(example.document for example in examples)
    is_text = tuple(example.kept for example in examples)
    on_pages: Counter[str] = Counter()
    in_gold: set[str] = set()
    for document, mask in zip(documents, is_text, strict=True):
        texts = _compared(document)
        on_pages.update(set(texts))
        in_gold.update(text for text, is_gold in zip(texts, mask.tolist(), strict=True) if is_gold)
    template = {text for text, count in on_pages.items() if count >= _SHARE_OF_PAGES * len(documents)} - in_gold
    is_template = tuple(np.array([text in template for text in _compared(one)], np.bool_) for one in documents)
    return GoldSite(site_of(pages[0]), documents, is_text, is_template)


def dropped_blocks(method: Template, site: GoldSite) -> list[NDArray[np.bool_]]:
    """For each page of a site, which blocks a method drops."""
    return [~method.extract(document).kept for document in site.documents]


def measure(dropped: Iterable[NDArray[np.bool_]], site: GoldSite) -> Found:
    """Compare what was dropped with what a site's template and its gold texts are."""
    found = outside = all_outside = all_dropped = 0
    for mask, document, is_text, is_template in zip(
        dropped, site.documents, site.is_text, site.is_template, strict=True
    ):
        lengths = document.lengths
        found += int((mask & is_template).sum())
        outside += int(lengths[mask & ~is_text].sum())
        all_outside += int(lengths[~is_text].sum())
        all_dropped += int(lengths[mask].sum())
    return Found(
        found / site.template_blocks if site.template_blocks else None,
        outside / max(1, all_outside),
        outside / all_dropped if all_dropped else 1.0,
    )


def _compared(document: Document) -> list[str]:
    """The texts of a page's blocks, as they are compared: without regard to case."""
    return [text.lower() for text in document.columns.texts]
