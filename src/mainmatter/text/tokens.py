"""Cut a text into words, what white space separates, CleanEval's marked tokens, or paragraphs; count its words.

Words are also counted in scripts that put no spaces between them. That takes no dictionary, since it only has to
tell a paragraph from a menu: Han and Kana words have about two characters, which are as wide as two Latin letters each;
Thai, Lao, Khmer and Burmese words have about four.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mainmatter.records import Gold

# Chinese and Japanese put no spaces between words, so each of their characters counts as a word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_ASCII_WORD = re.compile(r"\w+", re.ASCII)

_CONTROL = re.compile("[\x00-\x1f]+")
_MARKER = re.compile("<([hlp])>", re.IGNORECASE)
_URL_LINE = re.compile(r"\A\s*URL.*")

MARKERS = frozenset({"<h>", "<l>", "<p>"})


@cache  # made when needed: ranges as wide as these take milliseconds to compile
def _word() -> re.Pattern[str]:
    return re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")


def words(text: str) -> list[str]:
    """Lower-cased runs of letters, digits and underscores; each Chinese or Japanese character on its own."""
    lowered = text.lower()
    return (_ASCII_WORD if lowered.isascii() else _word()).findall(lowered)


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


@cache
def _wide_character() -> re.Pattern[str]:
    return re.compile(rf"[{_CJK}\U00020000-\U0003ffff]")


_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
WIDE_PER_WORD = 2
UNSPACED_PER_WORD = 4
# With fewer bytes a character in UTF-8, hardly any of a text is in such a script.
_BYTES_PER_CHARACTER = 1.5


def count_words(text: str) -> tuple[int, int]:
    """The number of words of a block, and the width of all of them together, in Latin letters."""
    if len(text.encode("utf-8", "surrogatepass")) < _BYTES_PER_CHARACTER * len(text):
        return count_spaced_words(text)
    spaced, wide = _wide_character().subn(" ", text)
    spaced, unspaced = _UNSPACED.subn(" ", spaced)
    count, width = count_spaced_words(spaced)
    count += -(-wide // WIDE_PER_WORD) + -(-unspaced // UNSPACED_PER_WORD)
    return count, width + 2 * wide + unspaced


def word_count(text: str) -> int:
    """The number of words of a text, whatever its white space: what `count_words` counts once that is collapsed."""
    words = text.split()
    # A word and the space behind it are two characters or more: with so few bytes besides one for each, `count_words`
    # would see fewer than 1.5 bytes a character.
    if len(text.encode("utf-8", "surrogatepass")) - len(text) < len(words):
        return len(words)
    return count_words(" ".join(words))[0]


def count_spaced_words(text: str) -> tuple[int, int]:
    """The number of words of a text, which white space separates, and the number of their characters."""
    if text and "  " not in text and not text[0].isspace() and not text[-1].isspace():
        # The white space of a block is normalised: counting it is faster than splitting at it.
        spaces = text.count(" ") + text.count("\n") + text.count("\t")
        return spaces + 1, len(text) - spaces
    words = text.split()
    return len(words), sum(map(len, words))


_PARAGRAPH_MARKER = re.compile("<[hlp]>", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n")
_WRAPPED_WIDTH = 100  # lines of a text that was wrapped by hand or by a program are shorter than this


def gold_paragraphs(gold: Gold) -> list[str]:
    """The paragraphs of a gold text: by its markup, else its lines, else, if lines are wrapped, by blank lines."""
    if gold.marked is not None:
        pieces = _PARAGRAPH_MARKER.split(gold.marked)
    else:
        text = gold.text or ""
        pieces = _BLANK_LINES.split(text) if _is_wrapped(text) else text.splitlines()
    return [joined for piece in pieces if (joined := " ".join(piece.split()))]


def _is_wrapped(text: str) -> bool:
    """Whether a text's lines are not its paragraphs: no line is long, and most go on in the next."""
    lines = text.splitlines()
    with_text = [line for line in lines if line.strip()]
    if not with_text or max(map(len, with_text)) > _WRAPPED_WIDTH:
        return False
    paragraphs = len([piece for piece in _BLANK_LINES.split(text) if piece.strip()])
    return 1 < paragraphs < len(with_text) / 2
