"""Ray and Spark for real: clusters of two machines, both of them this one, with processes and a machine that die.

What happens on the clusters is in cluster.py, which runs by itself: neither leaves a process as it was.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 900  # seconds until something that never happens is given up


@pytest.fixture(scope="module", params=["ray", "spark"])
def cluster(
    request: pytest.FixtureRequest, archives: Path, shard_size: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """What happened on a cluster of an engine, and the folder of its corpus."""
    engine: str = request.param
    skip_without(engine)
    folder = tmp_path_factory.mktemp(engine)
    with tempfile.TemporaryDirectory(prefix="mainmatter-") as scratch:  # Ray's sockets need a short path
        environment = os.environ | {"RAY_TMPDIR": scratch, "RAY_raylet_start_wait_time_s": str(PATIENCE)}
        if engine == "spark":
            environment["SPARK_HOME"] = str(spark_home(Path(scratch)))
        script = Path(__file__).with_name("cluster.py")
        inputs = sorted(map(str, archives.glob("*.warc.gz")))
        command = [sys.executable, str(script), engine, str(shard_size), str(folder), *inputs]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    happened = next(line for line in run.stdout.splitlines() if line.startswith("{"))  # Ray may add lines of its own
    yield json.loads(happened) | {"out": folder / "corpus"}
    shutil.rmtree(folder)


def skip_without(engine: str) -> None:
    if engine == "spark" and not shutil.which("java"):
        pytest.skip("Spark needs Java, which is not installed")


def spark_home(scratch: Path) -> Path:
    """The installed Spark at another place: its local cluster writes into its home."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = scratch / "spark"
    home.mkdir()
    for entry in Path(spec.origin).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    return home


def test_a_call_whose_process_dies_is_made_again(cluster: dict[str, Any]) -> None:
    assert cluster["dies"]["results"] == [number * number for number in range(8)]
    assert sorted([*range(8), 3]) == cluster["dies"]["begun"]


def test_what_a_call_raises_is_raised_at_once(cluster: dict[str, Any]) -> None:
    assert cluster["raises"]["error"] == "this one is bad"
    assert cluster["raises"]["begun"] == 1
    assert cluster["raises"]["done"] == 0  # none of the others was waited for


def test_what_nobody_wants_is_not_begun(cluster: dict[str, Any]) -> None:
    assert cluster["closed"]["first"] == 0
    assert set(cluster["closed"]["done"]) <= {0, 1, 2}  # those that were under way may come to their end


def test_a_slow_call_is_made_once_more(cluster: dict[str, Any]) -> None:
    if cluster["slow"] is None:
        pytest.skip("Spark makes a call again on another host only, and there is one")
    assert cluster["slow"]["results"] == list(range(8))
    assert cluster["slow"]["begun"] == 2
    assert cluster["slow"]["heard"]


def test_paths_may_be_relative(cluster: dict[str, Any]) -> None:
    assert "written to corpus (1 part)" in cluster["relative"]["said"]
    rows = (cluster["out"].parent / "relative" / "corpus" / "part-00000.jsonl").read_text().splitlines()
    assert len(rows) == 39
    assert {json.loads(row)["source"] for row in rows} == {"a.warc.gz"}


def test_a_machine_that_is_killed_changes_no_byte(
    cluster: dict[str, Any], local_corpus: dict[str, bytes], corpus_files: Callable[[Path], dict[str, bytes]]
) -> None:
    (lost,) = cluster["killed"]["killed"]
    assert cluster["killed"]["begun"].count(lost) == 2
    assert cluster["killed"]["pages"] == 240
    assert len(local_corpus) > 12
    assert corpus_files(cluster["out"]) == local_corpus
