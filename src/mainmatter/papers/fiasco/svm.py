"""Support vector machines: trained with scikit-learn's libsvm, decided by numpy alone.

FIASCO 2.3 and 4.1: a kernel of radial basis functions, C = 32 and gamma = 8, the other kernels for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

Kernel = Literal["rbf", "linear", "polynomial", "sigmoid"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)
_NAMES = {"rbf": "rbf", "linear": "linear", "polynomial": "poly", "sigmoid": "sigmoid"}
_DEGREE = 3  # of the polynomial kernel: LIBSVM's default, as are its coefficients of 0
_FARTHEST = 1.001  # of a scaled vector's numbers; it is stored with few digits
_LARGEST = 1e30  # of what the machine adds up: single floats end at 3e38
# Products of matrices as small as these are not spread over several threads, which would fight with those of other
# processes (a page took up to nine times as long on a busy machine), and do not grow with the page.
_ROWS_AT_ONCE = 128
_VECTORS_AT_ONCE = 48
_PRODUCTS_AT_ONCE = 12  # so many of them by one call of numpy: as much as the processor's cache holds
# From this gamma on the differences in `_left` would lose digits that thousands of support vectors add up.
_NARROW = 1.0


@dataclass(frozen=True, eq=False)
class Svm:
    """A trained machine.

    Attributes:
        kernel: how two rows are compared.
        gamma: how fast likeness fades with distance; unused by the linear kernel.
        vectors: the support vectors, one a row.
        weights: how much each of them says, and for which side.
        bias: is added to what they say.
    """

    kernel: Kernel
    gamma: float
    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]
    bias: float

    def decide(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """The decision value of each row: above 0 for one side, below for the other."""
        right, weights, (last_right, last_weights) = self._right
        dtype, count = right.dtype, len(weights)
        decided = np.empty(len(rows), np.float64)
        table = np.empty((_PRODUCTS_AT_ONCE, _ROWS_AT_ONCE, _VECTORS_AT_ONCE), dtype)
        said = np.zeros((count + 2, _ROWS_AT_ONCE), np.float64)
        said[0] = self.bias
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = self._left(np.asarray(rows[start : start + _ROWS_AT_ONCE], dtype))
            size = len(part)
            for first in range(0, count, _PRODUCTS_AT_ONCE):
                end = min(first + _PRODUCTS_AT_ONCE, count)
                likeness = self._apply_kernel(np.matmul(part, right[first:end], out=table[: end - first, :size]))
                said[first + 1 : end + 1, :size] = (likeness @ weights[first:end])[..., 0]
            said[-1, :size] = self._apply_kernel(part @ last_right) @ last_weights
            # Of all columns, also where fewer are needed: numpy adds those of one up in another order.
            decided[start : start + size] = said.sum(axis=0)[:size]
        return decided

    def _left(self, rows: NDArray[Any]) -> NDArray[Any]:
        """What is multiplied with `_right` to give all that the kernel needs of rows and support vectors.

        For radial basis functions that is -gamma |x - v|^2 = 2 gamma x v - gamma |x|^2 - gamma |v|^2.
        """
        if self.kernel != "rbf":
            return rows
        squares = np.einsum("ij,ij->i", rows, rows)
        return np.column_stack([rows, squares, np.ones_like(squares)])

    @cached_property
    def _right(self) -> tuple[NDArray[Any], NDArray[Any], tuple[NDArray[Any], NDArray[Any]]]:
        """The support vectors as `_left` needs them and their weights, in parts of a size; and those that are left."""
        exact: Any = np.float64 if self.kernel == "rbf" and self.gamma > _NARROW else np.float32
        gamma, vectors = exact(1 if self.kernel == "linear" else self.gamma), self.vectors.astype(exact, copy=False)
        right = gamma * vectors.T
        if self.kernel == "rbf":
            squares = np.einsum("ij,ij->i", vectors, vectors)
            right = np.vstack([2 * gamma * vectors.T, np.full_like(squares, -gamma), -gamma * squares])
        whole = len(self.weights) // _VECTORS_AT_ONCE * _VECTORS_AT_ONCE
        parts = right[:, :whole].reshape(len(right), -1, _VECTORS_AT_ONCE).transpose(1, 0, 2)
        weights = self.weights[:whole].reshape(-1, _VECTORS_AT_ONCE, 1)
        return parts, weights, (right[:, whole:], self.weights[whole:])

    def _apply_kernel(self, products: NDArray[Any]) -> NDArray[Any]:
        """The rest of the kernel; in place, since the table is large."""
        if self.kernel == "rbf":
            np.exp(products, out=products)
        elif self.kernel == "sigmoid":
            np.tanh(products, out=products)
        elif self.kernel == "polynomial":
            np.power(products, _DEGREE, out=products)
        return products


def restore_svm(kernel: Kernel, gamma: float, vectors: NDArray[Any], weights: NDArray[Any], bias: object) -> Svm:
    """A machine from what was stored of it; what it decides is finite for all rows within [-1, 1].

    Raises:
        ValueError: it is not a machine.
    """
    for name, array, dimensions in (("vectors", vectors, 2), ("weights", weights, 1)):
        if array.dtype.kind != "f" or array.ndim != dimensions or not array.size:
            raise ValueError(f"{name}: {array.dtype} of shape {array.shape} are not floats in {dimensions} dimensions")
    if len(vectors) != len(weights):
        raise ValueError(f"{len(vectors)} vectors do not fit {len(weights)} weights")
    if not (np.abs(vectors) <= _FARTHEST).all():  # NaN is no such number either
        raise ValueError("vectors are not scaled to [-1, 1]")
    if isinstance(bias, bool) or not isinstance(bias, int | float) or not abs(bias) <= _LARGEST:
        raise ValueError(f"bias is a number, not {bias!r:.50}")
    # No product of two rows is above their length, no value of the other two kernels above 1.
    product = gamma * vectors.shape[1] * _FARTHEST**2
    likeness = {"linear": product / gamma, "polynomial": product**_DEGREE}.get(kernel, 1.0)
    if not likeness * float(np.abs(weights).sum(dtype=np.float64)) <= _LARGEST:
        raise ValueError("the weights are not finite, or too large")
    return Svm(kernel, gamma, vectors.astype(np.float32), weights.astype(np.float32), float(bias))


def train_svm(
    rows: NDArray[Any],
    is_positive: NDArray[np.bool_],
    *,
    cost: float,
    gamma: float,
    kernel: Kernel = "rbf",
    weights: NDArray[np.float64] | None = None,
) -> Svm:
    """Train a machine.

    Args:
        rows: what to learn from, one row each, scaled to about [-1, 1].
        is_positive: which rows are on the positive side; there must be some on each.
        cost: LIBSVM's C: how much an error costs.
        gamma: LIBSVM's gamma.
        kernel: how two rows are compared.
        weights: how much more or less than 1 each row counts.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    need_trainer()
    from sklearn.svm import SVC  # an extra

    machine = SVC(C=cost, gamma=gamma, kernel=_NAMES[kernel], degree=_DEGREE, coef0=0.0, cache_size=500)
    machine.fit(rows, is_positive, sample_weight=weights)
    return Svm(
        kernel,
        gamma,
        np.asarray(machine.support_vectors_, np.float32),
        np.asarray(machine.dual_coef_[0], np.float32),
        float(machine.intercept_[0]),
    )


def need_trainer() -> None:
    """Check this before any work.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    try:
        import sklearn.svm  # noqa: F401 - an extra
    except ImportError as error:
        raise MissingExtra("scikit-learn", "train") from error


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Rows to learn from and rows to test on, with which of them are on the positive side."""

    learn: NDArray[Any]
    learn_positive: NDArray[np.bool_]
    test: NDArray[Any]
    test_positive: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tried:
    """One combination of a grid search: what was set, and the accuracy it reached."""

    cost: float
    gamma: float
    accuracy: float


def grid_search(
    folds: Sequence[Fold],
    *,
    costs: Iterable[float],
    gammas: Iterable[float],
    kernel: Kernel = "rbf",
) -> list[Tried]:
    """Try all combinations of C and gamma by cross-validation, the best first (FIASCO 4.1).

    Args:
        folds: what to learn from and what to test on.
        costs: the values of C.
        gammas: the values of gamma; the linear kernel has none and takes the first.
        kernel: how two rows are compared.
    """
    tried: list[Tried] = []
    all_gammas = list(gammas)[:1] if kernel == "linear" else list(gammas)
    for cost in costs:
        for gamma in all_gammas:
            right = total = 0
            for fold in folds:
                machine = train_svm(fold.learn, fold.learn_positive, cost=cost, gamma=gamma, kernel=kernel)
                right += int(((machine.decide(fold.test) > 0) == fold.test_positive).sum())
                total += len(fold.test)
            tried.append(Tried(cost, gamma, right / max(1, total)))
    return sorted(tried, key=lambda each: -each.accuracy)
