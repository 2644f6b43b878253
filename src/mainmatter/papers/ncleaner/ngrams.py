"""Character n-gram models with geometric interpolation (NCleaner, section 3, equation 1), on arrays of symbols.

    Pr(c | h) = (1 - q) / (1 - q^n) * (Pr(c | n-1 symbols of history) + q Pr(c | n-2) + ... + q^(n-1) Pr(c))

Each Pr on the right is a relative frequency; that of single symbols, Pr(c), counts one more of each symbol. The paper
does not say what Pr(c | h) is after a history h that training has never seen. Here it is then that of the history
without its first symbol, so that probabilities always add up to 1.

Texts are written one after the other, with `BEGIN` in between, so that no history crosses from one text to the next. An
n-gram is a number to the base of the alphabet's size. As every symbol has exactly one n-gram, whose history may
hold `BEGIN`, the counts of n-grams tell those of all shorter ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.papers.ncleaner.alphabet import BEGIN, Alphabet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mainmatter.papers.ncleaner.alphabet import Symbols

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

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


def ngram_codes(symbols: Symbols, size: int, n: int) -> Ints:
    """The number of the n-gram that ends with each symbol after the first gap.

    Args:
        symbols: as `write_texts` gives them.
        size: of the alphabet.
        n: how many symbols an n-gram has.
    """
    count = max(0, len(symbols) - gap_size(n))
    codes = np.zeros(count, np.int64)
    for back in range(n - 1, -1, -1):
        codes *= size
        codes += symbols[len(symbols) - count - back : len(symbols) - back]
    return codes


@dataclass(frozen=True)
class Counts:
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
    def of(cls, symbols: Symbols, size: int, n: int) -> Counts:
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
    def sum(cls, parts: Sequence[Counts]) -> Counts:
        """Add counts of the same kind of n-grams."""
        first = parts[0]
        codes = np.concatenate([part.codes for part in parts])
        counts = np.concatenate([part.counts for part in parts])
        return cls(first.n, first.size, *_add_up(codes, counts))

    def minus(self, other: Counts) -> Counts:
        """Differential training (NCleaner 3): what is left without the others; nothing occurs less often than never."""
        codes, counts = _add_up(np.concatenate((self.codes, other.codes)), np.concatenate((self.counts, -other.counts)))
        left = counts > 0
        return Counts(self.n, self.size, codes[left], counts[left])

    def shorter(self, n: int) -> Counts:
        """The counts of shorter n-grams."""
        return Counts(n, self.size, *_add_up(self.codes % self.size**n, self.counts))


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

    counts: Counts
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
    def _orders(self) -> list[tuple[Counts, Counts]]:
        """For n-grams of two symbols and more, their counts and those of their histories."""
        found = []
        for n in range(2, self.counts.n + 1):
            grams = self.counts.shorter(n)
            histories = Counts(n - 1, grams.size, *_add_up(grams.codes // grams.size, grams.counts))
            found.append((grams, histories))
        return found


def weight_of_longest(q: float, n: int) -> float:
    """The weight of the longest history: the first factor of equation 1."""
    return (1 - q) / (1 - q**n)


def _look_up(counts: Counts, codes: Ints) -> Ints:
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
                codes = _small_codes(part, self.size, self.n)
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


def _small_codes(symbols: Symbols, size: int, n: int) -> NDArray[np.int32]:
    """As `ngram_codes`, in half the memory."""
    count = max(0, len(symbols) - gap_size(n))
    codes = symbols[len(symbols) - count - n + 1 : len(symbols) - n + 1].astype(np.int32)
    for back in range(n - 2, -1, -1):
        codes *= np.int32(size)
        codes += symbols[len(symbols) - count - back : len(symbols) - back]
    return codes


def cross_entropies(
    folds: Sequence[Sequence[str]], alphabet: Alphabet, orders: Sequence[int], qs: Sequence[float]
) -> Floats:
    """How well models predict texts that they were not trained on: bits a symbol (NCleaner 3, figure 2).

    Each fold is predicted by models of all other folds; the mean is over all symbols.

    Args:
        folds: the texts of each fold.
        alphabet: what to write them in.
        orders: the lengths of n-grams to try, in rising order.
        qs: the interpolation parameters to try.

    Returns:
        One row for each length, one column for each q.
    """
    longest = max(orders)
    parts = [ngram_codes(write_texts(alphabet, texts, longest), alphabet.size, longest) for texts in folds]
    parts = [codes[codes % alphabet.size != BEGIN] for codes in parts]
    fold_of = np.repeat(np.arange(len(parts)), [len(codes) for codes in parts])
    frequencies = _held_out_frequencies(np.concatenate(parts), fold_of, alphabet.size, longest)
    totals = [np.zeros(len(fold_of)) for _ in qs]
    found = np.zeros((len(orders), len(qs)))
    for n, frequency in enumerate(frequencies, 1):
        for column, q in enumerate(qs):
            totals[column] = q * totals[column] + frequency
            if n in orders:
                bits = np.log2(totals[column] * weight_of_longest(q, n))
                found[list(orders).index(n), column] = -bits.mean()
    return found


def _held_out_frequencies(codes: Ints, fold_of: Ints, size: int, longest: int) -> list[Floats]:
    """For each length of n-grams, the relative frequency of each symbol after its history in all other folds."""
    folds = int(fold_of[-1]) + 1
    in_other_folds = len(codes) - np.bincount(fold_of, minlength=folds)
    single = _count_outside(codes % size, fold_of, folds)
    frequency = (single + 1) / (in_other_folds[fold_of] + size - 1)
    found = [frequency]
    for n in range(2, longest + 1):
        gram = codes % size**n
        grams = _count_outside(gram, fold_of, folds)
        histories = _count_outside(gram // size, fold_of, folds)
        frequency = np.where(histories > 0, grams / np.maximum(histories, 1), frequency)
        found.append(frequency)
    return found


def _count_outside(codes: Ints, fold_of: Ints, folds: int) -> Ints:
    """How often each code occurs in folds other than its own."""
    _, numbers = np.unique(codes, return_inverse=True)
    _, in_own = np.unique(numbers * folds + fold_of, return_inverse=True)
    return np.bincount(numbers)[numbers] - np.bincount(in_own)[in_own]
