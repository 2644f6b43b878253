"""The database itself: its tables, how it is opened, and transactions.

    pages           the pages, never changed
    segmentations   the blocks of a page as they were segmented when somebody labelled them
    labels          the current labels, by page, annotator and block
    events          the history: each change with all labels before and after; the database refuses to change it
    work            who is done with which page, and their last revision

A transaction that has ended is on disk: write-ahead log, synchronous=FULL (https://www.sqlite.org/pragma.html). Writers
wait for each other.
"""

from __future__ import annotations

import errno
import sqlite3
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mainmatter.workbench.labels.records import AnnotationError, CannotStore

if TYPE_CHECKING:
    from collections.abc import Iterator

DATABASE = "annotations.db"  # its name in a workbench folder
_ENDINGS = (".db", ".sqlite", ".sqlite3")  # what else does not exist yet is a folder to make
_MAGIC = b"SQLite format 3\0"
_APPLICATION = 0x6D6D616E  # "mman", in the head of the file: it is ours
_NEEDED = (3, 37, 0)  # the first SQLite with strict tables
_PATIENCE = 30.0  # seconds to wait for others who write
_RECOVER = "take a copy of the file, and try: sqlite3 FILE .recover"
_LONGEST_MESSAGE = 300  # letters; SQLite quotes texts that are no UTF-8, however long they are
# What is wrong with the disk, and not with the database.
_CANNOT_WRITE = frozenset((sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR))
_DISK_ERRORS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EROFS))

# Each entry brings a database from the version of its place to the next. Never change one that was released.
_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE pages (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, is_text INTEGER NOT NULL, url TEXT, name TEXT NOT NULL,
            charset TEXT, format TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL, blocks INTEGER NOT NULL,
            note TEXT NOT NULL, page_type TEXT, lang TEXT, added TEXT NOT NULL, html BLOB NOT NULL
        ) STRICT""",  # the page itself comes last: SQLite reads all that stands before a column
        """CREATE TABLE segmentations (
            id INTEGER PRIMARY KEY, page INTEGER NOT NULL REFERENCES pages, digest TEXT NOT NULL,
            blocks TEXT NOT NULL, made TEXT NOT NULL, UNIQUE (page, digest)
        ) STRICT""",
        """CREATE TABLE labels (
            page INTEGER NOT NULL REFERENCES pages, annotator TEXT NOT NULL,
            segmentation INTEGER NOT NULL REFERENCES segmentations, ref TEXT NOT NULL,
            kept INTEGER NOT NULL CHECK (kept IN (0, 1)), kind TEXT NOT NULL,
            PRIMARY KEY (page, annotator, segmentation, ref)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX labels_of_block ON labels (page, ref, annotator, kept, kind)",
        """CREATE TABLE events (
            revision INTEGER PRIMARY KEY AUTOINCREMENT, page INTEGER NOT NULL REFERENCES pages,
            annotator TEXT NOT NULL, by TEXT NOT NULL, action TEXT NOT NULL, time TEXT NOT NULL,
            of INTEGER REFERENCES events, changes TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX events_of_page ON events (page, annotator)",
        """CREATE TABLE work (
            page INTEGER NOT NULL REFERENCES pages, annotator TEXT NOT NULL,
            done INTEGER NOT NULL CHECK (done IN (0, 1)), revision INTEGER NOT NULL REFERENCES events,
            PRIMARY KEY (page, annotator)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TRIGGER events_stay BEFORE UPDATE ON events
            BEGIN SELECT RAISE(ABORT, 'the history is never changed'); END""",
        """CREATE TRIGGER events_are_never_lost BEFORE DELETE ON events
            BEGIN SELECT RAISE(ABORT, 'the history is never changed'); END""",
    ),
    ("ALTER TABLE pages ADD COLUMN lines_are_blocks INTEGER NOT NULL DEFAULT 0",),
    ("ALTER TABLE labels ADD COLUMN suggested_by TEXT NOT NULL DEFAULT ''",),
)
VERSION = len(_MIGRATIONS)


def database_path(path: str | Path) -> Path:
    """The database's file: the path itself, or the one in that folder."""
    path = Path(path)
    is_file = path.is_file() or (not path.exists() and path.suffix.lower() in _ENDINGS)
    return path if is_file else path / DATABASE


def is_database(path: str | Path) -> bool:
    """Whether there is an SQLite database at that path, or in that folder."""
    try:
        with database_path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


class Database:
    """An open database of annotations; threads take turns.

    Raises:
        AnnotationError: there is none, or it is damaged, something else, or of a newer version.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        self._turn = threading.RLock()
        if sqlite3.sqlite_version_info < _NEEDED:
            raise AnnotationError(f"this needs SQLite 3.37 or later; Python has {sqlite3.sqlite_version}")
        if not path.is_file() and not create:
            raise AnnotationError(f"{path}: no such database of annotations; make one: mainmatter annotations add")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            kind = CannotStore if error.errno in _DISK_ERRORS else AnnotationError
            raise kind(f"{path.parent}: cannot be made: {error.strerror}") from error
        with self._clear_errors():
            self._connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            with self._clear_errors():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close it."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read view that does not change, whoever writes meanwhile."""
        with self._turn, self._clear_errors():
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A change, whole or not at all; it is on disk when this ends without an error."""
        with self._turn, self._clear_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _prepare(self) -> None:
        """Check that it is ours, and of this version."""
        connection = self._connection
        connection.execute("PRAGMA foreign_keys = ON")
        with self.reading():  # one view: between two looks another process may make the tables
            self._check(connection)
        self._keep_a_log(connection)
        connection.execute("PRAGMA synchronous = FULL")
        if _number(connection, "user_version") < VERSION:
            self._migrate(connection)

    def _check(self, connection: sqlite3.Connection) -> None:
        version, application = (_number(connection, name) for name in ("user_version", "application_id"))
        is_empty = not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
        if application != _APPLICATION and not is_empty:
            raise AnnotationError(f"{self.path}: is an SQLite database, but not one of annotations")
        if version > VERSION:
            raise AnnotationError(
                f"{self.path}: was made by a newer mainmatter (version {version} of its tables, this one knows "
                f"{VERSION}); upgrade: pip install -U mainmatter"
            )

    def _keep_a_log(self, connection: sqlite3.Connection) -> None:
        """Switch to the write-ahead log. This is the one operation for which SQLite does not wait for others."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return

    def _migrate(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for migration in _MIGRATIONS[_number(connection, "user_version") :]:  # another process may have been faster
                for statement in migration:
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _CANNOT_WRITE:  # Python's own errors have no code
                raise CannotStore(f"{self.path}: cannot be written: {error}") from error
            if "locked" in str(error):
                message = f"another process has been writing to it for {_PATIENCE:.0f} s; try again"
            elif "unable to open" in str(error):
                message = "cannot be opened; is it a file that you may write?"
            else:
                message = str(error)[:_LONGEST_MESSAGE]
            raise AnnotationError(f"{self.path}: {message}") from error
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error):
                raise AnnotationError(f"{self.path}: is not a database of annotations") from error
            if "malformed" in str(error):
                raise AnnotationError(f"{self.path}: is damaged; {_RECOVER}") from error
            raise AnnotationError(f"{self.path}: {error}") from error
        except sqlite3.Error as error:  # such as a database that was closed
            raise AnnotationError(f"{self.path}: {error}") from error
        except UnicodeEncodeError as error:
            raise AnnotationError(f"{self.path}: cannot store text with lone surrogates") from error
        except (
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            RecursionError,
        ) as error:  # from code that reads what is stored
            what = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_MESSAGE]
            raise AnnotationError(
                f"{self.path}: contains data that mainmatter did not write ({what}); {_RECOVER}"
            ) from error


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
