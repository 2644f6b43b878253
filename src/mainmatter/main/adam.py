"""AdamW (Loshchilov & Hutter 2019, algorithm 2) with the one-cycle policy (Smith & Topin 2018, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_MEMORY_OF_SQUARES = 0.999
_TINY = 1e-8  # is added to what is divided by
_MEMORY = (0.95, 0.85)  # of the direction: at both ends of the cycle, and at its peak


@dataclass(frozen=True, slots=True)
class OneCycle:
    """The rate climbs to its peak, then falls to almost nothing, both along half a wave of a cosine.

    Attributes:
        peak: the highest rate.
        steps: how many there will be.
        climb: the share of the steps that it climbs.
        start: by how much the first rate is below the peak.
        end: by how much the last rate is below the first.
    """

    peak: float
    steps: int
    climb: float = 0.15
    start: float = 25.0
    end: float = 1e4

    def at(self, step: int) -> tuple[float, float]:
        """The rate and the memory of the direction (beta 1) of a step, counted from 0."""
        top, last = self.climb * self.steps - 1, self.steps - 1
        first = self.peak / self.start
        slow, fast = _MEMORY
        if step <= top:
            way = step / top if top > 0 else 1.0
            return _between(first, self.peak, way), _between(slow, fast, way)
        way = min(1.0, (step - top) / (last - top))
        return _between(self.peak, first / self.end, way), _between(fast, slow, way)


class AdamW:
    """Changes arrays in small steps against their gradients.

    Args:
        arrays: where to start; copied.
        decays: by how much, at a rate of 1, each array shrinks in a step.
        longest: gradients that are longer, all together, are cut to this.

    Attributes:
        arrays: as they are now.
    """

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], decays: Mapping[str, float], longest: float = np.inf
    ) -> None:
        # One long vector: few large operations instead of many small ones.
        self._all = np.concatenate([array.ravel() for array in arrays.values()])
        self._parts: list[tuple[slice, float]] = []
        self.arrays: dict[str, NDArray[Any]] = {}
        start = 0
        for name, array in arrays.items():
            part = slice(start, start + array.size)
            self.arrays[name] = self._all[part].reshape(array.shape)
            self._parts.append((part, decays[name]))
            start = part.stop
        self._direction, self._squares = np.zeros_like(self._all), np.zeros_like(self._all)
        self._longest = longest
        self._steps = 0

    def step(self, gradients: Mapping[str, NDArray[Any]], rate: float, memory: float) -> None:
        """Go a step.

        Args:
            gradients: by the names of the arrays.
            rate: how far.
            memory: how much of earlier directions is kept (beta 1).
        """
        gradient = np.concatenate([gradients[name].ravel() for name in self.arrays])
        length = sqrt(float(gradient @ gradient))
        if length > self._longest:
            gradient *= self._longest / (length + 1e-6)
        self._steps += 1
        for part, decay in self._parts:
            self._all[part] *= 1 - rate * decay
        self._direction *= memory
        self._direction += (1 - memory) * gradient
        gradient *= gradient
        gradient *= 1 - _MEMORY_OF_SQUARES
        self._squares *= _MEMORY_OF_SQUARES
        self._squares += gradient
        below = np.sqrt(self._squares, out=gradient)
        below /= sqrt(1 - _MEMORY_OF_SQUARES**self._steps)
        below += _TINY
        np.divide(self._direction, below, out=below)
        below *= rate / (1 - memory**self._steps)
        self._all -= below


def _between(first: float, last: float, way: float) -> float:
    return last + (first - last) * (1 + cos(pi * way)) / 2
