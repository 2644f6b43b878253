"""What each HTML element means for reading a page as text: which break it, which are skipped, which kind they give.

The segmenter makes one look-up for each element, `MOVES`. An element that is not in it is inline: it changes nothing
but may hold text.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import product
from typing import NamedTuple

from mainmatter.records import Kind


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
_CONTROLS = frozenset("button label select textarea".split())


class State(NamedTuple):
    """What the text at some place of the tree is, by the elements around it."""

    kind: Kind
    level: int = 0  # of a heading
    control: bool = False  # part of a form


def _next_state(tag: str, state: State) -> State:
    kind = _KIND_OF_TAG.get(tag)
    level = HEADING_LEVELS.get(tag, 0)
    if kind is None:
        passes_on = tag not in _STARTS_AFRESH and state.kind is not Kind.TABLE_ROW
        kind, level = (state.kind, state.level) if passes_on else (Kind.PARAGRAPH, 0)
    return State(kind, level, state.control or tag in _CONTROLS)


# States are numbered, because the segmenter passes through one for every element of a page; 0 is a page's beginning.
STATES: list[State] = [
    State(kind, level, control)
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
_NUMBER = {state: number for number, state in enumerate(STATES)}

MOVES: dict[str, tuple[int, list[int]]] = {
    tag: (int(role), [_NUMBER[_next_state(tag, state)] for state in STATES]) for tag, role in ROLES.items()
}
# From here on the text is code, whose white space matters.
FIRST_CODE_STATE = _NUMBER[State(Kind.CODE)]
