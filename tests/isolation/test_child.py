"""Child processes: calls, limits, how they begin and end, and that none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from child_services import Parent, act, make_nothing
from mainmatter.isolation import child as module
from mainmatter.isolation.child import CallFailed, Child, ChildExited, ChildTraceback, as_service
from timing import PATIENCE, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

_IS_LINUX = sys.platform.startswith("linux")
linux = pytest.mark.skipif(not _IS_LINUX, reason="other kernels limit no memory")


@pytest.fixture(scope="module")
def steady() -> Iterator[Child]:
    """A child that no test ends."""
    child = Child(as_service, act)
    yield child
    child.close()


@pytest.fixture(scope="module")
def parent() -> Iterator[Child]:
    child = Child(Parent)
    yield child
    child.close()


def exit_of(*call: Any, seconds: float | None = None, processor_seconds: float = 0, memory: int = 0) -> ChildExited:
    """How a new child ends that is given a call."""
    child = Child(as_service, act, memory=memory, capture_stderr=True)
    with pytest.raises(ChildExited) as caught:
        child.call(*call, seconds=seconds, processor_seconds=processor_seconds)
    assert child.has_exited()
    return caught.value


def test_calls_are_answered_in_another_process(steady: Child) -> None:
    assert steady.call("echo", {"a": [1, b"2"]}) == {"a": [1, b"2"]}
    assert steady.call("pid") == steady.pid != os.getpid()
    assert steady.call("echo", "x" * 10_000_000) == "x" * 10_000_000


def test_errors_come_back_as_themselves_and_cost_nothing(steady: Child) -> None:
    for call, error in (
        (["divide"], ZeroDivisionError),
        (["raise", "EOFError"], EOFError),
        (["raise", "ConnectionError"], ConnectionError),
        (["lambda"], (AttributeError, TypeError, *_pickling_errors())),
    ):
        with pytest.raises(error) as caught:
            steady.call(*call)
        assert isinstance(caught.value.__cause__, ChildTraceback)
        assert steady.is_idle
    assert steady.call("pid") == steady.pid


def _pickling_errors() -> tuple[type[Exception], ...]:
    from pickle import PicklingError

    return (PicklingError,)


def test_an_error_that_cannot_be_received_has_its_words_told(steady: Child) -> None:
    with pytest.raises(CallFailed, match=r"^Unreceivable: not so$") as caught:
        steady.call("raise", "Unreceivable")
    assert "in _raise" in str(caught.value.__cause__)


def test_what_cannot_be_sent_is_told_before_it_is(steady: Child) -> None:
    with pytest.raises((AttributeError, TypeError, *_pickling_errors())) as caught:
        steady.call("echo", lambda: None)
    assert caught.value.__cause__ is None
    assert steady.call("echo", 1) == 1


def test_a_generator_answers_several_times(steady: Child) -> None:
    steady.send("count", 3)
    answers = []
    while not steady.is_idle:
        answers.append(steady.receive())
    assert answers == [0, 1, 2, "done"]
    steady.send("stumble")
    assert (steady.receive(), steady.is_idle) == (1, False)
    with pytest.raises(ZeroDivisionError, match="after the first"):
        steady.receive()
    assert steady.is_idle


def test_ctrl_c_is_for_the_parent(steady: Child) -> None:
    assert steady.call("interrupt") is None
    assert steady.call("pid") == steady.pid


def test_numpy_starts_no_threads_unless_it_may(steady: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert steady.call("environment", "OMP_NUM_THREADS") == "1"
    child = Child(as_service, act, one_thread=False)
    assert child.call("environment", "OMP_NUM_THREADS") is None
    child.close()


@pytest.mark.parametrize(
    ("call", "reason", "how", "told"),
    [
        (["exit"], "crash", "exit code 3", "the process died (exit code 3)"),
        (["leave"], "crash", "exit code 4", "the process died (exit code 4)"),
        (["abort"], "crash", "SIGABRT", "the process died (SIGABRT)"),
        (["segfault"], "crash", "SIGSEGV", "the process died (SIGSEGV)"),
        (["kill"], "crash", "SIGKILL", "the process died (SIGKILL)"),
        (["die for want"], "memory", "SIGABRT", "the process took too much memory (SIGABRT)"),
    ],
)
def test_how_a_child_died_is_told(call: list[str], reason: str, how: str, told: str) -> None:
    error = exit_of(*call)
    assert (error.reason, error.how, str(error)) == (reason, how, told)


def test_a_signal_without_a_name_has_its_number() -> None:
    assert ChildExited("crash", -99).how == "signal 99"


@pytest.mark.parametrize("word", ["sleep in C", "spin in C"])
def test_a_deadline_by_the_clock_holds_in_c(word: str) -> None:
    error = exit_of(word, seconds=0.3)
    assert (error.reason, error.how) == ("time", "SIGKILL")


def test_a_limit_of_processor_time_holds_in_c_and_is_for_one_call() -> None:
    child = Child(as_service, act)
    child.call("sleep", 0.3, processor_seconds=0.2)  # sleeping takes none
    assert child.call("echo", 1) == 1
    with pytest.raises(ChildExited) as caught:
        child.call("spin in C", processor_seconds=0.3)
    assert (caught.value.reason, caught.value.how) == ("time", "SIGPROF")


@linux
def test_memory_is_limited() -> None:
    error = exit_of("eat", memory=500_000_000)
    assert (error.reason, error.code) == ("memory", module.OUT_OF_MEMORY)
    assert str(error) == "the process took too much memory (exit code 77)"


@linux
def test_a_child_in_whose_memory_too_much_is_left_ends() -> None:
    child = Child(as_service, act, memory=500_000_000)
    assert (child.call("hoard", 200), child.is_last) == (1, False)
    assert (child.call("hoard", 200), child.is_last) == (2, True)
    assert child.reap().code == 0


def test_the_last_line_of_standard_error_is_kept() -> None:
    child = Child(make_nothing, "abort", capture_stderr=True)
    with pytest.raises(ChildExited) as caught:
        child.wait_ready()
    assert (caught.value.how, caught.value.stderr) == ("SIGABRT", "")
    assert exit_of("die for want").stderr == "memory allocation of 77 bytes failed"


def test_a_service_that_cannot_be_made_is_told() -> None:
    child = Child(make_nothing)
    with pytest.raises(ZeroDivisionError, match="while it was made"):
        child.wait_ready(60)
    assert child.has_exited()


def test_who_is_killed_says_for_what() -> None:
    child = Child(as_service, act)
    child.send("sleep", 60)
    child.kill("gone")
    with pytest.raises(ChildExited, match=r"^the process was ended \(gone\) \(SIGKILL\)$"):
        child.receive()
    with pytest.raises(ChildExited):  # nor does it come back
        child.call("echo", 1)


@pytest.mark.parametrize("threads", [False, True])
def test_only_a_process_of_ours_with_one_thread_forks(parent: Child, threads: bool) -> None:
    (_, loaded), _ = parent.call("tell", threads)
    assert loaded == (["by its parent"] if _IS_LINUX and not threads else [])


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize(("word", "code"), [("exit", 3), ("leave", 4), ("kill", -9), ("segfault", -11)])
def test_forked_or_not_its_end_is_told(parent: Child, word: str, code: int, threads: bool) -> None:
    assert parent.call(word, threads) == (None, code)


@pytest.mark.parametrize("threads", [False, True])
def test_forked_or_not_errors_come_back(parent: Child, threads: bool) -> None:
    with pytest.raises(ZeroDivisionError):
        parent.call("divide", threads)


def run_script(code: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return found.stdout


def test_ends_are_told_where_somebody_had_them_ignored() -> None:
    code = (
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from mainmatter.isolation.child import Child; from child_services import Parent\n"
        "print(Child(Parent).call('exit', False))"
    )
    assert run_script(code) == "(None, 3)\n"


def test_what_cannot_be_started_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", fail)
    monkeypatch.setattr(os, "fork", fail)
    before, held = sorted(Path("/dev/fd").iterdir()), set(module._held)
    for fork in (False, True):
        with pytest.raises(OSError, match="no more processes"):
            Child(as_service, act, fork=fork, capture_stderr=True)
    assert sorted(Path("/dev/fd").iterdir()) == before
    assert module._held == held


def test_many_children_leave_no_file_open_and_no_process() -> None:
    before = sorted(Path("/dev/fd").iterdir())
    children = [Child(as_service, act, fork=True) for _ in range(20)]  # each inherits what ties the others to us
    assert [child.call("pid") for child in children] == [child.pid for child in children]
    children[0].close()  # its end of a pipe is nobody else's, so it ends by itself
    assert children[0].reap().code == 0
    for child in children[1:]:
        child.end()
    assert not any(_runs(child.pid) for child in children)
    assert sorted(Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize("threads", [False, True])
def test_whoever_dies_takes_its_children_along(threads: bool) -> None:
    parent = Child(Parent)
    (child, _), _ = parent.call("tell", threads)
    parent.end()
    _wait_for_their_end([child])


@pytest.mark.parametrize("word", ["sleep", "sleep in C"])
def test_children_do_not_outlive_a_parent_that_is_killed(word: str) -> None:
    code = (
        "from mainmatter.isolation.child import Child, as_service; from child_services import act\n"
        "children = [Child(as_service, act, fork=fork) for fork in (False, True, True)]\n"
        "print(*(child.call('pid') for child in children), flush=True)\n"
        f"children[0].send('sleep', 600); children[1].send({word!r}, *([600] * ({word!r} == 'sleep')))\n"
        "import time; time.sleep(600)\n"
    )
    pids = _started(code, signal.SIGKILL)
    assert len(pids) == 3
    _wait_for_their_end(pids)


def test_ctrl_c_ends_a_script_and_its_children() -> None:
    code = (
        "import time; from mainmatter.isolation.parallel import ordered_map; from child_services import act\n"
        "print(*ordered_map(act, ['pid'] * 40, 2), flush=True)\n"
        "from mainmatter.isolation.child import Child, as_service\n"
        "child = Child(as_service, act); child.call('pid'); child.call('sleep', 600)\n"
    )
    pids = _started(code, signal.SIGINT)
    assert pids
    _wait_for_their_end(pids)


def _started(code: str, number: signal.Signals) -> list[int]:
    """The process ids that a script prints, to whose whole group, as a terminal does, a signal is sent then."""
    environment: dict[str, Any] = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
    ) as script:
        assert script.stdout is not None
        pids = [int(pid) for pid in script.stdout.readline().split()]
        time.sleep(0.3)  # they have begun
        if number == signal.SIGKILL:
            script.kill()
        else:
            os.killpg(script.pid, number)
        assert script.wait(PATIENCE) == -number
    return pids


def _wait_for_their_end(pids: list[int]) -> None:
    """Of processes that sleep far longer than we wait."""
    wait_until(lambda: not any(map(_runs, pids)))


def _runs(pid: int) -> bool:
    """Whether a process is there and has not ended; who ended may wait to be reaped by whoever inherits it."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        with suppress(FileNotFoundError), open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
        return True
    return False
