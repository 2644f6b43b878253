"""Unigram language models of short texts, smoothed by the text around them, and their Kullback-Leibler divergence.

Texts are arrays of word numbers. The collection is everything together: all short texts and the query, so that no word
has the probability 0 and every divergence is finite. With c(w; d) the count of a word in a text, |d| the text's words
and |d|u its different words (Zhai & Lafferty 2004, table I):

    absolute    p(w | d) = max(c(w; d) - delta, 0) / |d|  +  a_d p(w | C)     a_d = delta |d|u / |d|
    dirichlet   p(w | d) = c(w; d) / (|d| + mu)           +  a_d p(w | C)     a_d = mu / (|d| + mu)

An empty text has a_d = 1 in both: it is the collection.

    "query"     KL(q || d) = sum over w of p(w | q) log(p(w | q) / p(w | d)), as retrieval ranks documents
    "element"   KL(d || q), the same the other way round

Sums run over all words of the page, but for words that are not in a text p(w | d) = a_d p(w | C), so one sum over the
page and one over each text's own words are enough: all texts of a page take time linear in its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Smoothing = Literal["absolute", "dirichlet"]
Direction = Literal["query", "element"]


@dataclass(frozen=True, slots=True)
class Smoother:
    """How a text's model is mixed with the collection's.

    Attributes:
        kind: "absolute" or "dirichlet".
        delta: what absolute discounting takes from each count, above 0 and at most 1.
        mu: how many words of the collection Dirichlet smoothing adds to a text, above 0.
    """

    kind: Smoothing = "absolute"
    delta: float = 0.7
    mu: float = 100.0

    def share(self, lengths: NDArray[np.float64], types: NDArray[np.float64]) -> NDArray[np.float64]:
        """The collection's share of each text's model, a_d."""
        if self.kind == "dirichlet":
            return self.mu / (lengths + self.mu)
        return np.where(lengths > 0, self.delta * types / np.maximum(lengths, 1), 1.0)

    def own(self, counts: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """What a text itself gives to words that it has, counted `counts` times in a text of `lengths` words."""
        if self.kind == "dirichlet":
            return counts / (lengths + self.mu)
        return np.maximum(counts - self.delta, 0) / np.maximum(lengths, 1)


def divergences(
    words: NDArray[np.intp],
    texts: NDArray[np.intp],
    count: int,
    query: NDArray[np.intp],
    smoother: Smoother,
    direction: Direction = "query",
    query_smoother: Smoother | None = None,
) -> NDArray[np.float64]:
    """The divergence between the query and each text, in nats; never below 0, and finite.

    Args:
        words: the numbers of all words of all texts, from 0.
        texts: for each of them the number of its text, in ascending order.
        count: how many texts there are.
        query: the numbers of the query's words; if empty, the query is the collection.
        smoother: how models are smoothed.
        direction: which of the two divergences.
        query_smoother: how the query's model is smoothed, if not as the others.
    """
    size = int(max(words.max(initial=-1), query.max(initial=-1))) + 1
    if not size:
        return np.zeros(count)
    collection = np.bincount(words, minlength=size).astype(np.float64) + np.bincount(query, minlength=size)
    collection /= collection.sum()
    of_query = _query_model(query, collection, query_smoother or smoother)
    # Each pair of a text and one of its words, with its count.
    pairs, counts = np.unique(texts * size + words, return_counts=True)
    text, word = pairs // size, pairs % size
    lengths = np.bincount(texts, minlength=count).astype(np.float64)
    shares = smoother.share(lengths, np.bincount(text, minlength=count).astype(np.float64))
    background = collection[word]
    unseen = shares[text] * background  # what the word would have if the text had it not
    seen = smoother.own(counts.astype(np.float64), lengths[text]) + unseen
    # A word that only the query has is in the collection; one that nothing has is not a word of the page.
    known = collection > 0
    p, q = collection[known], of_query[known]
    if direction == "query":
        everywhere = (q * np.log(q / p)).sum() - np.log(shares)
        correction = -of_query[word] * np.log(seen / unseen)
    else:
        everywhere = shares * ((p * np.log(p / q)).sum() + np.log(shares))
        correction = seen * np.log(seen / of_query[word]) - unseen * np.log(unseen / of_query[word])
    found = everywhere + np.bincount(text, correction, count)
    positive: NDArray[np.float64] = np.maximum(found, 0.0)  # rounding
    return positive


def _query_model(query: NDArray[np.intp], collection: NDArray[np.float64], smoother: Smoother) -> NDArray[np.float64]:
    counts = np.bincount(query, minlength=len(collection)).astype(np.float64)
    length = np.array([float(len(query))])
    share = smoother.share(length, np.array([float(np.count_nonzero(counts))]))
    return smoother.own(counts, length) + share * collection
