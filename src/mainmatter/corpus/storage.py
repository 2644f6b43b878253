"""The few things that a corpus run does with paths: here, on S3, on the web, wherever fsspec reaches.

A path is local unless it begins with a scheme, as s3:// and https:// do. Local paths are taken as they are, whatever
characters their names hold, and need no extra.
"""

from __future__ import annotations

import io
import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from mainmatter.errors import InputError, MissingExtra
from mainmatter.files import write_whole as write_whole_here

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEME = re.compile(r"[A-Za-z][\w+.-]*(::[A-Za-z][\w+.-]*)*://")
_PAUSES = (0.5, 2.0)  # seconds before a remote read is tried again
_READ_AHEAD = 4 << 20  # bytes; s3fs would fetch 50 MB where an archive is only looked at
_OBJECT_STORES = frozenset("abfs abfss adl az gcs gs s3 s3a".split())  # have no folders; making one makes a bucket
NOWHERE = "leads nowhere"
_STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")  # by file system


@dataclass(frozen=True, slots=True)
class Facts:
    """What tells whether an input is still the same.

    Attributes:
        path: its path, as it was given.
        size: its size in bytes; of a folder, that of all files together.
        stamp: its date of change, its ETag or, for a folder, a digest of its files'; "" where nothing is known, and
            `NOWHERE` of a link that leads nowhere.
        is_link: in a folder, it is a link to a file.
    """

    path: str
    size: int
    stamp: str
    is_link: bool = False


def is_remote(path: str) -> bool:
    """Whether a path needs fsspec: it begins with a scheme other than file."""
    return bool(_SCHEME.match(path)) and not path.startswith(("file://", "local://"))


def without_scheme(path: str) -> str:
    """A local path without file:// or local://, if it has that."""
    return path if is_remote(path) else path.removeprefix("file://").removeprefix("local://")


def open_input(path: str) -> BinaryIO:
    """Open a file for reading, with `seek`; remote ones are read in ranges, and a read that fails is tried again.

    Raises:
        InputError: it cannot be read.
        MissingExtra: the path needs fsspec, which is not installed.
    """
    try:
        if not is_remote(path):
            return cast("BinaryIO", io.FileIO(without_scheme(path)))
        files, place = _file_system(path)
        return cast("BinaryIO", _Patient(files.open(place, "rb", block_size=_READ_AHEAD)))
    except (InputError, MissingExtra):
        raise
    except Exception as error:  # each file system has its own
        raise InputError(f"{path}: cannot be read: {_reason(error)}") from error


def read_whole(path: str) -> bytes:
    """The content of a file.

    Raises:
        InputError: it cannot be read.
    """
    with open_input(path) as file:
        try:
            return file.read()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {_reason(error)}") from error


def write_whole(path: str, data: bytes) -> None:
    """Write a file whole or not at all, with the folders that it needs.

    Locally it is written beside its place and moved there. Elsewhere it is put there in one go, which object stores
    do as a whole too.

    Raises:
        OSError: it cannot be written.
        InputError, MissingExtra: nothing is known about the path's scheme.
    """
    if not is_remote(path):
        write_whole_here(Path(without_scheme(path)), data)
        return
    files, place = _file_system(path)
    try:
        if path.partition("://")[0] not in _OBJECT_STORES:
            files.makedirs(files._parent(place), exist_ok=True)
        files.pipe_file(place, data)
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{path}: cannot be written: {_reason(error)}") from error


def exists(path: str) -> bool:
    """Whether there is such a file or folder."""
    if not is_remote(path):
        return Path(without_scheme(path)).exists()
    files, place = _file_system(path)
    return bool(_asked(path, files.exists, place))


def is_folder(path: str) -> bool:
    """Whether there is such a folder."""
    if not is_remote(path):
        return Path(without_scheme(path)).is_dir()
    if path.startswith(("http://", "https://")):  # there, any page with links would be one
        return False
    files, place = _file_system(path)
    return bool(_asked(path, files.isdir, place))


def is_special(path: str) -> bool:
    """Whether there is something that is neither a file nor a folder: a pipe, a device, a socket."""
    place = Path(without_scheme(path))
    return not is_remote(path) and place.exists() and not place.is_file() and not place.is_dir()


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    if not is_remote(path):
        Path(without_scheme(path)).unlink(missing_ok=True)
        return
    files, place = _file_system(path)
    if _asked(path, files.exists, place):
        _asked(path, files.rm_file, place)


def join(path: str, *names: str) -> str:
    """The path of something below a folder."""
    if not is_remote(path):
        return os.path.join(path, *names)  # noqa: PTH118 - paths are text here
    return "/".join((path.rstrip("/"), *names))


def size(path: str) -> int:
    """The size of a file in bytes.

    Raises:
        InputError: there is no such file, or its size cannot be told.
    """
    return facts(path).size


def facts(path: str) -> Facts:
    """What tells whether a file is still the same.

    Raises:
        InputError: there is no such file, or its size cannot be told.
    """
    if not is_remote(path):
        try:
            state = Path(without_scheme(path)).stat()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
        return Facts(path, state.st_size, str(state.st_mtime_ns))
    files, place = _file_system(path)
    return _remote_facts(path, _asked(path, files.info, place))


def list_files(folder: str) -> list[tuple[str, Facts]]:
    """All files below a folder, sorted: the path relative to it, with `/`, and what `facts` says.

    Folders whose name begins with a dot are left out, and links to folders are not followed, so loops are harmless.
    Links that lead nowhere are in the list; pipes and devices are not.

    Raises:
        InputError: the folder cannot be listed.
    """
    return sorted(_list_remote(folder) if is_remote(folder) else _list_here(folder))


def list_names(folder: str) -> list[str]:
    """The names of the files in a folder, without those in the folders below it, sorted; none if there is no folder."""
    if not is_remote(folder):
        place = Path(without_scheme(folder))
        return sorted(one.name for one in os.scandir(place) if one.is_file()) if place.is_dir() else []
    files, place_there = _file_system(folder)
    if not _asked(folder, files.isdir, place_there):
        return []
    listed = _asked(folder, lambda there: files.ls(there, detail=True, refresh=True), place_there)
    return sorted(one["name"].rstrip("/").rpartition("/")[2] for one in listed if one["type"] == "file")


def _list_here(folder: str) -> Iterator[tuple[str, Facts]]:
    root = without_scheme(folder)

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror or error}") from error

    for parent, folders, names in os.walk(root, onerror=refuse):
        folders[:] = (name for name in folders if not name.startswith("."))  # where os.walk goes next
        below = os.path.relpath(parent, root).replace(os.sep, "/")
        for name in names:
            found = _facts_of_file(os.path.join(parent, name))  # noqa: PTH118 - a Path for each of a million takes long
            if found is not None:
                yield name if below == "." else f"{below}/{name}", found


def _facts_of_file(path: str) -> Facts | None:
    """What is known of a file, or of a link that leads nowhere; None for pipes and devices, and what is gone again."""
    is_link = False
    try:
        state = os.lstat(path)
        is_link = stat.S_ISLNK(state.st_mode)
        if is_link:
            state = os.stat(path)  # noqa: PTH116
    except OSError as error:
        if is_link:
            return Facts(path, 0, NOWHERE)
        if isinstance(error, FileNotFoundError):
            return None
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return Facts(path, state.st_size, str(state.st_mtime_ns), is_link) if stat.S_ISREG(state.st_mode) else None


def _list_remote(folder: str) -> Iterator[tuple[str, Facts]]:
    files, place = _file_system(folder)
    for name, info in _asked(folder, lambda there: files.find(there, detail=True), place).items():
        relative = name.removeprefix(place).lstrip("/")
        if not any(part.startswith(".") for part in relative.split("/")[:-1]):
            yield relative, _remote_facts(join(folder, relative), info)


def _remote_facts(path: str, info: dict[str, Any]) -> Facts:
    if info.get("size") is None:
        raise InputError(f"{path}: its size cannot be told, so it cannot be read in parts; download it first")
    stamp = next((str(info[key]) for key in _STAMPS if info.get(key)), "")
    return Facts(path, int(info["size"]), stamp)


def _file_system(path: str) -> tuple[Any, str]:
    """The file system of a path, and the path as that knows it."""
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("fsspec", "corpus") from error
    try:
        # What a listing was when it was first asked for is no news: other machines write there too.
        files, place = url_to_fs(path, use_listings_cache=False)
    except ImportError as error:
        scheme = path.partition("://")[0]
        raise InputError(f"{path}: {scheme}:// needs another package: {_reason(error)}") from error
    except Exception as error:
        raise InputError(f"{path}: cannot be used: {_reason(error)}") from error
    return files, place


def _asked(path: str, question: Any, place: str) -> Any:  # noqa: ANN401 - fsspec has no types
    """What a file system answers; each has errors of its own."""
    try:
        return question(place)
    except Exception as error:
        raise InputError(f"{path}: cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return " ".join(str(error).split()) or type(error).__name__


class _Patient(io.RawIOBase):
    """A remote file that is read again, after a pause, where reading fails."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - fsspec has no types
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        place = self._file.tell()
        for pause in _PAUSES:
            try:
                return bytes(self._file.read(size))
            except Exception:
                time.sleep(pause)
                self._file.seek(place)
        try:
            return bytes(self._file.read(size))
        except OSError:
            raise
        except Exception as error:
            raise OSError(_reason(error)) from error

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
