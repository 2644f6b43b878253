"""Storage that fails for a moment is asked again; what will not change ends a run at once."""

from __future__ import annotations

import errno
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from crawls import files_of, pages, write_warc
from mainmatter.cli.corpus import command
from mainmatter.corpus import Job, build_corpus, retries, storage
from mainmatter.corpus.retries import Retries, is_transient
from mainmatter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# A file system that a package could bring: it fails at random, but the same way each time.
FAULTY = """
import os, random

from fsspec.implementations.local import LocalFileSystem, LocalFileOpener

from mainmatter.corpus import retries

retries.FIRST_PAUSE = 0.001
chance = random.Random(int(os.environ["FAULTY_SEED"]))


def fail(path):
    with open(os.environ["FAULTY_LOG"], "a") as log:
        if chance.random() < float(os.environ["FAULTY_SHARE"]):
            log.write(f"failed {path}\\n")
            raise chance.choice([ConnectionError("connection reset"), TimeoutError("no answer"), OSError(5, "busy")])
        log.write("answered\\n")


class Opener(LocalFileOpener):
    def read(self, length=-1):
        fail(self.path)
        return self.f.read(length)


class Faulty(LocalFileSystem):
    protocol = "faulty"

    @classmethod
    def _strip_protocol(cls, path):
        return "/" + str(path).removeprefix("faulty://").strip("/")

    def _open(self, path, mode="rb", block_size=None, **options):
        return (Opener if mode == "rb" else LocalFileOpener)(path, mode, fs=self)


def failing(name):
    def method(self, path, *arguments, **options):
        fail(path)
        return getattr(LocalFileSystem, name)(self, path, *arguments, **options)

    return method


for name in ("info", "ls", "find", "cat_file", "pipe_file", "rm_file", "makedirs"):
    setattr(Faulty, name, failing(name))
"""


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made; none of them lasts."""
    made: list[float] = []
    clock = [0.0]

    def sleep(seconds: float) -> None:
        made.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: 1 + clock[0])
    return made


def failing(*errors: Exception) -> Callable[[], str]:
    """A request that raises these, one after another, and then succeeds."""
    left: Iterator[Exception] = iter(errors)

    def request() -> str:
        for error in left:
            raise error
        return "answer"

    return request


def test_pauses_double_and_have_some_chance_in_them(pauses: list[float]) -> None:
    one = Retries()
    assert one.call(failing(*[ConnectionError("reset")] * 9)) == "answer"
    longest = [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert all(most / 2 <= pause <= most for pause, most in zip(pauses, longest, strict=True))
    assert one.count == 9
    assert len({retries.pause_before(9) for _ in range(5)}) == 5


def test_a_request_is_given_up_at_its_deadline(pauses: list[float]) -> None:
    with pytest.raises(OSError, match=r"^reset \(tried \d\d times in 2\d\d s\)$"):
        Retries().call(failing(*[ConnectionError("reset")] * 1000))
    assert retries.DEADLINE - retries.LONGEST_PAUSE < sum(pauses) <= retries.DEADLINE


def test_many_failures_use_up_the_budget_which_success_refills(pauses: list[float]) -> None:
    one = Retries()
    for _ in range(int(retries.BUDGET)):
        one._take()
    with pytest.raises(OSError, match="and too many other requests failed"):
        one.call(failing(OSError("slow down")))
    assert pauses == []
    for _ in range(round(1 / retries.REFUND) + 1):
        one.call(failing())
    assert one.call(failing(OSError("slow down"))) == "answer"


class Answer(Exception):
    """An error of a library that carries what the server said."""

    def __init__(self, status: int, code: str = "") -> None:
        super().__init__(f"status {status}")
        self.response = {"ResponseMetadata": {"HTTPStatusCode": status}, "Error": {"Code": code}}


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.EIO, "input/output error"), True),
        (TimeoutError(), True),
        (type("ServerDisconnectedError", (Exception,), {})(), True),
        (caused(OSError("We encountered an internal error"), Answer(500)), True),
        (caused(FileNotFoundError("url"), Answer(503)), True),  # what fsspec makes of any failure on the web
        (caused(OSError(errno.EINVAL, "bad digest"), Answer(400, "BadDigest")), True),
        (caused(OSError(errno.EIO, "unknown"), Answer(400, "MalformedXML")), False),
        (caused(PermissionError("Access Denied"), Answer(403)), False),
        (caused(FileNotFoundError("The specified bucket does not exist"), Answer(404)), False),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (NotImplementedError(), False),
        (ValueError("of some library"), None),
    ],
)
def test_which_errors_pass(error: Exception, expected: bool | None) -> None:
    assert is_transient(error) is expected


def test_permanent_errors_are_raised_at_once_and_named(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem

    def refuse(*arguments: Any, **options: Any) -> None:
        raise PermissionError("Access Denied")

    for name in ("pipe_file", "cat_file", "rm_file"):
        monkeypatch.setattr(memory, name, refuse)
    with pytest.raises(OSError, match=r"^memory://a/b: cannot be written: Access Denied$"):
        storage.write_whole("memory://a/b", b"x")
    with pytest.raises(InputError, match=r"^memory://a/b: cannot be read: Access Denied$"):
        storage.read_whole("memory://a/b")
    with pytest.raises(OSError, match=r"^memory://a/b: cannot be removed: Access Denied$"):
        storage.remove("memory://a/b")
    assert pauses == []


def test_a_run_on_storage_that_fails_at_random_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    facts = tmp_path / "faulty-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text("[fsspec.specs]\nfaulty = faulty:Faulty\n", encoding="utf-8")
    import fsspec  # an extra

    log = tmp_path / "log"
    monkeypatch.setattr(retries, "FIRST_PAUSE", retries.FIRST_PAUSE)  # which the file system changes in all processes
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FAULTY_SEED", "7")
    monkeypatch.setenv("FAULTY_LOG", str(log))
    monkeypatch.setenv("FAULTY_SHARE", "0")
    fsspec.register_implementation("faulty", "faulty.Faulty", clobber=True)
    crawl = write_warc(tmp_path / "crawl.warc.gz", pages(12))
    job = Job(method="density", format="jsonl", duplicates="exact", shard_size=1500)
    quiet = build_corpus([f"faulty://{crawl}"], f"faulty://{tmp_path}/quiet", job, workers=2)
    assert quiet.retries == 0
    assert quiet.shards >= 3
    assert "answered" in log.read_text()
    log.write_text("")
    monkeypatch.setenv("FAULTY_SHARE", "0.1")
    options = ["-m", "density", "-f", "jsonl", "--drop-duplicates", "exact", "--shard-size", "0.0015", "-j", "2"]
    faulty = CliRunner().invoke(command, [f"faulty://{crawl}", "-o", f"faulty://{tmp_path}/faulty", *options])
    assert faulty.exit_code == 0, faulty.output
    # What fails while the summary is written, and the two files before it, cannot be in the summary.
    last = ("/__about/README.md", "/.huggingface.yaml", "/__about/summary.json")
    lines = log.read_text().splitlines()
    failed = sum(line.startswith("failed") and not line.endswith(last) for line in lines)
    assert failed > 10
    assert f"storage failed {failed} times; the requests were retried\n" in faulty.output
    assert files_of(tmp_path / "faulty") == files_of(tmp_path / "quiet")
    assert json.loads((tmp_path / "faulty/__about/summary.json").read_text())["retries"] == failed
