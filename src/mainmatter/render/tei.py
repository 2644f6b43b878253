"""TEI P5: a header with what the page says about itself, and the kept blocks as heads, paragraphs, lists, tables.

Comments that are marked come last, in a `<div type="comments">`, as in trafilatura's TEI. The `<post>` of TEI's chapter
on computer-mediated communication would be one for each comment, and where one ends and the next begins we do not know.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from mainmatter.records import Kind, Label
from mainmatter.render.text import main_and_comments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.records import Extraction, Metadata

_NAMESPACE = "http://www.tei-c.org/ns/1.0"
# XML 1.0 has no control characters, surrogates or non-characters.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# What a paragraph is in the eyes of a method that tells.
_KIND_OF_LABEL: dict[Label, Kind] = {"headline": Kind.HEADING, "caption": Kind.CAPTION}
_GROUPS = {Kind.LIST_ITEM: "list", Kind.TABLE_ROW: "table"}


def render(extraction: Extraction) -> str:
    """The kept blocks as a TEI document."""
    root = ET.Element("TEI", xmlns=_NAMESPACE)
    _add_header(root, extraction.metadata, extraction.document.page.url)
    body = ET.SubElement(ET.SubElement(root, "text"), "body")
    main, comments = main_and_comments(extraction)
    _add_blocks(body, extraction, main)
    if comments is not None:
        _add_blocks(ET.SubElement(body, "div", type="comments"), extraction, comments)
    _break_lines(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _break_lines(element: ET.Element, depth: int = 1) -> None:
    """Put what is inside an element on lines of its own, indented, unless it holds text."""
    if element.text or not len(element) or element[0].tag == "lb":
        return
    element.text = "\n" + " " * depth
    for child in element:
        child.tail = element.text
        _break_lines(child, depth + 1)
    element[-1].tail = "\n" + " " * (depth - 1)


def _add_header(root: ET.Element, metadata: Metadata, url: str | None) -> None:
    header = ET.SubElement(root, "teiHeader")
    description = ET.SubElement(header, "fileDesc")
    titles = ET.SubElement(description, "titleStmt")
    _add(titles, "title", metadata.title or "")
    if metadata.author:
        for author in metadata.author.split("; "):
            _add(titles, "author", author)
    publication = ET.SubElement(description, "publicationStmt")
    _add(publication, "p", metadata.site or "")
    source = ET.SubElement(ET.SubElement(description, "sourceDesc"), "bibl")
    _add(source, "title", metadata.title or "")
    if metadata.date:
        _add(source, "date", metadata.date).set("when", metadata.date)
    if metadata.url or url:
        _add(source, "ptr", "").set("target", _clean(metadata.url or url or ""))
    if metadata.description or metadata.language:
        profile = ET.SubElement(header, "profileDesc")
        if metadata.description:
            _add(ET.SubElement(profile, "abstract"), "p", metadata.description)
        if metadata.language:
            _add(ET.SubElement(profile, "langUsage"), "language", "").set("ident", _clean(metadata.language))


def _add_blocks(division: ET.Element, extraction: Extraction, chosen: NDArray[np.bool_]) -> None:
    columns = extraction.document.columns
    for group_tag, group in groupby(chosen.nonzero()[0].tolist(), lambda i: _GROUPS.get(extraction.kinds[i])):
        parent = ET.SubElement(division, group_tag) if group_tag else division
        for i in group:
            _add_block(parent, extraction.kinds[i], columns.levels[i], columns.texts[i], extraction.labels[i])


def _add_block(parent: ET.Element, kind: Kind, level: int, text: str, label: Label) -> None:
    if kind is Kind.PARAGRAPH:
        kind = _KIND_OF_LABEL.get(label, kind)
    if kind is Kind.LIST_ITEM:
        _add(parent, "item", text)
    elif kind is Kind.TABLE_ROW:
        row = ET.SubElement(parent, "row")
        for cell in text.split("\t"):
            _add(row, "cell", cell)
    elif kind is Kind.HEADING:
        # In TEI a <head> may only stand at the beginning of a division; <ab> may stand anywhere.
        _add(parent, "ab", text).attrib.update({"type": "head", "rend": f"h{level}"} if level else {"type": "head"})
    elif kind is Kind.CODE:
        _add(parent, "ab", text).set("type", "code")
    elif kind is Kind.QUOTE:
        _add(ET.SubElement(parent, "quote"), "p", text)
    elif kind is Kind.CAPTION:
        _add(parent, "ab", text).set("type", "caption")
    elif label == "byline":
        _add(parent, "ab", text).set("type", "byline")  # a <byline> may stand only where a <head> may
    else:
        _add(parent, "p", text)


def _add(parent: ET.Element, tag: str, text: str) -> ET.Element:
    element = ET.SubElement(parent, tag)
    lines = _clean(text).split("\n")
    element.text = lines[0]
    for line in lines[1:]:
        ET.SubElement(element, "lb").tail = line
    return element


def _clean(text: str) -> str:
    return _NOT_XML.sub("", text)
