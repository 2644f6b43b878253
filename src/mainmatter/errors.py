"""Everything that mainmatter raises on purpose.

    MainmatterError
    ├── InputError           an input or argument cannot be used: no such file, wrong method parameters
    │   ├── NotAPage         it is neither a web page nor text: a picture, an archive, random bytes
    │   ├── FetchError       a URL could not be fetched; AddressRefused (inputs/fetch.py): it may not be
    │   ├── CorpusError      a part of a corpus, or what it was made from, is missing or damaged
    │   └── AnnotationError  annotations cannot be used, or were changed by somebody else (workbench/labels/records.py)
    ├── PageTooLarge         a page is over the size limit
    ├── UnknownName          no method, dataset, metric or format of that name
    ├── MissingExtra         an optional dependency is not installed; says which command installs it
    ├── DatasetError         a gold standard is missing, damaged or not in a known layout
    └── ModelError           a trained model is missing, damaged, foreign, or made for other parameters

Each message says what is wrong, where, and what to do. Any other exception is a bug. A `PageWarning` reports what
is not an error but what you should know, such as a page that is incomplete.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suggest(name: str, known: Iterable[str], otherwise: str = "known") -> str:
    """Suggest the known name that was probably meant or, if none is close, list all of them."""
    names = list(known)
    close = difflib.get_close_matches(name.lower(), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{otherwise}: {', '.join(names) or 'none'}"


class MainmatterError(Exception):
    """Base of all errors that mainmatter raises on purpose."""


class InputError(MainmatterError):
    """Something that you passed cannot be used: an input that cannot be read, a parameter that does not exist."""


class NotAPage(InputError):
    """A page is neither HTML nor text: a picture, an archive, random bytes."""


class FetchError(InputError):
    """A URL could not be fetched."""


class CorpusError(InputError):
    """A part of a corpus, or what it was made from, is missing or damaged."""


class PageTooLarge(MainmatterError):
    """A page is over the size limit (see `mainmatter.Limits`)."""


class UnknownName(MainmatterError):
    """No method, dataset, metric or format has that name. The message suggests the one that was probably meant."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(what, name, tuple(sorted(known)))

    def __str__(self) -> str:
        what, name, known = self.args
        return f"unknown {what} {name!r}; {suggest(name, known)}"


class MissingExtra(MainmatterError):
    """An optional dependency is not installed. The message has the command that installs it.

    Attributes:
        package: what is missing.
        extra: the extra of mainmatter that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        return f"this needs {self.package}, which is not installed; run: pip install 'mainmatter[{self.extra}]'"


class PageWarning(UserWarning):
    """Something about a page that you should know: it may be incomplete, or it needs its scripts."""


def warn_caller(message: str, category: type[Warning] = PageWarning) -> None:
    """Warn about a page, or something else, at the line of code outside mainmatter that made the call."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mainmatter":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class DatasetError(MainmatterError):
    """A gold standard is missing, damaged or not in a known layout."""


class ModelError(MainmatterError):
    """A trained model is missing, damaged, not a model at all, or made for other parameters."""
