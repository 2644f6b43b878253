"""Lists of archives: a path, a URL or a key a line, as the warc.paths.gz of Common Crawl has them.

A list may have 100,000 lines, so planning asks for as little as it can. Sizes of files here are quick to get; those on
object storage come from listing the folders that hold them. Archives that nothing can list, as on the web, are asked
about one by one if they are few; otherwise each is taken whole, whatever its size.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.corpus.readers.files import printable
from mainmatter.corpus.readers.kinds import are_archives, is_archive, kind_of_name
from mainmatter.corpus.readers.lines import first_names, is_name, read_lines
from mainmatter.corpus.records import Reject, Skipped
from mainmatter.corpus.storage import (
    Facts,
    check_listed,
    exists,
    facts,
    is_remote,
    join,
    list_folder,
    threads,
    without_scheme,
)
from mainmatter.errors import InputError
from mainmatter.inputs.fetch import is_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits

REPEATED = "repeated-archive"  # as what a line is counted that names an archive again
_MISSING = "missing"  # the stamp of an archive that is not there, or that we may not read
_MOST_ASKED = 1000  # archives that are asked about one by one
_FEWEST_IN_FOLDER = 10  # for which a folder is listed, which may hold many others
_AT_ONCE = 16  # requests
_PROBED = 3  # archives that are looked for, to tell where relative names begin


@dataclass(frozen=True, slots=True)
class ArchiveList:
    """What a list names.

    Attributes:
        path: that of the list.
        archives: the path of each archive, once, with what is known of it; None where nobody was asked.
        lines: how many lines the list has.
        has_others: whether there are lines that name no archive, or one that an earlier line names.
    """

    path: str
    archives: dict[str, Facts | None]
    lines: int
    has_others: bool

    def size(self, path: str) -> int | None:
        """The size of an archive; None if it is not known, or if the archive is not there."""
        known = self.archives[path]
        return None if known is None or known.stamp == _MISSING else known.size

    def facts(self) -> Facts:
        """What tells whether the list and the archives are still the same; the size is that of the archives."""
        digest, size = hashlib.sha256(), 0
        for path, one in self.archives.items():
            digest.update(f"{printable(path)}\0{one.size} {one.stamp}\0".encode() if one else b"\0")
            size += one.size if one else 0
        digest.update(f"{self.lines} {self.has_others}".encode())
        return Facts(self.path, size, digest.hexdigest())


def is_list_of_archives(path: str) -> bool:
    """Whether a file lists archives: it ends in .paths, or more than half of the lines of its beginning name one."""
    return kind_of_name(path) == "archives" or are_archives(first_names(path))


def read_list(path: str, base: str = "") -> ArchiveList:
    """Read a list, and find out the sizes of its archives as far as that is cheap.

    Args:
        path: that of the list.
        base: what relative names are relative to. By default the list's own folder or the nearest above it in which
            one of the first archives is found: Common Crawl's keys are relative to the root of its bucket.

    Raises:
        InputError: no line names an archive, or none of the archives is there.
    """
    names: dict[str, None] = {}
    lines = others = 0
    for line in read_lines(path):
        lines += 1
        name = line.strip()
        if is_archive(name) and name not in names:
            names[name] = None
        elif is_name(name):
            others += 1
    if not names:
        words = next((f"; line {number + 1} is {name[:100]}" for number, name in _names(path)), "")
        raise InputError(f"{path}: lists no archive (.warc, .wet), JSONL or Parquet file{words}")
    check_listed(path, names)
    relative = [name for name in names if not _is_absolute(name)]
    if relative and not base:
        base = _find_base(path, relative[:_PROBED])
    paths = [name if _is_absolute(name) else join(base, name.removeprefix("./")) if base else name for name in names]
    archives = _facts_of_all(paths)
    unknown = [one for one, known in archives.items() if known is None]
    if all(known is not None and known.stamp == _MISSING for known in archives.values()) or (
        len(unknown) == len(archives) and not any(map(exists, unknown[:_PROBED]))
    ):
        raise InputError(
            f"{path}: none of the listed archives exists; the first is {paths[0]}"
            + ("; say with --archives-at where they are: a folder, s3://BUCKET or https://HOST" if relative else "")
        )
    return ArchiveList(path, archives, lines, bool(others))


def read_other_lines(one: Slice, limits: Limits, start: int) -> Iterator[Read]:  # noqa: ARG001 - as other readers
    """The lines of a list that name no archive, or one that an earlier line names."""
    seen = set()
    for number, name in _names(one.path):
        is_repeated, is_one = name in seen, is_archive(name)
        if is_one:
            seen.add(name)
        if number < start or number >= one.end:
            continue
        if is_repeated:
            yield Skipped(REPEATED, one.path, number)
        elif not is_one:
            detail = f"line {number + 1} names no archive (.warc, .wet), JSONL or Parquet file: {name[:100]}"
            yield Reject("damaged", detail, one.path, number)


def _names(path: str) -> Iterator[tuple[int, str]]:
    """What the lines of a list name, with their numbers."""
    for number, line in enumerate(read_lines(path)):
        if is_name(name := line.strip()):
            yield number, name


def _is_absolute(name: str) -> bool:
    return is_remote(name) or without_scheme(name).startswith("/")


def _find_base(path: str, names: Sequence[str]) -> str:
    """The nearest folder, at or above that of a list, in which one of some names is found."""
    folders = list(_folders_above(path))
    for folder in folders:
        if any(exists(join(folder, name)) for name in names):
            return folder
    raise InputError(
        f"{path}: no {names[0]} in the list's folder, {folders[0] or 'the current one'}, or a folder above it; say "
        "with --archives-at where the archives are: a folder, s3://BUCKET or https://HOST"
    )


def _folders_above(path: str) -> Iterator[str]:
    """The folder of a file, then those above it."""
    if not is_remote(path):
        yield from (str(parent).removesuffix(".") for parent in Path(without_scheme(path)).parents)
        return
    scheme, _, place = path.partition("?")[0].partition("://")
    parts = place.split("/")
    yield from (f"{scheme}://{'/'.join(parts[:end])}" for end in range(len(parts) - 1, 0, -1))


def _facts_of_all(paths: Sequence[str]) -> dict[str, Facts | None]:
    """What is known of archives, in their order; None where nobody was asked."""
    known: dict[str, Facts | None] = dict.fromkeys(paths)
    unknown: list[str] = []
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        if not is_remote(path):
            known[path] = _facts_of(path)
        elif is_url(path):
            unknown.append(path)
        else:
            folders[path.rpartition("/")[0]].append(path)
    for folder in [folder for folder, some in folders.items() if len(some) < _FEWEST_IN_FOLDER]:
        unknown += folders.pop(folder)
    with threads(_AT_ONCE) as pool:
        for some, listed in zip(folders.values(), pool.map(_list_if_allowed, folders), strict=True):
            if listed is None:
                unknown += some
            else:
                known |= {path: listed.get(path.rpartition("/")[2], Facts(path, 0, _MISSING)) for path in some}
        if len(unknown) <= _MOST_ASKED:
            known |= dict(zip(unknown, pool.map(_facts_of, unknown), strict=True))
    return known


def _list_if_allowed(folder: str) -> dict[str, Facts] | None:
    try:
        return list_folder(folder)
    except InputError:
        return None


def _facts_of(path: str) -> Facts | None:
    """What is known of an archive; None if its size cannot be told.

    Raises:
        InputError: its storage gives no answer; later it may.
    """
    try:
        return facts(path)
    except InputError as error:
        if not is_remote(path) or isinstance(error.__cause__, FileNotFoundError | PermissionError):
            return Facts(path, 0, _MISSING)
        if error.__cause__ is None:
            return None
        raise
