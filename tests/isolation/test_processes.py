"""Processes that we start: how they begin, how they end, and that none is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mainmatter.isolation.processes import Started, start

if TYPE_CHECKING:
    from collections.abc import Iterator

_CAN_FORK = sys.platform.startswith("linux")


@pytest.fixture(scope="module")
def parent() -> Iterator[Started]:
    started = start("families:parent")
    yield started
    started.kill()


@pytest.mark.parametrize("threads", [False, True])
def test_only_a_process_of_ours_with_one_thread_forks(parent: Started, threads: bool) -> None:
    parent.connection.send(("tell", threads))
    _, loaded = parent.connection.recv()
    assert loaded == (["by its parent"] if _CAN_FORK and not threads else [])
    assert parent.connection.recv() == 0


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize(("word", "code"), [("exit", 3), ("raise", 1), ("kill", -9)])
def test_forked_or_not_its_end_is_told(parent: Started, word: str, code: int, threads: bool) -> None:
    parent.connection.send((word, threads))
    assert (parent.connection.recv(), parent.connection.recv()) == (None, code)


def test_ends_are_told_where_somebody_had_them_ignored() -> None:
    code = (
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from mainmatter.isolation.processes import start; parent = start('families:parent')\n"
        "parent.connection.send(('exit', False)); print(parent.connection.recv(), parent.connection.recv())"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert found.stdout == "None 3\n"


def test_what_cannot_be_started_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("mainmatter.isolation.processes.subprocess.Popen", fail)
    before = sorted(Path("/dev/fd").iterdir())
    with pytest.raises(OSError, match="no more processes"):
        start("families:parent")
    assert sorted(Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize("threads", [False, True])
def test_whoever_dies_takes_its_children_along(threads: bool) -> None:
    parent = start("families:parent")
    parent.connection.send(("stay", threads))
    child, _ = parent.connection.recv()
    assert parent.connection.recv() is None
    parent.kill()
    end = time.monotonic() + 60
    while _runs(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    """Whether a process is there and has not ended; who ended may wait to be buried by whoever inherits it."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        with suppress(FileNotFoundError), open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
        return True
    return False
