"""What a method is that learns from pages with their gold text.

It follows scikit-learn's habits: parameters are keywords, stored unchanged; `fit` returns self; what was learned ends
in `_`. Learning has two steps, so that pages can be looked at in several processes, and once only for the many fits of
a cross-validation or a learning curve:

    observe(example) -> what of one page matters for learning, small, and able to travel between processes
    learn(observations) -> self
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from mainmatter.errors import InputError, ModelError
from mainmatter.models.store import SHIPPED, Model, load, save
from mainmatter.parameters import check_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.records import Document, Extraction, Gold, Kind

Observation = TypeVar("Observation")

_MOST_OF = 0.5  # a block is main matter if more than this share of its words is


@dataclass(frozen=True, slots=True)
class Example:
    """A page with its answer, to learn from (lab/training/examples.py makes them).

    Attributes:
        document: the page.
        gold: what the gold standard says about it.
        shares: of each block's words, the share that is part of the gold text; NaN where nobody knows, on pages of
            which the gold standard has snippets only.
        kinds: heading, list item or paragraph: what each block is by the gold standard's markup or, where that says
            nothing, by the page's own.
        page_type: what kind of page it is, such as "article", if the gold standard says so.
        comments: 1 for each block that annotators call a comment, 0 for those that they do not, NaN where they did not
            say; None where nobody labelled blocks.
    """

    document: Document
    gold: Gold
    shares: NDArray[np.float64]
    kinds: Sequence[Kind]
    page_type: str | None = None
    comments: NDArray[np.float64] | None = None

    @property
    def kept(self) -> NDArray[np.bool_]:
        """The blocks that are main matter."""
        return self.shares > _MOST_OF


def be_silent(message: str) -> None:
    """Report nothing."""


class Trainable(ABC, Generic[Observation]):
    """A method that learns. Subclasses are dataclasses, whose fields with `init=True` are the parameters.

    Class attributes:
        version: counts up when what is learned gets another meaning, so that older models are refused.
        learned_with: the parameters that shape what is learned; a model serves only those values that it was trained
            with. The others may be changed after training.
        learns_from_snippets: whether pages are of use of which only some blocks are labelled.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    version: ClassVar[int] = 1
    learned_with: ClassVar[frozenset[str]] = frozenset()
    learns_from_snippets: ClassVar[bool] = False

    @abstractmethod
    def extract(self, document: Document) -> Extraction:
        """Decide which blocks of a document are main matter."""

    @abstractmethod
    def observe(self, example: Example) -> Observation:
        """Take from one page what learning needs."""

    @abstractmethod
    def learn(self, observations: Sequence[Observation], report: Callable[[str], object] = be_silent) -> Self:
        """Learn from what was observed; `report` is called with a line about the progress now and then.

        Raises:
            InputError: there is nothing to learn from.
        """

    @abstractmethod
    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What was learned: as JSON holds it, and as arrays."""

    @abstractmethod
    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what was learned before. May raise KeyError, TypeError or ValueError if it does not fit."""

    def need_extras(self) -> None:
        """Find out, before any work, whether learning has all that it needs.

        Raises:
            MissingExtra: an optional dependency is not installed.
        """

    def weights(self) -> str:
        """The name of the shipped model for these parameters: a folder of `mainmatter/models`."""
        return self.name

    def fit(self, examples: Iterable[Example], report: Callable[[str], object] = be_silent) -> Self:
        """Learn from pages with their answers.

        Raises:
            InputError: there is nothing to learn from.
        """
        return self.learn([self.observe(example) for example in examples], report)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, as the constructor took them."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}  # type: ignore[arg-type]

    def save(self, path: str | Path, card: dict[str, Any] | None = None) -> int:
        """Write what was learned into a folder, with a card that tells where it comes from; gives its size in bytes."""
        facts, arrays = self.facts_and_arrays()
        return save(Model(self.name, self.version, self.parameters, facts, arrays, card or {}), path)

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> Self:  # noqa: ANN401 - each method has its own
        """A method with what was learned before; parameters that do not shape learning may be changed.

        Raises:
            ModelError: the model is missing, damaged, of another method or version, or trained with other parameters.
        """
        model = load(path)
        if model.method != cls.name:
            raise ModelError(f"{path}: a model of {model.method}, not of {cls.name}")
        chosen = {**_known(cls, model), **parameters}
        try:
            check_parameters(cls.name, cls, chosen)
            method = cls(**chosen)
        except (InputError, TypeError, ValueError) as error:
            raise ModelError(f"{path}: {error}") from error
        method.take(model, path)
        return method

    def load_shipped(self) -> Self:
        """Take over what the model learned that ships for these parameters.

        Raises:
            ModelError: none does.
        """
        path = SHIPPED / self.weights()
        self.take(load(path), path)
        return self

    def take(self, model: Model, path: str | Path) -> None:
        """Take over what a model learned, if it is one of this method with these parameters."""
        if (model.method, model.version) != (self.name, self.version):
            raise ModelError(
                f"{path}: a model of {model.method}, version {model.version}, "
                f"not of {self.name}, version {self.version}"
            )
        for name in sorted(self.learned_with):
            mine, its = self.parameters[name], model.parameters.get(name)
            if mine != its:
                raise ModelError(
                    f"{path}: trained with {name}={its}, not {mine}; train one: "
                    f"mainmatter train {self.name}:{name}={mine} --on DATA -o MODEL"
                )
        try:
            self.restore(model.facts, model.arrays)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(f"{path}: damaged: {type(error).__name__}: {error}") from error


def _known(cls: type[Trainable[Any]], model: Model) -> dict[str, Any]:
    """The parameters of a model that the method has; a later version may have dropped some that do not matter."""
    names = {field.name for field in fields(cls) if field.init}  # type: ignore[arg-type]
    return {name: value for name, value in model.parameters.items() if name in names}


def need_some(observations: Sequence[object], name: str) -> None:
    """Refuse to learn from nothing.

    Raises:
        InputError: there is no page.
    """
    if not observations:
        raise InputError(f"{name}: no page to learn from")
