"""From what was kept of a page to the small tree of headings, lists and tables that the writers use (content.py).

One pass over the elements that hold kept text. What was dropped is not visited; the page's tree, which is shared, is
not changed. Text is collected in runs, each with the marks around it (emphasis, links, ...), and is cut into
paragraphs where the blocks are cut. So Markdown has the same paragraphs as the text, and `<br><br>` within bold text
or a paragraph within a link is not a special case.

Tables that pages use for layout, not for data, are dissolved.
"""

from __future__ import annotations

import re
from itertools import chain, compress, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from mainmatter.html.formulas import (
    FORMULA_CLASSES,
    FORMULA_TAGS,
    may_use_dollars,
    read_formula,
    split_formulas,
    uses_dollars,
)
from mainmatter.html.parse import Element, Text, all_ancestors, as_text, base_url
from mainmatter.html.segment import HEADING_LEVELS, ROLES, Role
from mainmatter.records import Kind
from mainmatter.render.content import HOLD_BLOCKS, HOLD_INLINE, Content, ContentType
from mainmatter.render.text import main_and_comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mainmatter.html.formulas import Formula
    from mainmatter.html.parse import Node, Tree
    from mainmatter.html.segment import Segments
    from mainmatter.records import Extraction

# No page for people is nested deeper; what is, stands at this depth. So the writers can use recursion.
_MAX_DEPTH = 40
_MAX_ADDED_CELLS = 10_000  # on a page: what merged cells and short rows are filled up with

_MARKS: dict[str, ContentType] = {
    "a": "link",
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em"), "emphasis"),
    **dict.fromkeys(("s", "del", "strike"), "strike"),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), "code-span"),
    "sub": "subscript",
    "sup": "superscript",
}
_CONTAINERS: dict[str, ContentType] = {
    **dict.fromkeys(("ul", "ol", "menu", "dir"), "list"),
    "li": "item",
    "dl": "definitions",
    "dd": "definition",
    "blockquote": "quote",
    "figure": "figure",
    "details": "details",
    "table": "table",
    "tr": "row",
    "td": "cell",
    "th": "cell",
}
# What text is in these elements, other than a paragraph.
_TEXT_TYPES: dict[str, ContentType] = {
    "dt": "term",
    "summary": "summary",
    "caption": "caption",
    "figcaption": "caption",
}
_BELONGS_IN: dict[ContentType, ContentType] = {"item": "list", "definition": "definitions", "term": "definitions"}
_CODE_TAGS = frozenset(("pre", "xmp", "listing", "plaintext"))
_CELL_TAGS = frozenset(("td", "th"))
# What is no content, though it is text: links to edit a section (MediaWiki), and, if it is without letters, numbers of
# lines (Pygments, Rouge, Prism, highlight.js, GitHub). Other pages have all of an article in a "gutter".
_EDIT_LINK = "mw-editsection"
_LINE_NUMBERS = frozenset(
    """
    blob-num gutter hljs-ln-numbers line-number line-numbers-rows linenodiv lineno linenos ln-num rouge-gutter
    """.split()
)
_MOST_NUMBERS = 100  # texts to look at for letters
# The tags whose classes are looked at, and the classes that mean something here.
_CLASSED = frozenset(("div", "span", "table", "td", "th"))
_CLASSES = _LINE_NUMBERS | {_EDIT_LINK} | FORMULA_CLASSES
_NOTE_TAGS = frozenset(("li", "p", "div", "aside", "dd"))
_FORMULAS_WITHOUT_TEXT = frozenset(("img", "mjx-container", "script"))
_INLINE_ROLES = frozenset((None, Role.LINK, Role.EMPHASIS, Role.FORMULA))
_ORIGIN = re.compile(r"https?://[^/?#]+")
_SOFT_HYPHEN = "\u00ad"
# How the language of code is named in a class: Prism, highlight.js, GitHub, Sphinx, MediaWiki, SyntaxHighlighter.
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang[-:]|highlight-source-|highlight-|mw-highlight-lang-|brush:\s*)([A-Za-z][\w+#.-]*)"
)
# Those that are often a class as they are.
_LANGUAGES = frozenset(
    """
    bash c clojure cpp csharp css dart diff elixir erlang go groovy haskell html ini java javascript js json julia
    kotlin latex lisp lua makefile markdown matlab objectivec perl php powershell python r ruby rust scala scheme scss
    sh shell sql swift toml ts typescript xml yaml
    """.split()
)
_NO_LANGUAGE = frozenset("auto default none nohighlight notranslate plain plaintext text txt undefined wrapper".split())
# Where pages keep the address of a picture until it is scrolled to.
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-orig-file")
# What stands in its place until then.
_PLACEHOLDER = re.compile(r"placeholder|blank|spacer|pixel|1x1|loading|lazy|transparent", re.IGNORECASE)
_SPACER = re.compile(r"\b(?:spacer|blank|pixel|1x1|transparent)\.(?:gif|png)", re.IGNORECASE)
# An address and its size; scripts and templates leave sizes without an address, and `#`.
_CANDIDATE = re.compile(r"(?<![^\s,])(?![\d.]+[wx](?:[\s,]|$))([^\s,#]\S*[^\s,])(?:\s+(\d+(?:\.\d+)?)[wx])?\s*(?:,|$)")
_MOST_SOURCES = 16  # of a picture, among which its address is looked for
_LARGEST_TRACKER = 2  # pixels
# Of a link in a heading to that heading, if it says so in words.
_PERMALINK = re.compile(
    r"(?:copy |direct |perma|permanent )?link(?: to (?:this )?(?:heading|headline|section))?|anchor", re.IGNORECASE
)
_NOTE_REFERENCE = re.compile(r"footnote|noteref|fnref|endnote", re.IGNORECASE)
_ALIGN = re.compile(r"text-align:\s*(left|center|right)", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_LABEL = re.compile(r"[A-Za-z0-9]+")
_LANGUAGE_ATTRIBUTES = ("data-lang", "data-language", "data-enlighter-language")
_LANGUAGE_NAME = re.compile(r"[a-z][\w+#.-]{0,19}")
_INLINE_DEPTH = 16  # how many elements to look through, from a picture to the block that it is inside of
_AROUND_NUMBER = "[](){} \xa0"
_LONGEST_NUMBER = 6  # characters of a reference to a note


class _Mark:
    """A link or a code span: a mark that is another one each time, where emphasis beside emphasis is one."""

    __slots__ = ("address", "type")

    def __init__(self, type_: ContentType, address: str = "") -> None:
        self.type = type_
        self.address = address


_Marks = tuple[ContentType | _Mark, ...]
# A run of text or a leaf (picture, formula, break, reference), and what is around it.
_Run = tuple[str | Content, _Marks]


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
    parsed = extraction.document.parsed
    if parsed is None:
        return from_blocks(extraction, chosen)
    url = extraction.document.page.url or extraction.metadata.url
    tree, segments = parsed
    return kept_content(tree, segments, chosen.tolist(), images=images, url=url)


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


def kept_content(tree: Tree, segments: Segments, kept: Sequence[bool], *, images: bool, url: str | None) -> Content:
    """The kept blocks of a page as a `Content` tree.

    Args:
        tree: the page's tree; not changed.
        segments: its blocks.
        kept: which of them to keep.
        images: with the pictures that stand in a kept block, or beside one and between two.
        url: the page's address, to make its links absolute.
    """
    return _Builder(tree, segments, kept, images=images, url=url).build()


class _Builder:
    """Walks over what was kept, and builds the tree of it."""

    def __init__(self, tree: Tree, segments: Segments, kept: Sequence[bool], *, images: bool, url: str | None) -> None:
        self._tree = tree
        self._kinds, self._levels = segments.columns.kinds, segments.columns.levels
        self._spaced = set(segments.spaced)
        self._block_of: dict[Node, int] = {}
        for i, is_kept in enumerate(kept):
            if is_kept:
                for text in segments.text_nodes(i):
                    self._block_of[text] = i
        self._images: frozenset[Node] = _images_among(tree, segments, kept) if images else frozenset()
        self._wanted = all_ancestors(self._block_of) | all_ancestors(self._images)
        self._base = base_url(tree, url or "")
        origin = _ORIGIN.match(self._base)  # most links need no more of the base, and joining takes its time
        self._origin = origin[0] if origin else ""
        self._references, self._notes = self._find_notes()
        texts = list(compress(segments.columns.texts, kept))
        self._uses_dollars = any("$" in text and may_use_dollars(text) for text in texts) and uses_dollars(tree)
        self._may_have_tex = self._uses_dollars or any("\\" in text or "$$" in text for text in texts)
        self._cells_left = _MAX_ADDED_CELLS
        # By identity, with the cell, since another might get the place in memory of one that is gone.
        self._spans: dict[int, tuple[Content, int, int]] = {}
        # The text that was gathered since the last block ended.
        self._runs: list[_Run] = []
        self._block = -1
        self._owner = Content("document")
        self._text_type: ContentType = "paragraph"

    def build(self) -> Content:  # noqa: C901, PLR0912, PLR0915 - one loop, as in html/segment.py
        """Walk over the page."""
        document = self._owner
        # What to go back to when an element has ended, and whether it is block-level.
        frames: list[tuple[Iterator[Any], _Marks, Content, ContentType, bool]] = []
        depth = 0
        marks: _Marks = ()
        coming: Iterator[Any] = iter(self._tree)
        block_of, wanted, spaced, runs = self._block_of, self._wanted, self._spaced, self._runs
        while True:
            for node in coming:
                if type(node) is Text:
                    block = block_of.get(node)
                    if block is not None:
                        if block != self._block:
                            if self._block >= 0:  # else a picture stands before the first text of its block
                                self._end_block()
                            self._block = block
                        runs.append((f" {node.data}" if node in spaced else node.data, marks))
                    elif runs and node.data.isspace():
                        runs.append((" ", marks))
                    continue
                if node not in wanted:
                    if type(node) is Element:
                        self._pass(node, marks)
                    continue
                tag = getattr(node, "tag", "")
                if tag in _CODE_TAGS and node.find("table") is None:
                    self._add_code(node)
                    continue
                formula = None
                if tag in _CLASSED:
                    names = node.attr("class")
                    if names and not _CLASSES.isdisjoint(words := names.split()):
                        if _is_tool(node, words):
                            continue
                        formula = read_formula(node)
                elif tag in FORMULA_TAGS:
                    formula = read_formula(node)
                if formula is not None:
                    self._add_formula(formula, tag, marks)
                    if self._block < 0:
                        self._block = next((block_of[text] for text in node.descendants if text in block_of), -1)
                    continue
                if node in self._references:
                    runs.append((Content("reference", label=self._references[node]), marks))
                    continue
                role = ROLES.get(tag)
                if role in _INLINE_ROLES and type(node) is Element:
                    if tag == "a" and self._is_no_text(node):
                        continue
                    frames.append((coming, marks, self._owner, self._text_type, False))
                    if tag in _MARKS and _MARKS[tag] not in marks:
                        marks = self._mark(node, tag, marks)
                else:
                    if runs:
                        self._end_block()
                    frames.append((coming, marks, self._owner, self._text_type, True))
                    if tag in _TEXT_TYPES:
                        self._text_type = _TEXT_TYPES[tag]
                    elif depth < _MAX_DEPTH and (container := self._container(node, tag)) is not None:
                        self._owner, self._text_type = container, "paragraph"
                        depth += 1
                coming = iter(node)
                break
            else:
                if not frames:
                    break
                coming, marks, owner, text_type, is_block = frames.pop()
                if is_block:
                    if runs:
                        self._end_block()
                    if self._owner is not owner:
                        self._close(self._owner, owner)
                        depth -= 1
                self._owner, self._text_type = owner, text_type
        self._end_block()
        return document

    def _pass(self, element: Element, marks: _Marks) -> None:  # noqa: C901, PLR0912 - one branch a tag
        """Take in an element that holds no kept text, but may be part of what is around it."""
        tag = element.tag
        is_inside = bool(self._runs) or (self._owner.type in HOLD_BLOCKS and bool(self._owner.children))
        if tag == "br":
            self._add_break(marks)
        elif tag in _FORMULAS_WITHOUT_TEXT and is_inside and (formula := read_formula(element)) is not None:
            self._add_formula(formula, tag, marks)
        elif tag == "img":
            if element in self._images:
                alt = " ".join(as_text(element.attr("alt")).split())
                address = self._resolve(_address_of_image(element))
                self._runs.append((Content("image", [alt] if alt else [], address=address), marks))
        elif tag == "hr":
            self._end_block()
            if self._owner.type in HOLD_BLOCKS and self._owner.children:
                self._owner.children.append(Content("rule"))
        elif tag in _CELL_TAGS:
            if self._owner.type == "row":
                self._owner.children.append(self._cell(element, tag))
        elif tag == "input":
            owner = self._owner
            if owner.type == "item" and not owner.children and not self._runs and _is_task(element):
                owner.checked = element.attr("checked") is not None
        elif self._runs and ROLES.get(tag) in _INLINE_ROLES:
            for inner in element.descendants:
                if isinstance(inner, Text):
                    if not inner.data.isspace():
                        break
                    self._runs.append((" ", marks))
                elif not isinstance(inner, Element):
                    continue
                elif inner.tag == "br":
                    self._add_break(marks)
                elif inner.tag in _FORMULAS_WITHOUT_TEXT and (formula := read_formula(inner)) is not None:
                    self._add_formula(formula, inner.tag, marks)
                    if inner.tag == "script":
                        break  # what comes next is its text
        elif is_inside and ROLES.get(tag) is Role.BLOCK and (formulas := _formulas_alone(element)):
            self._end_block()
            self._runs += [(Content("formula", [tex], display=display), ()) for tex, display in formulas]
            self._end_block()

    def _add_break(self, marks: _Marks) -> None:
        """A line break; two break the block, as in html/segment.py."""
        if not self._runs:
            return
        last = next((value for value, _ in reversed(self._runs) if value != " "), None)
        if isinstance(last, Content) and last.type == "break":
            self._end_block()
        else:
            self._runs.append((Content("break"), marks))

    def _add_formula(self, formula: Formula, tag: str, marks: _Marks) -> None:
        is_block = ROLES.get(tag) is Role.BLOCK
        if is_block:
            self._end_block()
        if formula.tex:
            self._runs.append((Content("formula", [formula.tex], display=formula.display), marks))
        if is_block:
            self._end_block()

    def _mark(self, element: Element, tag: str, marks: _Marks) -> _Marks:
        """The marks of what is inside an inline element."""
        code = marks[-1:] if _is_code(marks) else ()
        if tag == "a":
            address = self._resolve(as_text(element.attr("href")))
            around = [mark for mark in marks if isinstance(mark, str)]  # a link holds no other
            return (*around, _Mark("link", address), *code) if address else marks
        if code:
            return marks
        mark = _MARKS[tag]
        return (*marks, _Mark("code-span") if mark == "code-span" else mark)

    def _container(self, element: Element, tag: str) -> Content | None:
        """What an element makes of what is inside, other than a mere block; it is put into its place by `_close`."""
        if element in self._notes:
            return Content("footnote", label=self._notes[element])
        type_ = _CONTAINERS.get(tag)
        if type_ is None or (type_ == "row" and self._owner.type != "table"):
            return None
        if type_ == "cell":
            return self._cell(element, tag) if self._owner.type == "row" else None
        container = Content(type_)
        if tag == "ol":
            container.ordered = True
            container.start = _number(element, "start", 1)
        elif tag == "li" and self._owner.ordered and not self._owner.children:
            self._owner.start = _number(element, "value", self._owner.start)
        elif tag == "tr":
            section = getattr(element.parent, "tag", "")
            container.is_header = section == "thead"
            container.level = (section == "tfoot") - (section == "thead")  # the order of its section, for `_table`
        return container

    def _cell(self, element: Element, tag: str) -> Content:
        cell = Content("cell", is_header=tag == "th")
        if not element.attrs:  # most have none
            return cell
        align = as_text(element.attr("align")).lower()
        style = as_text(element.attr("style"))
        if style and (aligned := _ALIGN.search(style)):
            align = aligned[1].lower()
        if align in ("left", "center", "right"):
            cell.align = align  # type: ignore[assignment] # mypy does not narrow a string by a tuple
        spans = _number(element, "colspan", 1), _number(element, "rowspan", 1)
        if spans != (1, 1):
            self._spans[id(cell)] = (cell, *spans)
        return cell

    def _close(self, container: Content, owner: Content) -> None:
        """Put a container that has ended into the one around it, if it holds anything."""
        children = container.nodes
        while children and children[-1].type == "rule":
            children.pop()
        if not children and container.type != "cell":
            return
        match container.type:
            case "table":
                owner.children += self._table(container)
            case "row":  # a shadow root may put a text beside its cells
                container.children = [one if one.type == "cell" else Content("cell", [one]) for one in children]
                owner.children.append(container)
            case "list":
                owner.children += _tidy_list(container)
            case "definitions":
                owner.children += _tidy_definitions(container)
            case "item" if all(child.type == "list" for child in children):
                # Its own text was dropped: what is below it moves up.
                _holder(owner, "list").children += [item for child in children for item in child.children]
            case "item" | "definition":
                _holder(owner, _BELONGS_IN[container.type]).children.append(container)
            case "figure" if not any(child.type == "caption" for child in children):
                owner.children += children
            case "details" if children[0].type != "summary":
                owner.children += children
            case _:
                owner.children.append(container)

    def _end_block(self) -> None:
        """Make a block of the text that was gathered."""
        block, self._block = self._block, -1
        if not self._runs:
            return
        children = _nest(self._runs)
        if self._may_have_tex:
            children = self._with_formulas(children)
        self._runs.clear()
        if not children:
            return
        owner, type_, level = self._owner, self._text_type, 0
        if type_ == "paragraph" and block >= 0 and self._kinds[block] is Kind.HEADING:
            type_, level = "heading", self._levels[block]
            only = children[0]
            if len(children) == 1 and isinstance(only, Content) and only.type == "strong":
                children = only.children  # a heading is strong as it is
        elif type_ == "summary" and (owner.type != "details" or owner.children):
            type_ = "paragraph"
        elif type_ == "paragraph" and len(children) == 1:
            only = children[0]
            if isinstance(only, Content) and only.type == "formula" and only.display:
                owner.children.append(only)
                return
        if type_ == "term":
            owner = _holder(owner, "definitions")
        owner.children.append(Content(type_, children, level=level, block=block))

    def _with_formulas(self, children: list[Content | str]) -> list[Content | str]:
        """Inline content, with the TeX in its texts as formulas, which may go over several lines."""
        content: list[Content | str] = []
        lines: list[str] = []
        for child in (*children, None):
            if isinstance(child, str):
                lines.append(child)
            elif child is not None and child.type == "break":
                lines.append("\n")
            else:
                content += self._split_text("".join(lines))
                lines.clear()
                if child is not None:
                    if child.type in HOLD_INLINE:
                        child.children = self._with_formulas(child.children)
                    content.append(child)
        return content

    def _split_text(self, text: str) -> Iterator[Content | str]:
        for part in split_formulas(text, dollars=self._uses_dollars):
            if isinstance(part, str):
                for i, line in enumerate(part.split("\n")):
                    if i:
                        yield Content("break")
                    if line:
                        yield line
            else:
                yield Content("formula", [part.tex], display=part.display)

    def _add_code(self, element: Element) -> None:
        """A block of code, as it stands."""
        self._end_block()
        parts: list[str] = []
        first = previous = -1
        is_new_line = True  # nothing but white space since the line began
        tools: set[Node | None] = set()  # and what is in them
        for node in chain((element,), element.descendants):
            if node.parent in tools or (
                isinstance(node, Element)
                and (node.tag == "button" or _is_tool(node, as_text(node.attr("class")).split()))
            ):
                tools.add(node)
            elif isinstance(node, Text):
                data = node.data
                block = self._block_of.get(node, -1)
                if block >= 0:
                    if first < 0:
                        first = block
                    elif block != previous and not is_new_line:
                        parts.append("\n")
                    previous = block
                    parts.append(data)
                    is_new_line = data.rstrip(" \t").endswith("\n")
                elif data.isspace():
                    parts.append(data)
                    is_new_line = is_new_line or "\n" in data
            elif getattr(node, "tag", "") == "br" or (
                not is_new_line and ROLES.get(getattr(node, "tag", "")) is Role.BLOCK  # some have a <div> a line
            ):
                parts.append("\n")
                is_new_line = True
        text = "".join(parts).replace("\xa0", " ").replace(_SOFT_HYPHEN, "")
        text = _BLANK_LINES.sub("", text).rstrip()
        if text:
            self._owner.children.append(Content("code", [text], language=_language(element), block=first))

    def _resolve(self, address: str) -> str:
        """An absolute address, where the page's is known; "" for what is none. The writers drop what could run."""
        address = address.strip()
        if not address or not self._base or address.startswith(("https://", "http://")):
            return address
        if address[0] == "#":
            return self._base.partition("#")[0] + address
        if self._origin and address[0] == "/" and address[1:2] != "/" and "/." not in address:
            return self._origin + address
        try:
            return urljoin(self._base, address)
        except ValueError:  # such as //[
            return ""

    def _is_no_text(self, element: Element) -> bool:
        """Whether a link leads to the heading that it is in, or back from the footnote that it is in."""
        href = as_text(element.attr("href"))
        if "#" not in href:
            return False
        text = element.text.strip()
        has_words = any(map(str.isalnum, text))
        if self._block_is_heading(element):
            return not has_words or (_PERMALINK.fullmatch(text) is not None and _has_text_beside(element))
        return self._owner.type == "footnote" and href.startswith("#") and (not has_words or len(text) == 1)

    def _block_is_heading(self, element: Element) -> bool:
        return any(getattr(ancestor, "tag", "") in HEADING_LEVELS for ancestor in islice(element.ancestors, 3))

    def _find_notes(self) -> tuple[dict[Node, str], dict[Node, str]]:
        """The references to footnotes, and the footnotes, each with its label."""
        wanted = self._wanted
        found: dict[str, list[Element]] = {}
        for link in self._tree.select('a[href^="#"]'):
            if link in wanted and _is_note_reference(link):
                found.setdefault(as_text(link.attr("href"))[1:], []).append(link)
        if not found:
            return {}, {}
        targets: dict[str, Element] = {}
        for node in wanted:
            if isinstance(node, Element) and node.tag in _NOTE_TAGS and as_text(node.attr("id")) in found:
                targets.setdefault(as_text(node.attr("id")), node)
        references: dict[Node, str] = {}
        notes: dict[Node, str] = {}
        labels: set[str] = set()
        for name, links in found.items():
            note = targets.get(name)
            if note is None or note in notes or any(map(note.find, HEADING_LEVELS)):
                continue
            number = links[0].text.strip(_AROUND_NUMBER)
            label = number if _LABEL.fullmatch(number) and number not in labels else f"note-{len(labels) + 1}"
            labels.add(label)
            notes[note] = label
            for link in links:
                references[_whole_reference(link)] = label
        return references, notes

    def _table(self, table: Content) -> list[Content | str]:
        """A table of data, or, of a table for layout, what is in its cells.

        A table is one of data if some row has several cells, and every cell holds one text and no heading; or, if there
        is a header cell, paragraphs and lists, which become the lines of one text. Merged cells are taken apart: the
        first of the places that they cover has the text, the others are empty.
        """
        # The sections of a table may stand in any order.
        rows = sorted((child for child in table.nodes if child.type == "row"), key=lambda row: row.level)
        captions = [child for child in table.nodes if child.type == "caption"]
        text_of = _lines if any(cell.is_header for row in rows for cell in row.nodes) else _only_text
        texts = [[text_of(cell) for cell in row.nodes] for row in rows]
        is_data = (
            len(rows) + len(captions) == len(table.children)
            and all(text is not None for row in texts for text in row)
            and any(sum(map(bool, row)) > 1 for row in texts)
        )
        grid = self._grid(rows) if is_data else None
        if grid is None:
            blocks: list[Content | str] = []
            for child in table.nodes:
                blocks += [block for cell in child.nodes for block in cell.children] if child.type == "row" else [child]
            return blocks
        used = [any(row[column].children for row in grid) for column in range(len(grid[0]))]
        for row, cells in zip(rows, grid, strict=True):
            row.children = list(compress(cells, used))
            for cell in row.nodes:
                cell.children = text_of(cell) or []
            row.is_header = row.is_header or all(cell.is_header for cell in row.nodes if cell.children)
        return [Content("table", [*captions, *rows])]

    def _grid(self, rows: list[Content]) -> list[list[Content]] | None:
        """The cells of each row, with empty ones where others reach into it, and at its end; None if they are too many.

        One long row, or a merged cell, must not blow up a table of many short ones.
        """
        grid: list[list[Content]] = []
        reaching: dict[int, int] = {}  # column: how many more rows a cell above reaches into
        # A cell that has a row to itself may be said to be far wider than the table.
        widths = (
            sum(self._spans.get(id(cell), (cell, 1, 1))[1] for cell in row.nodes)
            for row in rows
            if len(row.children) > 1
        )
        widest = max(widths, default=1)
        for row in rows:
            cells: list[Content] = []
            for cell in (*row.nodes, None):
                while reaching.get(len(cells), 0) > 0:
                    if not self._may_add(1):
                        return None
                    reaching[len(cells)] -= 1
                    cells.append(Content("cell"))
                if cell is None:
                    break
                _, width, height = self._spans.get(id(cell), (cell, 1, 1))
                if len(row.children) == 1:
                    width = min(width, widest)
                if not self._may_add(width - 1):
                    return None
                if height > 1:
                    reaching |= dict.fromkeys(range(len(cells), len(cells) + width), height - 1)
                cells += [cell, *(Content("cell", align=cell.align) for _ in range(width - 1))]
            grid.append(cells)
        width = max(map(len, grid))
        if not self._may_add(sum(width - len(cells) for cells in grid)):
            return None
        for cells in grid:
            cells += [Content("cell") for _ in range(width - len(cells))]
        return grid

    def _may_add(self, cells: int) -> bool:
        """Whether so many empty cells may be added; if so, they count."""
        if cells > self._cells_left:
            return False
        self._cells_left -= cells
        return True


def _formulas_alone(element: Element) -> list[Formula]:
    """The formulas of an element that shows no text, such as a picture on a line of its own."""
    found: list[Formula] = []
    if element.find("script") is None and (text := element.text) and not text.isspace():  # as most
        return found
    for node in element.descendants:
        if isinstance(node, Text):
            if not node.data.isspace() and getattr(node.parent, "tag", "") != "script":
                return []
        elif isinstance(node, Element) and node.tag in _FORMULAS_WITHOUT_TEXT:
            formula = read_formula(node)
            if formula is not None and formula.tex:
                found.append(formula)
    return found


def _nest(runs: list[_Run]) -> list[Content | str]:  # noqa: C901, PLR0912, PLR0915 - one loop, run for every block
    """Runs of text with their marks, to text in nested marks.

    Neighbours share the marks that they have in common. White space is collapsed; a space or a line break between two
    runs has only the marks that are around both.
    """
    content: list[Content | str] = []
    target = content  # where the next one goes: into the last of those that are open
    opened: list[Content] = []
    open_marks: _Marks = ()
    texts: list[str] = []  # that stand together, since joining one by one takes quadratic time
    has_begun = space = line_break = False
    for value, own_marks in runs:
        marks = own_marks
        if isinstance(value, str):
            text = _collapse(value)
            space = space or value[0].isspace()
            if not text:
                space = space or value[-1].isspace()  # else a soft hyphen stands alone
                continue
        elif value.type == "break":
            line_break = has_begun
            continue
        elif _is_code(marks):
            marks = marks[:-1]  # code is text alone
        if marks is not open_marks or line_break:
            shared = len(_common(open_marks, marks))
            if line_break and _is_code(marks[:shared]):
                shared -= 1
            if len(opened) > shared:
                if texts:
                    target.append("".join(texts))
                    texts = []
                del opened[shared:]
                target = opened[-1].children if opened else content
        if line_break:
            if texts:
                target.append("".join(texts))
                texts = []
            target.append(Content("break"))
        elif space and has_begun:
            texts.append(" ")
        if len(marks) > len(opened):
            if texts:
                target.append("".join(texts))
                texts = []
            for mark in marks[len(opened) :]:
                node = Content(mark) if isinstance(mark, str) else Content(mark.type, address=mark.address)
                target.append(node)
                opened.append(node)
                target = node.children
        open_marks = marks
        has_begun, space, line_break = True, False, False
        if isinstance(value, str):
            texts.append(text)
            space = value[-1].isspace()
        else:
            if texts:
                target.append("".join(texts))
                texts = []
            target.append(value)
    if texts:
        target.append("".join(texts))
    return content


def _common(first: _Marks, second: _Marks) -> _Marks:
    """The marks that two pieces of text have in common, from the outside."""
    if first == second:
        return first
    for i, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return first[:i]
    return first[: len(second)]


def _is_code(marks: _Marks) -> bool:
    return bool(marks) and not isinstance(marks[-1], str) and marks[-1].type == "code-span"


def _collapse(text: str) -> str:
    if _SOFT_HYPHEN in text:
        text = text.replace(_SOFT_HYPHEN, "")
    return " ".join(text.split())


def _holder(owner: Content, type_: ContentType) -> Content:
    """The list that an item belongs in, which is made if it stands in none."""
    if owner.type == type_:
        return owner
    last = owner.children[-1] if owner.children else None
    if isinstance(last, Content) and last.type == type_ and not last.ordered:
        return last
    made = Content(type_)
    owner.children.append(made)
    return made


def _tidy_list(container: Content) -> list[Content | str]:
    """A list whose children are items: what stands beside them becomes one, or a part of the one before."""
    items: list[Content] = []
    notes: list[Content | str] = []
    for child in container.nodes:
        if child.type == "item":
            items.append(child)
        elif child.type == "footnote":
            notes.append(child)
        elif child.type != "list":
            items.append(Content("item", [child]))
        elif items:
            items[-1].children.append(child)
        else:
            items += child.nodes
    container.children = [*items]
    return [container, *notes] if items else notes


def _tidy_definitions(container: Content) -> list[Content | str]:
    """A definition list that has both terms and definitions; of others, what is in it."""
    types = {child.type for child in container.nodes}
    if "term" in types and "definition" in types:
        container.children = [
            child if child.type in ("term", "definition") else Content("definition", [child])
            for child in container.nodes
        ]
        return [container]
    blocks: list[Content | str] = []
    for child in container.nodes:
        if child.type == "term":
            child.type = "paragraph"
        blocks += child.children if child.type == "definition" else [child]
    return blocks


def _only_text(cell: Content) -> list[Content | str] | None:
    """The text of a table's cell; None for one that holds more than a text."""
    if not cell.children:
        return []
    if len(cell.children) > 1:
        return None
    only = cell.nodes[0]
    if only.type in ("paragraph", "caption"):
        return only.children
    if only.type == "formula":
        return [only]
    return _only_text(only) if only.type in ("list", "item", "quote", "figure") else None


def _lines(cell: Content) -> list[Content | str] | None:
    """The paragraphs and list items of a table's cell as lines; None for one that holds something else."""
    lines: list[Content | str] = []
    for block in cell.nodes:
        if block.type in ("paragraph", "caption"):
            found: list[Content | str] | None = block.children
        elif block.type == "formula":
            found = [block]
        else:
            found = _lines(block) if block.type in ("list", "item", "quote", "figure", "definition") else None
        if found is None:
            return None
        lines += [Content("break"), *found] if lines else found
    return lines


def _number(element: Element, name: str, otherwise: int) -> int:
    """The number that an attribute gives."""
    text = as_text(element.attr(name)).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def _is_tool(element: Element, classes: Sequence[str]) -> bool:
    """Whether an element holds links to edit a section, or the numbers of lines."""
    if _LINE_NUMBERS.isdisjoint(classes):
        return _EDIT_LINK in classes
    return not any(map(str.isalpha, chain.from_iterable(islice(element.strings, _MOST_NUMBERS))))


def _language(element: Element) -> str:
    """The language of a block of code, if a class of it, in it or around it says."""
    inner = next((child for child in element if isinstance(child, Element) and child.tag == "code"), None)
    for node in (inner, element, element.parent, element.parent.parent if element.parent is not None else None):
        if not isinstance(node, Element):
            continue
        names = as_text(node.attr("class"))
        declared = next(filter(None, (as_text(node.attr(name)) for name in _LANGUAGE_ATTRIBUTES)), "")
        found = _LANGUAGE.search(names)
        words = names.split()
        if not declared and found:
            declared = found[1]
        elif not declared and len(words) > 1 and words[0] in ("hljs", "sourceCode"):
            declared = words[1]
        elif not declared and node.tag in ("code", "pre"):
            declared = next((word for word in words if word.lower() in _LANGUAGES), "")
        declared = declared.lower()
        if declared and declared not in _NO_LANGUAGE and _LANGUAGE_NAME.fullmatch(declared):
            return declared
    return ""


def _images_among(tree: Tree, segments: Segments, kept: Sequence[bool]) -> frozenset[Node]:
    """The pictures inside of a kept block, or beside one and between two."""
    block_of = {node: i for i in range(len(kept)) for node in segments.text_nodes(i)}
    kept_elements = {element for element, is_kept in zip(segments.elements, kept, strict=True) if is_kept}
    found: set[Node] = set()
    waiting: list[Node] = []  # since the last text
    beside: list[Node] = []  # after a text that was kept, if there comes another one
    before: bool | None = None  # whether that was kept; None before the first that was
    for node in tree.descendants:
        if isinstance(node, Element):
            if node.tag != "img" or not _address_of_image(node) or _is_tracker(node):
                continue
            if any(parent in kept_elements for parent in islice(node.ancestors, _INLINE_DEPTH)):
                found.add(node)
            elif before is not None:
                waiting.append(node)
        elif isinstance(node, Text) and node in block_of:
            if kept[block_of[node]]:
                found.update(waiting, beside)
                beside = []
                before = True
            elif before is not None:
                beside += waiting if before else []
                before = False
            waiting = []
    return frozenset(found)


def _address_of_image(image: Element) -> str:
    """Where a picture is, also if it is loaded only when it is scrolled to."""
    address = as_text(image.attr("src")).strip()
    if address and not address.startswith("data:") and not _PLACEHOLDER.search(address):
        return address
    lazy = next(filter(None, (as_text(image.attr(name)).strip() for name in _LAZY)), "")
    if not lazy:
        parent = image.parent
        is_choice = isinstance(parent, Element) and parent.tag == "picture"
        # Not the first children of the picture: the parser would list all of them anew for each image in it.
        before = reversed([*islice(image.previous_siblings, _MOST_SOURCES)])
        beside = chain(before, islice(image.next_siblings, _MOST_SOURCES)) if is_choice else ()
        sources = (node for node in beside if isinstance(node, Element) and node.tag == "source")
        sets = (as_text(one.attr("srcset") or one.attr("data-srcset")) for one in chain((image,), sources))
        lazy = next(filter(None, map(_largest, sets)), "")
    return lazy or ("" if address.startswith("data:") or _SPACER.search(address) else address)


def _largest(candidates: str) -> str:
    """The largest of the pictures of a `srcset`."""
    found = () if "{{" in candidates else _CANDIDATE.findall(candidates)
    sizes = [(float(size or 1), address) for address, size in found]
    return max(sizes, key=itemgetter(0))[1] if sizes else ""


def _is_tracker(image: Element) -> bool:
    return any(_number(image, name, _LARGEST_TRACKER + 1) <= _LARGEST_TRACKER for name in ("width", "height"))


def _is_task(box: Element) -> bool:
    """Whether a box tells the state of a task: one that can be ticked may fold comments, or be part of a form."""
    if as_text(box.attr("type")).lower() != "checkbox":
        return False
    around = (box, *(node for node in islice(box.ancestors, 2) if isinstance(node, Element)))
    return box.attr("disabled") is not None or any("task" in as_text(node.attr("class")) for node in around)


def _is_note_reference(link: Element) -> bool:
    text = link.text.strip(_AROUND_NUMBER)
    if not text or len(text) > _LONGEST_NUMBER:
        return False
    parent = link.parent
    return (
        getattr(parent, "tag", "") == "sup"
        or any(isinstance(child, Element) and child.tag == "sup" for child in link)
        or as_text(link.attr("role")) == "doc-noteref"
        or _NOTE_REFERENCE.search(as_text(link.attr("class"))) is not None
    )


def _has_text_beside(element: Element, ignored: str = "") -> bool:
    """Whether other text stands in the same element, but for ignored characters.

    The nearest is looked at first: a thousand such links may stand beside each other.
    """
    return any(
        text.strip().strip(ignored)
        for sibling in chain(element.previous_siblings, element.next_siblings)
        for text in ([sibling.data] if isinstance(sibling, Text) else sibling.strings)
    )


def _whole_reference(link: Element) -> Element:
    """The reference with the brackets and the `<sup>` around it."""
    parent = link.parent
    if not isinstance(parent, Element) or parent.tag != "sup":
        return link
    return link if _has_text_beside(link, _AROUND_NUMBER) else parent
