"""`ice-heuristic`: long lines are paragraphs, short lines shortly before them are headings (ICE 3.2, figure 1).

By default a line is a block. The lines that the paper's program found empty between two texts are the structural tags
between two blocks, which `Block.position` counts. Words of scripts without spaces are estimated (text/tokens.py). With
`lines="source"` lines are those of the HTML without its tags, as in the paper, and a block is what most of its
characters are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from mainmatter.errors import InputError
from mainmatter.method import Reasons
from mainmatter.papers.ice.source import Source
from mainmatter.records import Document, Extraction, Kind
from mainmatter.text.tokens import count_spaced_words, count_words

_TOO_SHORT, _NO_PARAGRAPH_FOLLOWS, _HEADING, _PARAGRAPH = range(4)
_LEGEND = (
    "too few characters to be anything",
    "too short for a paragraph, and none follows for which it could be the heading",
    "short, and a paragraph follows: its heading",
    "many words of some length: a paragraph",
)
_SCORES = np.array([0.0, 0.25, 0.75, 1.0])
_MOST = 0.5  # of a block's characters, more than this share decides

Lines = Literal["blocks", "source"]


@dataclass(frozen=True)
class IceHeuristic:
    """The heuristics that won ICE's comparison: figure 1 of the paper to the letter.

    Args:
        min_chars: a line with no more characters than this is nothing.
        min_words: a paragraph has more words than this.
        min_word_length: and its words have more characters than this on average.
        heading_window: fewer empty lines than this may stand between a heading and its paragraph.
        lines: "blocks", or "source" for the lines of the HTML without its tags; a block is then kept if more than half
            of its characters stand in lines that are.
        estimate_words: scripts without spaces have words too; if False, a word is what white space separates.
    """

    min_chars: int = 3
    min_words: int = 10
    min_word_length: float = 3
    heading_window: int = 3
    lines: Lines = "blocks"
    estimate_words: bool = True

    name: ClassVar[str] = "ice-heuristic"
    summary: ClassVar[str] = "long lines, and the short line before each as its heading (ICE 3.2, figure 1)"
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {"lines": "source", "estimate_words": False}}

    def __post_init__(self) -> None:
        if self.lines not in ("blocks", "source"):
            raise InputError(f"ice-heuristic: lines must be blocks or source, not {self.lines!r}")

    def extract(self, document: Document) -> Extraction:
        """Keep paragraphs and their headings."""
        decide = self._decide_by_source if self.lines == "source" else self._decide_by_blocks
        codes = np.array(decide(document), np.intp)
        kinds = {_HEADING: Kind.HEADING, _PARAGRAPH: Kind.PARAGRAPH}
        return Extraction(
            document,
            self.name,
            scores=_SCORES[codes],
            kept=codes >= _HEADING,
            kinds=[kinds.get(code, kind) for code, kind in zip(codes.tolist(), document.columns.kinds, strict=True)],
            reasons=Reasons(codes, _LEGEND),
        )

    def _decide_by_blocks(self, document: Document) -> list[int]:
        return self._decide(document.columns.texts, document.columns.positions)

    def _decide_by_source(self, document: Document) -> list[int]:
        """What most characters of each block are, by the lines of the HTML that they stand in (section 3.2)."""
        source = Source.of(document)
        lines = [(number, line) for number, line in enumerate(source.lines()) if line.text]
        codes = self._decide([line.text for _, line in lines], [number for number, _ in lines])
        spans = {
            wanted: [
                span for code, (_, line) in zip(codes, lines, strict=True) if code == wanted for span in line.spans
            ]
            for wanted in (_HEADING, _PARAGRAPH)
        }
        headings, paragraphs = (source.shares(each, document) for each in spans.values())
        found = []
        for text, heading, paragraph in zip(document.columns.texts, headings, paragraphs, strict=True):
            if heading + paragraph > _MOST:
                found.append(_HEADING if heading > paragraph else _PARAGRAPH)
            else:
                found.append(_TOO_SHORT if len(text) <= self.min_chars else _NO_PARAGRAPH_FOLLOWS)
        return found

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
        words, width = count_words(line) if self.estimate_words else count_spaced_words(line)
        return words > self.min_words and width > self.min_word_length * words
