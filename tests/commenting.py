"""A method with all that users can control, which tells comments, captions and so on by the words they begin with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mainmatter.main.choice import Comments, Controls, apply_controls, check_controls
from mainmatter.main.reasons import ControlReasons
from mainmatter.method import Reasons
from mainmatter.records import BYLINE, CAPTION, COMMENT, HEADLINE, LABELS, Document, Extraction
from mainmatter.registry import METHODS

if TYPE_CHECKING:
    import pytest

PAGE = """<html lang=en><title>Kites</title><body><nav><a href=/>menu</a></nav><article><h1>How to fly a kite</h1>
<p>Go where the <a href=/wind>wind</a> is.</p><table><tr><td>string<td>wood</table><pre>run(fast)</pre>
<figure><figcaption>A kite, seen from below</figcaption></figure></article>
<div><h3>Comment by Bo</h3><ul><li>Comment: mine sank.<li>Comment: mine too.</ul></div>
<p>Then let go of it.</p></body>"""
MAIN = "How to fly a kite\n\nGo where the wind is.\n\nstring\twood\n\nrun(fast)\n\nA kite, seen from below"
END = "Then let go of it."
COMMENTS = "Comment by Bo\n\nComment: mine sank.\nComment: mine too."


@dataclass(frozen=True)
class Commenting:
    """Keep what has no fewer characters than the dial says; "Comment" begins a comment, "menu" is never kept."""

    dial: float = 0.5
    comments: Comments = "drop"
    headline: bool = True
    bylines: bool = False
    captions: bool = True
    headings: bool = True
    tables: bool = True
    code: bool = True

    name: ClassVar[str] = "commenting"
    summary: ClassVar[str] = "what begins with Comment is a comment"

    def __post_init__(self) -> None:
        check_controls(self.name, dial=self.dial, comments=self.comments)

    def extract(self, document: Document) -> Extraction:
        texts, kinds = document.columns.texts, document.columns.kinds
        scores = np.array([min(1.0, len(text) / 20) for text in texts], np.float64)
        labels = np.array([self._label(text) for text in texts], np.intp)
        judged = np.array([text != "menu" for text in texts], np.bool_) & (scores >= (1 - self.dial) / 2)
        kept = apply_controls(judged, kinds, labels, Controls.of(self))
        reasons = Reasons(judged.astype(np.intp), ("a menu, or short", "text"))
        return Extraction(
            document,
            self.name,
            scores,
            kept,
            kinds,
            ControlReasons(reasons, judged, kept, kinds, labels, Controls.of(self)),
            page_type="article",
            confidence=0.875,
            found_labels=labels,
            marks_comments=self.comments == "mark",
        )

    @staticmethod
    def _label(text: str) -> int:
        for start, label in (("How to", HEADLINE), ("By ", BYLINE), ("A kite, seen", CAPTION), ("Comment", COMMENT)):
            if text.startswith(start):
                return label
        return LABELS.index("main")


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the registry know the method, until the test is over."""
    monkeypatch.setitem(METHODS, "commenting", "commenting:Commenting")
