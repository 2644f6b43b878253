"""From what users name to pages."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
from pathlib import Path

import pytest

from mainmatter import inputs
from mainmatter.errors import InputError, PageTooLarge
from mainmatter.inputs import Input, find_inputs
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
    for name in ("b.HTML", "a.htm", "sub/c.php", "sub/d.txt", "e.pdf", "f", "sub/g.css"):
        write(f"site/{name}")
    Path("site/folder.html").mkdir()
    found = find_inputs(["site"])
    assert [one.name for one in found] == ["site/a.htm", "site/b.HTML", "site/sub/c.php", "site/sub/d.txt"]
    assert [str(one.relative) for one in found] == ["a.htm", "b.HTML", "sub/c.php", "sub/d.txt"]


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
    monkeypatch.setattr(inputs, "fetch", lambda url, limits: Page(b"<p>x", url, url))
    assert Input(url, Path("notes.txt"), chosen).read().format == expected


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        (gzip.compress(b"<p>x", mtime=0), "a gzip archive"),
        (bz2.compress(b"<p>x"), "a bzip2 archive"),
        (lzma.compress(b"<p>x"), "an xz archive"),
        (b"PK\3\4\x14\0", "a ZIP archive or an Office document"),
    ],
)
def test_what_is_no_page_is_refused(data: bytes, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data += bytes(100)
    monkeypatch.setattr(sys, "stdin", _Stdin(data))
    for name in (write("a.html", data), write("a.txt", data), "-"):
        with pytest.raises(InputError, match=f"^{name}: is {words}, not a web page$"):
            Input(name, Path(name)).read(Limits(size=50))  # also where it is too large


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
