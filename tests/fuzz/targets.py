"""All targets, by name; each is set up in an empty folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.agents import mcp_lines
from fuzz.annotations import databases, gold_standards, store_rows
from fuzz.archives import archives, jsonl, lists, parquet, records, rows
from fuzz.corpora import corpora
from fuzz.depth import depth
from fuzz.models import arrays, descriptions, methods
from fuzz.pages import pages, strings
from fuzz.requests import bodies, heads, requests

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fuzz.target import Target

TARGETS: dict[str, Callable[[Path], Target]] = {
    "pages": pages,
    "strings": strings,
    "depth": depth,
    "descriptions": descriptions,
    "arrays": arrays,
    "methods": methods,
    "databases": databases,
    "store-rows": store_rows,
    "gold-standards": gold_standards,
    "corpora": corpora,
    "archives": archives,
    "records": records,
    "jsonl": jsonl,
    "rows": rows,
    "parquet": parquet,
    "lists": lists,
    "requests": requests,
    "heads": heads,
    "bodies": bodies,
    "mcp-lines": mcp_lines,
}
# What users name: the targets that belong to it.
GROUPS = {
    "pages": ("pages", "strings", "depth"),
    "models": ("descriptions", "arrays", "methods"),
    "annotations": ("databases", "store-rows", "gold-standards"),
    "corpora": ("corpora",),
    "archives": ("archives", "records", "jsonl", "rows", "parquet", "lists"),
    "requests": ("requests", "heads", "bodies", "mcp-lines"),
}
