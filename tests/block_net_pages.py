"""Random pages for the tests of the net over blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.main.block_net import Rows
from mainmatter.main.block_net_batch import Example

if TYPE_CHECKING:
    from numpy.random import Generator

FEATURES, NAMES, LEVELS, TYPES = 5, 9, 3, 4


def random_rows(rng: Generator, blocks: int, elements: int = 12, tokens: int = 20) -> Rows:
    parents = np.array([0, *(rng.integers(max(0, child - 4), child) for child in range(1, elements))], np.intp)
    return Rows(
        rng.normal(3, 2, (blocks, FEATURES)).astype(np.float32),
        rng.integers(0, NAMES + 1, tokens),
        np.sort(rng.integers(0, elements, tokens)),
        parents,
        rng.integers(0, elements, (blocks, LEVELS)),
    )


def random_example(rng: Generator, blocks: int, tokens: int = 20, page_type: int = -1, weight: float = 1.0) -> Example:
    shares = rng.random(blocks).astype(np.float32)
    comment = rng.integers(0, 2, blocks).astype(np.float32)
    if blocks > 2:
        shares[1] = comment[2] = np.nan
    words = rng.integers(0, 40, blocks)
    return Example(random_rows(rng, blocks, tokens=tokens), shares, words, comment, page_type, weight)
