"""How well annotators agree, and how their labels become one gold standard (FIASCO, section 5).

text    FIASCO, section 5: the "minimal edit distance between the two annotations for each page", as a similarity in
        percent, 100 * (1 - distance / length of the longer text), where the distance is the fewest insertions,
        deletions and substitutions of words (what white space separates) that turn one cleaned text into the other.
        The paper gives no formula, only a mean of 91.75 % over 158 pages; this is the formula of our CleanEval score.
kappa   Cohen's kappa (1960) over the blocks that both labelled: (observed - expected) / (1 - expected), where the
        expected share is that of two annotators who label at random, each with the frequencies of their own labels. If
        both used only one label, the same, it is undefined (None); the raw share is still given.

Blocks for which one of the two only accepted a suggestion are left out. Once both are done with a page, a block that
one of them left unlabelled counts as dropped in their text. Before that, the texts consist of the blocks that both
labelled.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from mainmatter.lab.metrics.alignment import similarity
from mainmatter.workbench.labels.records import MERGED, Conflict, agree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mainmatter.lab.datasets.labels import Label, Referred
    from mainmatter.workbench.labels.records import Labels, PageId
    from mainmatter.workbench.labels.store import Store

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How well two annotators agree, on one page or on several.

    Attributes:
        annotators: their names.
        pages: how many pages of both could be compared.
        blocks: how many blocks both labelled.
        text: FIASCO's average agreement in percent; None if they have no page in common.
        kept: the share of these blocks on which they agree about keep or drop; None without blocks.
        kept_kappa: Cohen's kappa of that; None if it is undefined, as when all labels are the same.
        kind: as `kept`, of the kinds.
        kind_kappa: as `kept_kappa`, of the kinds.
    """

    annotators: Pair
    pages: int
    blocks: int
    text: float | None
    kept: float | None
    kept_kappa: float | None
    kind: float | None
    kind_kappa: float | None


@dataclass(frozen=True, slots=True)
class PageAgreement:
    """The agreement of all pairs of annotators on one page.

    Attributes:
        page_id: the page's number.
        name: its name.
        pairs: one for each pair who both labelled the page, or are done with it.
        lost: how many labels could not be carried over to the current blocks, and do not count.
        unfinished: somebody has labelled some of it and is not done.
        accepted: how many labels are suggestions that were only accepted, and do not count.
    """

    page_id: int
    name: str
    pairs: tuple[PairAgreement, ...]
    lost: int = 0
    unfinished: bool = False
    accepted: int = 0


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """How well annotators agree.

    Attributes:
        pages: page by page, those that at least two annotators labelled or are done with.
        pairs: each pair over all its pages.
        text: the mean of all pairs' text agreement over all pages, in percent, as FIASCO gives it; None without any.
        kept: the mean share of all pairs, weighted by blocks.
        kept_kappa: the mean of the pairs' kappas, weighted by blocks; None if none is defined.
        kind: as `kept`, of the kinds.
        kind_kappa: as `kept_kappa`, of the kinds.
        lost: how many labels could not be carried over, and do not count.
        unfinished: how many of the pages somebody has not finished; there, only blocks that two labelled count.
        accepted: how many labels are suggestions that somebody accepted without a look; their blocks do not count.
    """

    pages: tuple[PageAgreement, ...]
    pairs: tuple[PairAgreement, ...]
    text: float | None
    kept: float | None
    kept_kappa: float | None
    kind: float | None
    kind_kappa: float | None
    lost: int = 0
    unfinished: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two annotators' labels of one page: the labels of the blocks that both labelled, and their texts' agreement.

    There is no text to compare if they have no block in common and are not both done.
    """

    labels: tuple[tuple[Label, Label], ...]
    text: float | None


def measure(
    store: Store, page_id: PageId | None = None, *, without: Collection[PageId] = frozenset()
) -> AgreementReport:
    """Measure the agreement of all pairs of annotators, on one page or on all.

    Args:
        store: the annotations.
        page_id: the page; None for all.
        without: pages to leave out, such as those whose figures would bias the reader.

    Raises:
        AnnotationError: there is no such page.
        MissingExtra: rapidfuzz is not installed.
    """
    summaries = store.pages() if page_id is None else [store.summary(page_id)]
    pages = []
    lost = 0
    of_pair: dict[Pair, list[_Compared]] = {}
    for summary in summaries:
        # Who is done, and has labelled nothing, says that all is to be dropped.
        names = sorted({*summary.labelled, *summary.done} - {MERGED})
        if len(names) < 2 or summary.id in without:
            continue
        said = {name: store.labels(summary.id, name) for name in names}
        blocks = [(each.ref, each.block.text) for each in store.blocks(summary.id)]
        compared = {(one, other): _compare(blocks, said[one], said[other]) for one, other in combinations(names, 2)}
        for pair, one in compared.items():
            of_pair.setdefault(pair, []).append(one)
        lost_here = sum(len(labels.lost) for labels in said.values())
        pairs = tuple(_agreement(pair, [one]) for pair, one in compared.items())
        unfinished = not all(labels.done for labels in said.values())
        accepted = sum(bool(label.suggested_by) for labels in said.values() for label in labels.by_ref.values())
        pages.append(PageAgreement(summary.id, summary.name, pairs, lost_here, unfinished, accepted))
        lost += lost_here
    return _report(pages, [_agreement(pair, found) for pair, found in sorted(of_pair.items())], lost)


def cohens_kappa(pairs: Sequence[tuple[object, object]]) -> float | None:
    """Cohen's kappa of two lists of labels, given as pairs; None if it is undefined."""
    if not pairs:
        return None
    count = len(pairs)
    observed = sum(first == second for first, second in pairs) / count
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    expected = sum(firsts[label] * seconds[label] for label in firsts) / count**2
    return None if expected >= 1 else (observed - expected) / (1 - expected)


def _compare(blocks: Sequence[tuple[str, str]], first: Labels, second: Labels) -> _Compared:
    """Compare two annotators' labels of a page, whose blocks are given as references and texts.

    Blocks for which one only accepted a suggestion reflect the model, and are left out.
    """
    accepted = {ref for labels in (first, second) for ref, label in labels.by_ref.items() if label.suggested_by}
    if accepted:
        blocks = [(ref, text) for ref, text in blocks if ref not in accepted]
    both = {ref for ref in first.by_ref if ref in second.by_ref and ref not in accepted}
    labels_of_both = tuple((first.by_ref[ref], second.by_ref[ref]) for ref, _ in blocks if ref in both)
    are_done = first.done and second.done
    if not both and (accepted or not are_done):
        return _Compared(labels_of_both, None)
    texts = []
    for labels in (first, second):
        kept = {ref for ref, label in labels.by_ref.items() if label.kept and (are_done or ref in both)}
        texts.append([word for ref, text in blocks if ref in kept for word in text.split()])
    return _Compared(labels_of_both, similarity(*texts))


def _agreement(pair: Pair, found: Sequence[_Compared]) -> PairAgreement:
    kept = [(first.kept, second.kept) for one in found for first, second in one.labels]
    kinds = [(first.kind, second.kind) for one in found for first, second in one.labels]
    texts = [one.text for one in found if one.text is not None]
    return PairAgreement(
        annotators=pair,
        pages=len(texts),
        blocks=len(kept),
        text=sum(texts) / len(texts) if texts else None,
        kept=_share(kept),
        kept_kappa=cohens_kappa(kept),
        kind=_share(kinds),
        kind_kappa=cohens_kappa(kinds),
    )


def _share(pairs: Sequence[tuple[object, object]]) -> float | None:
    return sum(first == second for first, second in pairs) / len(pairs) if pairs else None


def _report(pages: list[PageAgreement], pairs: list[PairAgreement], lost: int) -> AgreementReport:
    return AgreementReport(
        pages=tuple(pages),
        pairs=tuple(pairs),
        text=_mean((pair.text, pair.pages) for pair in pairs),
        kept=_mean((pair.kept, pair.blocks) for pair in pairs),
        kept_kappa=_mean((pair.kept_kappa, pair.blocks) for pair in pairs),
        kind=_mean((pair.kind, pair.blocks) for pair in pairs),
        kind_kappa=_mean((pair.kind_kappa, pair.blocks) for pair in pairs),
        lost=lost,
        unfinished=sum(page.unfinished for page in pages),
        accepted=sum(page.accepted for page in pages),
    )


def _mean(figures: Iterable[tuple[float | None, int]]) -> float | None:
    """The mean of the figures that are defined, by weight."""
    known = [(figure, weight) for figure, weight in figures if figure is not None and weight]
    return sum(figure * weight for figure, weight in known) / sum(weight for _, weight in known) if known else None


def by_block(said: Mapping[str, Labels], among: Collection[str] | None = None) -> dict[str, dict[str, Label]]:
    """Each annotator's label of each block, without the merged labels; by reference, then by annotator.

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
    """The labels that all annotators of a block agree on, if it is not merged yet."""
    merged = said[MERGED].by_ref if MERGED in said else {}
    return {
        ref: min(labels.values(), key=lambda label: bool(label.suggested_by))  # somebody's own word, if there is one
        for ref, labels in by_block(said, among).items()
        if ref not in merged and agree(labels.values())
    }
