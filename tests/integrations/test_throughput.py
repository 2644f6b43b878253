from __future__ import annotations

from pathlib import Path

import pytest

from bench.throughput import Throughput, measure_throughput
from mainmatter.errors import InputError

ARCHIVE = Path(__file__).parents[2] / "examples" / "crawl.warc.gz"


def test_ours_and_a_loop_make_a_corpus_of_the_same_archive() -> None:
    turns: list[Throughput] = []
    found = measure_throughput(["main", "fastwarc-resiliparse"], [ARCHIVE], [1], rounds=1, on_turn=turns.append)
    assert [one.name for one in found] == ["main", "fastwarc-resiliparse"]
    assert turns == found
    for one in found:
        assert one.pages > 20
        assert one.cpu_seconds > 0
        assert one.megabytes == pytest.approx(ARCHIVE.stat().st_size / 1e6)
        assert one.pages_per_second == pytest.approx(one.pages / one.seconds)


def test_two_processes_read_two_archives() -> None:
    (one,) = measure_throughput(["fastwarc-resiliparse"], [ARCHIVE, ARCHIVE], [2])
    (single,) = measure_throughput(["fastwarc-resiliparse"], [ARCHIVE], [1])
    assert one.pages == 2 * single.pages


def test_datatrove_with_trafilatura_runs_here() -> None:
    (one,) = measure_throughput(["datatrove-trafilatura"], [ARCHIVE], [1])
    assert one.pages > 15


def test_a_missing_archive_is_named() -> None:
    with pytest.raises(InputError, match=r"nowhere\.warc\.gz: no such file"):
        measure_throughput(["main"], [Path("nowhere.warc.gz")])


def test_a_contestant_that_fails_is_named() -> None:
    with pytest.raises(InputError, match=r"main:dial=7, 1 workers: failed: .*dial"):
        measure_throughput(["main:dial=7"], [ARCHIVE], [1])
