"""FIASCO 3.2: where each target node stands in the tree, and which tags are below it.

The paper gives examples: depth, heading, paragraph, and the proportions of `<a>`, `href` and `<img>`. The others are
ours, in the same spirit: what the node is inside of, the text around it in the nearest node that holds more than this
one, and how much text of the page stands before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.papers.fiasco.nodes import IN_ARTICLE, IN_FORM, IN_LIST, IN_MARGIN, IN_TABLE, sum_below
from mainmatter.records import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.papers.fiasco.nodes import Nodes
    from mainmatter.records import Document

STRUCTURAL = (
    "depth",
    "heading",
    "paragraph",
    "list_item",
    "in_list",
    "in_table",
    "in_form",
    "in_margin",
    "in_article",
    "links",
    "addresses",
    "images",
    "own_link_density",
    "all_link_density",
    "around_chars",
    "around_link_density",
    "around_mean_chars",
    "before",
)
_AROUND = (IN_LIST, IN_TABLE, IN_FORM, IN_MARGIN, IN_ARTICLE)
_DEEPEST = 64  # what is deeper is as deep as this


def structural_features(document: Document, nodes: Nodes) -> NDArray[np.float64]:
    """The features of each target node, one row a block, one column for each name in `STRUCTURAL`."""
    targets = nodes.targets
    kinds = document.columns.kinds
    link_chars = np.array(document.columns.link_chars, np.int64)
    link_chars_before = np.concatenate([[0], np.cumsum(link_chars)])
    chars, around = nodes.chars[targets], nodes.around[targets]
    elements = nodes.elements[targets]
    wider = _wider(nodes)[targets]
    wider_chars = np.maximum(nodes.chars[wider], 1)
    wider_blocks = np.maximum(nodes.end[wider] - nodes.first[wider], 1)
    wider_link_chars = link_chars_before[nodes.end[wider]] - link_chars_before[nodes.first[wider]]
    all_chars = max(1, int(nodes.chars[0]))
    chars_before = np.cumsum(document.lengths) - document.lengths
    return np.column_stack(
        [
            np.minimum(nodes.depths[targets], _DEEPEST),
            np.fromiter((kind is Kind.HEADING for kind in kinds), np.float64, len(kinds)),
            np.fromiter((nodes.tags[target] == "p" for target in targets.tolist()), np.float64, len(kinds)),
            np.fromiter((kind is Kind.LIST_ITEM for kind in kinds), np.float64, len(kinds)),
            *((around & bit) > 0 for bit in _AROUND),
            nodes.links[targets] / np.maximum(elements, 1),
            nodes.addresses[targets] / np.maximum(elements, 1),
            nodes.images[targets] / np.maximum(elements, 1),
            link_chars / np.maximum(document.lengths, 1),
            sum_below(nodes.spans, link_chars) / np.maximum(chars, 1),
            np.log1p(wider_chars),
            wider_link_chars / wider_chars,
            np.log1p(wider_chars / wider_blocks),
            np.round(chars_before / all_chars, 2),  # so that like nodes are alike on pages of many
        ]
    ).astype(np.float64)


def _wider(nodes: Nodes) -> NDArray[np.intp]:
    """For each node the nearest one around it that holds more blocks, or the document."""
    parents = nodes.parents.tolist()
    sizes = (nodes.end - nodes.first).tolist()
    wider = [0] * len(parents)
    for node in range(1, len(parents)):  # parents stand before their children
        parent = parents[node]
        wider[node] = parent if sizes[parent] > sizes[node] else wider[parent]
    return np.array(wider, np.intp)
