"""JSONL files, packed or not: one page a line."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from mainmatter.corpus.readers.fields import find_names, to_read
from mainmatter.corpus.readers.streams import GZIP_MAGIC, ZSTD_MAGIC, Unpacked
from mainmatter.corpus.records import Reject
from mainmatter.corpus.storage import open_input
from mainmatter.limits import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mainmatter.corpus.records import Read, Slice
    from mainmatter.limits import Limits

_BUFFER = 1_000_000
_ROOM = 1_000_000  # for a line's other fields


def is_packed(file: BinaryIO) -> bool:
    """Whether a file is packed as one piece, so that it cannot be read in ranges."""
    file.seek(0)
    return file.read(4).startswith((GZIP_MAGIC, ZSTD_MAGIC))


def read_jsonl(one: Slice, limits: Limits, start: int) -> Iterator[Read]:
    """The lines that begin at or after `start` in a range of a file.

    Positions are offsets in the file; in a packed one, offsets in what it unpacks to.
    """
    with open_input(one.path) as raw:
        unpacked = Unpacked(raw) if is_packed(raw) else None
        file = io.BufferedReader(cast("io.RawIOBase", unpacked or raw), _BUFFER)
        end = one.end if unpacked is None else sys.maxsize  # of what it unpacks to, nobody knows the length
        place = _line_at(file, start, end)
        while place < end:
            line = file.readline(2 * limits.size + _ROOM)  # as JSON, characters may take more room
            if not line:
                break
            is_long = not line.endswith(b"\n") and _skip_line(file, end)
            read = _too_long(one.path, place, limits) if is_long else _read_line(line, one.path, place, limits)
            if read is not None:
                yield read
            place = file.tell()
        if unpacked is not None and unpacked.damage and place >= start:
            yield Reject("damaged", f"the rest of the file cannot be unpacked: {unpacked.damage}", one.path, place)


def _line_at(file: io.BufferedReader[Any], start: int, end: int) -> int:
    """Go to the first line that begins at or after a place; to anywhere behind the end if that has none before."""
    file.seek(max(0, start - 1))
    if start == 0:
        return 0
    _skip_line(file, end)
    return file.tell()


def _skip_line(file: io.BufferedReader[Any], end: int) -> bool:
    """Go to the end of a line, or behind the range's end; whether there was anything left of it."""
    is_anything = False
    while part := file.readline(_BUFFER):
        is_anything = True
        if part.endswith(b"\n") or file.tell() >= end:  # else each range of a huge line would read all of it
            break
    return is_anything


def _too_long(source: str, position: int, limits: Limits) -> Reject:
    detail = f"the line at byte {position:,} is too long for a page of {format_size(limits.size)}"
    return Reject("too-large", f"{detail}; raise the limit with --max-size", source, position)


def _read_line(line: bytes, source: str, position: int, limits: Limits) -> Read | None:
    if not line.strip():
        return None
    try:
        row = _parse(line)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Reject("damaged", f"the line at byte {position:,} is no JSON: {why}", source, position)
    if not isinstance(row, dict):
        return Reject("damaged", f"the line at byte {position:,} is no JSON object", source, position)
    return to_read(row, find_names(row), source, position, limits)


def _parse(line: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    return json.loads(line.decode("utf-8-sig" if line.startswith(b"\xef\xbb\xbf") else "utf-8"))
