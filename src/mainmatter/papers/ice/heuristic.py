"""`ice-heuristic`: long lines are paragraphs, short lines shortly before them are headings (ICE 3.2, figure 1).

A line is a block. The lines that the paper's program found empty between two texts are the structural tags between
two blocks, which `Block.position` counts. Words of scripts without spaces are estimated (text/tokens.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mainmatter.method import Reasons
from mainmatter.records import Document, Extraction, Kind
from mainmatter.text.tokens import count_words

_TOO_SHORT, _NO_PARAGRAPH_FOLLOWS, _HEADING, _PARAGRAPH = range(4)
_LEGEND = (
    "too few characters to be anything",
    "too short for a paragraph, and none follows for which it could be the heading",
    "short, and a paragraph follows: its heading",
    "many words of some length: a paragraph",
)
_SCORES = np.array([0.0, 0.25, 0.75, 1.0])


@dataclass(frozen=True)
class IceHeuristic:
    """The heuristics that won ICE's comparison: figure 1 of the paper to the letter, with blocks for lines.

    Args:
        min_chars: a line with no more characters than this is nothing.
        min_words: a paragraph has more words than this.
        min_word_length: and its words have more characters than this on average.
        heading_window: fewer empty lines than this may stand between a heading and its paragraph.
    """

    min_chars: int = 3
    min_words: int = 10
    min_word_length: float = 3
    heading_window: int = 3

    name: ClassVar[str] = "ice-heuristic"
    summary: ClassVar[str] = "long lines, and the short line before each as its heading (ICE 3.2, figure 1)"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {}}

    def extract(self, document: Document) -> Extraction:
        """Keep paragraphs and their headings."""
        codes = np.array(self._decide(document.columns.texts, document.columns.positions), np.intp)
        kinds = {_HEADING: Kind.HEADING, _PARAGRAPH: Kind.PARAGRAPH}
        return Extraction(
            document,
            self.name,
            scores=_SCORES[codes],
            kept=codes >= _HEADING,
            kinds=[kinds.get(code, kind) for code, kind in zip(codes.tolist(), document.columns.kinds, strict=True)],
            reasons=Reasons(codes, _LEGEND),
        )

    def _decide(self, texts: list[str], positions: list[int]) -> list[int]:
        """Figure 1. The variables are the paper's."""
        codes = []
        possible_title: int | None = None
        line_counter = 0
        previous_position = 0
        for index, (line, position) in enumerate(zip(texts, positions, strict=True)):
            line_counter += position - previous_position - 1  # the empty lines in between
            previous_position = position
            if len(line) <= self.min_chars:
                codes.append(_TOO_SHORT)
                line_counter += 1
            elif self._is_paragraph(line):
                if possible_title is not None and line_counter < self.heading_window:
                    codes[possible_title] = _HEADING
                possible_title = None
                codes.append(_PARAGRAPH)
            else:
                possible_title = index
                line_counter = 0
                codes.append(_NO_PARAGRAPH_FOLLOWS)
        return codes

    def _is_paragraph(self, line: str) -> bool:
        # So many words of such a width cannot be shorter, with spaces between them; this saves most of the counting.
        # What is not ASCII may be twice as wide as it is long, and have no spaces.
        letters = (self.min_words + 1) * self.min_word_length
        if 2 * len(line) <= letters or (line.isascii() and len(line) < letters + self.min_words):
            return False
        words, width = count_words(line)
        return words > self.min_words and width > self.min_word_length * words
