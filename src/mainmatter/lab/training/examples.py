"""Gold pages to examples: which blocks of a page are its main matter?

Gold standards give clean text, not labelled blocks. Two ways to label:

words   align the words of the page with those of the gold text, in order, by a longest common subsequence; a block is
        main matter as far as its words are part of the alignment.
dice    FIASCO 5.1: each paragraph of the gold text marks the subtree clean whose words are most like its own, by the
        Dice coefficient, if that is like enough. Target nodes inside of a clean subtree are clean, and so are those
        that dominate more clean than other target nodes; all others are dirty. Word order plays no part.

docs/results/alignment.md says which labels better; `words` is the default. Pages that people annotated block by block
need neither: their labels are taken as they are, as long as their blocks are found again (lab/datasets/labels.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mainmatter.clean import read
from mainmatter.lab.datasets.labels import Referred, carry_over, kind_of_label, make_references, trace
from mainmatter.lab.metrics.alignment import matching_blocks
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.method import Example
from mainmatter.papers.fiasco.nodes import Nodes, find_nodes
from mainmatter.records import Kind
from mainmatter.text.tokens import MARKERS, gold_paragraphs, marked_tokens, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.datasets.labels import Label
    from mainmatter.records import Document, Gold

Aligner = Literal["words", "dice"]

# After a first alignment, blocks with a smaller aligned share stand aside, so that their few words cannot take the
# place of those of the main matter in a second one.
_CHANCE = 0.3

# Of annotators' labels; when more are lost, the gold text that they made is aligned instead.
_MOST_LOST = 0.5

_KIND_OF_MARKER = {"<h>": Kind.HEADING, "<l>": Kind.LIST_ITEM, "<p>": Kind.PARAGRAPH}
_THREE_KINDS = (Kind.HEADING, Kind.LIST_ITEM)

# The paper says "sufficiently similar" and no number. Lower is better on cleaneval-dev and wcxb-dev, down to 0.4, the
# lowest we tried (docs/results/alignment.md); we stop where half of the words are the same.
SIMILAR_ENOUGH = 0.5

_FIRST_LOOK = 4  # subtrees that are compared at once: mostly the first is the one; then twice as many, and so on
_CELLS = 1 << 20  # subtrees times different words of the paragraph, at most

# The subtrees that are most like a paragraph, in the order of the page, and how like they are.
_Best = tuple["NDArray[np.intp]", float]


def make_example(
    gold_page: GoldPage, by: Aligner = "words", *, unknown: float = 0.0, limits: Limits = DEFAULT_LIMITS
) -> Example:
    """Read a page and label its blocks: with the annotators' own labels, the gold standard's text, or its snippets.

    Args:
        gold_page: the page; what it has comes first in that order.
        by: how to align the gold text.
        unknown: the share of blocks that annotators left without a label: 0 as if they had dropped them, or NaN, for
            methods that learn from pages of which not all is known.
        limits: how large the page may be.
    """
    document = read(gold_page.page, limits)
    labelled = None if gold_page.labels is None else use_labels(document, gold_page.labels, unknown)
    if labelled is not None:
        shares, kinds, comments = labelled
        example = Example(document, gold_page.gold, shares, kinds, comments=comments)
    elif gold_page.gold.text is None:
        shares, kinds = align_snippets(document, gold_page.gold), document.columns.kinds
        example = Example(document, gold_page.gold, shares, kinds)
    else:
        example = label(document, gold_page.gold, by)
    return replace(example, page_type=gold_page.groups.get("page_type"))


def label(document: Document, gold: Gold, by: Aligner = "words") -> Example:
    """Label the blocks of a document with the gold standard's text."""
    shares, kinds = align_words(document, gold)
    if by == "dice":
        shares = align_dice(document, gold)
    return Example(document, gold, shares, kinds)


def use_labels(
    document: Document, labels: Sequence[Label], unknown: float = 0.0
) -> tuple[NDArray[np.float64], list[Kind], NDArray[np.float64]] | None:
    """The annotators' labels as shares, kinds and comments; None if most belong to blocks that are not found again."""
    texts = document.columns.texts
    then = Referred([label.ref for label in labels], [label.text for label in labels])
    carried = carry_over(dict(enumerate(labels)), trace(then, Referred(make_references(texts), texts)))
    if len(carried.lost) > _MOST_LOST * len(labels):
        return None
    shares, comments = np.full(len(document), unknown), np.full(len(document), np.nan)
    kinds = [kind if kind in _THREE_KINDS else Kind.PARAGRAPH for kind in document.columns.kinds]
    for i, found in carried.labels.items():
        shares[i] = float(found.kept)
        kinds[i] = kind_of_label(found.kind)
        comments[i] = float(found.kind == "comment")
    return shares, kinds, comments


def align_words(document: Document, gold: Gold) -> tuple[NDArray[np.float64], list[Kind]]:
    """Align page and gold text word by word: the share of each block that is aligned, and what the gold calls it."""
    block_words = [words(text) for text in document.columns.texts]
    gold_words, gold_kinds = _gold_words(gold)
    aligned = _align(block_words, gold_words)
    likely = [block if _share(found) >= _CHANCE else [] for block, found in zip(block_words, aligned, strict=True)]
    aligned = _align(likely, gold_words)
    kinds = [kind if kind in _THREE_KINDS else Kind.PARAGRAPH for kind in document.columns.kinds]
    for i, found in enumerate(aligned):
        in_gold = found[found >= 0]
        if gold_kinds and len(in_gold):
            kinds[i] = gold_kinds[int(in_gold[len(in_gold) // 2])]
    return np.array([_share(found) for found in aligned], np.float64), kinds


def align_snippets(document: Document, gold: Gold) -> NDArray[np.float64]:
    """Label the blocks that hold a snippet: 1 if it must be kept, 0 if it must not; of all others nothing is known."""
    shares = np.full(len(document), np.nan)
    texts = [" ".join(text.split()) for text in document.columns.texts]
    for share, snippets in ((0.0, gold.must_not_have), (1.0, gold.must_have)):
        for snippet in filter(None, (" ".join(snippet.split()) for snippet in snippets)):
            shares[[i for i, text in enumerate(texts) if snippet in text]] = share
    return shares


def _gold_words(gold: Gold) -> tuple[list[str], list[Kind]]:
    """The words of the gold text and, where it is marked up, the kind of the segment that each is part of."""
    if gold.marked is None:
        return words(gold.text or ""), []
    found: list[str] = []
    kinds: list[Kind] = []
    kind = Kind.PARAGRAPH
    for token in marked_tokens(gold.marked):
        if token in MARKERS:
            kind = _KIND_OF_MARKER[token]
            continue
        of_token = words(token)
        found += of_token
        kinds += [kind] * len(of_token)
    return found, kinds


def _align(blocks: Sequence[list[str]], gold_words: list[str]) -> list[NDArray[np.intp]]:
    """For each word of each block the number of the gold word that it is aligned with, or -1."""
    page_words = [word for block in blocks for word in block]
    runs = [[a, b, size] for a, b, size in matching_blocks(page_words, gold_words)]
    _close_gaps(runs, page_words, gold_words)
    aligned = np.full(len(page_words), -1)
    for start, gold_start, size in runs:
        aligned[start : start + size] = np.arange(gold_start, gold_start + size)
    ends = list(accumulate(map(len, blocks)))
    return [aligned[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _close_gaps(runs: list[list[int]], page_words: list[str], gold_words: list[str]) -> None:
    """Where gold words that follow each other are torn apart, move those of the shorter run to the longer one.

    Alignments of the same length abound: the first word of a headline may as well be aligned with the same word of a
    menu. A run is [start in the page, start in the gold text, size].
    """
    for left, right in pairwise(runs):
        if left[1] + left[2] != right[1]:
            continue
        while (
            0 < left[2] <= right[2]
            and right[0] > left[0] + left[2]
            and page_words[right[0] - 1] == gold_words[right[1] - 1]
        ):
            left[2] -= 1
            right[:] = right[0] - 1, right[1] - 1, right[2] + 1
        while (
            0 < right[2] < left[2]
            and right[0] > left[0] + left[2]
            and page_words[left[0] + left[2]] == gold_words[right[1]]
        ):
            left[2] += 1
            right[:] = right[0] + 1, right[1] + 1, right[2] - 1


def _share(found: NDArray[np.intp]) -> float:
    return float((found >= 0).mean()) if len(found) else 0.0


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
    index = _WordIndex([words(text) for text in document.columns.texts], nodes)
    found: list[int] = []
    similarities: list[float] = []
    for paragraph in gold_paragraphs(gold):
        wanted = words(paragraph)
        if not wanted:
            continue
        node, similarity = index.most_similar(wanted, similar_enough)
        found.append(node)
        similarities.append(similarity)
    return Matches(nodes, np.array(found, np.intp), np.array(similarities, np.float64))


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

    def __init__(self, block_words: Sequence[list[str]], nodes: Nodes) -> None:
        self._vocabulary: dict[str, int] = {}
        number = self._vocabulary.setdefault
        self._ids = np.array([number(word, len(self._vocabulary)) for block in block_words for word in block], np.intp)
        starts = np.array([0, *accumulate(map(len, block_words))], np.intp)
        # Of nodes with the same text, the innermost stands for all: it has the highest number.
        spans = np.stack([starts[nodes.first], starts[nodes.end]], axis=1)[::-1]
        distinct, last = np.unique(spans, axis=0, return_index=True)
        self._nodes = len(nodes) - 1 - last
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
