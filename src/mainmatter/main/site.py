"""How `main` uses what is known about a site: a block whose chunk is on many pages of the site becomes less likely.

How much less was found on the 429 pages of training sets whose sites have three pages or more, by logistic regression
over the log odds of nets that had not learned from these sites and (c - 1) / (n - 1 + `_SMOOTHING`), where n pages of
the site were counted and c of them have the block's chunk: what others have, by how many others there are, and less
where few were counted. Chunks by container fit as well as those by block, and better than those by table
(docs/explanation/methods/template.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.main.reasons import PrefixedReasons
from mainmatter.models.store import last_change

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.papers.template.site_counts import SiteTemplates
    from mainmatter.records import Document

_WEIGHT = 4.6  # in log odds, of a chunk that all of very many pages have
_SMOOTHING = 2
_ON_MOST_PAGES = 0.5


@dataclass(frozen=True, slots=True)
class SiteKnowledge:
    """What is known about the blocks of a page.

    Attributes:
        repeated: for each block, from 0, its chunk is on no other page of the site, to nearly 1, on all.
        counts: on how many of the counted pages its chunk is.
        pages: how many were counted.
    """

    repeated: NDArray[np.float64]
    counts: NDArray[np.intp]
    pages: int

    def adjust(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities of the blocks to be main matter, now that this is known."""
        odds_by = np.exp(-_WEIGHT * self.repeated)
        return probabilities * odds_by / (1 - probabilities + probabilities * odds_by)

    def is_repeated(self, block: int) -> bool:
        """Whether most pages of the site have a block's chunk."""
        return bool(self.repeated[block] > _ON_MOST_PAGES)


def know_site(path: str, document: Document) -> SiteKnowledge | None:
    """What the counts of a folder say about a page; None if they know nothing of its site.

    Raises:
        ModelError: the folder holds no counts, or damaged ones.
    """
    counted = load_templates(path).look_up(document)
    if counted.pages < 2 or not len(document):
        return None
    counts = counted.counts[counted.chunks.of_block]
    return SiteKnowledge((counts - 1) / (counted.pages - 1 + _SMOOTHING), counts, counted.pages)


def load_templates(path: str) -> SiteTemplates:
    """The counts of a folder, read once, and once more when they were changed.

    Raises:
        ModelError: they are missing, or damaged.
    """
    return _load(path, last_change(path))


@lru_cache(maxsize=4)
def _load(path: str, changed: int | None) -> SiteTemplates:  # noqa: ARG001 - counts that were written anew are read anew
    from mainmatter.papers.template.site_counts import SiteTemplates  # few have counted sites

    return SiteTemplates.load(path)


@dataclass(frozen=True, slots=True, eq=False)
class SiteCountReasons(PrefixedReasons):
    """A method's reasons, and before them how many pages of the site have the block, if several do."""

    counts: NDArray[np.intp]
    pages: int

    def prefix(self, index: int) -> str:
        """What the site had to say."""
        count = int(self.counts[index])
        return f"its chunk is on {count} of {self.pages} pages of the site" if count >= 2 else ""

    def may_have_prefix(self) -> NDArray[np.bool_]:
        """Of blocks that several pages have."""
        return self.counts >= 2
