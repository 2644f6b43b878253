"""From what users name to pages."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import random
import re
import sys
import tarfile
from pathlib import Path

import pytest

from mainmatter.errors import InputError, NotAPage, PageTooLarge
from mainmatter.inputs import paths as inputs
from mainmatter.inputs.paths import Input, find_inputs
from mainmatter.limits import Limits
from mainmatter.records import Page


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, data: bytes = b"<p>x") -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(data)
    return name


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def test_file_is_taken_whatever_its_ending() -> None:
    assert find_inputs([write("a/saved.page")]) == [Input("a/saved.page", Path("saved.page"))]


def test_folder_stands_for_its_pages_and_dumps_sorted() -> None:
    for name in ("b.HTML", "a.htm", "sub/c.php", "sub/d.txt", "e.pdf", "sub/g.css", "sub/h.html.gz"):
        write(f"site/{name}")
    Path("site/folder.html").mkdir()
    found = find_inputs(["site"])
    names = ["a.htm", "b.HTML", "sub/c.php", "sub/d.txt"]
    assert [one.name for one in found] == [*(f"site/{name}" for name in names), "site/sub/h.html.gz"]
    assert [str(one.relative) for one in found] == [*names, "sub/h.html"]


@pytest.mark.parametrize(
    ("head", "is_page"),
    [
        (b"<!DOCTYPE html>\n", True),
        (b"\xef\xbb\xbf\r\n <!-- saved --><!-- twice -->\n<HTML lang=de>", True),
        (b"<p>x", True),
        (b"\xff\xfe" + "<html><p>x".encode("utf-16-le"), True),
        (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN"><html>', True),
        (gzip.compress(b"<title>x</title>" * 5000, 0), True),
        (b"<!--" + b"x" * 5000 + b"--><p>x", True),
        (b'<?xml version="1.0"?><rss><channel><title>x</title>', False),
        (b"<svg><title>x</title></svg>", False),
        (b"# A title\n\n<p>HTML in the middle</p>", False),
        (b"<pre-made>", False),
        (b"", False),
        (b"%PDF-1.7 <html>", False),
        (b"\x1f\x8b no gzip", False),
    ],
)
def test_content_tells_of_files_in_a_folder_where_their_endings_do_not(head: bytes, is_page: bool) -> None:
    for name in ("noending", "index.php?id=5", "index.cgi"):
        write(f"site/{name}", head)
    write("site/a.html")
    found = inputs.look_through(["site"])
    expected = {"a.html"} | ({"noending", "index.php?id=5", "index.cgi"} if is_page else set())
    assert {Path(one.name).name for one in found.inputs} == expected
    assert len(found.passed_over) == 4 - len(expected)


def test_what_was_passed_over_is_told() -> None:
    for name in ("a.html", "b.png", "c.png", "sub/d.pdf", "notes", "e.warc.gz"):
        write(f"site/{name}", b"words")
    Path("site/broken.html").symlink_to("nowhere")
    found = inputs.look_through(["site"])
    assert [one.name for one in found.inputs] == ["site/a.html", "site/broken.html"]
    assert found.why_passed_over() == (
        "5 files were skipped, by ending or content neither page nor text dump: 2 .png, 1 .pdf, 1 .warc, "
        "1 without an ending; for archives, JSONL and Parquet, use `mainmatter corpus`"
    )
    assert inputs.look_through(["site/a.html"]).why_passed_over() == ""


def test_links_to_files_are_followed_only_if_that_is_wanted(tmp_path: Path) -> None:
    secret = tmp_path / "secret.html"
    secret.write_bytes(b"<p>secret")
    write("site/a.html", b"words")
    for name in ("b.html", "noending", "c.png"):
        Path(f"site/{name}").symlink_to(secret)
    Path("site/loop").symlink_to(".")
    found = inputs.look_through(["site", "site/b.html"])  # what is named itself is followed
    assert [one.name for one in found.inputs] == ["site/a.html", "site/b.html"]
    assert sorted(found.links) == ["site/b.html", "site/c.png", "site/noending"]
    assert found.passed_over == []
    assert found.why_links() == "3 links to files were not followed; --follow-links follows them, wherever they lead"
    followed = inputs.look_through(["site"], follow_links=True)
    assert [one.name for one in followed.inputs] == ["site/a.html", "site/b.html", "site/noending"]
    assert (followed.links, followed.why_links()) == ([], "")
    Path("site/a.html").unlink()
    with pytest.raises(InputError, match=r"holds no page; .*; 3 links to files were not followed; --follow-links"):
        inputs.find_inputs(["site"])


def test_files_that_cannot_be_looked_at_are_told_by_who_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.html", "noending", "b.png"):
        write(f"site/{name}", b"words")
    real = os.stat

    def refuse(path: str, **options: bool) -> os.stat_result:
        if str(path) in ("site/a.html", "site/noending"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        found = inputs.look_through(["site"])
    assert [one.name for one in found.inputs] == ["site/a.html", "site/noending"]
    assert found.passed_over == ["site/b.png"]


def test_files_that_cannot_be_opened_are_told_by_who_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    write("site/noending")

    def refuse(path: object, *_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(io, "FileIO", refuse)
    monkeypatch.setattr(io, "open", refuse)
    (one,) = find_inputs(["site"])
    with pytest.raises(InputError, match=r"^site/noending: cannot be read: Permission denied$"):
        one.read()


def test_folder_that_cannot_be_listed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    write("site/a.html")
    write("site/closed/b.html")
    real = os.scandir

    def refuse(path: str) -> object:
        if str(path) == "site/closed":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match=r"^site/closed: cannot be read: Permission denied$"):
        find_inputs(["site"])


def test_folders_that_begin_with_a_dot_are_not_walked() -> None:
    for name in (".git/a.html", "b/.venv/lib/c.html", "b/d.html", ".e.html"):
        write(f".site/{name}")
    assert [one.name for one in find_inputs([".site"])] == [".site/.e.html", ".site/b/d.html"]
    assert [one.name for one in find_inputs([".site/.git"])] == [".site/.git/a.html"]


def test_empty_name_is_not_the_current_folder() -> None:
    write("a.html")
    with pytest.raises(InputError, match=r"^an input's name is empty"):
        find_inputs(["a.html", ""])


def test_names_keep_their_order_and_their_format() -> None:
    names = [write("b.html"), "-", write("a.html")]
    assert find_inputs(names, "text") == [
        Input("b.html", Path("b.html"), "text"),
        Input("-", Path("page"), "text"),
        Input("a.html", Path("a.html"), "text"),
    ]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://news.example/", "news.example.html"),
        ("https://news.example/today/river.html", "news.example_today_river.html"),
        ("https://news.example/today?page=2&x=é", "news.example_today_page_2_x_é.html"),
        ("http://news.example/notes.txt", "news.example_notes.txt"),
        ("http://a.example/../../../etc/passwd", "a.example_.._.._.._etc_passwd.html"),
        ("http:///", "page.html"),
        ("https://" + "x" * 500, "x" * 150 + ".html"),
    ],
)
def test_results_of_urls_have_names_of_their_own(url: str, name: str) -> None:
    assert find_inputs([url]) == [Input(url, Path(name))]


def test_missing_file() -> None:
    with pytest.raises(InputError, match=r"^nope\.html: no such file or folder$"):
        find_inputs(["nope.html"])


def test_folder_without_pages() -> None:
    write("site/a.pdf")
    with pytest.raises(
        InputError, match=r"^site: holds no page; looked for files that end in \.asp \.aspx .* \.xhtml$"
    ):
        find_inputs(["site"])


@pytest.mark.parametrize(
    ("name", "chosen", "expected"),
    [
        ("a.html", None, "html"),
        ("a.TXT", None, "text"),
        ("a.text", None, "text"),
        ("a.unknown", None, "html"),
        ("a.txt", "html", "html"),
        ("a.html", "text", "text"),
    ],
)
def test_format_is_told_by_the_ending_unless_said(name: str, chosen: str | None, expected: str) -> None:
    page = Input(write(name), Path(name), chosen).read()
    assert page == Page(b"<p>x", None, name, format="text" if expected == "text" else "html")


@pytest.mark.parametrize(("chosen", "expected"), [(None, "html"), ("html", "html"), ("text", "text")])
def test_format_of_a_url_is_told_by_the_server_unless_said(
    chosen: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://e.example/notes.txt"
    monkeypatch.setattr(inputs, "fetch", lambda url, limits, public_only: Page(b"<p>x", url, url))
    assert Input(url, Path("notes.txt"), chosen).read().format == expected


@pytest.mark.parametrize(
    ("data", "words", "advice"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture", "give HTML, or a plain-text dump of a page"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture", "give HTML, or a plain-text dump of a page"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document", "convert it to HTML or text first"),
        (bz2.compress(b"<p>x"), "a bzip2 archive", "unpack it first"),
        (lzma.compress(b"<p>x"), "an xz archive", "unpack it first"),
        (b"PK\3\4\x14\0", "a ZIP archive or an Office document", "unpack it first"),
    ],
)
def test_what_is_no_page_is_refused(data: bytes, words: str, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data += bytes(100)
    monkeypatch.setattr(sys, "stdin", _Stdin(data))
    for name in (write("a.html", data), write("a.txt", data), "-"):
        with pytest.raises(NotAPage, match=f"^{name}: is {words}, not a web page; {advice}$"):
            Input(name, Path(name)).read(Limits(size=50))  # also where it is too large


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"WARC/1.0\r\nWARC-Type: warcinfo\r\n", "a WARC archive"),
        (gzip.compress(b"WARC/1.0\r\n" * 99, mtime=0), "a WARC archive"),
        (b'{"url": "x", "html": "<p>x"}\n', "JSON data"),
        (b'\xef\xbb\xbf[\n  {"html": "<p>x"}]', "JSON data"),
        (b"PAR1\x15\x04", "a Parquet file"),
    ],
)
def test_collections_of_pages_are_refused_and_it_is_said_who_reads_them(data: bytes, words: str) -> None:
    message = f"^a.html: is {words}, not a web page; for collections of pages, use `mainmatter corpus`$"
    with pytest.raises(NotAPage, match=message):
        Input(write("a.html", data), Path("a.html")).read()


def test_text_may_begin_as_json_does() -> None:
    data = b'{"quoted": "words"}, said the page'
    assert Input(write("a.txt", data), Path("a.txt")).read().html == data
    assert Input(write("a.html", data), Path("a.html"), "text").read().html == data


def test_packed_page_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(b"<p>a", mtime=0) + gzip.compress(b"b", mtime=0) + bytes(100)
    assert Input(write("a.html.gz", packed), Path("a.html")).read() == Page(b"<p>ab", None, "a.html.gz")
    assert Input(write("a.TXT.gz", packed), Path("a.TXT")).read().format == "text"
    monkeypatch.setattr(sys, "stdin", _Stdin(packed))
    assert Input("-", Path("page")).read().html == b"<p>ab"
    (one,) = find_inputs(["a.html.gz"])
    assert one.relative == Path("a.html")


@pytest.mark.parametrize("zeros", [100, 65_536, 200_000])
def test_zeros_behind_a_packed_page_do_no_harm(zeros: int) -> None:
    packed = gzip.compress(b"<p>a", mtime=0) + bytes(zeros)
    assert Input(write("a.html.gz", packed), Path("a.html")).read().html == b"<p>a"
    packed += gzip.compress(b"b", mtime=0)
    assert Input(write("a.html.gz", packed), Path("a.html")).read().html == b"<p>ab"


def test_packed_page_is_unpacked_no_further_than_the_limits_allow() -> None:
    limits = Limits(size=1_000_000)
    bomb = gzip.compress(bytes(50_000_000), mtime=0)
    with pytest.raises(PageTooLarge, match=r"^a\.html\.gz has more than 1\.0 MB; raise the limit"):
        Input(write("a.html.gz", bomb), Path("a.html")).read(limits)
    assert len(inputs.page_bytes(bomb, "this", limits)) == limits.size + 1
    many = gzip.compress(b"", mtime=0) * 20_000
    with pytest.raises(InputError, match="is a gzip archive that cannot be unpacked: it has more than 10,000 members"):
        Input(write("many.html.gz", many), Path("many.html")).read(limits)
    noise = gzip.compress(random.Random(1).randbytes(2_000_000), mtime=0)  # cut while it is read
    with pytest.raises(PageTooLarge, match=r"^noise\.html\.gz has more than 1\.0 MB"):
        Input(write("noise.html.gz", noise), Path("noise.html")).read(limits)


@pytest.mark.parametrize("data", [gzip.compress(b"<p>x" * 100, mtime=0)[:-9], b"\x1f\x8b\x08 no gzip"])
def test_damaged_packed_page(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^a\.html\.gz: is a gzip archive that cannot be unpacked: "):
        Input(write("a.html.gz", data), Path("a.html")).read()


def test_nothing_but_a_page_comes_out_of_a_packed_file() -> None:
    with pytest.raises(InputError, match=r"^a\.gz: is a PDF document, not a web page; convert it"):
        Input(write("a.gz", gzip.compress(b"%PDF-1.7", mtime=0)), Path("a")).read()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.add(write("b.html"))
    with pytest.raises(InputError, match=r"^a\.tgz: is a tar archive, not a web page; unpack it first$"):
        Input(write("a.tgz", archive.getvalue()), Path("a")).read()


@pytest.mark.parametrize(
    "data", [b"", b"GIF", b"BZh is a name", b"PKs and FKs", b"\xff\xfe<\0p\0", b"\0\0", b"PAR1 and 2"]
)
def test_what_may_be_a_page_is_read(data: bytes) -> None:
    assert Input(write("a.html", data), Path("a.html")).read().html == data


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(b"<p>caf\xe9"))
    assert Input("-", Path("page")).read() == Page(b"<p>caf\xe9", None, "-")


def test_no_more_is_read_than_the_limits_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(size=1_000_000)
    data = b"x" * 1_000_000
    stdin = _Stdin(data + b"xyz")
    monkeypatch.setattr(sys, "stdin", stdin)
    message = " has more than 1.0 MB; raise the limit with Limits(size=...) or --max-size"
    with pytest.raises(PageTooLarge, match=f"^-{re.escape(message)}$"):
        Input("-", Path("page")).read(limits)
    assert stdin.buffer.read() == b"yz"
    assert Input(write("just.html", data), Path("just.html")).read(limits).html == data
    with pytest.raises(PageTooLarge, match=f"^over.html{re.escape(message)}$"):
        Input(write("over.html", data + b"x"), Path("over.html")).read(limits)


def test_file_that_cannot_be_read_says_why() -> None:
    Path("link.html").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"^link\.html: cannot be read: No such file or directory$"):
        Input("link.html", Path("link.html")).read()
    Path("folder.html").mkdir()
    with pytest.raises(InputError, match=r"^folder\.html: cannot be read: Is a directory$"):
        Input("folder.html", Path("folder.html")).read()
