"""Gold text to clean target nodes (FIASCO 5.1).

Each paragraph of the gold text marks the subtree clean whose words are most like its own, by the Dice coefficient, if
that is like enough. Target nodes inside of a clean subtree are clean, and so are those that dominate more clean than
other target nodes; all others are dirty. Word order plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.papers.fiasco.nodes import Nodes, find_nodes
from mainmatter.text.tokens import gold_paragraphs, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.papers.fiasco.elements import Elements
    from mainmatter.records import Document, Gold

# The paper says "sufficiently similar" and no number. Lower is better on cleaneval-dev and wcxb-dev, down to 0.4, the
# lowest we tried (docs/results/alignment.md); we stop where half of the words are the same.
SIMILAR_ENOUGH = 0.5

_FIRST_LOOK = 4  # subtrees that are compared at once: mostly the first is the one; then twice as many, and so on
_CELLS = 1 << 20  # subtrees times different words of the paragraph, at most

# The subtrees that are most like a paragraph, in the order of the page, and how like they are.
_Best = tuple["NDArray[np.intp]", float]


@dataclass(frozen=True, slots=True)
class _SoughtParagraph:
    """A paragraph to search for: which of its words each word of the page is, or -1; how often; how many in all."""

    places: NDArray[np.intp]
    most: NDArray[np.intp]
    length: int


@dataclass(frozen=True, slots=True)
class Matches:
    """Where the paragraphs of a gold text were found.

    Attributes:
        nodes: the nodes of the page.
        found: for each gold paragraph with words the number of the node that is most like it, or -1.
        similarities: the Dice coefficient of the two, or 0.
    """

    nodes: Nodes
    found: NDArray[np.intp]
    similarities: NDArray[np.float64]

    @property
    def rate(self) -> float:
        """The share of the paragraphs that were found; 1 where there is none."""
        return float((self.found >= 0).mean()) if len(self.found) else 1.0


def align_dice(document: Document, gold: Gold, similar_enough: float = SIMILAR_ENOUGH) -> NDArray[np.float64]:
    """Label the blocks of a document: 1 where its target node is clean, else 0."""
    matches = match_paragraphs(document, gold, similar_enough)
    return spread(matches.nodes, matches.found).astype(np.float64)


def match_paragraphs(document: Document, gold: Gold, similar_enough: float = SIMILAR_ENOUGH) -> Matches:
    """Find for each gold paragraph the subtree whose words overlap most with its words."""
    nodes = find_nodes(document)
    return Matches(nodes, *_search_all(_WordIndex(document.texts, nodes.first, nodes.end), gold, similar_enough))


def _search_all(index: _WordIndex, gold: Gold, similar_enough: float) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """For each gold paragraph with words the most similar node, or -1, and how similar it is, or 0."""
    wanted = filter(None, map(words, gold_paragraphs(gold)))
    found = [index.most_similar(paragraph, similar_enough) for paragraph in wanted]
    return np.array([node for node, _ in found], np.intp), np.array([similarity for _, similarity in found], np.float64)


def label_elements(
    elements: Elements, gold: Gold, similar_enough: float = SIMILAR_ENOUGH
) -> tuple[NDArray[np.bool_], float]:
    """Which target nodes among all elements are clean, and the share of the gold paragraphs that were found."""
    index = _WordIndex(elements.texts, elements.first, elements.end)
    matched, _ = _search_all(index, gold, similar_enough)
    found = matched[matched >= 0]
    rate = len(found) / len(matched) if len(matched) else 1.0
    # Down the tree: subtrees are nested or apart, so a clean one that begins before a target node and ends after it
    # holds it. Of nodes with the same text only the innermost can be a target node.
    reach = np.zeros(len(elements.texts) + 1, np.intp)
    np.maximum.at(reach, elements.first[found], elements.end[found])
    reach = np.maximum.accumulate(reach)
    targets = elements.targets
    is_clean = reach[elements.first[targets]] >= elements.end[targets]
    # Up the tree: target nodes stand in the order of the page, so those below one are an interval.
    sums = np.concatenate([[0], np.cumsum(is_clean)])
    own, last = np.arange(len(targets)), np.searchsorted(targets, elements.ends[targets])
    clean_below = sums[last] - sums[own + 1]
    return is_clean | (2 * clean_below > last - own - 1), rate


def spread(nodes: Nodes, clean_nodes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """From clean subtrees down and up the tree to target nodes: which of them, one a block, are clean."""
    change = np.zeros(len(nodes.targets) + 1, np.int64)
    clean_nodes = clean_nodes[clean_nodes >= 0]
    np.add.at(change, nodes.first[clean_nodes], 1)
    np.add.at(change, nodes.end[clean_nodes], -1)
    is_clean = np.cumsum(change[:-1]) > 0
    # Blocks stand for their target nodes, so those below a node are an interval, less the node's own.
    sums = np.concatenate([[0], np.cumsum(is_clean)])
    first, end = nodes.first[nodes.targets], nodes.end[nodes.targets]
    clean_below = sums[end] - sums[first] - is_clean
    dominates_clean = 2 * clean_below > end - first - 1
    return is_clean | dominates_clean  # type: ignore[no-any-return]


class _WordIndex:
    """The words of a page as numbers, and its subtrees as intervals of them."""

    def __init__(self, texts: Sequence[str], first: NDArray[np.intp], end: NDArray[np.intp]) -> None:
        self._vocabulary: dict[str, int] = {}
        text_words = list(map(words, texts))
        number = self._vocabulary.setdefault
        self._ids = np.array([number(word, len(self._vocabulary)) for text in text_words for word in text], np.intp)
        starts = np.array([0, *accumulate(map(len, text_words))], np.intp)
        # Of nodes with the same text, the innermost stands for all: it has the highest number.
        spans = np.stack([starts[first], starts[end]], axis=1)[::-1]
        distinct, last = np.unique(spans, axis=0, return_index=True)
        self._nodes = len(first) - 1 - last
        self._first, self._end = distinct.T  # in the order of the page
        self._sizes = self._end - self._first
        self._last_start = 0  # of the paragraph that was found last
        # Where each word of the vocabulary stands in the paragraph at hand; the last entry is for words unknown here.
        self._place = np.full(len(self._vocabulary) + 1, -1)
        # Gold texts repeat lines, "reply" under each comment: paragraphs of the same words are searched for once.
        self._answers: dict[object, _Best] = {}

    def most_similar(self, wanted: list[str], similar_enough: float) -> tuple[int, float]:
        """The node whose words are most like some others, and how like they are; (-1, 0) if no node is like enough.

        Of equally similar ones it is the first that does not stand before the paragraph found last, else the first.
        """
        counts: dict[int, int] = {}
        for word in wanted:
            number = self._vocabulary.get(word, -1)
            counts[number] = counts.get(number, 0) + 1
        counts.pop(-1, None)
        key = (similar_enough, len(wanted), frozenset(counts.items()))
        best = self._answers.get(key)
        if best is None:
            best = self._answers[key] = self._search(counts, len(wanted), similar_enough)
        spans, similarity = best
        if not len(spans):
            return -1, 0.0
        after = int(np.searchsorted(self._first[spans], self._last_start))
        chosen = spans[after if after < len(spans) else 0]
        self._last_start = int(self._first[chosen])
        return int(self._nodes[chosen]), similarity

    def _search(self, counts: dict[int, int], length: int, similar_enough: float) -> _Best:
        """Look at subtrees in the order of an upper bound: all their words that occur in the paragraph count."""
        known = np.fromiter(counts, np.intp, len(counts))
        most = np.fromiter(counts.values(), np.intp, len(counts))
        self._place[known] = np.arange(len(known))
        places = self._place[self._ids]
        self._place[known] = -1
        occurring = np.concatenate([[0], np.cumsum(places >= 0)])
        shared = np.minimum(occurring[self._end] - occurring[self._first], most.sum())
        bounds = 2 * shared / (length + self._sizes)
        wanted = _SoughtParagraph(places, most, length)
        candidates = np.flatnonzero((bounds >= similar_enough) & (shared > 0))
        # Mostly one with the highest bound is the one, and the others need no sorting.
        is_highest = bounds[candidates] == bounds[candidates].max(initial=0)
        best = self._compare(candidates[is_highest], bounds, wanted, (candidates[:0], similar_enough))
        others = candidates[~is_highest & (bounds[candidates] >= best[1])]
        return self._compare(others[np.argsort(-bounds[others], kind="stable")], bounds, wanted, best)

    def _compare(
        self, candidates: NDArray[np.intp], bounds: NDArray[Any], wanted: _SoughtParagraph, best: _Best
    ) -> _Best:
        """The best of some subtrees and of those that were best before."""
        spans, highest = best
        start, count = 0, _FIRST_LOOK
        while start < len(candidates) and bounds[candidates[start]] >= highest:
            part = candidates[start : start + max(1, min(count, _CELLS // len(wanted.most)))]
            similarities = 2 * self._overlaps(part, wanted) / (wanted.length + self._sizes[part])
            if similarities.max() > highest:
                spans, highest = spans[:0], float(similarities.max())
            spans = np.concatenate([spans, part[similarities == highest]])
            start, count = start + len(part), count * 2
        return np.sort(spans), highest

    def _overlaps(self, spans: NDArray[np.intp], wanted: _SoughtParagraph) -> NDArray[np.intp]:
        """How many words each of some subtrees shares with the paragraph, each as often as in both."""
        sizes, width = self._sizes[spans], len(wanted.most)
        rows = np.repeat(np.arange(len(spans)), sizes)
        row_starts = np.cumsum(sizes) - sizes
        inside = wanted.places[np.arange(len(rows)) + (self._first[spans] - row_starts)[rows]]
        cells = (rows * width + inside)[inside >= 0]
        table = np.bincount(cells, minlength=len(spans) * width).reshape(len(spans), width)
        return np.minimum(table, wanted.most).sum(axis=1)  # type: ignore[no-any-return]
