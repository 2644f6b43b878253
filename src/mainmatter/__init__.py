"""Keep the main matter of web pages, drop the boilerplate.

>>> import mainmatter
>>> mainmatter.clean("<p>Hello, world: this is a paragraph of more than ten words, as you can see.</p>").text
'Hello, world: this is a paragraph of more than ten words, as you can see.'
"""

from mainmatter.isolation import interrupts as _interrupts  # noqa: F401 - first: what follows takes its time

# isort: split
import os as _os

if _os.environ.get("MAINMATTER_PURE") or _os.environ.get("MAINMATTER_REQUIRE_COMPILED"):
    from mainmatter.compiled import obey_environment as _obey_environment

    _obey_environment()

from importlib import import_module as _import_module
from sys import modules as _modules
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mainmatter.clean import (
        Cleaner,
        CleanOptions,
        PageLike,
        clean,
        clean_file,
        clean_many,
        clean_url,
        extract,
        read,
    )
    from mainmatter.errors import (
        DatasetError,
        FetchError,
        InputError,
        MainmatterError,
        MissingExtra,
        ModelError,
        NotAPage,
        PageTooLarge,
        PageWarning,
        UnknownName,
    )
    from mainmatter.isolation.parallel import Failure
    from mainmatter.limits import Limits
    from mainmatter.method import Method
    from mainmatter.records import Block, Document, Extraction, Kind, Metadata, Page
    from mainmatter.registry import DEFAULT_METHOD, get_method, method_names
    from mainmatter.render.chunks import Chunk

    __version__: str

__all__ = [
    "DEFAULT_METHOD",
    "Block",
    "Chunk",
    "CleanOptions",
    "Cleaner",
    "DatasetError",
    "Document",
    "Extraction",
    "Failure",
    "FetchError",
    "InputError",
    "Kind",
    "Limits",
    "MainmatterError",
    "Metadata",
    "Method",
    "MissingExtra",
    "ModelError",
    "NotAPage",
    "Page",
    "PageLike",
    "PageTooLarge",
    "PageWarning",
    "UnknownName",
    "clean",
    "clean_file",
    "clean_many",
    "clean_url",
    "extract",
    "get_method",
    "method_names",
    "read",
]

# Names are loaded on first use: loading numpy and the parser takes a tenth of a second, which you need not wait for if
# you only ask for help, or import this without cleaning a page. Names that are not listed here are in clean.py.
_MODULES = {
    "errors": (
        "DatasetError FetchError InputError MainmatterError MissingExtra ModelError NotAPage PageTooLarge PageWarning "
        "UnknownName"
    ),
    "isolation.parallel": "Failure",
    "limits": "Limits",
    "method": "Method",
    "records": "Block Document Extraction Kind Metadata Page",
    "registry": "DEFAULT_METHOD get_method method_names",
    "render.chunks": "Chunk",
}
_MODULE_OF = dict.fromkeys(__all__, "clean") | {
    name: module for module, names in _MODULES.items() for name in names.split()
}
_SUBMODULES = "errors html limits method models records registry render text".split()  # which all of these load


def __getattr__(name: str) -> object:
    value: object
    if name in _MODULE_OF:
        value = getattr(_import_module(f"mainmatter.{_MODULE_OF[name]}"), name)
    elif name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - it loads much that nothing else needs

        value = version("mainmatter")
    elif name in _SUBMODULES:
        value = _import_module(f"mainmatter.{name}")
    else:
        raise AttributeError(f"module 'mainmatter' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__, "__version__"]


class _Mainmatter(_ModuleType):
    """This module. Otherwise, importing the module `mainmatter.clean` would replace the function of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "clean" and isinstance(value, _ModuleType):
            value = value.clean
        super().__setattr__(name, value)


_modules[__name__].__class__ = _Mainmatter
