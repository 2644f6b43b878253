"""Two n-gram models, of clean and of dirty text, as arrays: small enough to travel, checked, tables made only once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from mainmatter.papers.ncleaner.alphabet import BEGIN, Alphabet
from mainmatter.papers.ncleaner.ngrams import Counts, LogOdds, NgramModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    def of(cls, clean: Counts, dirty: Counts, q: float) -> TwoModels:
        """Pack the counts of two models."""
        arrays = {
            f"{name}_{what}": _smallest(values)
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
            ValueError: the arrays are no counts of n-grams.
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
        return NgramModel(Counts(self.n, self.size, codes, counts), self.q)

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


def _smallest(values: NDArray[np.int64]) -> NDArray[Any]:
    most = int(values.max()) if len(values) else 0
    return values.astype(np.min_scalar_type(most))


def make_log_odds(models: TwoModels) -> LogOdds:
    """How much likelier the clean model finds texts than the dirty one.

    Raises:
        ValueError: the arrays are no counts of n-grams.
    """
    return LogOdds(models.model("clean"), models.model("dirty"))


# To make the table takes longer than to clean a page: for the same counts it is made once in a process.
log_odds = lru_cache(maxsize=4)(make_log_odds)


def restore(
    own: str, arrays: dict[str, NDArray[Any]], *, n: int, q: float, lexical: bool
) -> tuple[Alphabet, TwoModels]:
    """The alphabet and the counts of a stored model; checked, and made only once where arrays are read-only.

    Args:
        own: the characters that have a symbol of their own.
        arrays: by the names of `ARRAYS`.
        n: how many symbols n-grams have.
        q: the weight of a shorter history.
        lexical: whether letters and digits have symbols of their own.

    Raises:
        ValueError: they are damaged.
    """
    stored = _Stored(own, lexical, n, q, tuple(arrays[name] for name in ARRAYS))
    return _restored(stored) if stored.is_constant else _restore(stored)


@dataclass(frozen=True, eq=False)
class _Stored:
    """What a model holds; equal to another if the arrays are the very same objects, so that comparing costs nothing.

    Whoever remembers one keeps its arrays alive, so no other array can be at the same place in memory.
    """

    own: str
    lexical: bool
    n: int
    q: float
    arrays: tuple[NDArray[Any], ...]

    @property
    def is_constant(self) -> bool:
        """Whether nobody may write into the arrays, as in models that were read from disk."""
        return not any(array.flags.writeable for array in self.arrays)

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.own, self.lexical, self.n, self.q, *map(id, self.arrays)

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Stored) and self.identity == other.identity


def _restore(stored: _Stored) -> tuple[Alphabet, TwoModels]:
    alphabet = Alphabet(stored.own, lexical=stored.lexical)
    models = TwoModels(stored.n, alphabet.size, stored.q, dict(zip(ARRAYS, stored.arrays, strict=True)))
    for name in ("clean", "dirty"):
        if models.is_empty(name):
            raise ValueError(f"{name}: no n-grams")
    log_odds(models)  # checks the counts
    return alphabet, models


# To check a model and to make its alphabet's table takes longer than to clean a page. Threads share an alphabet safely.
_restored = lru_cache(maxsize=4)(_restore)
