"""How `main` judges a plain-text dump: without markup its net knows next to nothing, so NCleaner's models judge.

What they find is made a probability, so that `main` can choose what promises the highest F, as it does on pages: that
is a little better than NCleaner's threshold, and has a dial (docs/guide/plain-text-dumps.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.method import LazyReasons
from mainmatter.papers.ncleaner.method import Ncleaner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.records import Document

# The models count each letter as evidence of its own, which it is not: their odds are far too sure. By this they are
# divided, and by the other recall counts beside precision; both were chosen on 400 pages of wcxb-dev.
_TEMPERATURE = 10.0
BETA = 0.7


@dataclass(frozen=True)
class DumpReasons(LazyReasons):
    """One sentence a block: how likely it is, and why NCleaner's models say so."""

    probabilities: NDArray[np.float64]
    reasons: Sequence[str]

    def __len__(self) -> int:
        return len(self.probabilities)

    def reason(self, index: int) -> str:
        """The sentence about one block."""
        return f"probability {self.probabilities[index]:.2f}: {self.reasons[index]}"


def judge_dump(document: Document) -> DumpReasons:
    """How likely each block of a dump is main matter, and why."""
    found = _ncleaner().extract(document)
    probabilities = 1 / (1 + np.exp(-np.clip(found.scores / _TEMPERATURE, -500, 500)))
    probabilities[~found.kept & (found.scores > 0)] = 0  # navigation bars, whatever their letters
    return DumpReasons(probabilities, found.reasons)


@cache
def _ncleaner() -> Ncleaner:
    return Ncleaner(never_empty=False).load_shipped()
