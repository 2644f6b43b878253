"""The paper's future work (Density, section 6): a polynomial in place of the density curve.

The paper proposes to "approximate a smooth function such as a polynomial function to the density values using a least
squares method", and to "use the maximum, minimum, first and second order derivatives to select the highest density
region"; it says no more. docs/results/density-tuning.md has what it gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.polynomial.chebyshev import Chebyshev, chebvander

if TYPE_CHECKING:
    from numpy.typing import NDArray

Edge = Literal["cutoff", "minimum", "inflection"]
MOST_SMOOTHING = 64  # the highest degree


def smooth_curve(lengths: NDArray[np.intp], positions: list[int], degree: int) -> Chebyshev:
    """The polynomial nearest to the density curve by least squares; empty strings have the length 0."""
    curve = np.zeros(positions[-1] + 1)
    curve[positions] = lengths
    places = np.linspace(-1, 1, len(curve))
    # Chebyshev's polynomials span the same curves as powers do, and lose less precision.
    values = chebvander(places, min(degree, len(curve) - 1))
    coefficients, *_ = np.linalg.lstsq(values, curve, rcond=len(curve) * np.finfo(float).eps)
    return Chebyshev(coefficients, domain=[0, max(1, len(curve) - 1)])


def smooth_region(
    lengths: NDArray[np.intp], positions: list[int], degree: int, edge: Edge, c1: float
) -> tuple[int, int]:
    """The first and the last text around the highest point of the polynomial; `Density` has the arguments."""
    curve = smooth_curve(lengths, positions, degree)
    places = np.arange(positions[-1] + 1)
    heights = curve(places)
    top = int(heights.argmax())
    if edge == "cutoff":
        ends_left = ends_right = heights <= c1 * heights[top]
    elif edge == "minimum":
        slope = curve.deriv()(places)
        ends_left, ends_right = slope < 0, slope > 0
    else:
        ends_left = ends_right = curve.deriv(2)(places) >= 0
    before, after = np.flatnonzero(ends_left[:top]), np.flatnonzero(ends_right[top + 1 :])
    left = int(before[-1]) + 1 if len(before) else 0
    right = top + int(after[0]) if len(after) else len(places) - 1
    first, last = (int(place) for place in np.searchsorted(positions, (left, right + 1)))
    longest = int(lengths.argmax())
    return (first, last - 1) if first < last else (longest, longest)  # no text may stand there
