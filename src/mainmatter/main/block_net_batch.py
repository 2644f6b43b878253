"""Pages to learn from, and batches of them: one after the other in the same tables, so that nothing is padded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.main.block_net import Rows


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A page to learn from.

    Attributes:
        rows: the page.
        shares: how much of each block is main matter, from 0 to 1; NaN where that is not known.
        words: how many words each block has.
        comment: 1 for blocks that are comments, else 0; NaN where that is not known.
        page_type: the number of its type, -1 if that is not known.
        weight: how much more or less than 1 the page counts.
        repeats: how often it is looked at in an epoch.
    """

    rows: Rows
    shares: NDArray[np.float32]
    words: NDArray[Any]
    comment: NDArray[np.float32]
    page_type: int = -1
    weight: float = 1.0
    repeats: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pages one after the other. Numbers of blocks and elements go on from page to page.

    Attributes:
        starts: the first block of each page; all pages have blocks.
        lengths: how many blocks each has.
        first_elements: of each page.
        element_pages: the page of each element.
        dense: brought to one scale already; the rest is as in `Rows` and `Example`.
    """

    starts: NDArray[np.intp]
    lengths: NDArray[np.intp]
    first_elements: NDArray[np.intp]
    element_pages: NDArray[np.intp]
    dense: NDArray[Any]
    tokens: NDArray[np.intp]
    token_elements: NDArray[np.intp]
    parents: NDArray[np.intp]
    containers: NDArray[np.intp]
    shares: NDArray[Any]
    words: NDArray[Any]
    comment: NDArray[Any]
    page_types: NDArray[np.intp]
    page_weights: NDArray[Any]


def pack(examples: Sequence[Example], dense: NDArray[Any]) -> Batch:
    """A batch of pages that all have blocks; `dense` are all of their numbers, brought to one scale."""
    pages = [example.rows for example in examples]
    lengths = np.array([len(page.dense) for page in pages], np.intp)
    elements = np.array([len(page.parents) for page in pages], np.intp)
    first_elements = np.cumsum(elements) - elements

    def shifted(arrays: list[NDArray[np.intp]]) -> NDArray[np.intp]:
        return np.concatenate([array + first for array, first in zip(arrays, first_elements, strict=True)])

    def joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(arrays).astype(dense.dtype, copy=False)

    return Batch(
        starts=np.cumsum(lengths) - lengths,
        lengths=lengths,
        first_elements=first_elements,
        element_pages=np.repeat(np.arange(len(pages)), elements),
        dense=dense,
        tokens=np.concatenate([page.tokens for page in pages]),
        token_elements=shifted([page.token_elements for page in pages]),
        parents=shifted([page.parents for page in pages]),
        containers=shifted([page.containers for page in pages]),
        shares=joined([example.shares for example in examples]),
        words=joined([example.words for example in examples]),
        comment=joined([example.comment for example in examples]),
        page_types=np.array([example.page_type for example in examples], np.intp),
        page_weights=np.array([example.weight for example in examples], dense.dtype),
    )
