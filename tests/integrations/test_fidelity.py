"""`bench fidelity`: writers of Markdown measured on small pages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from bench import fidelity
from bench.__main__ import command as bench_command
from bench.fidelity import (
    WRITERS,
    FidelityResult,
    blocks_among,
    installed_writers,
    kept_html,
    measure_fidelity,
)
from mainmatter.errors import MissingExtra, UnknownName
from mainmatter.html.read import read_html
from mainmatter.lab.datasets import GoldPage
from mainmatter.records import Extraction, Gold, Page

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("mdit_py_plugins")

import numpy as np

TEXT = "The river rose again, and the people of the village carried what they had to the old church on the hill. "
HTML = f"""<html><head><title>The river</title></head><body><nav><a href=/>Home</a></nav><article><h1>The river</h1>
<p>{TEXT}<b>Nobody</b> was <a href="/hurt">hurt</a>. {TEXT}</p><p>{TEXT * 3}</p>
<ul><li>{TEXT}</li><li>{TEXT}</li></ul><p>{TEXT * 2}</p></article></body></html>"""
PAGE = GoldPage(Page(HTML, "https://news.example/river", "river"), Gold(), {})


def write(markdown: str) -> fidelity.Writer:
    return lambda extraction: (markdown, extraction)


def measure(*names: str) -> FidelityResult:
    [result] = measure_fidelity(names, "tiny", [PAGE])
    return result


@pytest.mark.parametrize("name", WRITERS)
def test_writer_on_a_simple_page(name: str) -> None:
    if name not in installed_writers():
        pytest.skip(f"{name} is not installed")
    result = measure(name)
    assert (result.pages, result.failures) == (1, [])
    assert result.counts["links"] == result.counts["strong"] == 1
    assert result.counts["list items"] == 2
    assert result.missed["list items"] == result.missed["strong"] == result.text["text lost"] == 0
    assert result.version[0].isdecimal()


def test_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    markdown = f"# The river\n\n{TEXT} Nobody was hurt. {TEXT}\n\n{TEXT * 2}\n\n- {TEXT}\n-\n\n<b>new</b>&nbsp;\n\n"
    monkeypatch.setitem(WRITERS, "mainmatter", write(markdown + TEXT * 5))
    result = measure("mainmatter")
    assert result.missed == {"strong": 1, "links": 1, "list items": 1}
    assert result.invented == {"strong": 1}
    assert result.share("strong") == 0
    assert result.share("list items") == 0.5
    assert result.share("formulas") is None
    assert result.text == {"text twice": len("".join(TEXT.split())) - len(",."), "text from nowhere": len("new")}
    assert result.raw_html == {"b": 1}
    expected = {"emphasis lost": 1, "all bold lost": 1, "empty list item": 1, "no-break space as an entity": 1}
    assert result.faults == result.pages_with_fault == expected
    assert ("river", "links", "hurt https://news.example/hurt") in result.misses


def test_heading_of_comments_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WRITERS, "mainmatter", lambda e: ("## Comments", replace(e, marks_comments=True)))
    assert not measure("mainmatter").invented
    monkeypatch.setitem(WRITERS, "mainmatter", write("## Comments"))
    assert measure("mainmatter").invented == {"headings": 1}


def test_writer_that_fails_loses_the_page_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(extraction: Extraction) -> tuple[str, Extraction]:
        raise RuntimeError("no")

    monkeypatch.setitem(WRITERS, "mainmatter", fail)
    result = measure("mainmatter")
    assert result.failures == [("river", "RuntimeError: no")]
    assert result.share("links") == 0


def test_kept_html_is_the_page_less_what_was_dropped() -> None:
    html = (
        "<body><div><img src=/logo.png><p>menu</p><svg><text>x</text></svg></div>"
        "<p>a <b>bold</b> <img src=/i.png> <a href=x>there</a>"
        "<script>no()</script></p><pre>\n  code\n</pre></body>"
    )
    document = read_html(Page(html, "https://site.example/"))
    kept = np.array([text != "menu" for text in document.texts], np.bool_)
    count = len(document)
    extraction = Extraction(document, "test", np.ones(count), kept, document.columns.kinds, [""] * count)
    assert kept_html(extraction) == (
        '<body><p>a <b>bold</b> <img src="https://site.example/i.png"> <a href="https://site.example/x">there</a></p>'
        "<pre>  code\n</pre></body>"
    )


def test_blocks_of_the_page_that_an_output_has() -> None:
    long = "a" * 20
    assert blocks_among([long, "short", "", "none"], [f"x{long}y", "short er", "short"]) == [True, True, False, False]
    near = ["Title", "x", "y", "z", "Title", "v", "w", "one"]
    assert blocks_among(near, ["Title", "one"]).index(True) == 4
    assert blocks_among([*near[:7], "u", "one"], ["Title", "one"]).index(True) == 0
    page = ["Title", "menu", "menu", "menu", "Title", "one", "two"]
    assert blocks_among(page, ["Title", "one", "two"]) == [False, False, False, False, True, True, True]


def test_trafilatura_is_judged_by_what_it_keeps() -> None:
    extraction = Extraction(
        document := read_html(PAGE.page), "test", np.ones(len(document)), np.ones(len(document), np.bool_), [], []
    )
    _, reference = fidelity.trafilatura(extraction)
    assert [text for text, kept in zip(document.texts, reference.kept, strict=True) if not kept] == ["Home"]


def test_names_that_are_unknown_or_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="pandoc"):
        measure_fidelity(["pandoc"], "tiny", [])
    monkeypatch.setattr(fidelity, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="markdownify"):
        measure_fidelity(["markdownify"], "tiny", [])


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("html", "gold"):
        (tmp_path / "tiny" / name).mkdir(parents=True)
    for number in range(4):
        (tmp_path / "tiny" / "html" / f"{number}.html").write_text(HTML, "utf-8")
        (tmp_path / "tiny" / "gold" / f"{number}.txt").write_text(TEXT, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(WRITERS, "mainmatter", write("# The river\n\n[hurt](/x)"))


@pytest.mark.usefixtures("tiny")
def test_command_writes_tables_and_lists_what_went_wrong(tmp_path: Path) -> None:
    arguments = ["fidelity", "mainmatter", "--on", "tiny", "--every", "2", "--pages", "1", "--show", "2"]
    result = CliRunner().invoke(bench_command, [*arguments, "--kind", "links", "-o", "out"])
    assert result.exit_code == 0, result.output
    assert "tiny, 1 pages: share that came through" in result.stdout
    assert "| links      |     0.0000 |  1 |" in result.stdout
    title, *lines = result.stdout.splitlines()[-3:]
    assert title == "mainmatter on tiny: the first 2 of 2"
    assert [line.split(":")[0] for line in lines] == ["  0  links", "  0  links, invented"]
    figures = json.loads((tmp_path / "out" / "fidelity.json").read_text("utf-8"))
    command = "python -m bench fidelity mainmatter --on tiny --every 2 --pages 1 --data DATA -o FOLDER"
    assert figures["command"] == command
    assert figures["results"][0]["missed"]["links"] == 1
    assert command in (tmp_path / "out" / "fidelity.md").read_text("utf-8")


@pytest.mark.usefixtures("tiny")
def test_command_on_chosen_pages() -> None:
    result = CliRunner().invoke(bench_command, ["fidelity", "mainmatter", "--on", "tiny", "--page", "1", "--page", "3"])
    assert "tiny, 2 pages" in result.stdout
    unknown = CliRunner().invoke(bench_command, ["fidelity", "mainmatter", "--on", "tiny", "--page", "9"])
    assert unknown.exit_code == 2
    assert "no page of tiny has the id 9" in unknown.output


@pytest.mark.usefixtures("tiny")
def test_command_says_that_nothing_went_wrong_and_knows_its_kinds() -> None:
    arguments = ["fidelity", "mainmatter", "--on", "tiny", "--pages", "1", "--show", "9"]
    assert (
        CliRunner()
        .invoke(bench_command, [*arguments, "--kind", "form"])
        .stdout.endswith("\nmainmatter on tiny: nothing went wrong\n")
    )
    unknown = CliRunner().invoke(bench_command, [*arguments, "--kind", "bold"])
    assert "unknown kind 'bold'" in unknown.output
