"""How many words a text has, also where the script puts no spaces between them.

Nobody needs a dictionary to tell a paragraph from a menu. Han and Kana words have about two characters, which are as
wide as two Latin letters each; Thai, Lao, Khmer and Burmese words have about four.
"""

from __future__ import annotations

import re

_WIDE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
WIDE_PER_WORD = 2
UNSPACED_PER_WORD = 4


# With fewer bytes a character in UTF-8, hardly any of a text is in such a script.
_BYTES_PER_CHARACTER = 1.5


def count_words(text: str) -> tuple[int, int]:
    """The number of words of a block, and the width of all of them together, in Latin letters."""
    if len(text.encode("utf-8", "surrogatepass")) < _BYTES_PER_CHARACTER * len(text):
        return _count_spaced(text)
    spaced, wide = _WIDE.subn(" ", text)
    spaced, unspaced = _UNSPACED.subn(" ", spaced)
    words, width = _count_spaced(spaced)
    words += -(-wide // WIDE_PER_WORD) + -(-unspaced // UNSPACED_PER_WORD)
    return words, width + 2 * wide + unspaced


def _count_spaced(text: str) -> tuple[int, int]:
    if text and "  " not in text and not text[0].isspace() and not text[-1].isspace():
        # The white space of a block is normalised: counting it is faster than splitting at it.
        spaces = text.count(" ") + text.count("\n") + text.count("\t")
        return spaces + 1, len(text) - spaces
    words = text.split()
    return len(words), sum(map(len, words))
