"""The main matter as a small tree of headings, paragraphs, lists, tables and so on: what the markup formats write.

A page's tree has hundreds of tags, and no two sites use them alike. `Content` has what Markdown, HTML and TEI can
express. build.py makes it from what was kept of a page; the writers (markdown.py, html.py, tei.py) need nothing else.

Which nodes hold which:

- Nodes of `HOLD_BLOCKS` hold nodes that are blocks, never text.
- Nodes of `HOLD_INLINE` hold text (`str`) and inline nodes, never blocks.
- The others hold what `ContentType` says.

Texts are normalised: white space is collapsed (outside of code), no-break spaces are spaces, and soft hyphens are gone;
no holder of inline content begins or ends with a space, and none is empty. Links and pictures have absolute addresses
if the page's address is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import Literal, cast

ContentType = Literal[
    # Blocks
    "document",  # the whole
    "heading",  # `level`, 1 to 6
    "paragraph",
    "list",  # of items; `ordered`, and then `start`
    "item",  # of a list; `checked` in a list of tasks
    "definitions",  # a definition list: terms and definitions
    "term",
    "definition",
    "quote",
    "code",  # one text as it stands, with its line breaks; `language` if the page says
    "table",  # captions, then rows; all rows have the same number of cells
    "row",  # of cells; `is_header` if all of them are
    "cell",  # `is_header`, `align`
    "figure",  # pictures in paragraphs, and captions
    "caption",  # of a figure or a table
    "details",  # a summary, then blocks
    "summary",
    "footnote",  # `label`, of letters, digits and hyphens; a block that stands where the page has it
    "rule",  # holds nothing
    "comments",  # the readers' comments, where they are set apart
    # Inline, or a block of its own among blocks: one text, TeX without delimiters
    "formula",  # `display`: on a line of its own
    # Inline
    "strong",
    "emphasis",
    "strike",
    "code-span",  # one text
    "link",  # `address`
    "image",  # `address`; holds its alternative text, if any, as one text
    "subscript",
    "superscript",
    "reference",  # to the footnote with this `label`; holds nothing
    "break",  # of a line; holds nothing
]
HOLD_BLOCKS = frozenset(("document", "item", "definition", "quote", "figure", "details", "footnote", "comments"))
HOLD_INLINE = frozenset(
    """
    heading paragraph term cell caption summary strong emphasis strike link subscript superscript
    """.split()
)


@dataclass(slots=True)
class Content:
    """A piece of the main matter; see `ContentType` for what each type holds and which attributes it uses.

    `block` is the number of the page's block that a paragraph, heading, caption or code begins with; else -1.
    """

    type: ContentType
    children: list[Content | str] = field(default_factory=list)
    level: int = 0
    ordered: bool = False
    start: int = 1
    checked: bool | None = None
    is_header: bool = False
    align: Literal["left", "center", "right"] | None = None
    language: str = ""
    display: bool = False
    address: str = ""
    label: str = ""
    block: int = -1

    @property
    def nodes(self) -> list[Content]:
        """The children of a node that holds no text."""
        return cast("list[Content]", self.children)


_SCHEMES = frozenset(("http", "https", "mailto", "tel", "ftp"))
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_IGNORED = re.compile("[\0- \x7f-\xa0]+")
_MOST_UNESCAPED = 4  # times; only an attack has more character references inside of each other


def is_harmless(address: str) -> bool:
    """Whether an address may be used in a document: it is relative, or its scheme runs nothing.

    Also after character references in it are read, since not every program that reads a document reads them just once.
    """
    if address.startswith(("https://", "http://")):
        return True
    for _ in range(_MOST_UNESCAPED):
        scheme = _SCHEME.match(_IGNORED.sub("", address))
        if not address or (scheme is not None and scheme[1].lower() not in _SCHEMES):
            return False
        if "&" not in address or (read := unescape(address)) == address:
            return True
        address = read
    return False
