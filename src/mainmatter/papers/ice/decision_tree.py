"""A decision tree with numeric and multiway categorical tests: prediction, printout and storage.

papers/ice/tree_growing.py learns one from labelled instances as C4.5 does (Quinlan 1993). Scikit-learn's trees have
neither multiway splits nor C4.5's pruning, and the core runs without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
            sign, value = self._condition(above, self.branches[above].index(node))
            # From the bottom up: the first bound of a kind is the tightest.
            conditions.setdefault((test, sign), f"{self.attributes[test].name} {sign} {value}")
            node = above
        return ", ".join(reversed(conditions.values()))

    def figures(self, node: int) -> str:
        """How many instances reached a node and, as C4.5 prints it, how many of them it expects to be wrong."""
        total, errors = self._errors(node)
        if total <= 0:
            return "(0.0)"
        expected = errors + extra_errors(total, errors, self.confidence)
        return f"({total:.1f}/{expected:.1f})"

    def _errors(self, node: int) -> tuple[float, float]:
        total = float(self.counts[node].sum())
        return total, total - float(self.counts[node].max())

    def printout(self, lines: int | None = None) -> str:
        """The tree as indented text, as in figure 2 of ICE; only the first lines if a number is given."""
        printed: list[str] = []
        for line in self._lines():
            if lines is not None and len(printed) >= lines:
                printed.append("[...]")
                break
            printed.append(line)
        return "\n".join(printed)

    def _lines(self) -> Iterator[str]:
        if self.tests[0] == LEAF:
            yield self._outcome(0).strip()
            return
        waiting = [(0, branch, 0) for branch in self._branches_to_print(0)]
        while waiting:
            above, branch, depth = waiting.pop()
            node = self.branches[above][branch]
            sign, value = self._condition(above, branch)
            condition = f"{'| ' * depth}{self.attributes[self.tests[above]].name} {sign} {value}"
            is_leaf = self.tests[node] == LEAF
            yield f"{condition}:{self._outcome(node)}" if is_leaf else f"{condition}:"
            if not is_leaf:
                waiting += [(node, below, depth + 1) for below in self._branches_to_print(node)]

    def _branches_to_print(self, node: int) -> list[int]:
        """The branches of a node, the last to print first: leaves before trees, as C4.5 does."""
        found = [branch for branch, child in enumerate(self.branches[node]) if child != LEAF]
        return sorted(found, key=lambda branch: (self.tests[self.branches[node][branch]] == LEAF, -branch))

    def _outcome(self, node: int) -> str:
        return f" {self.classes[self.labels[node]]} {self.figures(node)}"

    def _condition(self, node: int, branch: int) -> tuple[str, str]:
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
            "branches": [self._branch_text(node) for node in range(len(self))],
            "counts": [" ".join(repr(count).removesuffix(".0") for count in row) for row in self.counts.tolist()],
            "confidence": self.confidence,
        }

    def _branch_text(self, node: int) -> str:
        return " ".join(f"{branch}:{child}" for branch, child in enumerate(self.branches[node]) if child != LEAF)

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
        raise ValueError("counts or thresholds that are no numbers")
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
