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


def count_words(text: str) -> tuple[int, int]:
    """The number of words, and the width of all of them together, in Latin letters."""
    if text.isascii():
        words = text.split()
        return len(words), sum(map(len, words))
    spaced, wide = _WIDE.subn(" ", text)
    spaced, unspaced = _UNSPACED.subn(" ", spaced)
    words = spaced.split()
    count = len(words) + -(-wide // WIDE_PER_WORD) + -(-unspaced // UNSPACED_PER_WORD)
    return count, sum(map(len, words)) + 2 * wide + unspaced
