"""Growing and pruning decision trees as C4.5 does (Quinlan 1993, release 8).

What it has: numeric tests with two branches, categorical tests with one branch for each value, gain ratio among tests
of at least average gain, the penalty for the choice of a threshold (release 8), a smallest size of branches,
pessimistic pruning, instances with weights. What it lacks: missing values, which our features do not have, and the
raising of subtrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainmatter.papers.ice.decision_tree import LEAF, Attribute, DecisionTree, extra_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SLACK = 1e-3  # C4.5: a test may have this much less than the average gain
_PRUNING_SLACK = 0.1  # C4.5: a leaf may be expected to make this many errors more than the tree that it replaces
_LEAST_GAIN = 1e-9
# Both branches of a numeric test have this share of the instances, divided by the number of classes. C4.5 asks for 25
# instances at most, which suits sets of thousands. On hundreds of thousands the gain ratio would cut off crumbs of that
# size one after the other, since tests that divide nothing have the smallest split information.
_LEAST_SHARE = 0.1
# The most thresholds that are tried at one node, evenly spread over the instances; only large sets have more.
_MOST_THRESHOLDS = 2000
_CELLS_AT_ONCE = 1_000_000  # numbers in one array while tests are compared: bounds the memory


@dataclass(slots=True)
class _Split:
    """A test of a node, and what it brings."""

    attribute: int
    gain: float
    split_information: float
    threshold: float = 0.0

    @property
    def ratio(self) -> float:
        return self.gain / self.split_information


def grow_tree(
    attributes: Sequence[Attribute],
    values: NDArray[np.float64],
    classes: Sequence[str],
    labels: NDArray[np.intp],
    weights: NDArray[np.float64] | None = None,
    *,
    min_leaf: int = 2,
    confidence: float = 0.25,
) -> DecisionTree:
    """Learn a decision tree.

    Args:
        attributes: what is known about the instances.
        values: a row for each attribute, a column for each instance; categorical ones as numbers of their values.
        classes: the names of the classes.
        labels: the number of the class of each instance.
        weights: how much each instance counts, by default 1; they are scaled to 1 on average.
        min_leaf: at least two branches of each test have so many instances.
        confidence: for pruning: the smaller, the smaller the tree; 1 does not prune.

    Returns:
        The tree. The same instances give the same tree.
    """
    growing = _Growing(attributes, values, len(classes), labels, weights, min_leaf)
    growing.grow()
    if confidence < 1:
        growing.prune(confidence)
    tests, thresholds, branches, counts = growing.nodes()
    return DecisionTree(
        tuple(attributes), tuple(classes), tests, thresholds, branches, counts, min(confidence, 1 - 1e-9)
    )


class _Growing:
    """A tree in the making: nodes as parallel lists, as in `DecisionTree`."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        values: NDArray[np.float64],
        classes: int,
        labels: NDArray[np.intp],
        weights: NDArray[np.float64] | None,
        min_leaf: int,
    ) -> None:
        self.attributes = attributes
        self.numeric = [i for i, attribute in enumerate(attributes) if attribute.values is None]
        self.categorical = [i for i, attribute in enumerate(attributes) if attribute.values is not None]
        self.values = values
        self.distinct = {i: np.unique(values[i]) for i in self.numeric}
        self.classes = classes
        self.labels = labels
        total = 0.0 if weights is None else float(weights.sum())
        self.weights = np.ones(len(labels)) if weights is None or total <= 0 else weights * (len(labels) / total)
        self.min_leaf = max(1, min_leaf)
        self.tests: list[int] = []
        self.thresholds: list[float] = []
        self.branches: list[list[int]] = []
        self.counts: list[NDArray[np.float64]] = []

    def grow(self) -> None:
        order = np.argsort(self.values[self.numeric], axis=1, kind="stable")
        if not self.numeric:
            order = np.arange(len(self.labels))[None, :]
        self._add_node(order)
        # Node, its instances in the order of each numeric attribute, the categorical attributes not yet asked for.
        waiting = [(0, order, self.categorical)]
        side = np.zeros(len(self.labels), np.intp)
        while waiting:
            node, order, categorical = waiting.pop()
            split = self._best_split(order, self.counts[node], categorical)
            if split is None:
                continue
            rows = order[0]
            is_category = split.attribute in categorical
            value = self.values[split.attribute, rows]
            side[rows] = value if is_category else value > split.threshold
            size = len(self.attributes[split.attribute].values or ()) if is_category else 2
            self.tests[node], self.thresholds[node] = split.attribute, split.threshold
            self.branches[node] = [LEAF] * size
            remaining = [each for each in categorical if each != split.attribute]
            sides = side[order]
            for branch in np.unique(sides[0]).tolist():
                below = order[sides == branch].reshape(len(order), -1)
                self.branches[node][branch] = self._add_node(below)
                waiting.append((self.branches[node][branch], below, remaining))

    def _add_node(self, order: NDArray[np.intp]) -> int:
        rows = order[0]
        self.tests.append(LEAF)
        self.thresholds.append(0.0)
        self.branches.append([])
        self.counts.append(self._sum(self.labels[rows], rows, self.classes))
        return len(self.tests) - 1

    def _sum(self, cells: NDArray[np.intp], rows: NDArray[np.intp], size: int) -> NDArray[np.float64]:
        """The weight of the instances in each cell."""
        return np.bincount(cells, self.weights[rows], size).astype(np.float64)

    def _best_split(
        self, order: NDArray[np.intp], counts: NDArray[np.float64], categorical: list[int]
    ) -> _Split | None:
        """Among the tests of at least average gain, that with the highest gain ratio; of equals, the first."""
        if order.shape[1] < 2 * self.min_leaf or np.count_nonzero(counts) < 2:
            return None
        splits = [split for each in categorical if (split := self._categorical_split(order[0], counts, each))]
        splits += self._numeric_splits(order, counts)
        splits = sorted((split for split in splits if split.gain > _LEAST_GAIN), key=lambda split: split.attribute)
        if not splits:
            return None
        average = sum(split.gain for split in splits) / len(splits)
        return max((split for split in splits if split.gain >= average - _SLACK), key=lambda split: split.ratio)

    def _categorical_split(self, rows: NDArray[np.intp], counts: NDArray[np.float64], attribute: int) -> _Split | None:
        size = len(self.attributes[attribute].values or ())
        codes = self.values[attribute, rows].astype(np.intp)
        if (np.bincount(codes, minlength=size) >= self.min_leaf).sum() < 2:
            return None
        cells = self._sum(codes * self.classes + self.labels[rows], rows, size * self.classes)
        table = cells.reshape(size, self.classes)
        total = float(counts.sum())
        gain = float(_spread(counts) - _spread(table).sum()) / total
        return _Split(attribute, gain, float(_spread(table.sum(axis=1))) / total)

    def _numeric_splits(self, order: NDArray[np.intp], counts: NDArray[np.float64]) -> list[_Split]:
        """The best threshold of each numeric attribute that has one."""
        at_once = max(1, _CELLS_AT_ONCE // (order.shape[1] * self.classes))
        found: list[_Split] = []
        for first in range(0, len(self.numeric), at_once):
            attributes = self.numeric[first : first + at_once]
            found += self._numeric_splits_of(attributes, order[first : first + at_once], counts)
        return found

    def _numeric_splits_of(
        self, attributes: list[int], order: NDArray[np.intp], counts: NDArray[np.float64]
    ) -> list[_Split]:
        size = order.shape[1]
        values = self.values[np.array(attributes)[:, None], order]
        cuts = values[:, :-1] < values[:, 1:]
        least = max(self.min_leaf, int(_LEAST_SHARE * size / self.classes))
        cuts[:, : least - 1] = False
        cuts[:, size - least :] = False
        which, at, tried = _some_of(cuts)
        if not len(which):
            return []
        one_hot = np.zeros((*order.shape, self.classes))
        np.put_along_axis(one_hot, self.labels[order][..., None], self.weights[order][..., None], axis=2)
        left = np.cumsum(one_hot, axis=1)[which, at]
        right = np.maximum(counts - left, 0)
        total = float(counts.sum())
        gains = (_spread(counts) - _spread(left) - _spread(right)) / total
        found = []
        for number, attribute in enumerate(attributes):
            mine = np.flatnonzero(which == number)
            if not len(mine):
                continue
            best = mine[gains[mine].argmax()]
            sides = np.array([left[best].sum(), right[best].sum()])
            # The threshold itself has to be told: log2 of how many there were to choose from (release 8).
            gain = float(gains[best]) - float(np.log2(max(1, tried[number]))) / total
            below, above = values[number, at[best]], values[number, at[best] + 1]
            threshold = self._threshold(attribute, below, above)
            found.append(_Split(attribute, gain, float(_spread(sides)) / total, threshold))
        return found

    def _threshold(self, attribute: int, below: float, above: float) -> float:
        """The greatest value of the whole set that is not above the middle of two values, as C4.5 takes it."""
        known = self.distinct[attribute]
        threshold = known[np.searchsorted(known, below + (above - below) / 2, side="right") - 1]
        return float(threshold if threshold < above else below)  # no number lies between neighbours

    def prune(self, confidence: float) -> None:
        """Make a leaf of each tree that is expected to make no fewer errors, from the bottom up."""
        expected = np.zeros(len(self.tests))
        for node in reversed(range(len(self.tests))):
            total = float(self.counts[node].sum())
            errors = total - float(self.counts[node].max())
            as_leaf = errors + extra_errors(total, errors, confidence)
            children = [child for child in self.branches[node] if child != LEAF]
            as_tree = float(expected[children].sum()) if children else np.inf
            if as_leaf <= as_tree + _PRUNING_SLACK:
                self.tests[node], self.thresholds[node], self.branches[node] = LEAF, 0.0, []
                as_tree = as_leaf
            expected[node] = as_tree

    def nodes(self) -> tuple[list[int], list[float], list[list[int]], NDArray[np.float64]]:
        """The nodes that can be reached, the root first, each before those below it."""
        reached, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            reached.append(node)
            waiting += [child for child in reversed(self.branches[node]) if child != LEAF]
        number = {node: i for i, node in enumerate(reached)} | {LEAF: LEAF}
        return (
            [self.tests[node] for node in reached],
            [self.thresholds[node] for node in reached],
            [[number[child] for child in self.branches[node]] for node in reached],
            np.stack([self.counts[node] for node in reached]),
        )


def _some_of(cuts: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp], list[int]]:
    """Where to cut, attribute and place, at most `_MOST_THRESHOLDS` an attribute; and how many cuts each had."""
    whiches, ats, tried = [], [], []
    for number, row in enumerate(cuts):
        places = np.flatnonzero(row)
        tried.append(len(places))
        if len(places) > _MOST_THRESHOLDS:
            places = places[np.linspace(0, len(places) - 1, _MOST_THRESHOLDS).astype(np.intp)]
        whiches.append(np.full(len(places), number))
        ats.append(places)
    return np.concatenate(whiches), np.concatenate(ats), tried


def _spread(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entropy of counts in bits, times their sum; along the last axis."""
    total = counts.sum(axis=-1)
    logs = np.log2(np.maximum(counts, 1e-300))
    result: NDArray[np.float64] = total * np.log2(np.maximum(total, 1e-300)) - (counts * logs).sum(axis=-1)
    return result
