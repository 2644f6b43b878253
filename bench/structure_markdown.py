"""The structure of Markdown, read by markdown-it-py.

The dialect is CommonMark with the tables, strikethrough and task lists of GitHub's flavour, and with footnotes,
definition lists and formulas in dollars as Pandoc has them.

What Markdown has no form for may be HTML: sub- and superscripts, details and their summaries, line breaks in cells.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from bench.structure import (
    NO_MARKS,
    Item,
    Link,
    MarkedBlock,
    Picture,
    Quote,
    Span,
    Structure,
    address_key,
)
from mainmatter.errors import MissingExtra
from mainmatter.html.parse import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from bench.structure import Mark

# Known faults of Markdown; what is found of them beside the facts.
FAULTS = (
    "no-break space as an entity",
    "link without text",
    "empty list item",
    "neighbouring bulleted lists",
    "anchor of a heading",
)
_MARKS: dict[str, Mark] = {"strong": "strong", "em": "emphasis", "s": "strikethrough"}
_MARKS_OF_TAG: dict[str, Mark] = {
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em"), "emphasis"),
    **dict.fromkeys(("s", "del", "strike"), "strikethrough"),
    "sub": "subscript",
    "sup": "superscript",
}
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)|(<!--)")
_WITHOUT_FORM = frozenset(("sub", "sup", "details", "summary"))
_ENTITY = re.compile(r"(?<!\\)&(?:nbsp|#160|#xa0);", re.IGNORECASE)
_ANCHOR = re.compile(r"[¶#§🔗]|link to this heading|permalink to this headline", re.IGNORECASE)
_TASK = re.compile(r"\[([ xX])\]\s")
_LIST_CLOSE = ("bullet_list_close", "ordered_list_close")


@cache
def _parser(*, formulas: bool) -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt  # an extra
        from mdit_py_plugins.deflist import deflist_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin
        from mdit_py_plugins.footnote import footnote_plugin
    except ImportError as error:
        raise MissingExtra("mdit-py-plugins", "bench") from error
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(footnote_plugin, inline=False).use(deflist_plugin)
    if formulas:
        parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    return parser


def structure_of_markdown(markdown: str, url: str = "", *, formulas: bool = True) -> Structure:
    """Read Markdown.

    Args:
        markdown: the text.
        url: the page's address, for links within the page.
        formulas: what stands in dollars is a formula; else a dollar is a dollar.

    Raises:
        MissingExtra: markdown-it-py or its plugins are not installed.
    """
    return _MarkdownReader(url).read(_parser(formulas=formulas).parse(markdown))


class _MarkdownReader:
    def __init__(self, url: str) -> None:
        self._url = url
        self._structure = Structure()
        self._items: list[Item] = []
        self._lists: list[bool] = []  # those that are open: are they numbered?
        self._quotes: list[Quote] = []
        self._frame: dict[str, Any] = {}  # what the next text is
        self._frames: list[dict[str, Any]] = []  # what it will be again
        self._tables = self._row = self._column = 0

    def read(self, tokens: Sequence[Token]) -> Structure:
        for number, token in enumerate(tokens):
            self._block_token(token, tokens[number - 1] if number else None)
        return self._structure

    def _block_token(self, token: Token, before: Token | None) -> None:  # noqa: C901, PLR0912 - a table of tokens
        kind = token.type
        if kind == "inline":
            self._inline(token)
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self._lists.append(kind == "ordered_list_open")
            # Numbered lists that begin anew need other markers.
            if before is not None and before.type == kind.replace("open", "close") == "bullet_list_close":
                self._structure.faults["neighbouring bulleted lists"] += 1
        elif kind in _LIST_CLOSE:
            self._lists.pop()
        elif kind == "list_item_open":
            self._items.append(Item(self._lists[-1]))
            self._enter()
        elif kind == "list_item_close":
            self._items.pop()
            self._frame = self._frames.pop()
            if before is not None and before.type == "list_item_open":
                self._structure.faults["empty list item"] += 1
        elif kind == "blockquote_open":
            self._quotes.append(Quote())
        elif kind == "blockquote_close":
            self._quotes.pop()
        elif kind == "heading_open":
            self._enter(kind="heading", level=int(token.tag[1]))
        elif kind == "table_open":
            self._tables += 1
            self._row = -1
        elif kind == "tr_open":
            self._row += 1
            self._column = -1
        elif kind in ("th_open", "td_open"):
            self._column += 1
            place = {"table": self._tables, "row": self._row, "column": self._column}
            self._enter(kind="cell", is_header=kind == "th_open", **place)
        elif kind in ("dt_open", "dd_open"):
            self._enter(kind="term" if kind == "dt_open" else "definition")
        elif kind in ("heading_close", "th_close", "td_close", "dt_close", "dd_close"):
            self._frame = self._frames.pop()
        elif kind in ("fence", "code_block"):
            language = token.info.split()[0].lower() if token.info.split() else ""
            self._add([Span(token.content)], kind="code", language=language)
        elif kind in ("math_block", "math_block_label"):
            self._add([Span("", formula=token.content)])
        elif kind == "html_block":
            self._html_block(token.content)

    def _enter(self, **frame: Any) -> None:  # attributes of a block
        self._frames.append(self._frame)
        self._frame = frame

    def _add(self, spans: list[Span], **frame: Any) -> None:  # attributes of a block
        block = MarkedBlock(spans, items=tuple(self._items), quotes=tuple(self._quotes), **(frame or self._frame))
        self._structure.blocks.append(block)

    def _html_block(self, html: str) -> None:
        self._note_html(html)
        for text in parse(html).stripped_strings:
            self._add([Span(str(text))], is_caption=True)

    def _note_html(self, html: str) -> None:
        in_cell = self._frame.get("kind") == "cell"
        for tag in _TAG.finditer(html):
            name = (tag[2] or tag[3]).lower()
            if not tag[1] and name not in _WITHOUT_FORM and not (name == "br" and in_cell):
                self._structure.raw_html.append(name)

    def _inline(self, token: Token) -> None:  # noqa: C901, PLR0912 - a table of tokens
        spans: list[Span] = []
        marks: list[Mark] = []
        link: Link | None = None
        link_from = 0
        pictures_before = 0
        if _ENTITY.search(_without_code(token)):
            self._structure.faults["no-break space as an entity"] += len(_ENTITY.findall(_without_code(token)))
        for child in token.children or ():
            kind = child.type
            now = frozenset(marks) if marks else NO_MARKS
            if kind in ("text", "text_special"):
                spans.append(Span(child.content, now, link=link))
            elif kind in ("softbreak", "hardbreak"):
                spans.append(Span("\n", now, link=link))
            elif kind == "code_inline":
                spans.append(Span(child.content, now | {"code"}, link=link))
            elif kind in ("math_inline", "math_inline_double"):
                spans.append(Span("", formula=child.content))
            elif kind.removesuffix("_open") in _MARKS:
                marks.append(_MARKS[kind.removesuffix("_open")])
            elif kind.removesuffix("_close") in _MARKS:
                marks.remove(_MARKS[kind.removesuffix("_close")])
            elif kind == "link_open":
                link, link_from = Link(self._address(str(child.attrs.get("href", "")))), len(spans)
                pictures_before = len(self._structure.pictures)
            elif kind == "link_close":
                self._check_link(spans[link_from:], has_picture=len(self._structure.pictures) > pictures_before)
                link = None
            elif kind == "image":
                address = self._address(str(child.attrs.get("src", "")))
                alt = "".join(inner.content for inner in child.children or ())
                self._structure.pictures.append(Picture((address,), alt))
            elif kind == "html_inline":
                self._note_html(child.content)
                _apply_tag(child.content, marks)
                spans += [Span("\n")] if child.content.lower().startswith("<br") else []
        if self._items and spans and (task := _TASK.match(spans[0].text)):
            self._items[-1].checked = task[1] != " "
            spans[0] = Span(spans[0].text[task.end() :], spans[0].marks, link=spans[0].link)
        self._add(spans)

    def _address(self, address: str) -> str:
        return address_key(urljoin(self._url, address) if address.startswith("#") else address)

    def _check_link(self, spans: list[Span], *, has_picture: bool) -> None:
        text = "".join(span.text for span in spans).strip()
        if not text and not has_picture and not any(span.formula is not None for span in spans):
            self._structure.faults["link without text"] += 1
        if self._frame.get("kind") == "heading" and _ANCHOR.fullmatch(text):
            self._structure.faults["anchor of a heading"] += 1


def _without_code(token: Token) -> str:
    """The source of a text, if no entity in it stands in code."""
    in_code = "".join(child.content for child in token.children or () if child.type == "code_inline")
    return "" if _ENTITY.search(in_code) else token.content


def _apply_tag(html: str, marks: list[Mark]) -> None:
    """Marks that are HTML: their text is marked all the same."""
    match = _TAG.match(html)
    mark = _MARKS_OF_TAG.get((match[2] or "").lower()) if match else None
    if mark is None or match is None or html.endswith("/>"):
        return
    if not match[1]:
        marks.append(mark)
    elif mark in marks:
        marks.remove(mark)
