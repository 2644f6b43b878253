"""From the labels of several annotators to one gold standard (FIASCO, section 5: a third person merges)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainmatter.workbench.labels.records import MERGED, Conflict, agree

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mainmatter.lab.datasets.labels import Label, Referred
    from mainmatter.workbench.labels.records import Labels


def by_block(said: Mapping[str, Labels], among: Collection[str] | None = None) -> dict[str, dict[str, Label]]:
    """What each annotator said of each block, without the merged labels; by reference, then by annotator.

    Args:
        said: the labels of each annotator.
        among: only these annotators; by default all.
    """
    blocks: dict[str, dict[str, Label]] = {}
    for annotator, labels in said.items():
        if annotator != MERGED and (among is None or annotator in among):
            for ref, label in labels.by_ref.items():
                blocks.setdefault(ref, {})[annotator] = label
    return blocks


def find_conflicts(blocks: Referred, said: Mapping[str, Labels]) -> list[Conflict]:
    """The blocks that annotators do not agree on, in the order of the page."""
    of_block = by_block(said)
    merged = said[MERGED].by_ref if MERGED in said else {}
    return [
        Conflict(i, ref, text, of_block[ref], merged.get(ref))
        for i, (ref, text) in enumerate(zip(blocks.refs, blocks.texts, strict=True))
        if ref in of_block and not agree(of_block[ref].values())
    ]


def find_agreed(said: Mapping[str, Labels], among: Collection[str] | None = None) -> dict[str, Label]:
    """What all who labelled a block agree on, where nothing is merged yet."""
    merged = said[MERGED].by_ref if MERGED in said else {}
    return {
        ref: next(iter(labels.values()))
        for ref, labels in by_block(said, among).items()
        if ref not in merged and agree(labels.values())
    }
