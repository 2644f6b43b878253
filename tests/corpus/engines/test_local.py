"""The local engine: each number once, whatever happens to the processes."""

from __future__ import annotations

import operator
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter import InputError
from mainmatter.corpus.engines.local import _tell, run_all
from mainmatter.isolation.child import Child

if TYPE_CHECKING:
    from pathlib import Path


def test_each_number_is_done_once() -> None:
    assert sorted(run_all(operator.neg, range(20), 2)) == list(range(-19, 1))
    assert list(run_all(operator.neg, [], 2)) == []


def test_what_the_work_raises_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        list(run_all(partial(operator.truediv, 1), [1, 0, 2], 1))


def test_a_process_that_dies_each_time_ends_the_run() -> None:
    with pytest.raises(InputError, match=r"shard 5 died 5 times \(exit code 5\)"):
        list(run_all(os._exit, [5], 1))


def test_a_process_that_is_killed_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fragile.py").write_text(
        "import os, signal\n"
        "def work(folder, number):\n"
        "    path = os.path.join(folder, str(number))\n"
        "    if not os.path.exists(path):\n"
        "        open(path, 'w').close()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return number\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    from fragile import work  # type: ignore[import-not-found]

    assert sorted(run_all(partial(work, str(tmp_path)), [1, 2, 3], 2)) == [1, 2, 3]


def test_what_the_work_tells_is_heard_before_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "talkative.py").write_text(
        "import os, time\n"
        "def work(folder, number, tell):\n"
        "    tell({'number': number})\n"
        "    while not os.path.exists(os.path.join(folder, str(number))):\n"
        "        time.sleep(0.01)\n"
        "    return number\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    from talkative import work  # type: ignore[import-not-found]

    def hear(note: dict[str, int]) -> None:
        (tmp_path / str(note["number"])).touch()

    assert sorted(run_all(partial(work, str(tmp_path)), [1, 2, 3], 2, hear)) == [1, 2, 3]


def test_notes_that_cannot_arrive_are_lost() -> None:
    _tell("/nowhere/notes", {"number": 1})
    _tell("/" + "x" * 200, {"number": 1})


def test_a_closed_run_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Child] = []

    def remember(*arguments: Any) -> Child:
        started.append(Child(*arguments))
        return started[-1]

    monkeypatch.setattr("mainmatter.corpus.engines.local.Child", remember)
    results = run_all(operator.neg, range(100), 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(started) == 2
    assert all(one.has_exited() for one in started)
