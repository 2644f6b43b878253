"""Three ways to cut a text into tokens: words, what white space separates, and CleanEval's marked text."""

from __future__ import annotations

import re

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
