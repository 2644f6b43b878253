"""C4.5: gains and prunings worked out by hand, figure 2 of ICE, and a naive search for the best split."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.papers.ice.decision_tree import LEAF, UNKNOWN, Attribute, DecisionTree, extra_errors, grow_tree

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
    assert tree.printout() == "x0 <= 3: no (3.0/0.0)\nx0 > 3: yes (3.0/0.0)"
    assert tree.labels[tree.find(np.array([[3.0, 3.1, -5.0, 99.0]]))].tolist() == [0, 1, 0, 1]


def test_a_categorical_split_has_a_branch_for_each_value() -> None:
    tree = tree_of([[0, 0, 0, 1, 1, 1, 1]], [0, 0, 0, 1, 1, 1, 1], [COLOURS], confidence=0.25)
    assert tree.printout() == "colour = red: no (3.0/1.1)\ncolour = green: yes (4.0/1.2)"
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
    assert tree_of(values, labels, weights=[5.0] * 4).printout() == tree_of(values, labels).printout()
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
    assert tree.printout() == "yes (16.0/2.5)"
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
    assert tree.printout(2).endswith("\n[...]")


def test_storage() -> None:
    tree, values = random_tree()
    again = DecisionTree.from_facts(json.loads(json.dumps(tree.to_facts())))
    assert again.printout() == tree.printout()
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
