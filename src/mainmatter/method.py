"""What a method is, for those who write one and those who use one: its reasons, its parameters, how it learns.

A method that learns (`Trainable`) follows scikit-learn's habits: parameters are keywords, stored unchanged; `fit`
returns self; what was learned ends in `_`. Learning has two steps, so that pages can be read in several processes,
and only once for the many fits of a cross-validation or a learning curve:

    observe(example) -> what learning needs from one page, small, and easy to send between processes
    learn(observations) -> self
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from ast import literal_eval
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, fields
from inspect import Parameter, signature
from math import isfinite
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from mainmatter.errors import InputError, ModelError, suggest
from mainmatter.models.store import SHIPPED, Model, load, save

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.records import Document, Extraction, Gold, Kind

Observation = TypeVar("Observation")

OUR_CONVENTION = "house"  # headline and main matter; bylines, captions and comments are apart

FROM_NOTHING = "none"  # as the model that learning goes on from, where a method has a parameter `start`
_MAJORITY = 0.5  # a block is main matter if more than this share of its words is


class Method(Protocol):
    """A way to tell main matter from boilerplate.

    Parameters are keywords of the constructor, each with a default. A class may have named sets of them in `presets`.
    A method has no state: `extract` may be called from several threads, gives the same answer to the same document, and
    never raises on what a page contains.

    Attributes:
        name: its name in `get_method`, commands and reports.
        summary: what it does, in one line.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def extract(self, document: Document) -> Extraction:
        """Decide which blocks of a document are main matter."""
        ...


class LazyReasons(Sequence[str]):
    """One sentence for each block, made only when it is read, since a page has hundreds of blocks."""

    __slots__ = ()

    @abstractmethod
    def reason(self, index: int) -> str:
        """The sentence about one block."""

    def detach(self) -> Sequence[str]:
        """These sentences without the method and the document, which are not sent between processes."""
        return self

    def attach(self, method: Method, document: Document) -> Sequence[str]:  # noqa: ARG002 - most need neither
        """These sentences with their method and document again, after they were detached."""
        return self

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self.reason(i) for i in range(*index.indices(len(self)))]
        return self.reason(index)

    def __iter__(self) -> Iterator[str]:
        return map(self.reason, range(len(self)))


def detach(reasons: Sequence[str]) -> Sequence[str]:
    """Reasons without what is not sent between processes; a list is not lazy, so it stays as it is."""
    return reasons.detach() if isinstance(reasons, LazyReasons) else reasons


def attach(reasons: Sequence[str], method: Method, document: Document) -> Sequence[str]:
    """Reasons as they were before `detach`."""
    return reasons.attach(method, document) if isinstance(reasons, LazyReasons) else reasons


@dataclass(frozen=True, slots=True, eq=False)
class Reasons(LazyReasons):
    """One of a few reasons for each block: a number for each block, and what the numbers mean."""

    codes: NDArray[np.intp] | Sequence[int]
    legend: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def reason(self, index: int) -> str:
        """The reason of one block."""
        return self.legend[self.codes[index]]


def parse_parameters(name: str, listed: str) -> dict[str, Any]:
    """Read "c1=0.25,c2=8"; values are numbers, True, False or None as in Python, or else text.

    Raises:
        InputError: an item of the list is not an assignment.
    """
    parameters: dict[str, Any] = {}
    for item in filter(None, listed.split(",")):
        parameter, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not parameter:
            raise InputError(f"method {name!r}: {item!r} is not of the form NAME=VALUE")
        try:
            parameters[parameter] = literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            parameters[parameter] = value
    return parameters


def expand_preset(name: str, maker: Any, chosen: Mapping[str, Any]) -> dict[str, Any]:  # of any package
    """Replace the preset among some parameters by what it stands for; the other parameters override it.

    A method's class lists its presets in `presets`, by name: "paper" is the system as its paper describes it.

    Raises:
        InputError: the method has no such preset.
    """
    if "preset" not in chosen or "preset" in signature(maker).parameters:
        return dict(chosen)
    presets: Mapping[str, Mapping[str, Any]] = getattr(maker, "presets", {})
    preset = chosen["preset"]
    if preset not in presets:
        known = f"it has: {', '.join(presets)}" if presets else "it has none"
        raise InputError(f"method {name!r} has no preset {preset!r}; {known}")
    return {**presets[preset], **{key: value for key, value in chosen.items() if key != "preset"}}


def check_parameters(name: str, maker: Callable[..., Any], chosen: Mapping[str, Any]) -> None:
    """Refuse parameters that a method does not have, and values that do not have the declared type.

    Args:
        name: the method's name.
        maker: its class, or whatever makes it.
        chosen: parameters and their values.

    Raises:
        InputError: one of them is wrong.
    """
    known = signature(maker).parameters
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in known.values())
    for parameter, value in chosen.items():
        if parameter not in known:
            if takes_any:
                continue
            raise InputError(f"method {name!r} has no parameter {parameter!r}; {suggest(parameter, known, 'it has')}")
        wanted = _declared(known[parameter])
        if wanted and not any(_TYPES[each][0](value) for each in wanted):
            words = _choices(maker, parameter) or " or ".join(_TYPES[each][1] for each in wanted)
            raise InputError(f"method {name!r}: {parameter} must be {words}, not {value!r}")


def _choices(maker: Callable[..., Any], parameter: str) -> str:
    """The values of a parameter that takes one of several, in words; "" for any other parameter."""
    try:
        hint = get_type_hints(maker)[parameter]
    except (KeyError, NameError, TypeError):  # a name may be there for the type checker only
        return ""
    *others, last = get_args(hint) if get_origin(hint) is Literal else [""]
    return f"{', '.join(others)} or {last}" if others else str(last)


def _is_finite(value: object) -> bool:
    """Whether a value is a number that floating point can hold."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


# What a parameter may be declared as, how to tell, and what to call it.
_TYPES: dict[str, tuple[Callable[[object], bool], str]] = {
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "int": (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    "float": (_is_finite, "a number"),
    "str": (lambda value: isinstance(value, str), "text"),
    "None": (lambda value: value is None, "None"),
}


def _declared(parameter: Parameter) -> list[str]:
    """The types that a parameter is declared with, if they are simple, or else the type of its default."""
    annotation = parameter.annotation
    declared = annotation.split(" | ") if isinstance(annotation, str) else [getattr(annotation, "__name__", "")]
    if not all(each in _TYPES for each in declared):
        declared = [type(parameter.default).__name__]
    return declared if all(each in _TYPES for each in declared) else []


@dataclass(frozen=True, slots=True)
class Example:
    """A page with its answer, to learn from; `mainmatter.lab.training.examples.make_example` makes one.

    Attributes:
        document: the page.
        gold: what the gold standard says about it.
        shares: for each block, the share of its words that is in the gold text; NaN if unknown, on pages for
            which the gold standard has only snippets.
        kinds: heading, list item or paragraph: what each block is by the gold standard's markup or, if that says
            nothing, by the page's own.
        page_type: what kind of page it is, such as "article", if the gold standard says so.
        labels: what each block is, as numbers of `records.LABELS`; -1 for a block without a label, None for a page
            without labels.
        convention: the name of the rules that the gold standard follows about headlines, bylines, captions, comments.
    """

    document: Document
    gold: Gold
    shares: NDArray[np.float64]
    kinds: Sequence[Kind]
    page_type: str | None = None
    labels: NDArray[np.intp] | None = None
    convention: str = OUR_CONVENTION

    @property
    def kept(self) -> NDArray[np.bool_]:
        """The blocks that are main matter."""
        return self.shares > _MAJORITY


def be_silent(message: str) -> None:
    """Report nothing."""


class Trainable(ABC, Generic[Observation]):
    """A method that learns. Subclasses are dataclasses, whose fields with `init=True` are the parameters.

    Attributes:
        name: its name in `get_method`, commands and reports.
        summary: what it does, in one line.
        version: increases when the meaning of what is learned changes, so that older models are refused.
        learned_with: the parameters that shape what is learned; a model works only with the values that it was trained
            with. The others may be changed after training.
        learns_from_snippets: whether it can learn from pages of which only some blocks are labelled.
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
        """Learn from what was observed; from time to time, `report` is called with a line about the progress.

        Raises:
            InputError: there is nothing to learn from.
        """

    @abstractmethod
    def facts_and_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What was learned: values that JSON can hold, and arrays."""

    @abstractmethod
    def restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what was learned before. May raise KeyError, TypeError or ValueError if it does not fit."""

    def need_extras(self) -> None:
        """Check, before any work, that the extras for learning are installed.

        Raises:
            MissingExtra: an optional dependency is not installed.
        """

    @property
    def conventions(self) -> tuple[str, ...]:
        """The rules of gold standards that it has learned to follow (`by_convention`), if it learns such."""
        return ()

    def by_convention(self, convention: str) -> Self:
        """This trained method, following the rules of a gold standard; itself if it does not know them."""
        if convention not in self.conventions:
            return self
        other = copy(self)
        other.convention = convention  # type: ignore[attr-defined]
        return other

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
        """Write what was learned into a folder, with a card about its origin; returns the size in bytes."""
        facts, arrays = self.facts_and_arrays()
        return save(Model(self.name, self.version, self.parameters, facts, arrays, card or {}), path)

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> Self:  # each method has its own
        """Make a method from a model in a folder. You can change parameters that do not shape what is learned.

        Raises:
            ModelError: the model is missing, damaged, of another method or version, or trained with other parameters.
        """
        model = load(path)
        if model.method != cls.name:
            raise ModelError(f"{path}: a model of {model.method}, not of {cls.name}")
        # A later version may have dropped parameters that do not matter.
        names = {field.name for field in fields(cls) if field.init}  # type: ignore[arg-type]
        chosen = {name: value for name, value in model.parameters.items() if name in names} | parameters
        try:
            check_parameters(cls.name, cls, chosen)
            method = cls(**chosen)
        except (InputError, TypeError, ValueError) as error:
            raise ModelError(f"{path}: {error}") from error
        method.take(model, path)
        return method

    def load_shipped(self) -> Self:
        """Take over what the shipped model for these parameters has learned.

        Raises:
            ModelError: no model ships for these parameters.
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
        # A model from before a parameter existed was trained with its default.
        defaults = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        for name in sorted(self.learned_with):
            mine, its = self.parameters[name], model.parameters.get(name, defaults[name])
            if mine != its:
                raise ModelError(
                    f"{path}: trained with {name}={its}, not {mine}; train one: "
                    f"mainmatter train {self.name}:{name}={mine} --on DATA -o MODEL"
                )
        try:
            self.restore(model.facts, model.arrays)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(f"{path}: damaged: {type(error).__name__}: {error}") from error


def need_some(observations: Sequence[object], name: str) -> None:
    """Refuse to learn from nothing.

    Raises:
        InputError: there are no pages.
    """
    if not observations:
        raise InputError(f"{name}: no pages to learn from")
