"""Changes of labels: carried over, written into the history, undone and done again.

A change lists the labels of each block before and after it, so that it can be taken back exactly, also after a restart
and also when the page was segmented otherwise in between: labels that had to be carried over are part of the change
that was made then.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from mainmatter.lab.datasets.labels import Label, carry_over, trace
from mainmatter.workbench.labels.records import (
    MERGED,
    RESERVED,
    Action,
    AnnotationError,
    Change,
    Event,
    Labels,
    PageId,
    Stale,
)
from mainmatter.workbench.labels.segmentations import find_segmentation, load_segmentation, save_segmentation
from mainmatter.workbench.labels.times import now

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from mainmatter.workbench.labels.segmentations import Segmented


_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Standing:
    """The labels of an annotator on a page as it is segmented now.

    Attributes:
        by_ref: the labels, by the references of now.
        lost: those that could not be carried over.
        moves: the changes of the stored labels that carry them over for good; none if the page is segmented as it was.
    """

    by_ref: dict[str, Label]
    lost: tuple[Label, ...]
    moves: tuple[Change, ...]


def read_standing(
    connection: sqlite3.Connection, page_id: PageId, annotator: str, one: Segmented, number: int | None = None
) -> Standing:
    """The labels of an annotator, carried over to the blocks of now.

    Args:
        connection: the database.
        page_id: the page.
        annotator: whose labels.
        one: the page as it is segmented now.
        number: the number of that segmentation, if it is kept already.
    """
    query = "SELECT segmentation, ref, kept, kind FROM labels WHERE page = ? AND annotator = ?"
    stored: dict[int, dict[str, Label]] = defaultdict(dict)
    for segmentation, ref, kept, kind in connection.execute(query, (page_id, annotator)):
        stored[segmentation][ref] = Label(bool(kept), kind)
    if number is None:
        number = find_segmentation(connection, page_id, one.digest)
    by_ref = stored.pop(number, {}) if number is not None else {}
    lost: list[Label] = []
    moves: list[Change] = []
    for segmentation in sorted(stored, reverse=True):  # what was said later counts more
        then = load_segmentation(connection, segmentation)
        place = {ref: i for i, ref in enumerate(then.refs)}
        said = {place[ref]: label for ref, label in stored[segmentation].items()}
        decided = [one.place[ref] for ref in by_ref]
        carried = carry_over(said, trace(then, one.blocks), decided)
        by_ref |= {one.blocks.refs[j]: label for j, label in carried.labels.items()}
        lost += [replace(said[i], ref=then.refs[i], text=then.texts[i]) for i in carried.lost]
        moves += [Change(segmentation, then.refs[i], said[i], None) for i in carried.moved]
        if number is not None:
            moves += [Change(number, one.blocks.refs[j], None, label) for j, label in carried.labels.items()]
    return Standing(by_ref, tuple(lost), tuple(moves))


def read_labels(connection: sqlite3.Connection, page_id: PageId, annotator: str, one: Segmented) -> Labels:
    """What an annotator said of a page, and where their work stands."""
    standing = read_standing(connection, page_id, annotator, one)
    query = "SELECT done, revision FROM work WHERE page = ? AND annotator = ?"
    done, revision = connection.execute(query, (page_id, annotator)).fetchone() or (0, 0)
    undoable, redoable = _stacks(connection, page_id, annotator)
    in_order = dict(sorted(standing.by_ref.items(), key=lambda item: one.place[item[0]]))
    return Labels(in_order, standing.lost, revision, bool(done), bool(undoable), bool(redoable))


def read_all_labels(connection: sqlite3.Connection, page_id: PageId, one: Segmented) -> dict[str, Labels]:
    """What everybody said of a page, by annotator; those who said nothing are left out."""
    query = "SELECT DISTINCT annotator FROM labels WHERE page = ? ORDER BY annotator"
    names = [name for (name,) in connection.execute(query, (page_id,)).fetchall()]
    return {name: read_labels(connection, page_id, name, one) for name in names}


def last_revision(connection: sqlite3.Connection, page_id: PageId, annotator: str) -> int:
    """The number of the last change of a page by an annotator; 0 if there was none."""
    query = "SELECT revision FROM work WHERE page = ? AND annotator = ?"
    row = connection.execute(query, (page_id, annotator)).fetchone()
    return 0 if row is None else int(row[0])


def is_done(connection: sqlite3.Connection, page_id: PageId, annotator: str) -> bool:
    """Whether an annotator is done with a page."""
    query = "SELECT done FROM work WHERE page = ? AND annotator = ?"
    row = connection.execute(query, (page_id, annotator)).fetchone()
    return row is not None and bool(row[0])


def write_labels(
    connection: sqlite3.Connection,
    page_id: PageId,
    annotator: str,
    by: str,
    one: Segmented,
    labels: Mapping[str, Label | None],
) -> int | None:
    """Label blocks, as one change; gives its revision, None where nothing changes. None takes a label away."""
    number = save_segmentation(connection, page_id, one)
    standing = read_standing(connection, page_id, annotator, one, number)
    wanted = [
        Change(number, ref, standing.by_ref.get(ref), label)
        for ref, label in labels.items()
        if standing.by_ref.get(ref) != label
    ]
    if not wanted:
        return None
    return write_event(connection, page_id, annotator, by, "set", [*standing.moves, *wanted])


def write_event(
    connection: sqlite3.Connection,
    page_id: PageId,
    annotator: str,
    by: str,
    action: Action,
    changes: Iterable[Change] = (),
    of: int | None = None,
) -> int:
    """Write a change into the history, and make it; gives its revision."""
    changes = _in_one_step(changes)
    content = json.dumps([_to_json(change) for change in changes], separators=(",", ":"))
    cursor = connection.execute(
        "INSERT INTO events (page, annotator, by, action, time, of, changes) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (page_id, annotator, by, action, now(), of, content),
    )
    revision = cursor.lastrowid
    assert revision is not None
    for change in changes:
        key = page_id, annotator, change.segmentation, change.ref
        if change.after is None:
            connection.execute(
                "DELETE FROM labels WHERE page = ? AND annotator = ? AND segmentation = ? AND ref = ?", key
            )
        else:
            label = change.after.kept, change.after.kind
            connection.execute("INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?)", (*key, *label))
    done = int(action == "done") if action in ("done", "reopened") else int(is_done(connection, page_id, annotator))
    connection.execute("INSERT OR REPLACE INTO work VALUES (?, ?, ?, ?)", (page_id, annotator, done, revision))
    return revision


def check_seen(connection: sqlite3.Connection, page_id: PageId, annotator: str, based_on: int | None) -> int:
    """The last revision, which has to be the one that the annotator saw; None if that does not matter.

    Raises:
        Stale: it is a later one.
    """
    revision = last_revision(connection, page_id, annotator)
    if based_on is not None and based_on != revision:
        who = "somebody has merged blocks of" if annotator == MERGED else f"{annotator} has changed"
        message = "load it again, so that nothing of that is lost"
        raise Stale(f"{who} page {page_id} meanwhile, in another window; {message}")
    return revision


def undo(connection: sqlite3.Connection, page_id: PageId, annotator: str, by: str) -> int | None:
    """Take the last change back; gives the new revision, None if there is none."""
    undoable, _ = _stacks(connection, page_id, annotator)
    if not undoable:
        return None
    back = [
        Change(each.segmentation, each.ref, each.after, each.before) for each in _changes_of(connection, undoable[-1])
    ]
    return write_event(connection, page_id, annotator, by, "undo", back, of=undoable[-1])


def redo(connection: sqlite3.Connection, page_id: PageId, annotator: str, by: str) -> int | None:
    """Do again what was undone last; gives the new revision, None if there is nothing."""
    _, redoable = _stacks(connection, page_id, annotator)
    if not redoable:
        return None
    again = _changes_of(connection, redoable[-1])
    return write_event(connection, page_id, annotator, by, "redo", again, of=redoable[-1])


def read_history(connection: sqlite3.Connection, page_id: PageId) -> list[Event]:
    """All changes of a page, the oldest first."""
    query = "SELECT revision, annotator, by, action, time, of, changes FROM events WHERE page = ? ORDER BY revision"
    return [
        Event(revision, annotator, by, action, time, of, _from_json(content))
        for revision, annotator, by, action, time, of, content in connection.execute(query, (page_id,))
    ]


def _stacks(connection: sqlite3.Connection, page_id: PageId, annotator: str) -> tuple[list[int], list[int]]:
    """The revisions that can be undone and those that can be done again, the next one last."""
    query = "SELECT revision, action FROM events WHERE page = ? AND annotator = ? ORDER BY revision"
    undoable: list[int] = []
    redoable: list[int] = []
    for revision, action in connection.execute(query, (page_id, annotator)):
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


def _changes_of(connection: sqlite3.Connection, revision: int) -> tuple[Change, ...]:
    row = connection.execute("SELECT changes FROM events WHERE revision = ?", (revision,)).fetchone()
    return _from_json(row[0])


def _in_one_step(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes with those of the same block put together: first before, last after."""
    together: dict[tuple[int, str], Change] = {}
    for change in changes:
        key = change.segmentation, change.ref
        first = together.get(key, change)
        together[key] = Change(*key, first.before, change.after)
    return tuple(change for change in together.values() if change.before != change.after)


def _to_json(change: Change) -> list[Any]:
    before, after = (None if label is None else [label.kept, label.kind] for label in (change.before, change.after))
    return [change.segmentation, change.ref, before, after]


def _from_json(content: str) -> tuple[Change, ...]:
    return tuple(
        Change(segmentation, ref, *(None if label is None else Label(*label) for label in (before, after)))
        for segmentation, ref, before, after in json.loads(content)
    )


def check_names(annotator: str, by: str | None) -> tuple[str, str]:
    """Whose labels are changed, and by whom.

    Raises:
        AnnotationError: a name cannot be used, or nobody is named who changes the merged labels.
    """
    annotator = check_name(annotator)
    if annotator in RESERVED:
        raise AnnotationError(f"{annotator!r} is no annotator's name: it stands for the best labels of all")
    if by is None and annotator == MERGED:
        raise AnnotationError("the merged labels are nobody's own: say by whom they are changed")
    by = annotator if by is None else check_name(by)
    if by == MERGED:
        raise AnnotationError(f"{by!r} is no annotator's name: the merged labels are kept under it")
    return annotator, by


def check_name(name: str) -> str:
    """An annotator's name, without white space around it.

    Raises:
        AnnotationError: it cannot be used.
    """
    stripped = " ".join(name.split())
    if not stripped or len(stripped) > _LONGEST_NAME or not stripped.isprintable():
        message = f"an annotator's name has 1 to {_LONGEST_NAME} letters, and no control characters"
        raise AnnotationError(f"{message}, which {name[:_LONGEST_NAME]!a} has not")
    return stripped
