"""What the segmenter finds: the blocks of a page as columns, and the nodes that they were made from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from mainmatter.records import Columns

if TYPE_CHECKING:
    from mainmatter.html.parse import Element, Text


@dataclass(frozen=True, slots=True)
class Segments:
    """The blocks of a page and their nodes; all lists are parallel, except `nodes`.

    Attributes:
        columns: what the methods read.
        elements: the element whose text the block is; None for text outside of all elements.
        ranges: which of the `nodes` the block is made of: the first, and the one after the last.
        nodes: all text nodes of the page that are part of a block.
        spaced: those that were set apart by a space from the text before, which the page sets apart by style alone.
        noscripts: what was skipped inside each `<noscript>`, as markup.
    """

    columns: Columns
    elements: list[Element | None]
    ranges: list[tuple[int, int]]
    nodes: list[Text]
    spaced: list[Text]
    noscripts: list[str]

    def text_nodes(self, index: int) -> list[Text]:
        """The text nodes that a block is made of."""
        first, end = self.ranges[index]
        return self.nodes[first:end]

    def only(self, indices: list[int]) -> Segments:
        """These segments without the blocks whose index is not named."""
        return Segments(
            Columns(*([getattr(self.columns, column.name)[i] for i in indices] for column in fields(Columns))),
            [self.elements[i] for i in indices],
            [self.ranges[i] for i in indices],
            self.nodes,
            self.spaced,
            self.noscripts,
        )
