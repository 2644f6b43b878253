"""What the other families share: three ways to cut a text into tokens, and precision, recall and F1."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Chinese and Japanese put no spaces between words, so each of their characters counts as a word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)

_CONTROL = re.compile("[\x00-\x1f]+")
_MARKER = re.compile("<([hlp])>", re.IGNORECASE)
_URL_LINE = re.compile(r"\A\s*URL.*")

MARKERS = frozenset({"<h>", "<l>", "<p>"})


def words(text: str) -> list[str]:
    """Lower-cased runs of letters, digits and underscores; each Chinese or Japanese character on its own."""
    lowered = text.lower()
    return (_ASCII_WORD if lowered.isascii() else _WORD).findall(lowered)


def tokens(text: str) -> list[str]:
    """What white space and control characters separate; case and punctuation stay (NCleaner, section 4)."""
    return _CONTROL.sub(" ", text).split()


def marked_tokens(text: str) -> list[str]:
    """Tokens of a text with CleanEval markup, where each `<h>`, `<p>`, `<l>` is a token, in lower case.

    As cleaneval.py v1.0 (Evert 2008) does it, which made the tables of the NCleaner paper: a first line "URL:
    ..." of a gold standard file is dropped, and a marker is a token even where no space stands around it.
    """
    spaced = _MARKER.sub(lambda marker: f" <{marker[1].lower()}> ", _URL_LINE.sub("", text))
    return tokens(spaced)


def without_markers(marked: list[str]) -> list[str]:
    """The tokens that are not CleanEval markers."""
    return [token for token in marked if token not in MARKERS]


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and their harmonic mean, each from 0 to 1."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def from_counts(cls, matched: float, extracted: float, gold: float) -> Score:
        """Score `matched` items among those extracted and those of the gold standard.

        Nothing extracted where nothing was to be found is right (1); if only one side is empty, all is wrong
        (0).
        """
        if not extracted and not gold:
            return cls(1.0, 1.0, 1.0)
        precision = matched / extracted if extracted else 0.0
        recall = matched / gold if gold else 0.0
        return cls(precision, recall, 2 * matched / (extracted + gold))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items two texts share, and how many each has; counts of pages add up to micro averages."""

    matched: int
    extracted: int
    gold: int

    @property
    def score(self) -> Score:
        """Precision, recall and F1."""
        return Score.from_counts(self.matched, self.extracted, self.gold)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.matched + other.matched, self.extracted + other.extracted, self.gold + other.gold)
