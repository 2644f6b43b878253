"""Support vector machines: trained with scikit-learn's libsvm, decided by numpy alone.

FIASCO 2.3 and 4.1: a kernel of radial basis functions, C = 32 and gamma = 8, the other kernels for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Split = tuple[NDArray[np.intp], NDArray[np.intp]]

Kernel = Literal["rbf", "linear", "polynomial", "sigmoid"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)
_NAMES = {"rbf": "rbf", "linear": "linear", "polynomial": "poly", "sigmoid": "sigmoid"}
_DEGREE = 3  # of the polynomial kernel: LIBSVM's default, as are its coefficients of 0
_CELLS = 1 << 18  # rows times support vectors that are worked out at once: 1 MB


@dataclass(frozen=True, slots=True, eq=False)
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
        decided = np.empty(len(rows), np.float64)
        step = max(1, _CELLS // max(1, len(self.vectors)))
        right = self._right()
        for start in range(0, len(rows), step):
            part = self._left(np.asarray(rows[start : start + step], np.float32))
            decided[start : start + step] = self._bend(part @ right) @ self.weights
        return decided + self.bias

    def _left(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """What is multiplied with `_right` to give all that the kernel needs of rows and support vectors.

        For radial basis functions that is -gamma |x - v|^2 = 2 gamma x v - gamma |x|^2 - gamma |v|^2.
        """
        if self.kernel != "rbf":
            return rows
        squares = np.einsum("ij,ij->i", rows, rows)
        return np.column_stack([rows, squares, np.ones_like(squares)])

    def _right(self) -> NDArray[np.float32]:
        gamma = np.float32(1 if self.kernel == "linear" else self.gamma)
        if self.kernel != "rbf":
            return gamma * self.vectors.T
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors)
        return np.vstack([2 * gamma * self.vectors.T, np.full_like(squares, -gamma), -gamma * squares])

    def _bend(self, products: NDArray[np.float32]) -> NDArray[np.float32]:
        """The rest of the kernel; in place, since the table is large."""
        if self.kernel == "rbf":
            np.exp(products, out=products)
        elif self.kernel == "sigmoid":
            np.tanh(products, out=products)
        elif self.kernel == "polynomial":
            np.power(products, _DEGREE, out=products)
        return products


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
    machine = _svc(cost, gamma, kernel).fit(rows, is_positive, sample_weight=weights)
    return Svm(
        kernel,
        gamma,
        np.asarray(machine.support_vectors_, np.float32),
        np.asarray(machine.dual_coef_[0], np.float32),
        float(machine.intercept_[0]),
    )


def _svc(cost: float, gamma: float, kernel: Kernel) -> Any:  # noqa: ANN401 - scikit-learn has no types
    try:
        from sklearn.svm import SVC  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("scikit-learn", "train") from error
    return SVC(C=cost, gamma=gamma, kernel=_NAMES[kernel], degree=_DEGREE, coef0=0.0, cache_size=500)


@dataclass(frozen=True, slots=True)
class Tried:
    """One combination of a grid search: what was set, and the accuracy it reached."""

    cost: float
    gamma: float
    accuracy: float


def grid_search(
    rows: NDArray[Any],
    is_positive: NDArray[np.bool_],
    splits: Sequence[Split],
    *,
    costs: Iterable[float],
    gammas: Iterable[float],
    kernel: Kernel = "rbf",
    on_try: Callable[[Tried], object] = lambda _: None,
) -> list[Tried]:
    """Try all combinations of C and gamma by cross-validation, the best first (FIASCO 4.1).

    Args:
        rows: what to learn from.
        is_positive: which rows are on the positive side.
        splits: the numbers of the rows to learn from and of those to test on, for each fold.
        costs: the values of C.
        gammas: the values of gamma; the linear kernel has none and takes the first.
        kernel: how two rows are compared.
        on_try: called after each combination, for showing progress.
    """
    tried: list[Tried] = []
    all_gammas = list(gammas)[:1] if kernel == "linear" else list(gammas)
    for cost in costs:
        for gamma in all_gammas:
            right = total = 0
            for learn, test in splits:
                machine = train_svm(rows[learn], is_positive[learn], cost=cost, gamma=gamma, kernel=kernel)
                right += int(((machine.decide(rows[test]) > 0) == is_positive[test]).sum())
                total += len(test)
            tried.append(Tried(cost, gamma, right / max(1, total)))
            on_try(tried[-1])
    return sorted(tried, key=lambda each: -each.accuracy)
