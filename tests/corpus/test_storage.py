"""Paths: here, in memory, on the web."""

from __future__ import annotations

import builtins
import os
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from mainmatter.corpus import retries as retrying
from mainmatter.corpus import storage
from mainmatter.errors import InputError, MissingExtra
from timing import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ["a b.txt", "a#b.txt", "100%.txt", "a%20b.txt", "ä€😀.txt", "a*[b]?.txt", "a::b.txt", "a=b&c.txt"]


@pytest.fixture(params=["here", "file", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        pytest.importorskip("fsspec")
        return f"memory://{uuid.uuid4().hex}"
    return str(tmp_path) if request.param == "here" else f"file://{tmp_path}"


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_written_read_listed_and_removed(folder: str, name: str) -> None:
    if "::" in name and storage.is_remote(folder):
        pytest.skip("fsspec's sign for one file system in another")
    path = storage.join(folder, "sub", name)
    assert not storage.exists(path)
    storage.write_whole(path, b"one")
    storage.write_whole(path, b"three")
    assert storage.exists(path)
    assert not storage.is_folder(path)
    assert storage.is_folder(storage.join(folder, "sub"))
    assert storage.read_whole(path) == b"three"
    assert storage.size(path) == 5
    assert storage.list_names(storage.join(folder, "sub")) == [name]
    assert [relative for relative, _ in storage.list_files(folder)] == [f"sub/{name}"]
    with storage.open_input(path) as file:
        file.seek(2)
        assert file.read(2) == b"re"
    storage.remove(path)
    storage.remove(path)
    assert not storage.exists(path)


def test_listing_is_sorted_and_leaves_hidden_folders_out(folder: str) -> None:
    for name in ("b/x", "a", "b/.y/z", ".git/c", "b/.d"):
        storage.write_whole(storage.join(folder, *name.split("/")), b"x")
    assert [name for name, _ in storage.list_files(folder)] == ["a", "b/.d", "b/x"]
    assert storage.list_names(folder) == ["a"]
    assert storage.list_names(storage.join(folder, "none")) == []


def test_loops_and_broken_links_are_harmless(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "broken.html").symlink_to(tmp_path / "nowhere")
    found = dict(storage.list_files(str(tmp_path)))
    assert list(found) == ["a.html", "broken.html"]
    assert found["broken.html"] == storage.Facts(str(tmp_path / "broken.html"), 0, storage.NOWHERE)
    assert not storage.exists(str(tmp_path / "broken.html"))


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    storage.write_whole(str(path), b"old")

    def fail(self: Path, mode: str) -> NoReturn:
        with open(self, mode) as file:  # noqa: PTH123 - Path has no other
            file.write(b"n")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "open", fail)
        with pytest.raises(OSError, match="No space left"):
            storage.write_whole(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_facts_change_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    first = storage.facts(str(path))
    assert first == storage.facts(str(path))
    os.utime(path, ns=(1, 1))
    assert storage.facts(str(path)) == storage.Facts(str(path), 1, "1")


def test_missing_files_are_named(folder: str) -> None:
    path = storage.join(folder, "none")
    for ask in (storage.open_input, storage.size, storage.read_whole):
        with pytest.raises(InputError, match=r"none: cannot be read: "):
            ask(path)


def test_unknown_scheme_is_told() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(InputError, match=r"^nothing://a: cannot be used: Protocol not known: nothing"):
        storage.open_input("nothing://a")


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] in names:
            raise ImportError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_missing_fsspec_is_told_and_not_needed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "fsspec")
    storage.write_whole(str(tmp_path / "a"), b"x")
    assert storage.list_files(str(tmp_path))[0][0] == "a"
    with pytest.raises(MissingExtra, match=r"pip install 'mainmatter\[corpus\]'"):
        storage.exists("s3://bucket/key")


def test_missing_file_system_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    core = pytest.importorskip("fsspec.core")

    def refuse(path: str, **options: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(core, "url_to_fs", refuse)
    with pytest.raises(InputError, match=r"^s3://b/k: s3:// needs another package: Install s3fs to access S3$"):
        storage.exists("s3://b/k")
    with pytest.raises(MissingExtra, match=r"this needs aiohttp, .*pip install 'mainmatter\[http\]'"):
        storage.exists("https://b/k")


def test_remote_reads_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory")
    storage.write_whole("memory://again/a", b"content")
    fails = [OSError("reset"), ValueError("reset")]
    real = memory.MemoryFile.read

    def read(self: Any, size: int = -1) -> bytes:
        if fails:
            raise fails.pop()
        return bytes(real(self, size))

    monkeypatch.setattr(memory.MemoryFile, "read", read, raising=False)
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0)
    with storage.open_input("memory://again/a") as file:
        file.seek(3)
        assert file.read() == b"tent"
        fails[:] = [ValueError("gone")] * 3  # nobody knows whether another try is of use
        with pytest.raises(OSError, match=r"^gone \(tried 3 times in 0 s\)$"):
            file.read()


@pytest.fixture
def requests_made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests that reach the file system in memory."""
    memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem
    made: list[str] = []
    for name in ("info", "ls", "find", "cat_file", "pipe_file", "rm_file", "rm", "exists", "isdir", "open"):
        original = getattr(memory, name)

        def count(self: Any, *arguments: Any, name: str = name, original: Any = original, **options: Any) -> Any:
            depth[0] += 1
            if depth[0] == 1:
                made.append(name)
            try:
                return original(self, *arguments, **options)
            finally:
                depth[0] -= 1

        monkeypatch.setattr(memory, name, count)
    depth = [0]
    return made


def test_each_question_is_one_request(requests_made: list[str]) -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    storage.write_whole(f"{folder}/a", b"1")
    requests_made.clear()
    asked: dict[str, Callable[[], object]] = {
        "cat_file": lambda: storage.read_whole(f"{folder}/a"),
        "info": lambda: (storage.exists(f"{folder}/a"), storage.is_folder(folder), storage.facts(f"{folder}/a")),
    }
    for name, ask in asked.items():
        ask()
        assert requests_made == [name] * (3 if name == "info" else 1)
        requests_made.clear()
    assert storage.list_names(folder) == ["a"]
    assert storage.list_names(f"{folder}/none") == []
    assert requests_made == ["info", "ls", "info"]
    requests_made.clear()
    for _ in range(2):
        storage.remove(f"{folder}/a")
    assert requests_made == ["rm_file"] * 2


def test_while_planning_nothing_is_asked_twice(requests_made: list[str]) -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    paths = [f"{folder}/{number}.warc" for number in range(5)]
    for path in paths:
        storage.write_whole(path, b"WARC/1.0")
    requests_made.clear()
    with storage.asked_once([folder, *paths[:2], f"{folder}/none", "/here"]):
        assert sorted(requests_made) == ["info"] * 4
        assert storage.is_folder(folder)
        assert not storage.exists(f"{folder}/none")
        assert [storage.size(path) for path in paths[:2]] == [8, 8]
        assert len(requests_made) == 4
        assert storage.list_files(folder) == storage.list_files(folder)
        assert [storage.size(path) for path in paths] == [8] * 5  # the listing told
        assert requests_made[4:] == ["find"]
    assert storage.exists(paths[0])
    assert requests_made[4:] == ["find", "info"]


def test_a_folder_of_many_inputs_is_listed(requests_made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_FEWEST_TO_LIST", 3)
    monkeypatch.setattr(storage, "_OBJECT_STORES", frozenset(["memory"]))
    folder = f"memory://{uuid.uuid4().hex}"
    for name in ("a", "b", "c", "d/e"):
        storage.write_whole(f"{folder}/{name}", b"12")
    requests_made.clear()
    names = ["a", "b", "c", "d", "none"]
    with storage.asked_once([*(f"{folder}/{name}" for name in names), f"{folder}/d/e"]):
        assert requests_made == ["info", "ls", "info", "info"]
        assert [storage.exists(f"{folder}/{name}") for name in names] == [True, True, True, True, False]
        assert [storage.is_folder(f"{folder}/{name}") for name in names] == [False, False, False, True, False]
        assert storage.size(f"{folder}/a") == 2


def test_files_are_removed_a_thousand_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem
    monkeypatch.setattr(storage, "_OBJECT_STORES", frozenset(["memory"]))
    folder, names = f"memory://{uuid.uuid4().hex}", [f"{number:04}" for number in range(1001)]
    removed: list[int] = []
    original = memory.rm
    is_allowed = True

    def rm(self: Any, paths: list[str], **options: Any) -> None:
        removed.append(len(paths))
        if is_allowed:
            original(self, paths, **options)

    monkeypatch.setattr(memory, "rm", rm)
    for name in ("", "[x]"):  # fsspec takes a path with brackets for a pattern
        for one in [*names, "stays"]:
            storage.write_whole(f"{folder}{name}/{one}", b"x")
        storage.remove_all(f"{folder}{name}", names)
        assert storage.list_names(f"{folder}{name}") == ["stays"]
    assert removed == [1000, 1]
    is_allowed = False
    with pytest.raises(
        OSError, match="1 files cannot be removed, such as stays; do you have permission to delete files there"
    ):
        storage.remove_all(folder, ["stays"])


def test_many_requests_are_under_way_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem
    monkeypatch.setattr(memory, "async_impl", True)  # as those of object stores have it
    meeting = threading.Barrier(8, timeout=PATIENCE)

    def meet(number: int) -> int:
        meeting.wait()
        return -number

    assert list(storage.at_once(meet, range(64), "memory://a")) == [-number for number in range(64)]
    here = threading.get_ident()
    monkeypatch.setattr(memory, "async_impl", False)
    for path in ("/here", "memory://a"):
        assert list(storage.at_once(lambda _: threading.get_ident(), range(3), path)) == [here] * 3
