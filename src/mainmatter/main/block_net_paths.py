"""Sums over the names of a page's elements, and over the elements around each: what a `BlockNet` makes of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def sum_by(groups: NDArray[np.intp], vectors: NDArray[Any], count: int) -> NDArray[Any]:
    """The sum of the vectors of each of `count` groups, zeros for a group without any."""
    sums = np.zeros((count, vectors.shape[1]), vectors.dtype)
    if not len(groups):
        return sums
    if (groups[1:] < groups[:-1]).any():
        order = np.argsort(groups, kind="stable")
        groups, vectors = groups[order], vectors[order]
    starts = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
    sums[groups[starts]] = np.add.reduceat(vectors, starts, axis=0)
    return sums


def ways_up(parents: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The element one up from each, two up, four up and so on, until all are the first one, which is its own parent."""
    ways = []
    while parents.any():
        ways.append(parents)
        parents = parents.take(parents)
    return ways


def means_of_paths(vectors: NDArray[Any], ways: Sequence[NDArray[np.intp]]) -> NDArray[Any]:
    """For each element the sum over it and all elements around it, divided by its depth.

    The first element counts in all sums, but not as a step of depth. Each round looks twice as far as the one before,
    so that a chain of any length takes few of them.

    Args:
        vectors: one row an element.
        ways: see `ways_up`.
    """
    sums = vectors.copy()
    depths = np.ones(len(vectors), vectors.dtype)
    sums[0] = depths[0] = 0  # else rounds that look beyond the first element would add it again
    for way in ways:
        sums += sums.take(way, axis=0)
        depths += depths.take(way)
    if vectors[0].any():  # a document has no names
        sums += vectors[0]
    depths[0] = 1
    sums /= depths[:, None]
    return sums
