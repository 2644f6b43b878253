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

from importlib.metadata import version as _version

from mainmatter.clean import (
    Cleaner,
    CleanOptions,
    PageLike,
    aclean,
    aclean_file,
    aclean_many,
    aclean_url,
    aextract,
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

__version__ = _version("mainmatter")

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
    "aclean",
    "aclean_file",
    "aclean_many",
    "aclean_url",
    "aextract",
    "clean",
    "clean_file",
    "clean_many",
    "clean_url",
    "extract",
    "get_method",
    "method_names",
    "read",
]
