"""Random pages for the tests of the net over blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainmatter.main.training import NetExample, NetInput

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from mainmatter.main.net import BlockNet, NetOutput

FEATURES, NAMES, LEVELS, LABELS, TYPES, CONVENTIONS = 5, 9, 3, 6, 4, 3


def random_input(rng: Generator, blocks: int, elements: int = 12, tokens: int = 20) -> NetInput:
    parents = np.array([0, *(rng.integers(max(0, child - 4), child) for child in range(1, elements))], np.intp)
    return NetInput(
        rng.normal(3, 2, (blocks, FEATURES)).astype(np.float32),
        rng.integers(0, NAMES + 1, tokens),
        np.sort(rng.integers(0, elements, tokens)),
        parents,
        rng.integers(0, elements, (blocks, LEVELS)),
    )


def random_example(
    rng: Generator, blocks: int, tokens: int = 20, page_type: int = -1, weight: float = 1.0, convention: int = 0
) -> NetExample:
    shares = rng.random(blocks).astype(np.float32)
    labels = rng.integers(0, LABELS, blocks)
    if blocks > 2:
        shares[1], labels[2] = np.nan, -1
    words = rng.integers(0, 40, blocks)
    return NetExample(random_input(rng, blocks, tokens=tokens), shares, words, labels, convention, page_type, weight)


def jump_pointers(parents: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The element one up from each, two up, four up and so on, until all are the first one."""
    jumps = []
    while parents.any():
        jumps.append(parents)
        parents = parents[parents]
    return jumps


def forward(net: BlockNet, page: NetInput, convention: int = 0) -> NetOutput:
    """What a net says about a page that it could be trained on."""
    embedding = net.weights["embedding"]
    vectors = np.zeros((len(page.parents), embedding.shape[1]), np.float32)
    np.add.at(vectors, page.token_elements, embedding[page.tokens])
    return net.forward(page.dense, vectors, jump_pointers(page.parents), page.containers, convention)
