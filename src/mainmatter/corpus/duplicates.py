"""Pages that say the same, or nearly the same, as one before them in a collection.

    text --signature--> bytes, a page at a time, where it is cleaned
    all signatures, in input order --find_duplicates--> which pages repeat which

exact     the same text, but for white space, case and the form of composed letters
i-match   the same terms, once those are left out that nearly every page has
near      most runs of five words in common

The first page of a group, in input order, is kept. What comes out depends on the texts and their order alone.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import unicodedata
from array import array
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from mainmatter.corpus.components import join
from mainmatter.errors import InputError, MissingExtra, UnknownName
from mainmatter.papers.template.imatch import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from datasketch import MinHash
    from numpy.typing import NDArray

    Indices = NDArray[np.int64]
    Signatures = NDArray[np.uint32]
    Digests = NDArray[np.uint64]  # of two halves


KINDS = ("exact", "i-match", "near")
REASONS = {"exact": "duplicate", "i-match": "duplicate", "near": "near-duplicate"}
_DIGEST = 16  # bytes; two different texts of a billion share one with a chance of 1 in 10**20
# 64 MB, however large the run. Terms that share a place share its count: one may be left out, of all pages alike.
_BUCKETS = 1 << 24
# Of 1, the weight of a term that only one text has. The authors of I-Match also drop what is so rare that it may be a
# slip; that made no duplicates that this did not.
LEAST_WEIGHT = 0.1
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
MOST_LEADERS = 100

# Where no spaces stand between words, a character counts as a word: Han, Kana, Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)


def signature(kind: str, text: str) -> bytes:
    """What `find_duplicates` needs to know about a text.

    Its size: "exact" 16 bytes, "near" 512, "i-match" 4 for each different term, about 1 KB for a page. It is empty
    for a text that has no word, and such a page is nobody's duplicate.

    Args:
        kind: one of `KINDS`.
        text: what was kept of a page.

    Raises:
        UnknownName: there is no such kind.
        MissingExtra: "near" needs datasketch.
    """
    check_kind(kind)
    if kind == "near":
        return minhash_signature(text)
    if kind == "i-match":
        # The terms as the table of frequencies places them, sorted: the terms themselves would take twice the room.
        hashes = [crc32(term.encode("utf-8", "surrogatepass")) for term in terms_of(text)]
        return np.unique(np.array(hashes, "<u4")).tobytes()
    normal = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return _digest(normal.encode("utf-8", "surrogatepass")) if normal else b""


def find_duplicates(
    kind: str, signatures: Iterable[tuple[int, bytes]], *, threshold: float = THRESHOLD
) -> dict[int, tuple[str, int]]:
    """Find the pages that repeat another one.

    Memory where a fifth of the pages are duplicates, measured on a million pages: 60 bytes a page for "exact", 120 for
    "near", which also writes 512 bytes a page to a temporary file; "i-match" is as "exact", with a table of 64 MB.

    Args:
        kind: one of `KINDS`.
        signatures: the number of each page, and its signature; the numbers ascend, gaps are fine. "i-match"
            reads them twice, so they must be a list or something else that starts again each time.
        threshold: for "near": the least share of their runs of words that two texts have in common (Jaccard).

    Returns:
        For each page to drop, by its number: the reason, "duplicate" or "near-duplicate", and the number of the page
        that it repeats, which is kept.

    Raises:
        UnknownName: there is no such kind.
        InputError: the threshold is not between 0 and 1.
        MissingExtra: "near" needs datasketch.
    """
    check_kind(kind)
    if kind == "near":
        repeats = find_groups(signatures, threshold)
    elif kind == "i-match":
        if isinstance(signatures, Iterator):
            raise TypeError("i-match reads the signatures twice; pass a list, not an iterator")
        repeats = _find_equal(imatch_digests(signatures, *term_counts(signatures)))
    else:
        repeats = _find_equal(signatures)
    reason = REASONS[kind]
    return {number: (reason, first) for number, first in repeats.items()}


def check_kind(kind: str) -> None:
    """Make sure that there is such a kind of duplicates.

    Raises:
        UnknownName: there is not.
    """
    if kind not in KINDS:
        raise UnknownName("kind of duplicates", kind, KINDS)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


def term_counts(signatures: Iterable[tuple[int, bytes]]) -> tuple[NDArray[np.uint32], int]:
    """In how many texts each term is, in the table of frequencies, and how many texts have a term, for I-Match."""
    counts, texts = np.zeros(_BUCKETS, np.uint32), 0
    for _, packed in signatures:
        if packed:
            counts[np.unique(np.frombuffer(packed, "<u4") % _BUCKETS)] += 1
            texts += 1
    return counts, texts


def imatch_digests(
    signatures: Iterable[tuple[int, bytes]], counts: NDArray[np.uint32], texts: int
) -> Iterator[tuple[int, bytes]]:
    """I-Match: one digest a page (Chowdhury, Frieder, Grossman, McCabe 2002; Template, section 3, and its reference 8).

    Two texts are duplicates if they have the same set of terms, once those are left out that too many texts of the
    collection have. Neither the order of the terms nor how often a text has them counts. A text of nothing but such
    terms keeps them all: it is a duplicate only of what has the very same words.
    """
    for number, packed in signatures:
        if packed:
            hashes = np.frombuffer(packed, "<u4")
            # How rare each term is, from 0, in every page, to 1, in one: idf by the largest idf there is.
            weights = 1 - np.log(counts[hashes % _BUCKETS]) / np.log(texts) if texts > 1 else np.ones(len(hashes))
            left = hashes[weights >= LEAST_WEIGHT]
            yield number, _digest((left if len(left) else hashes).tobytes())


def _find_equal(digests: Iterable[tuple[int, bytes]]) -> dict[int, int]:
    """By the number of each page whose digest was there before, the number of the first that has it."""
    numbers, halves = gather_digests(digests)
    first = first_of_equal(halves)
    repeats = np.flatnonzero(first != np.arange(len(first)))
    return dict(zip(numbers[repeats].tolist(), numbers[first[repeats]].tolist(), strict=True))


def gather_digests(digests: Iterable[tuple[int, bytes]]) -> tuple[Indices, Digests]:
    """The numbers of the pages that have a digest, and the two halves of each digest."""
    numbers: array[int] = array("q")
    joined = bytearray()
    for number, digest in digests:
        if digest:
            numbers.append(number)
            joined += digest
    return np.frombuffer(numbers, np.int64), np.frombuffer(joined, ">u8").reshape(-1, 2)


def first_of_equal(halves: Digests) -> Indices:
    """For each digest the place of the first that is equal."""
    order = np.lexsort((halves[:, 1], halves[:, 0]))  # stable: equal ones stay in input order
    is_new = np.ones(len(order), bool)
    is_new[1:] = (halves[order[1:]] != halves[order[:-1]]).any(axis=1)
    first = np.empty_like(order)
    first[order] = order[np.flatnonzero(is_new)[np.cumsum(is_new) - 1]]
    return first


# Near duplicates: MinHash and locality-sensitive hashing (Broder 1997; Indyk and Motwani 1998). A text is the set of
# its runs of five words. datasketch permutes their hashes, and the smallest under each of 128 permutations are the
# text's signature: two texts share as many of these as their sets have runs in common, in the mean. Texts that share
# one band of a signature are candidates; those that share enough of the whole of it are near duplicates.
#
# The bands are compared by sorting, one after the other, and not in datasketch's own index, which keeps a Python set
# for each band of each page: 4.5 KB a page, where this takes 120 bytes and a temporary file of 512.


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
            for pairs in near_pairs(band_hashes(table[:, band * rows : (band + 1) * rows]), table, first, threshold):
                first = join(first, *pairs)
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
        raise InputError(f"near duplicates: the threshold must be above 0 and at most 1, not {threshold!r}")
    try:
        from datasketch import MinHashLSH  # an extra
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
        from datasketch import MinHash  # an extra
    except ImportError as error:
        raise MissingExtra("datasketch", "corpus") from error
    return MinHash(PERMUTATIONS, seed=_SEED, hashfunc=int, scheme=_SCHEME)


def band_hashes(band: Signatures) -> NDArray[np.uint64]:
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


def near_pairs(
    hashes: NDArray[np.uint64], table: Signatures, first: Indices, threshold: float
) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of pages in the same bucket whose whole signatures are near enough, round by round."""
    members: Indices = np.argsort(hashes, kind="stable")
    for _ in range(MOST_LEADERS):
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
