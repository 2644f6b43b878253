"""Whether the memory that is held grows."""

from __future__ import annotations

import sys
from itertools import cycle

import pytest

from bench.memory import (
    CHECKPOINTS,
    MemoryCurve,
    watch_memory,
    watch_memory_afresh,
)
from mainmatter.records import Page

SAMPLE = [Page(f"<p>page {n}</p>".encode()) for n in range(5)]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")


def test_growth_counts_from_when_all_pages_were_seen() -> None:
    curve = MemoryCurve([(1, 10.0), (5, 50.0), (10, 45.0), (15, 58.0), (20, 55.0)], 5, 0)
    assert curve.growth_mb == pytest.approx(8.0)
    assert MemoryCurve([(5, 50.0), (10, 40.0)], 5, 0).growth_mb == 0.0
    assert MemoryCurve([], 5, 0).growth_mb == 0.0


def test_memory_is_looked_at_at_intervals() -> None:
    held = iter(range(1000))
    seen: list[tuple[int, float]] = []
    curve = watch_memory(
        "ice-baseline",
        cycle(SAMPLE),
        4 * CHECKPOINTS + 2,
        len(SAMPLE),
        hold=lambda: float(next(held)),
        on_point=lambda done, mb: seen.append((done, mb)),
    )
    assert [done for done, _ in curve.points] == [4, 5, *range(8, 81, 4), 82]  # the last and the whole sample too
    assert curve.points == seen
    assert curve.growth_mb == 20.0
    assert curve.failures == 0


def test_a_system_that_does_not_say() -> None:
    assert watch_memory("ice-baseline", SAMPLE, 5, 5, hold=lambda: None).points == []


def test_pages_that_cannot_be_cleaned_are_counted() -> None:
    pages = [SAMPLE[0], Page(b"x" * 100_000_000)]  # over the limit
    assert watch_memory("ice-baseline", pages, 2, 2).failures == 1


@linux
def test_a_new_process_holds_little_and_reads_pages_as_needed() -> None:
    seen: list[int] = []
    curve = watch_memory_afresh("ice-baseline", SAMPLE, 40, on_point=lambda done, _: seen.append(done))
    assert (curve.warm_after, curve.failures) == (5, 0)
    assert [done for done, _ in curve.points] == seen
    assert seen[-1] == 40
    assert curve.growth_mb < 20
