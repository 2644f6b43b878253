"""C4.5: gains and prunings worked out by hand, figure 2 of ICE, and a naive search for the best split."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from mainmatter.papers.ice.decision_tree import LEAF, UNKNOWN, Attribute, DecisionTree, extra_errors, grow_tree
from reproduce.ice import print_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

COLOURS = Attribute("colour", ("red", "green", "blue"))


def tree_of(
    values: Sequence[Sequence[float]],
    labels: list[int],
    attributes: list[Attribute] | None = None,
    weights: list[float] | None = None,
    confidence: float = 1.0,
    min_leaf: int = 1,
) -> DecisionTree:
    attributes = attributes or [Attribute(f"x{i}") for i in range(len(values))]
    return grow_tree(
        attributes,
        np.array(values, float),
        ("no", "yes"),
        np.array(labels, np.intp),
        None if weights is None else np.array(weights, float),
        min_leaf=min_leaf,
        confidence=confidence,
    )


@pytest.mark.parametrize(("total", "errors", "printed"), [(25, 0, "1.3"), (67, 0, "1.4"), (2, 0, "1.0"), (3, 1, "2.1")])
def test_the_error_estimates_of_figure_2(total: float, errors: float, printed: str) -> None:
    assert f"{errors + extra_errors(total, errors, 0.25):.1f}" == printed


def test_error_estimates() -> None:
    # No error among 6: the p with (1 - p)^6 = 0.25 (Quinlan 1993, 4.2: 0.206).
    assert extra_errors(6, 0, 0.25) / 6 == pytest.approx(0.206, abs=1e-3)
    assert extra_errors(0, 0, 0.25) == 0
    assert extra_errors(10, 10, 0.25) == 0
    half = (extra_errors(9, 0, 0.25) + extra_errors(9, 1, 0.25)) / 2
    assert extra_errors(9, 0.5, 0.25) == pytest.approx(half)
    assert extra_errors(100, 10, 0.1) > extra_errors(100, 10, 0.25) > 0


def test_a_numeric_split() -> None:
    tree = tree_of([[1, 2, 3, 10, 11, 12]], [0, 0, 0, 1, 1, 1])
    # C4.5 takes the greatest value of the set that is not above the middle, 6.5.
    assert print_tree(tree) == "x0 <= 3: no (3.0/0.0)\nx0 > 3: yes (3.0/0.0)"
    assert tree.labels[tree.find(np.array([[3.0, 3.1, -5.0, 99.0]]))].tolist() == [0, 1, 0, 1]


def test_a_categorical_split_has_a_branch_for_each_value() -> None:
    tree = tree_of([[0, 0, 0, 1, 1, 1, 1]], [0, 0, 0, 1, 1, 1, 1], [COLOURS], confidence=0.25)
    assert print_tree(tree) == "colour = red: no (3.0/1.1)\ncolour = green: yes (4.0/1.2)"
    # Blue was never seen, and there may be colours that are not even listed: the node above answers.
    nodes = tree.find(np.array([[0, 1, 2, UNKNOWN]], float))
    assert tree.labels[nodes].tolist() == [0, 1, 1, 1]
    assert nodes[2:].tolist() == [0, 0]


def test_gain_ratio_prefers_fewer_branches() -> None:
    # Both tests separate the classes fully; the second needs three branches for it: 1 / 1 bit against 1 / 1.5 bits.
    values = [[0, 0, 1, 1], [0, 1, 2, 2]]
    attributes = [Attribute("wide", ("a", "b", "c")), Attribute("narrow", ("a", "b", "c"))]
    tree = tree_of([values[1], values[0]], [0, 0, 1, 1], attributes)
    assert tree.attributes[tree.tests[0]].name == "narrow"


def test_weights() -> None:
    values, labels = [[1, 2, 3, 4]], [0, 1, 0, 1]
    heavy = tree_of(values, labels, weights=[1, 100, 1, 1], min_leaf=3)
    assert heavy.labels[0] == 1
    assert heavy.counts[0].tolist() == pytest.approx([4 * 2 / 103, 4 * 101 / 103])
    # Only the proportions count.
    assert print_tree(tree_of(values, labels, weights=[5.0] * 4)) == print_tree(tree_of(values, labels))
    # Two instances of weight 1 pull as much as one of weight 2: 4 against 2, whichever way.
    colours = [Attribute("c", ("a", "b"))]
    twice = tree_of([[0, 0, 0, 1, 1, 1]], [0, 0, 1, 1, 1, 0], colours)
    once = tree_of([[0, 0, 1, 1]], [0, 1, 1, 0], colours, weights=[2, 1, 2, 1])
    shares = [(tree.counts / tree.counts.sum(axis=1, keepdims=True)).ravel().tolist() for tree in (twice, once)]
    assert shares[0] == pytest.approx(shares[1])
    assert len(twice) == len(once) == 3


def test_the_smallest_leaf() -> None:
    values, labels = [[1.0, 2, 3, 4, 5, 6]], [0, 1, 1, 1, 1, 1]
    assert tree_of(values, labels, min_leaf=1).thresholds[0] == 1
    assert tree_of(values, labels, min_leaf=2).thresholds[0] == 2
    assert len(tree_of(values, labels, min_leaf=4)) == 1


def test_pruning() -> None:
    # Quinlan 1993, 4.2: leaves of 6, 9 and 1 instances without error are expected to err 6 * 0.206 + 9 * 0.143 +
    # 1 * 0.750 = 3.273 times; one leaf of 16 with one error 16 * 0.157 = 2.512 times: the leaf wins.
    labels = [1] * 6 + [1] * 9 + [0]
    values = [[0] * 6 + [1] * 9 + [2]]
    tree = tree_of([[float(v) for v in values[0]]], labels, [COLOURS], confidence=0.25)
    assert print_tree(tree) == "yes (16.0/2.5)"
    assert len(tree_of([[float(v) for v in values[0]]], labels, [COLOURS], confidence=1)) == 4


def test_noise_is_pruned_and_signal_is_not() -> None:
    rng = np.random.default_rng(1)
    values = np.stack([rng.random(2000), rng.integers(0, 50, 2000).astype(float)])
    labels = ((values[0] > 0.3) ^ (rng.random(2000) < 0.1)).astype(np.intp)
    names = [Attribute("signal"), Attribute("noise", tuple(map(str, range(50))))]
    full = grow_tree(names, values, ("n", "y"), labels, confidence=1)
    pruned = grow_tree(names, values, ("n", "y"), labels)
    assert len(full) > 50
    assert len(pruned) == 3
    assert pruned.attributes[pruned.tests[0]].name == "signal"
    assert pruned.thresholds[0] == pytest.approx(0.3, abs=0.01)


def test_neighbouring_numbers_end() -> None:
    # Between these no number lies that could be the threshold.
    low = 0.1
    tree = tree_of([[low, math.nextafter(low, 1)]], [0, 1])
    assert tree.thresholds[0] == low
    assert len(tree) == 3


def entropy(counts: list[float]) -> float:
    total = sum(counts)
    return -sum(count / total * math.log2(count / total) for count in counts if count)


def best_cut(values: list[float], labels: list[int]) -> float:
    """The gain of the best cut, by trying all."""
    best = 0.0
    for cut in sorted(set(values))[:-1]:
        sides = [[labels[i] for i, v in enumerate(values) if (v > cut) == side] for side in (False, True)]
        inner = sum(len(side) / len(labels) * entropy([side.count(0), side.count(1)]) for side in sides)
        best = max(best, entropy([labels.count(0), labels.count(1)]) - inner)
    return best


def test_the_root_has_the_best_cut() -> None:
    rng = random.Random(9)
    for _ in range(60):
        values = [float(rng.randint(0, 9)) for _ in range(rng.randint(4, 25))]
        labels = [int(value + rng.gauss(0, 3) > 4) for value in values]
        tree = tree_of([values], labels)
        gain = best_cut(values, labels)
        if tree.tests[0] == LEAF:  # the penalty for the choice of a threshold
            cuts = max(len(set(values)) - 1, 1)
            assert gain <= math.log2(cuts) / len(values) + 1e-6
            continue
        left, right = (tree.counts[child].tolist() for child in tree.branches[0])
        inner = (sum(left) * entropy(left) + sum(right) * entropy(right)) / len(labels)
        assert entropy([labels.count(0), labels.count(1)]) - inner == pytest.approx(gain)


def follow(tree: DecisionTree, instance: list[float]) -> int:
    """One instance, one step at a time."""
    node = 0
    while tree.tests[node] != LEAF:
        value = instance[tree.tests[node]]
        if tree.attributes[tree.tests[node]].values is None:
            branch = int(value > tree.thresholds[node])
        elif value == UNKNOWN:
            return node
        else:
            branch = int(value)
        if tree.branches[node][branch] == LEAF:
            return node
        node = tree.branches[node][branch]
    return node


def random_tree() -> tuple[DecisionTree, np.ndarray]:
    rng = np.random.default_rng(2)
    values = np.stack([rng.integers(0, 9, 500), rng.random(500), rng.integers(0, 2, 500)]).astype(float)
    labels = ((values[0] > 4) & (values[2] == 1) | (rng.random(500) < 0.2)).astype(np.intp)
    return grow_tree([Attribute("a"), Attribute("b"), COLOURS], values, ("n", "y"), labels, min_leaf=5), values


def test_find_and_follow() -> None:
    tree, values = random_tree()
    values = np.concatenate([values, [[1, 8], [0.5, 0.5], [2, UNKNOWN]]], axis=1)
    assert len(tree) > 4
    assert tree.find(values).tolist() == [follow(tree, column.tolist()) for column in values.T]
    assert tree.find(values[:, :0]).tolist() == []


def test_counts_add_up() -> None:
    tree, values = random_tree()
    assert tree.counts[0].sum() == pytest.approx(500)
    for node, below in enumerate(tree.branches):
        children = [child for child in below if child != LEAF]
        if children:
            assert tree.counts[children].sum(axis=0).tolist() == pytest.approx(tree.counts[node].tolist())
    reached = np.bincount(tree.find(values), minlength=len(tree))
    leaves = [node for node, test in enumerate(tree.tests) if test == LEAF]
    assert reached[leaves].tolist() == pytest.approx(tree.counts[leaves].sum(axis=1).tolist())


def test_rules_keep_the_tightest_bounds() -> None:
    tree = tree_of([[1.0, 2, 3, 4, 5, 6, 7, 8] * 5], [0, 0, 1, 1, 1, 1, 0, 0] * 5)
    node = int(tree.find(np.array([[4.0]]))[0])
    assert tree.rule(node) in ("x0 <= 6, x0 > 2", "x0 > 2, x0 <= 6")
    assert tree.rule(0) == ""
    assert print_tree(tree, 2).endswith("\n[...]")


def test_storage() -> None:
    tree, values = random_tree()
    again = DecisionTree.from_facts(json.loads(json.dumps(tree.to_facts())))
    assert print_tree(again) == print_tree(tree)
    assert again.find(values).tolist() == tree.find(values).tolist()
    assert again.counts.tolist() == tree.counts.tolist()
    assert again.thresholds == tree.thresholds


def test_odd_counts_are_written_exactly_and_rounded_to_six_digits() -> None:
    odd = [[1 / 3, 1e22], [1234567.0, 0.0], [5e-324, 36.0]]
    tree = replace(tree_of([[1, 2, 3, 10, 11, 12]], [0, 0, 0, 1, 1, 1]), counts=np.array(odd))
    assert DecisionTree.from_facts(json.loads(json.dumps(tree.to_facts()))).counts.tolist() == odd
    rounded = tree.rounded()
    assert rounded.counts.tolist() == [[0.333333, 1e22], [1234570.0, 0.0], [5e-324, 36.0]]
    assert rounded.to_facts()["counts"] == ["0.333333 1e+22", "1234570 0", "5e-324 36"]
    assert rounded.rounded().counts.tolist() == rounded.counts.tolist()


@pytest.mark.parametrize(
    "damage",
    [
        {"tests": []},
        {"tests": [7, -1, -1]},
        {"tests": [-2, -1, -1]},
        {"thresholds": [1.0]},
        {"thresholds": [float("nan"), 0.0, 0.0]},
        {"branches": ["0:0 1:2", "", ""]},
        {"branches": ["0:1 1:1", "", ""]},
        {"branches": ["0:1 1:9", "", ""]},
        {"branches": ["0:1", "", ""]},
        {"branches": ["0:1 5:2", "", ""]},
        {"branches": ["0:1 x", "", ""]},
        {"counts": ["1 2", "1 2"]},
        {"counts": ["1 2", "1 2", "1 -2"]},
        {"counts": ["1 2", "1 2", "1 2 3"]},
        {"counts": ["1 2", "1 2", "1 inf"]},
        {"counts": ["1 2", "1 2", "1.5e308 1.5e308"]},
        {"classes": []},
        {"confidence": 0},
        {"attributes": None},
    ],
)
def test_damaged_trees_are_refused(damage: dict[str, object]) -> None:
    facts = tree_of([[1, 2, 3, 10, 11, 12]], [0, 0, 0, 1, 1, 1]).to_facts()
    assert len(facts["tests"]) == 3
    with pytest.raises((KeyError, TypeError, ValueError)):
        DecisionTree.from_facts(facts | damage)


@dataclass
class Quinlan:
    """C4.5 as its book and release 8 have it, one instance at a time: its values and, last, its class."""

    numeric: list[bool]
    everything: list[list[float]]
    min_leaf: int = 2
    classes: int = 3
    test: int | None = None
    threshold: float = 0.0
    below: dict[float, Quinlan] = field(default_factory=dict)
    counts: Counter[float] = field(default_factory=Counter)
    raisings: ClassVar[int] = 0

    def learn(self, items: list[list[float]], used: tuple[int, ...] = ()) -> Quinlan:
        self.counts = Counter(item[-1] for item in items)
        tests = []
        if len(self.counts) > 1 and len(items) >= 2 * self.min_leaf:
            tests = [found for i in range(len(self.numeric)) if i not in used and (found := self.best(items, i))]
        tests = [found for found in tests if found[0] > 1e-9]
        if not tests:
            return self
        average = sum(gain for gain, *_ in tests) / len(tests)
        self.test, self.threshold = max((t for t in tests if t[0] >= average - 1e-3), key=lambda t: t[0] / t[1])[2:]
        used = used if self.numeric[self.test] else (*used, self.test)
        for value, part in self.parts(items).items():
            self.below[value] = self.new().learn(part, used)
        # What does no better than a leaf in training is one.
        if self.errors() >= self.counts.total() - max(self.counts.values()) - 1e-3:
            self.test, self.below = None, {}
        return self

    def new(self) -> Quinlan:
        return Quinlan(self.numeric, self.everything, self.min_leaf, self.classes)

    def errors(self) -> float:
        if self.test is not None:
            return sum(child.errors() for child in self.below.values())
        return self.counts.total() - max(self.counts.values(), default=0)

    def best(self, items: list[list[float]], i: int) -> tuple[float, float, int, float] | None:
        """Gain, split information, attribute, threshold."""
        if not self.numeric[i]:
            sizes = Counter(item[i] for item in items)
            if sum(size >= self.min_leaf for size in sizes.values()) < 2:
                return None
            parts = [[item for item in items if item[i] == value] for value in sizes]
            return gain_of(items, parts), entropy(list(sizes.values())), i, 0.0
        least = max(self.min_leaf, min(25, 0.1 * len(items) / self.classes))
        cuts = []
        values = sorted({item[i] for item in items})
        for low, high in pairwise(values):
            parts = [[item for item in items if (item[i] > low) == side] for side in (False, True)]
            if min(map(len, parts)) >= least:
                cuts.append((gain_of(items, parts), parts, low, high))
        if not cuts:
            return None
        gain, parts, low, high = max(cuts, key=lambda cut: cut[0])
        threshold = max(item[i] for item in self.everything if item[i] <= (low + high) / 2)
        cost = math.log2(len(cuts)) / len(items)
        return gain - cost, entropy(list(map(len, parts))), i, threshold

    def parts(self, items: list[list[float]]) -> dict[float, list[list[float]]]:
        assert self.test is not None
        parts: dict[float, list[list[float]]] = {}
        for item in items:
            value = item[self.test]
            parts.setdefault(float(value > self.threshold) if self.numeric[self.test] else value, []).append(item)
        return dict(sorted(parts.items()))

    def expected(self, items: list[list[float]], *, prune: bool) -> float:
        counts = Counter(item[-1] for item in items)
        errors = len(items) - max(counts.values())
        as_leaf = errors + extra_errors(len(items), errors, 0.25)
        if prune:
            self.counts = counts
        if self.test is None:
            return as_leaf
        parts = self.parts(items)
        children = {value: self.below.get(value) or self.new() for value in parts}
        if prune:
            self.below |= children
        as_tree = sum(children[value].expected(part, prune=prune) for value, part in parts.items())
        if not prune:
            return as_tree
        largest = children[max(parts, key=lambda value: (len(parts[value]), value))]
        as_branch = largest.expected(items, prune=False)
        if as_leaf <= as_branch + 0.1 and as_leaf <= as_tree + 0.1:
            self.test, self.below = None, {}
            return as_leaf
        if as_branch <= as_tree + 0.1:
            as_branch = largest.expected(items, prune=True)
            Quinlan.raisings += 1
            self.test, self.threshold, self.below = largest.test, largest.threshold, largest.below
            return as_branch
        return as_tree

    def outline(self) -> object:
        """The tree as nested tuples: what it asks for, and what is below; at a leaf, how many of each class."""
        if self.test is None:
            return tuple(self.counts[label] for label in range(self.classes))
        return self.test, self.threshold, tuple((value, self.below[value].outline()) for value in sorted(self.below))


def gain_of(items: list[list[float]], parts: list[list[list[float]]]) -> float:
    inner = sum(len(part) / len(items) * entropy(list(Counter(item[-1] for item in part).values())) for part in parts)
    return entropy(list(Counter(item[-1] for item in items).values())) - inner


def outline(tree: DecisionTree, node: int = 0) -> object:
    if tree.tests[node] == LEAF:
        return tuple(tree.counts[node].tolist())
    below = tuple((value, outline(tree, child)) for value, child in enumerate(tree.branches[node]) if child != LEAF)
    return tree.tests[node], tree.thresholds[node], below


def test_release_8_agrees_with_the_book() -> None:
    """ICE 3.3 used C4.5: the same trees as one that was written from Quinlan's book, on sets of many kinds."""
    pruned = 0
    for seed in range(40):
        rng = random.Random(seed)
        items = []
        for _ in range(rng.choice([30, 120, 300, 800])):
            x, y, z = rng.randint(0, 30), rng.random() * 4 // 0.25 / 4, rng.randrange(4)
            label = (x > 12) + (z == 1 and y > 2) if rng.random() > 0.25 else rng.randrange(3)
            items.append([float(x), y, float(z), float(label)])
        naive = Quinlan([True, True, False], items).learn(items)
        values = np.array(items).T
        attributes = [Attribute("x"), Attribute("y"), Attribute("z", ("a", "b", "c", "d"))]
        known = (attributes, values[:-1], ("p", "q", "r"), values[-1].astype(np.intp))
        grown = outline(grow_tree(*known, confidence=1, as_release_8=True))
        assert grown == naive.outline()
        naive.expected(items, prune=True)
        assert outline(grow_tree(*known, as_release_8=True)) == naive.outline()
        pruned += grown != naive.outline()
    assert pruned > 10
    assert Quinlan.raisings > 3


@pytest.mark.parametrize(("first", "as_release_8", "threshold"), [(27, True, 26), (27, False, 29), (23, True, 24)])
def test_how_small_a_branch_of_a_numeric_test_may_be(first: int, as_release_8: bool, threshold: float) -> None:
    # A tenth of 900 instances by three classes is 30; C4.5 asks for 25 at most.
    labels = np.array([1] * first + [0] * (900 - first), np.intp)
    values = np.arange(900.0)[None, :]
    tree = grow_tree([Attribute("x")], values, ("p", "q", "r"), labels, as_release_8=as_release_8)
    assert tree.thresholds[0] == threshold
