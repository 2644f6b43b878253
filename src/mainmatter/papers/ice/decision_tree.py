"""Decision trees with numeric and multiway categorical tests, grown and pruned as C4.5 does (Quinlan 1993, release 8).

What the learner has: numeric tests with two branches, categorical tests with one branch for each value, gain ratio
among tests of at least average gain, the penalty for the choice of a threshold (release 8), a smallest size of
branches, pessimistic pruning, the raising of subtrees on demand, instances with weights. What it lacks: missing values,
which our features do not have. Scikit-learn's trees have neither multiway splits nor C4.5's pruning, and the core
runs without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAF = -1
# C4.5's table of the normal distribution, read by linear interpolation. It is rough, but so is what follows from it.
_PROBABILITIES = (0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
UNKNOWN = -1  # the code of a value that the attribute does not list


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that is known about every instance.

    Attributes:
        name: what it is called.
        values: of a categorical attribute, all values, whose numbers the instances have, or `UNKNOWN`; None: a number.
    """

    name: str
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class DecisionTree:
    """A tree as parallel lists of nodes; a node comes before those below it, and the first is the root.

    Attributes:
        attributes: what the tests ask for, in the order of the rows that `find` takes.
        classes: the names of the classes.
        tests: for each node the number of the attribute that it asks for, or `LEAF`.
        thresholds: what a numeric attribute is compared with; 0 for others.
        branches: for each node the nodes below it: for a numeric test that for values up to the threshold and that
            for values above; for a categorical one a node for each value, or `LEAF` where no instance had it.
        counts: for each node the weight of the instances of each class that reached it.
        confidence: the confidence with which errors were estimated for pruning.
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    tests: list[int]
    thresholds: list[float]
    branches: list[list[int]]
    counts: NDArray[np.float64]
    confidence: float = 0.25
    _parents: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check(self)
        parents = [LEAF] * len(self.tests)
        for node, below in enumerate(self.branches):
            for child in below:
                if child != LEAF:
                    parents[child] = node
        object.__setattr__(self, "_parents", parents)

    def __len__(self) -> int:
        return len(self.tests)

    def find(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """The node that each instance ends at, a leaf unless a categorical value is unknown there.

        Args:
            values: a row for each attribute, a column for each instance; categorical ones as numbers of their values.
        """
        nodes = np.zeros(values.shape[1], np.intp)
        moving = np.arange(values.shape[1])
        tests, thresholds, table, offsets = self._arrays
        while len(moving):
            at = nodes[moving]
            has_test = tests[at] != LEAF
            moving, at = moving[has_test], at[has_test]
            value = values[tests[at], moving]
            # A branch's number: 0 or 1 for a number, that of its value for a category.
            branch = np.where(self._is_numeric[tests[at]], value > thresholds[at], value).astype(np.intp)
            after = table[offsets[at] + branch + 1]
            nodes[moving] = np.where(after == LEAF, at, after)
            moving = moving[after != LEAF]
        return nodes

    @cached_property
    def _is_numeric(self) -> NDArray[np.bool_]:
        return np.array([attribute.values is None for attribute in self.attributes], np.bool_)

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
        """Tests, thresholds, all branches in one row, and where each node's begin: with one for the unknown value."""
        flat: list[int] = []
        offsets = []
        for below in self.branches:
            offsets.append(len(flat))
            flat += [LEAF, *below]
        return np.array(self.tests), np.array(self.thresholds), np.array(flat), np.array(offsets)

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """The class of most instances of each node; of equals, the first."""
        found: NDArray[np.intp] = self.counts.argmax(axis=1)
        return found

    def rule(self, node: int) -> str:
        """The conditions that lead to a node, such as "wordcount > 15, parent_tag = p"; "" for the root."""
        conditions: dict[tuple[int, str], str] = {}
        while (above := self._parents[node]) != LEAF:
            test = self.tests[above]
            sign, value = self.condition(above, self.branches[above].index(node))
            # From the bottom up: the first bound of a kind is the tightest.
            conditions.setdefault((test, sign), f"{self.attributes[test].name} {sign} {value}")
            node = above
        return ", ".join(reversed(conditions.values()))

    def figures(self, node: int) -> str:
        """How many instances reached a node and, as C4.5 prints it, how many of them it expects to be wrong."""
        total = float(self.counts[node].sum())
        errors = total - float(self.counts[node].max())
        if total <= 0:
            return "(0.0)"
        expected = errors + extra_errors(total, errors, self.confidence)
        return f"({total:.1f}/{expected:.1f})"

    def condition(self, node: int, branch: int) -> tuple[str, str]:
        """What leads to a branch of a node: the sign of the comparison, and the value."""
        values = self.attributes[self.tests[node]].values
        if values is not None:
            return "=", values[branch] or '""'
        return ("<=", ">")[branch], f"{self.thresholds[node]:.6g}"

    def rounded(self) -> DecisionTree:
        """The same tree with counts of six digits, which are enough, and small when written."""
        counts = [[float(f"{count:.6g}") for count in row] for row in self.counts.tolist()]
        return replace(self, counts=np.array(counts, np.float64))

    def to_facts(self) -> dict[str, Any]:
        """The tree as JSON holds it, exactly."""
        return {
            "attributes": [
                {"name": attribute.name, "values": None if attribute.values is None else list(attribute.values)}
                for attribute in self.attributes
            ],
            "classes": list(self.classes),
            "tests": self.tests,
            "thresholds": self.thresholds,
            # Of categorical tests only the branches that there are, as "value:node".
            "branches": [
                " ".join(f"{branch}:{child}" for branch, child in enumerate(below) if child != LEAF)
                for below in self.branches
            ],
            "counts": [" ".join(repr(count).removesuffix(".0") for count in row) for row in self.counts.tolist()],
            "confidence": self.confidence,
        }

    @classmethod
    def from_facts(cls, facts: dict[str, Any]) -> DecisionTree:
        """The tree that `to_facts` described.

        Raises:
            KeyError, TypeError, ValueError: it is not complete, or contradicts itself.
        """
        attributes = tuple(
            Attribute(str(each["name"]), None if each["values"] is None else tuple(map(str, each["values"])))
            for each in facts["attributes"]
        )
        tests = [int(test) for test in facts["tests"]]
        branches = []
        for test, text in zip(tests, facts["branches"], strict=True):
            if not LEAF <= test < len(attributes):
                raise ValueError(f"a node tests attribute {test} of {len(attributes)}")
            below = [LEAF] * _width(attributes, test)
            for pair in text.split():
                branch, child = map(int, pair.split(":"))
                if not 0 <= branch < len(below):
                    raise ValueError(f"a node has a branch {branch} of {len(below)}")
                below[branch] = child
            branches.append(below)
        return cls(
            attributes,
            tuple(map(str, facts["classes"])),
            tests,
            [float(threshold) for threshold in facts["thresholds"]],
            branches,
            np.array([row.split() for row in facts["counts"]], np.float64),
            float(facts["confidence"]),
        )


def _width(attributes: Sequence[Attribute], test: int) -> int:
    """How many branches a test has."""
    if test == LEAF:
        return 0
    values = attributes[test].values
    return 2 if values is None else len(values)


def _check(tree: DecisionTree) -> None:
    """Refuse a tree on which `find` would run in circles or out of the tree."""
    nodes = len(tree.tests)
    if not nodes or len(tree.thresholds) != nodes or len(tree.branches) != nodes:
        raise ValueError("a tree whose lists differ in length, or without a root")
    if tree.counts.shape != (nodes, len(tree.classes)) or not tree.classes:
        raise ValueError(f"counts of shape {tree.counts.shape} for {nodes} nodes and {len(tree.classes)} classes")
    if not (np.isfinite(tree.counts).all() and (tree.counts >= 0).all() and np.isfinite(tree.thresholds).all()):
        raise ValueError("counts or thresholds that are not numbers")
    with np.errstate(over="ignore"):
        if not np.isfinite(tree.counts.sum()):
            raise ValueError("counts that are too large")
    if not 0 < tree.confidence < 1:
        raise ValueError(f"a confidence of {tree.confidence}")
    seen: set[int] = set()
    for node, (test, below) in enumerate(zip(tree.tests, tree.branches, strict=True)):
        if len(below) != _width(tree.attributes, test):
            raise ValueError(f"node {node} has {len(below)} branches")
        children = [child for child in below if child != LEAF]
        if test != LEAF and tree.attributes[test].values is None and len(children) != 2:
            raise ValueError(f"node {node} lacks a branch")
        if not all(node < child < nodes for child in children) or not seen.isdisjoint(children):
            raise ValueError(f"node {node} leads back, out of the tree, or to a node of another")
        seen.update(children)
    if len(seen) != nodes - 1:
        raise ValueError("nodes that nothing leads to")


def extra_errors(total: float, errors: float, confidence: float) -> float:
    """How many errors more than in training C4.5 expects: the upper limit of a binomial distribution.

    With no error, the limit is exact; else it is a normal approximation, with 1/2 added for continuity (Quinlan 1993,
    4.2, and `AddErrs` of C4.5 release 8). Figure 2 of ICE agrees: 25 instances without an error are printed as
    (25.0/1.3), 67 as (67.0/1.4), one error among 3 as (3.0/2.1).
    """
    if total <= 0:
        return 0.0
    if errors < 1e-6:
        return total * (1 - math.pow(confidence, 1 / total))
    if errors < 0.9999:  # between no error and one
        none = extra_errors(total, 0.0, confidence)
        return none + errors * (extra_errors(total, 1.0, confidence) - none)
    if errors + 0.5 >= total:
        return 0.67 * (total - errors)
    z2 = _squared_quantile(confidence)
    continued = errors + 0.5
    share = (continued + z2 / 2 + math.sqrt(z2 * (continued * (1 - continued / total) + z2 / 4))) / (total + z2)
    return total * share - errors


@lru_cache(maxsize=16)
def _squared_quantile(confidence: float) -> float:
    """The square of the normal deviate that is exceeded with this probability, by C4.5's own table."""
    return float(np.interp(confidence, _PROBABILITIES, _DEVIATES)) ** 2


# Growing and pruning

_SLACK = 1e-3  # C4.5: a test may have this much less than the average gain
_PRUNING_SLACK = 0.1  # C4.5: a leaf may be expected to make this many errors more than the tree that it replaces
_LEAST_GAIN = 1e-9
# Both branches of a numeric test have this share of the instances, divided by the number of classes. C4.5 asks for 25
# instances at most, which suits sets of thousands. On hundreds of thousands the gain ratio would cut off crumbs of that
# size one after the other, since tests that divide nothing have the smallest split information.
_LEAST_SHARE = 0.1
_MOST_LEAST = 25  # C4.5: what is asked for at most
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
    as_release_8: bool = False,
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
        as_release_8: do as C4.5 does where our learner, made for larger sets, differs: numeric tests need no branches
            of more than 25 instances, and a tree may be replaced by its largest branch.

    Returns:
        The tree. The same instances give the same tree.
    """
    growing = _Growing(attributes, values, len(classes), labels, weights, min_leaf, as_release_8=as_release_8)
    growing.grow()
    if as_release_8:
        growing.collapse()
        if confidence < 1:
            growing.prune_or_raise(confidence)
    elif confidence < 1:
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
        *,
        as_release_8: bool,
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
        self.as_release_8 = as_release_8
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
        share = _LEAST_SHARE * size / self.classes
        least = max(self.min_leaf, math.ceil(min(share, _MOST_LEAST)) if self.as_release_8 else int(share))
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
                self._make_leaf(node)
                as_tree = as_leaf
            expected[node] = as_tree

    def collapse(self) -> None:
        """Make a leaf of each tree that makes no fewer errors in training, from the bottom up, as C4.5 does."""
        errors = np.zeros(len(self.tests))
        for node in reversed(range(len(self.tests))):
            as_leaf = float(self.counts[node].sum() - self.counts[node].max())
            children = [child for child in self.branches[node] if child != LEAF]
            errors[node] = errors[children].sum() if children else as_leaf
            if errors[node] >= as_leaf - _SLACK:
                self._make_leaf(node)
                errors[node] = as_leaf

    def prune_or_raise(self, confidence: float) -> None:
        """Make each tree a leaf, or its largest branch, where that is expected to make no more errors.

        What a branch would do in the place of its tree is estimated with all instances of the tree (Quinlan 1993, 4.2).
        """
        self._expect(0, np.arange(len(self.labels)), confidence)

    def _expect(self, node: int, rows: NDArray[np.intp], confidence: float) -> float:
        """The errors to be expected of a node that these instances reach, after it was pruned."""
        self.counts[node] = self._sum(self.labels[rows], rows, self.classes)
        as_leaf = self._expect_of_leaf(rows, confidence)
        if self.tests[node] == LEAF:
            return as_leaf
        parts = self._parts(node, rows)
        for branch, below in parts.items():
            if self.branches[node][branch] == LEAF:
                self.branches[node][branch] = self._add_node(below[None, :])
        children = self.branches[node]
        as_tree = sum(self._expect(children[branch], below, confidence) for branch, below in parts.items())
        largest = children[max(parts, key=lambda branch: (self.weights[parts[branch]].sum(), branch))]
        as_branch = self._expect_unchanged(largest, rows, confidence)
        if as_leaf <= min(as_branch, as_tree) + _PRUNING_SLACK:
            self._make_leaf(node)
            return as_leaf
        if as_branch <= as_tree + _PRUNING_SLACK:
            as_branch = self._expect(largest, rows, confidence)
            self.tests[node], self.thresholds[node] = self.tests[largest], self.thresholds[largest]
            self.branches[node], self.counts[node] = self.branches[largest], self.counts[largest]
            return as_branch
        return as_tree

    def _expect_unchanged(self, node: int, rows: NDArray[np.intp], confidence: float) -> float:
        """The errors to be expected of a node as it is; LEAF is one that no instance has reached before."""
        if node == LEAF or self.tests[node] == LEAF:
            return self._expect_of_leaf(rows, confidence)
        parts = self._parts(node, rows).items()
        return sum(self._expect_unchanged(self.branches[node][branch], below, confidence) for branch, below in parts)

    def _expect_of_leaf(self, rows: NDArray[np.intp], confidence: float) -> float:
        counts = self._sum(self.labels[rows], rows, self.classes)
        total = float(counts.sum())
        errors = total - float(counts.max())
        return errors + extra_errors(total, errors, confidence)

    def _parts(self, node: int, rows: NDArray[np.intp]) -> dict[int, NDArray[np.intp]]:
        """The instances that take each branch of a node; branches that none takes are left out."""
        value = self.values[self.tests[node], rows]
        if self.attributes[self.tests[node]].values is None:
            value = value > self.thresholds[node]
        return {int(branch): rows[value == branch] for branch in np.unique(value)}

    def _make_leaf(self, node: int) -> None:
        self.tests[node], self.thresholds[node], self.branches[node] = LEAF, 0.0, []

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
