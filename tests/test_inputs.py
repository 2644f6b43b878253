"""From what users name to pages."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

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


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Stdin(b"<p>caf\xe9"))
    assert Input("-", Path("page")).read() == Page(b"<p>caf\xe9", None, "-")


def test_no_more_is_read_than_the_limits_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(size=1_000_000)
    data = b"x" * 1_000_000
    stdin = _Stdin(data + b"xyz")
    monkeypatch.setattr(sys, "stdin", stdin)
    message = " has more than 1.0 MB; raise the limit with --max-size"
    with pytest.raises(PageTooLarge, match=f"^-{message}$"):
        Input("-", Path("page")).read(limits)
    assert stdin.buffer.read() == b"yz"
    assert Input(write("just.html", data), Path("just.html")).read(limits).html == data
    with pytest.raises(PageTooLarge, match=f"^over.html{message}$"):
        Input(write("over.html", data + b"x"), Path("over.html")).read(limits)


def test_file_that_cannot_be_read_says_why() -> None:
    Path("link.html").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"^link\.html: cannot be read: No such file or directory$"):
        Input("link.html", Path("link.html")).read()
    Path("folder.html").mkdir()
    with pytest.raises(InputError, match=r"^folder\.html: cannot be read: Is a directory$"):
        Input("folder.html", Path("folder.html")).read()
