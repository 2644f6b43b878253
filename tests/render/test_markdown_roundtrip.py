"""Trees of content that hypothesis makes, written in each markup format and read again by parsers that are not ours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, assume, given, settings

from content_trees import any_lines, documents, line, lines_of_text, outline, read_markdown
from mainmatter.html.parse import parse
from mainmatter.render import html, markdown, tei
from mainmatter.render.content import Content
from mainmatter.render.markdown import to_markdown
from timing import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from content_trees import Outline

    Pieces = list[tuple[str, frozenset[str]]]

SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(SOME, max_examples=25)


def plain(pieces: Pieces) -> str:
    """The text of a line; code beside code is one, and so are spaces and breaks; a digit after a formula is apart."""
    text = "".join(text for text, _ in pieces).replace("\0\0code ", "")
    text = re.sub(r"(\0formula [^\0]*\0)(?=\d)", r"\1 ", text)
    return re.sub(r" ?\n[ \n]*", "\n", re.sub(" +", " ", text)).strip()


def marked(pieces: Pieces) -> list[tuple[str, frozenset[str]]]:
    """Letters, digits and what is no text, each with its marks: spaces and punctuation may stand outside of them."""
    units = [(unit, marks) for text, marks in pieces for unit in re.findall("\0[^\0]*\0|.", text, re.DOTALL)]
    return [(unit, marks) for unit, marks in units if unit.isalnum() or unit[0] == "\0"]


def written_line(nodes: list[Content | str]) -> tuple[Pieces, Pieces]:
    """What a paragraph holds, and what a parser finds in the Markdown of it."""
    expected = line(nodes)
    written = to_markdown(Content("document", [Content("paragraph", nodes)]))
    has_formula = "\0formula" in plain(expected)
    # The plugin for formulas looks for a backslash before the first character at the end of the line.
    assume(not (has_formula and written.endswith("\\")))
    [(kind, found)] = read_markdown(written, digits=has_formula)
    assert kind == "paragraph"
    return expected, found


@SOME
@given(lines_of_text)
def test_marks_around_text_come_back(nodes: list[Content | str]) -> None:
    assume(any(text.strip() for text, _ in line(nodes)))
    expected, found = written_line(nodes)
    assert plain(found) == plain(expected)
    for (unit, marks), (found_unit, found_marks) in zip(marked(expected), marked(found), strict=True):
        assert unit == found_unit
        assert found_marks <= marks
    if markdown._BRACKETS.keys().isdisjoint(plain(expected)):  # what is in brackets may be outside of its mark
        assert marked(found) == marked(expected)


@SOME
@given(any_lines)
def test_lines_come_back(nodes: list[Content | str]) -> None:
    """All text comes back, and no mark where there was none."""
    expected, found = written_line(nodes)
    assert plain(found) == plain(expected)
    assume("\0\0code" not in "".join(text for text, _ in expected))
    for (unit, marks), (found_unit, found_marks) in zip(marked(expected), marked(found), strict=True):
        assert unit == found_unit
        assert found_marks <= marks


def comparable(blocks: list[Outline]) -> list[Outline]:
    """Blocks with the text of their lines alone; neighbouring lists as one, where Markdown has one."""
    found: list[Outline] = []
    for block in blocks:
        kind: str = block[0]
        rest: Any
        match kind:
            case "paragraph" | "term" | "heading":
                rest = (*block[1:-1], plain(block[-1]).replace("\n", " "))
            case "list":
                items = [(*item[:2], comparable(item[2])) for item in block[2]]
                before = found[-1] if found and found[-1][0] == "list" else None
                if before and (block[1] == before[1] is None or block[1] == (before[1] or 0) + len(before[2])):
                    before[2].extend(items)
                    continue
                rest = block[1], items
            case "quote" | "definition" | "footnote":
                rest = (*block[1:-1], comparable(block[-1]))
            case "table":
                rest = block[1], [[plain(cell).replace("\n", " ") for cell in row] for row in block[2]]
            case _:
                rest = block[1:]
        found.append((kind, *rest))
    return found


@FEW
@given(documents)
def test_documents_come_back(document: Content) -> None:
    written = to_markdown(document)
    expected = comparable(outline(document))
    has_formula = "formula" in str(expected)
    assume(not (has_formula and re.search(r"\$\d|\\$", written, re.MULTILINE)))
    assert comparable(read_markdown(written, digits=has_formula)) == expected


def texts(node: Content | str) -> str:
    """All text below a node, without white space."""
    if isinstance(node, str):
        return "".join(node.split())
    if node.type == "image":
        return ""
    around = {"formula": ("\\[", "\\]") if node.display else ("\\(", "\\)")}.get(node.type, ("", ""))
    return "".join([around[0], *map(texts, node.children), around[1]])


HTML_TAGS = {"strong": "strong", "emphasis": "em", "strike": "del", "item": "li", "cell": "td, th",
             "quote": "blockquote", "code": "pre", "term": "dt", "definition": "dd",
             "row": "tr", "rule": "hr", "image": "img"}  # fmt: skip
TEI_TAGS = {"row": "row", "cell": "cell", "quote": "quote", "rule": "milestone", "image": "graphic",
            "formula": "formula", "term": "label"}  # fmt: skip


def count(node: Content, kind: str) -> int:
    return (node.type == kind) + sum(count(child, kind) for child in node.children if isinstance(child, Content))


@FEW
@given(documents)
def test_html_and_tei_have_the_same_structure(document: Content) -> None:
    written = html.write_tags(document, html._tags, html.escape_text)
    body = parse(f"<!doctype html><body>{written}").find("body")
    assert body is not None
    assert "".join(body.text.split()) == texts(document)
    for kind, tags in HTML_TAGS.items():
        assert len(body.select(tags)) == count(document, kind), kind
    root = ET.fromstring(f"<body>{html.write_tags(document, tei._tags, tei._escape_text, indent=1)}</body>")
    assert all(len(list(root.iter(tag))) == count(document, kind) for kind, tag in TEI_TAGS.items())
    assert len(list(root.iter("item"))) == count(document, "item") + count(document, "definition")


def nested(kind: Any, depth: int, node: Content | str) -> Content | str:
    for _ in range(depth):
        node = Content(kind, [node])
    return node


def nested_lists(depth: int) -> Content:
    node = Content("paragraph", ["x"])
    for _ in range(depth):
        node = Content("list", [Content("item", [Content("paragraph", ["y"]), node])])
    return node


def in_paragraph(*nodes: Content | str) -> Content:
    return Content("paragraph", [*nodes])


HOSTILE: dict[str, Callable[[int], Content]] = {
    "nested marks": lambda n: in_paragraph(nested("strong", n, "x")),
    "repeated marks": lambda n: in_paragraph(*(Content("strong" if i % 2 else "emphasis", ["a"]) for i in range(n))),
    "marks that merge": lambda n: in_paragraph(*(Content("strong", ["a"]) for _ in range(n))),
    "marks of punctuation": lambda n: in_paragraph(*(Content("strong", ["."]) if i % 2 else "a" for i in range(n))),
    "punctuation in a mark": lambda n: in_paragraph(Content("strong", ["a" + "." * n]), "b"),
    "empty marks": lambda n: in_paragraph("a", *(Content("strong", [" ", Content("break")]) for _ in range(n))),
    "brackets in a mark": lambda n: in_paragraph(Content("strong", ["a" + "(" * n + "b" + ")" * n]), "b"),
    "brackets around marks": lambda n: in_paragraph(Content("strong", ["(" * n + "b" + ")" * n]), "b"),
    "marks that meet": lambda n: in_paragraph(
        *(
            Content("strong", ["a ", Content("emphasis", ["b"])]) if i % 2 else Content("emphasis", ["c"])
            for i in range(n)
        )
    ),
    "code beside code": lambda n: in_paragraph(*(Content("code-span", ["`"]) for _ in range(n))),
    "links": lambda n: in_paragraph(*(Content("link", ["a!"], address="/(") for _ in range(n))),
    "an address": lambda n: in_paragraph(Content("link", ["a"], address="/" + "(" * n + "&a;" * n)),
    "asterisks": lambda n: in_paragraph("*a *b " * n),
    "brackets": lambda n: in_paragraph("[" * n + "](" * n),
    "a label": lambda n: in_paragraph("[" + "a" * n + " ]" * n),
    "backticks": lambda n: in_paragraph("`" * n),
    "dollars": lambda n: in_paragraph("$a $" * n),
    "hyphens": lambda n: in_paragraph("a", Content("break"), "-|:" * n + "a"),
    "hashes": lambda n: Content("heading", ["#" + " #" * n + "a"], level=1),
    "ampersands": lambda n: in_paragraph("&a" * n),
    "backslashes": lambda n: in_paragraph("\\" * n),
    "quotes": lambda n: Content("quote", [nested("quote", n, in_paragraph("x"))]),
    "nested lists": nested_lists,
    "lists": lambda n: Content("quote", [Content("list", [Content("item", [in_paragraph("y")])]) for _ in range(n)]),
    "rows": lambda n: Content("table", [Content("row", [Content("cell", ["a|"])]) for _ in range(n)]),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_is_linear(make: Callable[[int], Content]) -> None:
    def write(size: int) -> Callable[[], object]:
        document = Content("document", [make(size)])

        def work() -> None:
            to_markdown(document)
            html.write_tags(document, html._tags, html.escape_text)

        return work

    assert_linear(write, 10_000)  # what is quadratic takes ten seconds or more
