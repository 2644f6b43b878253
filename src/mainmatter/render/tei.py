"""TEI P5: a header with what the page says about itself, and what was kept as heads, paragraphs, lists, tables.

A paragraph that the method takes for a headline, a byline or a caption is marked as that.

Comments that are marked come last, in a `<div type="comments">`, as in trafilatura's TEI. The `<post>` of TEI's chapter
on computer-mediated communication would be one for each comment, and where one ends and the next begins we do not know.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from mainmatter.records import Kind
from mainmatter.render.build import content_of
from mainmatter.render.content import HOLD_BLOCKS, Content, is_harmless
from mainmatter.render.html import escape_text, write_tags

if TYPE_CHECKING:
    from mainmatter.records import Extraction, Metadata
    from mainmatter.render.content import ContentType

_NAMESPACE = "http://www.tei-c.org/ns/1.0"
# XML 1.0 has no control characters, surrogates or non-characters.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_ELEMENTS: dict[ContentType, str] = {
    "paragraph": "p",
    "item": "item",
    "definitions": 'list type="gloss"',
    "term": "label",
    "definition": "item",
    "quote": "quote",
    "table": "table",
    "figure": "figure",
    "summary": 'ab type="summary"',
    "comments": 'div type="comments"',
    "strong": 'hi rend="bold"',
    "emphasis": 'hi rend="italic"',
    "strike": 'hi rend="strikethrough"',
    "subscript": 'hi rend="subscript"',
    "superscript": 'hi rend="superscript"',
    "code-span": "code",
}
_LINE_BREAK = "<lb/>"


def render(extraction: Extraction, *, images: bool = False) -> str:
    """What was kept as a TEI document.

    Args:
        extraction: what was decided.
        images: keep pictures.
    """
    root = ET.Element("TEI", xmlns=_NAMESPACE)
    _add_header(root, extraction.metadata, extraction.document.page.url)
    ET.SubElement(ET.SubElement(root, "text"), "body")
    _break_lines(root)
    kinds, labels = extraction.kinds, extraction.labels

    def tags(node: Content, around: ContentType) -> tuple[str, str]:
        if node.type == "paragraph" and node.block >= 0:
            kind, label = kinds[node.block], labels[node.block]
            if kind is Kind.HEADING or label == "headline":
                return _element('ab type="head"')  # a <head> may only stand at the beginning of a division
            if kind is Kind.CAPTION or label == "caption":
                return _element('ab type="caption"')
            if label == "byline":
                return _element('ab type="byline"')  # a <byline> may stand only where a <head> may
        return _tags(node, around)

    content = write_tags(content_of(extraction, images=images), tags, _escape_text, indent=3)
    document = ET.tostring(root, encoding="unicode")
    document = document.replace("<body />", f"<body>\n{content}  </body>") if content else document
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _element(name: str) -> tuple[str, str]:
    return f"<{name}>", f"</{name.partition(' ')[0]}>"


def _tags(node: Content, around: ContentType) -> tuple[str, str]:  # noqa: C901, PLR0911, PLR0912 - one a type
    match node.type:
        case "heading":
            return _element(f'ab type="head" rend="h{node.level}"' if node.level else 'ab type="head"')
        case "list" if node.ordered:
            return _element('list rend="numbered"' + (f' n="{node.start}"' if node.start != 1 else ""))
        case "list":
            return _element("list")
        case "item" if node.checked is not None:
            return _element(f'item rend="{"checked" if node.checked else "unchecked"}"')
        case "code":
            return _element('ab type="code"' + (f' subtype="{_attribute(node.language)}"' if node.language else ""))
        case "row" | "cell":
            return _element(node.type + (' role="label"' if node.is_header else ""))
        case "caption":
            return _element("head" if around == "table" else 'ab type="caption"')
        case "footnote":
            return _element(f'note place="foot" n="{_attribute(node.label)}" xml:id="fn-{node.label}"')
        case "reference":
            return f'<ref target="#fn-{node.label}">{_attribute(node.label)}</ref>', ""
        case "rule":
            return '<milestone unit="section" rend="rule"/>', ""
        case "break":
            return _LINE_BREAK, ""
        case "formula":
            begin, end = _element('formula notation="TeX"' + (' rend="display"' if node.display else ""))
            return (f"<p>{begin}", f"{end}</p>") if around in HOLD_BLOCKS else (begin, end)
        case "link" if is_harmless(node.address):
            return _element(f'ref target="{_attribute(node.address).replace(" ", "%20")}"')
        case "image" if is_harmless(node.address):
            alternative = _attribute("".join(map(str, node.children)))
            description = f"<desc>{alternative}</desc>" if alternative else ""
            return f'<graphic url="{_attribute(node.address)}">{description}</graphic>', ""
    return _element(_ELEMENTS[node.type]) if node.type in _ELEMENTS else ("", "")


def _escape_text(text: str) -> str:
    return escape_text(_clean(text)).replace("\n", _LINE_BREAK)


def _attribute(value: str) -> str:
    return escape(_clean(value))


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


def _add(parent: ET.Element, tag: str, text: str) -> ET.Element:
    element = ET.SubElement(parent, tag)
    element.text = _clean(text)
    return element


def _clean(text: str) -> str:
    return _NOT_XML.sub("", text)
