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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mainmatter.api import (  # noqa: I001 - or each name gets a statement of its own
        Cleaner as Cleaner,
        clean as clean,
        clean_file as clean_file,
        clean_many as clean_many,
        clean_url as clean_url,
        extract as extract,
        read as read,
    )
    from mainmatter.errors import (
        FetchError as FetchError,
        InputError as InputError,
        MainmatterError as MainmatterError,
        PageTooLarge as PageTooLarge,
        PageWarning as PageWarning,
    )
    from mainmatter.isolation.parallel import Failure as Failure
    from mainmatter.limits import Limits as Limits
    from mainmatter.method import Method as Method
    from mainmatter.records import (
        Block as Block,
        Document as Document,
        Extraction as Extraction,
        Kind as Kind,
        Metadata as Metadata,
        Page as Page,
    )
    from mainmatter.registry import get_method as get_method, method_names as method_names
    from mainmatter.render.chunks import Chunk as Chunk

    __version__: str

# Names are loaded on first use: loading numpy and the parser takes a tenth of a second, which you need not wait for if
# you only ask for help, or import this without cleaning a page.
_NAMES = {
    "api": "clean clean_file clean_many clean_url extract read Cleaner",
    "errors": "FetchError InputError MainmatterError PageTooLarge PageWarning",
    "isolation.parallel": "Failure",
    "limits": "Limits",
    "method": "Method",
    "records": "Block Document Extraction Kind Metadata Page",
    "registry": "get_method method_names",
    "render.chunks": "Chunk",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}
_SUBMODULES = "api errors html limits method models records registry render text".split()  # which all of these load

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> object:
    value: object
    if name in _MODULE_OF:
        value = getattr(_import_module(f"mainmatter.{_MODULE_OF[name]}"), name)
    elif name == "__version__":
        from importlib.metadata import version  # it loads much that nothing else needs

        value = version("mainmatter")
    elif name in _SUBMODULES:
        value = _import_module(f"mainmatter.{name}")
    else:
        raise AttributeError(f"module 'mainmatter' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__, "__version__"]
