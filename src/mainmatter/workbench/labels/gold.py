"""From annotations to gold pages: which pages, whose labels, and the text that they make."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mainmatter.lab.datasets.gold import GoldPage
from mainmatter.records import Gold
from mainmatter.workbench.labels.merging import by_block, find_agreed
from mainmatter.workbench.labels.records import BEST, MERGED, AnnotationError, agree
from mainmatter.workbench.labels.summaries import checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mainmatter.lab.datasets.labels import Label
    from mainmatter.workbench.labels.records import Labels, PageId, PageSummary
    from mainmatter.workbench.labels.store import Store

_MARKERS = {"heading": "<h>", "list": "<l>"}
_LONGEST_NAME = 80  # bytes: file systems take 255, and an ending and a number are added


@dataclass(frozen=True, slots=True)
class Collected:
    """A page with its labels.

    Attributes:
        page_id: its number in the store.
        gold_page: the page with its exact labels; its id is its name, made unique.
        annotator: whose labels these are: "merged", an annotator's, or several names that agree.
        lost: how many labels could not be carried over to the blocks of now.
        unlabelled: how many blocks have no label.
    """

    page_id: PageId
    gold_page: GoldPage
    annotator: str
    lost: int
    unlabelled: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A page that is not part of the gold standard, and why."""

    page_id: PageId
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Collection:
    """The gold standard that a store holds.

    Attributes:
        pages: its pages.
        left_out: the others, with the reason.
    """

    pages: tuple[Collected, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def lost(self) -> int:
        """How many labels could not be carried over."""
        return sum(page.lost for page in self.pages)


def collect(store: Store, annotator: str = BEST, *, unfinished: bool = False) -> Collection:
    """Collect the pages with their labels.

    Args:
        store: the annotations.
        annotator: whose labels; "merged"; or "best": the merged labels, else what all who are done with a page agree
            on, else those of the only annotator.
        unfinished: take also pages that nobody is done with, and blocks that are in conflict as not labelled.

    Raises:
        AnnotationError: nobody of that name labelled anything.
    """
    known = [BEST, MERGED, *store.annotators()]
    if annotator not in known:
        raise AnnotationError(f"{store.path}: nobody called {annotator!r} labelled a page; known: {', '.join(known)}")
    summaries = store.pages()
    names = unique_names([summary.name for summary in summaries])
    pages: list[Collected] = []
    left_out: list[LeftOut] = []
    for summary, name in zip(summaries, names, strict=True):
        said = store.all_labels(summary.id) if summary.labelled else {}
        chosen = _choose(checked(summary, said), said, annotator, unfinished=unfinished)
        if isinstance(chosen, str):
            left_out.append(LeftOut(summary.id, summary.name, chosen))
        else:
            whose, labels = chosen
            lost = sum(len(each.lost) for who, each in said.items() if who in whose)
            pages.append(_collected(store, summary, name, " and ".join(whose), labels, lost))
    return Collection(tuple(pages), tuple(left_out))


def _choose(
    summary: PageSummary, said: Mapping[str, Labels], annotator: str, *, unfinished: bool
) -> tuple[list[str], dict[str, Label]] | str:
    """Whose labels are the gold standard of a page, and which; or why there are none."""
    if annotator != BEST:
        return _labels_of(summary, said, annotator, unfinished=unfinished)
    if summary.status == "merged":
        return [MERGED], said[MERGED].by_ref if MERGED in said else {}
    done = [name for name in summary.done if name != MERGED]
    those = done or (sorted(set(said) - {MERGED}) if unfinished else [])
    if not those:
        return "nobody labelled it" if not said else "nobody is done with it"
    open_conflicts = _open_conflicts(said, those)
    if open_conflicts and not unfinished:
        blocks = f"{open_conflicts:,} block" + "s" * (open_conflicts != 1)
        return f"{' and '.join(those)} differ on {blocks}, which nobody merged"
    merged = said[MERGED].by_ref if MERGED in said else {}
    labels = find_agreed(said, those) | merged
    return ([*those, MERGED] if merged else those), labels


def _labels_of(
    summary: PageSummary, said: Mapping[str, Labels], annotator: str, *, unfinished: bool
) -> tuple[list[str], dict[str, Label]] | str:
    is_finished = annotator in summary.done or (annotator == MERGED and summary.status == "merged")
    if not is_finished and annotator not in said:
        return f"{annotator} did not label it" if annotator != MERGED else "nobody merged it"
    if not is_finished and not unfinished:
        return f"{annotator} is not done with it" if annotator != MERGED else "not all of it is merged"
    return [annotator], said[annotator].by_ref if annotator in said else {}


def _open_conflicts(said: Mapping[str, Labels], those: Sequence[str]) -> int:
    merged = said[MERGED].by_ref if MERGED in said else {}
    return sum(not agree(labels.values()) and ref not in merged for ref, labels in by_block(said, those).items())


def _collected(
    store: Store, summary: PageSummary, name: str, whose: str, labels: Mapping[str, Label], lost: int
) -> Collected:
    page = store.page(summary.id)
    blocks = store.blocks(summary.id)
    said = tuple(replace(labels[each.ref], ref=each.ref, text=each.block.text) for each in blocks if each.ref in labels)
    marked = gold_text(said)
    text = "\n".join(line[len("<p>") :] for line in marked.splitlines())  # as lab/datasets/gold.py takes markers off
    groups = {"page_type": summary.page_type, "lang": summary.lang}
    gold_page = GoldPage(
        replace(page, id=name),
        Gold(text=text, marked=marked),
        {group: value for group, value in groups.items() if value},
        said,
    )
    return Collected(summary.id, gold_page, whose, lost, len(blocks) - len(said))


def gold_text(labels: Sequence[Label]) -> str:
    """The kept blocks in CleanEval's markup, one a line, each after `<h>`, `<p>` or `<l>`; it knows no comments."""
    return "\n".join(
        f"{_MARKERS.get(label.kind, '<p>')} {' '.join(label.text.split())}" for label in labels if label.kept
    )


def unique_names(names: Sequence[str]) -> list[str]:
    """Names for files, each only once: the last part of a path or URL, without what file systems do not like."""
    short = [_file_name(name) for name in names]
    count = Counter(name.lower() for name in short)  # some file systems do not tell A from a
    seen: Counter[str] = Counter()
    unique = []
    for name in short:
        key = name.lower()
        seen[key] += 1
        while count[key] > 1 and count[f"{key}-{seen[key]}"]:  # that one is called so itself
            seen[key] += 1
        unique.append(f"{name}-{seen[key]}" if count[key] > 1 else name)
    return unique


def _file_name(name: str) -> str:
    last = name.rstrip("/").rpartition("/")[2]
    stem = re.sub(r"\.(x?html?|txt|text)$", "", last, flags=re.IGNORECASE)
    clean = re.sub(r"[^\w.-]+", "_", stem).strip("._")
    return clean.encode("utf-8", "ignore")[:_LONGEST_NAME].decode("utf-8", "ignore") or "page"
