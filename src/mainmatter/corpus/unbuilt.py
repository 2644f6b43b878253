"""Pages that nobody cleaned yet, to look at as if they were a corpus: an archive, JSONL, Parquet, a folder of pages.

They are read from a place on until enough are found. A place is a slice of the input and a position in that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mainmatter.corpus import storage
from mainmatter.corpus.readers import find_shards, read_slice
from mainmatter.corpus.reading import Listing, Place, Wish, has_words
from mainmatter.corpus.records import Record, Reject, Skipped
from mainmatter.errors import InputError
from mainmatter.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.records import Page

_NOT_FOUND = "there is no such page any more"


@dataclass(frozen=True)
class UnbuiltCorpus:
    """An input of `mainmatter corpus`, before that was called.

    Attributes:
        path: a file or folder.
        limits: how large a page may be.
    """

    path: str
    limits: Limits = DEFAULT_LIMITS

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        """What it consists of.

        Raises:
            InputError: it does not exist, or is nothing that can be read.
            MissingExtra: it needs a package that is not installed.
        """
        return tuple(one for shard in find_shards([self.path]) for one in shard)

    def check(self) -> None:
        """Make sure that there are pages, and that none of them would have to be fetched.

        Raises:
            InputError: there are none.
            MissingExtra: reading them needs a package that is not installed.
        """
        if storage.is_remote(self.path) or any(one.kind == "urls" for one in self.slices):
            raise InputError(f"{self.path}: its pages would have to be fetched; name files of this machine")

    def find(self, wish: Wish) -> Listing:
        """Some pages, or what was found in place of one; see `StoredCorpus.find`.

        Raises:
            InputError: the input is gone.
            MissingExtra: reading it needs a package that is not installed.
        """
        end = time.monotonic() + wish.seconds
        words = tuple(word.lower() for word in wish.words)
        start = wish.start or Place(0, 0)
        found: list[tuple[Place, dict[str, Any]]] = []
        looked_at = 0
        for place, read in self._reads(start):
            is_late = time.monotonic() > end and place != start
            is_wanted = not isinstance(read, Skipped) and isinstance(read, Record) == wish.kept
            if is_late or (is_wanted and len(found) == wish.most):
                return Listing(found, place, looked_at, ran_out=is_late and len(found) < wish.most)
            looked_at += not isinstance(read, Skipped)
            if is_wanted and has_words(row := _row(read), words):
                found.append((place, row))
        return Listing(found, None, looked_at)

    def get(self, place: Place, *, kept: bool = True) -> dict[str, Any]:
        """What is known of a page, or of what is none.

        Raises:
            InputError: there is none.
            MissingExtra: reading it needs a package that is not installed.
        """
        read = self._read(place)
        if isinstance(read, Record) != kept:
            raise InputError(_NOT_FOUND)
        return _row(read)

    def page(self, place: Place) -> Page:
        """A page.

        Raises:
            InputError: there is none; tells why.
            MissingExtra: reading it needs a package that is not installed.
        """
        read = self._read(place)
        if isinstance(read, Record):
            return read.page
        raise InputError(f"it cannot be read as a page: {read.reason}: {read.detail}")

    def _read(self, place: Place) -> Record | Reject:
        for at, read in self._reads(place):
            if at == place and not isinstance(read, Skipped):
                return read
            break
        raise InputError(_NOT_FOUND)

    def _reads(self, start: Place) -> Iterator[tuple[Place, Read]]:
        for number, one in enumerate(self.slices):
            if number < start.part:
                continue
            at = start.at if number == start.part else one.start
            pieces = (_file_of(one, i) for i in range(max(at, one.start), one.end)) if one.kind == "files" else (one,)
            for piece in pieces:
                reads = read_slice(piece, self.limits, at) if self._is_inside(piece) else (_leads_out(piece, at),)
                for read in reads:
                    yield Place(number, read.position), read

    def _is_inside(self, one: Slice) -> bool:
        """Whether a file lies where it seems to: in a folder, a link may lead anywhere."""
        path = Path(*map(storage.without_scheme, filter(None, (one.path, *(one.files if one.kind == "files" else ())))))
        return path.resolve().is_relative_to(Path(storage.without_scheme(self.path)).resolve())


def _file_of(one: Slice, number: int) -> Slice:
    return replace(one, start=number, end=number + 1, files=(one.files[number - one.start],))


def _leads_out(one: Slice, at: int) -> Reject:
    position = one.start if one.kind == "files" else at
    return Reject("unreadable", "it is a link that leads out of the folder", one.path, position, "/".join(one.files))


def _row(read: Read) -> dict[str, Any]:
    if isinstance(read, Record):
        facts = {"id": read.page.id, "url": read.page.url, "time": read.time, "size": len(read.page.html)}
    elif isinstance(read, Reject):
        facts = {"id": read.id, "url": read.url, "reason": read.reason, "detail": read.detail}
    else:
        facts = {}
    return facts | {"source": read.source, "position": read.position}
