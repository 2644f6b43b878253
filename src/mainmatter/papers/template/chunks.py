"""The chunks of a page, the unit in which sites repeat themselves (Template, section 3).

The paper's chunk is the text between two nearest table tags, since the pages of its time were laid out by tables.
Today's are laid out by other elements, so a chunk may also be the text between two nearest tags of any container.
Either way the chunks of a page follow each other, and each block is in one of them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from mainmatter.errors import InputError
from mainmatter.html.containers import as_array
from mainmatter.html.parse import Element
from mainmatter.html.segment import TAGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.html.parse import Node, Tree
    from mainmatter.html.segment import Segments
    from mainmatter.records import Document

Unit = Literal["table", "container", "block"]
UNITS: tuple[str, ...] = get_args(Unit)

_CONTAINERS = frozenset(
    """
    address article aside blockquote body center details dialog dir div dl fieldset figure footer form header hgroup
    main menu nav ol search section select table ul
    """.split()
)
# Rows and cells of a table of data are too small: what they hold is on many pages by chance (Template 3).
_CELLS = frozenset(("td", "th"))
_FEWEST_IN_CELL = 2  # blocks; a cell that holds as many is there for layout

_IS_TABLE = np.array([tag == "table" for tag in TAGS])
_IS_CONTAINER = np.array([tag in _CONTAINERS for tag in TAGS])
_IS_CELL = np.array([tag in _CELLS for tag in TAGS])


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of a page, in its order.

    Attributes:
        hashes: 64 bits for the text of each, the same in every process and on every machine.
        starts: the first block of each.
        of_block: for each block, the number of its chunk.
    """

    hashes: NDArray[np.uint64]
    starts: NDArray[np.intp]
    of_block: NDArray[np.intp]


def check_unit(name: str, unit: str) -> None:
    """Refuse an unknown unit.

    Raises:
        InputError: it is none of `UNITS`.
    """
    if unit not in UNITS:
        raise InputError(f"method {name!r}: unit must be {', '.join(UNITS[:-1])} or {UNITS[-1]}, not {unit!r}")


def find_chunks(document: Document, unit: Unit = "container") -> Chunks:
    """The chunks of a document; each block of a plain-text dump is one.

    Args:
        document: the page.
        unit: "table", the paper's: what stands between two nearest tags of tables or image maps; "container": between
            two nearest tags of anything that holds blocks (div, nav, ul, table, ...); "block": each block by itself.
    """
    count = len(document)
    starts = _starts(document, unit) if count else np.zeros(0, np.intp)
    is_start = np.zeros(count, np.intp)
    is_start[starts] = 1
    return Chunks(_hashes(document.columns.texts, starts), starts, is_start.cumsum() - 1)


def hash_text(text: str) -> int:
    """64 bits of a text."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _starts(document: Document, unit: Unit) -> NDArray[np.intp]:
    """The blocks that chunks begin with."""
    count = len(document)
    if unit == "block" or not document.has_markup:
        return np.arange(count)
    tree, segments = document.parsed
    outline = segments.outline
    first, end = as_array(outline.first), as_array(outline.end)
    tags = np.frombuffer(outline.tags, np.uint8)
    if not isinstance(segments.numbers, range):  # some texts were joined, or dropped
        numbers = as_array(segments.numbers)
        first, end = np.searchsorted(numbers, first), np.searchsorted(numbers, end)
    if unit == "table":
        delimits = _IS_TABLE[tags]
        maps = _map_places(tree, segments)
    else:
        delimits = _IS_CONTAINER[tags] | (_IS_CELL[tags] & (end - first >= _FEWEST_IN_CELL))
        maps = []
    is_start = np.zeros(count + 1, np.bool_)
    is_start[0] = True
    is_start[first[delimits]] = True
    is_start[end[delimits]] = True
    is_start[maps] = True
    return is_start[:count].nonzero()[0]


def _map_places(tree: Tree, segments: Segments) -> list[int]:
    """The blocks after the beginnings and ends of image maps, which are inline: the outline does not know them."""
    if tree.find("map") is None:
        return []
    nodes, seen = segments.nodes, 0
    after_map: dict[int, Node | None] = {}  # by identity; the node is kept, so that no other takes its place
    places = []
    for node in tree.descendants:
        is_map = isinstance(node, Element) and node.tag == "map"
        if is_map or id(node) in after_map:
            places.append(seen)
        if is_map:
            following = next(iter(node.following), None)
            after_map[id(following)] = following
        if seen < len(nodes) and node is nodes[seen]:
            seen += 1
    # A block goes on to its end, whatever stands in it.
    return [int(place) for place in np.searchsorted(as_array(segments.first_nodes), places)]


def _hashes(texts: list[str], starts: NDArray[np.intp]) -> NDArray[np.uint64]:
    """A hash for the text of each chunk, without regard to case."""
    ends = [*starts[1:].tolist(), len(texts)][: len(starts)]
    blake2b = hashlib.blake2b
    digests = [
        blake2b("\n".join(texts[start:end]).lower().encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for start, end in zip(starts.tolist(), ends, strict=True)
    ]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)
