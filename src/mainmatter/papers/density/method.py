"""`density`: the region of the page with the longest texts and the fewest tags between them (Density, section 4).

The page is a list L with one entry for each structural tag, holding the text that follows the tag; `Block.position`
is the index in that list. The region starts at the longest text and grows over all texts that are long enough and
near enough; what lies between its ends is the main matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from mainmatter.errors import InputError
from mainmatter.method import Reasons
from mainmatter.papers.density.smoothing import MOST_SMOOTHING, Edge, smooth_region
from mainmatter.papers.density.strings import blocks_as_strings, strings_by_tags
from mainmatter.records import Document, Extraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.papers.density.strings import Strings

ListOf = Literal["blocks", "tags"]

# Of what is true of a block that is made of several strings, the last one here counts.
_OUTSIDE, _TOO_FAR, _INSIDE, _SMOOTH, _DENSE, _LONGEST = range(6)
_LEGEND = (
    "outside the dense region",
    "long, but too many tags away from the dense region",
    "between two long texts of the dense region",
    "around the highest point of the smoothed density curve",
    "long, and near the dense region's other texts",
    "the longest text, where the dense region starts",
)


@dataclass(frozen=True)
class Density:
    """Keep the dense region of the page; needs no training and no knowledge of the language.

    Args:
        c1: a text is long if it is longer than this share of the longest one.
        c2: two texts are near if their positions differ by less than this.
        strings: what the texts are: "blocks", or "tags", the paper's list, in which every block-level start tag and
            every `<br>` starts a text. A block is kept if some of its texts are.
        smoothing: the degree of a polynomial that replaces the density curve; the region is then around its highest
            point. 0 for none.
        edge: where the region around the highest point of the smoothed curve ends: where the curve falls to the
            share `c1` of its height ("cutoff"), at its next "minimum", or at its next "inflection".
    """

    c1: float = 0.333
    c2: int = 4
    strings: ListOf = "blocks"
    smoothing: int = 0
    edge: Edge = "cutoff"

    name: ClassVar[str] = "density"
    summary: ClassVar[str] = "the region with the longest texts and the fewest tags between them (Density 4)"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {"strings": "tags"}}

    def __post_init__(self) -> None:
        for name, value, known in (("strings", self.strings, ListOf), ("edge", self.edge, Edge)):
            if value not in get_args(known):
                raise InputError(f"density: {name} must be one of {', '.join(get_args(known))}, not {value!r}")
        if not 0 <= self.smoothing <= MOST_SMOOTHING:
            raise InputError(
                f"density: smoothing must be a whole number from 0 to {MOST_SMOOTHING}, not {self.smoothing}"
            )

    def extract(self, document: Document) -> Extraction:
        """Keep what lies between the first and the last text of the dense region."""
        strings = strings_by_tags(document) if self.strings == "tags" else blocks_as_strings(document)
        lengths = np.array([len(text) for text in strings.texts], np.intp)
        longest_length = int(lengths.max(initial=0))
        codes = self._judge(lengths, strings.positions) if len(lengths) else lengths
        if self.strings == "tags":
            codes, lengths = (_of_blocks(of_strings, strings) for of_strings in (codes, lengths))
        return Extraction(
            document,
            self.name,
            scores=lengths / max(1, longest_length),
            kept=codes > _TOO_FAR,
            kinds=document.columns.kinds,
            reasons=Reasons(codes, _LEGEND),
        )

    def _judge(self, lengths: NDArray[np.intp], positions: list[int]) -> NDArray[np.intp]:
        """What is true of each text."""
        codes = np.full(len(lengths), _OUTSIDE, np.intp)
        longest = int(lengths.argmax())
        if self.smoothing:
            first, last = smooth_region(lengths, positions, self.smoothing, self.edge, self.c1)
            codes[first : last + 1] = _SMOOTH
            return codes
        long = np.flatnonzero(lengths > lengths[longest] * self.c1).tolist()
        region = self._grow(long, longest, positions)
        codes[long] = _TOO_FAR
        codes[region[0] : region[-1] + 1] = _INSIDE
        codes[region] = _DENSE
        codes[longest] = _LONGEST
        return codes

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


def _of_blocks(of_strings: NDArray[np.intp], strings: Strings) -> NDArray[np.intp]:
    """For each block the highest number of its strings."""
    return np.array([of_strings[first:end].max() for first, end in strings.of_blocks], np.intp)
