"""A parsed page to blocks, in one pass over the tree.

A block is a paragraph-sized piece of text: what stands between two block-level tags, or between two runs of
`<br><br>`, which old pages use for paragraphs (ICE 3.1, FIASCO 2.1). A table row whose cells hold inline content
only is one block; the cells of a layout table are blocks of their own (html/rows.py).

Speed is design here: the pass visits each node once, asks it as little as it can, and fills lists, not objects.
Whatever a method may never need (XPaths, attributes, what is hidden) is found later, by html/locate.py, from the
nodes that `Segments` keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mainmatter.html.elements import FIRST_CODE_STATE, MOVES, STATES, Role
from mainmatter.html.parse import Element, Text, Tree, is_html
from mainmatter.html.rows import join_rows
from mainmatter.html.segments import NUMBER_OF_TAG, Outline, Segments
from mainmatter.records import Columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mainmatter.html.parse import Node

_BLOCK, _LINK, _BREAK, _SKIP, _TEMPLATE, _NOSCRIPT, _PICTURE, _EMPHASIS, _FORMULA = map(int, Role)
# Roles that only the walk knows: what has none of the others; what cannot hold anything, so that there is nothing to
# skip; what is inside of a formula, where a template may be one in name only.
_INLINE, _VOID, _VOID_PICTURE, _IN_FORMULA, _TEMPLATE_IN_FORMULA = range(len(Role), len(Role) + 5)
# What the end of an element does to the text; that of a formula changes what tags mean.
_NOTHING, _BREAKS, _MAKES_SEAM, _ENDS_FORMULA = range(4)

# What the walk knows of a tag: its role, the state that follows each state, its number in the outline.
Move = tuple[int, list[int], int]


class _Moves(dict[str, Move]):
    """The move of each tag."""

    def __init__(self, moves: dict[str, Move], otherwise: Move) -> None:
        super().__init__(moves)
        self._otherwise = otherwise

    def __missing__(self, tag: str) -> Move:
        return self._otherwise


_VOID_TAGS = frozenset("area base col embed frame img input link meta param source track wbr".split())
_ROLE_OF_VOID = {_SKIP: _VOID, _PICTURE: _VOID_PICTURE}


def _move_of(tag: str) -> Move:
    role, next_state = MOVES[tag]
    return _ROLE_OF_VOID[role] if tag in _VOID_TAGS else role, next_state, NUMBER_OF_TAG[tag]


_INLINE_MOVE: Move = (_INLINE, [], 0)
# Those that are met often, since to miss takes longer than to find.
_OFTEN_INLINE = "abbr bdi nobr optgroup picture ruby slot span time".split()
_MOVES = _Moves(dict.fromkeys(_OFTEN_INLINE, _INLINE_MOVE) | {tag: _move_of(tag) for tag in MOVES}, _INLINE_MOVE)
_MOVES_WITH_NOSCRIPT = _Moves({**_MOVES, "noscript": (*MOVES["div"], NUMBER_OF_TAG["noscript"])}, _INLINE_MOVE)
# The names in a formula mean nothing here, but for those of what annotates it.
_SKIP_MOVE: Move = (_SKIP, [], 0)
_MOVES_IN_FORMULA = _Moves(
    {
        **dict.fromkeys(("annotation", "annotation-xml", "script", "style", "svg"), _SKIP_MOVE),
        "template": (_TEMPLATE_IN_FORMULA, [], 0),
    },
    otherwise=(_IN_FORMULA, [], 0),
)

_KINDS = [state.kind for state in STATES]
_LEVELS = [state.level for state in STATES]
_CONTROLS = [state.control for state in STATES]

# Marks in the page's text while it is put together. HTML has no control characters; see `_remove_marks`.
_BLOCK_MARK = "\x01"
_LINE_MARK = "\x02"

_SOFT_HYPHEN = "\u00ad"
# From here on Unicode has the scripts that put no spaces between words.
_FIRST_CJK = "\u2e80"


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
    return join_rows(segments)


def _walk(tree: Tree, *, read_noscript: bool) -> _Findings:  # noqa: C901, PLR0912, PLR0915
    """Visit the tree once. One long loop with local names: function calls would double its time.

    The parser hands out all nodes in the order of the page, in half the time that one iterator for each element takes.
    An element has ended when a node comes whose parent is another one.
    """
    parts: list[str] = []
    first_nodes, positions, states, holders = list[int](), list[int](), list[int](), list[int]()
    link_chars, link_counts = list[int](), list[int]()
    nodes: list[Text] = []
    spaced: list[Text] = []
    noscripts: list[str] = []
    elements: list[Element | None] = [None]
    tags, parents, first, ends, pictures = bytearray(1), [0], [0], [0], list[int]()
    # What to go back to at the end of each open element, and what that end does to the text.
    open_elements: list[tuple[Node, int, int, Element | None, int]] = []
    usual_moves = _MOVES_WITH_NOSCRIPT if read_noscript else _MOVES
    moves = usual_moves
    current: Node = tree
    holder = count = 0  # the number of the block-level element that the walk is in, and how many blocks began
    link: Element | None = None
    last_link: Element | None = None  # that the block has text in
    state = position = last_position = line_breaks = 0
    block_ended = True
    indentation = ""  # white space before the first text of a block of code
    seam = 0  # between two inline elements: 1 after the end of one, 2 after the beginning of the next, or a picture
    coming: Iterator[Any] = tree.descendants
    while True:
        for node in coming:
            parent = node.parent
            while parent is not current:
                current, outer, state, link, effect = open_elements.pop()
                if effect == _BREAKS:
                    block_ended = True
                    ends[holder] = count
                    holder = outer
                elif effect == _MAKES_SEAM:
                    if not seam:
                        seam = 1
                elif effect == _ENDS_FORMULA:
                    moves = usual_moves
            node_type = type(node)
            if node_type is Text:
                data = node.data
                if data.isspace():
                    if not block_ended:
                        parts.append(" " if state < FIRST_CODE_STATE else data)
                    elif state >= FIRST_CODE_STATE:
                        indentation += data
                    continue
                if block_ended:
                    block_ended = False
                    if position == last_position:  # a block ended, but no tag began the next one
                        position += 1
                    last_position = position
                    first_nodes.append(len(nodes))
                    positions.append(position)
                    states.append(state)
                    holders.append(holder)
                    link_chars.append(0)
                    link_counts.append(0)
                    last_link = None
                    count += 1
                    parts.append(_BLOCK_MARK)
                    if indentation:
                        parts.append(indentation)
                        indentation = ""
                elif seam == 2 and state < FIRST_CODE_STATE and _would_glue(parts[-1], data):
                    parts.append(" ")
                    spaced.append(node)
                seam = line_breaks = 0
                parts.append(data)
                nodes.append(node)
                if link is not None:
                    link_chars[-1] += len(data.strip())
                    if link is not last_link:
                        link_counts[-1] += 1
                        last_link = link
            elif node_type is Element:
                role, next_state, number = moves[node.tag]
                if role == _BLOCK:
                    open_elements.append((current, holder, state, link, _BREAKS))
                    current = node
                    parents.append(holder)
                    holder = len(elements)
                    elements.append(node)
                    tags.append(number)
                    first.append(count)
                    ends.append(0)
                    state = next_state[state]
                    block_ended = True
                    indentation = ""
                    position += 1
                elif role == _LINK:
                    open_elements.append((current, holder, state, link, _MAKES_SEAM))
                    current = link = node
                    if seam:
                        seam = 2
                elif role == _INLINE:
                    open_elements.append((current, holder, state, link, _MAKES_SEAM))
                    current = node
                    if seam:
                        seam = 2
                elif role == _VOID:
                    continue
                elif role == _VOID_PICTURE:
                    seam = 2
                    pictures.append(count)
                elif role == _EMPHASIS:
                    open_elements.append((current, holder, state, link, _NOTHING))
                    current = node
                    if seam:
                        seam = 2
                elif role == _BREAK:
                    line_breaks += 1
                    if line_breaks == 2:
                        block_ended = True
                    parts.append(_LINE_MARK)
                elif role == _FORMULA:
                    open_elements.append((current, holder, state, link, _ENDS_FORMULA))
                    current = node
                    moves = _MOVES_IN_FORMULA
                elif role == _IN_FORMULA or (role == _TEMPLATE_IN_FORMULA and not is_html(node)):
                    open_elements.append((current, holder, state, link, _NOTHING))
                    current = node
                elif role == _TEMPLATE and node.attr("shadowrootmode") is not None:
                    open_elements.append((current, holder, state, link, _BREAKS))
                    current = next(coming)  # the fragment that holds the template's content
                    parents.append(holder)
                    holder = len(elements)
                    elements.append(node)
                    tags.append(number)
                    first.append(count)
                    ends.append(0)
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
    for _, outer, _, _, effect in reversed(open_elements):
        if effect == _BREAKS:
            ends[holder] = count
            holder = outer
    ends[0] = count
    outline = Outline(elements, tags, parents, first, ends, pictures)
    numbers = (first_nodes, positions, states, holders, link_chars, link_counts)
    return _Findings(parts, *numbers, nodes, spaced, noscripts, outline)


def _remove_marks(tree: Tree) -> None:
    """Take our marks out of a page that has them in its text."""
    for node in tree.descendants:
        if isinstance(node, Text) and _BLOCK_MARK in node.data:
            node.data = node.data.replace(_BLOCK_MARK, " ")


def _would_glue(before: str, after: str) -> bool:
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
    # Asking is faster than splitting: most texts are clean. The only white space that is printable is the space.
    for i in [i for i, text in enumerate(texts) if "  " in text or not text.isprintable()]:
        texts[i] = _collapse(texts[i])
    if max(states) >= FIRST_CODE_STATE:
        for i, state in enumerate(states):
            if state >= FIRST_CODE_STATE:
                texts[i] = _verbatim(raw_texts[i])
    return texts


def _collapse(text: str) -> str:
    """Collapse white space; keep the line breaks of the page, not those of its source."""
    if _LINE_MARK not in text:
        return " ".join(text.split())
    lines = (" ".join(line.split()) for line in text.split(_LINE_MARK))
    return "\n".join(filter(None, lines))


def _verbatim(text: str) -> str:
    return text.replace(_LINE_MARK, "\n").strip("\r\n").rstrip()
