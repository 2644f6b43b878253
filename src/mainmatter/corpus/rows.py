"""A cleaned page to a row of the corpus: all that is known of it, by name and in a fixed order."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mainmatter.corpus.language import identify
from mainmatter.text.words import count_words

if TYPE_CHECKING:
    from mainmatter.corpus.records import Record
    from mainmatter.records import Extraction

Row = tuple[Any, ...]

COLUMNS = (
    "id",
    "url",
    "time",
    "text",
    "title",
    "author",
    "date",
    "site",
    "description",
    "language",
    "language_score",
    "page_type",
    "confidence",
    "words",
    "method",
    "version",
    "source",
    "position",
)
BLOCKS = "blocks"
_DIGITS = 4  # of scores; more depend on how the processor adds


def column_names(*, blocks: bool = False) -> tuple[str, ...]:
    """The names of the columns, in their order."""
    return (*COLUMNS, BLOCKS) if blocks else COLUMNS


def make_row(record: Record, extraction: Extraction) -> dict[str, Any]:
    """All that is known of a page; its values are in the order of `COLUMNS`."""
    page, metadata, text = record.page, extraction.metadata, extraction.text
    identified = identify(text)
    confidence = extraction.confidence
    return {
        "id": page.id or f"{record.source}#{record.position}",
        "url": page.url or metadata.url,
        "time": record.time,
        "text": text,
        "title": metadata.title,
        "author": metadata.author,
        "date": metadata.date,
        "site": metadata.site,
        "description": metadata.description,
        "language": identified.language,
        "language_score": identified.score,
        "page_type": extraction.page_type,
        "confidence": None if confidence is None else round(float(confidence), _DIGITS),
        "words": count_words(" ".join(text.split()))[0],
        "method": extraction.method,
        "version": mainmatter_version(),
        "source": record.source,
        "position": record.position,
    }


def make_blocks(extraction: Extraction) -> list[dict[str, Any]]:
    """The blocks of a page, dropped ones too: text, kind, label and score of each."""
    return [
        {"text": text, "kind": kind.value, "label": label, "score": round(score, _DIGITS)}
        for text, kind, label, score in zip(
            extraction.document.texts, extraction.kinds, extraction.labels, extraction.scores.tolist(), strict=True
        )
    ]


@cache
def mainmatter_version() -> str:
    """Of the installed package."""
    return version("mainmatter")
