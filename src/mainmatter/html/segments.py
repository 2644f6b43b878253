"""What the segmenter finds: the blocks of a page as columns, and the nodes that they were made from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from mainmatter.html.elements import ROLES
from mainmatter.records import Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.html.parse import Element, Text

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
