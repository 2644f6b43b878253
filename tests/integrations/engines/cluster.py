"""A cluster of two machines, both of them this one, that is put through trouble; run by test_clusters.py, by itself.

    python cluster.py ENGINE SHARD_SIZE OUT INPUT...

The corpus goes to OUT/corpus. What happened is printed as JSON.
"""

from __future__ import annotations

import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mainmatter.cli.corpus import command
from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.duplicate_stages import MOST_PAGES
from mainmatter.corpus.engines import ENGINES, get_engine
from mainmatter.corpus.engines import ray as ray_engine
from mainmatter.corpus.job import Job
from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def ray_cluster() -> Iterator[int]:
    """Two nodes with a processor each; a dead one is noticed sooner than by default. Gives the first one's raylet."""
    import ray  # only the engine that is tested need be installed
    from ray.cluster_utils import Cluster

    settings = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 20}
    cluster: Any = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, "_system_config": settings}
    )
    try:
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        yield cluster.head_node.all_processes["raylet"][0].process.pid
    finally:
        ray.shutdown()
        cluster.shutdown()


@contextmanager
def spark_cluster() -> Iterator[int]:
    """Two workers with a core each, in processes of their own; none of them is needed."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    options: dict[str, Any] = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield 0
    finally:
        session.stop()


CLUSTERS = {"ray": ray_cluster, "spark": spark_cluster}
GENERATIONS = {"ray": 1, "spark": 2}  # from the process that works up to the one that stands for the machine


class Notes:
    """What the calls of a function, on whatever machine, tell about themselves: a file for each."""

    def __init__(self, folder: Path, generations: int) -> None:
        self.folder, self.generations = folder, generations
        folder.mkdir()

    def machine(self) -> int:
        """The process that stands for the machine of the caller."""
        machine = os.getppid()
        for _ in range(self.generations - 1):
            machine = int(Path(f"/proc/{machine}/stat").read_text().rpartition(")")[2].split()[1])
        return machine

    def put(self, event: str, number: int) -> None:
        draft = self.folder / f".{uuid.uuid4().hex}"
        draft.write_text(json.dumps([event, number, self.machine()]))
        draft.rename(self.folder / f"{time.monotonic_ns()}-{draft.name[1:]}")

    def wait_for(self, event: str) -> None:
        """Wait until somebody has told of an event, but not for ever."""
        for _ in range(12_000):
            if self.count(event):
                return
            time.sleep(0.05)

    def all(self) -> list[tuple[str, int, int]]:
        return [tuple(json.loads(file.read_text())) for file in sorted(self.folder.glob("[0-9]*"))]

    def count(self, event: str) -> Counter[int]:
        return Counter(number for what, number, _ in self.all() if what == event)


def a_process_dies(run_all: Any, notes: Notes) -> dict[str, Any]:
    """One of eight calls ends its process the first time."""

    def work(number: int) -> int:
        first_time = not notes.count("begun")[number]
        notes.put("begun", number)
        if number == 3 and first_time:
            os._exit(7)
        return number * number

    return {"results": sorted(run_all(work, range(8), 2)), "begun": sorted(notes.count("begun").elements())}


def one_raises(run_all: Any, notes: Notes) -> dict[str, Any]:
    """One of the calls raises an error of our own; the others would take a minute."""

    def work(number: int) -> int:
        notes.put("begun", number)
        if number:
            time.sleep(60)
            notes.put("done", number)
        raise InputError("this one is bad")

    try:
        list(run_all(work, range(4), 2))
    except InputError as error:
        return {"error": str(error), "begun": notes.count("begun")[0], "done": notes.count("done").total()}
    return {}


def nobody_wants_the_rest(run_all: Any, notes: Notes) -> dict[str, Any]:
    """The iterator is closed after the first result."""

    def work(number: int) -> int:
        notes.put("begun", number)
        if number:
            notes.wait_for("closed")
        notes.put("done", number)
        return number

    results = run_all(work, range(8), 2)
    first = next(results)
    results.close()
    notes.put("closed", first)
    time.sleep(2)  # for those that nobody should begin any more
    return {"first": first, "done": sorted(notes.count("done").elements())}


def one_is_slow(run_all: Any, notes: Notes) -> dict[str, Any]:
    """One of eight calls takes five minutes the first time; the second time it waits until a note has arrived."""

    def work(number: int, tell: Any) -> int:
        first_time = not notes.count("begun")[number]
        notes.put("begun", number)
        tell(number)
        if number == 3:
            if first_time:
                time.sleep(300)  # what the calls above have left may hold a processor for one of them
            notes.wait_for("heard")
        return number

    ray_engine.SHORTEST_SLOW, before = 0.5, ray_engine.SHORTEST_SLOW
    results = sorted(run_all(work, range(8), 2, lambda number: notes.put("heard", number)))
    ray_engine.SHORTEST_SLOW = before
    return {
        "results": results,
        "heard": list(notes.count("heard")),
        "begun": notes.count("begun")[3],
    }


def paths_are_relative(engine: str, source: str, out: Path) -> dict[str, Any]:
    """The command, with an input and an output whose paths are relative; workers are somewhere else."""
    before = Path.cwd()
    folder = out / "relative"
    folder.mkdir()
    shutil.copy(source, folder / "a.warc.gz")
    (folder / "list.paths").write_text("a.warc.gz\n")
    os.chdir(folder)
    try:
        arguments = ["list.paths", "-o", "corpus", "--engine", engine, "-m", "density", "-f", "jsonl"]
        with redirect_stdout(io.StringIO()) as said:
            command.main(arguments, standalone_mode=False)
    finally:
        os.chdir(before)
    return {"said": said.getvalue()}


def a_machine_is_killed(name: str, inputs: list[str], out: Path, job: Job, notes: Notes, needed: int) -> dict[str, Any]:
    """A corpus is built by two machines, one of which is killed at its work."""
    module: Any = import_module(ENGINES[name])
    run_all = module.run_all
    killed: list[int] = []

    def run_and_kill(work: Any, numbers: Any, workers: int | None = None, on_note: Any = None) -> Iterator[Any]:
        def noted(number: int) -> Any:
            notes.put("begun", number)
            wait_for_two_machines(notes)
            result = work(number)
            if notes.machine() != needed:
                notes.wait_for("killed")  # else a quick machine is done before it is killed
            notes.put("done", number)
            return result

        if killer.ident is not None:  # a later stage
            yield from run_all(work, numbers, workers)
            return
        killer.start()  # beside the run, which must not wait for it
        yield from run_all(noted, numbers, workers, on_note)

    killer = threading.Thread(target=lambda: killed.append(kill_one_at_work(notes, needed)))
    module.run_all = run_and_kill
    summary = build_corpus(inputs, str(out), job, engine=name, workers=2)
    killer.join()
    return {"killed": killed, "begun": sorted(notes.count("begun").elements()), "pages": summary.pages}


def wait_for_two_machines(notes: Notes) -> None:
    """Both are to have some of the work; shards are so small that one may do all before the other has begun."""
    for _ in range(12_000):
        if len({machine for _, _, machine in notes.all()}) > 1 or notes.count("done"):
            return
        time.sleep(0.05)


def kill_one_at_work(notes: Notes, needed: int) -> int:
    """Kill -9 a machine, with all its processes, that has begun its work on a number; which number."""
    for _ in range(12_000):
        for number, machine in under_way(notes).items():
            if machine == needed:
                continue
            time.sleep(0.3)  # so that it is in the middle of it
            for victim in (machine, *descendants(machine)):
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            notes.put("killed", number)
            return number
        time.sleep(0.05)
    raise TimeoutError("no machine but the first is at work")


def under_way(notes: Notes) -> dict[int, int]:
    """Which numbers are begun and not done, on which machine."""
    machines: dict[int, int] = {}
    for event, number, machine in notes.all():
        if event == "begun":
            machines[number] = machine
        else:
            machines.pop(number, None)
    return machines


def descendants(process: int) -> list[int]:
    table = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children: dict[int, list[int]] = {}
    for line in table.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def main(engine: str, shard_size: int, out: Path, inputs: list[str]) -> None:
    def notes(name: str) -> Notes:
        return Notes(out / name, GENERATIONS[engine])

    run_all = get_engine(engine)
    job = Job(shard_size=shard_size, duplicates="exact")
    MOST_PAGES["exact"] = 50  # so that they are found in parts
    with CLUSTERS[engine]() as needed:
        happened = {
            "dies": a_process_dies(run_all, notes("dies")),
            "raises": one_raises(run_all, notes("raises")),
            "closed": nobody_wants_the_rest(run_all, notes("closed")),
            "relative": paths_are_relative(engine, inputs[0], out),
            "slow": one_is_slow(run_all, notes("slow")) if engine == "ray" else None,  # Spark wants two hosts for that
            "killed": a_machine_is_killed(engine, inputs, out / "corpus", job, notes("killed"), needed),
        }
        print(json.dumps(happened))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
