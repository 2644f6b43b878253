"""Names to things: methods and output formats, loaded when first asked for.

A name here is the name of the file, of the command line's option, and of the column in a table. Third parties add
methods of their own by an entry point in the group `mainmatter.methods`.
"""

from __future__ import annotations

from ast import literal_eval
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, cast

from mainmatter.errors import InputError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mainmatter.methods.contract import Method

    Renderer = Callable[..., str]

DEFAULT_METHOD = "ice-heuristic"

METHODS: dict[str, str] = {
    "density": "mainmatter.methods.density:Density",
    "ice-baseline": "mainmatter.methods.ice_baseline:IceBaseline",
    "ice-elaborate": "mainmatter.methods.ice_elaborate:IceElaborate",
    "ice-heuristic": "mainmatter.methods.ice_heuristic:IceHeuristic",
}

# The format's name, the function that writes it, and the ending of its files.
FORMATS: dict[str, tuple[str, str]] = {
    "cleaneval": ("mainmatter.render.cleaneval:render", ".cleaneval.txt"),
    "html": ("mainmatter.render.html:render", ".html"),
    "json": ("mainmatter.render.json:render", ".json"),
    "markdown": ("mainmatter.render.markdown:render", ".md"),
    "tei": ("mainmatter.render.tei:render", ".xml"),
    "text": ("mainmatter.render.text:render", ".txt"),
}


def method_names() -> list[str]:
    """The names of all methods, those of other packages included."""
    return sorted({*METHODS, *_plugins()})


def get_method(name: str, **parameters: Any) -> Method:  # noqa: ANN401 - each method has its own
    """Make a method by its name.

    Args:
        name: one of `method_names()`; parameters may follow, as in "density:c1=0.25,c2=8".
        parameters: the method's own parameters, such as `c1=0.25` for density.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter, its value is of the wrong type, or the method is another
            package's and cannot be loaded.
    """
    name, _, listed = name.partition(":")
    if name in METHODS:
        maker = _load(METHODS[name])
    elif name in _plugins():
        maker = _load_plugin(name)
    else:
        raise UnknownName("method", name, method_names())
    chosen = _parse_parameters(name, listed) | parameters
    for parameter, value in chosen.items():
        _check_parameter(name, signature(maker).parameters, parameter, value)
    return cast("Method", maker(**chosen))


def _parse_parameters(name: str, listed: str) -> dict[str, Any]:
    """Read "c1=0.25,c2=8"; values are Python's numbers where they are such, else text."""
    parameters: dict[str, Any] = {}
    for item in filter(None, listed.split(",")):
        parameter, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not parameter:
            raise InputError(f"method {name!r}: {item!r} is not of the form NAME=VALUE")
        try:
            parameters[parameter] = literal_eval(value)
        except (ValueError, SyntaxError):
            parameters[parameter] = value
    return parameters


def _check_parameter(name: str, known: Mapping[str, Parameter], parameter: str, value: object) -> None:
    if parameter not in known:
        if any(each.kind is Parameter.VAR_KEYWORD for each in known.values()):
            return
        raise InputError(f"method {name!r} has no parameter {parameter!r}; it has: {', '.join(known) or 'none'}")
    default = known[parameter].default
    if isinstance(default, int | float) and not isinstance(value, int | float):
        raise InputError(f"method {name!r}: {parameter} is a number, not {value!r}")


def get_format(name: str) -> Renderer:
    """The function that writes an extraction in a format: `render(extraction, **options) -> str`.

    Raises:
        UnknownName: there is no such format.
    """
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return cast("Renderer", _load(FORMATS[name][0]))


@cache
def _load(target: str) -> Any:  # noqa: ANN401 - whatever the target is
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _load_plugin(name: str) -> Any:  # noqa: ANN401 - whatever makes the method
    point = _plugins()[name]
    try:
        return point.load()
    except Exception as error:
        raise InputError(f"method {name!r}: {point.value} cannot be loaded: {type(error).__name__}: {error}") from error


@cache
def _plugins() -> dict[str, Any]:
    return {point.name: point for point in entry_points(group="mainmatter.methods")}
