"""Character n-gram models with geometric interpolation (NCleaner, section 3, equation 1), on arrays of symbols.

    Pr(c | h) = (1 - q) / (1 - q^n) * (Pr(c | n-1 symbols of history) + q Pr(c | n-2) + ... + q^(n-1) Pr(c))

Each Pr on the right is a relative frequency; that of single symbols, Pr(c), counts one more of each symbol. The paper
does not say what Pr(c | h) is after a history h that training has never seen. Here it is then that of the history
without its first symbol, so that probabilities always add up to 1.

Symbols: the paper keeps to ASCII, turns every other character into a tilde, and calls full Unicode too sparse to learn
from: `AsciiAlphabet` does so. In an `Alphabet`, which is the default, the characters that are frequent in training have
symbols of their own. Every other one is folded: into the character that it is a variant of, if that one has a symbol (é
to e, ， to a comma); else into a class of characters of all scripts, such as capital letters. `Alphabet.copies` says
how classes are learned where training has one script only.

Texts are written one after the other, with `BEGIN` in between, so that no history crosses from one text to the next. An
n-gram is a number to the base of the alphabet's size. As every symbol has exactly one n-gram, whose history may
hold `BEGIN`, the counts of n-grams tell those of all shorter ones.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Symbols = NDArray[np.uint8]

    Ints = NDArray[np.int64]

    Floats = NDArray[np.float64]


# Characters to symbols

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
            new = np.unique(points[unknown])
            self._of_point[new] = [self._symbol(chr(point)) for point in new.tolist()]  # the same in all threads
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

    @cached_property
    def _class_of_symbol(self) -> Symbols:
        return np.array([*range(CLASSES), *map(_class_of, self.own)], np.uint8)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), lexical=self.lexical), (self.own,)  # the tables are made again


class AsciiAlphabet(Alphabet):
    """The paper's symbols (NCleaner 3): the printable characters of ASCII, with a tilde for every other character.

    Args:
        own: no characters: these symbols are fixed.
        lexical: whether letters and digits are told apart; else all letters are an "a", and all digits a "0".
    """

    def __init__(self, own: str = "", *, lexical: bool = True) -> None:
        if own:
            raise ValueError(f"{own[0]!r} has no symbol of its own: an ASCII alphabet learns none")
        super().__init__(own, lexical=lexical)

    @property
    def size(self) -> int:
        """The printable characters, and `BEGIN`."""
        return ord("~") - ord(" ") + 2

    def copies(self, symbols: Symbols) -> list[Symbols]:  # noqa: ARG002 - whatever they are
        """None: all letters of other scripts are the same tilde."""
        return []

    def _symbol(self, char: str) -> int:
        if char == "\0":
            return BEGIN
        if not char.isascii() or (char < " " and not char.isspace()):
            char = "~"  # the other characters that do not print are no text either, and rare
        elif char.isspace():
            char = " "
        elif not self.lexical and char.isalnum():
            char = "a" if char.isalpha() else "0"
        return min(ord(char), ord("~")) - ord(" ") + 1


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


# N-grams of symbols

# With more n-grams than this, log odds are looked up one by one and not kept in a table: 8 MB of 32-bit numbers.
LARGEST_TABLE = 1 << 21
# Symbols that are looked up at once: their numbers stay in the processor's cache, and memory does not grow with them.
_AT_ONCE = 1 << 16


def write_texts(alphabet: Alphabet, texts: Sequence[str], n: int) -> Symbols:
    """Texts as one array of symbols, with enough `BEGIN` before each."""
    gap = "\0" * gap_size(n)
    return alphabet.encode("".join((gap, gap.join(texts))))


def gap_size(n: int) -> int:
    """How many `BEGIN` stand before a text."""
    return max(1, n - 1)


def ngram_codes(symbols: Symbols, size: int, n: int, dtype: type[np.signedinteger[Any]] = np.int64) -> NDArray[Any]:
    """The number of the n-gram that ends with each symbol after the first gap.

    Args:
        symbols: as `write_texts` gives them.
        size: of the alphabet.
        n: how many symbols an n-gram has.
        dtype: of the numbers; 32 bits take half the memory where they are enough.
    """
    count = max(0, len(symbols) - gap_size(n))
    codes = symbols[len(symbols) - count - n + 1 : len(symbols) - n + 1].astype(dtype)
    for back in range(n - 2, -1, -1):
        codes *= dtype(size)
        codes += symbols[len(symbols) - count - back : len(symbols) - back]
    return codes


@dataclass(frozen=True)
class NgramCounts:
    """How often n-grams occur.

    Attributes:
        n: how many symbols they have.
        size: of the alphabet.
        codes: the n-grams that occur, in order.
        counts: how often each does.
    """

    n: int
    size: int
    codes: Ints
    counts: Ints

    def __post_init__(self) -> None:
        if self.size**self.n > 1 << 62:
            raise ValueError(f"n-grams of {self.n} symbols out of {self.size} have no number of 64 bits")

    @classmethod
    def of(cls, symbols: Symbols, size: int, n: int) -> NgramCounts:
        """Count the n-grams of texts, as `write_texts` gives them."""
        codes = ngram_codes(symbols, size, n)
        codes = codes[codes % size != BEGIN]
        if size**n <= LARGEST_TABLE:
            table = np.bincount(codes, minlength=0)
            found = table.nonzero()[0]
            return cls(n, size, found, table[found])
        found, counts = np.unique(codes, return_counts=True)
        return cls(n, size, found, counts)

    @classmethod
    def sum(cls, parts: Sequence[NgramCounts]) -> NgramCounts:
        """Add counts of the same kind of n-grams."""
        first = parts[0]
        codes = np.concatenate([part.codes for part in parts])
        counts = np.concatenate([part.counts for part in parts])
        return cls(first.n, first.size, *_add_up(codes, counts))

    def minus(self, other: NgramCounts) -> NgramCounts:
        """Differential training (NCleaner 3): what is left without the others; nothing occurs less often than never."""
        codes, counts = _add_up(np.concatenate((self.codes, other.codes)), np.concatenate((self.counts, -other.counts)))
        left = counts > 0
        return NgramCounts(self.n, self.size, codes[left], counts[left])

    def shorter(self, n: int) -> NgramCounts:
        """The counts of shorter n-grams."""
        return NgramCounts(n, self.size, *_add_up(self.codes % self.size**n, self.counts))


def _add_up(codes: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Each code once, with the sum of its counts."""
    order = np.argsort(codes, kind="stable")
    codes, counts = codes[order], counts[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    return codes[starts], np.add.reduceat(counts, starts) if len(starts) else counts


@dataclass(frozen=True)
class NgramModel:
    """A language model of symbols (equation 1).

    Args:
        counts: the n-grams of the training text.
        q: the weight of each history relative to the one that is one symbol longer; between 0 and 1.
    """

    counts: NgramCounts
    q: float

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise ValueError(f"q is between 0 and 1, not {self.q}")

    def probabilities(self, codes: Ints) -> Floats:
        """Of each n-gram, the probability of its last symbol after the others."""
        size = self.counts.size
        frequency: Floats = self._of_one_symbol[codes % size]
        total = frequency
        for n, (grams, histories) in enumerate(self._orders, 2):
            gram = codes % size**n
            seen = _look_up(histories, gram // size)
            found = _look_up(grams, gram)
            frequency = np.where(seen > 0, found / np.maximum(seen, 1), frequency)
            total = self.q * total + frequency
        return total * weight_of_longest(self.q, self.counts.n)

    def table(self) -> NDArray[np.float32]:
        """The probabilities of all n-grams, by their numbers."""
        size = self.counts.size
        frequency = self._of_one_symbol.astype(np.float32)
        total = frequency
        for n, (grams, histories) in enumerate(self._orders, 2):
            # After a history that was not seen all is as after the shorter one: the shorter table, repeated.
            shape = (size, size ** (n - 1))
            total = np.broadcast_to(total * np.float32(self.q), shape).reshape(-1)
            longer = np.broadcast_to(frequency, shape).reshape(-1, size).copy()
            longer[histories.codes] = 0
            frequency = longer.reshape(-1)
            firsts = np.searchsorted(grams.codes, histories.codes * size)
            seen = np.repeat(histories.counts, np.diff(firsts, append=len(grams.codes)))
            frequency[grams.codes] = grams.counts / seen
            total = total + frequency
        return total * np.float32(weight_of_longest(self.q, self.counts.n))

    @cached_property
    def _of_one_symbol(self) -> Floats:
        """Add-one smoothing; `BEGIN` is in no text."""
        single = self.counts.shorter(1)
        found = np.ones(self.counts.size)
        found[single.codes] += single.counts
        found[BEGIN] = 0
        found /= found.sum()
        return found

    @cached_property
    def _orders(self) -> list[tuple[NgramCounts, NgramCounts]]:
        """For n-grams of two symbols and more, their counts and those of their histories."""
        found = []
        for n in range(2, self.counts.n + 1):
            grams = self.counts.shorter(n)
            histories = NgramCounts(n - 1, grams.size, *_add_up(grams.codes // grams.size, grams.counts))
            found.append((grams, histories))
        return found


def weight_of_longest(q: float, n: int) -> float:
    """The weight of the longest history: the first factor of equation 1."""
    return (1 - q) / (1 - q**n)


def _look_up(counts: NgramCounts, codes: Ints) -> Ints:
    """How often each n-gram occurs."""
    if not len(counts.codes):
        return np.zeros(len(codes), np.int64)
    places = np.minimum(np.searchsorted(counts.codes, codes), len(counts.codes) - 1)
    return np.where(counts.codes[places] == codes, counts.counts[places], 0)


class LogOdds:
    """How much likelier one model finds a text than another: natural logarithms, added up over its symbols.

    Args:
        one: a model.
        other: a model of the same n-grams.
    """

    def __init__(self, one: NgramModel, other: NgramModel) -> None:
        if (one.counts.n, one.counts.size) != (other.counts.n, other.counts.size):
            raise ValueError("the two models are of different n-grams")
        self._models = one, other
        self.n, self.size = one.counts.n, one.counts.size
        self._table = self._make_table() if self.size**self.n <= LARGEST_TABLE else None

    def of_texts(self, alphabet: Alphabet, texts: Sequence[str]) -> Floats:
        """One number a text; 0 for an empty one."""
        if not texts:
            return np.zeros(0)
        symbols = write_texts(alphabet, texts, self.n)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + gap_size(self.n)
        starts = np.cumsum(lengths) - lengths
        of_symbols = self.of_symbols(symbols)
        if starts[-1] == len(of_symbols):  # the last text is empty
            of_symbols = np.append(of_symbols, 0)
        return np.add.reduceat(of_symbols, starts, dtype=np.float64)

    def of_symbols(self, symbols: Symbols) -> NDArray[np.floating[Any]]:
        """One number for each symbol after the first gap; 0 for `BEGIN`."""
        gap = gap_size(self.n)
        count = max(0, len(symbols) - gap)
        found: NDArray[np.floating[Any]] = np.empty(count, np.float64 if self._table is None else np.float32)
        for start in range(0, count, _AT_ONCE):
            part = symbols[start : start + _AT_ONCE + gap]
            if self._table is None:
                found[start : start + _AT_ONCE] = self._compute(ngram_codes(part, self.size, self.n))
            else:
                codes = ngram_codes(part, self.size, self.n, np.int32)
                self._table.take(codes, out=found[start : start + _AT_ONCE], mode="clip")  # none is outside
        return found

    def _compute(self, codes: Ints) -> Floats:
        found = np.zeros(len(codes))
        is_text = codes % self.size != BEGIN
        one, other = (model.probabilities(codes[is_text]) for model in self._models)
        found[is_text] = np.log(one) - np.log(other)
        return found

    def _make_table(self) -> NDArray[np.float32]:
        one, other = (model.table() for model in self._models)
        one[BEGIN :: self.size] = other[BEGIN :: self.size] = 1
        one /= other
        return np.log(one, out=one)


# The models of clean and of dirty text: small enough to travel, checked, tables made only once

ARRAYS = ("clean_codes", "clean_counts", "dirty_codes", "dirty_counts")

_MOST_NGRAMS = 1 << 53  # up to here, counts are exact as numbers of 64 bits


@dataclass(frozen=True, eq=False)
class TwoModels:
    """The counts of two models; those with the same counts are equal.

    Attributes:
        n: how many symbols n-grams have.
        size: of the alphabet.
        q: the weight of a shorter history.
        arrays: the numbers of n-grams and how often each occurs, by the names of `ARRAYS`.
    """

    n: int
    size: int
    q: float
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, clean: NgramCounts, dirty: NgramCounts, q: float) -> TwoModels:
        """Pack the counts of two models."""
        arrays = {
            f"{name}_{what}": values.astype(np.min_scalar_type(int(values.max(initial=0))))
            for name, counts in (("clean", clean), ("dirty", dirty))
            for what, values in (("codes", counts.codes), ("counts", counts.counts))
        }
        return cls(clean.n, clean.size, q, arrays)

    def is_empty(self, name: str) -> bool:
        """Whether a model, "clean" or "dirty", has learned from no text at all."""
        return self.arrays[f"{name}_codes"].size == 0

    def model(self, name: str) -> NgramModel:
        """The model of clean or of dirty text.

        Raises:
            ValueError: the arrays are not counts of n-grams.
        """
        codes, counts = (self.arrays[f"{name}_{what}"] for what in ("codes", "counts"))
        if (
            codes.ndim != 1
            or codes.shape != counts.shape
            or codes.dtype.kind not in "iu"
            or counts.dtype.kind not in "iu"
        ):
            raise ValueError(f"{name}: not one count for each n-gram")
        if len(codes) and (int(codes.min()) < 0 or int(codes.max()) >= self.size**self.n):
            raise ValueError(f"{name}: n-grams that are not of this alphabet")
        if len(counts) and (int(counts.min()) <= 0 or _sum(counts) >= _MOST_NGRAMS):
            raise ValueError(f"{name}: n-grams that do not occur, or too often to be counted")
        codes, counts = codes.astype(np.int64), counts.astype(np.int64)
        if (codes[1:] <= codes[:-1]).any() or (codes % self.size == BEGIN).any():
            raise ValueError(f"{name}: n-grams that are not in order, or not of text")
        return NgramModel(NgramCounts(self.n, self.size, codes, counts), self.q)

    @cached_property
    def digest(self) -> bytes:
        """The same for the same counts."""
        digest = blake2b(repr((self.n, self.size, self.q)).encode())
        for name in ARRAYS:
            array = np.ascontiguousarray(self.arrays[name])
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(array.tobytes())
        return digest.digest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TwoModels) and self.digest == other.digest


def _sum(counts: NDArray[Any]) -> int:
    """The exact sum of positive integers; numpy's own would wrap around."""
    is_small = int(counts.max()) * len(counts) < _MOST_NGRAMS
    return int(counts.sum(dtype=np.int64)) if is_small else sum(counts.tolist())


def make_log_odds(models: TwoModels) -> LogOdds:
    """How much likelier the clean model finds texts than the dirty one.

    Raises:
        ValueError: the arrays are not counts of n-grams.
    """
    return LogOdds(models.model("clean"), models.model("dirty"))


# To make the table takes longer than to clean a page: for the same counts it is made once in a process.
log_odds = lru_cache(maxsize=4)(make_log_odds)


def restore(
    own: str, arrays: dict[str, NDArray[Any]], *, n: int, q: float, lexical: bool, ascii_only: bool = False
) -> tuple[Alphabet, TwoModels]:
    """The alphabet and the counts of a stored model; checked, and made only once where arrays are read-only.

    Args:
        own: the characters that have a symbol of their own.
        arrays: by the names of `ARRAYS`.
        n: how many symbols n-grams have.
        q: the weight of a shorter history.
        lexical: whether letters and digits have symbols of their own.
        ascii_only: whether the alphabet is an `AsciiAlphabet`.

    Raises:
        ValueError: they are damaged.
    """
    stored = _Stored(own, lexical, ascii_only, n, q, tuple(arrays[name] for name in ARRAYS))
    return _restored(stored) if stored.is_constant else _restore(stored)


@dataclass(frozen=True, eq=False)
class _Stored:
    """What a model holds; equal to another if the arrays are the very same objects, so that comparing costs nothing.

    Keeping one keeps its arrays alive, so no other array can have the same place in memory.
    """

    own: str
    lexical: bool
    ascii_only: bool
    n: int
    q: float
    arrays: tuple[NDArray[Any], ...]

    @property
    def is_constant(self) -> bool:
        """Whether the arrays are read-only, as in models that were read from disk."""
        return not any(array.flags.writeable for array in self.arrays)

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.own, self.lexical, self.ascii_only, self.n, self.q, *map(id, self.arrays)

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Stored) and self.identity == other.identity


def _restore(stored: _Stored) -> tuple[Alphabet, TwoModels]:
    alphabet = (AsciiAlphabet if stored.ascii_only else Alphabet)(stored.own, lexical=stored.lexical)
    models = TwoModels(stored.n, alphabet.size, stored.q, dict(zip(ARRAYS, stored.arrays, strict=True)))
    for name in ("clean", "dirty"):
        if models.is_empty(name):
            raise ValueError(f"{name}: no n-grams")
    log_odds(models)  # checks the counts
    return alphabet, models


# To check a model and to make its alphabet's table takes longer than to clean a page. Threads share an alphabet safely.
_restored = lru_cache(maxsize=4)(_restore)
