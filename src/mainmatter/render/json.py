"""JSON: metadata, text, and every block with its verdict, so that another program can decide again."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from itertools import islice, repeat
from math import isnan
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.records import Block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mainmatter.records import Extraction

_FIELDS = [field.name for field in fields(Block)]
_facts_of = attrgetter(*_FIELDS)
_AT_ONCE = 64  # blocks: one call of the encoder for several is faster; as dictionaries they take ten times the memory
_BETWEEN = f'}}, {{"{_FIELDS[0]}": '  # two blocks, and nothing else: in texts, quotation marks are escaped
# Without indentation the encoder is written in C, which matters on pages of 100,000 blocks.
_encode = json.JSONEncoder(ensure_ascii=False).encode
_encode_tightly = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def render(extraction: Extraction, *, blocks: bool = True, chunks: int | None = None, overlap: int = 0) -> str:
    """The extraction as a JSON object, each block on a line.

    `comments` is the text of the comments if they are marked, which `text` then does not contain; else it is null.
    A page that shows next to nothing without its scripts has `needs_scripts`, which is true.

    Args:
        extraction: what was decided.
        blocks: include the blocks.
        chunks: include chunks of at most so many tokens. Offsets of comments that are marked are those in
            `Extraction.text`, where they follow the main matter.
        overlap: how many tokens a chunk may repeat from the one before.
    """
    members = [f' "{name}": {_encode(value)}' for name, value in _page(extraction).items()]
    if blocks:
        lines = ",\n  ".join(_block_lines(extraction))
        members.append(f' "blocks": [\n  {lines}\n ]' if lines else ' "blocks": []')
    if chunks is not None:
        lines = ",\n  ".join(_encode(asdict(chunk)) for chunk in extraction.chunks(chunks, overlap))
        members.append(f' "chunks": [\n  {lines}\n ]' if lines else ' "chunks": []')
    return "{\n" + ",\n".join(members) + "\n}"


def render_line(extraction: Extraction, *, blocks: bool = False, chunks: int | None = None, overlap: int = 0) -> str:
    """The same on one line, for JSON Lines; without the blocks unless asked, which are most of it."""
    content = _page(extraction)
    if blocks:
        content["blocks"] = list(_blocks(extraction))
    if chunks is not None:
        content["chunks"] = [asdict(chunk) for chunk in extraction.chunks(chunks, overlap)]
    return _encode_tightly(content)


def render_chunks(extraction: Extraction, max_tokens: int, overlap: int = 0) -> str:
    """JSON Lines: a line for each chunk, with the id and URL of its page and its number on the page."""
    page = extraction.document.page
    return "".join(
        _encode({"id": page.id, "url": page.url, "chunk": number} | asdict(chunk)) + "\n"
        for number, chunk in enumerate(extraction.chunks(max_tokens, overlap))
    )


def _page(extraction: Extraction) -> dict[str, Any]:
    """What there is to say of the page as a whole."""
    is_apart = extraction.marks_comments
    text = extraction.render("text", only="main") if is_apart else extraction.text
    comments = extraction.render("text", only="comment") if is_apart else None
    page = extraction.document.page
    content: dict[str, Any] = {
        "id": page.id,
        "url": page.url,
        "method": extraction.method,
        "encoding": extraction.document.encoding,
        "page_type": extraction.page_type,
        "confidence": None if extraction.confidence is None else round(float(extraction.confidence), 4),
        "threshold": None if extraction.threshold is None else round(float(extraction.threshold), 4),
        "metadata": asdict(extraction.metadata),
        "text": text,
        "comments": comments,
    }
    if extraction.document.needs_scripts:
        content["needs_scripts"] = True
    return content


def _block_lines(extraction: Extraction) -> Iterator[str]:
    """The blocks, each on a line, several lines at a time."""
    between, blocks = _BETWEEN.replace(" ", "\n  ", 1), _blocks(extraction)
    while some := list(islice(blocks, _AT_ONCE)):
        yield _encode(some)[1:-1].replace(_BETWEEN, between)


def _blocks(extraction: Extraction) -> Iterator[dict[str, Any]]:
    dials: Iterable[float | None] = repeat(None, len(extraction.kept))
    if extraction.dials is not None:
        dials = [None if isnan(dial) else dial for dial in np.round(extraction.dials, 4).tolist()]
    for block, kind, score, kept, label, dial, reason in zip(
        extraction.document.blocks,
        extraction.kinds,
        extraction.scores.tolist(),
        extraction.kept.tolist(),
        extraction.labels,
        dials,
        extraction.reasons,
        strict=True,
    ):
        facts: dict[str, Any] = dict(zip(_FIELDS, _facts_of(block), strict=True))
        facts["kind"] = kind.value
        facts["score"] = round(score, 4)
        facts["kept"] = kept
        facts["label"] = label
        facts["kept_from_dial"] = dial
        facts["reason"] = reason
        yield facts
