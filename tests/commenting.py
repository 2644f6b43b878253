"""A method with all that users can control, which tells comments and page types by what the page itself says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mainmatter.main.choice import Comments, apply_controls, check_controls
from mainmatter.main.reasons import ControlReasons
from mainmatter.method import Reasons
from mainmatter.records import Document, Extraction
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
    headings: bool = True
    tables: bool = True
    captions: bool = True
    code: bool = True

    name: ClassVar[str] = "commenting"
    summary: ClassVar[str] = "what begins with Comment is a comment"

    def __post_init__(self) -> None:
        check_controls(self.name, dial=self.dial, comments=self.comments)

    def extract(self, document: Document) -> Extraction:
        texts, kinds = document.columns.texts, document.columns.kinds
        scores = np.array([min(1.0, len(text) / 20) for text in texts], np.float64)
        is_comment = np.array([text.startswith("Comment") for text in texts], np.bool_)
        judged = np.array([text != "menu" for text in texts], np.bool_) & (scores >= (1 - self.dial) / 2)
        kept = apply_controls(
            judged,
            kinds,
            is_comment,
            comments=self.comments,
            headings=self.headings,
            tables=self.tables,
            captions=self.captions,
            code=self.code,
        )
        reasons = Reasons(judged.astype(np.intp), ("a menu, or short", "text"))
        return Extraction(
            document,
            self.name,
            scores,
            kept,
            kinds,
            ControlReasons(reasons, judged, kept, kinds, is_comment, comments=self.comments),
            page_type="article",
            confidence=0.875,
            is_comment=is_comment,
            marks_comments=self.comments == "mark",
        )


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the registry know the method, until the test is over."""
    monkeypatch.setitem(METHODS, "commenting", "commenting:Commenting")
