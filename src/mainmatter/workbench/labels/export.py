"""Annotations to gold standards that `mainmatter train` and `mainmatter evaluate` read, with all their labels.

a folder    html/NAME.html (NAME.txt for a plain-text dump), gold/NAME.txt in CleanEval's markup after a line with the
            URL, and index.json with what else is known: page_type, lang, lines_are_blocks, annotator, and the label of
            each block
Parquet     the same as columns: id, url, html, gold, gold_marked, lang, page_type, charset, format,
            lines_are_blocks, annotator, labels
"""

from __future__ import annotations

import json
import os
import shutil
from io import BytesIO
from typing import TYPE_CHECKING, Any

from mainmatter.errors import MissingExtra
from mainmatter.files import write_whole
from mainmatter.workbench.labels.records import AnnotationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mainmatter.records import Page
    from mainmatter.workbench.labels.gold import Collected

PARQUET = ".parquet"
_PAGES, _GOLDS, _INDEX = "html", "gold", "index.json"
_ROWS_IN_GROUP = 64


def export(pages: Sequence[Collected], target: Path) -> None:
    """Write a gold standard, whole or not at all; one that was exported there before is replaced.

    Args:
        pages: the pages, as `annotation.gold.collect` gives them.
        target: a file that ends in .parquet, or a folder.

    Raises:
        AnnotationError: there is no page, or the target holds something else.
        MissingExtra: Parquet needs pyarrow.
        OSError: it cannot be written.
    """
    if not pages:
        raise AnnotationError("no page to export; pages that are not done, or not merged, are exported with --all")
    if target.suffix.lower() == PARQUET:
        write_whole(target, _to_parquet(pages))
    else:
        _write_folder(pages, target)


def may_be_written(target: Path) -> bool:
    """Whether a folder is free: it does not exist, is empty, or holds an earlier export and nothing else."""
    if target.suffix.lower() == PARQUET:
        return not target.is_dir()
    if not target.exists():
        return True
    return target.is_dir() and {path.name for path in target.iterdir()} in (set(), {_PAGES, _GOLDS, _INDEX})


def _write_folder(pages: Sequence[Collected], target: Path) -> None:
    if not may_be_written(target):
        raise AnnotationError(f"{target}: holds something other than an export; choose another folder")
    target = target.resolve()
    draft, old = (target.with_name(f".{target.name}.{os.getpid()}{ending}") for ending in ("", ".old"))
    try:
        for name in (_PAGES, _GOLDS):
            (draft / name).mkdir(parents=True)
        for page in pages:
            _write_page(page, draft)
        index = {page.gold_page.page.id: _facts(page) for page in pages}
        (draft / _INDEX).write_text(json.dumps(index, indent=1) + "\n", "utf-8")
        if target.exists():
            target.rename(old)
        draft.rename(target)
    except OSError:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _write_page(collected: Collected, folder: Path) -> None:
    page, gold = collected.gold_page.page, collected.gold_page.gold
    ending = ".txt" if page.format == "text" else ".html"
    (folder / _PAGES / f"{page.id}{ending}").write_bytes(_bytes_of(page))
    first_line = f"URL: {page.url}\n" if page.url and not page.url.split()[1:] else ""
    (folder / _GOLDS / f"{page.id}.txt").write_bytes(f"{first_line}{gold.marked}".encode("utf-8", "replace"))


def _facts(collected: Collected) -> dict[str, Any]:
    """What the index says about a page."""
    page = collected.gold_page.page
    facts: dict[str, Any] = {
        "url": page.url,
        **collected.gold_page.groups,
        "charset": _charset_of(page),
        "format": page.format,
        "lines_are_blocks": page.lines_are_blocks,
        "annotator": collected.annotator,
    }
    return {name: value for name, value in facts.items() if value} | {"labels": _labels(collected)}


def _labels(collected: Collected) -> list[dict[str, Any]]:
    return [
        {"ref": label.ref, "text": _writable(label.text), "kept": label.kept, "kind": label.kind}
        for label in collected.gold_page.labels or ()
    ]


def _to_parquet(pages: Sequence[Collected]) -> bytes:
    try:
        import pyarrow as arrow  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("pyarrow", "eval") from error
    text = arrow.string()
    label = arrow.struct([("ref", text), ("text", text), ("kept", arrow.bool_()), ("kind", text)])
    types = {"html": arrow.binary(), "lines_are_blocks": arrow.bool_(), "labels": arrow.list_(label)}
    rows = [_row(page) for page in pages]
    schema = arrow.schema([(name, types.get(name, text)) for name in rows[0]])
    file = BytesIO()
    table = arrow.Table.from_pylist(rows, schema=schema)
    parquet.write_table(table, file, row_group_size=_ROWS_IN_GROUP, compression="zstd")
    return file.getvalue()


def _row(collected: Collected) -> dict[str, Any]:
    page, gold, groups = collected.gold_page.page, collected.gold_page.gold, collected.gold_page.groups
    return {
        "id": page.id,
        "url": page.url,
        "html": _bytes_of(page),
        "gold": _writable(gold.text or ""),
        "gold_marked": _writable(gold.marked or ""),
        "lang": groups.get("lang"),
        "page_type": groups.get("page_type"),
        "charset": _charset_of(page),
        "format": page.format,
        "lines_are_blocks": page.lines_are_blocks,
        "annotator": collected.annotator,
        "labels": _labels(collected),
    }


def _bytes_of(page: Page) -> bytes:
    return page.html if isinstance(page.html, bytes) else page.html.encode("utf-8", "replace")


def _charset_of(page: Page) -> str | None:
    """How the bytes are to be read: as the server said, or as they are written here."""
    return page.charset if isinstance(page.html, bytes) else "utf-8"


def _writable(text: str) -> str:
    """The same without halves of characters, which a page's scripts can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
