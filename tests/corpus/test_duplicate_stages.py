"""A run that is cut into parts finds the same duplicates as one process, whatever the parts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.corpus import components, duplicate_stages, duplicates
from mainmatter.corpus.components import first_of_components
from mainmatter.corpus.duplicate_stages import (
    DUPLICATES,
    PARTS,
    SHUFFLE,
    do_stage,
    find_all_duplicates,
    pack_signature,
    read_duplicates,
    signatures_name,
)
from mainmatter.corpus.duplicates import KINDS, band_shape, find_duplicates
from mainmatter.corpus.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

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
    """MinHash signatures; most are an earlier one with some values changed, so that the ends of a chain are far apart."""
    rate, made = dice.choice([0.02, 0.1, 0.15, 0.2]), []
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
    for number, (start, end) in enumerate(zip(cuts, cuts[1:], strict=False)):
        entries = (pack_signature(f"page {page}", signatures[page]) for page in range(start, end))
        folder.write(signatures_name(number), b"".join(entries))
    return np.diff(cuts).tolist()


def run_here(folder: Folder, kind: str) -> Callable[..., None]:
    """Does the tasks of a stage twice each and in reverse order, as engines may."""

    def run(stage: str, count: int, stages: tuple[str, ...]) -> None:
        assert stage in stages
        for number in [*reversed(range(count)), 0]:
            do_stage(folder, kind, stage, number)

    return run


def lists_of(folder: Folder) -> list[bytes]:
    return [folder.read(f"{DUPLICATES}/{name}") for name in folder.names(DUPLICATES)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_parts_find_what_one_process_finds(
    kind: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "_BUCKETS", 1 << 12)  # enough, and quicker to write
    dice = np.random.default_rng(seed)
    signatures = MAKERS[kind](dice, 250)
    folder = Folder(str(tmp_path))
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
    for name in ("duplicates.json", "duplicates-parts.json"):
        (tmp_path / "__run" / name).unlink()
    folder.remove_all(DUPLICATES)
    monkeypatch.setitem(duplicate_stages.MOST_PAGES, kind, MOST)
    for module, name, value in [
        (duplicate_stages, "_ROWS", 7),
        (duplicate_stages, "_PIECE", 11),
        (components, "_WIDTH", 17),
        (components, "_PAIRS", 5),
    ]:
        monkeypatch.setattr(module, name, value)
    find_all_duplicates(folder, kind, pages, run_here(folder, kind))
    assert len(json.loads(folder.read(PARTS))["shards"]) > 4
    assert lists_of(folder) == whole
