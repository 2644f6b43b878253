"""What kind of input a name stands for, by its ending."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mainmatter.inputs.fetch import is_url
from mainmatter.inputs.paths import PAGE_ENDINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.corpus.records import SourceKind

_PACKINGS = (".gz", ".zst")
_KINDS: dict[str, SourceKind] = {
    ".warc": "warc",
    ".wet": "wet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".urls": "urls",
    ".paths": "archives",
}
_ARCHIVES = frozenset(("warc", "wet", "jsonl", "parquet"))


def kind_of_name(name: str) -> SourceKind | None:
    """What a file is by its ending; None if that does not tell. Text files may be lists."""
    if is_url(name):
        name = name.partition("?")[0].partition("#")[0]
    plain = without_packing(name)
    last = ending(plain)
    if last in _KINDS and (plain == name or last != ".parquet"):
        return _KINDS[last]
    return "files" if last in PAGE_ENDINGS else None


def is_archive(name: str) -> bool:
    """Whether a name is that of an archive, JSONL or Parquet: one file with many pages."""
    return kind_of_name(name) in _ARCHIVES


def are_archives(names: Sequence[str]) -> bool:
    """Whether more than half of the lines of a text are the names of archives, each alone on its line."""
    return 2 * sum(is_archive(name) and len(name.split()) == 1 for name in names) > len(names)


def without_packing(name: str) -> str:
    """A file's name without the ending that says that it is packed."""
    stem, last = os.path.splitext(name)  # noqa: PTH122 - paths are text here
    return stem if last.lower() in _PACKINGS else name


def ending(name: str) -> str:
    """The ending of a file's name, in lower case, with its dot."""
    return os.path.splitext(name)[1].lower()  # noqa: PTH122
