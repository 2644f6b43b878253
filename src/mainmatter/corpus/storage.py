"""The few things that a corpus run does with paths: here, on S3, on the web, wherever fsspec reaches.

A path is local unless it begins with a scheme, as s3:// and https:// do. Local paths are taken as they are, whatever
characters their names hold, and need no extra. Requests to remote storage are repeated as `retries` says. On the web,
only public addresses are contacted, unless `private_allowed` says otherwise: lists of archives may come from strangers.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from mainmatter.corpus.retries import reason, retries
from mainmatter.errors import InputError, MissingExtra
from mainmatter.files import write_whole as write_whole_here
from mainmatter.inputs.fetch import HOW_TO_ALLOW, AddressRefused, check_port, check_public

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Value = TypeVar("Value")
Result = TypeVar("Result")

_SCHEME = re.compile(r"[A-Za-z][\w+.-]*(::[A-Za-z][\w+.-]*)*://")
_READ_AHEAD = 4 << 20  # bytes; s3fs would fetch 50 MB where an archive is only looked at
_OBJECT_STORES = frozenset("abfs abfss adl az gcs gs s3 s3a".split())  # have no folders; making one makes a bucket
_WEB = ("http://", "https://")
_S3 = frozenset(("s3", "s3a"))
_AT_ONCE = 64  # requests to remote storage
_FEWEST_TO_LIST = 100  # paths in a folder; a request of its own for each would take longer
_AHEAD = 4096  # results of parallel requests that may wait for whoever wants them
_IN_ONE_DELETE = 1000  # files, as many as S3 takes
_PATTERN = re.compile(r"[*?\[]")  # in a path that fsspec would look up instead of taking it as it is
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
        file = retries.call(lambda: files.open(place, "rb", block_size=_READ_AHEAD))
        return cast("BinaryIO", _Patient(file))
    except (InputError, MissingExtra):
        raise
    except Exception as error:  # each file system has its own
        raise InputError(f"{path}: cannot be read: {reason(error)}") from error


def read_whole(path: str) -> bytes:
    """The content of a file, read in one request if it is remote.

    Raises:
        InputError: it cannot be read. Its cause is a FileNotFoundError if there is no such file.
    """
    if is_remote(path):
        files, place = _file_system(path)
        # s3fs would first ask for the size, to read large files in parallel.
        options = {"max_concurrency": 1} if path.partition("://")[0] in _S3 and _takes_concurrency(files) else {}
        return bytes(_asked(path, lambda there: files.cat_file(there, **options), place))
    with open_input(path) as file:
        try:
            return file.read()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {reason(error)}") from error


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
            retries.call(lambda: files.makedirs(files._parent(place), exist_ok=True))
        retries.call(lambda: files.pipe_file(place, data))
    except Exception as error:
        raise OSError(f"{path}: cannot be written: {reason(error)}") from error


def exists(path: str) -> bool:
    """Whether there is such a file or folder."""
    if not is_remote(path):
        return Path(without_scheme(path)).exists()
    if path.startswith(_WEB):
        files, place = _file_system(path)
        return bool(_asked(path, files.exists, place))
    return _info(path) is not None


def is_folder(path: str) -> bool:
    """Whether there is such a folder."""
    if not is_remote(path):
        return Path(without_scheme(path)).is_dir()
    if path.startswith(_WEB):  # there, any page with links would be one
        return False
    info = _info(path)
    return info is not None and info["type"] == "directory"


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
    try:
        retries.call(lambda: files.rm_file(place))
    except FileNotFoundError:
        pass
    except Exception as error:
        raise OSError(f"{path}: cannot be removed: {reason(error)}") from error


def remove_all(folder: str, names: Sequence[str]) -> None:
    """Remove files of a folder, if they are there: a thousand in one request where the storage can do that.

    Raises:
        OSError: some of them cannot be removed.
    """
    if not is_remote(folder) or folder.partition("://")[0] not in _OBJECT_STORES or _PATTERN.search(folder):
        for _ in at_once(remove, [join(folder, name) for name in names], folder):
            pass
        return
    files, place = _file_system(folder)
    for first in range(0, len(names), _IN_ONE_DELETE):
        some = [f"{place.rstrip('/')}/{name}" for name in names[first : first + _IN_ONE_DELETE]]
        try:
            retries.call(partial(files.rm, some))
        except Exception as error:
            raise OSError(f"{folder}: files cannot be removed: {reason(error)}") from error
    left = set(names) & set(list_names(folder)) if names else ()  # s3fs does not say what could not be removed
    if left:
        raise OSError(
            f"{folder}: {len(left)} files cannot be removed, such as {min(left)}; do you have permission to delete "
            "files there?"
        )


def remove_tree(folder: str) -> None:
    """Remove a folder with all that is below it, if it is there.

    Raises:
        OSError: something cannot be removed.
    """
    try:
        if not is_remote(folder):
            shutil.rmtree(without_scheme(folder))
            return
        files, place = _file_system(folder)
        retries.call(lambda: files.rm(place, recursive=True))
    except FileNotFoundError:
        pass
    except Exception as error:
        raise OSError(f"{folder}: cannot be removed: {reason(error)}") from error


def at_once(function: Callable[[Value], Result], values: Sequence[Value], path: str) -> Iterator[Result]:
    """Call a function for each of some values, and give the results in their order.

    Args:
        function: makes requests to storage. Of remote storage that bears it, many are under way at a time, in threads.
        values: what to call it with.
        path: any path in that storage.
    """
    if not is_remote(path) or not _file_system(path)[0].async_impl:
        yield from map(function, values)
        return
    with threads(_AT_ONCE) as pool:
        for first in range(0, len(values), _AHEAD):
            yield from pool.map(function, values[first : first + _AHEAD])


def threads(number: int) -> ThreadPoolExecutor:
    """So many threads, in which the same addresses are allowed as here."""
    return ThreadPoolExecutor(number, initializer=_private_allowed.set, initargs=(_private_allowed.get(),))


@contextmanager
def private_allowed(allowed: bool = True) -> Iterator[None]:
    """Allow addresses on the web that are not public, or not, while this lasts."""
    token = _private_allowed.set(allowed)
    try:
        yield
    finally:
        _private_allowed.reset(token)


_private_allowed: ContextVar[bool] = ContextVar("private_allowed", default=False)


def check_listed(path: str, names: Iterable[str]) -> None:
    """Refuse a list that names servers whose addresses nobody checks: it may come from a stranger.

    Args:
        path: that of the list.
        names: what it names.

    Raises:
        InputError: a name has a scheme other than those of the web, of object storage and of the list itself.
    """
    if _private_allowed.get():
        return
    checked = _OBJECT_STORES | {"http", "https", "hf", "memory", path.partition("://")[0]}
    for name in names:
        if is_remote(name) and name.partition("://")[0] not in checked:
            raise InputError(
                f"{path}: names {name[:100]}, and a list may name only what is local, on the web or on object storage"
                f"{HOW_TO_ALLOW}"
            )


def join(path: str, *names: str) -> str:
    """The path of something below a folder."""
    if not is_remote(path):
        return os.path.join(path, *names)  # noqa: PTH118 - paths are text here
    return "/".join((path.rstrip("/"), *names))


@contextmanager
def asked_once(paths: Iterable[str]) -> Iterator[None]:
    """Ask remote storage only once what each path is, and what each folder holds, while this lasts.

    Args:
        paths: will be asked for; those that are remote are looked up now, many at a time. On object storage, a folder
            that holds many of them is listed instead.
    """
    answers = _Answers()
    remote = [path for path in dict.fromkeys(paths) if is_remote(path) and not path.startswith(_WEB)]
    for folder, number in Counter(path.rpartition("/")[0] for path in remote).items():
        if number >= _FEWEST_TO_LIST and folder.partition("://")[0] in _OBJECT_STORES:
            with suppress(InputError):  # some may be read and not listed
                answers.infos.update({join(folder, name): info for name, info in _infos_in(folder).items()})
    unknown = [path for path in remote if path not in answers.infos]
    if unknown:
        answers.infos.update(zip(unknown, at_once(_info, unknown, unknown[0]), strict=True))
    token = _answers.set(answers)
    try:
        yield
    finally:
        _answers.reset(token)


@dataclass(frozen=True, slots=True)
class _Answers:
    """What remote storage has answered."""

    infos: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    listings: dict[str, list[tuple[str, Facts]]] = field(default_factory=dict)


_answers: ContextVar[_Answers | None] = ContextVar("answers", default=None)


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
    info = _info(path)
    if info is None:
        raise InputError(f"{path}: cannot be read: no such file") from FileNotFoundError(path)
    return _remote_facts(path, info)


def list_files(folder: str) -> list[tuple[str, Facts]]:
    """All files below a folder, sorted: the path relative to it, with `/`, and what `facts` says.

    Folders whose name begins with a dot are left out, and links to folders are not followed, so loops are harmless.
    Links that lead nowhere are in the list; pipes and devices are not.

    Raises:
        InputError: the folder cannot be listed.
    """
    answers = _answers.get()
    if answers is None or not is_remote(folder):
        return sorted(_list_remote(folder) if is_remote(folder) else _list_here(folder))
    if folder not in answers.listings:
        answers.listings[folder] = sorted(_list_remote(folder))
    return list(answers.listings[folder])


def list_names(folder: str) -> list[str]:
    """The names of the files in a folder, without those in the folders below it, sorted; none if there is no folder."""
    if not is_remote(folder):
        place = Path(without_scheme(folder))
        return sorted(one.name for one in os.scandir(place) if one.is_file()) if place.is_dir() else []
    return sorted(name for name, info in _infos_in(folder).items() if info["type"] == "file")


def list_folder(folder: str) -> dict[str, Facts]:
    """What is known of the files in a remote folder, without those in the folders below it, by their names.

    Raises:
        InputError: it cannot be listed.
    """
    found = {name: info for name, info in _infos_in(folder).items() if info["type"] == "file"}
    return {name: _remote_facts(join(folder, name), info) for name, info in found.items()}


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
    answers = _answers.get()
    for name, info in _asked(folder, lambda there: files.find(there, detail=True), place).items():
        relative = name.removeprefix(place).lstrip("/")
        if not any(part.startswith(".") for part in relative.split("/")[:-1]):
            path = join(folder, relative)
            if answers is not None:
                answers.infos[path] = info
            yield relative, _remote_facts(path, info)


def _infos_in(folder: str) -> dict[str, dict[str, Any]]:
    """What remote storage knows of what is in a folder, by name; nothing if there is no such folder.

    Raises:
        InputError: the folder cannot be listed.
    """
    if not folder.startswith(_WEB) and not is_folder(folder):  # s3fs would list the whole folder above it
        return {}
    files, place = _file_system(folder)
    try:
        listed = retries.call(lambda: files.ls(place, detail=True, refresh=True))
    except FileNotFoundError:
        return {}
    except Exception as error:
        raise InputError(f"{folder}: cannot be read: {reason(error)}") from error
    return {one["name"].rstrip("/").rpartition("/")[2]: one for one in listed}


def _info(path: str) -> dict[str, Any] | None:
    """What remote storage knows of a file or folder; None if there is neither."""
    answers = _answers.get()
    if answers is not None and path in answers.infos:
        return answers.infos[path]
    files, place = _file_system(path)
    info: dict[str, Any] | None
    try:
        info = retries.call(lambda: files.info(place))
    except (FileNotFoundError, NotADirectoryError) as error:
        if isinstance(error.__cause__, AddressRefused):  # fsspec takes any failure on the web for a missing file
            raise InputError(f"{path}: cannot be read: {error.__cause__}") from error.__cause__
        info = None
    except Exception as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from error
    if answers is not None:
        answers.infos[path] = info
    return info


def _remote_facts(path: str, info: dict[str, Any]) -> Facts:
    if info.get("size") is None:
        raise InputError(f"{path}: its size is unknown, so it cannot be read in parts; download it first")
    stamp = next((str(info[key]) for key in _STAMPS if info.get(key)), "")
    return Facts(path, int(info["size"]), stamp)


def _file_system(path: str) -> tuple[Any, str]:
    """The file system of a path, and the path as that knows it."""
    try:
        from fsspec.core import url_to_fs  # an extra
    except ImportError as error:
        raise MissingExtra("fsspec", "corpus") from error
    try:
        # What a listing was when it was first asked for is no news: other machines write there too.
        files, place = url_to_fs(path, use_listings_cache=False, **_options(path))
    except ImportError as error:
        if path.startswith(_WEB):
            raise MissingExtra("aiohttp", "http") from error
        scheme = path.partition("://")[0]
        raise InputError(f"{path}: {scheme}:// needs another package: {reason(error)}") from error
    except Exception as error:
        raise InputError(f"{path}: cannot be used: {reason(error)}") from error
    return files, place


def _options(path: str) -> dict[str, Any]:
    """Of the web, whose addresses are checked; and of S3, whose library keeps ten connections unless told otherwise."""
    if not _private_allowed.get():
        web = {scheme: {"get_client": _public_client} for scheme in ("http", "https") if f"{scheme}://" in path}
        if web:
            return web
    if path.partition("://")[0] not in _S3:
        return {}
    from fsspec.config import conf  # an extra

    given = conf.get("s3", {}).get("config_kwargs", {})
    return {"config_kwargs": {"max_pool_connections": _AT_ONCE, **given}}


async def _public_client(**options: Any) -> Any:  # a session of aiohttp
    """A client for the web that connects to public addresses only, also after redirects."""
    import socket  # few runs read from the web

    import aiohttp  # an extra

    def open_socket(address: tuple[Any, ...]) -> socket.socket:
        family, type_, protocol, _, (host, port, *_) = address
        check_public(host, [host])
        check_port(port)
        return socket.socket(family, type_, protocol)

    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(socket_factory=open_socket), **options)


def _asked(path: str, question: Any, place: str) -> Any:  # fsspec has no types
    """What a file system answers; each has errors of its own."""
    try:
        return retries.call(lambda: question(place))
    except Exception as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from error


def _takes_concurrency(files: Any) -> bool:  # fsspec has no types
    return "max_concurrency" in signature(files._cat_file).parameters


class _Patient(io.RawIOBase):
    """A remote file whose reads are repeated where they fail."""

    def __init__(self, file: Any) -> None:  # fsspec has no types
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        place = self._file.tell()

        def read() -> bytes:
            self._file.seek(place)
            return bytes(self._file.read(size))

        try:
            return retries.call(read)
        except OSError:
            raise
        except Exception as error:
            raise OSError(reason(error)) from error

    def readinto(self, buffer: Any, /) -> int:
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
