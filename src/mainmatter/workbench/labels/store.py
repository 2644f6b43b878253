"""The store of annotations: pages, the labels of their blocks, and the history of all changes.

One SQLite file (database.py). When a call returns, its data is on disk: it survives kill -9 and a power cut. Several
processes and threads may write at once; each change is one transaction, and each process opens a store of its own.

A change lists the labels of each block before and after it, so that it can be undone exactly, even after a restart and
if the page was segmented differently in between: labels that had to be carried over are part of the change made at that
time.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections import OrderedDict, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self, cast, get_args

from mainmatter.api import read
from mainmatter.errors import InputError
from mainmatter.lab.datasets.labels import Label, Referred, carry_over, make_references, trace
from mainmatter.limits import DEFAULT_LIMITS, Limits
from mainmatter.records import Page
from mainmatter.workbench.labels.agreement import by_block, find_agreed, find_conflicts, measure
from mainmatter.workbench.labels.database import DATABASE, Database, database_path
from mainmatter.workbench.labels.records import (
    BEST,
    MERGED,
    RESERVED,
    Action,
    AnnotationError,
    Event,
    LabelChange,
    Labels,
    NoSuchPage,
    PageBlock,
    PageId,
    PageSummary,
    Stale,
    agree,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.datasets.labels import LabelKind
    from mainmatter.records import Document
    from mainmatter.workbench.labels.agreement import AgreementReport
    from mainmatter.workbench.labels.records import Conflict, Status

__all__ = ["DATABASE", "Store"]

_DOCUMENTS = 8  # to keep at hand: annotators stay on a page for a while
_HUGE = 2_000_000  # bytes; a page like that is read again
_ANY_SIZE = Limits(size=sys.maxsize)  # whoever added a page has decided that it may be so large
_LONGEST_NAME = 100

_PAGES = "SELECT id, name, url, source, blocks, note, page_type, lang FROM pages ORDER BY id"
_ONE_PAGE = "SELECT id, name, url, source, blocks, note, page_type, lang FROM pages WHERE id = :page"
_LABELLED = "SELECT page, annotator, count(*) FROM labels WHERE 1 {of_page} GROUP BY page, annotator ORDER BY annotator"
_DONE = "SELECT page, annotator FROM work WHERE done {of_page} ORDER BY annotator"
# Where nothing is kept it does not matter what it is called, but for comments (`records.agree`).
_CONFLICTS = """
    SELECT page, count(*) FROM (
        SELECT page, ref FROM labels AS said WHERE annotator <> :merged {of_page}
        AND NOT EXISTS (
            SELECT 1 FROM labels AS decided
            WHERE decided.page = said.page AND decided.annotator = :merged AND decided.ref = said.ref
        )
        GROUP BY page, ref
        HAVING min(kept) <> max(kept) OR (max(kept) = 1 AND count(DISTINCT kind) > 1)
            OR count(DISTINCT kind = 'comment') > 1
    ) GROUP BY page
"""
_OPEN = """
    SELECT said.page, count(DISTINCT said.ref) FROM labels AS said WHERE said.annotator <> :merged {of_page}
    AND NOT EXISTS (
        SELECT 1 FROM labels AS decided
        WHERE decided.page = said.page AND decided.annotator = :merged AND decided.ref = said.ref
    )
    GROUP BY said.page
"""


class Store:
    """Annotations of pages in a database.

    Args:
        path: the database's file, or the folder of a workbench that holds it. It is made if it does not exist.
        create: whether to make one if there is none.

    Raises:
        AnnotationError: there is none, it is not a database of annotations, or a newer mainmatter made it.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self._database = Database(database_path(path), create=create)
        self._documents: OrderedDict[PageId, _Segmented] = OrderedDict()
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database. If you forget to, nothing is lost."""
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
        """Add a page, unless there is one with the same bytes and URL; returns its number in both cases.

        Raises:
            PageTooLarge: it is over the limits. They apply only to this call: pages in the store can always be read.
        """
        blocks = len(read(page, limits))
        data = _data_of(page)
        row: dict[str, Any] = {
            "key": _key(page),
            "html": data,
            "is_text": isinstance(page.html, str),
            "url": _storable(page.url),
            "name": _storable(name or page.id or page.url) or "page",
            "charset": _storable(page.charset),
            "format": page.format,
            "lines_are_blocks": page.lines_are_blocks,
            "source": _storable(source),
            "digest": hashlib.sha256(data).hexdigest(),
            "blocks": blocks,
            "note": _storable(note),
            "page_type": _storable(page_type),
            "lang": _storable(lang),
            "added": _now(),
        }
        with self._database.writing() as connection:
            return _find_page(connection, page) or _insert(connection, "pages", row)

    def find_page(self, page: Page) -> PageId | None:
        """The number of a page with the same bytes and URL; None if there is none."""
        with self._database.reading() as connection:
            return _find_page(connection, page)

    def pages(self, *, check: bool = False) -> list[PageSummary]:
        """All pages, in the order in which they were added.

        Args:
            check: segment each labelled page again, and report on its current blocks, including how many labels could
                not be carried over (`lost`); that takes some milliseconds per page. Without it, conflicts and status
                are those of the blocks at the time of labelling.
        """
        with self._database.reading() as connection:
            summaries = _read_summaries(connection)
        return [self._checked(each) for each in summaries] if check else summaries

    def summary(self, page_id: PageId) -> PageSummary:
        """One page, in short, checked for lost labels.

        Raises:
            AnnotationError: there is no such page.
        """
        with self._database.reading() as connection:
            self._need(connection, page_id)
            [summary] = _read_summaries(connection, page_id)
        return self._checked(summary)

    def page(self, page_id: PageId) -> Page:
        """A page as it was added: its bytes, URL and format; its `id` is its name.

        Raises:
            AnnotationError: there is no such page.
        """
        query = "SELECT html, is_text, url, name, charset, format, lines_are_blocks FROM pages WHERE id = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (page_id,)).fetchone()
            if row is None:
                raise NoSuchPage(f"{self.path}: has no page {page_id}")
            html, is_text, url, name, charset, format_, lines_are_blocks = row
            data = html.decode("utf-8", "surrogatepass") if is_text else html
        return Page(data, url, name, charset, "text" if format_ == "text" else "html", bool(lines_are_blocks))

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
        """Label blocks in one change, which can be undone as one; returns its revision.

        When this returns, the change is on disk. If nothing changes, it returns the last revision.

        Args:
            page_id: the page.
            annotator: whose labels; "merged" for the merged gold standard.
            labels: by the references of `blocks`; None removes a label.
            by: who does it; required for "merged", by default the annotator.
            based_on: the `Labels.revision` that the annotator saw; None if that does not matter.

        Raises:
            AnnotationError: there is no such page or block, or a name cannot be used.
            Stale: the labels of this annotator were changed after `based_on`.
        """
        names = check_names(annotator, by)
        one = self._segmented(page_id)
        for ref in labels:
            if ref not in one.place:
                message = "the page may be segmented differently now: load it again"
                raise AnnotationError(f"page {page_id} has no block {ref!a}; {message}")
        with self._changing(page_id, names, based_on) as (work, revision):
            return work.write_labels(one, labels) or revision

    def labels(self, page_id: PageId, annotator: str) -> Labels:
        """An annotator's labels of a page, carried over to its current blocks.

        Raises:
            AnnotationError: there is no such page.
        """
        one = self._segmented(page_id)
        with self._database.reading() as connection:
            return _Work(connection, page_id, annotator).read_labels(one)

    def all_labels(self, page_id: PageId) -> dict[str, Labels]:
        """Everybody's labels of a page, by annotator, including "merged"; annotators without labels are left out.

        Raises:
            AnnotationError: there is no such page.
        """
        one = self._segmented(page_id)
        with self._database.reading() as connection:
            return _read_all_labels(connection, page_id, one)

    def undo(
        self, page_id: PageId, annotator: str, *, by: str | None = None, based_on: int | None = None
    ) -> int | None:
        """Undo the annotator's last change of labels on this page; returns the new revision, None if there is none.

        Raises:
            AnnotationError: there is no such page.
            Stale: the labels of this annotator were changed after `based_on`.
        """
        with self._changing(page_id, check_names(annotator, by), based_on) as (work, _):
            undoable, _ = work.read_stacks()
            if not undoable:
                return None
            back = [replace(each, before=each.after, after=each.before) for each in work.read_changes(undoable[-1])]
            return work.write("undo", back, of=undoable[-1])

    def redo(
        self, page_id: PageId, annotator: str, *, by: str | None = None, based_on: int | None = None
    ) -> int | None:
        """Redo what was undone last; returns the new revision, or None if there is nothing to redo or a later change.

        Raises:
            AnnotationError: there is no such page.
            Stale: the labels of this annotator were changed after `based_on`.
        """
        with self._changing(page_id, check_names(annotator, by), based_on) as (work, _):
            _, redoable = work.read_stacks()
            if not redoable:
                return None
            return work.write("redo", work.read_changes(redoable[-1]), of=redoable[-1])

    def history(self, page_id: PageId) -> list[Event]:
        """All changes of a page, the oldest first.

        Raises:
            AnnotationError: there is no such page.
        """
        query = "SELECT revision, annotator, by, action, time, of, changes FROM events WHERE page = ? ORDER BY revision"
        with self._database.reading() as connection:
            self._need(connection, page_id)
            return [
                Event(revision, annotator, by, _checked_action(action), time, of, _from_json(content))
                for revision, annotator, by, action, time, of, content in connection.execute(query, (page_id,))
            ]

    def set_done(
        self, page_id: PageId, annotator: str, done: bool, *, by: str | None = None, based_on: int | None = None
    ) -> int:
        """Record whether an annotator is done with a page; returns the revision.

        Raises:
            AnnotationError: there is no such page, or a name cannot be used.
            Stale: the labels of this annotator were changed after `based_on`.
        """
        with self._changing(page_id, check_names(annotator, by), based_on) as (work, revision):
            is_done, _ = work.read_state()
            return revision if is_done == done else work.write("done" if done else "reopened")

    def conflicts(self, page_id: PageId) -> list[Conflict]:
        """The blocks that annotators do not agree on, in the order of the page, merged or not.

        Raises:
            AnnotationError: there is no such page.
        """
        said = self.all_labels(page_id)
        return find_conflicts(self._segmented(page_id).blocks, said)

    def accept_agreed(self, page_id: PageId, *, by: str, based_on: int | None = None) -> int:
        """Copy labels that all annotators of a block agree on to the merged labels; existing ones stay.

        Returns how many labels were copied, all in one change.

        Args:
            page_id: the page.
            by: who does it.
            based_on: the revision of the merged labels that they saw; None if that does not matter.

        Raises:
            AnnotationError: there is no such page, or a name cannot be used.
            Stale: the merged labels were changed after `based_on`.
        """
        names = check_names(MERGED, by)
        one = self._segmented(page_id)
        with self._changing(page_id, names, based_on) as (work, _):
            agreed = find_agreed(_read_all_labels(work.connection, page_id, one))
            work.write_labels(one, agreed)
            return len(agreed)

    def agreement(self, page_id: PageId | None = None, *, without: Collection[PageId] = frozenset()) -> AgreementReport:
        """How well annotators agree, on one page or on all but those `without`; see workbench/labels/agreement.py.

        Raises:
            AnnotationError: there is no such page.
            MissingExtra: rapidfuzz is not installed.
        """
        return measure(self, page_id, without=without)

    def gold_pages(self, annotator: str = BEST, *, unfinished: bool = False) -> list[GoldPage]:
        """The pages with their exact labels, to train and to evaluate on.

        Args:
            annotator: whose labels; "merged"; or "best", of each page what is known best: the merged labels, else
                what all who are done with it agree on, else those of the only annotator.
            unfinished: also give pages that nobody is done with. See `collect` in gold.py for what is left out.
        """
        from mainmatter.workbench.labels.gold import collect  # it is built on the store

        return [each.gold_page for each in collect(self, annotator, unfinished=unfinished).pages]

    def _segmented(self, page_id: PageId) -> _Segmented:
        """A page as it is segmented now. The last few are kept at hand: they never change while this runs."""
        with self._turn:
            known = self._documents.get(page_id)
            if known is not None:
                self._documents.move_to_end(page_id)
                return known
        page = self.page(page_id)
        one = _Segmented.of(read(page, _ANY_SIZE))
        if len(page.html) < _HUGE:
            with self._turn:
                self._documents[page_id] = one
                while len(self._documents) > _DOCUMENTS:
                    self._documents.popitem(last=False)
        return one

    def _checked(self, summary: PageSummary) -> PageSummary:
        """A page in short, checked against its current blocks."""
        if not summary.labelled:
            return replace(summary, lost=0)
        summary = checked(summary, self.all_labels(summary.id))
        return replace(summary, blocks=len(self._segmented(summary.id).blocks.refs))

    @contextmanager
    def _changing(self, page_id: PageId, names: tuple[str, str], based_on: int | None) -> Iterator[tuple[_Work, int]]:
        """A transaction that changes the labels of an annotator on a page; with the last revision.

        Raises:
            AnnotationError: there is no such page.
            Stale: the last revision is not the one that the annotator saw, `based_on`.
        """
        annotator, by = names
        with self._database.writing() as connection:
            self._need(connection, page_id)
            work = _Work(connection, page_id, annotator, by)
            _, revision = work.read_state()
            if based_on is not None and based_on != revision:
                who = "somebody has merged blocks of" if annotator == MERGED else f"{annotator} has changed"
                message = "load it again, so that nothing is lost"
                raise Stale(f"{who} page {page_id} meanwhile, in another window; {message}")
            yield work, revision

    def _need(self, connection: sqlite3.Connection, page_id: PageId) -> None:
        if connection.execute("SELECT 1 FROM pages WHERE id = ?", (page_id,)).fetchone() is None:
            raise NoSuchPage(f"{self.path}: has no page {page_id}")


@dataclass(frozen=True, slots=True)
class _Segmented:
    """A page as it is segmented now.

    Attributes:
        document: the page.
        blocks: the references and texts of its blocks.
        place: the number of the block that a reference stands for.
        digest: the same for the same blocks.
    """

    document: Document
    blocks: Referred
    place: dict[str, int]
    digest: str

    @classmethod
    def of(cls, document: Document) -> _Segmented:
        """Assign references to the blocks of a document."""
        texts, kinds = document.columns.texts, document.columns.kinds
        refs = make_references(texts)
        digest = hashlib.sha256()
        for ref, kind in zip(refs, kinds, strict=True):
            digest.update(f"{ref} {kind}\n".encode())
        return cls(document, Referred(refs, texts), {ref: i for i, ref in enumerate(refs)}, digest.hexdigest())


@dataclass(frozen=True, slots=True)
class _Carried:
    """The labels of an annotator on a page as it is segmented now.

    Attributes:
        by_ref: the labels, by the current references.
        lost: those that could not be carried over.
        moves: the changes that carry the stored labels over permanently; none if the page is segmented as before.
    """

    by_ref: dict[str, Label]
    lost: tuple[Label, ...]
    moves: tuple[LabelChange, ...]


@dataclass(frozen=True, slots=True)
class _Work:
    """One annotator's work on one page, in an open transaction.

    Attributes:
        connection: the database.
        page_id: the page.
        annotator: whose labels; "merged" for the merged gold standard.
        by: who changes them.
    """

    connection: sqlite3.Connection
    page_id: PageId
    annotator: str
    by: str = ""

    def read_state(self) -> tuple[bool, int]:
        """Whether the annotator is done with the page, and the number of the last change; 0 if there was none."""
        query = "SELECT done, revision FROM work WHERE page = ? AND annotator = ?"
        done, revision = self.connection.execute(query, (self.page_id, self.annotator)).fetchone() or (0, 0)
        return bool(done), revision

    def read_labels(self, one: _Segmented) -> Labels:
        """The annotator's labels of the page, and the state of the work."""
        carried = self._carry_over(one, self._find_segmentation(one))
        done, revision = self.read_state()
        undoable, redoable = self.read_stacks()
        in_order = dict(sorted(carried.by_ref.items(), key=lambda item: one.place[item[0]]))
        time = self.connection.execute("SELECT time FROM events WHERE revision = ?", (revision,)).fetchone()
        changed = time[0] if time else ""
        return Labels(in_order, carried.lost, revision, done, bool(undoable), bool(redoable), changed)

    def write_labels(self, one: _Segmented, labels: Mapping[str, Label | None]) -> int | None:
        """Label blocks, as one change; returns its revision, or None if nothing changes. A label of None removes it."""
        number = self._find_segmentation(one) or self._save_segmentation(one)
        carried = self._carry_over(one, number)
        wanted = [
            LabelChange(number, ref, carried.by_ref.get(ref), label)
            for ref, label in labels.items()
            if carried.by_ref.get(ref) != label
        ]
        return self.write("set", [*carried.moves, *wanted]) if wanted else None

    def write(self, action: Action, changes: Iterable[LabelChange] = (), of: int | None = None) -> int:
        """Write a change into the history, and make it; returns its revision."""
        changes = _in_one_step(changes)
        content = json.dumps([_to_json(change) for change in changes], separators=(",", ":"))
        event = {"page": self.page_id, "annotator": self.annotator, "by": self.by, "action": action}
        revision = _insert(self.connection, "events", event | {"time": _now(), "of": of, "changes": content})
        for change in changes:
            key = self.page_id, self.annotator, change.segmentation, change.ref
            if change.after is None:
                self.connection.execute(
                    "DELETE FROM labels WHERE page = ? AND annotator = ? AND segmentation = ? AND ref = ?", key
                )
            else:
                row = *key, change.after.kept, change.after.kind, change.after.suggested_by
                self.connection.execute("INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        done = action == "done" if action in ("done", "reopened") else self.read_state()[0]
        state = self.page_id, self.annotator, int(done), revision
        self.connection.execute("INSERT OR REPLACE INTO work VALUES (?, ?, ?, ?)", state)
        return revision

    def read_stacks(self) -> tuple[list[int], list[int]]:
        """The revisions that can be undone and those that can be redone, the next one last."""
        query = "SELECT revision, action FROM events WHERE page = ? AND annotator = ? ORDER BY revision"
        undoable: list[int] = []
        redoable: list[int] = []
        for revision, action in self.connection.execute(query, (self.page_id, self.annotator)):
            match cast("Action", action):
                case "set":
                    undoable.append(revision)
                    redoable.clear()
                case "undo":
                    redoable.append(undoable.pop())
                case "redo":
                    undoable.append(redoable.pop())
                case "done" | "reopened":
                    continue
        return undoable, redoable

    def read_changes(self, revision: int) -> tuple[LabelChange, ...]:
        """What a change did to each label."""
        query = "SELECT changes FROM events WHERE revision = ?"
        return _from_json(self.connection.execute(query, (revision,)).fetchone()[0])

    def _carry_over(self, one: _Segmented, number: int | None) -> _Carried:
        """The labels, carried over to the current blocks; `number` is that of their segmentation, if it is kept."""
        query = "SELECT segmentation, ref, kept, kind, suggested_by FROM labels WHERE page = ? AND annotator = ?"
        stored: dict[int, dict[str, Label]] = defaultdict(dict)
        for segmentation, ref, kept, kind, by in self.connection.execute(query, (self.page_id, self.annotator)):
            stored[segmentation][ref] = _stored_label(bool(kept), kind, by)
        by_ref = stored.pop(number, {}) if number is not None else {}
        lost: list[Label] = []
        moves: list[LabelChange] = []
        query = "SELECT blocks FROM segmentations WHERE id = ?"
        for segmentation in sorted(stored, reverse=True):  # what was said later counts more
            blocks = json.loads(self.connection.execute(query, (segmentation,)).fetchone()[0])
            then = Referred([block[0] for block in blocks], [block[1] for block in blocks])
            place = {ref: i for i, ref in enumerate(then.refs)}
            said = {place[ref]: label for ref, label in stored[segmentation].items()}
            decided = [one.place[ref] for ref in by_ref]
            carried = carry_over(said, trace(then, one.blocks), decided)
            by_ref |= {one.blocks.refs[j]: label for j, label in carried.labels.items()}
            lost += [replace(said[i], ref=then.refs[i], text=then.texts[i]) for i in carried.lost]
            moves += [LabelChange(segmentation, then.refs[i], said[i], None) for i in carried.moved]
            if number is not None:
                moves += [LabelChange(number, one.blocks.refs[j], None, label) for j, label in carried.labels.items()]
        return _Carried(by_ref, tuple(lost), tuple(moves))

    def _find_segmentation(self, one: _Segmented) -> int | None:
        """The number of the stored segmentation that equals the current one, if any."""
        query = "SELECT id FROM segmentations WHERE page = ? AND digest = ?"
        row = self.connection.execute(query, (self.page_id, one.digest)).fetchone()
        return None if row is None else int(row[0])

    def _save_segmentation(self, one: _Segmented) -> int:
        """Store the current segmentation of the page; returns its number."""
        blocks = [
            (ref, block.text, block.kind.value, block.xpath)
            for ref, block in zip(one.blocks.refs, one.document.blocks, strict=True)
        ]
        # ASCII: a page's text can hold halves of characters, which SQLite refuses.
        content = json.dumps(blocks, separators=(",", ":"))
        row = {"page": self.page_id, "digest": one.digest, "blocks": content, "made": _now()}
        return _insert(self.connection, "segmentations", row)


def _read_all_labels(connection: sqlite3.Connection, page_id: PageId, one: _Segmented) -> dict[str, Labels]:
    """Everybody's labels of a page, by annotator; annotators without labels are left out."""
    query = "SELECT DISTINCT annotator FROM labels WHERE page = ? ORDER BY annotator"
    names = [name for (name,) in connection.execute(query, (page_id,)).fetchall()]
    return {name: _Work(connection, page_id, name).read_labels(one) for name in names}


def _in_one_step(changes: Iterable[LabelChange]) -> tuple[LabelChange, ...]:
    """The changes with those of the same block combined: first before, last after."""
    together: dict[tuple[int, str], LabelChange] = {}
    for change in changes:
        key = change.segmentation, change.ref
        first = together.get(key, change)
        together[key] = LabelChange(*key, first.before, change.after)
    return tuple(change for change in together.values() if change.before != change.after)


def _to_json(change: LabelChange) -> list[Any]:
    return [change.segmentation, change.ref, *map(_label_to_json, (change.before, change.after))]


def _label_to_json(label: Label | None) -> list[Any] | None:
    return None if label is None else [label.kept, label.kind, *filter(None, [label.suggested_by])]


def _from_json(content: str) -> tuple[LabelChange, ...]:
    changes = []
    for segmentation, ref, before, after in json.loads(content):
        if type(segmentation) is not int or not isinstance(ref, str):
            raise ValueError("a change is of no block")
        changes.append(LabelChange(segmentation, ref, *map(_label_from_json, (before, after))))
    return tuple(changes)


def _label_from_json(content: list[Any] | None) -> Label | None:
    if content is None:
        return None
    kept, kind, *suggested_by = content  # changes from before suggestions were told apart have two entries
    return _stored_label(kept, kind, suggested_by[0] if suggested_by else "")


def _stored_label(kept: bool, kind: LabelKind, suggested_by: str) -> Label:
    """A label as it was stored.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(suggested_by, str):
        raise ValueError("a label's suggestion is by nobody")
    try:
        return Label(kept, kind, suggested_by=suggested_by)
    except InputError as error:
        raise ValueError(str(error)) from error


def _checked_action(action: str) -> Action:
    """What was done in a change, as it was stored.

    Raises:
        ValueError: it is nothing that is done.
    """
    if action not in get_args(Action):
        raise ValueError(f"{action!r} is nothing that is done")
    return cast("Action", action)


def check_names(annotator: str, by: str | None) -> tuple[str, str]:
    """Whose labels are changed, and by whom.

    Raises:
        AnnotationError: a name cannot be used, or nobody is named who changes the merged labels.
    """
    annotator = _check_name(annotator)
    if annotator in RESERVED:
        raise AnnotationError(f"{annotator!r} cannot be an annotator's name: it stands for the best labels of all")
    if by is None and annotator == MERGED:
        raise AnnotationError("the merged labels belong to nobody; name who changes them")
    by = annotator if by is None else _check_name(by)
    if by == MERGED:
        raise AnnotationError(f"{by!r} cannot be an annotator's name: the merged labels are stored under it")
    return annotator, by


def _check_name(name: str) -> str:
    """An annotator's name, without white space around it.

    Raises:
        AnnotationError: it cannot be used.
    """
    stripped = " ".join(name.split())
    if not stripped or len(stripped) > _LONGEST_NAME or not stripped.isprintable():
        message = f"an annotator's name has 1 to {_LONGEST_NAME} characters, and no control characters"
        raise AnnotationError(f"{message}; {name[:_LONGEST_NAME]!a} is not one")
    return stripped


def _read_summaries(connection: sqlite3.Connection, page_id: PageId | None = None) -> list[PageSummary]:
    """All pages, or one, in the order in which they were added. Conflicts are counted by reference alone."""
    values = {"merged": MERGED, "page": page_id}
    # Not `:page IS NULL OR ...`, which would use no index.
    of_page = "" if page_id is None else "AND page = :page"
    labels, work, conflicts_of, open_of = (
        connection.execute(query.format(of_page=of_page), values) for query in (_LABELLED, _DONE, _CONFLICTS, _OPEN)
    )
    labelled: dict[int, dict[str, int]] = defaultdict(dict)
    for page, annotator, count in labels:
        labelled[page][annotator] = count
    done: dict[int, list[str]] = defaultdict(list)
    for page, annotator in work:
        done[page].append(annotator)
    conflicts: dict[int, int] = dict(conflicts_of)
    undecided: dict[int, int] = dict(open_of)
    rows = connection.execute(_PAGES if page_id is None else _ONE_PAGE, values)
    found = []
    for page, name, url, source, blocks, note, page_type, lang in rows:
        status = _status(labelled[page], done[page], conflicts.get(page, 0), undecided.get(page, 0))
        summary = PageSummary(page, name, url, source, blocks, labelled[page], tuple(done[page]))
        told = {"note": note, "page_type": page_type, "lang": lang}
        found.append(replace(summary, conflicts=conflicts.get(page, 0), status=status, **told))
    return found


def checked(summary: PageSummary, said: Mapping[str, Labels]) -> PageSummary:
    """A page in short, checked against its current blocks.

    Args:
        summary: the page, by `_read_summaries`.
        said: everybody's labels of it, carried over to these blocks.
    """
    merged = said[MERGED].by_ref if MERGED in said else {}
    undecided = [labels.values() for ref, labels in by_block(said).items() if ref not in merged]
    conflicts = sum(not agree(labels) for labels in undecided)
    labelled = {name: len(labels.by_ref) for name, labels in said.items()}
    return replace(
        summary,
        labelled=labelled,
        conflicts=conflicts,
        status=_status(labelled, summary.done, conflicts, len(undecided)),
        lost=sum(len(labels.lost) for labels in said.values()),
    )


def _status(labelled: Mapping[str, int], done: Collection[str], conflicts: int, undecided: int) -> Status:
    """The status of a page; see `PageSummary`."""
    if MERGED in done or (labelled.get(MERGED) and not undecided):
        return "merged"
    if conflicts:
        return "conflict"
    return "labelled" if labelled else "new"


def _find_page(connection: sqlite3.Connection, page: Page) -> PageId | None:
    """The number of a page with the same bytes and URL; None if there is none."""
    row = connection.execute("SELECT id FROM pages WHERE key = ?", (_key(page),)).fetchone()
    return None if row is None else int(row[0])


def _key(page: Page) -> str:
    return f"{hashlib.sha256(_data_of(page)).hexdigest()} {_storable(page.url) or ''}"


def _data_of(page: Page) -> bytes:
    # A page's scripts can hold halves of characters, which UTF-8 has no place for.
    return page.html.encode("utf-8", "surrogatepass") if isinstance(page.html, str) else page.html


def _storable(text: str | None) -> str | None:
    """Text that can be stored; names of files may hold any bytes."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def _insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> int:
    """Insert a row, given by column names; returns its number."""
    columns, values = ", ".join(row), ", ".join(f":{column}" for column in row)
    number = connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({values})", row).lastrowid  # noqa: S608 - ours
    assert number is not None
    return number


def _now() -> str:
    """Now, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
