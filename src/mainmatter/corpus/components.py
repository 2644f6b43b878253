"""Connected components of pages: which page is the first of those that are connected with it.

`join` does it in memory. `first_of_components` does it for more pages and edges than memory holds. It cuts the pages,
in their order, into ranges, and holds one range at a time. From the last range to the first, it joins the edges among
the range's own pages. If a component has edges to pages before the range, it remembers the lowest of these pages, and
connects that one with the others; those edges belong to earlier ranges. From the first range to the last, each
component then takes over what the page that it remembers has found.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Indices = NDArray[np.int64]
    Pairs = NDArray[np.int64]  # of two columns

_WIDTH = 8_000_000  # pages of a range: 400 MB
_PAIRS = 4_000_000  # that are read at once: 64 MB, and some times that while they are joined


def join(first: Indices, ones: Indices, others: Indices) -> Indices:
    """Make one group of each two pages' groups; `first` has for each page the first of its group."""
    from scipy.sparse import coo_array  # comes with datasketch
    from scipy.sparse.csgraph import connected_components

    ones, others = first[ones], first[others]
    apart = ones != others
    if not apart.any():
        return first
    nodes, ends = np.unique(np.concatenate((ones[apart], others[apart])), return_inverse=True)
    half = len(ends) // 2
    edges = coo_array((np.ones(half, np.int8), (ends[:half], ends[half:])), shape=(len(nodes), len(nodes)))
    count, labels = connected_components(edges, directed=False)
    smallest = np.full(count, len(first))
    np.minimum.at(smallest, labels, nodes)
    moved: Indices = np.arange(len(first))
    moved[nodes] = smallest[labels]
    return moved[first]


def first_of_components(edges: Iterable[Pairs], count: int) -> Iterator[Pairs]:
    """Find the first page of each component. Memory: `_WIDTH` pages; disk: some times the edges, in TMPDIR.

    Args:
        edges: pairs of pages that belong together, some at a time; the first of a pair is the larger number.
        count: how many pages there are; their numbers are less.

    Yields:
        Each page that is not the first of its component, and that one; ascending, some at a time.
    """
    width = max(1, min(_WIDTH, count))
    begins = range(0, count, width)
    none = count
    with TemporaryDirectory() as place:
        files = _Files(Path(place), width)
        for pairs in edges:
            files.add("edges", pairs)
        for begin in reversed(begins):
            first: Indices = np.arange(width)  # of the part of the component within the range
            below = np.full(width, none)  # the lowest page under the range that a page is connected with
            for pairs in files.read("edges", begin):
                inside = pairs[:, 1] >= begin
                first = join(first, *(pairs[inside] - begin).T)
                np.minimum.at(below, pairs[~inside, 0] - begin, pairs[~inside, 1])
            lowest = np.full(width, none)  # of all the pages of a component
            np.minimum.at(lowest, first, below)
            for pairs in files.read("edges", begin):
                outer = pairs[pairs[:, 1] < begin]
                moved = np.column_stack((outer[:, 1], lowest[first[outer[:, 0] - begin]]))
                files.add("edges", np.unique(moved[moved[:, 0] != moved[:, 1]], axis=0))
            asking = np.flatnonzero(lowest != none)
            files.add("asked", np.column_stack((lowest[asking], asking + begin)))
            files.add("first", np.column_stack((np.arange(width), first))[first != np.arange(width)] + begin)
        for begin in begins:
            first = np.arange(begin, begin + width)
            for pairs in files.read("first", begin):
                first[pairs[:, 0] - begin] = pairs[:, 1]
            known: Indices = np.arange(begin, begin + width)
            for pairs in files.read("answered", begin):
                known[pairs[:, 0] - begin] = pairs[:, 1]
            first = known[first - begin]
            for pairs in files.read("asked", begin):
                files.add("answered", np.column_stack((pairs[:, 1], first[pairs[:, 0] - begin])))
            found = np.flatnonzero(first != np.arange(begin, begin + width))
            yield np.column_stack((found + begin, first[found]))


class _Files:
    """Pairs in files, one for each range of their first number."""

    def __init__(self, place: Path, width: int) -> None:
        self._place, self._width = place, width

    def add(self, name: str, pairs: Pairs) -> None:
        ranges = pairs[:, 0] // self._width
        order = np.argsort(ranges, kind="stable")
        pairs, ranges = np.ascontiguousarray(pairs[order]), ranges[order]
        for start, end in pairwise((*np.flatnonzero(np.diff(ranges, prepend=-1)).tolist(), len(pairs))):
            with self._file(name, int(ranges[start])).open("ab") as file:
                pairs[start:end].tofile(file)

    def read(self, name: str, begin: int) -> Iterator[Pairs]:
        path = self._file(name, begin // self._width)
        if path.exists():
            with path.open("rb") as file:
                while len(pairs := np.fromfile(file, np.int64, 2 * _PAIRS)):
                    yield pairs.reshape(-1, 2)

    def _file(self, name: str, number: int) -> Path:
        return self._place / f"{name}-{number}"
