"""Pools of children: a queue, threads, futures and event loops; whatever a call does, the others go on."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from concurrent.futures import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from child_services import act, make_nothing
from mainmatter.isolation.child import Child, ChildExited, as_service
from mainmatter.isolation.pool import Pool
from timing import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Two children, or others in their place."""
    pool = Pool(lambda: Child(as_service, act), 2)
    files = len(list(Path("/dev/fd").iterdir()))
    yield pool
    pids = pool.pids()
    pool.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert len(list(Path("/dev/fd").iterdir())) <= files


def at_rest(pool: Pool) -> bool:
    """Wait until all children rest; a future is done some time before its child is."""
    wait_until(lambda: pool.idle == pool.count)
    return True


def test_children_are_started_for_calls_and_kept(pool: Pool, tmp_path: Path) -> None:
    first = pool.submit("pid").result()
    assert at_rest(pool)
    assert pool.pids() == [first]
    assert pool.submit("pid").result() == first
    assert at_rest(pool)
    go = tmp_path / "go"
    answers = [*(pool.submit("wait for", str(go)) for _ in range(2)), *(pool.submit("echo", n) for n in range(20))]
    assert pool.idle == 0
    assert pool.waiting >= 20
    go.touch()
    assert [answer.result() for answer in answers] == [None, None, *range(20)]
    assert len(pool.pids()) == 2
    assert pool.resident_mb() > 20
    assert not pool.exits


def test_a_call_that_ends_its_child_costs_no_other(pool: Pool) -> None:
    pool.exits.clear()
    calls = [pool.submit(*call) for number in range(6) for call in (("echo", number), ("abort",))]
    for number, call in enumerate(calls):
        if number % 2:
            assert isinstance(call.exception(), ChildExited)
        else:
            assert call.result() == number // 2
    assert at_rest(pool)
    assert pool.exits == {"crash": 6}


def test_errors_and_limits_are_told_to_who_asked(pool: Pool) -> None:
    assert isinstance(pool.submit("divide").exception(), ZeroDivisionError)
    assert isinstance(pool.submit("echo", lambda: None).exception(), Exception)
    late = pool.submit("sleep", 60, seconds=0.2).exception()
    assert isinstance(late, ChildExited)
    assert late.reason == "time"
    spun = pool.submit("spin in C", processor_seconds=0.2).exception()
    assert isinstance(spun, ChildExited)
    assert spun.how == "SIGPROF"


def test_a_child_that_died_while_idle_is_no_call_s_fault(pool: Pool) -> None:
    wait([pool.submit("sleep", 0.1), pool.submit("sleep", 0.1)])
    assert at_rest(pool)
    pool.exits.clear()
    for pid in pool.pids():
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # until it is dead, and not yet reaped
    assert [pool.submit("echo", number).result() for number in range(4)] == [0, 1, 2, 3]
    assert pool.exits["crash"] >= 1


def test_calls_can_be_withdrawn_and_ended(pool: Pool) -> None:
    assert at_rest(pool)
    pool.exits.clear()
    at_work = [pool.submit("sleep", 60) for _ in range(2)]
    waits = pool.submit("echo", 1)
    assert pool.withdraw(waits)
    assert not pool.withdraw(waits)
    assert not pool.withdraw(at_work[0])
    wait_until(lambda: all(call.child is not None for call in at_work))
    for call in at_work:
        pool.end_work_on(call, "gone")
    errors = [call.exception() for call in at_work]
    assert [error.reason for error in errors if isinstance(error, ChildExited)] == ["gone", "gone"]
    assert at_rest(pool)
    assert pool.exits["gone"] == 2
    pool.end_work_on(at_work[0], "gone")  # nobody is at work on it


def test_a_cancelled_call_is_not_made(pool: Pool, tmp_path: Path) -> None:
    async def work() -> None:
        assert at_rest(pool)
        go = tmp_path / "go"
        at_work = [asyncio.wrap_future(pool.submit("wait for", str(go))) for _ in range(2)]
        call = pool.submit("leave")
        waits = asyncio.wrap_future(call)
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
        await asyncio.sleep(0)
        assert call.cancelled()
        go.touch()
        assert await asyncio.gather(*at_work) == [None, None]
        assert await asyncio.wrap_future(pool.submit("echo", 1)) == 1

    pool.exits.clear()
    asyncio.run(work())
    assert at_rest(pool)
    assert not pool.exits  # nobody left


def test_closing_ends_what_is_at_work_and_gives_back_what_waits() -> None:
    pool = Pool(lambda: Child(as_service, act), 1)
    at_work, waits = pool.submit("sleep", 60), pool.submit("echo", 1)
    wait_until(lambda: at_work.child is not None)
    assert pool.close() == [waits]
    error = at_work.exception(0)
    assert isinstance(error, ChildExited)
    assert error.reason == "closing"
    assert pool.close() == []
    assert not pool.pids()


def test_children_that_must_be_there_are_replaced_at_once() -> None:
    pool = Pool(lambda: Child(as_service, act), 1)
    for future in pool.start_all():
        assert future.result() is None
    (before,) = pool.pids()
    assert isinstance(pool.submit("kill").exception(), ChildExited)
    assert at_rest(pool)
    assert pool.pids() not in ([], [before])
    pool.close()


def test_children_that_cannot_be_started_are_told() -> None:
    pool = Pool(lambda: Child(make_nothing), 2)
    errors: list[Any] = [future.exception() for future in pool.start_all()]
    assert [type(error) for error in errors] == [ZeroDivisionError] * 2
    pool.close()
    pool = Pool(lambda: Child(as_service, act), 1, start_seconds=0.0)
    (future,) = pool.start_all()
    late = future.exception()
    assert isinstance(late, ChildExited)
    assert late.reason == "time"
    pool.close()


def test_children_that_have_started_are_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    next_call = Pool._next

    def next_a_little_later(self: Pool, slot: Any) -> Any:
        time.sleep(0.1)
        return next_call(self, slot)

    monkeypatch.setattr(Pool, "_next", next_a_little_later)
    pool = Pool(lambda: Child(as_service, act), 2)
    try:
        wait(pool.start_all())
        assert pool.idle == 2
    finally:
        pool.close()
