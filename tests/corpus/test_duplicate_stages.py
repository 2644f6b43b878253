"""A run that is cut into parts finds the same duplicates as one process, whatever the parts."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from crawls import files_of, page, pages, write_warc
from mainmatter.corpus import Job, Progress, build, build_corpus, components, duplicate_stages, duplicates, storage
from mainmatter.corpus.components import first_of_components
from mainmatter.corpus.duplicate_stages import (
    DUPLICATES,
    FOUND,
    PARTS,
    do_stage,
    find_all_duplicates,
    pack_signatures,
    read_duplicates,
    signatures_name,
)
from mainmatter.corpus.duplicates import KINDS, find_duplicates
from mainmatter.corpus.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from mainmatter.corpus.summary import Report

MOST = 60  # pages of a part


def digests(dice: np.random.Generator, count: int) -> list[bytes]:
    return [bytes([int(dice.integers(count // 2))]) * 16 if dice.random() < 0.9 else b"" for _ in range(count)]


def terms(dice: np.random.Generator, count: int) -> list[bytes]:
    """Sets of terms, of which the first few are in nearly all."""
    made: list[bytes] = []
    for _ in range(count):
        own = dice.integers(1000, 1000 + count, 3)
        common = np.arange(6)[dice.random(6) < 0.9]
        made.append(np.unique(np.concatenate((own * (dice.random() < 0.7), common))).astype("<u4").tobytes())
    return made


def chains(dice: np.random.Generator, count: int) -> list[bytes]:
    """MinHash signatures; most are an earlier one with some values changed: the ends of a chain are far apart."""
    rate = dice.choice([0.02, 0.1, 0.15, 0.2])
    made: list[np.ndarray] = []
    for _ in range(count):
        values = dice.integers(0, 2**32, 128, np.uint32)
        if made and dice.random() < 0.8:
            kept = dice.random(128) > rate * 2 * dice.random() * (dice.random() < 0.9)
            values[kept] = made[dice.integers(len(made))][kept]
        made.append(values)
    return [b"" if dice.random() < 0.05 else values.tobytes() for values in made]


MAKERS = {"exact": digests, "i-match": terms, "near": chains}


def write_shards(folder: Folder, signatures: Sequence[bytes], dice: np.random.Generator) -> list[int]:
    """Shards of various sizes, some of them empty; the ids are numbers. Gives how many pages each has."""
    cuts = [0, *sorted(dice.integers(0, len(signatures) + 1, 14).tolist()), len(signatures)]
    for number, (start, end) in enumerate(pairwise(cuts)):
        entries = [(f"page {page}", signatures[page]) for page in range(start, end)]
        folder.write(signatures_name(number), pack_signatures(entries))
    return [end - start for start, end in pairwise(cuts)]


def run_here(folder: Folder, kind: str) -> Callable[..., None]:
    """Does the tasks of a stage twice each and in reverse order, as engines may."""

    def run(stage: str, count: int, stages: tuple[str, ...]) -> None:
        assert stage in stages
        for number in [*reversed(range(count)), 0]:
            do_stage(folder, kind, stage, number)

    return run


def lists_of(folder: Folder) -> list[bytes]:
    return [folder.read(f"{DUPLICATES}/{name}") for name in folder.names(DUPLICATES)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Cuts the runs of a kind, and whatever is done some at a time, into small pieces."""

    def cut(kind: str) -> None:
        monkeypatch.setitem(duplicate_stages.MOST_PAGES, kind, MOST)
        monkeypatch.setattr(duplicate_stages, "_PIECE", 11)
        monkeypatch.setattr(components, "_WIDTH", 17)
        monkeypatch.setattr(components, "_PAIRS", 5)

    return cut


def check_parts(folder: Folder, kind: str, signatures: list[bytes], dice: np.random.Generator, cut: Any) -> None:
    """Make sure that both ways list what is found among all signatures at once."""
    pages = write_shards(folder, signatures, dice)
    find_all_duplicates(folder, kind, pages, lambda *_: pytest.fail("one process is enough"))
    expected = find_duplicates(kind, list(enumerate(signatures)))
    listed, start = {}, 0
    for number, count in enumerate(pages):
        for index, (reason, first) in read_duplicates(folder, number).items():
            listed[start + index] = reason, int(first.removeprefix("page "))
        start += count
    assert listed == expected
    assert len(expected) > 40

    whole = lists_of(folder)
    for name in (FOUND, PARTS):
        storage.remove(folder.path(name))
    folder.remove_all(DUPLICATES)
    cut(kind)
    find_all_duplicates(folder, kind, pages, run_here(folder, kind))
    assert len(json.loads(folder.read(PARTS))["shards"]) > 4
    assert lists_of(folder) == whole


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_parts_find_what_one_process_finds(
    kind: str, seed: int, tmp_path: Path, small: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "_BUCKETS", 1 << 12)  # enough, and quicker to write
    dice = np.random.default_rng(seed)
    signatures = MAKERS[kind](dice, 250)
    if seed == 0:
        signatures[50:50] = [b""] * 200  # some parts have pages without words only
    check_parts(Folder(str(tmp_path)), kind, signatures, dice, small)


@pytest.mark.parametrize("most", [2, 100])
def test_crowded_buckets_change_nothing(
    most: int, tmp_path: Path, small: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all pages of a bucket are unlike, and only some of them are compared with the others."""
    for module in (duplicates, duplicate_stages):
        monkeypatch.setattr(module, "band_hashes", lambda band: (band[:, 0] % 3).astype(np.uint64) << np.uint64(62))
        monkeypatch.setattr(module, "MOST_LEADERS", most)
    dice = np.random.default_rng(most)
    check_parts(Folder(str(tmp_path)), "near", chains(dice, 250), dice, small)


def test_what_is_killed_again_and_again_ends_with_the_same_bytes(
    tmp_path: Path, small: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = pages(9) | {f"https://example.org/{number + 9}": page(number, " more") for number in range(5)}
    crawl = write_warc(tmp_path / "crawl.warc.gz", contents)
    job = Job(method="density", format="jsonl", duplicates="near", shard_size=900)
    inputs, out = [str(crawl)], tmp_path / "parts"
    whole = build_corpus(inputs, str(tmp_path / "whole"), job, workers=1)
    assert whole.rejects["near-duplicate"] >= 5
    assert whole.kept > 2
    assert whole.shards > 5

    calls = 0
    mark = Folder.mark

    def die_sometimes(folder: Folder, report: Report) -> None:
        nonlocal calls
        calls += 1
        if calls % 29 == 0:
            raise InterruptedError  # the work is done, and nobody knows it
        mark(folder, report)
        if calls % 31 == 0:
            raise InterruptedError

    small("near")
    monkeypatch.setitem(duplicate_stages.MOST_PAGES, "near", 5)
    monkeypatch.setattr(build, "get_engine", lambda _: lambda work, numbers, workers: map_closing(work, numbers))
    monkeypatch.setattr(Folder, "mark", die_sometimes)
    deaths = 0
    seen: list[Progress] = []
    for _ in range(100):
        try:
            summary = build_corpus(inputs, str(out), job, report=seen.append)
            break
        except InterruptedError:
            deaths += 1
    assert deaths > 5
    assert summary.rejects == whole.rejects
    assert files_of(out) == files_of(tmp_path / "whole")
    assert [file for file in (out / "__run").iterdir() if file.is_dir()] == []
    assert {one.stage for one in seen} >= {"clean", "bands", "join-13", "lists", "unique"}
    assert seen[-1].stages.index("unique") == len(seen[-1].stages) - 1


def map_closing(work: Callable[[int], Any], numbers: Sequence[int]) -> Iterator[Any]:
    """An engine that works here."""
    for number in numbers:
        yield work(number)


@pytest.mark.parametrize("seed", range(6))
def test_components_in_ranges_are_those_of_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(seed)
    count = int(dice.integers(1, 200))
    ends = np.sort(dice.integers(0, count, (int(dice.integers(2 * count)), 2)), axis=1)[:, ::-1]
    edges = ends[ends[:, 0] > ends[:, 1]]
    first = components.join(np.arange(count), edges[:, 0], edges[:, 1])
    later = np.flatnonzero(first != np.arange(count))
    expected = np.column_stack((later, first[later])).tolist()
    assert np.concatenate(list(first_of_components([edges], count))).tolist() == expected
    monkeypatch.setattr(components, "_WIDTH", int(dice.integers(1, 40)))
    monkeypatch.setattr(components, "_PAIRS", 3)
    found = list(first_of_components(np.array_split(edges, 5), count))
    assert [pair for pairs in found for pair in pairs.tolist()] == expected
