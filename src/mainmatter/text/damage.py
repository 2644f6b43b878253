"""How much of a text was decoded wrongly, on the way to us or long before: "Ã¤" for "ä", "â€™" for "’", "�".

Told by characters, and by pairs of characters, that people hardly ever write but that come out where bytes are read in
another encoding than they were written in. What comes out as other letters of the same script, as Czech does when
windows-1250 is read as windows-1252, is not told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_SEEN = 2048  # characters of a text: who decodes it wrongly damages all of it
_SPOILED = 6  # characters, a word of usual length, that cannot be read where one is damaged


def _characters(first: int, last: int) -> str:
    return "".join(map(chr, range(first, last + 1)))


_LATIN = _characters(ord("A"), ord("Z")) + _characters(ord("a"), ord("z"))
_ACCENTED = _characters(0xC0, 0xFF)  # of windows-1252
_UPPER, _LOWER = _characters(0x410, 0x42F), _characters(0x430, 0x44F)  # Cyrillic
_BOXES = _characters(0x2500, 0x259F)
_C1_CONTROLS = _characters(0x80, 0x9F)
# What the bytes from 0x80 to 0xBF are, of which most bytes of UTF-8 are. Left out are letters, and what people write
# after letters: quotation marks, dashes, trade marks.
_IN_WINDOWS_1252 = "€‚ƒ†‡ˆ‰‹ŒœŸ˜¡¢£¤¥¦§¨©ª«¬¯°±²³´µ¶¸¹º¼½¾¿" + _C1_CONTROLS
_IN_WINDOWS_1251 = "ЂЃѓ†‡€‰Љ‹ЊЌЋЏђљњќћџЎўЈ¤Ґ¦§©Є¬Ї°±ґµ¶№єјЅѕї"
# Characters that stand side by side in no language: the first ones, the second ones.
_PAIRS = (
    (_ACCENTED, _IN_WINDOWS_1252),  # UTF-8, or an encoding of East Asia, read as windows-1252
    ("РС", _IN_WINDOWS_1251),  # UTF-8 read as windows-1251
    (_LATIN + _BOXES, _UPPER + _LOWER),  # Latin letters read as windows-1251, UTF-8 read as KOI8
    (_UPPER + _LOWER, _LATIN + _BOXES),
    (_LOWER, _UPPER),  # KOI8 read as windows-1251, and the reverse
)
# Damaged, wherever they stand: what could not be decoded, and controls that are letters of other encodings; how kana
# of UTF-8 begin, read as Shift_JIS; how its quotation marks, full stops, commas, and U+FFFD begin, read as GBK.
_DAMAGED = "\ufffd" + _C1_CONTROLS + "縺繧繝" + "鈥銆锛锟"
# Three accented letters in a row are another script, read as windows-1252.
_PAIR_BITS, _DAMAGED_BIT, _ACCENTED_BIT = 0x1F, 0x40, 0x80


def readable_share(texts: Iterable[str]) -> float:
    """Which share of some texts can be read, from 0 to 1, where some of their characters were decoded wrongly.

    It is 1 - 6 d, and no less than 0, where d is the share of damaged characters: one spoils the word that it is in,
    and a word has about six letters. Of long texts the beginning tells.
    """
    return max(0.0, 1 - _SPOILED * damaged_share(" ".join(texts)[:_SEEN]))


def damaged_share(text: str) -> float:
    """Which share of a text's characters was decoded wrongly, from 0 to 1."""
    if text.isascii():
        return 0.0
    signs = _SIGNS.take(np.frombuffer(f" {text}".encode("utf-16-le", "replace"), "<u2"))
    found = signs[:-1] & (signs[1:] >> 8)
    if not found.any():
        return 0.0
    damaged = found & (_PAIR_BITS | _DAMAGED_BIT) != 0
    damaged[:-1] |= found[1:] & _PAIR_BITS != 0
    triples = found[:-1] & found[1:] & _ACCENTED_BIT != 0
    for place in range(3):
        damaged[place : len(triples) + place - 1] |= triples[1:]
    return float(np.count_nonzero(damaged) / len(damaged))


def _make_signs() -> NDArray[np.uint16]:
    """For each character, in the low byte which pairs it may be the first one of, in the high byte the second one."""
    signs = np.full(0x10000, _DAMAGED_BIT, np.uint16)  # what is damaged by itself is so after any other
    kinds = [*((1 << number, *pair) for number, pair in enumerate(_PAIRS))]
    for bit, first, second in [*kinds, (_DAMAGED_BIT, "", _DAMAGED), (_ACCENTED_BIT, _ACCENTED, _ACCENTED)]:
        signs[[*map(ord, first)]] |= bit
        signs[[*map(ord, second)]] |= bit << 8
    return signs


_SIGNS = _make_signs()
