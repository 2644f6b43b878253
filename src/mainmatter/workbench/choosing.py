"""The method that a client chose: a registered name, or a model of the workbench; never a path.

On the command line, a method's name may be the path of a model, and some parameters are paths: the user owns the files
there. Here the client does not.
"""

from __future__ import annotations

import os
import re
import sys
from collections import ChainMap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from mainmatter.errors import InputError, MainmatterError, ModelError, UnknownName
from mainmatter.files import write_whole
from mainmatter.lab.peers import PEERS
from mainmatter.method import parse_parameters
from mainmatter.models.in_use import read_choice
from mainmatter.models.store import SHIPPED, is_model, load
from mainmatter.papers.template.site_counts import METHOD as TEMPLATE
from mainmatter.registry import DEFAULT_METHOD, get_method, make_untrained, method_names, trainable_names

if TYPE_CHECKING:
    from collections.abc import Mapping

MODELS = "models/"  # how the names of the workbench's models begin
LONGEST_NAME = 300
_IN_USE = "in-use.txt"  # in the folder of the models; none of them has a name like that
_MODEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}")
_PLAIN_TEXTS = frozenset(("convention", "features", "literals", "without"))  # parameters that are texts, and no paths


def choose_method(name: str, options: Mapping[str, Any], models: Path) -> tuple[str, dict[str, Any]]:
    """What `clean` needs for the method that a client chose.

    Args:
        name: a method, or `models/NAME` for one of the workbench's models; parameters may follow, as in
            "density:c1=0.25,c2=8".
        options: parameters of the method; they win over those in the name.
        models: the folder of the workbench's models.

    Returns:
        The method's name, or the path of its model, and its parameters.

    Raises:
        UnknownName: there is no such method or model.
        InputError: a parameter is wrong, or clients may not set it.
    """
    base, _, listed = name[:LONGEST_NAME].partition(":")
    chosen, method = base, base
    if base.startswith(MODELS):
        path = models / base.removeprefix(MODELS)
        if base not in model_names(models):
            raise UnknownName("model", base, model_names(models) or ["none yet"])
        chosen, method = str(path), load(path).method
    elif base not in method_names():
        raise UnknownName("method", base, [*method_names(), *model_names(models)])
    parameters = parse_parameters(base, listed) | dict(options)
    _refuse_paths(base, method, parameters)
    return chosen, parameters


def method_in_use(models: Path) -> str:
    """The server's default method: `main`, or `models/NAME`.

    It is what was chosen in Teach. If nothing was, it is what `mainmatter use` chose, if that is a model of this
    workbench.

    Raises:
        ModelError: the model that was chosen in Teach no longer exists.
    """
    try:
        name = (models / _IN_USE).read_text("utf-8").strip()
    except OSError:
        try:
            path = Path(read_choice() or "")
        except ModelError:
            return DEFAULT_METHOD
        is_here = path.parent == models.resolve() and MODELS + path.name in model_names(models)
        return MODELS + path.name if is_here else DEFAULT_METHOD
    if name != DEFAULT_METHOD and name not in model_names(models):
        raise ModelError(f"{name}, the model in use, no longer exists; choose another in Teach, or go back to main")
    return name


def offered_method(models: Path) -> str:
    """The method in use; `main` if its model is gone, so that there is always one."""
    try:
        return method_in_use(models)
    except ModelError:
        return DEFAULT_METHOD


def use_method(models: Path, name: str) -> None:
    """Choose the server's default method: `main`, or `models/NAME`.

    Raises:
        UnknownName: there is no such model.
        OSError: the workbench's folder cannot be written.
    """
    if name != DEFAULT_METHOD and name not in model_names(models):
        raise UnknownName("model", name, [DEFAULT_METHOD, *model_names(models)])
    write_whole(models / _IN_USE, f"{name}\n".encode())


def needs_model(name: str) -> bool:
    """Whether a method is useless without a model: `template` keeps all text except what its model has counted."""
    return name == TEMPLATE


def choose_contestant(name: str, models: Path) -> tuple[str, dict[str, Any]]:
    """As `choose_method`, for an evaluation or comparison, where a name may also be that of a peer."""
    return (name, {}) if name in PEERS else choose_method(name, {}, models)


def model_names(models: Path) -> list[str]:
    """The workbench's models, as clients name them."""
    if not models.is_dir():
        return []
    found = (path.name for path in models.iterdir() if _MODEL_NAME.fullmatch(path.name) and is_model(path))
    return sorted(MODELS + name for name in found)


def without_paths(error: MainmatterError, models: Path) -> MainmatterError:
    """An error whose message does not reveal paths on the server."""
    text = str(error)
    told = text.replace(f"{models}/", MODELS).replace(f"{SHIPPED}/", "the shipped model ")
    return error if told == text else InputError(told)


def without_folder(text: str, folder: Path) -> str:
    """A text with paths relative to the workbench's folder."""
    place = str(folder).rstrip(os.sep)
    return text.replace(place + os.sep, "").replace(place, "the workbench") if place else text


def _refuse_paths(name: str, method: str, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that may be paths: all texts except those known to be something else."""
    texts = [parameter for parameter, value in parameters.items() if isinstance(value, str)]
    if not texts:
        return
    known = {each["name"]: each for each in parameters_of(method)}
    for parameter in texts:
        if parameter in known and not known[parameter]["settable"]:
            raise InputError(
                f"method {name!r}: {parameter} cannot be set over the web, because it may name a file on the server"
            )


def parameters_of(name: str) -> list[dict[str, Any]]:
    """The parameters of a method: name, type, default, choices, and whether clients may set them.

    Raises:
        InputError: the method comes from another package and cannot be loaded.
    """
    method: Any = make_untrained(name) if name in trainable_names() else get_method(name)
    found = []
    for parameter, field in getattr(type(method), "__dataclass_fields__", {}).items():
        if not field.init or "ClassVar" in str(field.type):
            continue
        choices = _choices(type(method), str(field.type))
        types = str(field.type).split(" | ")
        plain = [each for each in types if each in ("bool", "int", "float", "str")]
        default = getattr(method, parameter)
        found.append(
            {
                "name": parameter,
                "type": "choice" if choices else plain[0] if plain else type(default).__name__,
                "default": default if isinstance(default, bool | int | float | str) else None,
                "choices": choices,
                "settable": bool(choices) or {*types} <= {"bool", "int", "float", "None"} or parameter in _PLAIN_TEXTS,
            }
        )
    return found


def _choices(owner: type, annotation: str) -> list[str]:
    """The values of a parameter that has choices; none for any other."""

    def holder() -> None: ...

    holder.__annotations__ = {"parameter": annotation}
    names = ChainMap(*(vars(sys.modules[each.__module__]) for each in owner.__mro__))  # it may be a base's parameter
    try:
        hint = get_type_hints(holder, dict(names))["parameter"]
    except Exception:  # a name that is there for the type checker only
        return []
    return [str(value) for value in get_args(hint)] if get_origin(hint) is Literal else []
