"""The main matter as a small tree of headings, paragraphs, lists, tables and so on: what the markup formats write.

A page's tree has hundreds of tags, and no two sites use them alike. `Content` knows what Markdown,
HTML and TEI can say. html/content.py makes it from a page's tree and the blocks that were kept, `from_blocks` from a
plain-text dump; the writers (markdown.py, html.py, tei.py) need to know nothing else.

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
from typing import TYPE_CHECKING, Literal, cast

from mainmatter.records import Kind
from mainmatter.render.text import main_and_comments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.records import Extraction

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
    "footnote",  # `label`; a block that stands where the page has it
    "rule",  # holds nothing
    "comments",  # the readers' comments, where they are set apart
    # Inline, or a block of its own among blocks: one text, TeX without delimiters
    "formula",  # `display`: on a line of its own
    # Inline
    "strong",
    "emphasis",
    "strike",
    "code-span",  # one text
    "link",  # `address`, perhaps a `title`
    "image",  # `address`, perhaps a `title`; holds its alternative text, if any, as one text
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
    title: str = ""
    label: str = ""
    block: int = -1

    @property
    def nodes(self) -> list[Content]:
        """The children of a node that holds no text."""
        return cast("list[Content]", self.children)


def content_of(extraction: Extraction, *, images: bool = False) -> Content:
    """The main matter of a page as a tree; comments that are marked are a node of their own at its end.

    Args:
        extraction: what was decided.
        images: with the pictures that stand in or between the kept blocks.
    """
    main, comments = main_and_comments(extraction)
    document = _document(extraction, main, images=images)
    if comments is not None:
        document.children.append(Content("comments", _document(extraction, comments, images=images).children))
    return document


def _document(extraction: Extraction, chosen: NDArray[np.bool_], *, images: bool) -> Content:
    from mainmatter.html.content import kept_content  # noqa: PLC0415 - it builds what is defined here

    parsed = extraction.document.parsed
    if parsed is None:
        return from_blocks(extraction, chosen)
    url = extraction.document.page.url or extraction.metadata.url
    tree, segments = parsed
    return kept_content(tree, segments, chosen.tolist(), images=images, url=url)


_SCHEMES = frozenset(("http", "https", "mailto", "tel", "ftp"))
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_IGNORED = re.compile("[\0- \x7f-\xa0]+")


def is_harmless(address: str) -> bool:
    """Whether an address may stand in a document: relative, or of a scheme that runs nothing."""
    if address.startswith(("https://", "http://")):
        return True
    scheme = _SCHEME.match(_IGNORED.sub("", address))
    return bool(address) and (scheme is None or scheme[1].lower() in _SCHEMES)


def note_name(node: Content) -> str:
    """The label of a footnote, or of a reference to it, as every format can write it."""
    return re.sub(r"[^\w.-]+", "-", node.label)


def from_blocks(extraction: Extraction, chosen: NDArray[np.bool_]) -> Content:
    """Blocks that have no markup of their own, those of plain-text dumps, by their kinds."""
    columns, kinds = extraction.document.columns, extraction.kinds
    document = Content("document")
    for i in chosen.nonzero()[0].tolist():
        kind, text = kinds[i], columns.texts[i]
        if kind is Kind.CODE:
            document.children.append(Content("code", [text], block=i))
            continue
        lines: list[Content | str] = []
        for line in text.split("\n"):
            lines += [Content("break"), line] if lines else [line]
        if kind is Kind.HEADING:
            document.children.append(Content("heading", lines, level=max(1, columns.levels[i]), block=i))
        elif kind is Kind.LIST_ITEM:
            last = document.children[-1] if document.children else None
            if not isinstance(last, Content) or last.type != "list":
                last = Content("list")
                document.children.append(last)
            last.children.append(Content("item", [Content("paragraph", lines, block=i)]))
        elif kind is Kind.QUOTE:
            document.children.append(Content("quote", [Content("paragraph", lines, block=i)]))
        else:
            document.children.append(Content("paragraph", lines, block=i))
    return document
