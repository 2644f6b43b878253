"""Annotators' labels of a page's blocks, in the one form that all code uses, and how a block is found again.

The store of the workbench holds labels, gold standards of ours hold them beside the text (`GoldPage.labels`), and
training takes them as they are. Gold standards of the CleanEval kind hold clean text only, so that the labels of blocks
have to be guessed by aligning (FIASCO 5.1 calls that the mistake of its own annotation).

A reference is made of the block's text alone, and of its neighbours': the same page gives the same references in any
process and on any machine, as long as it is segmented in the same way. When a new version segments it otherwise, labels
are carried over in three steps, each for what the steps before left:

1. equal references: the same text, at the same turn among equal texts, between the same neighbours;
2. equal texts, in order: a longest common subsequence of the two lists of blocks;
3. words, in order, between blocks that were found: a block that was split gives its label to its parts, and blocks that
   were joined give theirs to the whole, if they agree.

Labels that none of these steps can carry over are lost, and reported to the caller.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, get_args

from mainmatter.errors import InputError
from mainmatter.lab.metrics.alignment import matching_blocks
from mainmatter.records import Kind
from mainmatter.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LabelKind = Literal["heading", "paragraph", "list", "comment"]
LABEL_KINDS: tuple[LabelKind, ...] = get_args(LabelKind)

_BY_MARKUP: dict[Kind, LabelKind] = {Kind.HEADING: "heading", Kind.LIST_ITEM: "list"}
_IN_MARKUP: dict[LabelKind, Kind] = {"heading": Kind.HEADING, "list": Kind.LIST_ITEM}
_DIGITS, _CHECK_DIGITS = 12, 4  # of a text's digest, and of its neighbours'
_MOST_CELLS = 4_000_000_000  # of a table to align by: some seconds; labels of larger pages are lost rather
_MOST_OF = 0.5  # of a block's words; fewer may be in another block by chance


@dataclass(frozen=True, slots=True)
class Label:
    """What an annotator said about a block.

    Attributes:
        kept: it is main matter.
        kind: what it is in the annotator's eyes: "heading", "paragraph", "list" or "comment".
        ref: the block's reference; "" where labels are kept by reference, or by the block's number.
        text: the block's text, as it was when it was labelled; "" in the same places.
        suggested_by: what suggested the label, such as the name of a model, where the annotator accepted it without
            a look at the block; "" where it is the annotator's own.

    Raises:
        InputError: it is not a valid label.
    """

    kept: bool
    kind: LabelKind = "paragraph"
    ref: str = ""
    text: str = ""
    suggested_by: str = ""

    def __post_init__(self) -> None:
        if self.kind not in LABEL_KINDS:
            raise InputError(f"a label's kind must be one of {', '.join(LABEL_KINDS)}, not {self.kind!r}")
        if not isinstance(self.kept, bool):
            raise InputError(f"a label's kept must be True or False, not {self.kept!r}")


def kind_by_markup(kind: Kind) -> LabelKind:
    """What a block is, as an annotator may call it, by its markup alone: where an annotator begins."""
    return _BY_MARKUP.get(kind, "paragraph")


def kind_of_label(kind: LabelKind) -> Kind:
    """What a method learns of an annotator's word: heading, list item or paragraph."""
    return _IN_MARKUP.get(kind, Kind.PARAGRAPH)


def make_references(texts: Iterable[str]) -> list[str]:
    """A reference for each block of a page, by their texts; no two are the same.

    Such as "9f86d081884c-1-60ba": the digest of the text, the how manieth block with that text it is, and a check of
    the texts before and after it. White space does not count.
    """
    digests = [_digest(" ".join(text.split()), _DIGITS) for text in texts]
    around = ["", *digests, ""]
    seen: dict[str, int] = {}
    references = []
    for i, digest in enumerate(digests):
        seen[digest] = seen.get(digest, 0) + 1
        references.append(f"{digest}-{seen[digest]}-{_digest(f'{around[i]} {around[i + 2]}', _CHECK_DIGITS)}")
    return references


def _digest(text: str, digits: int) -> str:
    # A page's scripts can hold halves of characters, which UTF-8 has no place for.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


@dataclass(frozen=True, slots=True)
class Referred:
    """A list of blocks: a page as it was segmented once, or those blocks of it that are labelled.

    Attributes:
        refs: their references.
        texts: their texts.
    """

    refs: Sequence[str]
    texts: Sequence[str]


# For each block of now the blocks of then that its words were in, as pairs of their number and how many words.
Origins = list[list[tuple[int, int]]]


def trace(then: Referred, now: Referred) -> Origins:
    """Find out from which blocks of then each block of now comes.

    Raises:
        MissingExtra: the two differ, and rapidfuzz is not installed.
    """
    place = {ref: i for i, ref in enumerate(then.refs)}
    pairs = {j: place[ref] for j, ref in enumerate(now.refs) if ref in place}
    origins: Origins = [[] for _ in now.refs]
    if len(pairs) < len(now.refs) and len(pairs) < len(then.refs):
        anchors = _add_equal_texts(then, now, pairs)
        found = set(pairs.values())
        for before, after in pairwise([(-1, -1), *anchors, (len(then.refs), len(now.refs))]):
            left = [i for i in range(before[0] + 1, after[0]) if i not in found]
            right = [j for j in range(before[1] + 1, after[1]) if j not in pairs]
            if left and right:
                _align_words(then, now, left, right, origins)
    for j, i in pairs.items():
        origins[j] = [(i, max(1, len(now.texts[j].split())))]
    return origins


def _add_equal_texts(then: Referred, now: Referred, pairs: dict[int, int]) -> list[tuple[int, int]]:
    """Pair blocks with equal texts, in order; gives the pairs between which the others must lie."""
    both = set(then.refs) & set(now.refs)
    keys = [
        [ref if ref in both else f" {' '.join(text.split())}" for ref, text in zip(one.refs, one.texts, strict=True)]
        for one in (then, now)
    ]
    anchors: list[tuple[int, int]] = []
    found = set(pairs.values())
    if len(keys[0]) * len(keys[1]) > _MOST_CELLS:
        return anchors
    for start, start_now, size in matching_blocks(keys[0], keys[1]):
        for i, j in zip(range(start, start + size), range(start_now, start_now + size), strict=True):
            anchors.append((i, j))
            if j not in pairs and i not in found:
                pairs[j] = i
    return anchors


def _align_words(then: Referred, now: Referred, left: list[int], right: list[int], origins: Origins) -> None:
    """Align the words of blocks of then with those of blocks of now, and note which come from which."""
    old = [(i, word) for i in left for word in words(then.texts[i])]
    new = [(j, word) for j in right for word in words(now.texts[j])]
    if len(old) * len(new) > _MOST_CELLS:
        return
    common: dict[tuple[int, int], int] = {}
    for start, start_now, size in matching_blocks([word for _, word in old], [word for _, word in new]):
        for k in range(size):
            pair = old[start + k][0], new[start_now + k][0]
            common[pair] = common.get(pair, 0) + 1
    sizes = {i: len(words(then.texts[i])) for i in left}
    sizes_now = {j: len(words(now.texts[j])) for j in right}
    for (i, j), count in common.items():
        if count >= _MOST_OF * min(sizes[i], sizes_now[j]):
            origins[j].append((i, count))
    for j in right:
        if sum(count for _, count in origins[j]) < _MOST_OF * sizes_now[j]:
            origins[j] = []


@dataclass(frozen=True, slots=True)
class Carried:
    """Labels on the blocks of now.

    Attributes:
        labels: by the number of the block of now.
        lost: the numbers of blocks of then whose labels could not be carried over.
        moved: the numbers of those whose labels could.
    """

    labels: dict[int, Label]
    lost: list[int]
    moved: list[int]


def carry_over(said: Mapping[int, Label], origins: Origins, decided: Iterable[int] = ()) -> Carried:
    """Carry labels over to the blocks of now.

    Args:
        said: the labels, by the number of the block of then.
        origins: what `trace` found.
        decided: the blocks of now that have a label already: they need none, and what it replaces is not lost.
    """
    has_own = set(decided)
    labels: dict[int, Label] = {}
    moved: set[int] = set()
    replaced: set[int] = set()
    for j, sources in enumerate(origins):
        if j in has_own:
            replaced.update(i for i, _ in sources)
            continue
        label = _inherit(said, sources)
        if label is not None:
            labels[j] = label
            moved.update(i for i, _ in sources)
    lost = [i for i in sorted(said) if i not in moved and i not in replaced]
    return Carried(labels, lost, sorted(moved & set(said)))


def _inherit(said: Mapping[int, Label], sources: Sequence[tuple[int, int]]) -> Label | None:
    """The label of a block that comes from others: theirs, if all of them agree on keeping it and on comments.

    If a heading was joined with its paragraph, the larger part decides what the whole is.
    """
    theirs = [(count, said[i]) for i, count in sources if i in said]
    if not theirs or len(theirs) < len(sources):
        return None
    if len({(label.kept, label.kind == "comment") for _, label in theirs}) > 1:
        return None
    return max(theirs, key=lambda each: each[0])[1]
