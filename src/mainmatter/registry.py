"""Methods and output formats by name, loaded on first use.

The command line and the tables of reports use the same names. Formats are in render/, methods in main/ or in the
package of their paper. Other packages add methods by an entry point in the group `mainmatter.methods`.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from mainmatter.errors import InputError, ModelError, UnknownName
from mainmatter.method import Trainable, check_parameters, expand_preset, parse_parameters
from mainmatter.models.store import is_model, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.method import Method

    Renderer = Callable[..., str]

DEFAULT_METHOD = "main"
"""The method that is used unless another one is named."""

METHODS: dict[str, str] = {
    "density": "mainmatter.papers.density.method:Density",
    "fiasco": "mainmatter.papers.fiasco.method:Fiasco",
    "ice-baseline": "mainmatter.papers.ice.baseline:IceBaseline",
    "ice-elaborate": "mainmatter.papers.ice.elaborate:IceElaborate",
    "ice-heuristic": "mainmatter.papers.ice.heuristic:IceHeuristic",
    "ice-lm": "mainmatter.papers.ice.lm:IceLm",
    "ice-regex": "mainmatter.papers.ice.regex:IceRegex",
    "ice-tree": "mainmatter.papers.ice.tree:IceTree",
    "main": "mainmatter.main.method:Main",
    "ncleaner": "mainmatter.papers.ncleaner.method:Ncleaner",
    "template": "mainmatter.papers.template.method:Template",
}

# The format's name, the function that writes it, and the ending of its files.
FORMATS: dict[str, tuple[str, str]] = {
    "cleaneval": ("mainmatter.render.cleaneval:render", ".cleaneval.txt"),
    "html": ("mainmatter.render.html:render", ".html"),
    "json": ("mainmatter.render.json:render", ".json"),
    "jsonl": ("mainmatter.render.json:render_line", ".jsonl"),
    "markdown": ("mainmatter.render.markdown:render", ".md"),
    "tei": ("mainmatter.render.tei:render", ".xml"),
    "text": ("mainmatter.render.text:render", ".txt"),
}


def method_names() -> list[str]:
    """The names of all methods, including those of other packages."""
    return sorted({*METHODS, *_plugins()})


def get_method(name: str, /, **parameters: Any) -> Method:  # each method has its own
    """Make a method by its name.

    Args:
        name: one of `method_names()`, or the path of a trained model; parameters may follow, as in
            "density:c1=0.25,c2=8". "density:preset=paper" is the method as its paper describes it.
        parameters: the method's own parameters, such as `c1=0.25` for density.

    Raises:
        UnknownName: there is no such method.
        InputError: the method has no such parameter; a value has the wrong type; or the method is part of another
            package and cannot be loaded.
        ModelError: the trained model is missing, damaged, or made for other parameters.
    """
    name, listed = split_name(name)
    path = None
    if not _is_known(name) and _is_path(name):
        path, name = name, load(name).method
        if not _is_known(name):
            raise ModelError(f"{path}: a model of {name}, a method that is not installed here")
    maker = _maker(name)
    chosen = expand_preset(name, maker, parse_parameters(name, listed) | parameters)
    check_parameters(name, maker, chosen)
    if path is not None:
        return cast("Method", _trained(maker, name).load(path, **chosen))
    method = maker(**chosen)
    return cast("Method", method.load_shipped() if isinstance(method, Trainable) else method)


def make_untrained(name: str) -> Trainable[Any]:
    """Make a method that learns, with its parameters, but without what the shipped model has learned.

    Raises:
        UnknownName: no method of that name learns.
        InputError: the method has no such parameter, or its value is of the wrong type.
    """
    name, listed = split_name(name)
    maker = _trained(_maker(name), name)
    chosen = expand_preset(name, maker, parse_parameters(name, listed))
    check_parameters(name, maker, chosen)
    return maker(**chosen)


def trainable_names() -> list[str]:
    """The names of the methods that learn."""
    return [name for name in METHODS if issubclass(_maker(name), Trainable)]


def is_method(name: str) -> bool:
    """Whether a name, apart from its parameters, is that of a method or looks like the path of a model."""
    name, _ = split_name(name)
    return _is_known(name) or _is_path(name)


def split_name(name: str) -> tuple[str, str]:
    """A method's name, or a model's path, and the parameters that follow it."""
    if name in METHODS or is_model(name):
        return name, ""
    before, colon, after = name.rpartition(":") if is_model(name.rpartition(":")[0]) else name.partition(":")
    return (before, after) if colon else (name, "")


def _is_known(name: str) -> bool:
    """Whether a method has this name; finding those of other packages takes a few milliseconds."""
    return name in METHODS or name in _plugins()


def _is_path(name: str) -> bool:
    """Whether a name that is not a method's looks like the path of a model."""
    return is_model(name) or "/" in name or os.sep in name or os.path.isdir(name)  # noqa: PTH112 - any string is fine


def _maker(name: str) -> Any:  # a class, or whatever another package's entry point names
    if not _is_known(name):
        raise UnknownName("method", name, method_names())
    return _load(METHODS[name]) if name in METHODS else _load_plugin(name)


def _trained(maker: Any, name: str) -> type[Trainable[Any]]:
    """A method's class, which must be one that learns."""
    if isinstance(maker, type) and issubclass(maker, Trainable):
        return maker
    raise InputError(f"method {name!r} does not learn; those that do: {', '.join(trainable_names())}")


def get_format(name: str) -> Renderer:
    """The function that writes an extraction in a format: `render(extraction, **options) -> str`.

    Raises:
        UnknownName: there is no such format.
    """
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return cast("Renderer", _load(FORMATS[name][0]))


@cache
def _load(target: str) -> Any:  # whatever the target is
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _load_plugin(name: str) -> Any:  # whatever makes the method
    point = _plugins()[name]
    try:
        return point.load()
    except Exception as error:
        raise InputError(f"method {name!r}: {point.value} cannot be loaded: {type(error).__name__}: {error}") from error


@cache
def _plugins() -> dict[str, Any]:
    from importlib.metadata import entry_points  # our own methods are known without

    return {point.name: point for point in entry_points(group="mainmatter.methods")}
