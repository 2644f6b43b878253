"""`density`: the region of the page with the longest texts and the fewest tags between them (Density, section 4).

The page is a list L with one entry for each structural tag, holding the text that follows the tag; `Block.position`
is the index in that list. The region starts at the longest text and grows over all texts that are long enough and
near enough; what lies between its ends is the main matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mainmatter.method import Reasons
from mainmatter.records import Document, Extraction

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
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {}}

    def extract(self, document: Document) -> Extraction:
        """Keep what lies between the first and the last text of the dense region."""
        lengths = [len(text) for text in document.columns.texts]
        codes = np.zeros(len(lengths), np.intp)
        longest_length = max(lengths, default=0)
        if lengths:
            cutoff = longest_length * self.c1
            long = [i for i, length in enumerate(lengths) if length > cutoff]
            region = self._grow(long, lengths.index(longest_length), document.columns.positions)
            codes[long] = _TOO_FAR
            codes[region[0] : region[-1] + 1] = _INSIDE
            codes[region] = _DENSE
            codes[lengths.index(longest_length)] = _LONGEST
        return Extraction(
            document,
            self.name,
            scores=np.array(lengths) / max(1, longest_length),
            kept=(codes > _OUTSIDE) & (codes < _TOO_FAR),
            kinds=document.columns.kinds,
            reasons=Reasons(codes, _LEGEND),
        )

    def _grow(self, long: list[int], start: int, positions: list[int]) -> list[int]:
        """The region of long texts around the longest one: each is near another one of it."""
        if start not in long:  # c1 of 1 and more
            return [start]
        first = last = long.index(start)
        while first > 0 and positions[long[first]] - positions[long[first - 1]] < self.c2:
            first -= 1
        while last < len(long) - 1 and positions[long[last + 1]] - positions[long[last]] < self.c2:
            last += 1
        return long[first : last + 1]
