"""How archives are packed: plain, gzip or Zstandard, unpacked while they are read; where in a file a record can begin.

An archive of many gigabytes is read in ranges, as Hadoop splits files: a range begins at the first member (the gzip
member or Zstandard frame of a record; the record itself where nothing is packed) that begins at or after its start.
A member is known by its magic number AND by unpacking to `WARC/`. Only an archive that was stored unpacked inside
of a packed record could be taken for part of the archive itself, and only where a range happens to begin in it.
"""

from __future__ import annotations

import importlib
import io
import re
import sys
import warnings
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from mainmatter.errors import InputError, MissingExtra

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

    def readinto(self, buffer: Any, /) -> int:
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


def archive_iterator() -> Any:  # an extra
    """FastWARC's iterator over the records of an archive.

    Raises:
        MissingExtra: FastWARC is not installed.
    """
    return _fastwarc("fastwarc.warc").ArchiveIterator


def stream_io() -> Any:  # an extra
    """FastWARC's readers of packed streams.

    Raises:
        MissingExtra: FastWARC is not installed.
    """
    return _fastwarc("fastwarc.stream_io")


def _fastwarc(name: str) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    try:
        with warnings.catch_warnings():  # about its own older names, which it imports
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra("fastwarc", "corpus") from error


HEAD = 65_536  # a record whose headers are longer is given up
_SEARCH = 1_000_000
_SIGN = b"WARC/"
_DICTIONARY = b"\x5d\x2a\x4d\x18"
_BLOCK = 128 * 1024 + 64  # the first block of a Zstandard frame, with its headers (RFC 8878, section 3.1.1.2.4)
_FIRST_LINES = re.compile(rb"WARC/\d\.\d\r\n[\w-]+:")
_HEADER = re.compile(rb"[\w-]+:|[ \t]")  # or the rest of the header before


class Damage(Exception):
    """What is packed cannot be unpacked; the message says why. It never leaves the readers."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member, unpacked.

    Attributes:
        data: its beginning, at most as much as was asked for.
        length: the length of all of it.
        end: where it ends in the file; None if that cannot be told, as it is damaged.
        damage: what is wrong with it; "" if nothing.
    """

    data: bytes
    length: int
    end: int | None
    damage: str = ""


class Container(Protocol):
    """A way of packing archives, bound to a file."""

    first: int  # where the first member begins

    def records_from(self, place: int) -> tuple[Any, Any]:
        """The records from a place on, by FastWARC, and the reader that knows in which member they began."""
        ...

    def has_byte(self, place: int) -> bool:
        """Whether the file is longer than that."""
        ...

    def begins_at(self, place: int) -> bool:
        """Whether a member begins there."""
        ...

    def find(self, start: int, end: int) -> int | None:
        """Where the first member begins, at or after `start` and before `end`."""
        ...

    def member_at(self, place: int, most: int, enough: int | None = None) -> Member:
        """The member that begins there, of which `most` bytes are kept; not read on once there are `enough`."""
        ...


def container_of(file: BinaryIO, name: str) -> Container:
    """How an archive is packed, told by its first bytes or, if those are nobody's, by its name.

    Raises:
        MissingExtra: FastWARC is not installed.
        InputError: a dictionary at its beginning is damaged.
    """
    file.seek(0)
    magic = file.read(4)
    if magic.startswith(GZIP_MAGIC):
        return Gzip(file)
    if magic in (ZSTD_MAGIC, _DICTIONARY):
        return Zstd(file)
    if magic.startswith(_SIGN[:4]):
        return Plain(file)
    return Gzip(file) if name.endswith(".gz") else Zstd(file) if name.endswith(".zst") else Plain(file)


def is_packed_whole(container: Container) -> bool:
    """Whether an archive is packed as one piece, not record by record, so that it cannot be read in ranges.

    It is if its first member does not end where its first record ends.
    """
    if isinstance(container, Plain) or not container.begins_at(container.first):
        return False
    length = record_length(container.member_at(container.first, HEAD, HEAD).data)
    member = container.member_at(container.first, 0, HEAD if length is None else length + 5)
    if length is not None and member.length >= length:
        return not member.damage and member.length > length + 4
    if member.end is None or container.begins_at(member.end):
        return False
    following = container.member_at(member.end, 0, 1)  # the record goes on there, if it can be unpacked
    return following.length > 0 and not following.damage


def record_length(data: bytes) -> int | None:
    """The length of the record that data begin with, as its headers have it; None if they have none."""
    head, separator, _ = data[:HEAD].partition(b"\r\n\r\n")
    if not separator or not head.startswith(_SIGN):
        return None
    if head.lower().count(b"\r\nwarc-type:") > 1:  # it breaks off, and goes on with the headers of the next record
        return None
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            number = value.strip()
            return len(head) + 4 + int(number) if number.isdigit() and len(number) < 19 else None
    return None


def why_no_length(data: bytes) -> str:
    """Why `record_length` finds none in what should be a record's beginning."""
    if not _has_long_headers(data):
        return "its headers cannot be read"
    name = data[: HEAD - 2].rpartition(b"\r\n")[2].partition(b":")[0].decode("ascii", "replace")
    return f"its headers are longer than {HEAD // 1024} KB: {name[:100]} goes on after that"


def _has_long_headers(data: bytes) -> bool:
    """Whether data begin with headers as a record has them, and nothing else follows as far as headers are read."""
    head = data[:HEAD]
    if len(head) < HEAD or b"\r\n\r\n" in head or head.lower().count(b"\r\nwarc-type:") != 1:
        return False
    lines = head.split(b"\r\n")[:-1]
    return _FIRST_LINES.match(head) is not None and all(_HEADER.match(line) for line in lines[1:])


class _Searching(ABC):
    """Finds members by the magic number that they begin with."""

    magic: bytes
    first = 0

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def has_byte(self, place: int) -> bool:
        """See `Container`."""
        self.file.seek(place)
        return bool(self.file.read(1))

    @abstractmethod
    def begins_at(self, place: int) -> bool:
        """See `Container`."""

    def find(self, start: int, end: int) -> int | None:
        """See `Container`."""
        place = max(start, self.first)
        while place < end:
            self.file.seek(place)
            data = self.file.read(min(_SEARCH, end - place + len(self.magic)))
            found = data.find(self.magic)
            while found >= 0:
                if place + found >= end:
                    return None
                if self.begins_at(place + found):
                    return place + found
                found = data.find(self.magic, found + 1)
            if len(data) < len(self.magic):
                return None
            place += len(data) - len(self.magic) + 1
        return None


class Plain(_Searching):
    """Nothing is packed; a member is a record."""

    magic = b"WARC/"

    def records_from(self, place: int) -> tuple[Any, Any]:
        """See `Container`."""
        self.file.seek(place)
        return archive_iterator()(self.file, parse_http=False), None

    def begins_at(self, place: int) -> bool:
        """Text of a page may look like a record; it hardly has a record's headers."""
        self.file.seek(place)
        data = self.file.read(4096)
        if not _FIRST_LINES.match(data):
            return False
        if b"\r\n\r\n" not in data:
            data += read_fully(self.file, HEAD - len(data))
        head, blank_line, _ = data.partition(b"\r\n\r\n")
        if not blank_line:
            return _has_long_headers(data)
        return b"warc-type:" in head.lower() and record_length(data) is not None

    def member_at(self, place: int, most: int, enough: int | None = None) -> Member:  # noqa: ARG002 - no need
        """See `Container`."""
        self.file.seek(place)
        data = read_fully(self.file, HEAD)
        length = record_length(data)
        if length is None:
            return Member(data, len(data), None, why_no_length(data))
        self.file.seek(place + length - 1)
        last, after = self.file.read(1), self.file.read(4)
        if not last:
            return Member(data, min(len(data), length - 1), None, "the file ends in the middle of it")
        ends = len(after) - len(after.lstrip(b"\r\n"))  # two lines; FastWARC does not insist
        if not self._ends_well(place, place + length, ends):
            return Member(data[:length], length, None, "its Content-Length is wrong")
        if len(data) < min(length, most):
            self.file.seek(place + len(data))
            data += read_fully(self.file, min(length, most) - len(data))
        return Member(data[:length], length, place + length + ends)

    def _ends_well(self, place: int, content_end: int, ends: int) -> bool:
        """Whether a record is followed by another, or by nothing, or by an empty line that is really its own."""
        if self.begins_at(content_end + ends) or not self.has_byte(content_end + ends):
            return True
        # It could be the one after the headers of a record that this one runs into.
        return ends == 4 and self.find(place + 1, content_end) is None


class Gzip(_Searching):
    """Each record is a gzip member."""

    magic = GZIP_MAGIC + b"\x08"

    def records_from(self, place: int) -> tuple[Any, Any]:
        """See `Container`."""
        self.file.seek(place)
        reader = stream_io().GzipReader(self.file)
        return archive_iterator()(reader, parse_http=False), reader

    def begins_at(self, place: int) -> bool:
        """See `Container`."""
        self.file.seek(place)
        data = self.file.read(4096)
        if not data.startswith(self.magic):
            return False
        try:
            return zlib.decompressobj(31).decompress(data, len(_SIGN)) == _SIGN
        except zlib.error:
            return False

    def member_at(self, place: int, most: int, enough: int | None = None) -> Member:
        """See `Container`."""
        self.file.seek(place)
        unpack = zlib.decompressobj(31)
        kept, length, consumed = bytearray(), 0, 0
        packed = b""
        try:
            while not unpack.eof:
                if not packed:
                    packed = self.file.read(CHUNK)
                    consumed += len(packed)
                    if not packed:
                        return Member(bytes(kept), length, None, "the file ends in the middle of it")
                # Little at first: zlib gives nothing of a piece in which it finds damage, and the headers are wanted.
                data = unpack.decompress(packed, min(16 * CHUNK, max(64, length)))
                packed = unpack.unconsumed_tail
                length += len(data)
                kept += data[: most - len(kept)]
                if enough is not None and length >= enough:
                    return Member(bytes(kept), length, None)
        except zlib.error as error:
            reason = str(error).partition(": ")[2] or str(error)
            return Member(bytes(kept), length, None, f"it cannot be decompressed: {reason}")
        return Member(bytes(kept), length, place + consumed - len(unpack.unused_data))


class Zstd(_Searching):
    """Each record is a Zstandard frame; a dictionary for all of them may stand before (IIPC, WARC-Zstandard)."""

    magic = ZSTD_MAGIC

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        file.seek(0)
        head = file.read(8)
        self.dictionary: bytes | None = None
        if head.startswith(_DICTIONARY):
            size = int.from_bytes(head[4:], "little")
            if size > 100_000_000:
                raise InputError("the dictionary at its beginning is damaged")
            self.dictionary = _unpack_dictionary(read_fully(file, size))
            self.first = 8 + size

    def records_from(self, place: int) -> tuple[Any, Any]:
        """See `Container`."""
        self.file.seek(place)
        reader = self._reader(self.file)
        return archive_iterator()(reader, parse_http=False), reader

    def begins_at(self, place: int) -> bool:
        """See `Container`."""
        self.file.seek(place)
        data = self.file.read(4)
        if data != ZSTD_MAGIC:
            return False
        data += read_fully(self.file, _BLOCK)
        try:
            return bool(self._reader(io.BytesIO(data)).read(len(_SIGN)) == _SIGN)
        except (OSError, ValueError):
            return False

    def member_at(self, place: int, most: int, enough: int | None = None) -> Member:
        """See `Container`."""
        kept, length = bytearray(), 0
        try:
            end = self._frame_end(place)
            reader = self._reader(Window(self.file, place, end))
            while data := reader.read(16 * CHUNK):
                length += len(data)
                kept += data[: most - len(kept)]
                if enough is not None and length >= enough:
                    return Member(bytes(kept), length, None)
        except Damage as error:
            return Member(bytes(kept), length, None, str(error))
        except (OSError, ValueError) as error:
            return Member(bytes(kept), length, None, f"it cannot be decompressed: {error}")
        return Member(bytes(kept), length, end)

    def _reader(self, file: Any) -> Any:
        return stream_io().ZstdReader(file, dictionary=self.dictionary)

    def _frame_end(self, place: int) -> int:
        """Where a frame ends, by the sizes of its blocks (RFC 8878, section 3.1.1)."""
        self.file.seek(place)
        head = self.file.read(5)
        if len(head) < 5 or head[:4] != ZSTD_MAGIC:
            raise Damage("it has no Zstandard header")
        descriptor = head[4]
        single_segment = bool(descriptor & 0x20)
        size_field = (1 if single_segment else 0, 2, 4, 8)[descriptor >> 6]
        place += 5 + (not single_segment) + (0, 1, 2, 4)[descriptor & 3] + size_field
        while True:
            self.file.seek(place)
            block = self.file.read(3)
            if len(block) < 3:
                raise Damage("the file ends in the middle of it")
            number = int.from_bytes(block, "little")
            kind, length = number >> 1 & 3, number >> 3
            if kind == 3:
                raise Damage("it cannot be decompressed: a block of an unknown kind")
            place += 3 + (1 if kind == 1 else length)
            if number & 1:
                break
        place += 4 if descriptor & 4 else 0
        if place > self.file.seek(0, io.SEEK_END):
            raise Damage("the file ends in the middle of it")
        return place


def _unpack_dictionary(data: bytes) -> bytes:
    """A dictionary may itself be packed."""
    if not data.startswith(ZSTD_MAGIC):
        return data
    try:
        return bytes(stream_io().ZstdReader(io.BytesIO(data)).read())
    except (OSError, ValueError) as error:
        raise InputError("the dictionary at its beginning is damaged") from error
