"""The pages of the store in short, by a few queries over all of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from mainmatter.annotation.records import MERGED, PageSummary

if TYPE_CHECKING:
    import sqlite3

    from mainmatter.annotation.records import PageId, Status

# Where nothing is kept it does not matter what it is called, but for comments (`records.agree`).
_CONFLICTS = """
    SELECT page, count(*) FROM (
        SELECT page, ref FROM labels AS said WHERE annotator <> :merged
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
    SELECT said.page, count(DISTINCT said.ref) FROM labels AS said WHERE said.annotator <> :merged
    AND NOT EXISTS (
        SELECT 1 FROM labels AS decided
        WHERE decided.page = said.page AND decided.annotator = :merged AND decided.ref = said.ref
    )
    GROUP BY said.page
"""


def read_summaries(connection: sqlite3.Connection, page_id: PageId | None = None) -> list[PageSummary]:
    """All pages, or one, in the order in which they were added. Conflicts are counted by reference alone."""
    labelled: dict[int, dict[str, int]] = defaultdict(dict)
    query = "SELECT page, annotator, count(*) FROM labels GROUP BY page, annotator ORDER BY annotator"
    for page, annotator, count in connection.execute(query):
        labelled[page][annotator] = count
    done: dict[int, list[str]] = defaultdict(list)
    for page, annotator in connection.execute("SELECT page, annotator FROM work WHERE done ORDER BY annotator"):
        done[page].append(annotator)
    conflicts: dict[int, int] = dict(connection.execute(_CONFLICTS, {"merged": MERGED}))
    undecided: dict[int, int] = dict(connection.execute(_OPEN, {"merged": MERGED}))
    columns = "SELECT id, name, url, source, blocks, note, page_type, lang FROM pages"
    rows = connection.execute(f"{columns} WHERE ?1 IS NULL OR id = ?1 ORDER BY id", (page_id,))
    found = []
    for page, name, url, source, blocks, note, page_type, lang in rows:
        status = status_of(labelled[page], done[page], conflicts.get(page, 0), undecided.get(page, 0))
        summary = PageSummary(page, name, url, source, blocks, labelled[page], tuple(done[page]))
        told = {"note": note, "page_type": page_type, "lang": lang}
        found.append(replace(summary, conflicts=conflicts.get(page, 0), status=status, **told))
    return found


def status_of(labelled: dict[str, int], done: list[str], conflicts: int, undecided: int) -> Status:
    """Where a page stands; see `PageSummary`."""
    if MERGED in done or (labelled.get(MERGED) and not undecided):
        return "merged"
    if conflicts:
        return "conflict"
    return "labelled" if labelled else "new"
