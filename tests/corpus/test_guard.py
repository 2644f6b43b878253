"""Pages that hang, crash or eat memory cost one reject each, and nothing else."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from crawls import WICKED_READER, files_of, install_wicked, page, pages, write_warc
from mainmatter import registry
from mainmatter.corpus import Job, build_corpus
from mainmatter.corpus.guard import Guard, Outcome, Task
from mainmatter.corpus.records import Reject, Slice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def wicked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The method `wicked`, installed."""
    (tmp_path / "plugin").mkdir()
    monkeypatch.syspath_prepend(install_wicked(tmp_path / "plugin"))
    registry._plugins.cache_clear()
    yield
    registry._plugins.cache_clear()
    sys.modules.pop("wicked", None)


@pytest.fixture
def guard() -> Iterator[Guard]:
    guard = Guard()
    yield guard
    guard.close()


def outcomes(guard: Guard, archive: Path, job: Job) -> list[Outcome]:
    task = Task("clean", job, (Slice("warc", str(archive), 0, archive.stat().st_size),))
    return [outcome for outcome in guard.outcomes(task) if not isinstance(outcome.result, str)]


def reasons(found: list[Outcome]) -> list[str]:
    return [one.result.reason if isinstance(one.result, Reject) else "kept" for one in found]


JOB = Job(method="wicked", max_seconds=2, max_memory=1_000_000_000)


WICKED = {
    "HANG": ("timeout", "took more than 2 s of processor time"),
    "ABORT": ("crashed", "crashed its worker process twice (SIGABRT)"),
    "EXIT": ("crashed", "crashed its worker process twice (exit code 3)"),
    "MEMORY": ("out-of-memory", "took more than 1000 MB of memory"),
    "KILLED": ("out-of-memory", "was killed twice (SIGKILL), as the kernel does when memory is short"),
    "RAISE": ("error", "ZeroDivisionError: by a page"),
}


def test_a_wicked_page_costs_one_reject(wicked: None, guard: Guard, tmp_path: Path) -> None:
    words = dict(zip(range(1, 40, 7), WICKED, strict=True))
    contents = {f"https://example.org/{number}": page(number, words.get(number, "")) for number in range(45)}
    found = outcomes(guard, write_warc(tmp_path / "crawl.warc.gz", contents), JOB)
    assert reasons(found) == [WICKED[words[number]][0] if number in words else "kept" for number in range(45)]
    for number, word in words.items():
        reject = found[number].result
        assert isinstance(reject, Reject)
        assert (reject.detail, reject.url) == (WICKED[word][1], f"https://example.org/{number}")
        assert reject.position == found[number].position
        assert reject.id == f"<urn:uuid:00000000-0000-0000-0000-{2 * number + 1:012}>"


def test_a_page_that_sleeps_is_given_up_by_the_clock(wicked: None, guard: Guard, tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "crawl.warc.gz", pages(3) | {"https://example.org/1": page(1, "SLEEP")})
    found = outcomes(guard, archive, Job(method="wicked", max_seconds=0.5))
    assert reasons(found) == ["kept", "timeout", "kept"]
    assert isinstance(found[1].result, Reject)
    assert found[1].result.detail == "no result after 5 s of wall-clock time"


def test_a_page_is_not_condemned_for_a_kill_from_outside(wicked: None, guard: Guard, tmp_path: Path) -> None:
    contents = pages(4)
    calm = outcomes(guard, write_warc(tmp_path / "calm.warc.gz", contents), JOB)
    assert reasons(calm) == ["kept"] * 4
    contents["https://example.org/2"] = page(2, f"ONCE {tmp_path / 'was-killed'}")
    found = outcomes(guard, write_warc(tmp_path / "crawl.warc.gz", contents), JOB)
    assert (tmp_path / "was-killed").exists()
    assert reasons(found) == ["kept"] * 4
    assert [one.result[3] for one in found if one.position < found[2].position] == [one.result[3] for one in calm[:2]]  # type: ignore[index]


def test_first_and_last_pages_may_be_wicked_and_one_after_another(wicked: None, guard: Guard, tmp_path: Path) -> None:
    words = {0: "ABORT", 1: "HANG", 2: "RAISE", 9: "EXIT"}
    contents = {f"https://example.org/{number}": page(number, words.get(number, "")) for number in range(10)}
    found = outcomes(guard, write_warc(tmp_path / "crawl.warc.gz", contents), JOB)
    expected = {0: "crashed", 1: "timeout", 2: "error", 9: "crashed"}
    assert reasons(found) == [expected.get(number, "kept") for number in range(10)]
    assert [one.result.url if isinstance(one.result, Reject) else one.result[1] for one in found] == list(contents)


def test_a_record_that_cannot_even_be_read_costs_only_itself(wicked: None, guard: Guard, tmp_path: Path) -> None:
    with (tmp_path / "plugin" / "sitecustomize.py").open("w", encoding="utf-8") as file:
        file.write("import os\n" + WICKED_READER)
    names = tuple(f"{number:02}.html" for number in range(12))
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(page(number, "UNREADABLE" if number in (4, 5, 11) else ""))
    task = Task("clean", Job(method="density"), (Slice("files", str(tmp_path), 0, 12, names),))
    found = list(guard.outcomes(task))
    assert [one.position for one in found] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]
    assert [one.position for one in found if isinstance(one.result, Reject)] == [4, 11]
    reject = found[4].result
    assert isinstance(reject, Reject)
    assert (reject.reason, reject.source) == ("crashed", str(tmp_path))
    assert reject.detail.startswith("the input before position 6 could not be read: crashed its worker")


def test_the_output_is_the_same_whatever_crashes_and_however_many_workers(wicked: None, tmp_path: Path) -> None:
    words = {3: "ABORT", 10: "RAISE", 11: "HANG"}
    contents = {f"https://example.org/{number}": page(number, words.get(number, "")) for number in range(20)}
    archive = write_warc(tmp_path / "crawl.warc.gz", contents)
    job = Job(method="wicked", max_seconds=2, shard_size=archive.stat().st_size // 3)
    for workers in (1, 2):
        summary = build_corpus([str(archive)], str(tmp_path / f"out{workers}"), job, workers=workers)
        assert (summary.pages, summary.kept, summary.shards) == (20, 17, 4)
        assert summary.rejects == {"crashed": 1, "error": 1, "timeout": 1}
    assert files_of(tmp_path / "out1") == files_of(tmp_path / "out2")
    rejects = [
        json.loads(line)
        for file in sorted((tmp_path / "out1" / "__about" / "rejects").iterdir())
        for line in file.read_text("utf-8").splitlines()
    ]
    assert [reject["url"].rpartition("/")[2] for reject in rejects] == ["3", "10", "11"]
    assert list(rejects[0]) == ["reason", "detail", "source", "position", "id", "url"]
