"""Gold pages to examples: which blocks of a page are its main matter?

Gold standards give clean text, not labelled blocks. Two ways to label:

words   align the words of the page with those of the gold text, in order, by a longest common subsequence; a block is
        main matter as far as its words are part of the alignment.
dice    FIASCO 5.1: each paragraph of the gold text marks the subtree clean whose words are most like its own, by the
        Dice coefficient, if that is like enough. Target nodes inside of a clean subtree are clean, and so are those
        that dominate more clean than other target nodes; all others are dirty. Word order plays no part.

docs/results/alignment.md compares the two; `words` is the default. Pages that people annotated block by block need
neither: their labels are used directly, if their blocks are found again (lab/datasets/labels.py).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from mainmatter.api import read
from mainmatter.lab.datasets.labels import Referred, carry_over, kind_of_label, make_references, trace
from mainmatter.lab.metrics.alignment import matching_blocks
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.method import Example
from mainmatter.papers.fiasco.alignment import align_dice
from mainmatter.records import BOILERPLATE, BYLINE, CAPTION, COMMENT, HEADLINE, MAIN, Kind
from mainmatter.text.tokens import MARKERS, marked_tokens, words

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
_MOST = 0.5  # a block with a larger share of its words in a text is part of it

# Of annotators' labels; when more are lost, the gold text that they made is aligned instead.
_MOST_LOST = 0.5

_KIND_OF_MARKER = {"<h>": Kind.HEADING, "<l>": Kind.LIST_ITEM, "<p>": Kind.PARAGRAPH}
_THREE_KINDS = (Kind.HEADING, Kind.LIST_ITEM)


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
        shares, kinds, labels = labelled
        example = Example(document, gold_page.gold, shares, kinds, labels=labels)
    elif gold_page.gold.text is None:
        shares, kinds = align_snippets(document, gold_page.gold), document.columns.kinds
        example = Example(document, gold_page.gold, shares, kinds)
    else:
        example = label(document, gold_page.gold, by)
    if gold_page.gold.byline is not None:
        example = replace(example, labels=label_pieces(document, gold_page.gold, example.shares))
    return replace(example, page_type=gold_page.groups.get("page_type"), convention=gold_page.convention)


def label(document: Document, gold: Gold, by: Aligner = "words") -> Example:
    """Label the blocks of a document with the gold standard's text."""
    shares, kinds = align_words(document, gold)
    if by == "dice":
        shares = align_dice(document, gold)
    return Example(document, gold, shares, kinds)


def use_labels(
    document: Document, labels: Sequence[Label], unknown: float = 0.0
) -> tuple[NDArray[np.float64], list[Kind], NDArray[np.intp]] | None:
    """The annotators' labels as shares, kinds and labels; None if most belong to blocks that are not found again.

    Annotators tell comments from the rest; what else they drop, or keep, may be anything.
    """
    texts = document.columns.texts
    then = Referred([label.ref for label in labels], [label.text for label in labels])
    carried = carry_over(dict(enumerate(labels)), trace(then, Referred(make_references(texts), texts)))
    if len(carried.lost) > _MOST_LOST * len(labels):
        return None
    shares, labels_found = np.full(len(document), unknown), np.full(len(document), -1)
    kinds = [kind if kind in _THREE_KINDS else Kind.PARAGRAPH for kind in document.columns.kinds]
    for i, found in carried.labels.items():
        shares[i] = float(found.kept)
        kinds[i] = kind_of_label(found.kind)
        if found.kind == "comment":
            labels_found[i] = COMMENT
    return shares, kinds, labels_found


def label_pieces(document: Document, gold: Gold, shares: NDArray[np.float64]) -> NDArray[np.intp]:
    """What each block is, by a gold standard that keeps bylines, captions and comments apart.

    The headline is the first line of the gold text, if it stands in the page's title or in a heading. Where that is not
    so, it is unknown which of the headings it is.
    """
    texts, kinds = document.texts, document.columns.kinds
    labels = np.where(shares > _MOST, MAIN, BOILERPLATE)
    first_line = " ".join((gold.text or "").partition("\n")[0].split())
    for i in np.flatnonzero(labels == MAIN).tolist():
        if " ".join(texts[i].split()) == first_line and (kinds[i] is Kind.HEADING or texts[i] in document.title):
            labels[i] = HEADLINE
            break
    else:
        labels[(labels == MAIN) & np.array([kind is Kind.HEADING for kind in kinds], np.bool_)] = -1
    for label, text in ((BYLINE, gold.byline), (CAPTION, gold.captions), (COMMENT, gold.comments)):
        if text:
            is_free = labels == BOILERPLATE
            rest = [words(each) if free else [] for each, free in zip(texts, is_free, strict=True)]
            labels[[i for i, found in enumerate(_align_twice(rest, words(text))) if _share(found) > _MOST]] = label
    return labels


def align_words(document: Document, gold: Gold) -> tuple[NDArray[np.float64], list[Kind]]:
    """Align page and gold text word by word: the share of each block that is aligned, and what the gold calls it."""
    block_words = [words(text) for text in document.columns.texts]
    gold_words, gold_kinds = _gold_words(gold)
    aligned = _align_twice(block_words, gold_words)
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


def _align_twice(blocks: Sequence[list[str]], gold_words: list[str]) -> list[NDArray[np.intp]]:
    """As `_align`, the second time without the blocks that had a few words in common by chance."""
    aligned = _align(blocks, gold_words)
    likely = [block if _share(found) >= _CHANCE else [] for block, found in zip(blocks, aligned, strict=True)]
    return _align(likely, gold_words)


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
