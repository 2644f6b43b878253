"""`mainmatter clean`, through the command line."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clean_calls import FERRY, FIRST, HEADING, PAGES, RIVER, SECOND, clean, mainmatter, texts, write_site
from mainmatter.registry import FORMATS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a small site in it."""
    monkeypatch.chdir(tmp_path)
    return write_site(tmp_path)


# What is printed


def test_text_goes_to_standard_output_and_nothing_to_standard_error(folder: Path) -> None:
    result = clean("site/river.html")
    assert (result.exit_code, result.stdout, result.stderr) == (0, RIVER, "")


def test_cleaneval_markup(folder: Path) -> None:
    assert clean("site/river.html", "-f", "cleaneval").stdout == f"<h> {HEADING}\n<p> {FIRST}\n<p> {SECOND}\n"


def test_markdown_with_and_without_links(folder: Path) -> None:
    with_links = FIRST.replace("the village", "[the village](/village)")
    assert clean("site/river.html", "-f", "markdown").stdout == f"# {HEADING}\n\n{with_links}\n\n{SECOND}\n"
    assert clean("site/river.html", "-f", "markdown", "--no-links").stdout == f"# {HEADING}\n\n{FIRST}\n\n{SECOND}\n"


def test_headings_tables_and_front_matter_of_markdown(folder: Path) -> None:
    setext = clean("site/river.html", "-f", "markdown", "--heading-style", "setext", "--no-links").stdout
    assert setext == f"{HEADING}\n{'=' * len(HEADING)}\n\n{FIRST}\n\n{SECOND}\n"
    front = clean("site/river.html", "-f", "markdown", "--front-matter", "--url", "https://e.example/").stdout
    assert front.startswith("---\ntitle: ")
    assert '\nurl: "https://e.example/"\n' in front
    page = "<h1>Prices</h1><p>All of them, in a table:</p><table><tr><th>Boat<th>Price<tr><td>Red<td>5</table>"
    (folder / "table.html").write_text(page, "utf-8")
    table = clean("table.html", "-f", "markdown", "-m", "ice-baseline", "--no-tables").stdout
    assert table.endswith("Boat | Price\\\nRed | 5\n")


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("a.md", "markdown"),
        ("a.markdown", "markdown"),
        ("a.HTML", "html"),
        ("a.htm", "html"),
        ("a.json", "json"),
        ("a.jsonl", "jsonl"),
        ("a.xml", "tei"),
        ("a.txt", "text"),
        ("a.cleaneval.txt", "cleaneval"),
        ("a.out", "text"),
        ("md", "text"),
    ],
)
def test_the_ending_of_the_output_tells_the_format(name: str, format_: str, folder: Path) -> None:
    assert clean("site/river.html", "-o", name).exit_code == 0
    assert Path(name).read_text("utf-8") == clean("site/river.html", "-f", format_).stdout


def test_the_ending_tells_nothing_if_the_format_is_given_or_a_folder_is_meant(folder: Path) -> None:
    clean("site/river.html", "-f", "text", "-o", "a.md")
    assert Path("a.md").read_text("utf-8") == RIVER
    for arguments in (("site/river.html", "-o", "b.md/"), ("site", "-o", "b.md")):
        clean(*arguments)
        assert Path("b.md/river.txt").read_text("utf-8") == RIVER
    clean("site", "-o", "all.jsonl")
    assert Path("all.jsonl").read_text("utf-8") == clean("site", "-f", "jsonl").stdout
    clean("site/river.html", "--chunks", "20", "-o", "chunks.jsonl")
    assert Path("chunks.jsonl").read_text("utf-8") == clean("site/river.html", "--chunks", "20").stdout


def test_url_makes_links_absolute(folder: Path) -> None:
    result = clean("site/river.html", "-f", "markdown", "--url", "https://news.example/today/")
    assert "[the village](https://news.example/village)" in result.stdout


def test_images_are_kept_if_asked(folder: Path) -> None:
    assert "mill.jpg" not in clean("site/river.html", "-f", "html").stdout
    assert '<img src="mill.jpg" alt="The mill">' in clean("site/river.html", "-f", "html", "--images").stdout


def test_chunks_are_json_lines_with_their_places(folder: Path) -> None:
    lines = clean("site/river.html", "--chunks", "20").stdout.splitlines()
    chunks = [json.loads(line) for line in lines]
    assert [chunk["chunk"] for chunk in chunks] == list(range(len(chunks)))
    assert list(chunks[0]) == "id url chunk text start end headings blocks xpaths tokens".split()
    assert {chunk["id"] for chunk in chunks} == {"site/river.html"}
    assert {tuple(chunk["headings"]) for chunk in chunks} == {(HEADING,)}
    text = clean("site/river.html").stdout
    assert [text[chunk["start"] : chunk["end"]] for chunk in chunks] == [chunk["text"] for chunk in chunks]
    overlapping = clean("site/river.html", "--chunks", "20", "--overlap", "5").stdout.splitlines()
    assert len(overlapping) >= len(lines)


def test_chunks_of_several_pages_and_of_none(folder: Path) -> None:
    Path("empty.html").write_text("")
    result = clean("empty.html", "site", "--chunks", "500")
    assert [json.loads(line)["chunk"] for line in result.stdout.splitlines()] == [0, 0]
    assert clean("empty.html", "--chunks", "500").stdout == ""
    clean("site", "--chunks", "500", "-o", "out")
    assert json.loads(Path("out/river.jsonl").read_text())["headings"] == [HEADING]


def test_json_with_chunks(folder: Path) -> None:
    found = json.loads(clean("site/river.html", "-f", "json", "--chunks", "20").stdout)
    assert [found["text"][chunk["start"] : chunk["end"]] for chunk in found["chunks"]] == [
        chunk["text"] for chunk in found["chunks"]
    ]
    assert "chunks" not in json.loads(clean("site/river.html", "-f", "json").stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--overlap", "5"), "--overlap is for chunks; give --chunks, too"),
        (("--chunks", "5", "--overlap", "5"), "--overlap must be less than --chunks, which is 5"),
        (("--chunks", "5", "-f", "tei"), "--chunks does not go with the format tei; it is for: text, json, jsonl"),
        (("--chunks", "0"), "0 is not in the range"),
    ],
)
def test_options_of_chunks_that_make_no_sense(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    result = clean("site/river.html", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_json_holds_metadata_and_every_block(folder: Path) -> None:
    found = json.loads(clean("site/river.html", "-f", "json", "--url", "https://news.example/river").stdout)
    assert found["id"] == "site/river.html"
    assert found["url"] == "https://news.example/river"
    assert found["metadata"]["author"] == "Ann Lee"
    assert [block["kept"] for block in found["blocks"]] == [False, False, True, True, True, False, False]


def test_tei_is_xml(folder: Path) -> None:
    root = ElementTree.fromstring(clean("site/river.html", "-f", "tei").stdout)
    assert root.tag == "{http://www.tei-c.org/ns/1.0}TEI"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_ends_with_one_newline(name: str, folder: Path) -> None:
    printed = clean("site/river.html", "-f", name).stdout
    clean("site/river.html", "-f", name, "-o", "written")
    assert printed.endswith("\n")
    assert not printed.endswith("\n\n")
    assert Path("written").read_text(encoding="utf-8") == printed


def test_page_without_text_is_cleaned_to_nothing(folder: Path) -> None:
    Path("empty.html").touch()
    result = clean("empty.html")
    assert (result.exit_code, result.stdout) == (0, "\n")


# What is read


def test_standard_input(folder: Path) -> None:
    result = clean("-", input=(PAGES / "river.html").read_bytes())
    assert (result.exit_code, result.stdout) == (0, RIVER)


def test_encoding_of_standard_input_is_found_as_browsers_do() -> None:
    result = mainmatter("clean", "-m", "ice-baseline", "-", input='<meta charset="latin-1"><p>Café'.encode("latin-1"))
    assert result.stdout == "Café\n"


def test_dump_is_told_by_its_ending(folder: Path) -> None:
    result = mainmatter("clean", "-m", "ice-baseline", "site/old/dump.txt", "-f", "cleaneval")
    assert result.stdout == f"<p> Home | About | Contact\n<p> {FERRY}\n<p> Copyright\n"


def test_input_format_overrides_the_ending(folder: Path) -> None:
    dump = (PAGES / "dump.txt").read_bytes()
    as_text = mainmatter("clean", "-m", "ice-baseline", "-", "--input-format", "text", "-f", "cleaneval", input=dump)
    as_html = mainmatter(
        "clean", "-m", "ice-baseline", "site/old/dump.txt", "--input-format", "html", "-f", "cleaneval"
    )
    assert as_text.stdout == f"<p> Home | About | Contact\n<p> {FERRY}\n<p> Copyright\n"
    assert as_html.stdout == f"<p> Home | About | Contact {FERRY} Copyright\n"


def test_several_inputs_are_told_apart(folder: Path) -> None:
    result = mainmatter("clean", "-m", "density", "site")
    assert result.stdout == f"==> site/old/dump.txt <==\n{FERRY}\n==> site/river.html <==\n{FIRST}\n\n{SECOND}\n"
    assert result.stderr == "2 of 2 pages cleaned\n"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_json_of_several_pages_is_one_object_a_line(workers: str, folder: Path) -> None:
    result = mainmatter("clean", "-m", "density", "site", "-f", "json", "-j", workers)
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    assert [found["id"] for found in objects] == ["site/old/dump.txt", "site/river.html"]
    assert objects[1] == json.loads(mainmatter("clean", "-m", "density", "site/river.html", "-f", "json").stdout)
    assert result.stderr == "2 of 2 pages cleaned\n"


def test_json_of_a_folder_with_one_page_is_one_line_too(folder: Path) -> None:
    assert len(clean("site/old", "-f", "json").stdout.splitlines()) == 1
    assert len(clean("site/old/dump.txt", "-f", "json").stdout.splitlines()) > 1


def test_blocks_can_be_left_out_of_json(folder: Path) -> None:
    whole = json.loads(clean("site/river.html", "-f", "json").stdout)
    without = json.loads(clean("site/river.html", "-f", "json", "--no-blocks").stdout)
    assert without == {name: value for name, value in whole.items() if name != "blocks"}
    lines = [json.loads(line) for line in clean("site", "-f", "json", "--no-blocks").stdout.splitlines()]
    assert lines[1] == without


def test_json_lines_have_a_line_a_page_without_blocks_unless_asked(folder: Path) -> None:
    without = clean("site/river.html", "-f", "json", "--no-blocks").stdout
    assert [json.loads(line) for line in clean("site/river.html", "-f", "jsonl").stdout.splitlines()] == [
        json.loads(without)
    ]
    several = clean("site", "-f", "jsonl").stdout
    assert several.splitlines()[1] == clean("site/river.html", "-f", "jsonl").stdout.strip()
    assert clean("site", "-f", "jsonl", "--blocks").stdout == clean("site", "-f", "json").stdout
    assert "chunks" in json.loads(clean("site/river.html", "-f", "jsonl", "--chunks", "20").stdout)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_json_lines_of_all_pages_go_to_one_file(workers: str, folder: Path) -> None:
    printed = clean("site", "-f", "jsonl").stdout
    result = clean("site", "-f", "jsonl", "-o", "new/all.jsonl", "-j", workers)
    assert result.stderr == "2 of 2 pages cleaned, written to new/all.jsonl\n"
    assert Path("new/all.jsonl").read_text("utf-8") == printed
    assert [file.name for file in Path("new").iterdir()] == ["all.jsonl"]
    clean("site", "-f", "jsonl", "-o", "new/")  # a folder: one file a page
    assert Path("new/river.jsonl").read_text("utf-8") == printed.splitlines(keepends=True)[1]


def test_a_page_that_fails_is_left_out_of_the_file_of_all(folder: Path) -> None:
    Path("site/picture.html").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    result = clean("site", "-f", "jsonl", "-o", "all.jsonl")
    assert result.exit_code == 1
    assert "1 failed" in result.stderr
    assert len(Path("all.jsonl").read_text("utf-8").splitlines()) == 2


def test_no_file_of_all_pages_where_it_cannot_be_written(folder: Path) -> None:
    Path("taken").mkdir()
    Path("taken/all.jsonl").mkdir()
    Path("taken/all.jsonl/x").touch()
    result = clean("site", "-f", "jsonl", "-o", "taken/all.jsonl")  # a folder, so one file a page
    assert result.exit_code == 0
    Path("file").write_text("x")
    result = clean("site", "-f", "jsonl", "-o", "file/all.jsonl")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.stderr
    result = clean("site", "-f", "jsonl", "-o", "site/river.html")
    assert "is an input, and would be overwritten" in result.stderr


def test_json_in_files_is_for_people(folder: Path) -> None:
    clean("site", "-f", "json", "-o", "out")
    assert Path("out/river.json").read_text("utf-8") == clean("site/river.html", "-f", "json").stdout


def test_processes_give_what_one_gives_and_in_order(folder: Path) -> None:
    for number in range(40):
        Path(f"site/{number:02}.html").write_text(f"<p>{number}</p>", encoding="utf-8")
    one = mainmatter("clean", "-m", "ice-baseline", "site", "-j", "1")
    two = mainmatter("clean", "-m", "ice-baseline", "site", "-j", "2")
    assert one.stdout == two.stdout
    assert one.stdout.startswith("==> site/00.html <==\n0\n==> site/01.html <==\n1\n")


# How it decides


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("density", f"{FIRST}\n\n{SECOND}\n"),
        ("density:c1=0.99", f"{SECOND}\n"),
        ("density:c2=1", f"{SECOND}\n"),
        ("density: c1 = 0.5 , c2=2", f"{FIRST}\n\n{SECOND}\n"),
    ],
)
def test_parameters_reach_the_method(method: str, expected: str, folder: Path) -> None:
    assert mainmatter("clean", "-m", method, "site/river.html").stdout == expected


# Where results go


def test_output_to_a_file(folder: Path) -> None:
    result = clean("site/river.html", "-o", "new/river.txt")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert texts(folder) == {"new/river.txt": RIVER}


def test_output_of_one_file_to_a_folder_that_exists(folder: Path) -> None:
    Path("out").mkdir()
    clean("site/river.html", "-o", "out", "-f", "markdown")
    assert list(texts(folder)) == ["out/river.md"]


def test_output_of_a_folder_mirrors_it(folder: Path) -> None:
    result = clean("site", "-o", "out")
    assert result.stdout == ""
    assert result.stderr == "2 of 2 pages cleaned, written to out\n"
    assert texts(folder) == {"out/river.txt": RIVER, "out/old/dump.txt": f"Home | About | Contact\n\n{FERRY}\n"}


def test_folder_with_one_page_is_still_a_folder(folder: Path) -> None:
    clean("site/old", "-o", "out")
    assert list(texts(folder)) == ["out/dump.txt"]


def test_no_result_overwrites_another(folder: Path) -> None:
    for name in ("a", "b", "c", "d"):
        Path(name).mkdir()
        Path(name, "page.html").write_text(f"<p>{name}</p>", encoding="utf-8")
    Path("a/page.htm").write_text("<p>htm</p>", encoding="utf-8")
    mainmatter("clean", "-m", "ice-baseline", "a", "b", "c", "d", "-o", "out")
    written = [text for name, text in texts(folder).items() if name.startswith("out")]
    assert sorted(written) == ["a\n", "b\n", "c\n", "d\n", "htm\n"]


@pytest.mark.parametrize(
    "args", [("river.html", "-o", "river.html"), (".", "-f", "html", "-o", "."), (".", "-o", "../site")]
)
def test_no_result_overwrites_an_input(args: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "site")
    result = clean(*args)
    assert result.exit_code == 2
    assert "is an input, and would be overwritten" in result.stderr
    assert Path("river.html").read_bytes() == (PAGES / "river.html").read_bytes()
    assert Path("old/dump.txt").read_bytes() == (PAGES / "dump.txt").read_bytes()


def test_file_cannot_take_several_results(folder: Path) -> None:
    Path("taken.txt").write_text("mine", encoding="utf-8")
    result = clean("site", "-o", "taken.txt")
    assert result.exit_code == 2
    assert "taken.txt is a file, and a folder is needed" in result.stderr
    assert Path("taken.txt").read_text(encoding="utf-8") == "mine"


def test_output_that_cannot_be_written(folder: Path) -> None:
    result = clean("site/river.html", "-o", "site/river.html/below.txt")
    assert result.exit_code == 1
    assert result.stderr == "Error: site/river.html: cannot be written: site/river.html: File exists\n"


def test_output_that_ends_in_a_slash_is_a_folder(folder: Path) -> None:
    result = clean("site/river.html", "-o", "new/folder/")
    assert (result.exit_code, result.stderr) == (0, "")
    assert texts(folder) == {"new/folder/river.txt": RIVER}


def test_file_is_no_folder(folder: Path) -> None:
    Path("taken.txt").touch()
    result = clean("site/river.html", "-o", "taken.txt/")
    assert result.exit_code == 2
    assert "taken.txt is a file, and a folder is needed" in result.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_result_that_cannot_be_written_does_not_stop_the_others(workers: str, folder: Path) -> None:
    Path("out/old/dump.txt").mkdir(parents=True)
    result = mainmatter("clean", "-m", "ice-heuristic", "site", "-o", "out", "-j", workers)
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: site/old/dump.txt: cannot be written: out/old/dump.txt: Is a directory\n"
        "1 of 2 pages cleaned, 1 failed, written to out\n"
    )
    assert texts(folder) == {"out/river.txt": RIVER}


class FullDisk(io.BytesIO):
    """A file that holds half of what is written to it."""

    def write(self, data: Any) -> int:
        super().write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    open_ = Path.open

    def open_full(path: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
        if "w" not in mode:
            return open_(path, mode, *args, **options)
        path.touch()
        return FullDisk()

    monkeypatch.setattr(Path, "open", open_full)


def test_full_disk_leaves_no_half_of_a_result(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("out").mkdir()
    Path("out/river.txt").write_text("of an earlier run", encoding="utf-8")
    with monkeypatch.context() as context:
        fill_disk(context)
        result = clean("site/river.html", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr == "Error: site/river.html: cannot be written: out/river.txt: No space left on device\n"
    assert texts(folder) == {"out/river.txt": "of an earlier run"}
    assert [path.name for path in Path("out").iterdir()] == ["river.txt"]


def test_full_disk_leaves_no_half_of_a_file_of_all_pages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("out").mkdir()
    Path("out/all.jsonl").write_text("of an earlier run", encoding="utf-8")
    with monkeypatch.context() as context:
        fill_disk(context)
        result = clean("site", "-f", "jsonl", "-o", "out/all.jsonl", "-j", "1")
    assert result.exit_code == 1
    assert "Error: out/all.jsonl: No space left on device\n" in result.stderr
    assert Path("out/all.jsonl").read_text("utf-8") == "of an earlier run"
    assert [path.name for path in Path("out").iterdir()] == ["all.jsonl"]


def test_name_that_is_not_utf_8(folder: Path) -> None:
    name = os.fsdecode(b"site/caf\xe9.html")
    shutil.copy("site/river.html", name)
    Path("out").mkdir()
    target = Path("out", os.fsdecode(b"caf\xe9.json"))

    as_json = clean("site", "-o", "out", "-f", "json")
    assert (as_json.exit_code, as_json.stderr) == (0, "3 of 3 pages cleaned, written to out\n")
    assert json.loads(target.read_text(encoding="utf-8"))["id"] == "site/caf\ufffd.html"

    as_text = clean(name, "site/old")
    assert as_text.exit_code == 0
    assert as_text.stdout.startswith(f"==> site/caf\ufffd.html <==\n{RIVER}==> ")
