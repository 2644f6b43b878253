"""Stores of annotations: the database as bytes and as rows, and gold standards that annotators hand on."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from annotated import DROP, KEEP, LIST, say, store_with_page
from fuzz.mutation import mutate_json
from fuzz.target import Target
from mainmatter.lab.datasets.gold import _from_row, _read_index, _to_labels, load_dataset
from mainmatter.workbench.labels import Store

if TYPE_CHECKING:
    from pathlib import Path


def _make_store(folder: Path) -> Path:
    """A small database: two annotators who differ, something undone, something merged."""
    with store_with_page(folder) as store:
        say(store, "Anna", {2: KEEP, 3: KEEP, 4: DROP, 5: LIST})
        say(store, "Ben", {2: KEEP, 3: DROP, 7: DROP})
        store.undo(1, "Anna")
        store.redo(1, "Anna")
        say(store, "merged", {3: KEEP})
        store.set_done(1, "Ben", True)
        path = store.path
    with sqlite3.connect(path) as connection:  # no log beside it, and as small as can be
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA synchronous = OFF")
    connection.close()
    return path


def _read_store(path: Path) -> None:
    with Store(path, create=False) as store:
        store.annotators()
        for summary in store.pages():
            store.labels(summary.id, "Anna")
            store.history(summary.id)
            store.conflicts(summary.id)
        store.pages(check=True)
        store.gold_pages(unfinished=True)
        store.undo(1, "Anna")


def databases(folder: Path) -> Target:
    """The file of a database."""
    seed = _make_store(folder).read_bytes()
    path = folder / "annotations.db"

    def read(data: bytes) -> None:
        for name in ("annotations.db-wal", "annotations.db-shm", "annotations.db-journal"):
            (folder / name).unlink(missing_ok=True)
        path.write_bytes(data)
        _read_store(path)

    return Target(
        read,
        [seed],
        [b"SQLite format 3\0", b"\0\0\0\0", b"\xff\xff\xff\xff", b"CREATE TABLE pages", b"pages", b"[[", b"null"],
    )


_COLUMNS = {
    "pages": ("is_text", "url", "name", "charset", "format", "source", "blocks", "page_type", "added", "html"),
    "segmentations": ("page", "digest", "blocks", "made"),
    "labels": ("annotator", "segmentation", "ref", "kept", "kind", "suggested_by"),
    "events": ("page", "annotator", "by", "action", "time", "of", "changes"),
    "work": ("page", "annotator", "done", "revision"),
}


def store_rows(folder: Path) -> Target:
    """The rows of a database, as JSON: sound to SQLite, but not what the store wrote."""
    original = _make_store(folder)
    pristine = original.read_bytes()
    seeds = []
    with sqlite3.connect(original) as connection:
        for table, columns in _COLUMNS.items():
            for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 3").fetchall():
                values = [value.decode() if isinstance(value, bytes) else value for value in row]
                seeds.append(json.dumps([table, dict(zip(columns, values, strict=True))]).encode())
    connection.close()
    path = folder / "annotations.db"

    def read(data: bytes) -> None:
        for name in ("annotations.db-wal", "annotations.db-shm", "annotations.db-journal"):
            (folder / name).unlink(missing_ok=True)
        path.write_bytes(pristine)
        if _change(path, data):
            _read_store(path)

    return Target(
        read,
        seeds,
        [b"Anna", b"merged", b"set", b"undo", b"redo", b"done", b"comment", b"[]", b"null", b"[[1]]"],
        mutate=mutate_json,
    )


def _change(path: Path, data: bytes) -> bool:
    """Give all rows of a table other values, as far as its constraints let it; tells whether anything changed."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        table, values = json.loads(data)
        known = {name: value for name, value in values.items() if name in _COLUMNS[table]}
        connection.execute("DROP TRIGGER events_stay")
        connection.execute("PRAGMA synchronous = OFF")
        for name, value in known.items():
            try:
                given = json.dumps(value) if isinstance(value, list | dict) else value
                as_bytes = name == "html" and isinstance(given, str)
                wanted = given.encode("utf-8", "surrogatepass") if as_bytes else given
                connection.execute(f"UPDATE OR IGNORE {table} SET {name} = ?", (wanted,))
            except (sqlite3.Error, OverflowError, UnicodeError):
                continue
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False
    finally:
        connection.close()
    return True


def gold_standards(folder: Path) -> Target:
    """The index of a gold standard, which holds labels; its rows on their own, and one time in 50 the whole folder."""
    (folder / "html").mkdir()
    (folder / "gold").mkdir()
    (folder / "html" / "a.html").write_text("<h1>T</h1><p>Words of a page", "utf-8")
    (folder / "gold" / "a.txt").write_text("URL: http://a.example/\n<h>T\n<p>Words of a page", "utf-8")
    label: dict[str, Any] = {"ref": "r1", "text": "T", "kept": True, "kind": "heading", "suggested_by": "main"}
    facts: dict[str, Any] = {
        "page_type": "article",
        "lang": "en",
        "must_have": ["Words"],
        "must_not_have": [],
        "labels": [label],
    }
    facts |= {"url": "http://a.example", "charset": "utf-8", "format": "html", "lines_are_blocks": False}
    count = 0

    def read(data: bytes) -> None:
        nonlocal count
        count += 1
        (folder / "index.json").write_bytes(data)
        for row in _read_index(folder / "index.json").values():
            _to_labels(row.get("labels"), "here")
            _from_row({"html": "<p>x", "gold": "x"} | row, "here")
        if count % 50 == 0:
            load_dataset(str(folder))

    return Target(
        read,
        [json.dumps({"a": facts}).encode()],
        [b"labels", b"kept", b"html", b"a", b"text", b"null"],
        mutate=mutate_json,
    )
