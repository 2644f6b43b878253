"""Lists of archives: what is taken for one, where its archives are looked for, and what is asked about them."""

from __future__ import annotations

import gzip
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawl_archives import gz, page
from mainmatter.corpus import storage
from mainmatter.corpus.readers import find_shards, input_facts, lists, read_slice
from mainmatter.corpus.readers.find import SHARD_SIZE, choose_shard_size
from mainmatter.corpus.records import Read, Record, Reject, Skipped, Slice
from mainmatter.corpus.storage import join, private_allowed, write_whole
from mainmatter.errors import InputError
from mainmatter.limits import MEGABYTE
from small_web import serve

if TYPE_CHECKING:
    from collections.abc import Iterable

KEYS = [f"crawl-data/CC-MAIN-2026-10/segments/17{i}.0/warc/CC-MAIN-{i}.warc.gz" for i in range(3)]
LIST = "crawl-data/CC-MAIN-2026-10/warc.paths.gz"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def archive(number: int) -> bytes:
    return b"".join(gz(page(number)))


def packed(lines: Iterable[str]) -> bytes:
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def write(path: str, data: bytes) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(data)
    return path


def a_crawl(root: str = ".") -> str:
    """Common Crawl in small, in a folder or elsewhere; gives the path of its list."""
    for number, key in enumerate(KEYS):
        write_whole(join(root, key), archive(number))
    write_whole(join(root, LIST), packed(KEYS))
    return join(root, LIST)


def slices(path: str, archives_at: str = "") -> list[Slice]:
    return [one for shard in find_shards([path], archives_at=archives_at) for one in shard]


def read_all(path: str, archives_at: str = "") -> list[Read]:
    return [read for one in slices(path, archives_at) for read in read_slice(one)]


def ids(reads: list[Read]) -> list[str | None]:
    return [read.page.id if isinstance(read, Record) else "" for read in reads]


PAGES = [f"<urn:{i}>" for i in range(3)]


def test_keys_of_common_crawl_are_found_above_the_list() -> None:
    assert slices(a_crawl("cc")) == [
        Slice("warc", f"cc/{key}", 0, len(archive(i)), (), "", "", "") for i, key in enumerate(KEYS)
    ]
    assert ids(read_all("cc/" + LIST)) == PAGES
    absolute = str(Path("cc").resolve())
    assert [one.path for one in slices(f"{absolute}/{LIST}")] == [f"{absolute}/{key}" for key in KEYS]


def test_a_downloaded_list_needs_to_be_told_where_its_archives_are() -> None:
    a_crawl("mirror")
    write("warc.paths.gz", packed(KEYS))
    with pytest.raises(
        InputError, match=r"warc\.paths\.gz: no crawl-data/\S+ in the list's folder, .* say with --archives-at where"
    ):
        find_shards(["warc.paths.gz"])
    assert ids(read_all("warc.paths.gz", "mirror")) == PAGES
    with pytest.raises(
        InputError, match=r"^warc\.paths\.gz: none of the listed archives exists; the first is miror/crawl-data/"
    ):
        find_shards(["warc.paths.gz"], archives_at="miror")


def test_a_list_on_the_web() -> None:
    pytest.importorskip("aiohttp")
    files = {f"/{key}": ("application/gzip", archive(i)) for i, key in enumerate(KEYS)}
    with serve(files | {f"/{LIST}": ("application/gzip", packed(KEYS))}) as address, private_allowed():
        assert ids(read_all(f"{address}/{LIST}")) == PAGES
        write("warc.paths", "\n".join(KEYS).encode())
        assert [one.path for one in slices("warc.paths", address)] == [f"{address}/{key}" for key in KEYS]
        urls = [f"{address}/{key}" for key in KEYS]
        for name in ("all.urls", "all.txt", "all.txt.gz", "all"):  # they are read in place of being fetched as pages
            write(name, packed(urls) if name.endswith(".gz") else "\n".join(urls).encode())
            assert ids(read_all(name)) == PAGES


def test_in_any_storage() -> None:
    pytest.importorskip("fsspec")
    root = f"memory://{uuid.uuid4().hex}"
    path = a_crawl(root)
    assert ids(read_all(path)) == PAGES
    write("warc.paths", "\n".join(KEYS).encode())
    assert ids(read_all("warc.paths", root)) == PAGES
    assert ids(read_all(write("keys.txt", "\n".join(join(root, key) for key in KEYS).encode()))) == PAGES


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("list.txt", "a.warc.gz\n./b.warc.gz\n", "warc"),
        ("list", "# two\n\na.warc.gz\nb.warc.gz\nhttps://a.example/\n", "warc"),
        ("list.paths", "with a space.warc.gz\n", "warc"),
        ("list.txt", "A page about a.warc.gz\nand b.warc.gz\n", "files"),
        ("list.txt", "https://a.example/\nhttps://b.example/\na.warc.gz\n", "urls"),
    ],
)
def test_what_is_a_list(name: str, content: str, kind: str) -> None:
    for archive_name in ("a.warc.gz", "b.warc.gz", "with a space.warc.gz"):
        write(archive_name, archive(1))
    assert {one.kind for one in slices(write(name, content.encode())) if one.kind != "archives"} == {kind}


def test_a_line_that_names_no_archive_is_a_reject_with_its_number() -> None:
    write("crawl/a.warc.gz", archive(1))
    lines = ["# some", "a.warc.gz", "", "page.html", "a.warc.gz", "a.warc.wat.gz", "more.paths", "gone.warc.gz"]
    write("crawl/list.paths", "\r\n".join(lines).encode())
    reads = read_all("crawl/list.paths")
    bad = [read for read in reads if isinstance(read, Reject)]
    assert [(read.reason, read.source, read.position) for read in bad] == [
        ("damaged", "crawl/list.paths", 3),
        ("damaged", "crawl/list.paths", 5),
        ("damaged", "crawl/list.paths", 6),
        ("unreadable", "crawl/gone.warc.gz", 0),
    ]
    assert bad[0].detail == "line 4 names no archive (.warc, .wet), JSONL or Parquet file: page.html"
    assert [read for read in reads if isinstance(read, Skipped)] == [Skipped("repeated-archive", "crawl/list.paths", 4)]
    assert ids(reads)[-2:] == ["<urn:1>", ""]
    (one,) = (one for one in slices("crawl/list.paths") if one.kind == "archives")
    assert [read.position for read in read_slice(one, start=5)] == [5, 6]


@pytest.mark.parametrize("content", ["", "# nothing\n", "wat.paths\ncrawl-data/a.warc.wat.gz\n"])
def test_a_list_of_something_else_is_told(content: str) -> None:
    write("wat.paths", content.encode())
    with pytest.raises(InputError, match=r"^wat\.paths: lists no archive \(\.warc, \.wet\), JSONL or Parquet file"):
        find_shards(["wat.paths"])


def test_an_archive_that_comes_after_planning_is_read() -> None:
    write("a.warc.gz", archive(1))
    found = slices(write("list.paths", b"a.warc.gz\nlate.warc.gz\n"))
    write("late.warc.gz", archive(2))
    assert ids([read for one in found for read in read_slice(one)]) == ["<urn:1>", "<urn:2>"]


def test_lists_of_a_folder_are_not_read() -> None:
    a_crawl("cc")
    Path("cc/more.txt").write_text("\n".join(KEYS))
    reads = read_all("cc")
    assert ids(reads)[-3:] == PAGES
    (text, skipped) = sorted(reads[:-3], key=lambda read: isinstance(read, Skipped))
    assert isinstance(text, Reject)
    assert text.detail == "is a list of archives, not a web page; name it as an input"
    assert skipped == Skipped("other-file", "cc", skipped.position)


def test_a_change_of_an_archive_is_seen() -> None:
    path = a_crawl("cc")
    before = input_facts([path])
    assert before == input_facts([path])
    assert before[0].size == sum(len(archive(i)) for i in range(3))
    write(f"cc/{KEYS[1]}", archive(7) + archive(8))
    assert input_facts([path])[0].stamp != before[0].stamp


class Asked:
    """Counts what storage is asked for, archive by archive and folder by folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.archives = self.folders = 0

        def count_archive(path: str) -> Any:
            self.archives += 1
            return storage.facts(path)

        def count_folder(path: str) -> Any:
            self.folders += 1
            return storage.list_folder(path)

        monkeypatch.setattr(lists, "facts", count_archive)
        monkeypatch.setattr(lists, "list_folder", count_folder)


def test_archives_on_object_storage_are_listed_by_their_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    root = f"memory://{uuid.uuid4().hex}"
    paths = [f"{root}/{i % 2}/{i}.warc.gz" for i in range(40)]
    for path in paths[:-1]:
        write_whole(path, archive(1))
    write("list.paths", "\n".join(paths).encode())
    asked = Asked(monkeypatch)
    found = slices("list.paths")
    assert (asked.folders, asked.archives) == (2, 0)
    assert [one.end for one in found] == [len(archive(1))] * 39 + [sys.maxsize]  # the last one is not there


def test_few_archives_of_the_web_are_asked_about_and_many_are_taken_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(lists, "_MOST_ASKED", 3)
    with serve({f"/{i}.warc.gz": ("application/gzip", archive(i)) for i in range(4)}) as address, private_allowed():
        asked = Asked(monkeypatch)
        write("few.paths", "\n".join(f"{address}/{i}.warc.gz" for i in range(3)).encode())
        assert [one.end for one in slices("few.paths")] == [len(archive(i)) for i in range(3)]
        assert asked.archives == 3
        write("many.paths", "\n".join(f"{address}/{i}.warc.gz" for i in range(4)).encode())
        shards = find_shards(["many.paths"])
        assert [[one.end for one in shard] for shard in shards] == [[sys.maxsize]] * 4
        assert asked.archives == 3
        assert ids(read_all("many.paths")) == ["<urn:0>", "<urn:1>", "<urn:2>", "<urn:3>"]
        write("none.paths", "\n".join(f"{address}/none/{i}.warc.gz" for i in range(4)).encode())
        with pytest.raises(InputError, match="none of the listed archives exists"):
            find_shards(["none.paths"])


def test_shards_grow_with_terabytes_of_input() -> None:
    assert choose_shard_size(0) == choose_shard_size(10**12) == SHARD_SIZE == 64 * MEGABYTE
    assert choose_shard_size(10 * 10**12) == 500 * MEGABYTE
    assert choose_shard_size(100 * 10**12) == choose_shard_size(10**15) == 1500 * MEGABYTE
