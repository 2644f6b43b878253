"""scripts/storage_requests.py and scripts/simulate_dump.py: what they count, on a small scale."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crawls import pages, write_warc
from mainmatter.corpus.engines import ENGINES
from mainmatter.corpus.retries import DEADLINE
from script_modules import load_script

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def simulation() -> Any:
    pytest.importorskip("fsspec")
    return load_script("simulate_dump")


def test_a_driver_asks_once_for_each_archive_and_marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s3fs = pytest.importorskip("s3fs")
    s3fs.S3FileSystem.clear_instance_cache()  # or it would ask the server of an earlier test
    script = load_script("storage_requests")
    for name in script.VARIABLES:  # which it sets
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("mainmatter.corpus.engines.ENGINES", dict(ENGINES))
    process, server = script.start(latency=1)
    try:
        few, many = (
            {part.name: part.requests for part in script.measure(server, n, named=True)} for n in (20, 50)
        )  # fewer than are listed
        folder = {part.name: part.requests for part in script.measure(server, 50, named=False)}
        [one] = script.work(server, write_warc(tmp_path / "one.warc.gz", pages(3)))
    finally:
        process.kill()
        process.wait()
    more = {name: many[name] - few[name] for name in few}
    assert more == {
        "plan": {"HEAD": 30},  # each input
        "resume": {"HEAD": 30, "GET": 30},  # each input again, and each marker
        "finish": {},
        "restart: plan and delete": {"HEAD": 30},
    }
    # Parts, markers, what else was in that folder, and what was begun beside it.
    assert many["restart: plan and delete"]["DELETE of up to 1,000"] == 4
    assert folder["plan"].total() < 50
    assert one.requests["PUT"] <= 10
    assert one.requests["GET"] <= 8


def test_a_quiet_run_is_arithmetic(simulation: Any) -> None:
    quiet = simulation.Dump(
        archives=64, pages=64e4, cores=16, rate=100, spread=0, node_life=0, latency=0, bandwidth=1e9, fail=0
    )
    costs = simulation.simulate(quiet)
    assert costs.stages == [pytest.approx(4 * 100)]  # four shards for each core, each of 10,000 pages
    assert costs.paid == pytest.approx(64 * 100)
    assert costs.cleaning == pytest.approx(costs.paid)
    assert (costs.lost, costs.retries, costs.shards) == (0, 0, 64)
    assert costs.requests["GET"] == 64 * (2 + 250)
    assert simulation.simulate(replace(quiet, shard_mb=100)).shards == 640


def test_what_goes_wrong_costs(simulation: Any) -> None:
    calm = simulation.Dump(archives=400, pages=12e6, cores=40, cores_of_node=8)
    costs = simulation.simulate(calm)
    assert costs == replace(simulation.simulate(calm), planning=costs.planning)
    deadly = simulation.simulate(replace(calm, node_life=1800.0))
    assert deadly.dead_nodes > 3
    assert deadly.lost > costs.lost
    assert deadly.stages[0] > costs.stages[0]
    slow = simulation.simulate(replace(calm, fail=0.02))
    assert slow.retries > 1000
    assert slow.waiting > costs.waiting
    short = simulation.simulate(replace(calm, outage_every=600.0, outage=DEADLINE / 2))
    assert short.given_up == 0
    assert short.waiting > costs.waiting
    long = simulation.simulate(replace(calm, outage_every=600.0, outage=DEADLINE * 2))
    assert long.given_up > 0
    assert long.stages[0] > short.stages[0]
    twice = simulation.simulate(replace(calm, duplicates=1.0))
    assert len(twice.stages) == 2
    for one in (costs, deadly, slow, short, long, twice):
        assert one.cleaning + one.waiting + one.lost <= one.paid * 1.000001
