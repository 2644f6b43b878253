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
from mainmatter.html.parse import Element, Text, Tree
from mainmatter.html.rows import join_rows
from mainmatter.html.segments import Outline, Segments
from mainmatter.records import Columns

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where a block begins: the number of its first text node, its position, the numbers of its state and its holder.
Start = tuple[int, int, int, int]
# A text inside a link: the number of its block, its length, the link.
Linked = tuple[int, int, Element]

_BLOCK, _LINK, _BREAK, _SKIP, _TEMPLATE, _NOSCRIPT, _PICTURE, _EMPHASIS, _FORMULA = map(int, Role)
# What the end of an element does to the text.
_NOTHING, _BREAKS, _MAKES_SEAM = range(3)

_NOT_OF_FORMULA = frozenset(("annotation", "annotation-xml", "script", "style", "svg"))
_NOSCRIPT_AS_BLOCK = {"noscript": MOVES["div"]}

_KINDS = [state.kind for state in STATES]
_LEVELS = [state.level for state in STATES]
_CONTROLS = [state.control for state in STATES]

# Marks in the page's text while it is put together. HTML has no control characters; see `_remove_marks`.
_BLOCK_MARK = "\x01"
_LINE_MARK = "\x02"

_COMMON_SPACES = " \n\xa0"
_RARE_SPACES = [space for space in map(chr, range(0x3001)) if space.isspace() and space not in _COMMON_SPACES]

_SOFT_HYPHEN = "\u00ad"
# From here on Unicode has the scripts that put no spaces between words.
_FIRST_CJK = "\u2e80"


class _Findings(NamedTuple):
    """What a walk over the tree brings home; the texts and starts belong to blocks."""

    texts: list[str]
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
    try:
        found = _walk(tree, read_noscript=read_noscript)
    except ValueError:  # more marks than blocks
        _remove_marks(tree)
        found = _walk(tree, read_noscript=read_noscript)
    texts, starts, nodes, linked, spaced, noscripts, outline = found
    if not starts:
        return Segments(Columns([], [], [], [], [], [], []), [], [], [], [], [], noscripts, outline)
    first_nodes, positions, states, holders = zip(*starts, strict=True)
    link_chars, link_counts = _count_links(linked, texts)
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
        numbers=range(len(starts)),
        ranges=list(zip(first_nodes, (*first_nodes[1:], len(nodes)), strict=True)),
        nodes=nodes,
        spaced=spaced,
        noscripts=noscripts,
        outline=outline,
    )
    if "" in texts:  # nothing but soft hyphens
        segments = segments.only([i for i, text in enumerate(texts) if text])
    return join_rows(segments)


def _walk(tree: Tree, *, read_noscript: bool) -> _Findings:  # noqa: C901, PLR0912, PLR0915
    """Visit the tree once. One long loop with local names: function calls would double its time."""
    parts: list[str] = []
    starts: list[Start] = []
    nodes: list[Text] = []
    linked: list[Linked] = []
    spaced: list[Text] = []
    noscripts: list[str] = []
    outline = Outline([None], [""], [0], [0], [0], [])
    # What to go back to at the end of each open element, and what that end does to the text.
    open_elements: list[tuple[Iterator[Any], int, int, Element | None, int]] = []
    moves = (MOVES | _NOSCRIPT_AS_BLOCK if read_noscript else MOVES).get
    add_part, add_node, add_open = parts.append, nodes.append, open_elements.append
    add_holder, add_parent, add_picture = outline.elements.append, outline.parents.append, outline.pictures.append
    add_first, ends = outline.first.append, outline.end
    add_tag, add_end = outline.tags.append, ends.append
    holder = last_holder = 0  # the numbers of the block-level element that the walk is in, and of the last one seen
    link: Element | None = None
    state = position = last_position = line_breaks = 0
    block_ended = True
    indentation = ""  # white space before the first text of a block of code
    seam = 0  # between two inline elements: 1 after the end of one, 2 after the beginning of the next, or a picture
    children: Iterator[Any] = iter(tree)
    while True:
        for node in children:
            node_type = type(node)
            if node_type is Text:
                data = node.data
                if data.isspace():
                    if not block_ended:
                        add_part(" " if state < FIRST_CODE_STATE else data)
                    elif state >= FIRST_CODE_STATE:
                        indentation += data
                    continue
                if block_ended:
                    block_ended = False
                    if position == last_position:  # a block ended, but no tag began the next one
                        position += 1
                    last_position = position
                    starts.append((len(nodes), position, state, holder))
                    add_part(_BLOCK_MARK)
                    if indentation:
                        add_part(indentation)
                        indentation = ""
                elif seam == 2 and state < FIRST_CODE_STATE and _would_glue(parts[-1], data):
                    add_part(" ")
                    spaced.append(node)
                seam = line_breaks = 0
                add_part(data)
                add_node(node)
                if link is not None:
                    linked.append((len(starts) - 1, len(data.strip()), link))
            elif node_type is Element:
                tag = node.tag
                move = moves(tag)
                if move is None:  # inline
                    add_open((children, holder, state, link, _MAKES_SEAM))
                    children = iter(node)
                    if seam:
                        seam = 2
                    break
                role, next_state = move
                if role == _BLOCK:
                    add_open((children, holder, state, link, _BREAKS))
                    children = iter(node)
                    add_holder(node)
                    add_tag(tag)
                    add_parent(holder)
                    add_first(len(starts))
                    add_end(0)
                    last_holder += 1
                    holder = last_holder
                    state = next_state[state]
                    block_ended = True
                    indentation = ""
                    position += 1
                    break
                if role == _LINK:
                    add_open((children, holder, state, link, _MAKES_SEAM))
                    children = iter(node)
                    link = node
                    if seam:
                        seam = 2
                    break
                if role == _EMPHASIS:
                    add_open((children, holder, state, link, _NOTHING))
                    children = iter(node)
                    if seam:
                        seam = 2
                    break
                if role == _FORMULA:
                    add_open((children, holder, state, link, _NOTHING))
                    children = _texts_of_formula(node)
                    break
                if role == _BREAK:
                    line_breaks += 1
                    if line_breaks == 2:
                        block_ended = True
                    add_part(_LINE_MARK)
                elif role == _PICTURE:
                    seam = 2
                    add_picture(len(starts))
                elif role == _NOSCRIPT:
                    noscripts.append(node.text)
                elif role == _TEMPLATE and node.attr("shadowrootmode") is not None:
                    add_open((children, holder, state, link, _BREAKS))
                    children = (child for fragment in node for child in fragment)
                    add_holder(node)
                    add_tag(tag)
                    add_parent(holder)
                    add_first(len(starts))
                    add_end(0)
                    last_holder += 1
                    holder = last_holder
                    block_ended = True
                    break
        else:
            if not open_elements:
                break
            ended = holder
            children, holder, state, link, effect = open_elements.pop()
            if effect == _BREAKS:
                block_ended = True
                ends[ended] = len(starts)
            elif effect == _MAKES_SEAM and not seam:
                seam = 1
    ends[0] = len(starts)
    return _Findings(_split(parts, starts), starts, nodes, linked, spaced, noscripts, outline)


def _texts_of_formula(formula: Element) -> Iterator[Text]:
    """The texts of a formula, without what annotates it; not by recursion, since pages can be deep."""
    open_elements = [iter(formula)]
    while open_elements:
        for node in open_elements[-1]:
            if isinstance(node, Text):
                yield node
            elif isinstance(node, Element) and node.tag not in _NOT_OF_FORMULA:
                open_elements.append(iter(node))
                break
        else:
            open_elements.pop()


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


def _split(parts: list[str], starts: list[Start]) -> list[str]:
    """Put the page's text together, cut it at the marks, and normalise the text of each block."""
    joined = "".join(parts)
    if _SOFT_HYPHEN in joined:
        joined = joined.replace(_SOFT_HYPHEN, "")
    raw_texts = joined.split(_BLOCK_MARK)
    del raw_texts[0]  # what stood before the first block: nothing
    texts = [
        text.strip() if start[2] < FIRST_CODE_STATE else _verbatim(text)
        for text, start in zip(raw_texts, starts, strict=True)
    ]
    # Asking is faster than splitting: most texts are clean.
    for i, text in enumerate(texts):
        if ("\n" in text or "  " in text or "\xa0" in text) and starts[i][2] < FIRST_CODE_STATE:
            texts[i] = _collapse(text)
    for space in (*_RARE_SPACES, _LINE_MARK):
        if space in joined:
            for i, text in enumerate(texts):
                if space in text and starts[i][2] < FIRST_CODE_STATE:
                    texts[i] = _collapse(text)
    if _LINE_MARK in joined:
        texts = [text.replace(_LINE_MARK, "\n") for text in texts]
    return texts


def _collapse(text: str) -> str:
    """Collapse white space; keep the line breaks of the page, not those of its source."""
    if _LINE_MARK not in text:
        return " ".join(text.split())
    lines = (" ".join(line.split()) for line in text.split(_LINE_MARK))
    return _LINE_MARK.join(filter(None, lines))


def _verbatim(text: str) -> str:
    return text.replace(_LINE_MARK, "\n").strip("\r\n").rstrip()


def _count_links(linked: list[Linked], texts: list[str]) -> tuple[list[int], list[int]]:
    """How many characters of each block are inside links, and how many links that are."""
    chars, counts = [0] * len(texts), [0] * len(texts)
    last_link: Element | None = None
    last_block = -1
    for block, length, link in linked:
        chars[block] += length
        if link is not last_link or block != last_block:
            counts[block] += 1
            last_link, last_block = link, block
    for block in {block for block, _, _ in linked}:  # white space inside of links is collapsed in the text
        chars[block] = min(chars[block], len(texts[block]))
    return chars, counts
