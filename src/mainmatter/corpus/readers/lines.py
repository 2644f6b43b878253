"""The lines of a list: of URLs or of archives, packed or not."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, cast

from mainmatter.corpus.readers.streams import GZIP_MAGIC, ZSTD_MAGIC, Unpacked, read_fully
from mainmatter.corpus.storage import open_input

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_LINE = 10_000  # bytes that are read of a line; neither servers nor file systems take longer names
_LOOKED_AT = 20_000  # bytes of a list, to tell what it lists


def read_lines(path: str) -> Iterator[str]:
    """The lines of a list, with their ends; of one that is too long for a name, the beginning."""
    with open_input(path) as raw:
        is_packed = raw.read(4).startswith((GZIP_MAGIC, ZSTD_MAGIC))
        raw.seek(0)
        file = io.BufferedReader(Unpacked(raw) if is_packed else cast("io.RawIOBase", raw), 1_000_000)
        while line := file.readline(LONGEST_LINE):
            while not line.endswith(b"\n") and (more := file.readline(LONGEST_LINE)):
                line = line[:LONGEST_LINE] + more[-1:]
            yield line.decode("utf-8-sig" if line.startswith(b"\xef\xbb\xbf") else "utf-8", "replace")


def first_names(path: str) -> list[str]:
    """What the first lines of a list name: stripped, without empty lines and comments."""
    return names_in(read_head(path, _LOOKED_AT))


def names_in(text: bytes) -> list[str]:
    """What the first lines of a text name; the same."""
    head = text[:_LOOKED_AT]
    lines = head.decode("utf-8-sig", "replace").splitlines()
    if len(head) == _LOOKED_AT:
        lines = lines[:-1]  # it may be cut
    return [name for name in map(str.strip, lines) if is_name(name)]


def read_head(path: str, size: int) -> bytes:
    """How a file begins, unpacked if it is packed."""
    with open_input(path) as file:
        head = read_fully(file, size)
        if head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
            head = read_fully(cast("BinaryIO", Unpacked(file)), size)
        return head


def is_name(line: str) -> bool:
    """Whether a stripped line names something: it is neither empty nor a comment."""
    return bool(line) and not line.startswith("#")
