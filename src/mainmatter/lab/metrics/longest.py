"""Longest common substring and subsequence of characters: Density (Arias et al. 2009), section 5.2.

White space is removed first, as the paper does for all its results (section 5.3). The substring punishes
every gap, the subsequence only what is missing or too much. Both are precision, recall and F1 of the common
length.

The longest common substring is found exactly, in O(n log² n), with arrays instead of a suffix tree.

The idea is prefix doubling (Karp, Miller and Rosenberg 1972). Give equal blocks of k characters equal names,
small integers; then a longer block is a short tuple of names, and names of tuples are names of longer blocks.
Names are dense, so a tuple packs into one 64-bit key: two blocks are equal if and only if their keys are (no
hashing, nothing to collide), and sorting the keys shows which ones the texts share. Lengthen the blocks while
the texts share one, then search the length between the last that they share and the first that they do not. A
block that only one of the texts has cannot begin or continue a common one, so it is named 0 and looked at no
more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mainmatter.lab.metrics.alignment import common_subsequence
from mainmatter.lab.metrics.bag import Score

Names = NDArray[np.int64]

# A key takes this many bits at most: one of 63 stays free, to tell the two texts apart.
_KEY_BITS = 62

# Up to so many pairs of characters (316,000 on both sides) the subsequence is exact. They take 2 s on Latin
# text and, at worst, 20 s on Chinese.
EXACT_CELLS = 100_000_000_000

# A cut at the longest common run must save this share of the pairs, or the texts are cut in the middle.
_WORTHWHILE_SAVING = 0.25


@dataclass(frozen=True, slots=True)
class LongestScores:
    """How much of two texts is one common run, and how much is common in the same order."""

    substring: Score
    subsequence: Score


def longest_common(extracted: str, gold: str) -> LongestScores:
    """Score both lengths (Density, tables 2 and 3)."""
    found, wanted = without_spaces(extracted), without_spaces(gold)
    run = longest_common_substring(found, wanted)
    return LongestScores(
        substring=Score.from_counts(run.length, len(found), len(wanted)),
        subsequence=Score.from_counts(subsequence_length(found, wanted), len(found), len(wanted)),
    )


def without_spaces(text: str) -> str:
    """The text without any white space."""
    return "".join(text.split())


def subsequence_length(a: str, b: str, exact_cells: int = EXACT_CELLS) -> int:
    """Length of the longest common subsequence; a lower bound of it where both texts are very long.

    What both texts begin and end with is set aside, which keeps the length exact. If more than `exact_cells`
    pairs of characters remain, the texts are cut in two, at their longest common run or in the middle, and
    each side is taken by itself. What the sides have in common, with the run between them, is common to the
    whole, hence a lower bound; it is the true length whenever some longest subsequence goes through the cut.
    """
    a, b, same = _without_common_ends(a, b)
    if len(a) * len(b) <= exact_cells:
        return same + common_subsequence(a, b)
    run = longest_common_substring(a, b)
    if not run.length:
        return same
    if not _is_good_cut(run, a, b):
        run = CommonSubstring(len(a) // 2, len(b) // 2, 0)
    left = subsequence_length(a[: run.start_a], b[: run.start_b], exact_cells)
    right = subsequence_length(a[run.end_a :], b[run.end_b :], exact_cells)
    return same + left + run.length + right


def _is_good_cut(run: CommonSubstring, a: str, b: str) -> bool:
    """Does a cut at this run save work, and rule out no more common characters than the run itself has?

    A run that stands early in one text and late in the other may be a coincidence; it rules out much.
    """
    after_a, after_b = len(a) - run.end_a, len(b) - run.end_b
    possible = min(run.start_a, run.start_b) + run.length + min(after_a, after_b)
    pairs = run.start_a * run.start_b + after_a * after_b
    saves_enough = pairs <= (1 - _WORTHWHILE_SAVING) * len(a) * len(b)
    return saves_enough and min(len(a), len(b)) - possible <= run.length


def _without_common_ends(a: str, b: str) -> tuple[str, str, int]:
    start = _common_prefix(a, b)
    a, b = a[start:], b[start:]
    end = _common_prefix(a[::-1], b[::-1])
    return a[: len(a) - end], b[: len(b) - end], start + end


def _common_prefix(a: str, b: str) -> int:
    shorter = min(len(a), len(b))
    differs = np.flatnonzero(code_points(a[:shorter]) != code_points(b[:shorter]))
    return int(differs[0]) if differs.size else shorter


@dataclass(frozen=True, slots=True)
class CommonSubstring:
    """a[start_a : start_a + length] equals b[start_b : start_b + length]."""

    start_a: int
    start_b: int
    length: int

    @property
    def end_a(self) -> int:
        """Where it ends in a."""
        return self.start_a + self.length

    @property
    def end_b(self) -> int:
        """Where it ends in b."""
        return self.start_b + self.length


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Names of the blocks of `size` characters that start at each position of the texts; 0 if not shared."""

    a: Names
    b: Names
    size: int

    @property
    def shared(self) -> bool:
        """Do the texts share any block?"""
        return bool(self.a.any())

    @property
    def pieces(self) -> int:
        """How many names fit into one key."""
        return _KEY_BITS // int(self.a.max()).bit_length()

    def keys(self, length: int) -> _Keys:
        """Keys of the substrings of `length` characters, from one block to as many as there are `pieces`."""
        offsets = [min(offset, length - self.size) for offset in range(0, length, self.size)]
        bits = _KEY_BITS // self.pieces
        starts_a, starts_b = _alive(self.a, offsets), _alive(self.b, offsets)
        return _Keys(starts_a, _pack(self.a, starts_a, offsets, bits), starts_b, _pack(self.b, starts_b, offsets, bits))


@dataclass(frozen=True, slots=True)
class _Keys:
    """Keys of substrings of one length, and where in the texts these start; equal keys, equal substrings."""

    starts_a: Names
    a: Names
    starts_b: Names
    b: Names

    @property
    def shared(self) -> bool:
        """Does any key occur on both sides? Even numbers for a, odd for b: look for neighbours 2k, 2k + 1."""
        sides = np.sort(np.concatenate([self.a << 1, (self.b << 1) | 1]))
        return bool(((sides[1:] ^ sides[:-1]) == 1).any())


def longest_common_substring(a: str, b: str) -> CommonSubstring:
    """Find the longest run of characters that two texts have in common, the first in `a` if several."""
    shorter = min(len(a), len(b))
    blocks = _letters(a, b)
    if not blocks.shared:
        return CommonSubstring(0, 0, 0)
    while blocks.size < shorter:
        length = min(blocks.size * blocks.pieces, shorter)
        longer = _named(blocks.keys(length), len(a), len(b), length)
        if not longer.shared:
            return _first(blocks, _longest_shared(blocks, length))
        blocks = longer
    return _first(blocks, shorter)


def code_points(text: str) -> NDArray[np.uint32]:
    """The characters of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _letters(a: str, b: str) -> _Blocks:
    """Blocks of one character."""
    codes = code_points(a + b).astype(np.int64)
    starts_a, starts_b = np.arange(len(a)), np.arange(len(b))
    return _named(_Keys(starts_a, codes[: len(a)], starts_b, codes[len(a) :]), len(a), len(b), 1)


def _named(keys: _Keys, length_a: int, length_b: int, size: int) -> _Blocks:
    """Name the blocks that these keys stand for: 1, 2, 3, ... for those that both texts have, else 0."""
    distinct, numbers = np.unique(np.concatenate([keys.a, keys.b]), return_inverse=True)
    in_a, in_b = np.zeros(len(distinct), dtype=bool), np.zeros(len(distinct), dtype=bool)
    in_a[numbers[: len(keys.a)]] = True
    in_b[numbers[len(keys.a) :]] = True
    in_both = in_a & in_b
    names = (np.cumsum(in_both) * in_both)[numbers]
    names_a, names_b = np.zeros(length_a, dtype=np.int64), np.zeros(length_b, dtype=np.int64)
    names_a[keys.starts_a] = names[: len(keys.a)]
    names_b[keys.starts_b] = names[len(keys.a) :]
    return _Blocks(names_a, names_b, size)


def _alive(names: Names, offsets: list[int]) -> Names:
    """Positions where the blocks at all these offsets are shared ones."""
    count = max(len(names) - offsets[-1], 0)
    alive = np.ones(count, dtype=bool)
    for offset in offsets:
        alive &= names[offset : offset + count] != 0
    return np.flatnonzero(alive)


def _pack(names: Names, starts: Names, offsets: list[int], bits: int) -> Names:
    """One key for each start: the names at these offsets from it, side by side."""
    keys = np.zeros(len(starts), dtype=np.int64)
    for offset in offsets:
        keys = (keys << bits) | names[starts + offset]
    return keys


def _longest_shared(blocks: _Blocks, too_long: int) -> int:
    """The largest length, from blocks.size to below `too_long`, that the texts share, by bisection."""
    shared = blocks.size
    while shared + 1 < too_long:
        middle = (shared + too_long) // 2
        if blocks.keys(middle).shared:
            shared = middle
        else:
            too_long = middle
    return shared


def _first(blocks: _Blocks, length: int) -> CommonSubstring:
    """The first common substring of that length in a, and its first place in b."""
    keys = blocks.keys(length)
    place_a = int(np.argmax(np.isin(keys.a, keys.b)))
    place_b = int(np.argmax(keys.b == keys.a[place_a]))
    return CommonSubstring(int(keys.starts_a[place_a]), int(keys.starts_b[place_b]), length)
