"""JSON: metadata, text, and every block with its verdict, so that another program can decide anew."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mainmatter.records import Extraction


def render(extraction: Extraction, *, blocks: bool = True) -> str:
    """The extraction as a JSON object; with `blocks=False` without the blocks."""
    page = extraction.document.page
    content: dict[str, Any] = {
        "id": page.id,
        "url": page.url,
        "method": extraction.method,
        "encoding": extraction.document.encoding,
        "metadata": asdict(extraction.metadata),
        "text": extraction.text,
    }
    if blocks:
        content["blocks"] = _blocks(extraction)
    return json.dumps(content, ensure_ascii=False, indent=1)


def _blocks(extraction: Extraction) -> list[dict[str, Any]]:
    return [
        {
            **asdict(block),
            "kind": kind.value,
            "score": round(float(score), 4),
            "kept": bool(kept),
            "reason": reason,
        }
        for block, kind, score, kept, reason in zip(
            extraction.document.blocks,
            extraction.kinds,
            extraction.scores,
            extraction.kept,
            extraction.reasons,
            strict=True,
        )
    ]
