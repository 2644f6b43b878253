"""`mainmatter clean`, when something goes wrong: what is said, what goes on, and the exit code."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from clean_calls import RIVER, clean, mainmatter, texts, write_site


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a small site in it."""
    monkeypatch.chdir(tmp_path)
    return write_site(tmp_path)


def test_missing_file(folder: Path) -> None:
    result = clean("nope.html")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: nope.html: no such file or folder\n"


def test_empty_name(folder: Path) -> None:
    result = clean("")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: an input's name is empty; name a file")


def test_without_any_result_an_earlier_file_stays(folder: Path) -> None:
    Path("all.jsonl").write_text("earlier\n")
    for name in ("a.html", "b.html"):
        Path(name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    result = clean("a.html", "b.html", "-o", "all.jsonl")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, "0 of 2 pages cleaned, 2 failed")
    assert Path("all.jsonl").read_text() == "earlier\n"


def test_picture_among_pages(folder: Path) -> None:
    Path("site/map.html").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    result = clean("site", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: site/map.html: is a PNG picture, not a web page; give HTML, or a plain-text dump of a page\n"
        "2 of 3 pages cleaned, 1 failed, written to out\n"
    )


def test_no_file_of_a_folder_is_lost_without_a_word(folder: Path) -> None:
    (folder / "site" / "river.html").rename("site/river")
    Path("site/map.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    Path("site/notes.md").write_text("# Notes")
    result = clean("site", "-o", "out")
    assert result.exit_code == 0
    assert result.stderr == (
        "2 of 2 pages cleaned, written to out\n"
        "2 files were skipped, by ending or content neither page nor text dump: 1 .md, 1 .png\n"
    )
    assert (folder / "out" / "river.txt").read_text() == RIVER
    Path("site/broken.html").symlink_to("nowhere")
    result = clean("site", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "Error: site/broken.html: cannot be read: No such file or directory\n2 of 3 pages cleaned, 1 failed"
    )


def test_links_in_a_folder_are_counted_and_not_followed(folder: Path) -> None:
    Path("site/river.html").rename("elsewhere.html")
    Path("site/link.html").symlink_to("../elsewhere.html")
    result = clean("site", "-o", "out")
    assert result.exit_code == 0
    assert result.stderr.endswith("1 link to files was not followed; --follow-links follows them, wherever they lead\n")
    assert not (folder / "out" / "link.txt").exists()
    assert clean("site", "-o", "out", "--follow-links").exit_code == 0
    assert (folder / "out" / "link.txt").read_text() == RIVER


def test_packed_page(folder: Path) -> None:
    Path("river.html.gz").write_bytes(gzip.compress(Path("site/river.html").read_bytes()))
    assert clean("river.html.gz").output == RIVER
    assert clean("river.html.gz", "-o", "out/").exit_code == 0
    assert texts(folder / "out") == {"river.txt": RIVER}


def test_small_limits_are_told_in_bytes(folder: Path) -> None:
    result = clean("site/river.html", "--max-size", "0.0001")
    assert result.stderr == (
        "Error: site/river.html has more than 100 bytes; raise the limit with Limits(size=...) or --max-size\n"
    )


def test_folder_without_pages(folder: Path) -> None:
    Path("bare").mkdir()
    result = clean("bare")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: bare: holds no page; looked for files that end in .asp")


def test_one_bad_page_does_not_stop_the_others(folder: Path) -> None:
    Path("site/big.html").write_bytes(b"<p>" + b"x" * 2_000_000)
    result = clean("site", "--max-size", "1", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: site/big.html has more than 1.0 MB; raise the limit with Limits(size=...) or --max-size\n"
        "2 of 3 pages cleaned, 1 failed, written to out\n"
    )
    assert sorted(texts(folder)) == ["out/old/dump.txt", "out/river.txt"]


def test_url_that_cannot_be_reached_among_others(folder: Path) -> None:
    result = clean("http://127.0.0.1:1/x", "site/river.html", "--allow-private")
    assert result.exit_code == 1
    assert result.stdout == f"==> site/river.html <==\n{RIVER}"
    assert result.stderr.splitlines()[0].startswith("Error: http://127.0.0.1:1/x: could not be fetched: ")
    assert result.stderr.splitlines()[1] == "1 of 2 pages cleaned, 1 failed"


def test_page_with_an_unforeseen_error_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise KeyError("x: y")

    monkeypatch.setattr("mainmatter.cli.clean.clean", fail)
    result = clean("site/river.html")
    assert result.exit_code == 1
    assert result.stderr == "Error: site/river.html: KeyError: 'x: y'\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-m", "densty"), "Error: unknown method 'densty'; did you mean 'density'?\n"),
        (
            ("-m", "density:c3=1"),
            "Error: method 'density' has no parameter 'c3'; it has: c1, c2, strings, smoothing, edge\n",
        ),
        (("-m", "density:c1"), "Error: method 'density': 'c1' is not of the form NAME=VALUE\n"),
        (("-m", "density:=1"), "Error: method 'density': '=1' is not of the form NAME=VALUE\n"),
        (("-m", "density:c1=abc"), "Error: method 'density': c1 must be a number, not 'abc'\n"),
    ],
)
def test_choices_that_do_not_exist_are_named_before_any_work(args: tuple[str, ...], message: str, folder: Path) -> None:
    result = mainmatter("clean", "site", "-o", "out", *args)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", message)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "Missing argument 'INPUT...'."),
        (
            ("site", "--format", "docx"),
            "'docx' is not one of 'cleaneval', 'html', 'json', 'jsonl', 'markdown', 'tei', 'text'",
        ),
        (("site", "-f", "docx"), "'tei', 'text'.\n"),
        (("site", "-f", "markdwon"), "'text'; did you mean 'markdown'?\n"),
        (("site", "-f", "md"), "; did you mean 'markdown'?\n"),
        (("site", "-f", "TXT"), "; did you mean 'text'?\n"),
        (("site", "-f", "xml"), "; did you mean 'tei'?\n"),
        (("site", "--with", "caption"), "; did you mean 'captions'?\n"),
        (("site", "--no-links"), "--no-links does not go with the format text; it is for: markdown\n"),
        (("site", "--links"), "--links does not go with the format text; it is for: markdown\n"),
        (("site", "-f", "tei", "--no-tables"), "--no-tables does not go with the format tei; it is for: markdown\n"),
        (("site", "-f", "html", "--heading-style", "atx"), "--heading-style does not go with the format html; "),
        (("site", "-f", "json", "--front-matter"), "--front-matter does not go with the format json; "),
        (("site", "-f", "cleaneval", "--images"), "the format cleaneval; it is for: markdown, html, tei\n"),
        (("site", "--no-blocks"), "--no-blocks does not go with the format text; it is for: json, jsonl\n"),
        (("site/river.html", "-o", "x.md", "--chunks", "9"), "the format markdown; it is for: text, json, jsonl\n"),
        (
            ("site", "--url", "https://a.example/"),
            "there are 2 pages, and they cannot all come from https://a.example/",
        ),
        (("site", "--workers", "0"), "0 is not in the range x>=1."),
        (("site", "--max-size", "0"), "0.0 is not in the range x>0."),
        (("site", "--input-format", "pdf"), "'pdf' is not one of 'html', 'text'"),
        (("site", "--nope"), "No such option"),
    ],
)
def test_wrong_use_exits_with_2(args: tuple[str, ...], message: str, folder: Path) -> None:
    result = mainmatter("clean", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: mainmatter clean [OPTIONS] INPUT...\n")
    assert message in result.stderr
