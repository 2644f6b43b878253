"""What `restart` replaces: nothing goes before all that can be refused was refused, and the first shard is written."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crawls import files_of, pages, write_warc
from mainmatter import InputError, MainmatterError
from mainmatter.corpus import Job, build_corpus
from mainmatter.corpus.engines import local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

JOB = Job(method="density", format="jsonl", shard_size=900)
OTHER = replace(JOB, text_format="markdown", duplicates="exact")
KILLED = """
import os, sys
from mainmatter.corpus import Job, build, build_corpus

build.get_engine = lambda _: lambda *_, **__: os.kill(os.getpid(), 9)
build_corpus([sys.argv[1]], sys.argv[2], Job(method="density", format="jsonl", shard_size=2000), restart=True)
"""
MAINMATTER = [sys.executable, "-c", "from mainmatter.cli import main; main()"]


@pytest.fixture
def crawl(tmp_path: Path) -> str:
    return str(write_warc(tmp_path / "crawl.warc.gz", pages(8)))


@pytest.fixture
def out(crawl: str, tmp_path: Path) -> Path:
    """A corpus that is finished."""
    assert build_corpus([crawl], str(tmp_path / "out"), JOB, workers=1).shards > 2
    return tmp_path / "out"


def all_files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def build(crawl: str, out: Path, job: Job = OTHER, **options: Any) -> Any:
    return build_corpus([crawl], str(out), job, workers=1, **options)


@pytest.mark.parametrize(
    ("package", "options"),
    [
        ("pyarrow", ()),
        ("fastwarc", ("-f", "jsonl")),
        ("py3langid", ("-f", "jsonl", "--language", "de")),
        ("datasketch", ("-f", "jsonl", "--drop-duplicates", "near")),
        ("pyspark", ("-f", "jsonl", "--engine", "spark")),
    ],
)
def test_a_missing_package_is_told_before_anything_is_touched(
    package: str, options: tuple[str, ...], crawl: str, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without/sitecustomize.py").write_text(f"import sys\nsys.modules[{package!r}] = None\n")
    path = os.pathsep.join((str(tmp_path / "without"), *sys.path))
    before = all_files(out)
    for place in (out, tmp_path / "new"):
        command = [*MAINMATTER, "corpus", crawl, "-o", str(place), "-m", "density", *options, "--restart"]
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, check=False
        )
        assert (done.returncode, package in done.stderr, "pip install" in done.stderr) == (1, True, True), done.stderr
    assert all_files(out) == before
    assert not (tmp_path / "new").exists()


def failing(at: int) -> Callable[..., Iterator[Any]]:
    """An engine that fails when it has done so many shards."""

    def run_all(work: Any, numbers: Any, workers: Any = None, on_note: Any = None) -> Iterator[Any]:
        yield from local.run_all(work, numbers[:at], workers, on_note)
        if len(numbers) > at:
            raise MainmatterError("the cluster is gone")

    return run_all


def test_a_run_that_fails_before_its_first_shard_leaves_all_as_it_was(
    crawl: str, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = all_files(out)
    with monkeypatch.context() as patch:
        patch.setattr("mainmatter.corpus.build.get_engine", lambda _: failing(0))
        for place in (out, tmp_path / "a/new"):
            with pytest.raises(MainmatterError, match="the cluster is gone"):
                build(crawl, place, restart=place == out)
    assert all_files(out) == before
    assert not (tmp_path / "a").exists()
    (tmp_path / "empty.urls").write_text("")
    (tmp_path / "gone.warc.gz").write_bytes(b"no archive")
    for name in ("empty.urls", "gone.warc.gz"):
        with pytest.raises(InputError, match="so the earlier result in"):
            build(str(tmp_path / name), out, restart=True)
    assert all_files(out) == before


def test_a_result_is_replaced_once_there_is_a_first_shard(
    crawl: str, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(crawl, tmp_path / "fresh")
    with monkeypatch.context() as patch:
        patch.setattr("mainmatter.corpus.build.get_engine", lambda _: failing(1))  # one when called, so two
        with pytest.raises(MainmatterError, match="the cluster is gone"):
            build(crawl, out, restart=True)
    assert sorted(str(file.relative_to(out)) for file in out.glob("**/clean-*.json")) == [
        "__run/clean-00000.json",
        "__run/clean-00001.json",
    ]
    assert not (out / "__new").exists()
    assert 0 < build(crawl, out).earlier_pages < 8  # it goes on
    assert files_of(out) == files_of(tmp_path / "fresh")


def test_what_sites_repeat_is_found_out_beside_the_result(crawl: str, out: Path, tmp_path: Path) -> None:
    job = Job(format="jsonl", shard_size=2000, site_templates=True)
    build(crawl, tmp_path / "fresh", job)
    assert build(crawl, out, job, restart=True).earlier_pages == 0
    assert files_of(out) == files_of(tmp_path / "fresh")
    assert all_files(out).keys() == all_files(tmp_path / "fresh").keys()


def test_a_run_that_was_killed_while_it_replaced_a_result(crawl: str, out: Path, tmp_path: Path) -> None:
    build(crawl, tmp_path / "fresh")
    before = all_files(out)
    # Before its first shard: the result is there, and what was begun is forgotten.
    killed = subprocess.run([sys.executable, "-c", KILLED, crawl, str(out)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (out / "__new/__run/plan.json").exists()
    assert all_files(out).items() > before.items()
    assert build(crawl, out, JOB).was_done
    assert all_files(out) == before
    # While it deleted the result: only the new run can go on.
    shutil.copytree(tmp_path / "fresh", out / "__new")
    (out / "__new/__about/summary.json").unlink()
    (out / "__about/summary.json").unlink()
    (out / "__run/plan.json").unlink()
    (out / "part-00001.jsonl").unlink()
    assert build(crawl, out).earlier_pages == 8
    assert files_of(out) == files_of(tmp_path / "fresh")


def test_a_corpus_that_is_its_own_input_stays(out: Path) -> None:
    before = all_files(out)
    with pytest.raises(InputError, match="is inside the output folder"):
        build(str(out / "part-00000.jsonl"), out, restart=True)
    assert all_files(out) == before
