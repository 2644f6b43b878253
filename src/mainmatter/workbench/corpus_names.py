"""The corpora of a server, by the names that clients know them by.

Clients never send a path, and do not see where a corpus lies; they see the paths of its inputs, as its plan and its
rows have them.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from mainmatter.corpus.browse import StoredCorpus, UncleanedInput
from mainmatter.corpus.storage import is_folder, is_remote, without_scheme
from mainmatter.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_NAME = 300


def open_corpus(path: str, limits: Limits = DEFAULT_LIMITS) -> StoredCorpus | UncleanedInput:
    """What lies at a path: the output of `mainmatter corpus` or, where that is not there, pages to clean.

    Args:
        path: a file or folder.
        limits: how large a page may be.
    """
    if is_folder(path):
        stored = StoredCorpus(path)
        if stored.is_there:
            return stored
    return UncleanedInput(path, limits)


def name_corpora(paths: Iterable[str]) -> dict[str, str]:
    """The path of each corpus by its name: the last part of the path, with a number where two have the same.

    Raises:
        InputError: one of them is none.
        MissingExtra: reading one needs a package that is not installed.
    """
    named: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        open_corpus(path).check()
        plain = "".join(letter for letter in _last_part(path) if letter.isprintable())[: LONGEST_NAME - 10] or "corpus"
        name, number = plain, 1
        while name in named:
            number += 1
            name = f"{plain} ({number})"
        named[name] = path
    return named


def _last_part(path: str) -> str:
    """The last part of a path; where that is no name, as in "..", of the folder that it leads to."""
    last = PurePath(without_scheme(path)).name
    return Path(without_scheme(path)).resolve().name if last in ("", "..") and not is_remote(path) else last
