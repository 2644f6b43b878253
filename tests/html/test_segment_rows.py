"""Rows of data are one block each, cells of layout tables are texts of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mainmatter.html.parse import parse
from mainmatter.html.segment import segment
from mainmatter.records import Kind

if TYPE_CHECKING:
    from mainmatter.html.segment import Segments

ROW, TEXT = Kind.TABLE_ROW, Kind.PARAGRAPH


def read(rows: str) -> Segments:
    return segment(parse(f"<table>{rows}</table>"))


def kinds(rows: str) -> list[tuple[Kind, str]]:
    found = read(rows).columns
    return list(zip(found.kinds, found.texts, strict=True))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><th>Name<th>Age<tr><td>Ada<td>36", [(ROW, "Name\tAge"), (ROW, "Ada\t36")]),
        ("<thead><tr><th>a<th>b</thead><tbody><tr><td>c<td>d</tbody>", [(ROW, "a\tb"), (ROW, "c\td")]),
        ("<tr><td>some <b>bold</b><td><a href=x>link</a>", [(ROW, "some bold\tlink")]),
        ("<tr><td>one<br>line<td>two", [(ROW, "one\nline\ttwo")]),
        # An empty cell leaves no block; what is left of the row is still one block of data.
        ("<tr><td>first<td><td>third", [(ROW, "first\tthird")]),
        ("<tr><td>first<td>", [(ROW, "first")]),
        ("<tr><td>lonely", [(TEXT, "lonely")]),
        ("<tr><td colspan=2>wide", [(TEXT, "wide")]),
        ("<tr><td><p>left column</p><td>right", [(TEXT, "left column"), (TEXT, "right")]),
        ("<tr><td>a<div>b</div><td>c", [(TEXT, "a"), (TEXT, "b"), (TEXT, "c")]),
        ("<tr><td>a<br><br>b<td>c", [(TEXT, "a"), (TEXT, "b"), (TEXT, "c")]),
        # A block inside of a link inside of a cell is not the cell's own.
        ("<tr><td><a href=x><div>b</div></a><td>c", [(TEXT, "b"), (ROW, "c")]),
        ("<tr><td>a<td>b<tr><td><p>c</p><td>d<tr><td>e", [(ROW, "a\tb"), (TEXT, "c"), (TEXT, "d"), (TEXT, "e")]),
        ("<caption>About</caption><tr><td>a<td>b", [(Kind.CAPTION, "About"), (ROW, "a\tb")]),
    ],
)
def test_rows(rows: str, expected: list[tuple[Kind, str]]) -> None:
    assert kinds(rows) == expected


def test_a_table_in_a_table() -> None:
    html = "<tr><td>a<table><tr><td>i<td>j</table>b<td>c"
    assert kinds(html) == [(TEXT, "a"), (ROW, "i\tj"), (TEXT, "b"), (TEXT, "c")]


def test_a_row_knows_its_place_its_links_and_its_nodes() -> None:
    segments = read("<tr><td><a href=x>one</a><td>two<td><a href=y>three</a> <b>four</b>")
    assert segments.columns.texts == ["one\ttwo\tthree four"]
    assert segments.columns.link_chars == [8]
    assert segments.columns.link_counts == [2]
    assert segments.columns.positions == [6]  # html, body, table, tbody, tr, td
    assert [element.tag for element in segments.elements if element is not None] == ["tr"]
    assert [node.data for node in segments.text_nodes(0)] == ["one", "two", "three", "four"]


def test_a_page_without_tables_is_left_alone() -> None:
    segments = segment(parse("<p>a</p><ul><li>b</ul>"))
    assert segments.columns.kinds == [Kind.PARAGRAPH, Kind.LIST_ITEM]


def test_rows_of_data_between_other_blocks() -> None:
    segments = segment(parse("<p>x</p><table><tr><td>a<td>b</table><p>y</p><table><tr><td>c<td>d</table><p>z"))
    assert segments.columns.texts == ["x", "a\tb", "y", "c\td", "z"]
    assert segments.columns.kinds == [TEXT, ROW, TEXT, ROW, TEXT]
    columns = (segments.elements, segments.first_nodes, segments.end_nodes, segments.columns.texts)
    assert len({len(column) for column in columns}) == 1


def test_a_row_of_which_one_cell_has_text_stays_that_cell() -> None:
    (element,) = read("<tr><td>first<td>").elements
    assert element is not None
    assert element.tag == "td"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><td>lonely", [(TEXT, "lonely")]),
        ("<tr><td>lonely<tr><td>a<td>b", [(TEXT, "lonely"), (ROW, "a\tb")]),
        ("<tr><td>lonely<b><div>x</div></b>", [(TEXT, "lonely"), (TEXT, "x")]),
        ("<tr><td>a<b><div>x</div></b><td>b", [(ROW, "a"), (TEXT, "x"), (ROW, "b")]),
    ],
)
def test_one_cell_is_no_row_of_data(rows: str, expected: list[tuple[Kind, str]]) -> None:
    assert kinds(rows) == expected
