"""What flows through a corpus run: pages in, rows or rejects out, each with its place in the input."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mainmatter.records import Page

SourceKind = Literal["warc", "wet", "files", "jsonl", "parquet", "urls", "links"]
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of an input that can be read by itself; it can travel as JSON.

    Attributes:
        kind: which reader reads it.
        path: the input's path, any that fsspec knows; for "files" the folder.
        start: where it begins: a byte offset in an archive or a JSONL file, the number of a row in Parquet, of a line
            in a list of URLs, of a file in `files`, or of a link that is not followed. What begins at or after `start`
            and before `end` belongs to it.
        end: where it ends, not included.
        files: for "files": the files of the slice, relative to `path`.
        html_field: for "jsonl" and "parquet": the field or column of the page; "" for one of the names that are known.
        url_field: likewise of its URL.
        id_field: likewise of its id.
    """

    kind: SourceKind
    path: str
    start: int
    end: int
    files: tuple[str, ...] = ()
    html_field: str = ""
    url_field: str = ""
    id_field: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A page of a collection, as it was read.

    Attributes:
        page: the page itself; its `id` names it in the output.
        source: the path of the input that it came from.
        position: where in that input it begins, in the terms of `Slice.start`; reading can go on there.
        time: when it was fetched, as ISO 8601 in UTC, if known.
        headers: the HTTP headers that came with it, names in lower case; empty where there were none.
    """

    page: Page
    source: str
    position: int
    time: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: _NO_HEADERS)


@dataclass(frozen=True, slots=True)
class Reject:
    """A page, or a damaged piece of an input, of which nothing came out.

    Attributes:
        reason: one of a few short words, by which rejects are counted, such as "damaged", "too-large", "not-a-page",
            "empty", "timeout", "out-of-memory", "crashed", "language", "length", "duplicate", "near-duplicate".
        detail: what happened, in a sentence for people.
        source: the path of the input.
        position: where in that input it begins.
        id: the page's id, if that could be told.
        url: the page's URL, if that could be told.
    """

    reason: str
    detail: str
    source: str
    position: int
    id: str | None = None
    url: str | None = None

    @classmethod
    def from_json(cls, line: bytes) -> Self:
        """A reject as it was written, on a line.

        Raises:
            ValueError: it is none.
        """
        try:
            reject = cls(**json.loads(line))
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from error
        texts = (reject.reason, reject.detail, reject.source, reject.id or "", reject.url or "")
        if type(reject.position) is not int or not all(isinstance(text, str) for text in texts):
            raise ValueError("a field is of another type")
        return reject


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record of an archive that is no page and never was one: a request, the archive's description, a DNS answer.

    Or a line of a list that repeats an earlier URL, or a file of a folder that is something else. It is counted by its
    type, and not listed among the rejects.
    """

    type: str
    source: str
    position: int


Read = Record | Reject | Skipped
