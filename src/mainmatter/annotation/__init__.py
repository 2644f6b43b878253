"""Gold standards made by people: labels of blocks, agreement, merging, import and export (FIASCO, section 5)."""

from mainmatter.annotation.records import (
    MERGED,
    AnnotationError,
    Conflict,
    Event,
    Label,
    LabelledText,
    Labels,
    NoSuchPage,
    PageBlock,
    PageSummary,
    Stale,
)
from mainmatter.annotation.store import Store

__all__ = [
    "MERGED",
    "AnnotationError",
    "Conflict",
    "Event",
    "Label",
    "LabelledText",
    "Labels",
    "NoSuchPage",
    "PageBlock",
    "PageSummary",
    "Stale",
    "Store",
]
