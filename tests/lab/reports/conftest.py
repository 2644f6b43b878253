"""Reads reports as a browser would: which elements there are, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

VOID = ("br", "col", "hr", "link", "meta")


@dataclass
class Parsed:
    """A report.

    Attributes:
        elements: all elements, in order: name and attributes.
        text: all text that is not a script or style.
        tables: the cells of each table by the name of its region, row by row, the head first.
        unclosed: the elements that were never closed; none, if all is well.
    """

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    unclosed: list[str] = field(default_factory=list)

    def names(self) -> set[str]:
        return {name for name, _ in self.elements}

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for one, attributes in self.elements if one == name]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Parsed()
        self._open: list[str] = []
        self._region = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.found.elements.append((tag, attributes))
        if tag not in VOID:
            self._open.append(tag)
        if attributes.get("role") == "region":
            self._region = (attributes["aria-label"] or "").removeprefix("Table: ")
            self.found.tables[self._region] = []
        if tag == "tr":
            self.found.tables[self._region].append([])
        if tag in ("td", "th"):
            self.found.tables[self._region][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.found.unclosed.append(tag)

    def handle_data(self, data: str) -> None:
        if "script" in self._open or "style" in self._open:
            return
        self.found.text += data
        if self._open and any(name in self._open for name in ("td", "th")):
            self.found.tables[self._region][-1][-1] += data


@pytest.fixture
def read() -> Callable[[str], Parsed]:
    """Reads a report, and makes sure that its markup is whole."""

    def parse(html: str) -> Parsed:
        reader = _Reader()
        reader.feed(html)
        reader.close()
        reader.found.unclosed += reader._open
        assert reader.found.unclosed == []
        return reader.found

    return parse
