"""`density`: the region of the page with the longest texts and the fewest tags between them (Density, section 4).

The page is a list L with one entry for each structural tag, holding the text that follows the tag; `Block.position`
is the index in that list. The region starts at the longest text and grows over all texts that are long enough and
near enough; what lies between its ends is the main matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mainmatter.methods.contract import Reasons
from mainmatter.records import Document, Extraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OUTSIDE, _INSIDE, _DENSE, _LONGEST, _TOO_FAR = range(5)
_LEGEND = (
    "outside the dense region",
    "between two long texts of the dense region",
    "long, and near the dense region's other texts",
    "the longest text, where the dense region starts",
    "long, but too many tags away from the dense region",
)


@dataclass(frozen=True)
class Density:
    """Keep the dense region of the page; needs no training and no knowledge of the language.

    Args:
        c1: a text is long if it is longer than this share of the longest one.
        c2: two texts are near if their positions differ by less than this.
    """

    c1: float = 0.333
    c2: int = 4

    name: ClassVar[str] = "density"
    summary: ClassVar[str] = "the region with the longest texts and the fewest tags between them (Density 4)"

    def extract(self, document: Document) -> Extraction:
        """Keep what lies between the first and the last text of the dense region."""
        lengths, positions = document.lengths, document.positions
        codes = self._decide(lengths, positions) if len(lengths) else np.zeros(0, np.intp)
        return Extraction(
            document,
            self.name,
            scores=lengths / max(1, lengths.max(initial=0)),
            kept=(codes != _OUTSIDE) & (codes != _TOO_FAR),
            kinds=document.columns.kinds,
            reasons=Reasons(codes, _LEGEND),
        )

    def _decide(self, lengths: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.intp]:
        """Find the region; returns one reason a block."""
        longest = int(lengths.argmax())
        is_long = lengths > lengths[longest] * self.c1
        is_long[longest] = True  # whatever c1 is: the region is never empty
        long = np.flatnonzero(is_long)
        # Growing the region text by text comes to the same as cutting the long texts into chains of near ones.
        chain = np.concatenate(([0], np.cumsum(np.diff(positions[long]) >= self.c2)))
        region = long[chain == chain[np.searchsorted(long, longest)]]
        codes = np.where(is_long, _TOO_FAR, _OUTSIDE)
        codes[region[0] : region[-1] + 1] = _INSIDE
        codes[region] = _DENSE
        codes[longest] = _LONGEST
        return codes
