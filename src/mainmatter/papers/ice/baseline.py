"""`ice-baseline`: all text of the page, every block a paragraph (ICE 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mainmatter.method import Reasons
from mainmatter.records import Document, Extraction, Kind


@dataclass(frozen=True)
class IceBaseline:
    """Keep everything: the baseline that any method must beat."""

    name: ClassVar[str] = "ice-baseline"
    summary: ClassVar[str] = "all text of the page, every block a paragraph (ICE 3.1)"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {}}

    def extract(self, document: Document) -> Extraction:
        """Keep every block."""
        count = len(document)
        return Extraction(
            document,
            self.name,
            scores=np.ones(count),
            kept=np.ones(count, np.bool_),
            kinds=[Kind.PARAGRAPH] * count,
            reasons=Reasons(np.zeros(count, np.intp), ("the baseline keeps all text",)),
        )
