"""CleanEval's markup: `<h>` heading, `<l>` list item, `<p>` everything else, at the beginning of each block.

It has no markup for comments: they stay in their place on the page, marked or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.records import Kind

if TYPE_CHECKING:
    from mainmatter.records import Extraction

_LABELS = {Kind.HEADING: "<h>", Kind.LIST_ITEM: "<l>"}


def render(extraction: Extraction) -> str:
    """The kept blocks, one a line, each after its label."""
    texts, kinds = extraction.document.columns.texts, extraction.kinds
    kept = extraction.kept.nonzero()[0].tolist()
    return "\n".join(f"{_LABELS.get(kinds[i], '<p>')} {' '.join(texts[i].split())}" for i in kept)
