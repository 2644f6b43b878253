"""Gold standards made by people: labels of blocks, agreement, merging, import and export (FIASCO, section 5)."""

from mainmatter.lab.datasets.labels import Label
from mainmatter.workbench.labels.records import (
    MERGED,
    AnnotationError,
    Conflict,
    Event,
    Labels,
    NoSuchPage,
    PageBlock,
    PageSummary,
    Stale,
)
from mainmatter.workbench.labels.store import Store

__all__ = [
    "MERGED",
    "AnnotationError",
    "Conflict",
    "Event",
    "Label",
    "Labels",
    "NoSuchPage",
    "PageBlock",
    "PageSummary",
    "Stale",
    "Store",
]
