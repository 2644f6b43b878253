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

# Where a block begins: the number of its first text node, its position, the numbers of its state and its holder.
Start = tuple[int, int, int, int]
# A text inside a link: the number of its block, its length, the link.
Linked = tuple[int, int, Element]

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
    """What a walk over the tree brings home."""

    parts: list[str]  # the page's text, with marks where blocks begin
    starts: list[Start]
    nodes: list[Text]
    linked: list[Linked]
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
    if not found.starts:
        return Segments(Columns([], [], [], [], [], [], []), [], [], [], [], [], [], found.noscripts, found.outline)
    first_nodes, positions, states, holders = zip(*found.starts, strict=True)
    texts = _split(found.parts, states)
    if len(texts) != len(states):  # more marks than blocks
        _remove_marks(tree)
        return segment(tree, read_noscript=read_noscript)
    link_chars, link_counts = _count_links(found.linked, texts)
    segments = Segments(
        Columns(
            texts=texts,
            kinds=[_KINDS[state] for state in states],
            levels=[_LEVELS[state] for state in states],
            positions=list(positions),
            link_chars=link_chars,
            link_counts=link_counts,
            controls=[_CONTROLS[state] for state in states],
        ),
        holders=list(holders),
        numbers=range(len(states)),
        first_nodes=list(first_nodes),
        end_nodes=[*first_nodes[1:], len(found.nodes)],
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
    starts: list[Start] = []
    nodes: list[Text] = []
    linked: list[Linked] = []
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
                    starts.append((len(nodes), position, state, holder))
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
                    linked.append((count - 1, len(data.strip()), link))
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
    return _Findings(parts, starts, nodes, linked, spaced, noscripts, outline)


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
    for i, text in enumerate(texts):
        if not text.isprintable() or "  " in text:
            texts[i] = _collapse(text)
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


def _count_links(linked: list[Linked], texts: list[str]) -> tuple[list[int], list[int]]:
    """How many characters of each block are inside links, and how many links that are."""
    chars, counts = [0] * len(texts), [0] * len(texts)
    last_link: Element | None = None
    last_block = -1
    for block, length, link in linked:
        if block != last_block:
            counts[block] = 1
            chars[block] = length
            last_block, last_link = block, link
            continue
        chars[block] += length
        if link is not last_link:
            counts[block] += 1
            last_link = link
    for block in {block for block, _, _ in linked}:  # white space inside of links is collapsed in the text
        chars[block] = min(chars[block], len(texts[block]))
    return chars, counts
