"""Chunks (Template, section 3): what stands between two nearest table tags, or tags of any container."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mainmatter.api import read
from mainmatter.errors import InputError
from mainmatter.papers.template.chunks import UNITS, Chunks, check_unit, find_chunks, hash_text
from mainmatter.records import Document, Page
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES = """<body>before<table><tr><td>head<tr><td><table><tr><td>menu<tr><td>more</table>text<p>two</p>
    <table><tr><td>advert</table>rest</table>after"""
DIVS = """<body><header><p>Site</p><p>Slogan</p></header><nav><ul><li>Home<li>News</ul></nav>
    <div><h1>Title</h1><p>one</p><p>two</p></div><footer>© 2026</footer>"""


def texts_of(document: Document, chunks: Chunks) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in chunks.hashes]
    for text, number in zip(document.texts, chunks.of_block.tolist(), strict=True):
        found[number].append(text)
    return found


def split(html: str | Page, unit: str = "container") -> list[list[str]]:
    document = read(html if isinstance(html, Page) else Page(html))
    return texts_of(document, find_chunks(document, unit))  # type: ignore[arg-type]


def test_by_table_a_chunk_ends_at_every_tag_of_a_table() -> None:
    assert split(TABLES, "table") == [
        ["before"],
        ["head"],
        ["menu", "more"],
        ["text", "two"],
        ["advert"],
        ["rest"],
        ["after"],
    ]


def test_by_table_a_page_without_tables_is_one_chunk() -> None:
    assert len(split(DIVS, "table")) == 1


def test_by_table_image_maps_delimit_chunks_too() -> None:
    html = "<p>one</p><map name=m><area href=/></map><p>two</p><p>three</p><map><p>four</p></map><p>five</p>"
    assert split(html, "table") == [["one"], ["two", "three"], ["four"], ["five"]]
    assert split("<p>one <map><area></map> goes on</p><p>two</p>", "table") == [["one goes on"], ["two"]]
    assert split("<p>one</p><map></map>", "table") == [["one"]]


def test_by_container() -> None:
    assert split(DIVS) == [["Site", "Slogan"], ["Home", "News"], ["Title", "one", "two"], ["© 2026"]]
    assert split("<div>a<div>b</div>c</div>") == [["a"], ["b"], ["c"]]


def test_a_cell_is_a_container_if_it_is_there_for_layout() -> None:
    layout = "<table><tr><td><p>a</p><p>b</p></td><td><p>c</p><p>d</p></td></tr></table>"
    data = "<table><tr><td>a<td>b<tr><td>c<td>d</table>"
    assert split(layout) == [["a", "b"], ["c", "d"]]
    assert split(data) == [["a\tb", "c\td"]]


def test_by_block_and_in_dumps_each_block_is_a_chunk() -> None:
    assert split(DIVS, "block") == [[text] for text in read(Page(DIVS)).texts]
    dump = Page("One text.\n\nAnother text.\n\n* a\n* b", format="text")
    for unit in UNITS:
        assert split(dump, unit) == [[text] for text in read(dump).texts]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("html", ["", "x", TABLES, DIVS, "<table>" * 50 + "deep", "\ud800", "<map>" * 50 + "x"])
def test_chunks_cover_all_blocks_in_order(html: str, unit: str) -> None:
    document = read(Page(html))
    chunks = find_chunks(document, unit)  # type: ignore[arg-type]
    assert len(chunks.of_block) == len(document)
    assert len(chunks.starts) == len(chunks.hashes) == len(set(chunks.of_block.tolist()))
    assert (chunks.of_block[1:] - chunks.of_block[:-1] >= 0).all()
    assert chunks.of_block[chunks.starts].tolist() == list(range(len(chunks.starts)))


def test_a_hash_depends_on_the_text_alone_and_not_on_its_case_or_place() -> None:
    first = find_chunks(read(Page("<div>Home<p>News</div><div>x</div>")))
    second = find_chunks(read(Page("<p>y</p><nav class=n><span>HOME</span><p>news</p></nav>")))
    assert first.hashes[0] == second.hashes[1]
    assert len({*first.hashes.tolist(), *second.hashes.tolist()}) == 3


def test_hashes_are_the_same_in_every_process() -> None:
    code = "from mainmatter.papers.template.chunks import hash_text; print(hash_text('Größe'))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) == hash_text("Größe")


def test_joined_and_split_blocks_are_other_chunks() -> None:
    chunks = find_chunks(read(Page("<div><p>a</p><p>b</p></div><div><p>a b</p></div>")))
    assert chunks.hashes[0] != chunks.hashes[1]


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear(unit: str) -> None:
    def make(count: int) -> Callable[[], object]:
        document = read(Page("<div>x<map></map><table><tr><td>y</table></div>" * count))
        return lambda: find_chunks(document, unit)  # type: ignore[arg-type]

    assert_linear(make, 16_000)


def test_no_such_unit() -> None:
    with pytest.raises(InputError, match="unit must be table, container or block, not 'page'"):
        check_unit("template", "page")
