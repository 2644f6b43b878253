"""The structure of what was kept of a page, from the page's tree and the text nodes of the kept blocks.

It is worked out without the code that the Markdown is made by (render/), since that is judged.

What need not come through, and is not invented if it does:

- `<cite>`, `<dfn>` and `<var>` as emphasis; `<kbd>` and `<samp>` as code; `<u>`, `<mark>` and `<ins>` as emphasis;
- links within the page that mark footnotes, by a number or one sign, or lead back from them; links of headings to
  themselves;
- items that are footnotes; text in a list beside its items, as an item;
- terms without a definition, and definitions in lists that have no others;
- headings within summaries of details and captions;
- images that do not stand inside of a kept block or between two of them, are pixels for tracking, spacers, emoji or
  formulas;
- links to what is not on the web, mail or a telephone;
- numbers of the lines of code, buttons in code, links to edit a section.

Anchors of headings (`¶`, `#`, "permalink") are not part of the structure, nor are links without an address.

A table is one of data if some row has several cells with text, and no cell holds several blocks, a heading, code, a
table, or an image beside its text; if it has a header cell, cells may hold several paragraphs and lists, and images.
The cells of others are plain blocks. What stands in a cell of data is one text, and no list item, quote or heading. If
it takes images to fill several cells of a row, it may be one or not. The head of a table comes first, its foot last.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from bench.structure import (
    BLOCK_END,
    NO_MARKS,
    Item,
    Link,
    MarkedBlock,
    Picture,
    Quote,
    Span,
    Structure,
    address_key,
    letters,
)
from mainmatter.html.parse import Element, Text, as_text
from mainmatter.html.segment import HEADING_LEVELS, ROLES, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.structure import Mark
    from mainmatter.html.parse import Node, Tree
    from mainmatter.html.segment import Segments
    from mainmatter.records import Extraction

_MARKS: dict[str, Mark] = {
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em"), "emphasis"),
    **dict.fromkeys(("s", "del", "strike"), "strikethrough"),
    **dict.fromkeys(("code", "tt"), "code"),
    "sub": "subscript",
    "sup": "superscript",
}
_EMPHASIS: frozenset[Mark] = frozenset(("emphasis",))
_CODE: frozenset[Mark] = frozenset(("code",))
_EITHER: frozenset[Mark] = frozenset(("strong", "emphasis"))
_LOOSE_MARKS: dict[str, frozenset[Mark]] = {
    **dict.fromkeys(("cite", "dfn", "var", "address", "q"), _EMPHASIS),
    **dict.fromkeys(("kbd", "samp"), _CODE),
    **dict.fromkeys(("u", "mark", "ins", "big"), _EITHER),
}
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_CELLS = frozenset(("td", "th"))
_CODE_BLOCKS = frozenset(("pre", "xmp", "listing", "plaintext"))
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_SCHEMES = ("http:", "https:", "mailto:", "tel:", "ftp:")

# Of links to a place on the same page.
_ANCHOR_TEXT = re.compile(
    r"(?:(?:perma|permanent |direct |copy )?link(?: to (?:this )?(?:heading|headline|section))?)|anchor", re.IGNORECASE
)
_BACK_CLASS = re.compile(r"(?<!toc-)back-?(?:ref|link)|footnote-?back|reversefootnote|fn-?back", re.IGNORECASE)
_BACK_ADDRESS = re.compile(r"#(?:cite_?ref|fn-?ref|footnote-?ref|_ftnref|ref)", re.IGNORECASE)
_NOTE_CLASS = re.compile(r"footnote|noteref|endnote|fnref", re.IGNORECASE)
_NOTE_LABEL = re.compile(r"[\[({]?\s*(?:\d+|\S)\s*[\])}]?")

# Of the numbers of lines of code, if what has it holds no letters.
_NUMBERS_CLASS = frozenset(
    """
    lineno linenos linenodiv line-number line-numbers-rows gutter rouge-gutter hljs-ln-numbers blob-num ln-num
    """.split()
)

_FORMULA_CLASS = frozenset(
    """
    katex katex-display MathJax MathJax_Display MathJax_Preview MathJax_SVG MathJax_SVG_Display MathJax_CHTML
    mwe-math-element math-container
    """.split()
)
_FORMULA_IMAGE = re.compile(r"\b(?:tex|latex|mwe-math-fallback-image-\w+|ql-img-\w+)\b")
_TEX_ENCODINGS = ("application/x-tex", "tex", "latex", "application/x-latex", "text/x-tex")
# Between double dollars, which also stand for prices, a formula has what only formulas have.
_TEX_IN_TEXT = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$([^$]*?[\\^_={}][^$]*?)\$\$", re.DOTALL)
_DOLLARS_IN_TEXT = re.compile(_TEX_IN_TEXT.pattern + r"|(?<![\\$\w])\$(?=\S)([^$]+?)(?<=[^\s\\])\$(?!\d)", re.DOTALL)
_TEX_SCRIPT = re.compile("mathjax|katex", re.IGNORECASE)

_LANGUAGE = re.compile(
    r"(?<![a-z])(?:(?:highlight-)?(?:language|lang|source)-|lang:|highlight-|brush:\s*|(?:hljs|sourceCode)\s+(?!lang))([\w#+.-]+)",
    re.IGNORECASE,
)
# Names that mean a language even where nothing says that they do.
_BARE_LANGUAGE = re.compile(
    r"(?<!\S)(bash|c|clojure|cpp|csharp|css|dart|diff|elixir|erlang|go|groovy|haskell|html|ini|java|javascript|js|json|"
    r"julia|kotlin|latex|lisp|lua|makefile|markdown|matlab|objectivec|perl|php|powershell|python|r|ruby|rust|scala|"
    r"scheme|scss|sh|shell|sql|swift|toml|ts|typescript|xml|yaml)(?!\S)",
    re.IGNORECASE,
)
_NO_LANGUAGE = frozenset(
    "text none plain plaintext txt default auto nohighlight notranslate no-highlight undefined".split()
)

_LAZY = (
    "data-src",
    "data-original",
    "data-lazy-src",
    "data-lazy",
    "data-original-src",
    "data-hi-res-src",
    "data-full-src",
)
_SRCSETS = ("srcset", "data-srcset", "data-lazy-srcset")
_PLACEHOLDER = re.compile(r"blank|placeholder|spacer|pixel|1x1|loading|lazy|transparent|/gr[ae]y\.", re.IGNORECASE)
_SPACER = re.compile(r"\b(?:spacer|blank|pixel|1x1|transparent)\.(?:gif|png)", re.IGNORECASE)
_PIXELS = 2  # an image of that size or less is there to track
_MOST_UP = 4  # elements to look at for the language of code


class _Context(NamedTuple):
    """What the text inside of an element is, by that element and those around it."""

    marks: frozenset[Mark] = NO_MARKS
    loose_marks: frozenset[Mark] = NO_MARKS
    link: Element | None = None
    heading: Element | None = None
    items: tuple[Element, ...] = ()
    quotes: tuple[Element, ...] = ()
    cell: Element | None = None
    term: Element | None = None  # or a definition
    caption: bool = False  # or a summary of details
    code: Element | None = None  # a block of it
    code_span: Element | None = None
    formula: Element | None = None
    tool: bool = False


def structure_of_page(extraction: Extraction) -> Structure:
    """The structure of the kept part of a page."""
    tree, segments = extraction.document.parsed
    url = extraction.document.page.url or extraction.metadata.url or ""
    return _Reader(tree, segments, extraction.kept.tolist(), tree.base_url(url) or url, url).read()


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of data: the rows and columns of its cells, and whether it needs no images to be one."""

    number: int
    places: dict[Element, tuple[int, int]]
    is_sure: bool


class _Reader:
    def __init__(self, tree: Tree, segments: Segments, kept: Sequence[bool], base: str, url: str) -> None:
        self._tree, self._segments, self._kept, self._base, self._url = tree, segments, kept, base, url
        self._contexts: dict[Node, _Context] = {}
        self._links: dict[Element, Link] = {}
        self._items: dict[Element, Item] = {}
        self._quotes: dict[Element, Quote] = {}
        self._nodes = [(i, node) for i, is_kept in enumerate(kept) if is_kept for node in segments.text_nodes(i)]
        self._kept_nodes = {node for _, node in self._nodes}
        self._spaced = set(segments.spaced) | self._after_spaces()
        self._last_code: Element | None = None
        self._structure = Structure()
        self._by_id = {as_text(element.attr("id")): element for element in tree.select("[id]")}
        in_text = _DOLLARS_IN_TEXT if self._loads_tex() else _TEX_IN_TEXT
        self._tex = in_text
        self._notes = self._note_targets()
        self._definitions = self._whole_definitions()
        self._tables = self._data_tables()

    def read(self) -> Structure:
        blocks: dict[object, MarkedBlock] = {}
        formulas: set[Element] = set()
        block_before = -1
        for i, node in self._nodes:
            context = self._context(node.parent)
            if context.tool:
                self._structure.loose_text.append(node.data)
                continue
            cell = context.cell if context.cell in self._tables else None
            code = None if cell else context.code
            key = code or cell or (i, context.cell)
            if key in blocks and cell is not None and block_before != i:
                blocks[key].spans.append(BLOCK_END)
            block_before = i
            if key not in blocks:
                blocks[key] = self._new_block(cell, context)
                if code is not None:
                    blocks[key].spans.append(Span(self._code_text(code)))
            if code is not None:
                continue
            spans = blocks[key].spans
            if context.formula is not None:
                self._structure.loose_text.append(node.data)
                if context.formula not in formulas:
                    formulas.add(context.formula)
                    spans.append(Span("", formula=_tex_of(context.formula)))
                continue
            spans += self._spans(node, context)
        self._structure.blocks = [block for block in blocks.values() if block.spans]
        self._read_pictures()
        return self._structure

    def _after_spaces(self) -> set[Node]:
        """The kept texts that follow a line break, or white space that is a node of its own."""
        found: set[Node] = set()
        is_apart = False
        for node in self._tree.descendants:
            if isinstance(node, Text):
                if is_apart and node in self._kept_nodes:
                    found.add(node)
                is_apart = node.data.isspace()
            elif getattr(node, "tag", "") == "br":
                is_apart = True
        return found

    def _context(self, node: Node | None) -> _Context:
        way: list[Node] = []
        while node is not None and node not in self._contexts:
            way.append(node)
            node = node.parent
        context = self._contexts[node] if node is not None else _Context()
        for passed in reversed(way):
            if isinstance(passed, Element):
                context = self._inside(passed, context)
            self._contexts[passed] = context
        return context

    def _inside(self, element: Element, around: _Context) -> _Context:  # noqa: C901, PLR0911, PLR0912 - a table of tags
        tag = element.tag
        if around.formula is not None:
            return around
        if _is_formula(element):
            return around._replace(formula=element)
        if _is_tool(element) or (tag == "button" and around.code is not None):
            return around._replace(tool=True)
        if tag in _MARKS:
            code = around.code_span or (element if _MARKS[tag] == "code" else None)
            return around._replace(marks=around.marks | {_MARKS[tag]}, code_span=code)
        if tag in _LOOSE_MARKS:
            code = around.code_span or (element if _LOOSE_MARKS[tag] is _CODE else None)
            return around._replace(loose_marks=around.loose_marks | _LOOSE_MARKS[tag], code_span=code)
        if tag == "a" and element.attr("href"):
            return around._replace(link=element)
        if tag in HEADING_LEVELS:
            is_term = around.term is not None and around.term.tag == "dt"  # its heading may be a mere term
            return around if is_term else around._replace(heading=element, term=None)
        if tag in _LISTS:
            outer = around.items[:-1] if around.items and around.items[-1].tag in _LISTS else around.items
            before = next((node for node in element.previous_siblings if isinstance(node, Element)), None)
            if before is not None and before.tag == "li":  # a list after an item belongs to it
                return around._replace(items=(*outer, before, element))
            outer = around.items
            return around._replace(items=(*outer, element))
        if tag == "li":
            outer = around.items[:-1] if around.items and around.items[-1].tag in _LISTS else around.items
            return around._replace(items=(*outer, element), heading=None, term=None)
        if tag in ("dt", "dd"):
            return around._replace(term=element, heading=None)
        if tag == "blockquote":
            return around._replace(quotes=(*around.quotes, element), heading=None)
        if tag in _CELLS:
            return around._replace(cell=element, heading=None, term=None)
        if tag == "table":
            return around._replace(cell=None, heading=None)
        if tag in _CODE_BLOCKS and element.find("table") is None:
            return around._replace(code=around.code or element)
        if tag in ("summary", "caption", "figcaption"):
            return around._replace(caption=True)
        return around

    def _new_block(self, cell: Element | None, context: _Context) -> MarkedBlock:
        if cell is not None:
            around = self._context(cell.parent)
            table = self._tables[cell]
            row, column = table.places.get(cell, (0, 0))
            block = MarkedBlock([], "cell", items=self._items_of(around), quotes=self._quotes_of(around))
            block.table, block.row, block.column = table.number, row, column
            block.is_header = cell.tag == "th" or row == 0
            block.needed = table.is_sure
            return block
        block = MarkedBlock([], items=self._items_of(context), quotes=self._quotes_of(context))
        if context.code is not None:
            block.kind, block.language = "code", _language_of(context.code)
        elif context.heading is not None:
            block.kind, block.level = "heading", HEADING_LEVELS[context.heading.tag]
            block.needed = not context.caption
        elif context.term is not None:
            block.kind = "term" if context.term.tag == "dt" else "definition"
            block.needed = context.term in self._definitions
        block.is_caption = context.caption
        return block

    def _items_of(self, context: _Context) -> tuple[Item, ...]:
        return tuple(self._item(element) for element in context.items)

    def _quotes_of(self, context: _Context) -> tuple[Quote, ...]:
        return tuple(self._quotes.setdefault(element, Quote()) for element in context.quotes)

    def _item(self, element: Element) -> Item:
        if element not in self._items:
            way = (element, *element.ancestors)
            holder = next((a for a in way if isinstance(a, Element) and a.tag in _LISTS), None)
            item = Item(holder is not None and holder.tag == "ol", _checked(element) if element.tag == "li" else None)
            item.needed = (element.attr("id") or "") not in self._notes
            item.stray = element.tag in _LISTS
            self._items[element] = item
        return self._items[element]

    def _spans(self, node: Text, context: _Context) -> Iterator[Span]:
        text, element, needed, link = node.data.replace("\u00ad", ""), context.link, True, None
        marks, loose, code = context.marks, context.loose_marks, context.code_span
        if element is not None:
            if self._is_anchor(element, context):
                return
            link = self._link(element, context)
            if self._is_note(element):
                needed, marks, loose = False, NO_MARKS, marks | loose
        if node in self._spaced:
            inside = code is not None and code is self._last_code
            yield Span(" ", marks if inside else NO_MARKS, loose if inside else NO_MARKS, link)
        self._last_code = code
        if "code" in marks and code is not None and code.find("br") is not None:
            marks, loose = marks - {"code"}, loose | {"code"}  # code of several lines, perhaps a block
        end = 0
        for formula in () if "code" in marks else self._tex.finditer(text):
            yield Span(text[end : formula.start()], marks, loose, link, needed=needed)
            in_dollars = formula.re is _DOLLARS_IN_TEXT and formula.group(4) is not None
            tex = next(group for group in formula.groups() if group is not None)
            self._structure.loose_text.append(tex)
            yield Span("", formula=tex, needed=not in_dollars)
            end = formula.end()
        yield Span(text[end:], marks, loose, link, needed=needed)

    def _link(self, element: Element, context: _Context) -> Link | None:
        if element not in self._links:
            address = element.attr("href") or ""
            needed = not self._is_note(element)
            if self._is_in_page(address) and context.heading is not None:
                needed = False
            if _SCHEME.match(address.strip()) and not address.strip().lower().startswith(_SCHEMES):
                needed = False
            self._links[element] = Link(address_key(_join(self._base, address)), needed)
        return self._links[element]

    def _is_in_page(self, address: str) -> bool:
        address = address.strip()
        return address.startswith("#") or bool(self._url and address.startswith(self._url.partition("#")[0] + "#"))

    def _is_anchor(self, element: Element, context: _Context) -> bool:
        """Whether a link is the anchor of a heading: `¶`, `#`, "Link to this heading"."""
        if context.heading is None or not self._is_in_page(element.attr("href") or ""):
            return False
        text = element.text.strip()
        is_named = _ANCHOR_TEXT.fullmatch(text) is not None and letters(text) != letters(context.heading.text)
        return is_named or not letters(text)

    def _is_note(self, element: Element) -> bool:
        """Whether a link is the mark of a footnote, or leads back from one."""
        address = element.attr("href") or ""
        if not self._is_in_page(address) or self._context(element).heading is not None:
            return False
        name = f"{as_text(element.attr('class'))} {as_text(element.attr('role'))} {as_text(element.attr('rel'))}"
        text = element.text.strip()
        if _BACK_CLASS.search(name) or (_BACK_ADDRESS.search(address) and len(letters(text)) <= 1):
            return True
        target = self._by_id.get(address.partition("#")[2])
        if not _NOTE_LABEL.fullmatch(text) or (target is not None and any(map(target.find, HEADING_LEVELS))):
            return False
        around = [node for _, node in zip(range(2), element.ancestors, strict=False) if isinstance(node, Element)]
        return bool(_NOTE_CLASS.search(name)) or any(
            node.tag == "sup" for node in (*around, *element.children) if isinstance(node, Element)
        )

    def _note_targets(self) -> set[str]:
        links = {self._context(node.parent).link for _, node in self._nodes}
        return {
            (link.attr("href") or "").partition("#")[2] for link in links if link is not None and self._is_note(link)
        } - {""}

    def _whole_definitions(self) -> set[Element]:
        """The terms that a definition follows, and all definitions of their lists."""
        order = list(dict.fromkeys(self._context(node.parent).term for _, node in self._nodes))
        terms = [term for term in order if term is not None]
        crowded: Counter[Element | None] = Counter()
        for term, _ in {(self._context(node.parent).term, i) for i, node in self._nodes}:
            crowded[term] += term is not None and term.tag == "dt"
        terms = [term for term in terms if crowded[term] < 2]
        whole = {one for one, two in pairwise(terms) if (one.tag, two.tag) == ("dt", "dd") and one.parent is two.parent}
        lists = {term.parent for term in whole}
        return whole | {term for term in terms if term.tag == "dd" and term.parent in lists}

    def _data_tables(self) -> dict[Element, _Table]:
        """For each cell of a table of data, that table."""
        blocks_in: dict[Element, set[int]] = {}
        crowded: set[Element] = set()
        terms: dict[Element, set[str]] = {}  # the tags of those in a cell
        dissolved: set[Element] = set()  # tables around others
        of_table: dict[Element, list[Element]] = {}
        for i, node in self._nodes:
            context = self._context(node.parent)
            cell = context.cell
            if cell is None or context.tool:
                continue
            if cell not in blocks_in:
                table = next((a for a in cell.ancestors if isinstance(a, Element) and a.tag == "table"), None)
                if table is not None:
                    of_table.setdefault(table, []).append(cell)
                    dissolved.update(a for a in table.ancestors if isinstance(a, Element) and a.tag == "table")
            blocks_in.setdefault(cell, set()).add(i)
            inside = takewhile(lambda node, cell=cell: node is not cell, node.ancestors)  # type: ignore[misc]
            terms.setdefault(cell, set()).update({getattr(a, "tag", "") for a in inside} & {"dt", "dd"})
            if context.heading is not None or context.code is not None or context.term in self._definitions:
                crowded.add(cell)
        rows_with_images, cells_with_images = self._around_images()
        tables: dict[Element, _Table] = {}
        for number, (table, cells) in enumerate(of_table.items()):
            rows: dict[Node | None, int] = {}
            for cell in cells:
                rows[cell.parent] = rows.get(cell.parent, 0) + 1
            if table in dissolved or not crowded.isdisjoint(cells):
                continue
            is_sure = max(rows.values()) > 1
            has_header = any(_is_header(child) for row in rows if row is not None for child in row.children)
            is_mixed = any(cell in cells_with_images or len(blocks_in[cell]) > 1 for cell in cells)
            if is_mixed and (not (has_header and is_sure) or any(len(terms.get(cell, ())) > 1 for cell in cells)):
                continue
            if not is_sure and not rows_with_images.intersection(rows):
                continue
            found = _Table(number, _places(table), is_sure)
            tables.update(dict.fromkeys(cells, found))
        return tables

    def _around_images(self) -> tuple[set[Node | None], set[Element]]:
        """The rows with images, and the cells in which one does not stand in a line of text."""
        rows: set[Node | None] = set()
        apart: set[Element] = set()
        text_holders = {_block_around(node) for _, node in self._nodes}
        for image in self._tree.iter_elements("img"):
            cells = [a for a in image.ancestors if isinstance(a, Element) and a.tag in _CELLS]
            rows.update(cell.parent for cell in cells[:1])
            if _block_around(image) not in text_holders:
                apart.update(cells)
        return rows, apart

    def _code_text(self, code: Element) -> str:
        parts: list[str] = []
        is_new_line = True
        for node in code.descendants:
            if isinstance(node, Text):
                if self._context(node.parent).tool:
                    continue
                if node in self._kept_nodes or node.data.isspace():
                    parts.append(node.data)
                    last = node.data.rpartition("\n")
                    is_new_line = not last[2].strip() and (is_new_line or bool(last[1]))
            elif getattr(node, "tag", "") == "br" or (_is_block(node) and not is_new_line):
                parts.append("\n")
                is_new_line = True
        return "".join(parts)

    def _loads_tex(self) -> bool:
        scripts = (element.attr("src") or element.attr("id") or "" for element in self._tree.iter_elements("script"))
        return any(_TEX_SCRIPT.search(script) for script in scripts)

    def _read_pictures(self) -> None:
        among = images_among(self._tree, self._segments, self._kept)
        for image in self._tree.iter_elements("img"):
            picture = self._picture(image)
            if picture is not None:
                self._structure.pictures.append(picture._replace(needed=picture.needed and image in among))

    def _picture(self, image: Element) -> Picture | None:
        candidates = [image.attr(name) or "" for name in _LAZY]
        sources = [image]
        if isinstance(image.parent, Element) and image.parent.tag == "picture":
            sources += [
                child for child in image.parent.children if isinstance(child, Element) and child.tag == "source"
            ]
        for source in sources:
            candidates += [_largest(source.attr(name) or "") for name in _SRCSETS]
        candidates = [address for address in candidates if address.strip()]
        shown = image.attr("src") or ""
        if not (candidates and _PLACEHOLDER.search(shown)):
            candidates.insert(0, shown)
        addresses = [
            address_key(_join(self._base, address.strip()))
            for address in candidates
            if address.strip() and not address.strip().lower().startswith(("data:", "blob:"))
        ]
        if not addresses:
            return None
        alt = image.attr("alt") or ""
        name = as_text(image.attr("class"))
        context = self._context(image.parent)
        sizes = [image.attr("width") or "", image.attr("height") or ""]
        is_small = any(
            size.removesuffix("px").isdecimal() and int(size.removesuffix("px")) <= _PIXELS for size in sizes
        )
        is_spacer = all(map(_SPACER.search, addresses))
        is_emoji = "emoji" in name or "smil" in name or (alt != "" and not letters(alt) and len(alt) <= 4)
        is_formula = bool(_FORMULA_IMAGE.search(name)) or context.formula is not None
        if is_formula:
            block = MarkedBlock([Span("", formula=alt, needed=False)])
            self._structure.blocks.append(block)
        address = context.link.attr("href") or "" if context.link is not None else ""
        in_anchor = context.heading is not None and self._is_in_page(address)
        needed = not (is_small or is_spacer or is_emoji or is_formula or in_anchor or context.code is not None)
        return Picture(tuple(dict.fromkeys(addresses)), alt, needed)


def images_among(tree: Tree, segments: Segments, kept: Sequence[bool]) -> set[Node]:
    """The images that stand inside of a kept block, or between two without another in between."""
    block_of = {node: i for i in range(len(kept)) for node in segments.text_nodes(i)}
    holders = {element for element, is_kept in zip(segments.elements, kept, strict=True) if is_kept}
    found: set[Node] = set()
    waiting: list[Node] = []
    before = False
    for node in tree.descendants:
        if isinstance(node, Element) and node.tag == "img":
            if _block_around(node) in holders:
                found.add(node)
            elif before:
                waiting.append(node)
        elif isinstance(node, Text) and node in block_of:
            before = kept[block_of[node]]
            found.update(waiting if before else ())
            waiting = []
    return found


def _largest(candidates: str) -> str:
    """The address of the largest image of a `srcset`."""
    found = [part.rstrip(",").split() for part in re.split(r"(?<=[\d.][wx]),|,\s", candidates.strip()) if part.strip()]
    sizes = [float(size[0]) if (size := re.findall(r"^[\d.]+(?=[wx]$)", part[-1])) else 1.0 for part in found]
    largest = found[sizes.index(max(sizes))][0] if found and "{{" not in candidates else ""
    return (
        "" if largest.startswith("#") or re.fullmatch(r"[\d.]+[wx]", largest) else largest
    )  # no address was filled in


def _join(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return address


def _is_block(node: Node) -> bool:
    return ROLES.get(getattr(node, "tag", "")) is Role.BLOCK


def _block_around(node: Node) -> Node | None:
    return next(filter(_is_block, node.ancestors), None)


def _is_formula(element: Element) -> bool:
    if element.tag in ("math", "mjx-container"):
        return True
    name = element.attr("class")
    return bool(name) and not _FORMULA_CLASS.isdisjoint(as_text(name).split())


def _is_tool(element: Element) -> bool:
    """Whether an element holds the numbers of lines, or links to edit a section."""
    names = as_text(element.attr("class")).split()
    if _NUMBERS_CLASS.isdisjoint(names):
        return "mw-editsection" in names
    return not any(map(str.isalpha, element.text))


def _tex_of(formula: Element) -> str:
    """The TeX that a formula was made from; "" if the page does not tell."""
    for inner in (formula, *formula.iter_elements()):
        if inner.tag == "annotation" and (inner.attr("encoding") or "").lower() in _TEX_ENCODINGS:
            return inner.text
        if inner.tag == "script" and (inner.attr("type") or "").startswith("math/tex"):
            return inner.text
    for inner in (formula, *formula.iter_elements()):
        for name in ("alttext", "data-tex", "data-latex"):
            if inner.attr(name):
                return inner.attr(name) or ""
    following: Node | None = formula.next_sibling
    for _ in range(3):
        if isinstance(following, Element) and (following.attr("type") or "").startswith("math/tex"):
            return following.text
        following = following.next_sibling if following is not None else None
    return ""


def _language_of(code: Element) -> str:
    """The language that a block of code is said to be in; "" if none is said in one of the usual ways."""
    inner = list(code.iter_elements("code"))[:1]
    around = [node for _, node in zip(range(_MOST_UP), code.ancestors, strict=False) if isinstance(node, Element)]
    for element in (*inner, code, *around):
        told = element.attr("data-lang") or element.attr("data-language") or element.attr("data-enlighter-language")
        names = as_text(element.attr("class"))
        match = _LANGUAGE.search(names) or (_BARE_LANGUAGE.search(names) if element.tag in ("pre", "code") else None)
        language = (told or (match[1] if match else "")).lower()
        if language:
            return "" if language in _NO_LANGUAGE else language
    return ""


def _checked(item: Element) -> bool | None:
    """Whether a task is done; None for an item that is not a task."""
    box = next((e for e in item.iter_elements("input") if (e.attr("type") or "").lower() == "checkbox"), None)
    if box is None or not ("task" in as_text(item.attr("class")) or box.attr("disabled") is not None):
        return None
    return box.attr("checked") is not None


def _places(table: Element) -> dict[Element, tuple[int, int]]:
    """The row and the column of each cell, where cells that span others take their places."""
    places: dict[Element, tuple[int, int]] = {}
    taken: set[tuple[int, int]] = set()
    rows = [row for row in table.iter_elements("tr") if _own_table(row) is table]
    rows.sort(key=lambda row: {"thead": 0, "tfoot": 2}.get(getattr(row.parent, "tag", ""), 1))
    for row, element in enumerate(rows):
        column = 0
        for cell in element.children:
            if not isinstance(cell, Element) or cell.tag not in _CELLS:
                continue
            while (row, column) in taken:
                column += 1
            places[cell] = (row, column)
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            taken.update((row + down, column + along) for down in range(high) for along in range(wide))
            column += wide
    return places


def _is_header(node: Node) -> bool:
    return getattr(node, "tag", "") == "th"


def _own_table(row: Element) -> Node | None:
    return next((node for node in row.ancestors if getattr(node, "tag", "") == "table"), None)


def _span(cell: Element, attribute: str) -> int:
    value = cell.attr(attribute) or ""
    return max(1, min(int(value), 100)) if value.isdecimal() else 1
