"""FIASCO 3.3: what each target node looks like when the page is rendered.

Only the place where these features come in. Whoever renders pages gives a document's source an attribute `visual`: a
table that maps the XPath of a target node, which is that of its block (`Block.xpath`), to the five values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mainmatter.records import Document

VISUAL = ("solidity_1", "solidity_2", "solidity_3", "relative_width", "headline")
_LARGEST = 1e9  # values are measures of a page, whatever the unit; larger ones are none


def visual_features(document: Document) -> NDArray[np.float64]:
    """The features of each target node, one row a block, one column for each name in `VISUAL`; 0 where unknown."""
    values = np.zeros((len(document), len(VISUAL)))
    table: Mapping[str, Sequence[float]] | None = getattr(document.source, "visual", None)
    if table:
        for block in document.blocks:
            known = table.get(block.xpath)
            if known is not None:
                values[block.index] = np.clip(np.nan_to_num(np.asarray(known, np.float64)), -_LARGEST, _LARGEST)
    return values
