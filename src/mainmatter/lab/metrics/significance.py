"""Is one method better than another on the same pages? The paired t-test of NCleaner, section 4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.errors import InputError
from mainmatter.lab.metrics.sequences import need

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class TTest:
    """Student's t, its degrees of freedom, and the two-sided probability of such a difference by chance."""

    t: float
    df: int
    p: float


def paired_t_test(a: Sequence[float], b: Sequence[float]) -> TTest:
    """Compare two lists of scores of the same pages; t is positive if those of `a` are higher.

    Defined where scipy.stats.ttest_rel warns and returns NaN: equal scores, or fewer than two pages, prove
    nothing (t = 0, p = 1), and one and the same difference on all pages is certain (t infinite, p = 0).

    Raises:
        InputError: if the lists differ in length.
    """
    if len(a) != len(b):
        raise InputError(f"a paired t-test needs the same pages on both sides, not {len(a)} and {len(b)} scores")
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    df = max(len(a) - 1, 0)
    if df == 0 or not difference.any():
        return TTest(0.0, df, 1.0)
    mean = float(difference.mean())
    error = float(difference.std(ddof=1)) / math.sqrt(len(a)) if np.ptp(difference) else 0.0
    t = mean / error if error else math.copysign(math.inf, mean)
    return TTest(t, df, 2 * float(need("scipy.special").stdtr(df, -abs(t))))
