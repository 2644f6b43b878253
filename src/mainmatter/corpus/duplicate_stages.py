"""Duplicates over a whole run: signatures of all shards in, for each shard a list of the pages to drop out.

A run whose signatures fit into memory is compared by one process (`duplicates.find_duplicates`). A larger one is cut
into parts, which are shards that follow each other, and into as many buckets; then the engine works on it, and no
process holds more than a part of the signatures. What comes out is the same. Pages are numbered in input order.

i-match           terms      a part counts in how many texts each term is
                  sum        one process adds these up
exact, i-match    digests    a part sends the digests of its pages, each once, to buckets by their first bits
                  equal      a bucket finds the first page that has each digest
near              bands      a part sends the hashes of its bands, each once, to buckets
                  repeats    a bucket says which of them come from more than one part
                  alike      a part keeps the signatures that share a band with another one
                  send-B     a part sends those that do so in band B, and of which group they are, to buckets
                  match-B    a bucket compares the whole signatures
                  join-B     one process makes groups of the pairs, and of the groups of the bands before
all               names      a part tells the others the ids of its pages that theirs repeat
                  lists      a part writes the lists of its shards

Bands come one after the other, as they do in one process, since two pages of one group are not compared again: what a
page is compared with next depends on the bands before. Within a band each bucket stands for itself.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from mainmatter.corpus import storage
from mainmatter.corpus.components import first_of_components
from mainmatter.corpus.duplicates import (
    MOST_LEADERS,
    PERMUTATIONS,
    REASONS,
    THRESHOLD,
    band_hashes,
    band_shape,
    find_duplicates,
    first_of_equal,
    gather_digests,
    imatch_digests,
    near_pairs,
    term_counts,
)
from mainmatter.corpus.folder import RUN, Folder
from mainmatter.corpus.shuffle import SHUFFLE, Shuffle
from mainmatter.corpus.summary import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Indices = NDArray[np.int64]
    Hashes = NDArray[np.uint64]
    Records = NDArray[Any]

# How many pages one process compares at once. Memory: 0.8 GB for exact and i-match; 0.5 GB for near, and 2 GB of disk.
MOST_PAGES = {"exact": 8_000_000, "i-match": 8_000_000, "near": 4_000_000}
_PIECE = 250_000  # signatures in a file, or compared at once: 130 MB
_SPREAD = np.uint64(0xD1B54A32D192ED03)  # odd; by times of it the hashes of one band differ from those of another

_DIGEST = np.dtype([("halves", "<u8", 2), ("page", "<i8")])
_ALIKE = np.dtype([("page", "<i8"), ("bands", "<u8"), ("signature", "<u4", PERMUTATIONS)])
_MEMBER = np.dtype([("hash", "<u8"), ("page", "<i8"), ("first", "<i8"), ("signature", "<u4", PERMUTATIONS)])

FOUND = f"{RUN}/duplicates.json"
PARTS = f"{RUN}/duplicates-parts.json"
CLEANED = f"{RUN}/cleaned"
SIGNATURES = f"{RUN}/signatures"
DUPLICATES = f"{RUN}/duplicates"
CLEANED_REJECTS = f"{CLEANED}/rejects"
WORKING_FOLDERS = (CLEANED, CLEANED_REJECTS, SIGNATURES, DUPLICATES, SHUFFLE)


def cleaned_name(name: str) -> str:
    """Where a file of the output waits until duplicates are dropped."""
    return f"{CLEANED}/{name}"


def signatures_name(number: int) -> str:
    """The name of the file of a shard's signatures."""
    return f"{SIGNATURES}/{number:05}.bin"


def pack_signatures(entries: Sequence[tuple[str, bytes]]) -> bytes:
    """The ids of a shard's pages and their signatures, as they lie in the file: how long each is, all ids, the rest."""
    ids = [page.encode("utf-8", "replace") for page, _ in entries]
    sizes = np.array([[len(one) for one in ids], [len(signature) for _, signature in entries]], "<u4")
    return b"".join((len(entries).to_bytes(8, "little"), sizes.tobytes(), *ids, *(one for _, one in entries)))


def read_duplicates(folder: Folder, number: int) -> dict[int, tuple[str, str]]:
    """The rows of a cleaned shard to drop, by their number: the reason, and the id of the page that is repeated."""
    content = json.loads(folder.read(_duplicates_name(number)))
    return {int(index): (reason, first) for index, (reason, first) in content.items()}


def find_all_duplicates(
    folder: Folder, kind: str, pages: Sequence[int], run: Callable[[str, int, tuple[str, ...]], object]
) -> None:
    """Find the duplicates of a run, once: their lists are kept.

    Args:
        folder: the run's.
        kind: one of `duplicates.KINDS`.
        pages: how many pages each shard has in its file of signatures.
        run: called with a stage, how many tasks it has and the names of all stages; does those tasks that are not
            done yet, each by `do_stage`.
    """
    if folder.exists(FOUND):
        return
    if not folder.exists(PARTS):
        shape = band_shape(THRESHOLD) if kind == "near" else (0, 0)  # takes a second to find out
        content = {"pages": list(pages), "shards": _cut(pages, MOST_PAGES[kind]), "bands": shape}
        folder.write(PARTS, json.dumps(content).encode())
    parts = _read_parts(folder)
    if parts.count == 1:
        _find_in_one_process(folder, kind, parts)
    stages = _stages(kind, parts) if parts.count > 1 else {}
    for stage, count in stages.items():
        run(stage, count, tuple(stages))
        for spent in _spent(stage):
            Shuffle(folder, parts.count).forget(spent)
    folder.write(FOUND, b"{}\n")


def do_stage(folder: Folder, kind: str, stage: str, number: int) -> Report:
    """Do one stage of finding duplicates, for one part or one bucket."""
    began = time.monotonic()
    parts = _read_parts(folder)
    shards = parts.shards_of(number)
    task = _StageTask(kind, stage, number, parts, _Pages(folder, parts, shards), Shuffle(folder, parts.count))
    count: int = getattr(task, stage.partition("-")[0])()
    return Report(stage, number, pages=count, seconds=round(time.monotonic() - began, 3))


def _stages(kind: str, parts: _Parts) -> dict[str, int]:
    """The stages of a kind, and of how many tasks each is."""
    if kind == "near":
        names = ["bands", "repeats", "alike"]
        names += [f"{stage}-{band:02}" for band in range(parts.bands) for stage in ("send", "match", "join")]
    else:
        names = [*(("terms", "sum") if kind == "i-match" else ()), "digests", "equal"]
    return {name: 1 if name.startswith(("sum", "join")) else parts.count for name in (*names, "names", "lists")}


def _spent(stage: str) -> Sequence[str]:
    """Whose files nobody needs any more after a stage."""
    name, _, band = stage.partition("-")
    if name == "join":
        return f"send-{band}", f"match-{band}", _before(stage)
    return {"sum": ["terms"], "digests": ["sum"], "equal": ["digests"], "alike": ["bands", "repeats"]}.get(stage, [])


def _before(join: str) -> str:
    """The stage that made the groups of the bands before."""
    return f"join-{int(join[-2:]) - 1:02}"


@dataclass(frozen=True, slots=True)
class _Parts:
    """How a run is cut.

    Attributes:
        starts: the number of the first page of each shard; the last is how many pages there are.
        shards: the first shard of each part; the last is how many shards there are.
        bands: how many bands a signature of MinHash has.
        rows: how many values a band has.
    """

    starts: Indices
    shards: Indices
    bands: int
    rows: int

    @property
    def count(self) -> int:
        return len(self.shards) - 1

    def of(self, pages: Indices) -> Indices:
        """The parts of pages."""
        return np.searchsorted(self.starts[self.shards[1:-1]], pages, side="right")

    def bucket(self, hashes: Hashes) -> Indices:
        """The buckets of hashes, or of what else is spread evenly; they ascend if the hashes do."""
        return ((hashes >> np.uint64(32)) * np.uint64(self.count) >> np.uint64(32)).astype(np.int64)

    def shards_of(self, part: int) -> range:
        return range(int(self.shards[part]), int(self.shards[part + 1]))


def _cut(pages: Sequence[int], most: int) -> list[int]:
    """The first shard of each part; a part has no more pages than that, unless one shard has."""
    firsts, size = [0], 0
    for shard, count in enumerate(pages):
        if size and size + count > most:
            firsts.append(shard)
            size = 0
        size += count
    return [*firsts, len(pages)]


def _read_parts(folder: Folder) -> _Parts:
    content = json.loads(folder.read(PARTS))
    return _Parts(np.cumsum([0, *content["pages"]]), np.array(content["shards"]), *content["bands"])


def _find_in_one_process(folder: Folder, kind: str, parts: _Parts) -> None:
    pages = _Pages(folder, parts, parts.shards_of(0))
    found = find_duplicates(kind, pages)
    pairs = np.array([(page, first) for page, (_, first) in found.items()], np.int64).reshape(-1, 2)
    pages.write_lists(pairs, pages.names(pairs[:, 1]), REASONS[kind])


@dataclass(frozen=True, slots=True)
class _Pages:
    """The pages of some shards: their numbers and signatures, which may be gone through several times."""

    folder: Folder
    parts: _Parts
    shards: range

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for pages, sizes, signatures in self._signatures():
            ends = np.cumsum(sizes).tolist()
            for page, start, end in zip(pages.tolist(), [0, *ends], ends, strict=False):
                yield page, signatures[start:end]

    def tables(self, dtype: str, columns: int) -> Iterator[tuple[Indices, Records]]:
        """The same for signatures of one size, where there is one: numbers, and a row for each; shard by shard."""
        for pages, sizes, signatures in self._signatures():
            yield pages[sizes > 0], np.frombuffer(signatures, dtype).reshape(-1, columns)

    def names(self, wanted: Indices) -> dict[int, str]:
        """The ids of those of the wanted pages that are here."""
        names: dict[int, str] = {}
        wanted = np.unique(wanted)
        for shard in self.shards:
            start = self._start(shard)
            ours = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, self._start(shard + 1))]
            if len(ours):
                with storage.open_input(self.folder.path(signatures_name(shard))) as file:
                    sizes, _ = _read_sizes(file)
                    ids = file.read(int(sizes.sum()))
                ends = np.cumsum(sizes)[ours - start].tolist()
                begins = (np.cumsum(sizes) - sizes)[ours - start].tolist()
                names |= {
                    page: ids[begin:end].decode() for page, begin, end in zip(ours.tolist(), begins, ends, strict=True)
                }
        return names

    def write_lists(self, pairs: Indices, names: Mapping[int, str], reason: str) -> None:
        """Write which pages each shard is to drop.

        Args:
            pairs: pages to drop, ascending, and the pages that they repeat.
            names: the ids of the latter.
            reason: why.
        """
        for shard in self.shards:
            start, end = np.searchsorted(pairs[:, 0], self.parts.starts[shard : shard + 2])
            dropped = {page - self._start(shard): (reason, names[first]) for page, first in pairs[start:end].tolist()}
            self.folder.write(_duplicates_name(shard), json.dumps(dropped).encode())

    def _signatures(self) -> Iterator[tuple[Indices, NDArray[np.uint32], bytes]]:
        """Of each shard the numbers of its pages, the sizes of their signatures, and these."""
        for shard in self.shards:
            with BytesIO(self.folder.read(signatures_name(shard))) as file:
                of_ids, sizes = _read_sizes(file)
                file.seek(int(of_ids.sum()), os.SEEK_CUR)
                yield self._start(shard) + np.arange(len(sizes)), sizes, file.read()

    def _start(self, shard: int) -> int:
        return int(self.parts.starts[shard])


def _read_sizes(file: BinaryIO) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """How long the ids in a file are, and the signatures; they follow."""
    count = int.from_bytes(file.read(8), "little")
    ids, signatures = np.frombuffer(file.read(8 * count), "<u4").reshape(2, count)
    return ids, signatures


def _duplicates_name(number: int) -> str:
    return f"{DUPLICATES}/{number:05}.json"


@dataclass(frozen=True, slots=True)
class _StageTask:
    """One task of a stage. Each stage is a method; it returns how many records it went through."""

    kind: str
    stage: str
    number: int
    parts: _Parts
    pages: _Pages
    shuffle: Shuffle

    def terms(self) -> int:
        counts, texts = term_counts(self.pages)
        self.shuffle.keep(self.stage, self.number, np.append(counts, np.uint32(texts)))
        return texts

    def sum(self) -> int:
        total = sum(counts.astype(np.uint64) for counts in self.shuffle.kept("terms", "<u4"))
        self.shuffle.keep(self.stage, 0, np.asarray(total))
        return 0

    def digests(self) -> int:
        if self.kind == "i-match":
            (total,) = self.shuffle.kept("sum", "<u8")
            pages, halves = gather_digests(imatch_digests(self.pages, total[:-1], int(total[-1])))
        else:
            pages, halves = map(np.concatenate, zip(*self.pages.tables(">u8", 2), strict=True))
        first = first_of_equal(halves)
        is_first = first == np.arange(len(first))
        self.shuffle.keep("same", self.number, np.column_stack((pages, pages[first]))[~is_first])
        records = np.empty(np.count_nonzero(is_first), _DIGEST)
        records["halves"], records["page"] = halves[is_first], pages[is_first]
        self.shuffle.send(self.stage, self.number, self.parts.bucket(records["halves"][:, 0]), records)
        return len(pages)

    def equal(self) -> int:
        records = np.concatenate(list(self.shuffle.received("digests", self.number, _DIGEST)))
        first = first_of_equal(records["halves"])
        repeats = np.flatnonzero(first != np.arange(len(first)))
        self._tell(np.column_stack((records["page"][repeats], records["page"][first[repeats]])))
        return len(records)

    def bands(self) -> int:
        keys = np.sort(self._band_keys(), axis=None)
        keys = keys[_is_new(keys)]
        self.shuffle.send_sorted(self.stage, self.number, self.parts.bucket(keys), keys)
        return len(keys)

    def repeats(self) -> int:
        slices = list(self.shuffle.received("bands", self.number, "<u8"))
        keys = np.concatenate(slices)
        order = np.argsort(keys)
        again = keys[order[1:]] == keys[order[:-1]]
        is_repeated = np.zeros(len(keys), bool)
        is_repeated[order[1:][again]] = is_repeated[order[:-1][again]] = True
        answers = np.split(is_repeated, np.cumsum([len(one) for one in slices])[:-1])
        self.shuffle.send_slices(self.stage, self.number, [np.packbits(one).tobytes() for one in answers])
        return len(keys)

    def alike(self) -> int:
        keys = self._band_keys()
        rows = len(keys)
        order = np.argsort(keys, axis=None)
        ordered = keys.ravel()[order]
        del keys
        is_new = _is_new(ordered)
        each = ordered[is_new]
        del ordered
        is_repeated = ~np.append(is_new[1:], True)[is_new]  # in this part
        answers = self.shuffle.received("repeats", self.number)
        counts = np.bincount(self.parts.bucket(each), minlength=self.parts.count).tolist()
        is_repeated |= np.concatenate(
            [np.unpackbits(one, count=count) for one, count in zip(answers, counts, strict=True)]
        ).astype(bool)
        is_shared = np.empty(len(order), bool)
        is_shared[order] = np.repeat(is_repeated, np.diff(np.flatnonzero(is_new), append=len(order)))
        flags = np.zeros(rows, np.uint64)  # a bit for each band
        for band, of_band in enumerate(is_shared.reshape(rows, self.parts.bands).T):
            flags |= of_band.astype(np.uint64) << np.uint64(band)
        del order, is_new, each
        row = piece = 0
        waiting: list[Records] = []
        for pages, table in self.pages.tables("<u4", PERMUTATIONS):
            chosen = np.flatnonzero(flags[row : row + len(pages)])
            records = np.empty(len(chosen), _ALIKE)
            records["page"], records["bands"] = pages[chosen], flags[row + chosen]
            records["signature"] = table[chosen]
            waiting.append(records)
            row += len(pages)
            if sum(map(len, waiting)) >= _PIECE or row == rows:
                self.shuffle.keep(self.stage, self.number, np.concatenate(waiting), piece)
                waiting, piece = [], piece + 1
        return row

    def send(self) -> int:
        band, count = int(self.stage[-2:]), 0
        joined = _pairs(self.shuffle.received(_before(f"join-{band:02}"), self.number, "<i8"))
        for piece, alike in enumerate(self.shuffle.kept("alike", _ALIKE, self.number)):
            chosen = alike[alike["bands"] >> np.uint64(band) & np.uint64(1) == 1]
            records = np.empty(len(chosen), _MEMBER)
            records["hash"] = self._hashes(chosen["signature"], band)
            records["page"], records["signature"] = chosen["page"], chosen["signature"]
            records["first"] = chosen["page"]
            _, ours, theirs = np.intersect1d(chosen["page"], joined[:, 0], assume_unique=True, return_indices=True)
            records["first"][ours] = joined[theirs, 1]
            self.shuffle.send(self.stage, self.number, self.parts.bucket(records["hash"]), records, piece)
            count += len(records)
        return count

    def match(self) -> int:
        """A bucket is gone through in input order; of what was before only those are held that are compared with."""
        held, count = np.empty(0, _MEMBER), 0
        slices = self.shuffle.received(f"send{self.stage[-3:]}", self.number, _MEMBER)
        for piece, some in enumerate(_gathered(slices, _PIECE)):
            members = np.concatenate((held, some))
            hashes, pages, first = (np.ascontiguousarray(members[name]) for name in ("hash", "page", "first"))
            is_leader = np.ones(len(members), bool)
            pairs = []
            for leaders, near in near_pairs(hashes, members["signature"], first, THRESHOLD):
                is_leader[near] = False
                apart = first[leaders] != first[near]
                pairs.append(np.column_stack((pages[near], pages[leaders]))[apart])
            self.shuffle.keep(self.stage, self.number, _pairs(pairs), piece)
            held = members[is_leader]
            held = held[_rank(held["hash"]) < MOST_LEADERS]
            count += len(some)
        return count

    def join(self) -> int:
        before, matched = _before(self.stage), f"match{self.stage[-3:]}"
        edges = chain(
            *(self.shuffle.received(before, part, "<i8") for part in range(self.parts.count)),
            self.shuffle.kept(matched, "<i8"),
        )
        is_last = int(self.stage[-2:]) == self.parts.bands - 1
        count = 0
        joined = first_of_components((one.reshape(-1, 2) for one in edges), int(self.parts.starts[-1]))
        for piece, pairs in enumerate(joined):
            count += len(pairs)
            if is_last:
                self._tell(pairs, piece)
            else:
                self.shuffle.send(self.stage, 0, self.parts.of(pairs[:, 0]), pairs, piece)
        return count

    def _tell(self, pairs: Indices, piece: int = 0) -> None:
        """Send pages and what they repeat to the parts of the former, and what these want to know to the others."""
        to = self.parts.of(pairs[:, 0])
        self.shuffle.send("found", self.number, to, pairs, piece)
        asked = np.unique(np.column_stack((pairs[:, 1], to)), axis=0)
        self.shuffle.send("asked", self.number, self.parts.of(asked[:, 0]), asked, piece)

    def names(self) -> int:
        asked = _pairs(self.shuffle.received("asked", self.number, "<i8"))
        names = self.pages.names(asked[:, 0])
        answers: list[dict[int, str]] = [{} for _ in range(self.parts.count)]
        for page, part in asked.tolist():
            answers[part][page] = names[page]
        self.shuffle.send_slices(self.stage, self.number, [json.dumps(one).encode() for one in answers])
        return len(names)

    def lists(self) -> int:
        found = dict(_pairs(self.shuffle.received("found", self.number, "<i8")).tolist())
        same = _pairs(self.shuffle.kept("same", "<i8", self.number))
        found |= {page: found.get(first, first) for page, first in same.tolist()}
        pairs = np.array(sorted(found.items()), np.int64).reshape(-1, 2)
        names = self.pages.names(same[:, 1])
        for answers in self.shuffle.received("names", self.number):
            names |= {int(page): name for page, name in json.loads(answers.tobytes()).items()}
        self.pages.write_lists(pairs, names, REASONS[self.kind])
        return len(pairs)

    def _band_keys(self) -> Hashes:
        """For each page of the part that has a signature: a hash of each band; those of two bands differ."""
        bands = self.parts.bands
        first, end = self.pages.shards.start, self.pages.shards.stop
        keys = np.empty((int(self.parts.starts[end] - self.parts.starts[first]), bands), np.uint64)
        spread = np.arange(bands, dtype=np.uint64) * _SPREAD
        row = 0
        for pages, table in self.pages.tables("<u4", PERMUTATIONS):
            for band in range(bands):
                keys[row : row + len(pages), band] = self._hashes(table, band)
            row += len(pages)
        keys = keys[:row]
        keys += spread
        return keys

    def _hashes(self, table: NDArray[np.uint32], band: int) -> Hashes:
        return band_hashes(table[:, band * self.parts.rows : (band + 1) * self.parts.rows])


def _pairs(arrays: Iterable[Records]) -> Indices:
    """Pairs that come some at a time."""
    return np.concatenate([np.empty((0, 2), np.int64), *(one.reshape(-1, 2) for one in arrays)])


def _gathered(arrays: Iterable[Records], size: int) -> Iterator[Records]:
    """Arrays, as few that follow each other as make up that many rows in one."""
    waiting: list[Records] = []
    for array in arrays:
        waiting.append(array)
        if sum(map(len, waiting)) >= size:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _is_new(ordered: Hashes) -> NDArray[np.bool]:
    """Which are the first of equal ones. `np.unique` takes 200 times as long: it hashes what this compares."""
    return np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]


def _rank(hashes: Hashes) -> Indices:
    """How many equal ones stand before each."""
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(_is_new(hashes[order]))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return rank
