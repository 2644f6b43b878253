"""A method's parameters as people write them, and whether they are of the types that the method declares."""

from __future__ import annotations

from ast import literal_eval
from inspect import Parameter, signature
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def parse_parameters(name: str, listed: str) -> dict[str, Any]:
    """Read "c1=0.25,c2=8"; values are Python's numbers, True, False or None where they are such, else text.

    Raises:
        InputError: something in the list is no assignment.
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


def check_parameters(name: str, maker: Callable[..., Any], chosen: Mapping[str, Any]) -> None:
    """Refuse parameters that a method has not, and values of another type than they are declared with.

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
            raise InputError(f"method {name!r} has no parameter {parameter!r}; it has: {', '.join(known) or 'none'}")
        wanted = _declared(known[parameter])
        if wanted and not any(_TYPES[each][0](value) for each in wanted):
            words = " or ".join(_TYPES[each][1] for each in wanted)
            raise InputError(f"method {name!r}: {parameter} is {words}, not {value!r}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: object) -> bool:
    """Whether a value is a number that floating point can hold."""
    try:
        return (_is_whole(value) or isinstance(value, float)) and isfinite(cast("float", value))
    except OverflowError:
        return False


# What a parameter may be declared as, how to tell, and what to call it.
_TYPES: dict[str, tuple[Callable[[object], bool], str]] = {
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "int": (_is_whole, "a whole number"),
    "float": (_is_finite, "a number"),
    "str": (lambda value: isinstance(value, str), "a text"),
    "None": (lambda value: value is None, "None"),
}


def _declared(parameter: Parameter) -> list[str]:
    """The types that a parameter is declared with, as far as they are simple; else that of its default."""
    annotation = parameter.annotation
    declared = annotation.split(" | ") if isinstance(annotation, str) else [getattr(annotation, "__name__", "")]
    if not all(each in _TYPES for each in declared):
        declared = [type(parameter.default).__name__]
    return declared if all(each in _TYPES for each in declared) else []
