"""Pages as the database holds them: their bytes as they were, and what is known of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mainmatter.records import Page
from mainmatter.workbench.labels.times import now

if TYPE_CHECKING:
    import sqlite3

    from mainmatter.workbench.labels.records import PageId


def find_page(connection: sqlite3.Connection, page: Page) -> PageId | None:
    """The number of a page with the same bytes and URL; None if there is none."""
    row = connection.execute("SELECT id FROM pages WHERE key = ?", (_key(page),)).fetchone()
    return None if row is None else int(row[0])


def insert_page(
    connection: sqlite3.Connection,
    page: Page,
    blocks: int,
    source: str,
    *,
    name: str | None = None,
    note: str = "",
    page_type: str | None = None,
    lang: str | None = None,
) -> PageId:
    """Add a page that is not there yet; gives its number."""
    data, is_text = _data_of(page), isinstance(page.html, str)
    shown = _printable(name or page.id or page.url) or "page"
    row = data, is_text, _printable(page.url), shown, _printable(page.charset), page.format, page.lines_are_blocks
    told = _printable(note), _printable(page_type), _printable(lang), now()
    cursor = connection.execute(
        "INSERT INTO pages (key, html, is_text, url, name, charset, format, lines_are_blocks, source, digest, "
        "blocks, note, page_type, lang, added) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (_key(page), *row, _printable(source), hashlib.sha256(data).hexdigest(), blocks, *told),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def load_page(connection: sqlite3.Connection, page_id: PageId) -> Page | None:
    """A page as it was added; its `id` is its name. None if there is none."""
    query = "SELECT html, is_text, url, name, charset, format, lines_are_blocks FROM pages WHERE id = ?"
    row = connection.execute(query, (page_id,)).fetchone()
    if row is None:
        return None
    html, is_text, url, name, charset, format_, lines_are_blocks = row
    data = html.decode("utf-8", "surrogatepass") if is_text else html
    return Page(data, url, name, charset, "text" if format_ == "text" else "html", bool(lines_are_blocks))


def _key(page: Page) -> str:
    return f"{hashlib.sha256(_data_of(page)).hexdigest()} {_printable(page.url) or ''}"


def _data_of(page: Page) -> bytes:
    # A page's scripts can hold halves of characters, which UTF-8 has no place for.
    return page.html.encode("utf-8", "surrogatepass") if isinstance(page.html, str) else page.html


def _printable(text: str | None) -> str | None:
    """Text that can be stored; names of files may hold any bytes."""
    return None if text is None else text.encode("utf-8", "replace").decode()
