"""What an annotator said of a block, and by which reference the block is found again.

Gold standards of the CleanEval kind hold clean text only, so that the labels of blocks have to be guessed by aligning
(FIASCO 5.1 calls that the mistake of its own annotation). Ours may hold the labels themselves, each with a reference
to its block (lab/datasets/references.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from mainmatter.records import Kind

LabelKind = Literal["heading", "paragraph", "list", "comment"]
LABEL_KINDS: tuple[LabelKind, ...] = get_args(LabelKind)

_BY_MARKUP: dict[Kind, LabelKind] = {Kind.HEADING: "heading", Kind.LIST_ITEM: "list"}
_IN_MARKUP: dict[LabelKind, Kind] = {"heading": Kind.HEADING, "list": Kind.LIST_ITEM}


@dataclass(frozen=True, slots=True)
class BlockLabel:
    """What an annotator said of a block.

    Attributes:
        ref: the block's reference.
        text: the block's text, as it was when it was labelled.
        kept: it is main matter.
        kind: what it is in the annotator's eyes.
    """

    ref: str
    text: str
    kept: bool
    kind: LabelKind


def kind_by_markup(kind: Kind) -> LabelKind:
    """What a block is, as an annotator may call it, by its markup alone: where an annotator begins."""
    return _BY_MARKUP.get(kind, "paragraph")


def kind_of_label(kind: LabelKind) -> Kind:
    """What a method learns of an annotator's word: heading, list item or paragraph."""
    return _IN_MARKUP.get(kind, Kind.PARAGRAPH)
