"""Paths: here, in memory, on the web."""

from __future__ import annotations

import builtins
import os
import uuid
from pathlib import Path
from typing import Any, NoReturn

import pytest

from mainmatter.corpus import storage
from mainmatter.errors import InputError, MissingExtra

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
    monkeypatch.setattr(storage, "_PAUSES", (0, 0))
    assert storage.read_whole("memory://again/a") == b"content"
    fails[:] = [OSError("gone")] * 3
    with pytest.raises(InputError, match=r"^memory://again/a: cannot be read: gone$"):
        storage.read_whole("memory://again/a")
