"""What the segmenter finds: the blocks of a page as columns, and the nodes that they were made from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from mainmatter.records import Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.html.parse import Element, Text


@dataclass(frozen=True, slots=True)
class Outline:
    """The block-level elements of a page, numbered in the order of the page; number 0 is the document itself.

    Attributes:
        elements: the elements; None in place of the document.
        tags: their names; "" in place of the document.
        parents: the number of the block-level element around each; 0 for the document.
        first: the number of the first text in each. Texts are counted as the walk met them, before those of a row of
            data are joined; `Segments.numbers` says which of them each block begins with.
        end: the number after that of the last text in each.
        pictures: for each picture, how many texts began before it.
    """

    elements: list[Element | None]
    tags: list[str]
    parents: list[int]
    first: list[int]
    end: list[int]
    pictures: list[int]


@dataclass(frozen=True, slots=True)
class Segments:
    """The blocks of a page and their nodes: parallel lists, up to `ranges`.

    Attributes:
        columns: what the methods read.
        holders: the number, in the outline, of the element whose text the block is; 0 outside of all elements.
        numbers: the number of the text that each block begins with; see `Outline`.
        ranges: which of the `nodes` the block is made of: the first, and the one after the last.
        nodes: all text nodes of the page that are part of a block.
        spaced: those that were set apart by a space from the text before, which the page sets apart by style alone.
        noscripts: what was skipped inside each `<noscript>`, as markup.
        outline: the block-level elements of the page.
    """

    columns: Columns
    holders: list[int]
    numbers: Sequence[int]
    ranges: list[tuple[int, int]]
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
        first, end = self.ranges[index]
        return self.nodes[first:end]

    def only(self, indices: list[int]) -> Segments:
        """These segments without the blocks whose index is not named."""
        return Segments(
            Columns(*([getattr(self.columns, column.name)[i] for i in indices] for column in fields(Columns))),
            [self.holders[i] for i in indices],
            [self.numbers[i] for i in indices],
            [self.ranges[i] for i in indices],
            self.nodes,
            self.spaced,
            self.noscripts,
            self.outline,
        )
