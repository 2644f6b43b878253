"""From probabilities to a decision: the blocks that promise the highest F measure on the whole page.

If each block is main matter with a known probability, then the expected words that are kept rightly, kept wrongly and
missed are known for every choice of blocks, and so is (nearly) the expected F of the choice. The best one consists of
the likeliest blocks, down to a threshold that depends on the page: where nothing is sure, the threshold is lower.
(Lipton, Elkan, Naryanaswamy 2014, Optimal thresholding of classifiers to maximize F1, theorem 1.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST_BETA = 1e6  # all text, to the last block


class Choice(NamedTuple):
    """The best choice of blocks.

    Attributes:
        kept: one truth value a block; at least one is true, if there is a block.
        expected: the F1 that this choice promises, from 0 to 1.
    """

    kept: NDArray[np.bool_]
    expected: float


def best_choice(
    chances: NDArray[np.float64], sizes: NDArray[np.float64], dial: float = 0.5, middle: float = 1.0
) -> Choice:
    """Choose the blocks that promise the highest F.

    Args:
        chances: for each block, the probability that it is main matter.
        sizes: how much text each block is; above 0.
        dial: how much recall counts beside precision: beta is `middle` at 0.5, and proportional to dial / (1 - dial).
            At 0 only precision counts, so that only the surest block is kept; at 1 only recall, so that all text is.
        middle: beta in the middle of the dial. It would be 1 if probabilities were right on every kind of page.
    """
    if not len(chances):
        return Choice(np.zeros(0, np.bool_), 0.0)
    beta_squared = min(middle * dial / max(1 - dial, 1e-12), _LARGEST_BETA) ** 2
    order = np.argsort(-chances, kind="stable")
    rightly = np.cumsum((chances * sizes)[order])
    kept_sizes = np.cumsum(sizes[order])
    wanted = rightly[-1]
    promised = rightly / (kept_sizes + beta_squared * wanted)
    # Of choices that promise the same, the larger one: at dial 1 all are as good.
    best = len(promised) - 1 - int(np.argmax(promised[::-1])) if dial < 1 else len(promised) - 1
    kept = np.zeros(len(chances), np.bool_)
    kept[order[: best + 1]] = True
    return Choice(kept, float(2 * rightly[best] / (kept_sizes[best] + wanted)))
