"""Who learns: a method, what it goes on from, and how far it is led away from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.errors import InputError, ModelError
from mainmatter.models.store import is_model, load
from mainmatter.parameters import parse_parameters
from mainmatter.registry import DEFAULT_METHOD, get_method, make_untrained, split_name
from mainmatter.trainable import be_silent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mainmatter.method import Method
    from mainmatter.trainable import Trainable

# A net that was trained further on a few pages forgets some of what it knew. Part of the way between its weights before
# and after, it has learned most and forgotten little (Wortsman et al. 2022, Robust fine-tuning of zero-shot models,
# section 4). How far is best depends on how unlike the pages are; docs/results/teaching.md says how these were chosen.
STRENGTHS = (0.4, 0.7, 1.0)
_OF_MAIN = {"start": "main", "epochs": "16"}


@dataclass(frozen=True)
class Learner:
    """A method that is to learn from annotated pages.

    Args:
        method: its name, with parameters if need be, as in "main:epochs=4" or "ncleaner:n=4". `main` goes on from the
            shipped model, unless `start` names another one, or is empty.

    Raises:
        UnknownName: there is no such method.
        InputError: the method does not learn, or a parameter is wrong.
        MissingExtra: learning needs a package that is not installed.
        ModelError: the model to go on from is missing or damaged.
    """

    method: str

    def __post_init__(self) -> None:
        if is_model(split_name(self.method)[0]):
            raise InputError(
                f"{self.method} is a model, not a method; to go on from it: main:start={split_name(self.method)[0]}"
            )
        self.make().need_extras()
        _ = self.shipped

    @property
    def base(self) -> str:
        """The name of the method, without parameters."""
        return split_name(self.method)[0]

    @property
    def full_name(self) -> str:
        """The method with all parameters that it learns with."""
        name, listed = split_name(self.method)
        chosen = parse_parameters(name, listed)
        added = [f"{key}={value}" for key, value in _OF_MAIN.items() if name == "main" and key not in chosen]
        listed = ",".join([*added, *filter(None, [listed])])
        return f"{name}:{listed}" if listed else name

    @property
    def start(self) -> str:
        """The model that learning goes on from; "" if it begins from nothing."""
        return str(self.make().parameters.get("start", "")) if self.base == "main" else ""

    @property
    def strengths(self) -> tuple[float, ...]:
        """How far from the start models are taken, for the best of them to be chosen."""
        return STRENGTHS if self.start else (1.0,)

    @property
    def shipped(self) -> str:
        """The model to compare with: the one to go on from or, without one, the method's own that ships.

        Where none of the method ships, it is the default method's.
        """
        if self.start and self.start != self.base:
            return self.start
        try:
            get_method(self.base)
        except ModelError:
            return DEFAULT_METHOD
        return self.base

    def make(self) -> Trainable[Any]:
        """The method, as yet untrained."""
        return make_untrained(self.full_name)

    def learn(
        self, observations: Sequence[Any], seed: int = 0, report: Callable[[str], object] = be_silent
    ) -> list[Trainable[Any]]:
        """Learn from what was observed: one model for each strength.

        Raises:
            InputError: there is nothing to learn from.
        """
        method = self.make()
        if self.start and seed:
            method = make_untrained(f"{self.full_name},seed={seed}")
        method.learn(observations, report)
        if not self.start:
            return [method]
        before, after = self._start_arrays(), method.facts_and_arrays()[1]
        return [self._between(method, before, after, strength) for strength in self.strengths]

    def _start_arrays(self) -> dict[str, NDArray[Any]]:
        if self.start != self.base:
            return load(self.start).arrays
        shipped: Method = get_method(self.base)
        return shipped.facts_and_arrays()[1]  # type: ignore[attr-defined, no-any-return]

    def _between(
        self,
        trained: Trainable[Any],
        before: dict[str, NDArray[Any]],
        after: dict[str, NDArray[Any]],
        strength: float,
    ) -> Trainable[Any]:
        """A model whose weights are so far on the way from one to another."""
        mixed = {name: _mix(before[name], array, strength) for name, array in after.items()}
        method = type(trained)(**trained.parameters)
        method.restore(trained.facts_and_arrays()[0], mixed)
        return method


def _mix(before: NDArray[Any], after: NDArray[Any], strength: float) -> NDArray[Any]:
    if before.dtype.kind != "f":  # sizes, not weights: they are the same in both
        return after
    return ((1 - strength) * before + strength * after).astype(after.dtype)


def choose_strengths(scores: NDArray[np.float64], folds: Sequence[Sequence[int]]) -> NDArray[np.intp]:
    """For each page, the strength that is best on the pages of all other folds.

    So no page has a say in the choice of the model that it is measured with. Where several are as good, the gentlest.

    Args:
        scores: one row a strength, one column a page: its score while it was left out.
        folds: the numbers of the pages that were left out together.
    """
    chosen = np.zeros(scores.shape[1], np.intp)
    for fold in folds:
        others = np.ones(scores.shape[1], bool)
        others[list(fold)] = False
        chosen[list(fold)] = best_strength(scores[:, others])
    return chosen


def best_strength(scores: NDArray[np.float64]) -> int:
    """The number of the strength with the highest mean score; of several, the gentlest."""
    means = scores.mean(axis=1).round(6)
    return int(means.argmax())
