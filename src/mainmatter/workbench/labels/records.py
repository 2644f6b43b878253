"""The types of the store of annotations: labels, pages, changes, conflicts. All are frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mainmatter.lab.datasets.labels import Label
    from mainmatter.records import Block

PageId = int
Status = Literal["new", "labelled", "conflict", "merged"]
Action = Literal["set", "undo", "redo", "done", "reopened"]

MERGED = "merged"  # the annotator under whose name the merged gold standard is stored
BEST = "best"  # of each page what is known best: merged, else agreed, else the only annotator's labels
GOLD = "gold"  # the annotator under whose name the labels of an imported gold standard are stored
RESERVED = frozenset((BEST,))


class AnnotationError(InputError):
    """The store cannot do this: no such page or block, not a database, an invalid name."""


class NoSuchPage(AnnotationError):
    """There is no page with that number."""


class NoSuchImport(AnnotationError):
    """There is no import with that id, or no longer."""


class StillLabelling(AnnotationError):
    """The person who asks is still labelling the page: the labels of others would bias them."""


class CannotStore(AnnotationError):
    """The database cannot be written: the disk is full or read-only."""


class Stale(AnnotationError):
    """The labels were changed meanwhile, in another window or process, by the same annotator."""


def agree(labels: Iterable[Label]) -> bool:
    """Whether labels agree. The kinds of dropped blocks do not matter, except comments."""
    said = list(labels)
    return (
        len({label.kept for label in said}) <= 1
        and len({label.kind == "comment" for label in said}) <= 1
        and (not any(label.kept for label in said) or len({label.kind for label in said}) <= 1)
    )


@dataclass(frozen=True, slots=True)
class Labels:
    """One annotator's labels of a page.

    Attributes:
        by_ref: the labels, by the references of the page's blocks as they are segmented now.
        lost: labels that could not be carried over to these blocks, because the page was segmented differently when
            they were made; each with its block's reference and text at that time.
        revision: the number of the last change of this page by this annotator; 0 if there was none.
        done: the annotator is done with the page.
        can_undo: there is a change to undo.
        can_redo: there is an undone change to redo.
        changed: when that last change was made, as ISO 8601 in UTC; "" if there was none.
    """

    by_ref: dict[str, Label]
    lost: tuple[Label, ...] = ()
    revision: int = 0
    done: bool = False
    can_undo: bool = False
    can_redo: bool = False
    changed: str = ""


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A block of a page as it is segmented now.

    Attributes:
        ref: its reference: the same after a restart, in another process, and in a copy of the database.
        block: the block itself.
    """

    ref: str
    block: Block


@dataclass(frozen=True, slots=True)
class PageSummary:
    """A page of the store, in short.

    Attributes:
        id: its number.
        name: what it is called, such as its file's name.
        url: where it came from, if known.
        source: which input it was added from.
        blocks: how many blocks it has.
        labelled: for each annotator, "merged" included, how many blocks have a label.
        done: the annotators who are done with it.
        conflicts: how many blocks annotators disagree on that are not merged yet.
        status: "new": no label; "labelled": some, none in conflict; "conflict": some are; "merged": each block that has
            a label has a merged one, or the merged labels are marked as done.
        note: why it was added, in a sentence, such as what methods disagree on; or "".
        page_type: what kind of page it is, such as "article", if known.
        lang: its language, if known.
        lost: how many labels could not be carried over to the current blocks; None if not checked.
    """

    id: PageId
    name: str
    url: str | None
    source: str
    blocks: int
    labelled: dict[str, int] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    conflicts: int = 0
    status: Status = "new"
    note: str = ""
    page_type: str | None = None
    lang: str | None = None
    lost: int | None = None


@dataclass(frozen=True, slots=True)
class LabelChange:
    """What a change did to one label.

    Attributes:
        segmentation: the number of the segmentation that the block is of.
        ref: the block's reference.
        before: the label before; None if there was none.
        after: the label after; None if it was removed.
    """

    segmentation: int
    ref: str
    before: Label | None
    after: Label | None


@dataclass(frozen=True, slots=True)
class Event:
    """One change in the history of a page. Nothing in it is ever changed or deleted.

    Attributes:
        revision: its number; later ones are larger.
        annotator: whose labels were changed; "merged" for the merged gold standard.
        by: who changed them; for "merged" the person who decided.
        action: "set", "undo", "redo", "done" or "reopened".
        time: when, as ISO 8601 in UTC.
        of: the revision that was undone or redone; else None.
        changes: the change of each label.
    """

    revision: int
    annotator: str
    by: str
    action: Action
    time: str
    of: int | None
    changes: tuple[LabelChange, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A block that annotators do not agree on.

    Attributes:
        index: the block's number on the page as it is segmented now.
        ref: its reference.
        text: its text.
        labels: what each annotator said, without "merged".
        merged: the decision, if there is one.
    """

    index: int
    ref: str
    text: str
    labels: dict[str, Label]
    merged: Label | None = None
