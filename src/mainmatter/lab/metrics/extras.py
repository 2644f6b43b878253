"""The optional libraries that metrics call, imported at the moment of need.

One place, so that the core installs without them and a missing one is named with the command that installs
it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from types import ModuleType


def need(module: str) -> ModuleType:
    """Import a module of the `eval` extra.

    Raises:
        MissingExtra: if it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(module.partition(".")[0], "eval") from error
