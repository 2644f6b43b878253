"""Duplicates over a whole run: signatures of all shards in, for each shard a list of the pages to drop out."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.corpus.duplicates import find_duplicates
from mainmatter.corpus.folder import RUN, Folder

if TYPE_CHECKING:
    from collections.abc import Iterator

FOUND = f"{RUN}/duplicates.json"
CLEANED = f"{RUN}/cleaned"
SIGNATURES = f"{RUN}/signatures"
DUPLICATES = f"{RUN}/duplicates"
WORKING_FOLDERS = (CLEANED, f"{CLEANED}/rejects", SIGNATURES, DUPLICATES)
_LENGTHS = struct.Struct("<II")  # of a page's id and its signature


def cleaned_name(name: str) -> str:
    """Where a file of the output waits until duplicates are dropped."""
    return f"{CLEANED}/{name}"


def signatures_name(number: int) -> str:
    """The name of the file of a shard's signatures."""
    return f"{SIGNATURES}/{number:05}.bin"


def pack_signature(page: str, signature: bytes) -> bytes:
    """A page's id and its signature, as they lie in the file."""
    name = page.encode("utf-8", "replace")
    return _LENGTHS.pack(len(name), len(signature)) + name + signature


def find_all_duplicates(folder: Folder, kind: str, shards: int) -> None:
    """Find the duplicates of a run, once: their list is kept.

    Memory: as `find_duplicates` says, and the signatures of one shard.
    """
    if folder.exists(FOUND):
        return
    signatures = _Signatures(folder, shards)
    found = find_duplicates(kind, signatures)
    wanted = {first for _, first in found.values()}
    names = {ordinal: name for ordinal, name, _ in signatures.entries() if ordinal in wanted}
    ordinal = 0
    for number in range(shards):
        dropped = {}
        for index in range(sum(1 for _ in _unpack(folder, number))):
            if ordinal in found:
                reason, first = found[ordinal]
                dropped[index] = reason, names[first]
            ordinal += 1
        folder.write(_duplicates_name(number), json.dumps(dropped).encode())
    folder.write(FOUND, json.dumps({"duplicates": len(found)}).encode())


def read_duplicates(folder: Folder, number: int) -> dict[int, tuple[str, str]]:
    """The rows of a cleaned shard to drop, by their number: the reason, and the id of the page that is repeated."""
    content = json.loads(folder.read(_duplicates_name(number)))
    return {int(index): (reason, first) for index, (reason, first) in content.items()}


@dataclass(frozen=True, slots=True)
class _Signatures:
    """The signatures of all pages, numbered in input order; may be gone through several times."""

    folder: Folder
    shards: int

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return ((ordinal, signature) for ordinal, _, signature in self.entries())

    def entries(self) -> Iterator[tuple[int, str, bytes]]:
        ordinal = 0
        for number in range(self.shards):
            for name, signature in _unpack(self.folder, number):
                yield ordinal, name, signature
                ordinal += 1


def _unpack(folder: Folder, number: int) -> Iterator[tuple[str, bytes]]:
    data = folder.read(signatures_name(number))
    place = 0
    while place < len(data):
        name_length, length = _LENGTHS.unpack_from(data, place)
        place += _LENGTHS.size
        name = data[place : place + name_length].decode()
        place += name_length
        yield name, data[place : place + length]
        place += length


def _duplicates_name(number: int) -> str:
    return f"{DUPLICATES}/{number:05}.json"
