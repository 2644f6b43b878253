"""Pages that say nearly the same: MinHash and locality-sensitive hashing (Broder 1997; Indyk and Motwani 1998).

A text is the set of its runs of five words. datasketch permutes their hashes, and the smallest under each of 128
permutations are the text's signature: two texts share as many of these as their sets have runs in common, in the mean.
Texts that share one band of a signature are candidates; those that share enough of the whole of it are near duplicates.

The bands are compared by sorting, one after the other, and not in datasketch's own index, which keeps a Python set for
each band of each page: 4.5 KB a page, where this takes 120 bytes and a temporary file of 512.
"""

from __future__ import annotations

import re
import tempfile
from array import array
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from mainmatter.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from datasketch import MinHash
    from numpy.typing import NDArray

    Indices = NDArray[np.int64]
    Signatures = NDArray[np.uint32]

THRESHOLD = 0.8
PERMUTATIONS = 128
SHINGLE = 5  # words
_SEED = 1
_SCHEME = "affine32"
_BATCH = 8_192  # shingles that are permuted at once: 4 MB
_ROWS = 65_536  # signatures that are read at once: 32 MB
# The second look at the whole signature finds false candidates, and nothing finds what was never one.
_WEIGHTS = (0.1, 0.9)  # of false candidates and of missed ones
# Candidates are compared with the first of their bucket; those unlike it with the first of the rest, and so on. Texts
# that have a band in common by chance are few, so that the end is reached long before.
_MOST_ROUNDS = 100

# Where no spaces stand between words, a character counts as a word: Han, Kana, Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)


def minhash_signature(text: str) -> bytes:
    """The MinHash signature of a text: 512 bytes; none for a text without words.

    Raises:
        MissingExtra: datasketch is not installed.
    """
    shingles = _shingles(text)
    if not len(shingles):
        return b""
    minhash = _empty_minhash().copy()
    for start in range(0, len(shingles), _BATCH):
        minhash.update_batch(shingles[start : start + _BATCH])
    return np.asarray(minhash.hashvalues, "<u4").tobytes()


def find_groups(signatures: Iterable[tuple[int, bytes]], threshold: float = THRESHOLD) -> dict[int, int]:
    """Find the pages that nearly repeat another.

    A group is whatever is connected: where a page is near to two others, all three are one, however far those are
    from each other.

    Args:
        signatures: the pages' numbers, which ascend, and their signatures.
        threshold: which share of their runs of words, all different ones of both taken together, two texts have in
            common at least.

    Returns:
        By the number of each page that has one before it in its group, the number of the first one.

    Raises:
        InputError: the threshold is not between 0 and 1.
        MissingExtra: datasketch is not installed.
    """
    bands, rows = band_shape(threshold)
    numbers: array[int] = array("q")
    with tempfile.TemporaryFile() as spill:
        for number, signature in signatures:
            if signature:
                numbers.append(number)
                spill.write(signature)
        spill.flush()
        if len(numbers) < 2:
            return {}
        table: Signatures = np.memmap(spill, "<u4", "r", shape=(len(numbers), PERMUTATIONS))
        first: Indices = np.arange(len(numbers))
        for band in range(bands):
            for pairs in _candidates(_band_hashes(table[:, band * rows : (band + 1) * rows]), table, first, threshold):
                first = _join(first, *pairs)
        del table
    repeats = np.flatnonzero(first != np.arange(len(first)))
    names = np.frombuffer(numbers, np.int64)
    return dict(zip(names[repeats].tolist(), names[first[repeats]].tolist(), strict=True))


@cache
def band_shape(threshold: float) -> tuple[int, int]:
    """Into how many bands a signature is cut for a threshold, and how many values each has.

    Raises:
        InputError: the threshold is not between 0 and 1.
        MissingExtra: datasketch is not installed.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise InputError(f"near duplicates: the threshold is above 0 and at most 1, not {threshold!r}")
    try:
        from datasketch import MinHashLSH  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("datasketch", "corpus") from error
    # Above .97 there would be a single band.
    index = MinHashLSH(threshold=min(threshold, 0.97), num_perm=PERMUTATIONS, weights=_WEIGHTS)
    return index.b, index.r


def _shingles(text: str) -> NDArray[np.uint32]:
    """The hashes of a text's runs of words; of all words of a text that has fewer."""
    lowered = text.lower()
    found = (_ASCII_WORD if lowered.isascii() else _WORD).findall(lowered)
    words = np.array([crc32(word.encode("utf-8", "surrogatepass")) for word in found], np.uint64)
    length = min(SHINGLE, len(words))
    mixed = np.zeros(len(words) - length + 1 if length else 0, np.uint64)
    for offset in range(length):
        mixed = (mixed ^ words[offset : offset + len(mixed)]) * _PRIME
        mixed ^= mixed >> np.uint64(29)
    return np.unique((mixed >> np.uint64(32)).astype(np.uint32))


_PRIME = np.uint64(0x9E3779B97F4A7C15)  # odd, 2**64 by the golden ratio: spreads what is multiplied by it


@cache
def _empty_minhash() -> MinHash:
    try:
        from datasketch import MinHash  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("datasketch", "corpus") from error
    return MinHash(PERMUTATIONS, seed=_SEED, hashfunc=int, scheme=_SCHEME)


def _band_hashes(band: Signatures) -> NDArray[np.uint64]:
    """One number for each signature's values in a band."""
    hashes = np.zeros(len(band), np.uint64)
    for start in range(0, len(band), _ROWS):
        values = np.ascontiguousarray(band[start : start + _ROWS].T)
        part = hashes[start : start + _ROWS]
        for value in values:
            part ^= value
            part *= _PRIME
            part ^= part >> np.uint64(29)
    return hashes


def _candidates(
    hashes: NDArray[np.uint64], table: Signatures, first: Indices, threshold: float
) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of pages in the same bucket whose whole signatures are near enough, round by round."""
    members: Indices = np.argsort(hashes, kind="stable")
    for _ in range(_MOST_ROUNDS):
        starts = np.flatnonzero(np.diff(hashes[members], prepend=~hashes[members[:1]]))
        sizes = np.diff(starts, append=len(members))
        leaders = np.repeat(members[starts], sizes)
        followers = leaders != members
        leaders, members = leaders[followers], members[followers]
        if not len(members):
            return
        near = first[leaders] == first[members]  # an earlier band has found them
        for start in range(0, len(near), _ROWS):
            unknown = start + np.flatnonzero(~near[start : start + _ROWS])
            shared = np.mean(table[leaders[unknown]] == table[members[unknown]], axis=1)
            near[unknown] = shared >= threshold
        yield leaders[near], members[near]
        members = members[~near]


def _join(first: Indices, ones: Indices, others: Indices) -> Indices:
    """Make one group of each two pages' groups; `first` has for each page the first of its group."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - comes with datasketch
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    ones, others = first[ones], first[others]
    apart = ones != others
    if not apart.any():
        return first
    nodes, ends = np.unique(np.concatenate((ones[apart], others[apart])), return_inverse=True)
    half = len(ends) // 2
    edges = coo_array((np.ones(half, np.int8), (ends[:half], ends[half:])), shape=(len(nodes), len(nodes)))
    count, labels = connected_components(edges, directed=False)
    smallest = np.full(count, len(first))
    np.minimum.at(smallest, labels, nodes)
    moved: Indices = np.arange(len(first))
    moved[nodes] = smallest[labels]
    return moved[first]
