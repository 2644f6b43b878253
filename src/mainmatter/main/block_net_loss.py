"""What a `BlockNet` is to make small: cross-entropies, and the F1 of words that is missing to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mainmatter.main.block_net_batch import Batch

_SMALLEST_SUM = 1e-6  # of a page's weights, where no block is known


@dataclass(frozen=True, slots=True)
class Shares:
    """How much each loss counts beside the cross-entropy of main matter.

    Attributes:
        f1: one minus the F1 of words, with probabilities for decisions.
        comment: cross-entropy of comments.
        page_type: cross-entropy of the type of page.
    """

    f1: float = 1.0
    comment: float = 0.3
    page_type: float = 0.1


def loss_and_gradients(
    logits: NDArray[Any], types: NDArray[Any], batch: Batch, shares: Shares
) -> tuple[float, NDArray[Any], NDArray[Any]]:
    """The mean loss of the pages, and how it changes with the logits and with the types.

    Blocks count by the square root of their words, and only where it is known how much of them is main matter.
    """
    logit = logits[:, 0]
    is_known = np.isfinite(batch.shares)
    y = np.where(is_known, batch.shares, 0)
    weights = np.sqrt(batch.words + 1) * is_known
    weights /= _of_pages(np.maximum(_by_page(weights, batch), _SMALLEST_SUM), batch)
    page_weights = batch.page_weights / len(batch.lengths)
    block_weights = weights * _of_pages(page_weights, batch)

    p = _sigmoid(logit)
    loss = float(_cross_entropy(logit, y) @ block_weights)
    of_logits = np.empty_like(logits)
    of_logits[:, 0] = (p - y) * block_weights

    words = batch.words * is_known
    both = 2 * _by_page(p * y * words, batch) + 1
    all_words = _by_page(p * words, batch) + _by_page(y * words, batch) + 1
    loss += shares.f1 * float((1 - both / all_words) @ page_weights)
    of_p = words * (_of_pages(both / all_words, batch) - 2 * y) * _of_pages(page_weights / all_words, batch)
    of_logits[:, 0] += of_p * p * (1 - p) * logits.dtype.type(shares.f1)

    is_told = np.isfinite(batch.comment)
    is_comment = np.where(is_told, batch.comment, 0)
    comment_weights = block_weights * is_told * logits.dtype.type(shares.comment)
    loss += float(_cross_entropy(logits[:, 1], is_comment) @ comment_weights)
    of_logits[:, 1] = (_sigmoid(logits[:, 1]) - is_comment) * comment_weights

    type_loss, of_types = _type_loss(types, batch.page_types)
    return loss + shares.page_type * type_loss, of_logits, of_types * logits.dtype.type(shares.page_type)


def _type_loss(types: NDArray[Any], true: NDArray[np.intp]) -> tuple[float, NDArray[Any]]:
    """The mean cross-entropy over the pages whose type is known."""
    known = np.flatnonzero(true >= 0)
    of_types = np.zeros_like(types)
    if not len(known):
        return 0.0, of_types
    shifted = types[known] - types[known].max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    of_known = np.exp(log_p)
    of_known[np.arange(len(known)), true[known]] -= 1
    of_types[known] = of_known / types.dtype.type(len(known))
    return -float(log_p[np.arange(len(known)), true[known]].mean()), of_types


def _by_page(values: NDArray[Any], batch: Batch) -> NDArray[Any]:
    sums: NDArray[Any] = np.add.reduceat(values, batch.starts)
    return sums


def _of_pages(values: NDArray[Any], batch: Batch) -> NDArray[Any]:
    return np.repeat(values, batch.lengths)


def _cross_entropy(logit: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    losses: NDArray[Any] = np.maximum(logit, 0) - logit * y + np.log1p(np.exp(-np.abs(logit)))
    return losses


def _sigmoid(logit: NDArray[Any]) -> NDArray[Any]:
    small = np.exp(-np.abs(logit))
    probability: NDArray[Any] = np.where(logit >= 0, 1, small) / (1 + small)
    return probability
