"""JSON to the dataclasses that a run keeps as JSON: plans, slices, reports, rejects. Every value is checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Stored = TypeVar("Stored", bound=DataclassInstance)

_MOST = 1 << 63  # no count, position or time of ours is larger, and other libraries take no larger ones


def parse(kind: type[Stored], data: bytes | str) -> Stored:
    """A dataclass from JSON text.

    Raises:
        ValueError: it is no JSON, or a value is missing, unknown, or of another type than its field.
    """
    try:
        return build(kind, json.loads(data))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def build(kind: type[Stored], content: object) -> Stored:
    """A dataclass from what was read from JSON: lists become tuples where the field says so.

    Raises:
        ValueError: a value is missing, unknown, or of another type than its field.
    """
    if not isinstance(content, dict):
        raise ValueError(f"{content!r:.100} is not an object")
    types = _types_of(kind)
    if unknown := content.keys() - types.keys():
        raise ValueError(f"there is no field {min(unknown)[:100]!r}")
    needed = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}
    if missing := needed - content.keys():
        raise ValueError(f"{min(missing)} is missing")
    return kind(**{name: _checked(types[name], value, name) for name, value in content.items()})


@lru_cache(maxsize=64)
def _types_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, localns={"Mapping": Mapping})  # which modules import for type checkers alone


def _checked(type_: Any, value: Any, name: str) -> Any:  # whatever JSON holds
    """A value that fits a type, as that type."""
    if type_ is Any:
        return value
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):  # of one type and None
        kinds = [each for each in arguments if each is not NoneType]
        return None if value is None and len(kinds) < len(arguments) else _checked(kinds[0], value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(_checked(arguments[0], each, name) for each in value)
    if origin is Mapping and isinstance(value, dict):
        return {key: _checked(arguments[1], each, name) for key, each in value.items()}
    if is_dataclass(type_):
        return build(type_, value)  # type: ignore[arg-type]
    if origin is Literal:
        fits = isinstance(value, str) and value in arguments
    elif type_ is float:
        fits = type(value) in (int, float) and abs(value) < _MOST and math.isfinite(value)
    else:
        fits = type(value) is type_ and (type_ is not int or abs(value) < _MOST)
    if not fits:
        raise ValueError(f"{name} is {value!r:.100}")
    return value
