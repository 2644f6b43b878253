"""Pages that say the same, or nearly the same, as one before them in a collection.

    text --signature--> bytes, a page at a time, where it is cleaned
    all signatures, in input order --find_duplicates--> which pages repeat which

exact     the same text, but for white space, case and the form of composed letters
i-match   the same terms, once those are left out that nearly every page has (text/imatch.py)
near      most runs of five words in common (near_duplicates.py)

The first page of a group, in input order, is kept. What comes out depends on the texts and their order alone.
"""

from __future__ import annotations

import hashlib
import unicodedata
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from mainmatter.corpus.near_duplicates import THRESHOLD, find_groups, minhash_signature
from mainmatter.errors import UnknownName
from mainmatter.text.imatch import LEAST_WEIGHT, TermFrequencies, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

KINDS = ("exact", "i-match", "near")
_REASONS = {"exact": "duplicate", "i-match": "duplicate", "near": "near-duplicate"}
_DIGEST = 16  # bytes; two different texts of a billion share one with a chance of 1 in 10**20
# 64 MB, however large the run. Terms that share a place share its count: one may be left out, of all pages alike.
_BUCKETS = 1 << 24


def signature(kind: str, text: str) -> bytes:
    """What `find_duplicates` needs to know of a text.

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
    return _term_hashes(text) if kind == "i-match" else _digest_of_text(text)


def find_duplicates(
    kind: str, signatures: Iterable[tuple[int, bytes]], *, threshold: float = THRESHOLD
) -> dict[int, tuple[str, int]]:
    """Find the pages that repeat another one.

    Memory where a fifth of the pages are duplicates, measured on a million pages: 60 bytes a page for "exact", 120 for
    "near", which also writes 512 bytes a page to a temporary file; "i-match" is as "exact", with a table of 64 MB.

    Args:
        kind: one of `KINDS`.
        signatures: the number of each page, and its signature; the numbers ascend, gaps are fine. For "i-match" it is
            gone through twice, so it must be a list or something else that begins anew each time.
        threshold: for "near": the least share of their runs of words that two texts have in common (Jaccard).

    Returns:
        By the number of each page to drop: the reason, "duplicate" or "near-duplicate", and the number of the
        page that it repeats, which is kept.

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
            raise TypeError("i-match goes through the signatures twice; give it a list, not an iterator")
        repeats = _find_equal(_imatch_digests(signatures))
    else:
        repeats = _find_equal(signatures)
    reason = _REASONS[kind]
    return {number: (reason, first) for number, first in repeats.items()}


def check_kind(kind: str) -> None:
    """Make sure that there is such a kind of duplicates.

    Raises:
        UnknownName: there is not.
    """
    if kind not in KINDS:
        raise UnknownName("kind of duplicates", kind, KINDS)


def _digest_of_text(text: str) -> bytes:
    normal = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return _digest(normal.encode("utf-8", "surrogatepass")) if normal else b""


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


def _term_hashes(text: str) -> bytes:
    """The terms as the table of frequencies places them, sorted: the terms themselves would take twice the room."""
    hashes = [crc32(term.encode("utf-8", "surrogatepass")) for term in terms_of(text)]
    return np.unique(np.array(hashes, "<u4")).tobytes()


def _imatch_digests(signatures: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """I-Match over hashed terms: `text.imatch.signature`, with frequencies that are counted here."""
    frequencies = TermFrequencies(_BUCKETS)
    for _, packed in signatures:
        if packed:
            frequencies.counts[np.unique(np.frombuffer(packed, "<u4") % _BUCKETS)] += 1
            frequencies.texts += 1
    for number, packed in signatures:
        if packed:
            hashes = np.frombuffer(packed, "<u4")
            left = hashes[_weights(hashes, frequencies) >= LEAST_WEIGHT]
            yield number, _digest((left if len(left) else hashes).tobytes())


def _weights(hashes: NDArray[np.uint32], frequencies: TermFrequencies) -> NDArray[np.float64]:
    """How rare each term is, from 0, in every page, to 1, in one (see `TermFrequencies.weights`)."""
    if frequencies.texts < 2:
        return np.ones(len(hashes))
    weights: NDArray[np.float64] = 1 - np.log(frequencies.counts[hashes % _BUCKETS]) / np.log(frequencies.texts)
    return weights


def _find_equal(digests: Iterable[tuple[int, bytes]]) -> dict[int, int]:
    """By the number of each page whose digest was there before, the number of the first that has it."""
    numbers: array[int] = array("q")
    joined = bytearray()
    for number, digest in digests:
        if digest:
            numbers.append(number)
            joined += digest
    if not numbers:
        return {}
    halves = np.frombuffer(joined, ">u8").reshape(-1, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))  # stable: equal ones stay in input order
    is_new = np.ones(len(order), bool)
    is_new[1:] = (halves[order[1:]] != halves[order[:-1]]).any(axis=1)
    firsts = order[np.flatnonzero(is_new)[np.cumsum(is_new) - 1]]
    names = np.frombuffer(numbers, np.int64)
    repeats = order[~is_new]
    return dict(sorted(zip(names[repeats].tolist(), names[firsts[~is_new]].tolist(), strict=True)))
