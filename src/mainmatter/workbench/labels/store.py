"""The store of annotations: pages, what annotators said of their blocks, and the history of all changes.

One SQLite file (database.py). What a call has returned is on disk: neither kill -9 nor a power cut takes it
away. Several processes and threads may write at once; each change is one transaction, and each process opens a store of
its own.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from mainmatter.clean import read
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.workbench.labels import changes, merging
from mainmatter.workbench.labels.database import DATABASE, Database, database_path
from mainmatter.workbench.labels.page_rows import find_page, insert_page, load_page
from mainmatter.workbench.labels.records import BEST, MERGED, AnnotationError, NoSuchPage, PageBlock
from mainmatter.workbench.labels.segmentations import Segmented, segmented
from mainmatter.workbench.labels.summaries import checked, read_summaries

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.datasets.labels import Label
    from mainmatter.records import Document, Page
    from mainmatter.workbench.labels.agreement import AgreementReport
    from mainmatter.workbench.labels.records import Conflict, Event, Labels, PageId, PageSummary

__all__ = ["DATABASE", "Store"]

_DOCUMENTS = 8  # to keep at hand: annotators stay on a page for a while
_HUGE = 2_000_000  # bytes; a page like that is read again
_ANY_SIZE = Limits(size=sys.maxsize)  # whoever added a page has decided that it may be so large


class Store:
    """Annotations of pages in a database.

    Args:
        path: the database's file, or the folder of a workbench that holds it. It is made if it does not exist.
        create: whether to make one where there is none.

    Raises:
        AnnotationError: there is none, it is no database of annotations, or a newer mainmatter made it.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self._database = Database(database_path(path), create=create)
        self._documents: OrderedDict[PageId, Segmented] = OrderedDict()
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database. Nothing is lost if that is forgotten."""
        self._database.close()

    @property
    def path(self) -> Path:
        """The database's file."""
        return self._database.path

    def add_page(
        self,
        page: Page,
        source: str,
        *,
        name: str | None = None,
        note: str = "",
        page_type: str | None = None,
        lang: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> PageId:
        """Add a page, unless one with the same bytes and URL is there already; gives its number either way.

        Raises:
            PageTooLarge: it is over the limits. They are for this call: what is in the store can be read.
        """
        blocks = len(read(page, limits))
        with self._database.writing() as connection:
            known = find_page(connection, page)
            if known is not None:
                return known
            return insert_page(connection, page, blocks, source, name=name, note=note, page_type=page_type, lang=lang)

    def find_page(self, page: Page) -> PageId | None:
        """The number of a page with the same bytes and URL; None if there is none."""
        with self._database.reading() as connection:
            return find_page(connection, page)

    def pages(self, *, check: bool = False) -> list[PageSummary]:
        """All pages, in the order in which they were added.

        Args:
            check: segment each labelled page again, and tell what is true of its blocks as they are now, also how many
                labels could not be carried over (`lost`); that takes some milliseconds a page. Without it, conflicts
                and status are those of the blocks as they were when they were labelled.
        """
        with self._database.reading() as connection:
            summaries = read_summaries(connection)
        return [self._checked(each) for each in summaries] if check else summaries

    def summary(self, page_id: PageId) -> PageSummary:
        """One page, in short, checked for lost labels.

        Raises:
            AnnotationError: there is no such page.
        """
        with self._database.reading() as connection:
            self._need(connection, page_id)
            [summary] = read_summaries(connection, page_id)
        return self._checked(summary)

    def page(self, page_id: PageId) -> Page:
        """A page as it was added: its bytes, URL and format; its `id` is its name.

        Raises:
            AnnotationError: there is no such page.
        """
        with self._database.reading() as connection:
            page = load_page(connection, page_id)
        if page is None:
            raise NoSuchPage(f"{self.path}: has no page {page_id}")
        return page

    def document(self, page_id: PageId) -> Document:
        """A page as it is segmented now.

        Raises:
            AnnotationError: there is no such page.
        """
        return self._segmented(page_id).document

    def blocks(self, page_id: PageId) -> list[PageBlock]:
        """The blocks of a page as it is segmented now, in its order, each with its reference.

        Raises:
            AnnotationError: there is no such page.
        """
        one = self._segmented(page_id)
        return [PageBlock(ref, block) for ref, block in zip(one.blocks.refs, one.document.blocks, strict=True)]

    def references(self, page_id: PageId) -> list[str]:
        """The references of a page's blocks, in its order: those of `blocks`, which takes longer.

        Raises:
            AnnotationError: there is no such page.
        """
        return list(self._segmented(page_id).blocks.refs)

    def annotators(self) -> list[str]:
        """Everybody who labelled a block, sorted; without "merged"."""
        query = "SELECT DISTINCT annotator FROM work WHERE annotator <> ? ORDER BY annotator"
        with self._database.reading() as connection:
            return [name for (name,) in connection.execute(query, (MERGED,))]

    def set_labels(
        self,
        page_id: PageId,
        annotator: str,
        labels: Mapping[str, Label | None],
        *,
        by: str | None = None,
        based_on: int | None = None,
    ) -> int:
        """Label blocks, as one change that can be undone as one; gives its revision.

        When this returns, the change is on disk. Where nothing changes there is no new revision: it gives the last one.

        Args:
            page_id: the page.
            annotator: whose labels; "merged" for the merged gold standard.
            labels: by the references of `blocks`; None takes a label away.
            by: who does it; needed for "merged", else the annotator.
            based_on: the `Labels.revision` that the annotator saw; None if that does not matter.

        Raises:
            AnnotationError: there is no such page or block, or a name cannot be used.
            Stale: the labels of this annotator were changed after `based_on`.
        """
        annotator, by = changes.check_names(annotator, by)
        one = self._segmented(page_id)
        for ref in labels:
            if ref not in one.place:
                message = "perhaps the page is segmented otherwise by now: load it again"
                raise AnnotationError(f"page {page_id} has no block {ref!a}; {message}")
        with self._database.writing() as connection:
            revision = changes.check_seen(connection, page_id, annotator, based_on)
            return changes.write_labels(connection, page_id, annotator, by, one, labels) or revision

    def labels(self, page_id: PageId, annotator: str) -> Labels:
        """What an annotator said of a page, carried over to its blocks as they are segmented now.

        Raises:
            AnnotationError: there is no such page.
        """
        one = self._segmented(page_id)
        with self._database.reading() as connection:
            return changes.read_labels(connection, page_id, annotator, one)

    def all_labels(self, page_id: PageId) -> dict[str, Labels]:
        """What everybody said of a page, by annotator, "merged" included; those who said nothing are left out.

        Raises:
            AnnotationError: there is no such page.
        """
        one = self._segmented(page_id)
        with self._database.reading() as connection:
            return changes.read_all_labels(connection, page_id, one)

    def undo(
        self, page_id: PageId, annotator: str, *, by: str | None = None, based_on: int | None = None
    ) -> int | None:
        """Take back the annotator's last change of labels on this page; gives the new revision, None if there is none.

        Raises:
            AnnotationError: there is no such page.
            Stale: the labels of this annotator were changed after `based_on`.
        """
        annotator, by = changes.check_names(annotator, by)
        with self._database.writing() as connection:
            self._need(connection, page_id)
            changes.check_seen(connection, page_id, annotator, based_on)
            return changes.undo(connection, page_id, annotator, by)

    def redo(
        self, page_id: PageId, annotator: str, *, by: str | None = None, based_on: int | None = None
    ) -> int | None:
        """Do again what was undone last; gives the new revision, None if there is nothing, or it was overtaken.

        Raises:
            AnnotationError: there is no such page.
            Stale: the labels of this annotator were changed after `based_on`.
        """
        annotator, by = changes.check_names(annotator, by)
        with self._database.writing() as connection:
            self._need(connection, page_id)
            changes.check_seen(connection, page_id, annotator, based_on)
            return changes.redo(connection, page_id, annotator, by)

    def history(self, page_id: PageId) -> list[Event]:
        """All changes of a page, the oldest first.

        Raises:
            AnnotationError: there is no such page.
        """
        with self._database.reading() as connection:
            self._need(connection, page_id)
            return changes.read_history(connection, page_id)

    def set_done(
        self, page_id: PageId, annotator: str, done: bool, *, by: str | None = None, based_on: int | None = None
    ) -> int:
        """Say that an annotator is done with a page, or is not; gives the revision.

        Raises:
            AnnotationError: there is no such page, or a name cannot be used.
            Stale: the labels of this annotator were changed after `based_on`.
        """
        annotator, by = changes.check_names(annotator, by)
        with self._database.writing() as connection:
            self._need(connection, page_id)
            revision = changes.check_seen(connection, page_id, annotator, based_on)
            if changes.is_done(connection, page_id, annotator) == done:
                return revision
            return changes.write_event(connection, page_id, annotator, by, "done" if done else "reopened")

    def conflicts(self, page_id: PageId) -> list[Conflict]:
        """The blocks that annotators do not agree on, in the order of the page, merged or not.

        Raises:
            AnnotationError: there is no such page.
        """
        said = self.all_labels(page_id)
        return merging.find_conflicts(self._segmented(page_id).blocks, said)

    def accept_agreed(self, page_id: PageId, *, by: str, based_on: int | None = None) -> int:
        """Take over into the merged labels what all who labelled a block agree on; what is merged stays.

        Gives how many labels that were; they are one change.

        Args:
            page_id: the page.
            by: who does it.
            based_on: the revision of the merged labels that they saw; None if that does not matter.

        Raises:
            AnnotationError: there is no such page, or a name cannot be used.
            Stale: the merged labels were changed after `based_on`.
        """
        annotator, by = changes.check_names(MERGED, by)
        one = self._segmented(page_id)
        with self._database.writing() as connection:
            changes.check_seen(connection, page_id, annotator, based_on)
            agreed = merging.find_agreed(changes.read_all_labels(connection, page_id, one))
            changes.write_labels(connection, page_id, annotator, by, one, agreed)
            return len(agreed)

    def agreement(self, page_id: PageId | None = None, *, without: Collection[PageId] = frozenset()) -> AgreementReport:
        """How well annotators agree, on one page or on all but those `without`; see workbench/labels/agreement.py.

        Raises:
            AnnotationError: there is no such page.
            MissingExtra: rapidfuzz is not installed.
        """
        from mainmatter.workbench.labels.agreement import measure  # noqa: PLC0415 - it is built on the store

        return measure(self, page_id, without=without)

    def gold_pages(self, annotator: str = BEST, *, unfinished: bool = False) -> list[GoldPage]:
        """The pages with their exact labels, to train and to evaluate on.

        Args:
            annotator: whose labels; "merged"; or "best", of each page what is known best: the merged labels, else
                what all who are done with it agree on, else those of the only annotator.
            unfinished: also give pages that nobody is done with. See `annotation.gold.collect` for what is left out.
        """
        from mainmatter.workbench.labels.gold import collect  # noqa: PLC0415 - it is built on the store

        return [each.gold_page for each in collect(self, annotator, unfinished=unfinished).pages]

    def _segmented(self, page_id: PageId) -> Segmented:
        """A page as it is segmented now. The last few are kept at hand: they never change while this runs."""
        with self._turn:
            known = self._documents.get(page_id)
            if known is not None:
                self._documents.move_to_end(page_id)
                return known
        page = self.page(page_id)
        one = segmented(read(page, _ANY_SIZE))
        if len(page.html) < _HUGE:
            with self._turn:
                self._documents[page_id] = one
                while len(self._documents) > _DOCUMENTS:
                    self._documents.popitem(last=False)
        return one

    def _checked(self, summary: PageSummary) -> PageSummary:
        """A page in short, with what is true of the blocks of now."""
        if not summary.labelled:
            return replace(summary, lost=0)
        summary = checked(summary, self.all_labels(summary.id))
        return replace(summary, blocks=len(self._segmented(summary.id).blocks.refs))

    def _need(self, connection: sqlite3.Connection, page_id: PageId) -> None:
        if connection.execute("SELECT 1 FROM pages WHERE id = ?", (page_id,)).fetchone() is None:
            raise NoSuchPage(f"{self.path}: has no page {page_id}")
