"""Streams of bytes that are unpacked while they are read, and FastWARC's part in that."""

from __future__ import annotations

import importlib
import io
import sys
import warnings
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO

from mainmatter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 65_536
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Window(io.RawIOBase):
    """A part of a file that reads like a file, forwards."""

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file, self._place, self._end = file, start, end

    def read(self, size: int = -1, /) -> bytes:
        """At most so many bytes; fewer only at the end."""
        left = self._end - self._place
        self._file.seek(self._place)
        data = self._file.read(left if size < 0 else min(size, left))
        self._place += len(data)
        return data

    def readable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where reading goes on."""
        return self._place


class Unpacked(io.RawIOBase):
    """A gzip or Zstandard file as what it unpacks to, with `seek`; going back means to begin again.

    Where it cannot be unpacked it ends, and `damage` says why.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._begin()

    def _begin(self) -> None:
        self.damage = ""
        self._place = 0
        self._left = b""
        self._file.seek(0)
        magic = self._file.read(2)
        self._file.seek(0)
        self._pieces = gunzip(self._file) if magic == GZIP_MAGIC else _unzstd(self._file)

    def read(self, size: int = -1, /) -> bytes:
        """At most so many bytes; fewer only at the end."""
        parts, wanted = [], sys.maxsize if size < 0 else size
        while wanted > 0:
            if not self._left:
                self._left = self._next_piece()
                if not self._left:
                    break
            parts.append(self._left[:wanted])
            self._left = self._left[wanted:]
            wanted -= len(parts[-1])
        data = b"".join(parts)
        self._place += len(data)
        return data

    def _next_piece(self) -> bytes:
        try:
            return next(self._pieces, b"")
        except (EOFError, OSError, ValueError, zlib.error) as error:
            self.damage = str(error)
            return b""

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401
        """Fill a buffer."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place, counted from the beginning."""
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("what is packed is known by its beginning only")
        if offset < self._place:
            self._begin()
        while self._place < offset and self.read(min(16 * CHUNK, offset - self._place)):
            pass
        return self._place

    def tell(self) -> int:
        """Where reading goes on."""
        return self._place

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True


def gunzip(file: BinaryIO) -> Iterator[bytes]:
    """What a gzip file of any number of members unpacks to, in pieces."""
    unpack, packed, is_begun = zlib.decompressobj(31), b"", False
    while packed := packed or file.read(CHUNK):
        if data := unpack.decompress(packed, 4 * CHUNK):
            yield data
        packed = unpack.unconsumed_tail
        if unpack.eof:
            packed = unpack.unused_data.lstrip(b"\0")  # some writers fill up with zeros
            unpack = zlib.decompressobj(31)
            is_begun = False
        else:
            is_begun = True
    if is_begun:
        raise EOFError("the file ends too early")


def _unzstd(file: BinaryIO) -> Iterator[bytes]:
    reader = stream_io().ZstdReader(file)
    while data := reader.read(CHUNK):
        yield data


def read_fully(file: BinaryIO, size: int) -> bytes:
    """So many bytes, or all that are left: a raw file may give fewer at a time."""
    parts = []
    while size > 0 and (data := file.read(size)):
        parts.append(data)
        size -= len(data)
    return b"".join(parts)


def archive_iterator() -> Any:  # noqa: ANN401 - an extra
    """FastWARC's iterator over the records of an archive.

    Raises:
        MissingExtra: FastWARC is not installed.
    """
    return _fastwarc("fastwarc.warc").ArchiveIterator


def stream_io() -> Any:  # noqa: ANN401 - an extra
    """FastWARC's readers of packed streams.

    Raises:
        MissingExtra: FastWARC is not installed.
    """
    return _fastwarc("fastwarc.stream_io")


def _fastwarc(name: str) -> Any:  # noqa: ANN401
    if name in sys.modules:
        return sys.modules[name]
    try:
        with warnings.catch_warnings():  # about its own older names, which it imports
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra("fastwarc", "corpus") from error
