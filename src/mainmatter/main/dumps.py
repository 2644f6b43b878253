"""What `main` sees of a plain-text dump, for which it has its own net, and dumps of pages to learn from.

A dump has no markup, so only those of `features.COLUMNS` are used that depend on texts, their order and their copies.
Its first line is often the page's title, as in WET archives; a text that occurs in it word for word is likely the
headline (ICE 3.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.main.features import COLUMNS, MIN_SHARE_OF_TITLE, PageFeatures, describe_blocks, shares_of_title
from mainmatter.records import Columns, Containers, Document, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

DUMP_COLUMNS = (
    "chars", "digits", "capitals", "stops", "commas", "marks", "spaces", "stop_count", "comma_count", "ends_with_stop",
    "ends_with_comma", "begins_with_capital", "begins_with_digit", "kind_heading", "kind_list-item", "place",
    "chars_before", "copies", "copy_before", "in_title", "longest_side", "longest_ratio", "title_side", "page_blocks",
    "page_chars", "page_longest", "page_stops", "page_has_title",
)  # fmt: skip
# How much recall counts beside precision: chosen by cross-validation over the sites of all sets that train.
BETA_OF_DUMPS = 0.85
_LONGEST_TITLE = 300  # characters of the first line: to look all texts up in a very long one would take forever
_FROM_ALL = [COLUMNS.index(name) for name in DUMP_COLUMNS]
_IN_TITLE, _TITLE_SIDE, _HAS_TITLE = map(DUMP_COLUMNS.index, ("in_title", "title_side", "page_has_title"))
_KINDS = frozenset((Kind.HEADING, Kind.LIST_ITEM))  # that a dump may tell from paragraphs


def describe_dump(document: Document) -> PageFeatures:
    """Describe all blocks of a document by their texts alone, one column for each of `DUMP_COLUMNS`."""
    page = describe_blocks(document)
    dense = np.ascontiguousarray(page.dense[:, _FROM_ALL])
    texts = document.columns.texts
    if texts:
        in_title = shares_of_title(texts[0][:_LONGEST_TITLE], texts)
        in_title[0] = 0
        headline = int(in_title.argmax())
        has_headline = bool(in_title[headline] > MIN_SHARE_OF_TITLE)
        dense[:, _IN_TITLE], dense[:, _HAS_TITLE] = in_title, has_headline
        dense[:, _TITLE_SIDE] = np.tanh((np.arange(len(texts)) - headline) / 10) * has_headline
    # The net asks for elements around each block, and their names: there is one element, the dump, without a name.
    around, no_name = np.zeros((len(texts), 1), np.intp), np.zeros((1, 1), np.float32)
    return PageFeatures(dense, page.sizes, around, Containers.one(len(texts)), no_name, DUMP_COLUMNS)


def as_dump(document: Document) -> tuple[Document, NDArray[np.intp]]:
    """A page as a plain-text dump, to learn from: its title, if it has one, then each line of each block.

    Returns:
        The dump, and for each of its blocks the number of the page's block that it is from; -1 for the title. What is
        a dump already stays as it is.
    """
    if not document.has_markup:
        return document, np.arange(len(document))
    columns = document.columns
    lines = [(" ".join(line.split()), number) for number, text in enumerate(columns.texts) for line in text.split("\n")]
    lines = [(line, number) for line, number in [(document.title, -1), *lines] if line]
    kinds = [columns.kinds[number] if number >= 0 else Kind.PARAGRAPH for _, number in lines]
    texts = Columns.of(
        [line for line, _ in lines], kinds=[kind if kind in _KINDS else Kind.PARAGRAPH for kind in kinds]
    )
    return Document(document.page, texts), np.array([number for _, number in lines], np.intp)
