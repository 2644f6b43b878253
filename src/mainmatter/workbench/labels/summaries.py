"""The pages of the store in short, by a few queries over all of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from mainmatter.workbench.labels.merging import by_block
from mainmatter.workbench.labels.records import MERGED, PageSummary, agree

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping

    from mainmatter.workbench.labels.records import Labels, PageId, Status

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


def read_summaries(connection: sqlite3.Connection, page_id: PageId | None = None) -> list[PageSummary]:
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
    """A page in short, with what is true of its blocks as they are segmented now.

    Args:
        summary: the page, by `read_summaries`.
        said: what everybody said of it, carried over to these blocks.
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
    """Where a page stands; see `PageSummary`."""
    if MERGED in done or (labelled.get(MERGED) and not undecided):
        return "merged"
    if conflicts:
        return "conflict"
    return "labelled" if labelled else "new"
