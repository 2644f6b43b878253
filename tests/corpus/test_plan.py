"""The plan of a run: what lies where, how much of it a worker reads, and that earlier ones are still read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawls import pages, write_warc
from mainmatter import InputError
from mainmatter.corpus import Job, build_corpus
from mainmatter.corpus.folder import Folder
from mainmatter.corpus.plan import check_same, make_plan, read_plan, read_shard, work_plan_of, write_plan
from mainmatter.corpus.records import Slice
from mainmatter.corpus.shard import run_shard

if TYPE_CHECKING:
    from pathlib import Path

JOB = Job(method="density", format="jsonl", shard_size=1000)


def written(out: Path, shards: list[list[Slice]]) -> Folder:
    folder = Folder(str(out))
    write_plan(folder, make_plan(JOB, ["a", "b"], len(shards), {"a": "1 bytes, then"}), shards)
    return folder


def to_old_plan(out: Path) -> None:
    """Write the plan as version 0.1 did."""
    run = out / "__run"
    plan, inputs = (json.loads((run / f"{name}.json").read_text()) for name in ("plan", "inputs"))
    shards = [
        one for _ in plan.pop("lists") for file in sorted(run.glob("shards-*")) for one in json.loads(file.read_text())
    ]
    for file in run.glob("shards-*"):
        file.unlink()
    for first in range(0, len(shards), 500):
        (run / f"shards-{first // 500:05}.json").write_text(json.dumps(shards[first : first + 500]))
    (run / "inputs.json").unlink()
    (run / "plan.json").write_text(json.dumps(plan | inputs | {"layout": 2}))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    shards = [[Slice("warc", f"{number}.warc", 0, 9)] for number in range(1001)]
    folder = written(tmp_path, shards)
    plan = read_plan(folder)
    assert (plan.inputs, plan.stamps, plan.shards, plan.job) == (("a", "b"), {"a": "1 bytes, then"}, 1001, JOB)
    for number in (0, 499, 500, 1000):
        assert read_shard(folder, number) == tuple(shards[number])
    assert folder.names("__run") == ["inputs.json", "plan.json", *(f"shards-{number:05}.json" for number in range(3))]
    assert "then" not in (tmp_path / "__run/plan.json").read_text()


def test_lists_of_shards_are_short_where_shards_are_long(tmp_path: Path) -> None:
    names = tuple(f"{number}/{'x' * 90}.html" for number in range(6000))
    shards = [[Slice("files", f"{number}", 0, 6000, names)] for number in range(5)]
    folder = written(tmp_path, shards)
    files = sorted((tmp_path / "__run").glob("shards-*"))
    assert [file.stat().st_size < 1 << 20 for file in files] == [True] * 5
    assert [read_shard(folder, number) for number in range(5)] == [tuple(shard) for shard in shards]


def test_a_run_of_the_layout_before_goes_on(tmp_path: Path) -> None:
    crawl = write_warc(tmp_path / "crawl.warc.gz", pages(6))
    out = tmp_path / "out"
    whole = build_corpus([str(crawl)], str(out), JOB, workers=1)
    assert whole.shards > 1
    to_old_plan(out)
    assert read_plan(Folder(str(out))).inputs == (str(crawl),)
    part = (out / "part-00001.jsonl").read_bytes()
    for name in ("__about/summary.json", "__run/clean-00001.json", "part-00001.jsonl"):
        (out / name).unlink()
    again = build_corpus([str(crawl)], str(out), JOB, workers=1)
    assert (again.kept, again.earlier_pages > 0) == (6, True)
    assert (out / "part-00001.jsonl").read_bytes() == part
    plan = json.loads((out / "__run/plan.json").read_text())
    (out / "__run/plan.json").write_text(json.dumps(plan | {"layout": 1}))
    with pytest.raises(InputError, match="was started by another version of mainmatter; use --restart to start over"):
        build_corpus([str(crawl)], str(out), JOB, workers=1)


@pytest.mark.parametrize("name", ["plan", "inputs"])
@pytest.mark.parametrize("content", ["[]", "{", '"text"'])
def test_a_damaged_plan_is_named(tmp_path: Path, name: str, content: str) -> None:
    folder = written(tmp_path, [[Slice("warc", "a", 0, 9)]])
    (tmp_path / f"__run/{name}.json").write_text(content)
    with pytest.raises(InputError, match=f"__run/{name}.json: is damaged; use --restart to start over"):
        read_plan(folder)


def test_of_many_inputs_some_are_named(tmp_path: Path) -> None:
    folder = written(tmp_path, [[Slice("warc", "a", 0, 9)]])
    old = read_plan(folder)
    check_same(folder, old, old)
    with pytest.raises(InputError, match=r"the inputs were a b and are now 0 1 2 and 99,997 others"):
        check_same(folder, old, replace(old, inputs=tuple(map(str, range(100_000)))))
    with pytest.raises(InputError, match=r"a 0 1 and 98 others has changed"):
        check_same(folder, old, replace(old, stamps={str(number): "new" for number in range(100)}))


def test_a_process_reads_the_plan_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = write_warc(tmp_path / "crawl.warc.gz", pages(6))
    out = tmp_path / "out"
    shards = build_corpus([str(crawl)], str(out), JOB, workers=1).shards
    read: list[str] = []
    original = Folder.read

    def remember(self: Folder, name: str) -> bytes:
        read.append(name)
        return original(self, name)

    monkeypatch.setattr(Folder, "read", remember)
    for number in range(shards):
        (out / f"__run/clean-{number:05}.json").unlink()
        assert run_shard(str(out), "clean", number, run="this one").pages
    assert [name for name in read if "clean" not in name] == ["__run/plan.json", "__run/shards-00000.json"]
    read.clear()
    assert work_plan_of(str(out), "another one").job == JOB
    assert read == ["__run/plan.json"]
