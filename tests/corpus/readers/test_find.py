"""From what users name to shards; pages in folders; lists of URLs; the same through fsspec."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from crawl_archives import gz, page, zst
from mainmatter.corpus.readers import FetchRules, find_shards, input_facts, read_slice
from mainmatter.corpus.records import Read, Record, Reject, Skipped, Slice
from mainmatter.corpus.storage import Facts, join, private_allowed, write_whole
from mainmatter.errors import InputError, MissingExtra
from mainmatter.limits import Limits
from small_web import serve

MEMBERS = gz(*(page(i) for i in range(6)))
ARCHIVE = b"".join(MEMBERS)
NAMES = [f"<urn:{i}>" for i in range(6)]
HERE = FetchRules(robots=False, delay=0, public_only=False)  # for servers on this machine


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, data: bytes = b"<p>x") -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(data)
    return name


def read_all(*inputs: str, shard_size: int = 10**9, limits: Limits | None = None) -> list[Read]:
    shards = find_shards(inputs, shard_size)
    return [read for shard in shards for one in shard for read in read_slice(one, limits or Limits(), fetch_rules=HERE)]


def ids(reads: list[Read]) -> list[str | None]:
    return [
        read.page.id if isinstance(read, Record) else read.reason if isinstance(read, Reject) else "" for read in reads
    ]


# Planning


def test_large_archive_is_split_and_small_ones_are_put_together() -> None:
    names = [write(f"{i}.warc.gz", ARCHIVE) for i in range(4)]
    size = len(ARCHIVE)
    assert [len(shard) for shard in find_shards(names, 2 * size)] == [2, 2]
    assert [len(shard) for shard in find_shards(names, size // 2 + 1)] == [1] * 8
    assert find_shards(names[:1], size) == [[Slice("warc", "0.warc.gz", 0, size)]]
    pieces = [one for shard in find_shards(names[:1], 100) for one in shard]
    assert [one.start for one in pieces[1:]] == [one.end for one in pieces[:-1]]
    assert max(one.end - one.start for one in pieces) <= 100


def test_input_that_is_named_twice_is_read_once() -> None:
    name = write("a.html")
    assert find_shards([name, name]) == [[Slice("files", "", 0, 1, ("a.html",))]]


def test_packed_rows_are_known_by_their_content() -> None:
    name = write("rows.bin", gzip.compress(b'{"text": "x", "id": "row"}\n' * 9, mtime=0))
    assert len(find_shards([name], 10)) == 1
    assert ids(read_all(name)) == ["row"] * 9


def test_plan_travels_as_json() -> None:
    write("a/b.html")
    ((one,),) = find_shards(["a"])
    back = json.loads(json.dumps(dataclasses.asdict(one)))
    assert Slice(**{**back, "files": tuple(back["files"])}) == one


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("crawl", ARCHIVE, "warc"),
        ("crawl.gz", ARCHIVE, "warc"),
        ("crawl.bin", zst(page(1)), "warc"),
        ("rows", b'{"text": "x"}\n', "jsonl"),
        ("rows.json", b'[\n{"text": "x"}]\n', "jsonl"),
        ("rows.json", b'{\n "text": "x"\n}\n', "jsonl"),
        ("rows.json.gz", gzip.compress(b'{"text": "x"}\n', mtime=0), "jsonl"),
        ("list.txt", b"# pages\n\nhttps://a.example/\nhttp://b.example/\n", "urls"),
        ("list.urls", b"", "urls"),
        ("list.txt", b"https://a.example/\nhtp:/b.example\nhttps://c.example/\n", "urls"),
        ("words.txt", b"https://a.example/ is a page\n", "files"),
        ("words.txt", b"A page of links\nhttps://a.example/\nAnother\nhttps://b.example/\n", "files"),
        ("words.txt", b"", "files"),
        ("words.txt", b'{"a": 1}', "files"),
        ("saved.page", b"<p>x", "files"),
        ("page.html.gz", gzip.compress(b"<p>x", mtime=0), "files"),
    ],
)
def test_content_tells_where_the_name_does_not(name: str, data: bytes, kind: str) -> None:
    shards = find_shards([write(name, data)])
    assert [one.kind for shard in shards for one in shard] == ([kind] if data or kind == "files" else [])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.warc.gz", r"^none\.warc\.gz: no such file or folder$"),
        ("", r"^the name of an input is empty; name a file, a folder or a URL$"),
        ("empty", r"^empty: nothing to read there; looked for archives"),
        ("a.pdf", r"^a\.pdf: is a PDF document; mainmatter reads archives"),
        ("memory://none/a.warc", r"^memory://none/a\.warc: no such file or folder$"),
        ("/dev/null", r"^/dev/null: is not a regular file, so it cannot be read in parts; write it to a file first$"),
    ],
)
def test_what_cannot_be_read_is_told_when_planning(name: str, message: str) -> None:
    write("a.pdf", b"%PDF-1.7")
    write("empty/.hidden/a.html")
    with pytest.raises(InputError, match=message):
        find_shards([name])


def test_shard_size_must_be_something() -> None:
    with pytest.raises(InputError, match="at least 1 byte, not 0"):
        find_shards([write("a.html")], 0)


def test_missing_fastwarc_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    name = write("a.warc.gz", ARCHIVE)
    for module in [name for name in sys.modules if name.partition(".")[0] == "fastwarc"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "fastwarc", None)
    with pytest.raises(MissingExtra, match=r"this needs fastwarc, .* 'mainmatter\[corpus\]'"):
        read_all(name)


# Folders


def test_folder_with_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    write("site/b.HTML")
    write("site/a.html.gz", gzip.compress(b"<p>packed", mtime=0))
    write("site/sub/c.txt", b"words")
    write("site/z.warc.gz", ARCHIVE)
    write("site/y.jsonl", b'{"text": "x", "id": "row"}\n')
    write("site/.git/d.html")
    write("site/e.css")
    Path("site/loop").symlink_to("..")
    reads = read_all("site")
    assert ids(reads) == ["a.html.gz", "b.HTML", "sub/c.txt", "", "row", *NAMES]
    assert reads[3] == Skipped("other-file", "site", 3)
    assert isinstance(reads[0], Record)
    assert reads[0].page.html == b"<p>packed"
    assert (reads[0].source, reads[0].position) == ("site", 0)
    assert isinstance(reads[2], Record)
    assert (reads[2].page.format, reads[2].position) == ("text", 2)
    for shard_size in (1, 5, 100, 500):
        assert read_all("site", shard_size=shard_size) == reads


def test_links_to_files_are_skipped_or_followed(tmp_path: Path) -> None:
    write("site/a.html")
    write("site/b.css")
    for name, content in (("page.html", b"<p>x"), ("crawl.warc.gz", ARCHIVE)):
        (tmp_path / f"elsewhere-{name}").write_bytes(content)
        Path(f"site/{name}").symlink_to(tmp_path / f"elsewhere-{name}")
    links = [Skipped("link", "site", 2), Skipped("link", "site", 3)]
    for shard_size in (1, 100_000):
        reads = read_all("site", shard_size=shard_size)
        assert ids(reads)[:1] == ["a.html"]
        assert reads[2:] == links
    followed = [read for shard in find_shards(["site"], follow_links=True) for one in shard for read in read_slice(one)]
    assert ids(followed) == ["a.html", "page.html", "", *NAMES]
    write("others/b.css")
    Path("others/page.html").symlink_to(tmp_path / "elsewhere-page.html")
    with pytest.raises(InputError, match=r"nothing to read there; .*; there are links to files, and --follow-links"):
        find_shards(["others"])


def test_no_file_of_a_folder_is_lost_without_a_word() -> None:
    write("site/z.html")
    write("site/noending", b"<!DOCTYPE html><p>x")
    write("site/index.php?id=5", gzip.compress(b"<html><p>x", mtime=0))
    write("site/picture.png", b"\x89PNG\r\n\x1a\n")
    write("site/readme.md", b"<p>HTML at the top of Markdown")
    write("site/notes", b"words")
    write("site/crawl", ARCHIVE)
    write("site/part-00000", b'{"text": "x"}\n')
    for name in ("gone.html", "gone", "gone.warc.gz"):
        Path(f"site/{name}").symlink_to("nowhere")
    reads = read_all("site")
    by_name = dict(zip(("gone", "gone.html", "gone.warc.gz", "z.html"), reads, strict=False))
    assert [read.reason for read in by_name.values() if isinstance(read, Reject)] == ["unreadable"] * 3
    assert ids(reads)[3:] == ["z.html", "not-a-page", "index.php?id=5", "noending", "", "not-a-page", "", ""]
    assert {read.type for read in reads if isinstance(read, Skipped)} == {"other-file"}
    archive = reads[4]
    assert isinstance(archive, Reject)
    assert archive.detail == (
        "is a WARC archive, not a web page; name it as an input, or give it the right extension, such as .warc.gz, "
        ".jsonl or .parquet"
    )
    assert [read.position for read in reads] == list(range(11))
    for shard_size in (1, 5, 100):
        assert read_all("site", shard_size=shard_size) == reads


def test_planning_reads_no_file_of_a_folder_that_has_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.html", "noending", "b.png"):
        write(f"site/{name}")
    monkeypatch.setattr("mainmatter.corpus.readers.find.open_input", None)
    ((one,),) = find_shards(["site"])
    assert one.files == ("a.html", "b.png", "noending")


def test_large_files_that_may_be_no_pages_make_no_shards() -> None:
    write("site/a.html")
    for i in range(5):
        write(f"site/{i}.mp4", b"\0" * 1_000_000)
    assert len(find_shards(["site"], 2_000_000)) == 1


def test_folder_without_a_page() -> None:
    write("site/a.png", b"<p>x")
    write("site/b", b"words")
    with pytest.raises(InputError, match=r"^site: nothing to read there; looked for .* \.xhtml, and for HTML in files"):
        find_shards(["site"])
    write("site/c")
    assert ids(read_all("site")) == ["", "", "c"]


def test_data_is_not_taken_for_a_page() -> None:
    write("site/a.html", b'{"html": "<p>x"}')
    write("site/b.htm", b"WARC/1.0\r\n")
    write("site/c.txt", b'{"quoted": 1}, said the page')
    assert ids(read_all("site")) == ["not-a-page", "not-a-page", "c.txt"]


def test_going_on_in_a_folder() -> None:
    for i in range(5):
        write(f"site/{i}.html")
    ((one,),) = find_shards(["site"])
    assert ids(list(read_slice(one, start=3))) == ["3.html", "4.html"]
    second = find_shards(["site"], 8)[1][0]
    assert (second.start, second.end, second.files) == (2, 4, ("2.html", "3.html"))
    assert ids(list(read_slice(second, start=3))) == ["3.html"]


def test_file_that_was_named_has_its_path_as_id() -> None:
    (read,) = read_all(write("some/page with # and %.html"))
    assert isinstance(read, Record)
    assert (read.page.id, read.source) == ("some/page with # and %.html",) * 2


def test_bad_files_are_rejects() -> None:
    write("site/a.html", b"%PDF-1.7")
    write("site/b.html", b"x" * 101)
    write("site/c.html.gz", gzip.compress(b"x" * 10_000, mtime=0))
    write("site/d.html.gz", gzip.compress(b"x", mtime=0)[:-5])
    write("site/e.html")
    ((one,),) = find_shards(["site"])
    Path("site/e.html").unlink()
    reads = list(read_slice(one, Limits(size=100)))
    assert ids(reads) == ["not-a-page", "too-large", "too-large", "damaged", "unreadable"]
    assert [read.id for read in reads if isinstance(read, Reject)] == list(one.files)


# What tells whether inputs have changed


def test_facts_of_inputs() -> None:
    write("site/a.html")
    write("b.warc", b"xyz")
    first = input_facts(["site", "b.warc", "http://a.example/page"])
    assert [fact.path for fact in first] == ["site", "b.warc", "http://a.example/page"]
    assert [fact.size for fact in first] == [4, 3, 0]
    assert first[2] == Facts("http://a.example/page", 0, "")
    write("site/b.html", b"")
    second = input_facts(["site", "b.warc"])
    assert second[0].stamp != first[0].stamp
    assert second[1] == first[1]
    with pytest.raises(InputError, match=r"^none: no such file or folder$"):
        input_facts(["none"])


# Elsewhere


def test_memory() -> None:
    pytest.importorskip("fsspec")
    root = f"memory://{uuid.uuid4().hex}"
    write_whole(join(root, "a.warc.gz"), ARCHIVE)
    write_whole(join(root, "sub", "b#.html"), b"<p>x")
    expected = ["sub/b#.html", *NAMES]
    assert ids(read_all(root)) == expected
    assert ids(read_all(root, shard_size=100)) == expected
    assert ids(read_all(join(root, "a.warc.gz"))) == NAMES
    assert input_facts([root])[0].size == len(ARCHIVE) + 4
    assert input_facts([root]) == input_facts([root])


def test_archive_on_the_web_is_read_in_ranges() -> None:
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    files = {
        "/a.warc.gz": ("application/gzip", ARCHIVE),
        "/rows.jsonl": ("text/plain", b'{"text": "x", "id": "row"}\n'),
    }
    with serve(files) as address, private_allowed():
        url = f"{address}/a.warc.gz"
        assert ids(read_all(url)) == NAMES
        assert ids(read_all(url, shard_size=300)) == NAMES
        assert ids(read_all(f"{address}/rows.jsonl")) == ["row"]
        assert find_shards([f"{address}/page?name=a.warc"])[0][0].kind == "urls"
        assert input_facts([url]) == [Facts(url, len(ARCHIVE), f'"{len(ARCHIVE)}"')]
        with pytest.raises(InputError, match=r"none\.warc\.gz: no such file or folder"):
            find_shards([f"{address}/none.warc.gz"])


# Lists of URLs


def test_list_of_urls_is_fetched() -> None:
    files = {
        "/a": ("text/html", b"<p>a"),
        "/b": ("text/plain", b"b"),
        "/c": ("image/png", b"c"),
        "/d": ("text/html", b"x" * 500),
    }
    with serve(files) as address:
        lines = ["# my list", *(f"{address}{path}" for path in ("/a", "/b", "/c", "/d", "/none")), "", "no url"]
        reads = read_all(write("list.urls", "\n".join(lines).encode()), limits=Limits(size=100))
        assert ids(reads) == [lines[1], lines[2], "not-a-page", "too-large", "fetch", "damaged"]
        assert [read.position for read in reads] == [1, 2, 3, 4, 5, 7]
        assert isinstance(reads[1], Record)
        assert (reads[1].page.html, reads[1].page.format, reads[1].page.url) == (b"b", "text", lines[2])
        fetched = reads[2]
        assert isinstance(fetched, Reject)
        assert fetched.detail.startswith(f"{lines[3]}: is image/png, not a web page; ")
        ((one,),) = find_shards(["list.urls"])
        assert [read.position for read in read_slice(one, Limits(size=100), 4, fetch_rules=HERE)] == [4, 5, 7]
        page_itself = find_shards([lines[1]])
        assert page_itself == [[Slice("urls", lines[1], 0, 1)]]
        assert ids(list(read_slice(page_itself[0][0], fetch_rules=HERE))) == [lines[1]]
        assert list(read_slice(page_itself[0][0], start=1)) == []


def test_a_bad_line_of_a_list_in_a_text_file_is_named() -> None:
    with serve({"/a": ("text/html", b"<p>a"), "/b": ("text/html", b"<p>b")}) as address:
        reads = read_all(write("list.txt", f"{address}/a\nw.b.example\n{address}/b\n".encode()))
    assert ids(reads) == [f"{address}/a", "damaged", f"{address}/b"]
    assert isinstance(reads[1], Reject)
    assert reads[1].detail == "line 2 is not a URL: w.b.example"


def test_what_robots_txt_forbids_is_not_fetched() -> None:
    pytest.importorskip("protego")
    files = {
        "/robots.txt": ("text/plain", b"User-agent: *\nDisallow: /private\n"),
        "/private": ("text/html", b"<p>a"),
        "/open": ("text/html", b"<p>b"),
    }
    with serve(files) as address:
        write("list.urls", f"{address}/private\n{address}/open\nno url\n".encode())
        ((one,),) = find_shards(["list.urls"])
        assert ids(list(read_slice(one, fetch_rules=replace(HERE, robots=True)))) == [
            "robots",
            f"{address}/open",
            "damaged",
        ]
        forbidden = next(read_slice(one, fetch_rules=replace(HERE, robots=True)))
        assert isinstance(forbidden, Reject)
        assert (forbidden.detail, forbidden.url) == (
            f"{address}/robots.txt disallows it for mainmatter",
            f"{address}/private",
        )
        assert ids(list(read_slice(one, fetch_rules=HERE)))[0] == f"{address}/private"


def test_list_as_other_systems_write_it() -> None:
    write("list.txt", b"\xef\xbb\xbfhttp://127.0.0.1:1/a\r\n\r\nhttp://127.0.0.1:1/" + b"x" * 20_000 + b"\r\n")
    ((one,),) = find_shards(["list.txt"])
    assert one.kind == "urls"
    reads = list(read_slice(one, fetch_rules=HERE))
    assert [(read.position, read.reason) for read in reads if isinstance(read, Reject)] == [
        (0, "fetch"),
        (2, "damaged"),
    ]
    assert isinstance(reads[0], Reject)
    assert reads[0].url == "http://127.0.0.1:1/a"


def test_folder_with_things_that_are_no_files() -> None:
    write("site/new\nline.html")
    os.mkfifo("site/pipe.html")  # whoever opened it would wait for ever
    Path("site/zero.html").symlink_to("/dev/zero")
    Path("site/loop").symlink_to(".")
    assert ids(read_all("site")) == ["new\nline.html"]
    for name in ("site/pipe.html", f"local://{Path.cwd()}/site/pipe.html", "site/zero.html"):
        with pytest.raises(InputError, match="is not a regular file"):
            find_shards([name])
    assert len(read_all(f"local://{Path.cwd()}/site/new\nline.html")) == 1


def test_long_list_is_many_small_shards() -> None:
    write("list.txt", b"".join(b"http://a.example/%d\n" % i for i in range(250)))
    assert [(one.start, one.end) for (one,) in find_shards(["list.txt"])] == [(0, 100), (100, 200), (200, 250)]
