"""Support vector machines: the decision by numpy against scikit-learn's own, and against hand-made machines."""

from __future__ import annotations

from math import exp, tanh
from typing import Any

import numpy as np
import pytest

from mainmatter.errors import MissingExtra
from mainmatter.papers.fiasco.svm import (
    KERNELS,
    Fold,
    Kernel,
    Svm,
    grid_search,
    need_trainer,
    restore_svm,
    train_svm,
)
from toys import hide_package


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        # Rows (1, 2) and vectors (0, 1), (1, -1): products 2 and -1, squared distances 2 and 9.
        ("linear", 2 * 2 - 3 * -1 + 0.5),
        ("rbf", 2 * exp(-0.1 * 2) - 3 * exp(-0.1 * 9) + 0.5),
        ("polynomial", 2 * (0.1 * 2) ** 3 - 3 * (0.1 * -1) ** 3 + 0.5),
        ("sigmoid", 2 * tanh(0.1 * 2) - 3 * tanh(0.1 * -1) + 0.5),
    ],
)
def test_a_machine_made_by_hand(kernel: Kernel, expected: float) -> None:
    vectors = np.array([[0, 1], [1, -1]], np.float32)
    machine = Svm(kernel, 0.1, vectors, np.array([2, -3], np.float32), 0.5)
    assert machine.decide(np.array([[1.0, 2.0]])) == pytest.approx([expected], abs=1e-5)
    assert machine.decide(np.zeros((0, 2))).shape == (0,)


def toy(count: int = 200) -> tuple[np.ndarray[Any, np.dtype[np.float64]], np.ndarray[Any, np.dtype[np.bool_]]]:
    rows = np.random.default_rng(1).uniform(-1, 1, (count, 3))
    return rows, (rows**2).sum(axis=1) < 0.8


@pytest.mark.parametrize("kernel", KERNELS)
def test_it_decides_as_libsvm_does(kernel: Kernel) -> None:
    svm = pytest.importorskip("sklearn.svm")
    rows, labels = toy()
    names = {"polynomial": "poly"}
    theirs = svm.SVC(C=2.0, gamma=0.7, kernel=names.get(kernel, kernel)).fit(rows, labels)
    ours = train_svm(rows, labels, cost=2.0, gamma=0.7, kernel=kernel)
    others = np.random.default_rng(2).uniform(-1, 1, (5000, 3))
    assert ours.decide(others) == pytest.approx(theirs.decision_function(others), abs=2e-3)


def test_weights_move_the_border() -> None:
    pytest.importorskip("sklearn")
    rows, labels = toy()
    plain = train_svm(rows, labels, cost=1.0, gamma=1.0)
    heavy = train_svm(rows, labels, cost=1.0, gamma=1.0, weights=np.where(labels, 10.0, 1.0))
    assert (heavy.decide(rows) > 0).sum() > (plain.decide(rows) > 0).sum()


def test_the_grid_search_finds_what_works() -> None:
    pytest.importorskip("sklearn")
    rows, labels = toy()
    half = np.arange(len(rows)) < len(rows) // 2
    folds = [Fold(rows[part], labels[part], rows[~part], labels[~part]) for part in (half, ~half)]
    tried = grid_search(folds, costs=[0.001, 10], gammas=[0.5, 1e4])
    assert sorted((each.cost, each.gamma) for each in tried) == [(0.001, 0.5), (0.001, 1e4), (10, 0.5), (10, 1e4)]
    assert (tried[0].cost, tried[0].gamma) == (10, 0.5)
    assert tried[0].accuracy > 0.9
    assert [each.accuracy for each in tried] == sorted((each.accuracy for each in tried), reverse=True)
    majority = max(labels.mean(), 1 - labels.mean())
    assert tried[-1].accuracy == pytest.approx(majority, abs=0.05)
    assert len(grid_search(folds, costs=[1, 2], gammas=[1, 2], kernel="linear")) == 2


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_package(monkeypatch, "sklearn")
    rows, labels = toy()
    with pytest.raises(MissingExtra, match=r"mainmatter\[train\]"):
        train_svm(rows, labels, cost=1.0, gamma=1.0)
    with pytest.raises(MissingExtra, match="scikit-learn"):
        need_trainer()


VECTORS = np.array([[0, 1], [1, -1]], np.float16)
WEIGHTS = np.array([2, -3], np.float32)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_machine_comes_back(kernel: Kernel) -> None:
    rows = np.random.default_rng(3).uniform(-1, 1, (50, 2))
    machine = restore_svm(kernel, 0.5, VECTORS, WEIGHTS, 1)
    expected = Svm(kernel, 0.5, VECTORS.astype(np.float32), WEIGHTS, 1.0).decide(rows)
    assert machine.decide(rows).tolist() == expected.tolist()
    # The largest weights that are taken give finite decisions.
    large = np.full(2, 3e28 if kernel != "polynomial" else 1e23, np.float32)
    assert np.isfinite(restore_svm(kernel, 10.0, np.ones((2, 2)), large, 1e30).decide(np.ones((1, 2)))).all()


@pytest.mark.parametrize(
    ("vectors", "weights", "bias"),
    [
        (VECTORS, WEIGHTS.reshape(-1, 1), 0.0),
        (VECTORS, np.stack([WEIGHTS, WEIGHTS], axis=1), 0.0),
        (VECTORS, WEIGHTS[:1], 0.0),
        (VECTORS, WEIGHTS.astype(int), 0.0),
        (VECTORS, WEIGHTS.astype(str), 0.0),
        (VECTORS, WEIGHTS.astype(complex), 0.0),
        (VECTORS, np.full(2, 3e38, np.float32), 0.0),
        (VECTORS, np.array([np.nan, 1], np.float32), 0.0),
        (VECTORS, np.array([np.inf, 1], np.float32), 0.0),
        (VECTORS[:0], WEIGHTS[:0], 0.0),
        (VECTORS[:, :0], WEIGHTS, 0.0),
        (VECTORS[0], WEIGHTS, 0.0),
        (VECTORS.astype(bool), WEIGHTS, 0.0),
        (VECTORS * 2, WEIGHTS, 0.0),
        (VECTORS * np.float16(np.nan), WEIGHTS, 0.0),
        (VECTORS, WEIGHTS, True),
        (VECTORS, WEIGHTS, "1.5"),
        (VECTORS, WEIGHTS, None),
        (VECTORS, WEIGHTS, [1.0]),
        (VECTORS, WEIGHTS, float("nan")),
        (VECTORS, WEIGHTS, 1e300),
        (VECTORS, WEIGHTS, 10**400),
    ],
)
def test_what_was_never_a_machine(vectors: Any, weights: Any, bias: object) -> None:
    with pytest.raises(ValueError, match=r"floats|fit|scaled|bias|finite"):
        restore_svm("rbf", 0.5, vectors, weights, bias)


def test_the_kernel_counts_for_what_is_too_large() -> None:
    weights = np.full(2, 1e20, np.float32)
    restore_svm("rbf", 1e4, VECTORS, weights, 0.0)
    with pytest.raises(ValueError, match="too large"):
        restore_svm("polynomial", 1e4, VECTORS, weights, 0.0)


@pytest.mark.parametrize(("gamma", "digits"), [(1.0, np.float32), (1.01, np.float64)])
def test_narrow_kernels_are_added_up_with_more_digits(gamma: float, digits: type) -> None:
    machine = Svm("rbf", gamma, np.ones((2, 3), np.float32), np.ones(2, np.float32), 0.0)
    assert machine._right[0].dtype == digits
    assert Svm("linear", gamma, machine.vectors, machine.weights, 0.0)._right[0].dtype == np.float32


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("vectors", [1, 47, 48, 49, 12 * 48, 13 * 48 + 1])
def test_parts_of_any_size_add_up(kernel: Kernel, vectors: int) -> None:
    rng = np.random.default_rng(4)
    values = rng.uniform(-1, 1, (vectors, 4)).astype(np.float32)
    both = Svm(kernel, 0.5, values[:, :3], values[:, 3], 0.25)
    rows = rng.uniform(-1, 1, (257, 3))
    alone = [Svm(kernel, 0.5, both.vectors[[i]], both.weights[[i]], 0.0).decide(rows) for i in range(vectors)]
    assert both.decide(rows) == pytest.approx(0.25 + np.sum(alone, axis=0), abs=1e-3)
