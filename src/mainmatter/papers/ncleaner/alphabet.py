"""Characters to symbols: a small alphabet for character n-grams that any text of Unicode can be written in.

NCleaner (section 3) keeps to ASCII, turns every other character into a tilde, and calls full Unicode too sparse to
learn from. Here the characters that are frequent in training have symbols of their own. Every other one is folded: into
the character that it is a variant of, if that one has a symbol (é to e, ， to a comma); else into a class of characters
of all scripts, such as capital letters. `copies` says how classes are learned where training has one script only.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Symbols = NDArray[np.uint8]

# The first symbols are no single character. Letters without case count as small ones; marks belong to their letters.
BEGIN, CAPITAL, SMALL, UNSPACED, DIGIT, SPACE, DASH, OPENING, CLOSING, PUNCTUATION, CURRENCY, SIGN, OTHER = range(13)
CLASSES = 13
_UNKNOWN = 255
LARGEST = 254

_BY_CATEGORY = {
    "Lu": CAPITAL, "Lt": CAPITAL, "Ll": SMALL, "Lm": SMALL, "Lo": SMALL, "Mn": SMALL, "Mc": SMALL, "Me": SMALL,
    "Nd": DIGIT, "Nl": DIGIT, "No": DIGIT,
    "Zs": SPACE, "Zl": SPACE, "Zp": SPACE,
    "Pd": DASH, "Ps": OPENING, "Pi": OPENING, "Pe": CLOSING, "Pf": CLOSING, "Po": PUNCTUATION, "Pc": PUNCTUATION,
    "Sc": CURRENCY, "Sm": SIGN, "Sk": SIGN, "So": SIGN,
}  # fmt: skip

# Scripts that put no spaces between words: Thai to Tibetan, Burmese, Khmer, Kana and Bopomofo, Han, Yi.
_UNSPACED_RANGES = (
    (0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x312F), (0x31A0, 0x31FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA000, 0xA4CF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D), (0x20000, 0x3FFFF),
)  # fmt: skip

# Marks of other scripts and typesetters' marks that Unicode does not call variants of the plain ones.
_VARIANTS = {".": "。।॥։۔", ",": "、،՝", ";": "؛", "?": "؟", "'": "‘’‚‛‹›", '"': "“”„‟«»「」『』", "-": "–—―‐‑−"}
_PLAIN = {ord(variant): plain for plain, variants in _VARIANTS.items() for variant in variants}

_UNSPACED_LETTERS_PER_WORD = 3
_LETTERS = frozenset((CAPITAL, SMALL, UNSPACED))
_SHARE_OF_SCRIPT = 0.01  # of all letters, for a script whose letters may have symbols


class Alphabet:
    """The symbols of a text: its frequent characters, and classes for all others.

    Args:
        own: the characters that have a symbol of their own.
        lexical: whether letters and digits may; else all letters are one symbol, and all digits (NCleaner 3).
    """

    def __init__(self, own: Iterable[str], *, lexical: bool = True) -> None:
        self.own = "".join(own)
        self.lexical = lexical
        if len(set(self.own)) != len(self.own) or self.size > LARGEST:
            raise ValueError(f"an alphabet has different characters, at most {LARGEST - CLASSES}")
        if wrong := [char for char in self.own if not _may_own(char, lexical=lexical)]:
            raise ValueError(f"{wrong[0]!r} has no symbol of its own in an alphabet")
        # The symbol of each code point, as far as it was asked for: to ask Unicode for all of them takes a second.
        self._of_point: Symbols = np.full(0x110000, _UNKNOWN, np.uint8)

    @classmethod
    def learn(cls, pages: Iterable[str], *, lexical: bool = True, most: int = 100, share: float = 0.02) -> Alphabet:
        """The alphabet of the characters that are on at least two pages, and on at least a share of all.

        A letter's script must also write a real part of the text. Else the few characters of a foreign one that menus
        of languages show on many pages, such as 中, would have symbols of their own, and boilerplate's odds with them,
        in all texts of that script.

        Args:
            pages: the texts.
            lexical: whether letters and digits have symbols of their own.
            most: how many characters have one, at most.
            share: of the pages.
        """
        on_pages: Counter[str] = Counter()
        in_all: Counter[str] = Counter()
        count = 0
        for count, page in enumerate(pages, 1):  # noqa: B007 - the last one is how many there are
            counted = Counter(page)
            on_pages.update(counted.keys())
            in_all.update(counted)
        least = max(2 if count > 1 else 1, share * count)
        scripts = _scripts_in_use(in_all)
        own = [
            char
            for char in sorted(on_pages, key=lambda char: (-on_pages[char], char))
            if on_pages[char] >= least
            and _may_own(char, lexical=lexical)
            and (_class_of(char) not in _LETTERS or _script(char) in scripts)
        ]
        return cls(sorted(own[:most]), lexical=lexical)

    @property
    def size(self) -> int:
        """How many symbols there are; `BEGIN`, which stands before a text, is one of them."""
        return CLASSES + len(self.own)

    def encode(self, text: str) -> Symbols:
        """The symbol of each character."""
        if text.isascii():
            return np.frombuffer(text.encode("ascii").translate(self._of_ascii), np.uint8)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        symbols: Symbols = self._of_point.take(points)
        unknown = symbols == _UNKNOWN
        if unknown.any():
            self._learn_points(np.unique(points[unknown]))
            symbols = self._of_point.take(points)
        return symbols

    def copies(self, symbols: Symbols) -> list[Symbols]:
        """The same text as other scripts would write it, so that the classes of letters are learned too.

        A script that is not in the training data is nothing but small and capital letters. One without spaces has
        about two characters for a word; so each third letter of a word is taken, and no space.
        """
        classes = self._class_of_symbol[symbols]
        is_letter = (classes == CAPITAL) | (classes == SMALL)
        before = np.concatenate(([False], is_letter[:-1]))
        starts = np.where(is_letter & ~before, np.arange(len(symbols)), 0)
        in_word = np.arange(len(symbols)) - np.maximum.accumulate(starts) if len(symbols) else starts
        stays = np.where(is_letter, in_word % _UNSPACED_LETTERS_PER_WORD == 0, classes != SPACE)
        unspaced = np.where(is_letter, np.uint8(UNSPACED), symbols)[stays]
        return [np.where(is_letter, classes, symbols), unspaced] if self.lexical else [unspaced]

    def _symbol(self, char: str) -> int:
        found = self._symbol_of.get(char)
        if found is not None:
            return found
        kind = _class_of(char)
        if not self.lexical and kind in (CAPITAL, SMALL):
            return SMALL
        for variant in (char.translate(_PLAIN), unicodedata.normalize("NFKD", char)[0].translate(_PLAIN)):
            # A small é may be an e, and a full-width comma a comma, but "№" is no N.
            if variant in self._symbol_of and (_class_of(variant) == kind or kind != SIGN):
                return self._symbol_of[variant]
        return kind

    @cached_property
    def _symbol_of(self) -> dict[str, int]:
        return {"\0": BEGIN} | {char: number for number, char in enumerate(self.own, CLASSES)}

    @cached_property
    def _of_ascii(self) -> bytes:
        return bytes(self._symbol(chr(point)) for point in range(128)) + bytes([OTHER]) * 128

    def _learn_points(self, points: NDArray[np.uint32]) -> None:
        # Threads that do this at the same time write the same.
        self._of_point[points] = [self._symbol(chr(point)) for point in points.tolist()]

    @cached_property
    def _class_of_symbol(self) -> Symbols:
        return np.array([*range(CLASSES), *map(_class_of, self.own)], np.uint8)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Alphabet, lexical=self.lexical), (self.own,)  # the tables are made again


def _may_own(char: str, *, lexical: bool) -> bool:
    """Control characters and white space are the same everywhere; letters and digits only where words may matter."""
    kind = _class_of(char)
    return kind not in (SPACE, OTHER) and (lexical or kind not in (CAPITAL, SMALL, UNSPACED, DIGIT))


def _scripts_in_use(counted: Counter[str]) -> set[str]:
    """The scripts that write a real part of a text, by how often each character occurs in it."""
    letters: Counter[str] = Counter()
    for char, count in counted.items():
        if _class_of(char) in _LETTERS:
            letters[_script(char)] += count
    return {script for script, count in letters.items() if count >= _SHARE_OF_SCRIPT * letters.total()}


def _script(char: str) -> str:
    """The script of a letter, such as "LATIN": the first word of the name of the letter that it is a variant of."""
    return unicodedata.name(unicodedata.normalize("NFKD", char)[0], "").partition(" ")[0]


def _class_of(char: str) -> int:
    point = ord(char)
    if char.isspace():
        return SPACE
    kind = _BY_CATEGORY.get(unicodedata.category(char), OTHER)
    if kind in (CAPITAL, SMALL) and any(first <= point <= last for first, last in _UNSPACED_RANGES):
        return UNSPACED
    return kind
