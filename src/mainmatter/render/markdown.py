r"""Markdown: CommonMark and GitHub's extensions, written so that a parser reads back what the content says.

What neither has is written in the form that most tools know: definition lists as in PHP Markdown Extra, footnotes as
`[^1]`, formulas as `$...$`, and subscripts and superscripts as tags, which is the only form that there is. Text is
escaped where a parser would otherwise read markup, and nowhere else.

A page's text must not become HTML or a link in any parser, also one that knows fewer extensions. So "<" is written as
`&lt;`, and so on: not every parser knows `\<`, and one that makes links of bare addresses takes the backslash for a
part of the address.

Each block becomes a string, and a container indents the strings of its blocks. The content of a line is first
flattened: a list of texts (`str`) and of pieces of Markdown (`_Markdown`), among them the marks where emphasis begins
or ends (`_Delimiter`). Parsers decide by the characters on both sides of an asterisk whether it opens or closes
(https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run), so every mark is checked by the same rules.
"""

from __future__ import annotations

import json
import re
import string
import unicodedata
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, cast

from mainmatter.errors import InputError
from mainmatter.render.build import content_of
from mainmatter.render.content import HOLD_BLOCKS, Content, is_harmless
from mainmatter.render.text import COMMENTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mainmatter.records import Extraction, Metadata

_DEEPEST: Final = 32  # containers inside of each other; what is deeper is written at that depth
_ROUNDS: Final = 6  # how often emphasis is tried that a parser would read otherwise; then the line has none


def render(
    extraction: Extraction,
    *,
    links: bool = True,
    images: bool = False,
    tables: bool = True,
    headings: Literal["atx", "setext"] = "atx",
    front_matter: bool = False,
) -> str:
    """What was kept as Markdown; comments that are marked are a section at the end.

    Args:
        extraction: what was decided.
        links: keep the addresses of links; otherwise their text alone.
        images: keep pictures.
        tables: write tables as tables; otherwise each row as a line of text.
        headings: `atx` writes "# Title"; `setext` underlines headings of the first two levels.
        front_matter: begin with what the page says about itself, as YAML.

    Raises:
        InputError: the style of headings is unknown.
    """
    if headings not in ("atx", "setext"):
        raise InputError(f'{headings!r} is not a style of headings; use "atx" or "setext"')
    content = content_of(extraction, images=images)
    written = to_markdown(content, links=links, images=images, tables=tables, headings=headings)
    if not front_matter:
        return written
    metadata = extraction.metadata
    return "\n\n".join(filter(None, (_front_matter(metadata, extraction.document.page.url), written)))


def to_markdown(
    content: Content,
    *,
    links: bool = True,
    images: bool = True,
    tables: bool = True,
    headings: Literal["atx", "setext"] = "atx",
) -> str:
    """A tree of content as Markdown; `render` describes the options."""
    written = "\n\n".join(_MarkdownWriter(links, images, tables, headings == "setext").blocks([content]))
    for control in _REMOVED_CONTROLS:
        if control in written:
            written = written.replace(control, "\ufffd")
    return written


# Python-Markdown removes them, after which a "<" and a letter, for instance, stand beside each other.
_REMOVED_CONTROLS = "\x02\x03"
# What would end a line of YAML, or may not stand in it; and what would begin a tag or end the text of a link in parsers
# that take front matter for Markdown.
_NOT_YAML = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff<]|\](?=\()")


def _front_matter(metadata: Metadata, url: str | None) -> str:
    """Metadata as YAML between two lines of hyphens; "" if there are none.

    Texts are double-quoted, which in YAML is JSON; a date is a date.
    """
    values = {name: getattr(metadata, name) for name in ("title", "author", "date", "url", "site", "language")}
    values["url"] = metadata.url or url
    values["description"] = metadata.description
    lines = []
    for name, value in values.items():
        if not value:
            continue
        written = json.dumps(value, ensure_ascii=False)
        written = _NOT_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
        lines.append(f"{name}: {value if name == 'date' and _is_date(value) else written}")
    return "\n".join(["---", *lines, "---"]) if lines else ""


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


class _MarkdownWriter:
    """Writes content by one set of options."""

    __slots__ = ("images", "links", "setext", "tables")

    def __init__(self, links: bool, images: bool, tables: bool, setext: bool) -> None:
        self.links, self.images, self.tables, self.setext = links, images, tables, setext

    def blocks(self, nodes: Iterable[Content | str], depth: int = 0) -> list[str]:
        """Each block as a string, without indentation; what is empty is left out."""
        found: list[str] = []
        after_list: tuple[bool, str, int] | None = None  # the list before: ordered, its delimiter, its next number
        separators: dict[int, str] = {}  # before those, by number, that continue the list before
        for node in _flat(nodes) if depth > _DEEPEST else nodes:
            if isinstance(node, str):  # the tree has none here
                continue
            kind = node.type
            if kind == "paragraph":
                if len(node.children) == 1 and _is_display(node.children[0]):
                    found += self.other(cast("Content", node.children[0]), depth)
                elif text := self.line(node.children):
                    found.append(_protect(text))
            elif kind == "heading":
                if text := self.heading(node):
                    found.append(text)
            elif kind == "list":
                if items := self.items(node, depth, after_list):
                    written, after_list, continues = items
                    if continues:
                        separators[len(found)] = "\n\n" if "\n\n" in written else "\n"
                    found.append(written)
                continue
            else:
                found += self.other(node, depth)
            after_list = None
        return _joined_blocks(found, separators) if separators else found

    def other(self, node: Content, depth: int) -> list[str]:  # noqa: PLR0911 - one a type
        """The blocks that a page has less often."""
        match node.type:
            case "quote":
                text = "\n\n".join(self.blocks(node.children, depth + 1))
                return ["> " + text.replace("\n", "\n> ").replace("> \n", ">\n")] if text else []
            case "code":
                return _fenced("".join(map(str, node.children)), node.language)
            case "table":
                return self.table(node)
            case "caption":
                text = self.line([Content("emphasis", node.children)])
                return [_protect(text)] if text else []
            case "summary":
                text = self.line([Content("strong", node.children)])
                return [_protect(text)] if text else []
            case "definitions":
                return self.definitions(node, depth)
            case "footnote":
                text = "\n\n".join(self.blocks(node.children, depth + 1))
                return [f"[^{node.label}]: {_indented(_no_address(text), '    ')}"] if text else []
            case "rule":
                return ["---"]
            case "formula":
                tex = _BLANK_LINES.sub("\n", _tex_of(node).strip())
                return [f"$$\n{tex}\n$$"] if tex else []
            case "comments":
                inside = self.blocks(node.children, depth + 1)
                return [self.heading(Content("heading", [COMMENTS], level=2)), *inside] if inside else []
            case "document" | "figure" | "details" | "item" | "definition":
                return self.blocks(node.children, depth + 1)
            case _:  # a term without its list, or what stands in lines
                text = self.line(node.children if node.type == "term" else [node])
                return [_protect(text)] if text else []

    def heading(self, node: Content) -> str:
        if self.setext and node.level <= 2:
            text = _protect(self.line(node.children))
            width = max(3, min(80, len(text.rpartition("\n")[2])))
            return f"{text}\n{('=' if node.level <= 1 else '-') * width}" if text else ""
        text = _CLOSING_HASHES.sub(r"\\\g<0>", self.line(node.children, breaks=False))
        return f"{'#' * min(max(node.level, 1), 6)} {text}" if text else ""

    def items(
        self, node: Content, depth: int, before: tuple[bool, str, int] | None
    ) -> tuple[str, tuple[bool, str, int], bool] | None:
        """The items of a list.

        A list of bullets that follows another continues it: that two lists meet can only be seen if one has other
        bullets, for no reason that a reader could tell. Of numbered lists the second has "1)" unless it goes on
        counting.

        Returns:
            The items; what the next list must know about this one; whether it continues the one before. None if it is
            empty.
        """
        ordered, number, delimiter = node.ordered, max(node.start, 0) if node.ordered else 0, "."
        continues = before is not None and before[0] == ordered and (not ordered or before[2] == number)
        if before is not None and before[0] == ordered:
            delimiter = before[1] if continues else "." if before[1] == ")" else ")"
        written = []
        is_tight = True
        for item in node.children:
            if isinstance(item, str):
                continue
            body = self.blocks(item.children, depth + 1)
            if not body:
                continue
            is_tight = is_tight and _is_tight(item, body)
            marker = f"{number}{delimiter} " if ordered else "- "
            number += 1
            first = item.children[0]
            if item.checked is not None and isinstance(first, Content) and first.type == "paragraph":
                body[0] = f"[{'x' if item.checked else ' '}] {body[0]}"
            elif isinstance(first, Content) and first.type == "rule":  # a rule after "- " would be one longer rule
                body[0] = "***" + body[0][3:]
            written.append((marker, body))
        if not written:
            return None
        gap = "\n" if is_tight else "\n\n"
        lines = [marker + _indented(gap.join(body), " " * len(marker)) for marker, body in written]
        return gap.join(lines), (ordered, delimiter, number), continues

    def table(self, node: Content) -> list[str]:
        """A table's captions and its rows. The first row is the header, since Markdown has no table without one."""
        found = []
        rows: list[list[Content]] = []
        for child in node.children:
            if isinstance(child, str):
                continue
            if child.type == "row":
                rows.append([cell for cell in child.children if isinstance(cell, Content)])
            else:
                found += self.other(child, _DEEPEST)
        if not self.tables:
            texts = [[self.line(cell.children, breaks=False) for cell in row] for row in rows]
            if text := "\\\n".join([" | ".join(row).strip() for row in texts if any(row)]):
                found.append(_protect(text))
            return found
        width = max(map(len, rows), default=0)
        if not width:
            return found
        texts = [[self.line(cell.children, in_cell=True) for cell in row] for row in rows]
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in texts]
        aligns = [next((row[i].align for row in rows if i < len(row) and row[i].align), None) for i in range(width)]
        lines.insert(1, f"| {' | '.join(_ALIGNED[align] for align in aligns)} |")
        found.append("\n".join(lines))
        return found

    def definitions(self, node: Content, depth: int) -> list[str]:
        """Terms and their definitions. Of several terms for one definition, all but the last are paragraphs."""
        found: list[list[str]] = []  # a term and its definitions, or a block
        has_term = False
        for child in node.children:
            if isinstance(child, str):
                continue
            if child.type == "term":
                if text := self.line(child.children, breaks=False):
                    found.append([_protect(text)])
                    has_term = True
            elif body := self.blocks(child.children, depth + 1):
                if has_term:
                    found[-1] += ("\n:   ", _indented("\n\n".join(body), "    "))
                else:
                    found += ([block] for block in body)
        return list(map("".join, found))

    def line(self, nodes: Sequence[Content | str], *, breaks: bool = True, in_cell: bool = False) -> str:
        """What stands in a line, as Markdown; only a break makes a second line of it, if `breaks` allows."""
        if len(nodes) == 1 and isinstance(nodes[0], str):
            text = nodes[0].strip()
            pieces: list[str] = [text]
            has_code = False
        else:
            pieces = self.flatten(nodes, breaks=breaks and not in_cell, in_cell=in_cell)
            classes = {*map(type, pieces)}
            if _Delimiter in classes and not _is_settled(pieces):
                pieces = _settle(pieces)
            if _FormulaSpan in classes:
                pieces = _apart_from_digits(pieces)
            text = "\0".join([piece for piece in pieces if piece.__class__ is str])
            has_code = _CodeSpan in classes
        if has_code or not _is_plain(text):
            pieces = _escaped(_joined(pieces), text)
        written = "".join(pieces)
        return _escape_pipes(written) if in_cell and "|" in written else written

    def flatten(  # noqa: C901, PLR0912, PLR0915 - one loop, which is most of what a page takes
        self, nodes: Sequence[Content | str], *, breaks: bool, in_cell: bool
    ) -> list[str]:
        """Texts and pieces of Markdown, in their order.

        Spaces and breaks at the edges of a mark are put outside of it; marks and links that hold nothing are gone; a
        mark inside of its like has no effect, and one right after its like continues it.
        """
        pieces: list[str] = []
        pending: list[str] = []  # what has begun and has nothing in it yet
        inside: set[str] = set()
        stack: list[tuple[Iterator[Content | str], str, str]] = [(iter(nodes), "", "")]
        while stack:
            for child in stack[-1][0]:
                if isinstance(child, str):
                    text = child
                    if pending or not pieces or pieces[-1] is _BREAK:
                        text = child.lstrip()
                        if pieces and len(text) < len(child) and not _ends_in_space(pieces[-1]):
                            pieces.append(" ")
                        if pending and text:
                            _begin(pieces, pending)
                    if text:
                        pieces.append(text)
                    continue
                kind = child.type
                if kind in _MARKS:
                    inner = child.children
                    if (
                        len(inner) == 1
                        and isinstance(only := inner[0], str)
                        and not pending
                        and kind not in inside
                        and pieces
                        and only[:1].isalnum()
                        and only[-1:] != " "
                        and pieces[-1].__class__ is str
                    ):  # as most are; what follows would come to the same
                        begin, end = _MARKS[kind]
                        pieces += (begin, only, end)
                        continue
                    if kind in inside:
                        stack.append((iter(child.children), "", ""))
                    else:
                        inside.add(kind)
                        pending.append(_MARKS[kind][0])
                        stack.append((iter(child.children), kind, _MARKS[kind][1]))
                    break
                if kind == "link":
                    if not self.links or "link" in inside or not is_harmless(child.address):
                        stack.append((iter(child.children), "", ""))
                    else:
                        inside.add("link")
                        pending.append(_LINK)
                        stack.append((iter(child.children), "link", _LinkEnd(f"]({_target(child)})")))
                    break
                if kind == "break":
                    if not pieces:
                        continue
                    if breaks:
                        _strip_end(pieces)
                        pieces.append(_BREAK)
                    elif not _ends_in_space(pieces[-1]):
                        pieces.append(" ")
                    continue
                if kind == "code-span":
                    code = " ".join("".join(map(str, child.children)).split())
                    if not code:
                        continue
                    # There is no way to write a backslash before a pipe in the code of a cell.
                    written = code if in_cell and "\\|" in code else _CodeSpan.of(code)
                else:
                    written = self.atom(child, in_cell=in_cell)
                    if not written:
                        continue
                if pending:
                    _begin(pieces, pending)
                pieces.append(written)
            else:
                _, ended, end = stack.pop()
                if not ended:
                    continue
                inside.discard(ended)
                if pending:  # it holds nothing
                    pending.pop()
                    continue
                outside = _strip_end(pieces)
                pieces.append(end)
                pieces += outside
        _strip_end(pieces)
        return pieces

    def atom(self, node: Content, *, in_cell: bool) -> str:
        """What has no marks inside of it; "" for nothing."""
        match node.type:
            case "image" if self.images and is_harmless(node.address):
                text = " ".join("".join(map(str, node.children)).split())
                [text] = [text] if _is_plain(text) else _escaped([text], text, in_link=True)
                return _Markdown(f"![{text}]({_target(node)})")
            case "formula":
                tex = " ".join(_tex_of(node).split())
                if in_cell:
                    tex = tex.replace("\\|", "\\Vert ")
                tex = _inner_dollars(tex)
                if tex:
                    return _FormulaSpan(f"$${tex}$$" if node.display else f"${tex}$")
            case "reference":
                return _Markdown(f"[^{node.label}]")
        return ""


def _flat(nodes: Iterable[Content | str]) -> Iterator[Content]:
    """The blocks inside of containers, without the containers; for trees that are too deep."""
    stack = [iter(nodes)]
    while stack:
        for node in stack[-1]:
            if isinstance(node, str):
                continue
            if node.type in HOLD_BLOCKS or node.type in ("list", "definitions"):
                stack.append(iter(node.children))
                break
            yield node
        else:
            stack.pop()


def _joined_blocks(blocks: list[str], separators: dict[int, str]) -> list[str]:
    """Blocks, with those that have a separator put to the one before."""
    joined: list[list[str]] = []
    for i, block in enumerate(blocks):
        if i in separators:
            joined[-1] += (separators[i], block)
        else:
            joined.append([block])
    return list(map("".join, joined))


_ZERO_WIDTH_SPACE = "\u200b"
_CLOSING_HASHES = re.compile(r"(?<![^ ])#+$")
_BLANK_LINES = re.compile(r"\n\s*\n")
_NEXT_LINE = re.compile(r"\n(?=[^\n])")
_TICKS = re.compile("`+")
_ALIGNED = {None: "---", "left": ":---", "center": ":---:", "right": "---:"}


def _indented(text: str, by: str) -> str:
    """A text whose lines but the first are indented, unless they are empty."""
    return _NEXT_LINE.sub("\n" + by, text) if "\n" in text else text


def _no_address(note: str) -> str:
    """A footnote that does not begin with an address that may run: parsers without footnotes link `[^1]` to it."""
    address = note.split(maxsplit=1)[0]
    return _ZERO_WIDTH_SPACE + note if ":" in address[:-1] and not is_harmless(address) else note


def _is_display(node: Content | str) -> bool:
    return isinstance(node, Content) and node.type == "formula" and node.display


def _is_tight(item: Content, body: list[str]) -> bool:
    """Whether an item is one line of text and lists that may follow it without a blank line."""
    if len(body) == 1:
        return True
    first, *others = item.children
    return (
        isinstance(first, Content)
        and first.type == "paragraph"
        and len(body) == 1 + len(others)
        and all(
            isinstance(other, Content) and other.type == "list" and (not other.ordered or other.start == 1)
            for other in others
        )
    )


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0) if "`" in text else 0


def _fenced(code: str, language: str) -> list[str]:
    code = code.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    if not code.strip():
        return []
    fence = "`" * max(3, _longest_ticks(code) + 1)
    name = "".join(language.replace("`", "").split())
    return [f"{fence}{name}\n{code}\n{fence}"]


# What HTML or a link could begin with in parsers that know no formulas. TeX ignores a space there.
_MARKUP_IN_TEX = re.compile(r"<(?=[A-Za-z/!?])|\](?=[(\[:])")


def _tex_of(node: Content) -> str:
    """The TeX of a formula, without what would be other markup if the dollars were text."""
    return _MARKUP_IN_TEX.sub(r"\g<0> ", "".join(map(str, node.children))).replace("`", "\u2018")  # as TeX prints it


def _inner_dollars(tex: str) -> str:
    r"""Formulas inside of a formula's text as `\(...\)`, which TeX knows too, so that no dollar ends the outer one."""
    if "$" not in tex:
        return tex
    pieces = re.split(r"(?<!\\)\${1,2}", tex)
    return "".join(piece if i == 0 else ("\\(" if i % 2 else "\\)") + piece for i, piece in enumerate(pieces))


_UNSAFE = re.compile(r"[\0- \x7f<>\\|`]")
_ENTITY = r"&(?=#?[A-Za-z0-9]+;)"
_IN_TARGET = re.compile(rf"[()$]|{_ENTITY}")  # a dollar sign might end a formula that one before the link begins
_ESCAPED_IN_TARGET = {"(": "\\(", ")": "\\)", "$": "&#36;", "&": "&amp;"}


def _target(node: Content) -> str:
    """Where a link or an image leads."""
    address = node.address
    if _UNSAFE.search(address) is not None:
        address = "".join(address.strip().splitlines())
        address = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", address)
    if "&" in address or "$" in address or (("(" in address or ")" in address) and not _is_balanced(address)):
        address = _IN_TARGET.sub(lambda found: _ESCAPED_IN_TARGET[found[0]], address)
    return address


def _is_balanced(address: str) -> bool:
    """Whether parentheses may stay as they are: parsers count them, but few more than three inside of each other."""
    depth = 0
    for character in address:
        depth += (character == "(") - (character == ")")
        if not 0 <= depth <= 3:
            return False
    return not depth


def _escape_pipes(written: str) -> str:
    r"""Pipes of a cell. Parsers disagree about `\\|`, so that after a backslash the pipe is a reference."""
    return written.replace("\\|", "\\&#124;").replace("|", "\\|")


# ---- The beginning of a line

# Where a line would begin something else than text. Group 1 is what may stand before the backslash.
_STARTS = re.compile(
    r"(?:#{1,6}(?=\s|$)|[-+*:~](?=\s|$)|>|~{3}|([0-9]{1,9})[.)](?=\s|$)|\[[ xX]\](?=\s)"
    r"|(\[(?:[^\[\]\\]|\\.)+\]):|([-_*])(?:[ \t]*\3){2,}[ \t]*$)"
)
_CONTINUES = re.compile(r"=+[ \t]*$|(?=[|: \t]*-)[|: \t-]+$")
_FIRST = frozenset("#-+*:~>[_=|" + string.digits)


def _protect(text: str) -> str:
    """Put a backslash before what begins a line and would be markup there."""
    if "\n" in text:
        lines = text.split("\n")
        return "\n".join([_protect(lines[0]), *map(_protect_next, lines[1:])])
    if text[:1] in _FIRST and (found := _STARTS.match(text)) is not None:
        at = max(found.end(1), found.end(2), 0)
        return f"{text[:at]}\\{text[at:]}"
    return text


def _protect_next(line: str) -> str:
    return f"\\{line}" if _CONTINUES.match(line) is not None else _protect(line)


# ---- Text

_SPECIAL = "\\`*_[]<&~$\n\r"
# Whether two of a kind may form a pair: the first that could open, and any later that could close.
_OPENS = {
    "*": re.compile(r"\*(?=[^\s*])"),
    "_": re.compile(r"(?<![^\W_])_(?=\S)"),
    "~": re.compile(r"~(?=[^\s~])"),
    "$": re.compile(r"\$(?=\S)"),
}
_CLOSES = {
    "*": re.compile(r"(?<=[^\s*])\*"),
    "_": re.compile(r"(?<=\S)_(?![^\W_])"),
    "~": re.compile(r"(?<=[^\s~])~"),
    "$": re.compile(r"(?<=\S)\$(?!\d)"),
}
_ESCAPABLE = re.compile(
    r"(?P<run>\*+|_+|~+)"
    # Also a single backtick, since parsers that know no tables or definitions see several of our texts as one.
    r"|(?P<sure>\\(?=[!-/:-@\[-`{-~]|$)|\[(?=\^)|\^(?=\[)|`)"
    rf"|(?P<reference><(?=[A-Za-z/!?]|$)|\](?=\()|{_ENTITY})"
    r"|(?P<bracket>[\[\]])|(?P<other>\$)|(?P<line>[\n\r]+)"
)
_REFERENCES = {"<": "&lt;", "&": "&amp;", "]": "&#93;"}
_ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)


def _escaped(pieces: list[str], text: str, *, in_link: bool = False) -> list[str]:
    """Pieces of Markdown, with the texts among them escaped where it is needed; `text` is all texts, NUL between."""
    pairs = {mark for mark in _OPENS if mark in text and _may_pair(mark, text, pieces)}
    found: list[str] = []
    ended = 0  # before this piece, no address goes on
    for piece in pieces:
        if piece.__class__ is str:
            found.append(_ESCAPABLE.sub(partial(_escape, pairs, in_link), piece))
            continue
        in_link = piece is _LINK or (in_link and piece.__class__ is not _LinkEnd)
        if not isinstance(piece, _CodeSpan):
            found.append(piece)
            continue
        written = piece.written()
        if "<" in written or "](" in written:
            if _ends_in_address(found[ended:]):  # it would take the backticks, and leave tags or links
                code = _ESCAPABLE.sub(partial(_escape, _OPENS, in_link), "".join(piece.codes))
                written = f"<code>{code}</code>"
            ended = len(found)
        found.append(written)
    return found


def _ends_in_address(written: list[str]) -> bool:
    """Whether a parser may make a link of an address that ends here, which only a space or "<" does for sure."""
    for piece in reversed(written):
        start = max(map(piece.rfind, " \n<")) + 1
        if _ADDRESS.search(piece, start):
            return True
        if start:
            return False
    return False


def _is_plain(text: str) -> bool:
    """Whether a text has no character that may have to be escaped. A look for each is faster than one pattern."""
    for character in _SPECIAL:  # noqa: SIM110 - `all` takes three times as long
        if character in text:
            return False
    return True


def _may_pair(mark: str, text: str, pieces: list[str]) -> bool:
    if _any_contains(pieces, mark):
        return True
    opener = _OPENS[mark].search(text)
    return opener is not None and _CLOSES[mark].search(text, opener.end()) is not None


def _any_contains(pieces: list[str], mark: str) -> bool:
    """Whether our own Markdown has this character; links' addresses do not count."""
    return any(mark in piece for piece in pieces if piece.__class__ in _OURS)


def _escape(pairs: Collection[str], in_link: bool, found: re.Match[str]) -> str:
    characters, kind = found[0], found.lastgroup
    text, start, end = found.string, found.start(), found.end()
    if kind == "line":
        return " "
    if kind == "reference":
        return _REFERENCES[characters]
    if kind == "bracket":
        needs = in_link
    elif kind == "run" and characters[0] in pairs:
        before, after = text[start - 1 : start], text[end : end + 1]
        is_inside = characters[0] == "_" and before.isalnum() and after.isalnum()
        needs = not is_inside and not before == after == " "
    else:
        needs = kind == "sure" or characters[0] in pairs
    return "".join(["\\" + character for character in characters]) if needs else characters


# ---- Marks


class _Markdown(str):
    """A piece of Markdown, not of text."""

    __slots__ = ()


class _CodeSpan(_Markdown):
    """A code span, of which this is the first character."""

    __slots__ = ("codes",)
    codes: list[str]

    @classmethod
    def of(cls, code: str) -> _CodeSpan:
        """A span with one piece of code; more may follow it."""
        span = cls("`")
        span.codes = [code]
        return span

    def written(self) -> str:
        """All of it, in as many backticks as it takes."""
        code = "".join(self.codes)
        longest = _longest_ticks(code)
        ticks = "`" * (longest + 1)
        room = " " if longest and "`" in (code[0], code[-1]) else ""
        return f"{ticks}{room}{code}{room}{ticks}"


class _FormulaSpan(_Markdown):
    """A formula in dollar signs."""

    __slots__ = ()


class _LinkEnd(_Markdown):
    """The end of a link's text, with its address."""

    __slots__ = ()


class _Delimiter(_Markdown):
    """The beginning or the end of emphasis."""

    __slots__ = ("kind", "opens")
    kind: str
    opens: bool

    @classmethod
    def pair(cls, kind: str, text: str) -> tuple[_Delimiter, _Delimiter]:
        """Both ends."""
        ends = cls(text), cls(text)
        for mark, opens in zip(ends, (True, False), strict=True):
            mark.kind, mark.opens = kind, opens
        return ends


_OURS = (_Delimiter, _Markdown, _CodeSpan, _FormulaSpan)
_MARKS: dict[str, tuple[str, str]] = {
    "strong": _Delimiter.pair("strong", "**"),
    "emphasis": _Delimiter.pair("emphasis", "*"),
    "strike": _Delimiter.pair("strike", "~~"),
    "subscript": (_Markdown("<sub>"), _Markdown("</sub>")),
    "superscript": (_Markdown("<sup>"), _Markdown("</sup>")),
}
_END_OF = {id(begin): end for begin, end in _MARKS.values()}
_LINK = _Markdown("[")
_UNDERSCORES = _Delimiter.pair("emphasis", "_")  # where asterisks of two marks would be read as one run
_BREAK = _Markdown("\\\n")  # visible, and no editor takes it away


def _begin(pieces: list[str], pending: list[str]) -> None:
    """Begin what is pending; a mark that ended right here goes on instead."""
    for begin in pending:
        if pieces and pieces[-1] is _END_OF.get(id(begin)):
            pieces.pop()
        else:
            if begin is _LINK and pieces:
                _guard(pieces)
            pieces.append(begin)
    pending.clear()


def _guard(pieces: list[str]) -> None:
    """Keep what stands before a link from making an image or a footnote of it."""
    last = pieces[-1]
    if last.__class__ is str and last[-1] in "!^":
        pieces[-1:] = [*filter(None, [last[:-1]]), _Markdown("\\" + last[-1])]


def _apart_from_digits(pieces: list[str]) -> list[str]:
    """Pieces with a space between a formula and a digit, before which a dollar sign ends no formula."""
    found: list[str] = []
    for piece in pieces:
        if found and found[-1].__class__ is _FormulaSpan and piece[:1].isdigit():
            found.append(" ")
        found.append(piece)
    return found


def _ends_in_space(piece: str) -> bool:
    return piece is _BREAK or (piece.__class__ is str and piece[-1:] == " ")


def _strip_end(pieces: list[str]) -> list[str]:
    """Take spaces and breaks from the end; returns what was taken, a space for any number of them."""
    taken: list[str] = []
    while pieces:
        last = pieces[-1]
        if last is _BREAK:
            taken = [_BREAK]
        elif last.__class__ is str and last[-1:].isspace():
            taken = taken or [" "]
            stripped = last.rstrip()
            if stripped:
                pieces[-1] = stripped
                break
        elif last:
            break
        pieces.pop()
    return taken


_SPACE, _PUNCTUATION, _WORD, _SYMBOL = range(4)


@lru_cache(maxsize=4096)
def _class(character: str) -> int:
    """What a character is by the rules about emphasis. Not all parsers count symbols as punctuation."""
    if character.isalnum():
        return _WORD
    if not character or character.isspace():
        return _SPACE
    if character in string.punctuation:
        return _PUNCTUATION
    return {"P": _PUNCTUATION, "S": _SYMBOL}.get(unicodedata.category(character)[0], _WORD)


def _flanks(near: int, far: int) -> bool:
    """Whether a run of marks can be at the edge of what is on its near side, by all parsers."""
    return near == _WORD or (near != _SPACE and (far in (_SPACE, _PUNCTUATION) or near == far))


def _is_settled(pieces: list[str]) -> bool:
    """Whether every mark can be read in one way only.

    With a letter inside, if there is nothing but spaces and punctuation outside; with punctuation inside, if there are
    spaces alone.
    """
    last = len(pieces) - 1
    for i, piece in enumerate(pieces):
        if piece.__class__ is _Delimiter:
            before = pieces[i - 1][-1] if i else ""
            after = pieces[i + 1][0] if i < last else ""
            inside, outside = (after, before) if piece.opens else (before, after)
            if not (outside in _SURE if inside.isalnum() else outside in _SPACES and inside not in _NOT_INSIDE):
                return False
    return True


# What closes brackets and quotations, and what may open them. Languages disagree about quotation marks.
_BRACKETS = dict(zip(")]}）］｝」』】》〉〕\"'“‘«‹’", "([{（［｛「『【《〈〔\"'„‚»›‘", strict=True))
_BRACKETS |= {"”": "“„”", "’": "‘‚", "»": "«»", "›": "‹›"}
_OPEN_BRACKETS = frozenset("".join(_BRACKETS.values()))


def _partners(text: str) -> dict[int, int]:
    """Where brackets and quotation marks stand whose partner is in the text too, and where that stands; both ways."""
    found: dict[int, int] = {}
    waiting: dict[str, list[int]] = {}
    for i, character in enumerate(text):
        if character not in _BRACKETS and character not in _OPEN_BRACKETS:
            continue
        is_straight = character in "\"'"  # which tells not whether it opens, closes or is an apostrophe
        if not (is_straight and text[i + 1 : i + 2].isalnum()):
            begins = next(filter(None, map(waiting.get, _BRACKETS.get(character, ""))), None)
            if begins:
                begin = begins.pop()
                found[i], found[begin] = begin, i
                continue
        if character in _OPEN_BRACKETS and not (is_straight and i and text[i - 1].isalnum()):
            waiting.setdefault(character, []).append(i)
    return found


_SPACES = frozenset(("", " ", "\n"))  # or nothing: the line begins or ends
_NOT_INSIDE = frozenset(("", *"*_~ \n"))  # of marks that can be read in one way only
_SURE = _SPACES | frozenset(" \n.,;:!?'\"()[]/\\-<>–—“”‘’„«»…、。「」（），：")


def _settle(pieces: list[str]) -> list[str]:
    """Change what a parser would read otherwise, as little as possible.

    Punctuation at the edge of emphasis is put outside, where it stands against a word ("**Note:**this" is no emphasis,
    but "**Note**:this" is), and with a bracket or quotation mark goes its partner and what is between them; a mark
    around a link is put inside of the link; emphasis beside other emphasis has underscores; and what then cannot be
    read is no emphasis.
    """
    for _ in range(_ROUNDS):
        pieces = _joined(pieces)
        changed = _Emphasis(pieces).changed()
        if changed is None:
            break
        pieces = changed
    else:
        pieces = _joined([piece for piece in pieces if piece.__class__ is not _Delimiter])
    found: list[str] = []
    for piece in pieces:
        if piece is _LINK and found:
            _guard(found)
        found.append(piece)
    return found


def _joined(pieces: list[str]) -> list[str]:
    """Texts that stand beside each other as one; code too, where nothing would tell that one ends."""
    found: list[str] = []
    for kind, group in groupby(pieces, type):
        if kind is str:
            found.append("".join(group))
        elif kind is _CodeSpan:
            first = cast("_CodeSpan", next(group))
            for other in group:
                first.codes += cast("_CodeSpan", other).codes
            found.append(first)
        else:
            found += group
    return found


class _Emphasis:
    """The marks of a line: where each begins and ends, and what a parser makes of them."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.partner: dict[int, int] = {}  # of marks and links, both ways
        self.dropped: set[int] = set()
        self.cuts: dict[int, slice] = {}  # what remains of a text
        self.inserted: dict[int, list[str]] = {}  # before the piece with this number
        self.unwrapped: set[int] = set()  # texts without the brackets around them
        self.underscored: set[int] = set()
        self.runs: list[_DelimiterRun] = []
        stack: list[int] = []
        for i, piece in enumerate(pieces):
            if piece is _LINK or (isinstance(piece, _Delimiter) and piece.opens):
                stack.append(i)
            elif piece.__class__ is _Delimiter or piece.__class__ is _LinkEnd:
                begin = stack.pop()
                self.partner[i], self.partner[begin] = begin, i

    def changed(self) -> list[str] | None:
        """The pieces, nearer to what can be read; None if all can be read as they are."""
        for start, end in self._groups():
            opening = next((i for i in range(start, end) if self._opens(i)), end)
            bad = self._read(start, end)
            self._repair([i for i in bad if i < opening], start, start - 1, opening)
            self._repair([i for i in bad if i >= opening], end - 1, end, opening)
        if not self.cuts and not self.dropped:
            self._resolve(self._misread())
            if not self.dropped and not self.underscored:
                return None
        found: list[str] = []
        for i, piece in enumerate(self.pieces):
            found += self.inserted.get(i, ())
            if i in self.dropped:
                continue
            if i in self.underscored:
                piece = _UNDERSCORES[0 if self._opens(i) else 1]  # noqa: PLW2901
            found.append(piece[self.cuts[i]] if i in self.cuts else piece)
        found += self.inserted.get(len(self.pieces), ())
        return [piece for piece in found if piece]

    def _repair(self, bad: list[int], mark: int, edge: int, outside: int) -> None:
        """Do something about marks that stand beside the same piece and cannot be read.

        Args:
            bad: their numbers.
            mark: the innermost mark.
            edge: the piece that they stand beside, inside.
            outside: before which piece is outside of all.
        """
        if not bad or self._goes_into_link(bad, mark, edge):
            return
        text = self.pieces[edge]
        words = [] if text.__class__ is not str else [k for k, each in enumerate(text) if _class(each) == _WORD]
        closes = edge < mark
        only = not words and (self._opens(edge - 1) if closes else self._closes(edge + 1))
        if text.__class__ is not str or only:
            self._drop([mark] if only else bad)  # what remains is tried again
            return
        if edge in self.unwrapped:
            return
        part = self._markable(edge, words, outside, closes=closes)
        if part is None:  # something else was done
            return
        moved = text[part.stop :] if closes else text[: part.start]
        if not moved:
            self._drop(bad)
        elif part.start <= part.stop:  # else both ends would move the same, and the other one did
            self.cuts[edge] = part
            self.inserted.setdefault(outside, []).append(moved)

    def _markable(self, edge: int, words: list[int], outside: int, *, closes: bool) -> slice | None:
        """What of a text can be at the edge of marks; None if brackets around all of it were put outside of them.

        Args:
            edge: the number of the text.
            words: where in it letters and digits are.
            outside: before which piece is outside of the marks.
            closes: the marks are those after the text.
        """
        text = self.pieces[edge]
        first, last = (words[0], words[-1] + 1) if words else (len(text), 0)
        cut = self.cuts.get(edge, slice(0, len(text)))
        partners = _partners(text)
        if closes:
            begin = min((partners[i] for i in range(last, len(text)) if i in partners), default=last)
            if begin >= last:
                return slice(cut.start, last)
            if begin < first and self._unwrap(edge, begin, partners[begin], outside, closes=True):
                return None
            return slice(cut.start, len(text[:begin].rstrip()))
        end = max((partners[i] for i in range(first) if i in partners), default=first)
        if end <= first:
            return slice(first, cut.stop)
        if end >= last and self._unwrap(edge, partners[end], end, outside, closes=False):
            return None
        return slice(len(text) - len(text[end + 1 :].lstrip()), cut.stop)

    def _unwrap(self, edge: int, begin: int, end: int, outside: int, *, closes: bool) -> bool:
        """Put the brackets around a text outside of the marks that hold nothing else; False if all hold more."""
        before, after = edge, edge + 1
        while self._opens(before - 1) and self._closes(after) and self.partner[before - 1] == after:
            before -= 1
            after += 1
        if before == edge:
            return False
        if edge in self.cuts:  # it is tried again
            return True
        if outside != (after if closes else before):  # of which one half would be inside of the other marks
            self._drop(range(edge + 1, after))
            return True
        text = self.pieces[edge]
        self.unwrapped.add(edge)
        self.cuts[edge] = slice(begin + 1, end)
        self.inserted.setdefault(before, []).append(text[: begin + 1])
        self.inserted.setdefault(after, []).append(text[end:])
        return True

    def _opens(self, i: int) -> bool:
        piece = self.pieces[i] if 0 <= i < len(self.pieces) else None
        return isinstance(piece, _Delimiter) and piece.opens

    def _closes(self, i: int) -> bool:
        return i < len(self.pieces) and self.pieces[i].__class__ is _Delimiter and not self._opens(i)

    def _groups(self) -> Iterator[tuple[int, int]]:
        """Marks that stand beside each other: those that close, then those that open."""
        i, count = 0, len(self.pieces)
        while i < count:
            if self.pieces[i].__class__ is not _Delimiter:
                i += 1
                continue
            start = i
            while i < count and self.pieces[i].__class__ is _Delimiter:
                i += 1
            yield start, i

    def _read(self, start: int, end: int) -> list[int]:
        """Note the runs of a group of marks, as a parser sees them.

        Returns:
            The marks that should open or close and cannot.
        """
        pieces, bad = self.pieces, []
        i = start
        while i < end:
            first, character = i, pieces[i][0]
            while i < end and pieces[i][0] == character:
                i += 1
            before = _class(pieces[first - 1][-1] if first else "")
            after = _class(pieces[i][0] if i < len(pieces) else "")
            run = _DelimiterRun(character, range(first, i), _flanks(after, before), _flanks(before, after))
            if character == "_":  # never within a word
                run.can_open = run.can_open and before in (_SPACE, _PUNCTUATION)
                run.can_close = run.can_close and after in (_SPACE, _PUNCTUATION)
            run.length = run.left = sum(map(len, pieces[first:i]))
            self.runs.append(run)
            bad += [mark for mark in run.marks if not (run.can_open if self._opens(mark) else run.can_close)]
        return bad

    def _goes_into_link(self, bad: list[int], mark: int, edge: int) -> bool:
        """Put a mark that is around a link and nothing else inside of the link."""
        if mark not in bad or edge not in self.partner or self.pieces[edge].__class__ is _Delimiter:
            return False
        begin, end = sorted((edge, self.partner[edge]))
        if {mark, self.partner[mark]} != {begin - 1, end + 1}:
            return False
        if mark not in self.dropped:
            self._drop([mark])
            self.inserted.setdefault(begin + 1, []).append(self.pieces[begin - 1])
            self.inserted.setdefault(end, []).append(self.pieces[end + 1])
        return True

    def _drop(self, marks: Iterable[int]) -> None:
        for mark in marks:
            self.dropped |= {mark, self.partner[mark]}

    def _resolve(self, wrong: list[int]) -> None:
        """Do something about marks that a parser would pair with others, because their asterisks meet."""
        run_of = {mark: run for run in self.runs for mark in run.marks}
        for mark in wrong:
            ends = mark, self.partner[mark]
            met = {
                i for end in ends for i in run_of[end].marks if cast("_Delimiter", self.pieces[i]).kind == "emphasis"
            }
            if met and all(map(self._takes_underscores, met)):
                self.underscored |= {i for other in met for i in (other, self.partner[other])}
                continue
            inner = [i for i in met if ends[0] < min(i, self.partner[i]) and max(i, self.partner[i]) < ends[1]]
            self._drop(inner or [mark])

    def _takes_underscores(self, mark: int) -> bool:
        begin, end = sorted((mark, self.partner[mark]))
        before = self.pieces[begin - 1][-1] if begin else ""
        after = self.pieces[end + 1][0] if end + 1 < len(self.pieces) else ""
        outside = {_class(before), _class(after)}
        return self.pieces[mark] == "*" and outside <= {_SPACE, _PUNCTUATION}

    def _misread(self) -> list[int]:
        """The marks that a parser would pair with others, by the algorithm of CommonMark."""
        run_of = {mark: run for run in self.runs for mark in run.marks}
        stack: list[_DelimiterRun] = []
        bottoms: dict[tuple[str, bool, int], int] = {}  # below, there is nothing for a closer of this sort
        pairs: dict[tuple[int, int, int], int] = {}
        for closer in self.runs:
            key = closer.character, closer.can_open, closer.length % 3
            while closer.can_close and closer.left:
                i = len(stack) - 1
                bottom = min(bottoms.get(key, 0), len(stack))
                while i >= bottom and not stack[i].pairs_with(closer):
                    i -= 1
                if i < bottom:
                    bottoms[key] = len(stack)
                    break
                opener = stack[i]
                size = 2 if opener.left >= 2 and closer.left >= 2 else 1
                opener.left -= size
                closer.left -= size
                pair = opener.marks.start, closer.marks.start, size
                pairs[pair] = pairs.get(pair, 0) + 1
                del stack[i + (1 if opener.left else 0) :]
            if closer.can_open and closer.left:
                stack.append(closer)
        wrong = []
        for mark, run in run_of.items():
            if self._opens(mark):
                pair = run.marks.start, run_of[self.partner[mark]].marks.start, len(self.pieces[mark])
                if not pairs.get(pair):
                    wrong.append(mark)
                else:
                    pairs[pair] -= 1
        return wrong


@dataclass(slots=True)
class _DelimiterRun:
    """Marks of the same character beside each other, as a parser sees them: as one."""

    character: str
    marks: range
    can_open: bool
    can_close: bool
    length: int = 0
    left: int = 0

    def pairs_with(self, closer: _DelimiterRun) -> bool:
        """Whether a later run can close this one."""
        if self.character != closer.character:
            return False
        if self.character == "~" or not (self.can_close or closer.can_open):
            return True
        return bool((self.length + closer.length) % 3) or not (self.length % 3 or closer.length % 3)
