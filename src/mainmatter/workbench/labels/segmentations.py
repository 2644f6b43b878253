"""A page as it is segmented now, and as it was when it was labelled."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.lab.datasets.labels import Referred, make_references
from mainmatter.workbench.labels.times import now

if TYPE_CHECKING:
    import sqlite3

    from mainmatter.records import Document
    from mainmatter.workbench.labels.records import PageId


@dataclass(frozen=True, slots=True)
class Segmented:
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


def segmented(document: Document) -> Segmented:
    """Give the blocks of a document their references."""
    texts, kinds = document.columns.texts, document.columns.kinds
    refs = make_references(texts)
    digest = hashlib.sha256()
    for ref, kind in zip(refs, kinds, strict=True):
        digest.update(f"{ref} {kind}\n".encode())
    return Segmented(document, Referred(refs, texts), {ref: i for i, ref in enumerate(refs)}, digest.hexdigest())


def save_segmentation(connection: sqlite3.Connection, page_id: PageId, one: Segmented) -> int:
    """Keep the blocks of a page as they are segmented now, once; gives the number of that segmentation."""
    known = find_segmentation(connection, page_id, one.digest)
    if known is not None:
        return known
    refs = one.blocks.refs
    blocks = [
        (ref, block.text, block.kind.value, block.xpath) for ref, block in zip(refs, one.document.blocks, strict=True)
    ]
    # ASCII: a page's text can hold halves of characters, which SQLite refuses.
    row = page_id, one.digest, json.dumps(blocks, separators=(",", ":")), now()
    cursor = connection.execute("INSERT INTO segmentations (page, digest, blocks, made) VALUES (?, ?, ?, ?)", row)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def find_segmentation(connection: sqlite3.Connection, page_id: PageId, digest: str) -> int | None:
    """The number of a segmentation of a page, if it was kept."""
    query = "SELECT id FROM segmentations WHERE page = ? AND digest = ?"
    row = connection.execute(query, (page_id, digest)).fetchone()
    return None if row is None else int(row[0])


def load_segmentation(connection: sqlite3.Connection, number: int) -> Referred:
    """The blocks of a segmentation that was kept."""
    blocks = json.loads(connection.execute("SELECT blocks FROM segmentations WHERE id = ?", (number,)).fetchone()[0])
    return Referred([block[0] for block in blocks], [block[1] for block in blocks])
