# cython: annotation_typing=True
"""A parsed page to blocks, in one pass over the tree.

A block is a paragraph-sized piece of text: what stands between two block-level tags, or between two runs of
`<br><br>`, which old pages use for paragraphs (ICE 3.1, FIASCO 2.1). A table row whose cells hold inline content
only is one block; the cells of a layout table are blocks of their own.

In this file: what each HTML element means for reading a page as text (`ROLES`; one that is not there is inline, changes
nothing, but may hold text), what is found (`Segments`), the pass itself (`segment`), and the rows of tables.

Speed is design here: the pass visits each node once, asks it as little as it can, and fills lists, not objects.
Whatever a method may never need (XPaths, attributes, what is hidden) is found later, by html/locate.py, from the
nodes that `Segments` keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter import cython
from mainmatter.html.parse import Element, Text, Tree, is_html
from mainmatter.records import Columns, Kind

if cython.compiled and not TYPE_CHECKING:
    import cython

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mainmatter.html.parse import Node


class Role(IntEnum):
    """How the segmenter treats an element."""

    BLOCK = 0  # breaks the text: what stands before it, in it and after it are different blocks
    LINK = 1  # inline; its characters count as link characters
    BREAK = 2  # <br>: one breaks the line, two break the block (ICE 3.1, FIASCO 2.1)
    SKIP = 3  # nothing below it is text of the page
    TEMPLATE = 4  # skipped, unless it is a declarative shadow root, which browsers show
    NOSCRIPT = 5  # skipped, or a block, as the caller wants it
    PICTURE = 6  # skipped, but the words on its two sides are two words
    EMPHASIS = 7  # inline, and may begin or end within a word
    FORMULA = 8  # inline; what is inside has names of its own, which mean nothing here


_TAGS: dict[Role, str] = {
    Role.BLOCK: """
        address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset
        figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html label legend li listing main
        menu nav ol option p plaintext pre search section select summary table tbody td textarea tfoot th
        thead tr ul xmp""",
    Role.LINK: "a",
    Role.BREAK: "br",
    # What is void can hold no text. Ruby annotations tell how to read the text; they are no part of it.
    Role.SKIP: """
        area base col datalist frame head link meta noembed noframes param rp rt rtc script
        source style title track wbr""",
    Role.FORMULA: "math",
    Role.PICTURE: "applet audio canvas embed iframe img input object svg video",
    Role.EMPHASIS: "b big cite code del dfn em font i ins kbd mark q s samp small strike strong sub sup tt u var",
    Role.TEMPLATE: "template",
    Role.NOSCRIPT: "noscript",
}
ROLES: dict[str, Role] = {tag: role for role, tags in _TAGS.items() for tag in tags.split()}

HEADING_LEVELS: dict[str, int] = {f"h{level}": level for level in range(1, 7)}

# The kind that a block element gives to its text. The others pass on the kind of the block around them, so that
# <li><p> is a list item; those that start a text of their own do not, nor does a table cell.
_KIND_OF_TAG: dict[str, Kind] = {
    **dict.fromkeys(HEADING_LEVELS, Kind.HEADING),
    **dict.fromkeys(("li", "dt", "dd", "option"), Kind.LIST_ITEM),
    **dict.fromkeys(("pre", "xmp", "listing", "plaintext"), Kind.CODE),
    **dict.fromkeys(("caption", "figcaption"), Kind.CAPTION),
    **dict.fromkeys(("td", "th"), Kind.TABLE_ROW),
    "blockquote": Kind.QUOTE,
}
_STARTS_AFRESH = frozenset("article aside dialog figure footer header main nav section table".split())
_CONTROL_TAGS = frozenset("button label select textarea".split())


class TextState(NamedTuple):
    """What the text at some place of the tree is, by the elements around it."""

    kind: Kind
    level: int = 0  # of a heading
    control: bool = False  # part of a form


def _next_state(tag: str, state: TextState) -> TextState:
    kind = _KIND_OF_TAG.get(tag)
    level = HEADING_LEVELS.get(tag, 0)
    if kind is None:
        passes_on = tag not in _STARTS_AFRESH and state.kind is not Kind.TABLE_ROW
        kind, level = (state.kind, state.level) if passes_on else (Kind.PARAGRAPH, 0)
    return TextState(kind, level, state.control or tag in _CONTROL_TAGS)


# States are numbered, because the segmenter passes through one for every element of a page; 0 is a page's beginning.
_STATES: list[TextState] = [
    TextState(kind, level, control)
    for (kind, level), control in product(
        [
            (Kind.PARAGRAPH, 0),
            *((Kind.HEADING, level) for level in range(1, 7)),
            *((kind, 0) for kind in Kind if kind not in (Kind.PARAGRAPH, Kind.HEADING, Kind.CODE)),
            (Kind.CODE, 0),
        ],
        (False, True),
    )
]
_NUMBER_OF_STATE = {state: number for number, state in enumerate(_STATES)}

_MOVE_OF_TAG: dict[str, tuple[int, bytes]] = {
    tag: (int(role), bytes(_NUMBER_OF_STATE[_next_state(tag, state)] for state in _STATES))
    for tag, role in ROLES.items()
}
# From here on the text is code, whose white space matters.
_FIRST_CODE_STATE = cython.declare(cython.int, _NUMBER_OF_STATE[TextState(Kind.CODE)])


# The tags that the outline knows; their numbers are those of this list. Number 0 is the document, which has no tag.
TAGS: tuple[str, ...] = ("", *sorted(ROLES))
NUMBER_OF_TAG: dict[str, int] = {tag: number for number, tag in enumerate(TAGS)}


@dataclass(frozen=True, slots=True)
class Outline:
    """The block-level elements of a page, numbered in the order of the page; number 0 is the document itself.

    Attributes:
        elements: the elements; None in place of the document.
        tags: the numbers of their tags; see `TAGS`. Bytes, because arrays are made of them at no cost.
        parents: the number of the block-level element around each; 0 for the document.
        first: the number of the first text in each. Texts are counted as the walk met them, before those of a row of
            data are joined; `Segments.numbers` says which of them each block begins with.
        end: the number after that of the last text in each.
        pictures: for each picture, how many texts began before it.
    """

    elements: list[Element | None]
    tags: bytearray
    parents: list[int]
    first: list[int]
    end: list[int]
    pictures: list[int]


@dataclass(frozen=True, slots=True)
class Segments:
    """The blocks of a page and their nodes: parallel lists, up to `end_nodes`.

    Attributes:
        columns: what the methods read.
        holders: the number, in the outline, of the element whose text the block is; 0 outside of all elements.
        numbers: the number of the text that each block begins with; see `Outline`.
        first_nodes: the number of the first of the `nodes` that the block is made of.
        end_nodes: the number after that of the last.
        nodes: all text nodes of the page that are part of a block.
        spaced: those that were set apart by a space from the text before, which the page sets apart by style alone.
        noscripts: what was skipped inside each `<noscript>`, as markup.
        outline: the block-level elements of the page.
    """

    columns: Columns
    holders: list[int]
    numbers: Sequence[int]
    first_nodes: list[int]
    end_nodes: list[int]
    nodes: list[Text]
    spaced: list[Text]
    noscripts: list[str]
    outline: Outline

    @property
    def elements(self) -> list[Element | None]:
        """The element whose text each block is; None for text outside of all elements."""
        elements = self.outline.elements
        return [elements[holder] for holder in self.holders]

    def text_nodes(self, index: int) -> list[Text]:
        """The text nodes that a block is made of."""
        return self.nodes[self.first_nodes[index] : self.end_nodes[index]]

    def only(self, indices: list[int]) -> Segments:
        """These segments without the blocks whose index is not named."""
        return Segments(
            Columns(*([getattr(self.columns, column.name)[i] for i in indices] for column in fields(Columns))),
            [self.holders[i] for i in indices],
            [self.numbers[i] for i in indices],
            [self.first_nodes[i] for i in indices],
            [self.end_nodes[i] for i in indices],
            self.nodes,
            self.spaced,
            self.noscripts,
            self.outline,
        )


# The walk compares with numbers of C, where it is compiled.
_BLOCK = cython.declare(cython.int, int(Role.BLOCK))
_LINK = cython.declare(cython.int, int(Role.LINK))
_BREAK = cython.declare(cython.int, int(Role.BREAK))
_SKIP = cython.declare(cython.int, int(Role.SKIP))
_TEMPLATE = cython.declare(cython.int, int(Role.TEMPLATE))
_NOSCRIPT = cython.declare(cython.int, int(Role.NOSCRIPT))
_PICTURE = cython.declare(cython.int, int(Role.PICTURE))
_EMPHASIS = cython.declare(cython.int, int(Role.EMPHASIS))
_FORMULA = cython.declare(cython.int, int(Role.FORMULA))
# Roles that only the walk knows: what has none of the others; what cannot hold anything, so that there is nothing to
# skip; what is inside of a formula, where a template may be one in name only.
_INLINE = cython.declare(cython.int, len(Role))
_VOID = cython.declare(cython.int, len(Role) + 1)
_VOID_PICTURE = cython.declare(cython.int, len(Role) + 2)
_IN_FORMULA = cython.declare(cython.int, len(Role) + 3)
_TEMPLATE_IN_FORMULA = cython.declare(cython.int, len(Role) + 4)
# What the end of an element does to the text; that of a formula changes what tags mean.
_NOTHING = cython.declare(cython.int, 0)
_BREAKS = cython.declare(cython.int, 1)
_MAKES_SEAM = cython.declare(cython.int, 2)
_ENDS_LINK = cython.declare(cython.int, 3)
_ENDS_FORMULA = cython.declare(cython.int, 4)

# What the walk knows of a tag: its role, the state that follows each state, its number in the outline.
_Move = tuple[int, bytes, int]

_VOID_TAGS = frozenset("area base col embed frame img input link meta param source track wbr".split())
_ROLE_OF_VOID = {_SKIP: _VOID, _PICTURE: _VOID_PICTURE}


def _move_of(tag: str) -> _Move:
    role, next_state = _MOVE_OF_TAG[tag]
    return _ROLE_OF_VOID[role] if tag in _VOID_TAGS else role, next_state, NUMBER_OF_TAG[tag]


_INLINE_MOVE: _Move = (_INLINE, b"", 0)
# Those that are met often, since to miss takes longer than to find.
_OFTEN_INLINE = "abbr bdi nobr optgroup picture ruby slot span time".split()
_MOVES: dict[str, _Move] = dict.fromkeys(_OFTEN_INLINE, _INLINE_MOVE) | {tag: _move_of(tag) for tag in _MOVE_OF_TAG}
_MOVES_WITH_NOSCRIPT = _MOVES | {"noscript": (*_MOVE_OF_TAG["div"], NUMBER_OF_TAG["noscript"])}
# The names in a formula mean nothing here, but for those of what annotates it.
_SKIP_MOVE: _Move = (_SKIP, b"", 0)
_MOVES_IN_FORMULA: dict[str, _Move] = {
    **dict.fromkeys(("annotation", "annotation-xml", "script", "style", "svg"), _SKIP_MOVE),
    "template": (_TEMPLATE_IN_FORMULA, b"", 0),
}
_MOVE_IN_FORMULA: _Move = (_IN_FORMULA, b"", 0)

_KINDS = [state.kind for state in _STATES]
_LEVELS = [state.level for state in _STATES]
_CONTROLS = [state.control for state in _STATES]

# Marks in the page's text while it is put together. HTML has no control characters; see `_remove_marks`.
_BLOCK_MARK = "\x01"
_LINE_MARK = "\x02"

_SOFT_HYPHEN = "\u00ad"
# From here on Unicode has the scripts that put no spaces between words.
_FIRST_CJK = cython.declare(cython.Py_UCS4, "\u2e80")


class _Findings(NamedTuple):
    """What a walk over the tree brings home: the page's text, and for each block a number in each of six lists."""

    parts: list[str]  # the page's text, with marks where blocks begin
    first_nodes: list[int]
    positions: list[int]
    states: list[int]
    holders: list[int]
    link_chars: list[int]  # white space counts, until it is known what is left of it
    link_counts: list[int]
    nodes: list[Text]
    spaced: list[Text]  # texts that were set apart from the text before
    noscripts: list[str]
    outline: Outline


def segment(tree: Tree, *, read_noscript: bool = False) -> Segments:
    """Split a page into blocks.

    Args:
        tree: the page's tree.
        read_noscript: take what is inside `<noscript>` for a part of the page; see `html/read.py`.
    """
    found = _walk(tree, read_noscript=read_noscript)
    states = found.states
    if not states:
        return Segments(Columns([], [], [], [], [], [], []), [], [], [], [], [], [], found.noscripts, found.outline)
    texts = _split(found.parts, states)
    if len(texts) != len(states):  # more marks than blocks
        _remove_marks(tree)
        return segment(tree, read_noscript=read_noscript)
    segments = Segments(
        Columns(
            texts=texts,
            kinds=list(map(_KINDS.__getitem__, states)),
            levels=list(map(_LEVELS.__getitem__, states)),
            positions=found.positions,
            link_chars=list(map(min, found.link_chars, map(len, texts))),
            link_counts=found.link_counts,
            controls=list(map(_CONTROLS.__getitem__, states)),
        ),
        holders=found.holders,
        numbers=range(len(states)),
        first_nodes=found.first_nodes,
        end_nodes=[*found.first_nodes[1:], len(found.nodes)],
        nodes=found.nodes,
        spaced=found.spaced,
        noscripts=found.noscripts,
        outline=found.outline,
    )
    if "" in texts:  # nothing but soft hyphens
        segments = segments.only([i for i, text in enumerate(texts) if text])
    return _join_rows(segments)


def _walk(tree: Tree, *, read_noscript: bool) -> _Findings:  # noqa: C901, PLR0912, PLR0915
    """Visit the tree once. One long loop with local names: function calls would double its time.

    The parser hands out all nodes in the order of the page, in half the time that one iterator for each element takes.
    An element has ended when a node comes whose parent is another one.
    """
    parts: list[str] = []
    first_nodes: list[int] = []
    positions: list[int] = []
    states: list[int] = []
    holders: list[int] = []
    link_chars: list[int] = []
    link_counts: list[int] = []
    nodes: list[Text] = []
    spaced: list[Text] = []
    noscripts: list[str] = []
    # The outline, and the state of the text in each of its elements.
    elements: list[Element | None] = [None]
    tags, inner_states = bytearray(1), bytearray(1)
    parents: list[int] = [0]
    first: list[int] = [0]
    ends: list[int] = [0]
    pictures: list[int] = []
    # What is open: the node around each element, what the element's end does to the text, and the links around links.
    around: list[Node] = []
    effects: list[int] = []
    outer_links: list[Element | None] = []
    usual_moves: dict[str, _Move] = _MOVES_WITH_NOSCRIPT if read_noscript else _MOVES
    moves: dict[str, _Move] = usual_moves
    otherwise: _Move = _INLINE_MOVE
    move: _Move
    next_state: bytes
    role: cython.int
    effect: cython.int
    current: object = tree
    # The number of the block-level element that the walk is in, and how many blocks began.
    holder: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = 0
    link: Any = None
    last_link: object = None  # that the block has text in
    state: cython.int = 0
    position: cython.Py_ssize_t = 0
    last_position: cython.Py_ssize_t = 0
    line_breaks: cython.Py_ssize_t = 0
    block_ended: cython.bint = True
    # Of the block: how many of its characters are in links, and how many links there are.
    linked: cython.Py_ssize_t = 0
    links: cython.Py_ssize_t = 0
    indentation: str = ""  # white space before the first text of a block of code
    data: str
    # Between two inline elements: 1 after the end of one, 2 after the beginning of the next, or a picture.
    seam: cython.int = 0
    text_type, element_type = Text, Element
    coming: Iterator[Any] = tree.descendants
    while True:
        for node in coming:
            parent = node.parent
            while parent is not current:
                current = around.pop()
                effect = effects.pop()
                if effect == _BREAKS:
                    block_ended = True
                    ends[holder] = count
                    holder = parents[holder]
                    state = inner_states[holder]
                elif effect == _MAKES_SEAM:
                    if not seam:
                        seam = 1
                elif effect == _ENDS_LINK:
                    link = outer_links.pop()
                    if not seam:
                        seam = 1
                elif effect == _ENDS_FORMULA:
                    moves, otherwise = usual_moves, _INLINE_MOVE
            node_type = type(node)
            if node_type is text_type:
                data = node.data
                if data.isspace():
                    if not block_ended:
                        parts.append(" " if state < _FIRST_CODE_STATE else data)
                    elif state >= _FIRST_CODE_STATE:
                        indentation += data
                    continue
                if block_ended:
                    block_ended = False
                    if position == last_position:  # a block ended, but no tag began the next one
                        position += 1
                    last_position = position
                    if count:
                        link_chars.append(linked)
                        link_counts.append(links)
                    first_nodes.append(len(nodes))
                    positions.append(position)
                    states.append(state)
                    holders.append(holder)
                    linked = links = 0
                    last_link = None
                    count += 1
                    parts.append(_BLOCK_MARK)
                    if indentation:
                        parts.append(indentation)
                        indentation = ""
                elif seam == 2 and state < _FIRST_CODE_STATE and _would_glue(parts[-1], data):
                    parts.append(" ")
                    spaced.append(node)
                seam = 0
                line_breaks = 0
                parts.append(data)
                nodes.append(node)
                if link is not None:
                    linked += len(data.strip())
                    if link is not last_link:
                        links += 1
                        last_link = link
            elif node_type is element_type:
                move = moves.get(node.tag, otherwise)
                role = move[0]
                if role == _BLOCK:
                    around.append(current)
                    effects.append(_BREAKS)
                    current = node
                    parents.append(holder)
                    holder = len(elements)
                    elements.append(node)
                    tags.append(move[2])
                    first.append(count)
                    ends.append(0)
                    next_state = move[1]
                    state = next_state[state]
                    inner_states.append(state)
                    block_ended = True
                    indentation = ""
                    position += 1
                elif role == _LINK:
                    around.append(current)
                    effects.append(_ENDS_LINK)
                    outer_links.append(link)
                    current = link = node
                    if seam:
                        seam = 2
                elif role == _INLINE:
                    around.append(current)
                    effects.append(_MAKES_SEAM)
                    current = node
                    if seam:
                        seam = 2
                elif role == _VOID:
                    continue
                elif role == _VOID_PICTURE:
                    seam = 2
                    pictures.append(count)
                elif role == _EMPHASIS:
                    around.append(current)
                    effects.append(_NOTHING)
                    current = node
                    if seam:
                        seam = 2
                elif role == _BREAK:
                    line_breaks += 1
                    if line_breaks == 2:
                        block_ended = True
                    parts.append(_LINE_MARK)
                elif role == _FORMULA:
                    around.append(current)
                    effects.append(_ENDS_FORMULA)
                    current = node
                    moves, otherwise = _MOVES_IN_FORMULA, _MOVE_IN_FORMULA
                elif role == _IN_FORMULA or (role == _TEMPLATE_IN_FORMULA and not is_html(node)):
                    around.append(current)
                    effects.append(_NOTHING)
                    current = node
                elif role == _TEMPLATE and node.attr("shadowrootmode") is not None:
                    around.append(current)
                    effects.append(_BREAKS)
                    current = next(coming)  # the fragment that holds the template's content
                    parents.append(holder)
                    holder = len(elements)
                    elements.append(node)
                    tags.append(move[2])
                    first.append(count)
                    ends.append(0)
                    inner_states.append(state)
                    block_ended = True
                else:  # what is inside is skipped
                    if role == _PICTURE:
                        seam = 2
                        pictures.append(count)
                    elif role == _NOSCRIPT:
                        noscripts.append(node.text)
                    coming = node.following
                    break
        else:
            break
    while holder:
        ends[holder] = count
        holder = parents[holder]
    ends[0] = count
    if count:
        link_chars.append(linked)
        link_counts.append(links)
    outline = Outline(elements, tags, parents, first, ends, pictures)
    numbers = (first_nodes, positions, states, holders, link_chars, link_counts)
    return _Findings(parts, *numbers, nodes, spaced, noscripts, outline)


def _remove_marks(tree: Tree) -> None:
    """Take our marks out of a page that has them in its text."""
    for node in tree.descendants:
        if isinstance(node, Text) and _BLOCK_MARK in node.data:
            node.data = node.data.replace(_BLOCK_MARK, " ")


@cython.cfunc
def _would_glue(before: str, after: str) -> cython.bint:
    """Whether two texts of neighbouring inline elements read as one word, though the page shows two.

    Pages set `<a>Home</a><a>News</a>` apart by style alone, or by a picture. Single characters are left alone: pages
    that animate headlines put every letter into an element of its own.
    """
    return len(before) > 1 and len(after) > 1 and before[-1].isalnum() and after[0].isalnum() and after[0] < _FIRST_CJK


def _split(parts: list[str], states: Sequence[int]) -> list[str]:
    """Put the page's text together, cut it at the marks, and normalise the text of each block."""
    joined = "".join(parts)
    if _SOFT_HYPHEN in joined:
        joined = joined.replace(_SOFT_HYPHEN, "")
    raw_texts = joined.split(_BLOCK_MARK)
    del raw_texts[0]  # what stood before the first block: nothing
    texts = list(map(str.strip, raw_texts))
    for i in [i for i, text in enumerate(texts) if _may_collapse(text)]:
        texts[i] = _collapse(texts[i])
    if max(states) >= _FIRST_CODE_STATE:
        for i, state in enumerate(states):
            if state >= _FIRST_CODE_STATE:
                texts[i] = raw_texts[i].replace(_LINE_MARK, "\n").strip("\r\n").rstrip()
    return texts


def _may_collapse(text: str) -> bool:
    """Whether there may be white space to collapse: to ask is faster than to split, since most texts are clean."""
    if not cython.compiled:
        return "  " in text or not text.isprintable()  # the only white space that is printable is the space
    character: cython.Py_UCS4
    before: cython.Py_UCS4 = 0
    for character in text:
        if character <= 0x20:
            if character < 0x20 or before == 0x20:
                return True
        elif character >= 0x7F and not character.isprintable():
            return True
        before = character
    return False


def _collapse(text: str) -> str:
    """Collapse white space; keep the line breaks of the page, not those of its source."""
    if _LINE_MARK not in text:
        return " ".join(text.split())
    lines = (" ".join(line.split()) for line in text.split(_LINE_MARK))
    return "\n".join(filter(None, lines))


_CELL_SEPARATOR = "\t"
_CELL_TAGS = ("td", "th")
_CELL_NUMBERS = tuple(map(NUMBER_OF_TAG.__getitem__, _CELL_TAGS))


def _join_rows(segments: Segments) -> Segments:
    """Make one block of the cells of each row of data, and paragraphs of the cells of layout tables.

    The walk makes a block of every cell that holds text of its own. In a table of data the row is what one reads; in a
    table made for layout, as on most pages of CleanEval's days, each cell is a text.
    """
    kinds = segments.columns.kinds
    table_row = Kind.TABLE_ROW  # Enum's members are slow to find
    cells = [i for i, kind in enumerate(kinds) if kind is table_row]
    if not cells:
        return segments
    absorbed: set[int] = set()
    inline_rows: dict[Node, bool] = {}
    for row, neighbours in _rows(segments, cells):
        if not _is_data(segments, row, neighbours, inline_rows):
            for i in neighbours:
                kinds[i] = Kind.PARAGRAPH
        elif len(neighbours) > 1:
            _join(segments, neighbours)
            absorbed.update(neighbours[1:])
    if not absorbed:
        return segments
    return segments.only([i for i in range(len(kinds)) if i not in absorbed])


def _rows(segments: Segments, cells: list[int]) -> list[tuple[Node | None, list[int]]]:
    """The rows, each with those of its cells that follow each other without a block of something else between."""
    rows: list[tuple[Node | None, list[int]]] = []
    elements = segments.outline.elements
    for i in cells:
        cell = elements[segments.holders[i]]
        row = cell.parent if cell is not None else None
        if rows and rows[-1][0] is row and rows[-1][1][-1] == i - 1:
            rows[-1][1].append(i)
        else:
            rows.append((row, [i]))
    return rows


def _is_data(segments: Segments, row: Node | None, cells: list[int], inline_rows: dict[Node, bool]) -> bool:
    """Whether neighbouring cells are a row of data: several cells, each of one block, with inline content only."""
    if row is None:
        return False
    if row not in inline_rows:
        inline_rows[row] = _is_inline(row, segments.outline, segments.holders[cells[0]])
    holders = {segments.holders[i] for i in cells}
    return inline_rows[row] and len(holders) == len(cells)


def _is_inline(row: Node, outline: Outline, cell: int) -> bool:
    """Whether a row has several cells, and none of them holds a block.

    Args:
        row: the row.
        outline: of the page, which tells most rows in less time than the tree.
        cell: the number, in the outline, of one of the row's cells.
    """
    number = outline.parents[cell]
    if outline.elements[number] is row:
        tags, parents = outline.tags, outline.parents
        count = 0
        for inner in range(number + 1, len(parents)):
            parent = parents[inner]
            if parent > number:  # it stands in a cell, though not always as the cell's own child
                break
            if parent < number:
                return count > 1
            count += tags[inner] in _CELL_NUMBERS
        else:
            return count > 1
    cells = [child for child in row if isinstance(child, Element) and child.tag in _CELL_TAGS]
    within = (child for one in cells for child in one if isinstance(child, Element))
    return len(cells) > 1 and not any(ROLES.get(child.tag) is Role.BLOCK for child in within)


def _join(segments: Segments, cells: list[int]) -> None:
    """Put what the cells hold into the first of them, which becomes the row."""
    columns, first = segments.columns, cells[0]
    segments.holders[first] = segments.outline.parents[segments.holders[first]]
    columns.texts[first] = _CELL_SEPARATOR.join(columns.texts[i] for i in cells)
    columns.link_chars[first] = sum(columns.link_chars[i] for i in cells)
    columns.link_counts[first] = sum(columns.link_counts[i] for i in cells)
    segments.end_nodes[first] = segments.end_nodes[cells[-1]]
