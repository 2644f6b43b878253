"""Worker processes: whatever a task does, the others and the server go on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from mainmatter.errors import InputError, MainmatterError, PageTooLarge, UnknownName
from mainmatter.workbench import workers as module
from mainmatter.workbench.workers import Busy, Crashed, TookTooLong, TookTooMuchMemory, Workers
from timing import PATIENCE, wait_until
from workbench import page_tasks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator


def with_workers(
    work: Callable[[Workers], Awaitable[None]],
    count: int = 1,
    waiting: int = 4,
    seconds: float = PATIENCE,
    memory_mb: int = 500,
) -> None:
    """Run an asynchronous test with workers, and check that nothing of them is left."""
    pids: list[int] = []
    files = len(list(Path("/proc/self/fd").iterdir()))

    async def run() -> None:
        workers = Workers(count, waiting=waiting, seconds=seconds, memory_mb=memory_mb)
        await workers.start()
        try:
            await work(workers)
        finally:
            pids.extend(workers.pids())
            await workers.close()

    asyncio.run(run())
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert len(list(Path("/proc/self/fd").iterdir())) <= files


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[Callable[[Workers], Coroutine[Any, Any, None]]], None]]:
    """Runs an asynchronous test with a worker that others have used, too."""
    workers = Workers(1, waiting=4, seconds=PATIENCE, memory_mb=500)
    with asyncio.Runner() as runner:
        runner.run(workers.start())

        def run_with_workers(work: Callable[[Workers], Coroutine[Any, Any, None]]) -> None:
            workers.ended.clear()
            runner.run(work(workers))
            assert (workers.waiting, len(workers.pids())) == (0, 1)

        yield run_with_workers
        runner.run(workers.close())


Run = Callable[[Callable[[Workers], Coroutine[Any, Any, None]]], None]


def test_a_result_comes_back_from_another_process() -> None:
    async def work(workers: Workers) -> None:
        assert await workers.run(page_tasks.echo, value={"a": [1, b"2"]}) == {"a": [1, b"2"]}
        assert await workers.run(page_tasks.pid) in workers.pids()
        assert os.getpid() not in workers.pids()
        async with asyncio.timeout(PATIENCE):
            while workers.busy:  # until the last one is known to be free
                await asyncio.sleep(0.01)
        assert (workers.busy, workers.waiting, workers.is_ready) == (0, 0, True)
        assert workers.resident_mb() > 10
        assert not workers.ended

    with_workers(work, count=2)


@pytest.mark.parametrize(
    ("task", "error", "message"),
    [
        ("refuse", InputError, "not like this; like that"),
        ("refuse_size", PageTooLarge, "the page has more than 3 bytes"),
        ("refuse_name", UnknownName, "unknown method 'densty'; did you mean 'density'?"),
    ],
)
def test_our_errors_come_back_as_themselves_and_cost_nothing(
    run: Run, task: str, error: type[MainmatterError], message: str
) -> None:
    async def work(workers: Workers) -> None:
        before = workers.pids()
        with pytest.raises(error) as caught:
            await workers.run(getattr(page_tasks, task))
        assert str(caught.value) == message
        assert workers.pids() == before

    run(work)


def test_bugs_are_told_and_cost_nothing(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def work(workers: Workers) -> None:
        before = workers.pids()
        for task in (
            page_tasks.stumble,
            page_tasks.give_a_lambda,
            page_tasks.refuse_oddly,
        ):  # their words are for the log
            with pytest.raises(Crashed, match=r"^this failed unexpectedly \(reference \w{8}\)$"):
                await workers.run(task)
        with pytest.raises(Crashed, match="cannot be sent to a worker"):
            await workers.run(page_tasks.echo, value=lambda: None)
        assert await workers.run(page_tasks.pid) in before

    run(work)
    for words in ("ZeroDivisionError: of all things", "OddError: of this machine", "<lambda>"):
        assert words in caplog.text


def test_what_takes_too_long_is_ended_even_in_c(run: Run) -> None:
    async def work(workers: Workers) -> None:
        tasks: list[Callable[[], object]] = [page_tasks.sleep, page_tasks.sleep_in_c]
        for number, task in enumerate(tasks):
            with pytest.raises(TookTooLong, match=r"this took longer than 0\.3 s"):
                await workers.run_for(0.3, task)
            assert await workers.run(page_tasks.echo, value=number) == number
        assert workers.ended == {"time": 2}

    run(work)


@pytest.mark.parametrize(
    ("task", "words", "reason"),
    [("die", "SIGKILL", "crash"), ("crash", "SIGSEGV", "crash"), ("leave", "exit code 3", "crash")],
)
def test_a_worker_that_dies_is_replaced(run: Run, task: str, words: str, reason: str) -> None:
    async def work(workers: Workers) -> None:
        before = workers.pids()
        with pytest.raises(Crashed, match=words):
            await workers.run(getattr(page_tasks, task))
        assert await workers.run(page_tasks.pid) not in before
        assert workers.ended == {reason: 1}

    run(work)


def test_a_worker_that_died_while_idle_is_no_request_s_fault(run: Run) -> None:
    async def work(workers: Workers) -> None:
        (before,) = workers.pids()
        os.kill(before, signal.SIGKILL)
        os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)  # until it is dead, and not yet reaped
        assert await workers.run(page_tasks.echo, value=1) == 1
        assert workers.ended == {"crash": 1}

    run(work)


def test_memory_is_limited(run: Run) -> None:
    async def work(workers: Workers) -> None:
        with pytest.raises(TookTooMuchMemory, match="this took more than 500 MB of memory"):
            await workers.run(page_tasks.eat_memory)
        assert await workers.run(page_tasks.echo, value=1) == 1
        assert workers.ended == {"memory": 1}

    run(work)


def test_a_worker_in_whose_memory_too_much_is_left_makes_room_for_another(run: Run) -> None:
    async def work(workers: Workers) -> None:
        before = workers.pids()
        assert await workers.run(page_tasks.hoard, megabytes=200) == 1
        assert await workers.run(page_tasks.hoard, megabytes=200) == 2
        assert await workers.run(page_tasks.hoard, megabytes=200) == 1
        assert workers.pids() != before
        assert workers.ended == {"recycled": 1}

    run(work)


def test_the_queue_has_an_end_and_is_served_in_order(tmp_path: Path) -> None:
    async def work(workers: Workers) -> None:
        done: list[int] = []

        async def one(number: int) -> None:
            await workers.run(page_tasks.wait_for_file, path=str(tmp_path / "go"))
            done.append(number)

        tasks = [asyncio.create_task(one(number)) for number in range(3)]
        await asyncio.sleep(0)  # all three have begun to wait
        assert (workers.busy, workers.waiting) == (1, 2)
        with pytest.raises(Busy) as caught:
            await workers.run(page_tasks.echo)
        assert caught.value.retry_after >= 1
        (tmp_path / "go").touch()
        await asyncio.gather(*tasks)
        assert done == [0, 1, 2]

    with_workers(work, waiting=2)


def test_who_waits_in_vain_is_told_that_the_server_is_busy(tmp_path: Path) -> None:
    async def work(workers: Workers) -> None:
        path = str(tmp_path / "go")
        first = asyncio.create_task(workers.run_for(PATIENCE, page_tasks.wait_for_file, path=path))
        await asyncio.sleep(0)  # it has begun
        with pytest.raises(Busy):
            await workers.run(page_tasks.echo)
        assert not workers.waiting
        (tmp_path / "go").touch()
        assert await first == path

    with_workers(work, seconds=0.3)


def test_who_goes_away_makes_place(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "GRACE", 0.1)

    async def work(workers: Workers) -> None:
        begun = tmp_path / "begun"
        at_work = asyncio.create_task(workers.run(page_tasks.touch_and_sleep, path=str(begun)))
        waits = asyncio.create_task(workers.run(page_tasks.sleep))
        while not begun.exists():
            await asyncio.sleep(0.01)
        waits.cancel()
        await asyncio.sleep(0)
        assert workers.waiting == 0
        at_work.cancel()
        assert await workers.run(page_tasks.echo, value=1) == 1
        assert workers.ended == {"gone": 1}  # and not {"time": 1}, as after the time that it may take

    run(work)


def test_quick_work_for_one_who_went_away_costs_no_worker(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 10.0)  # the machine may be busy

    async def work(workers: Workers) -> None:
        before = workers.pids()
        task = asyncio.create_task(workers.run(page_tasks.sleep, seconds=0.2))
        await asyncio.sleep(0.05)
        task.cancel()
        assert await workers.run(page_tasks.pid) in before
        assert not workers.ended

    run(work)


def test_closing_ends_work_and_those_who_wait() -> None:
    async def work(workers: Workers) -> None:
        tasks = [asyncio.create_task(workers.run(page_tasks.sleep)) for _ in range(2)]
        await asyncio.sleep(0.05)
        await workers.close()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results] == [Busy, Busy]
        with pytest.raises(Busy):
            await workers.run(page_tasks.echo)

    async def run() -> None:
        workers = Workers(1, waiting=4, seconds=20, memory_mb=500)
        await workers.start()
        await work(workers)

    asyncio.run(run())


def test_workers_that_cannot_start_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WARM", ("mainmatter.no_such_module",))

    async def run() -> None:
        with pytest.raises(MainmatterError, match=r"cannot be started: ModuleNotFoundError: .*no_such_module"):
            await Workers(1, waiting=1, seconds=1, memory_mb=100).start()

    asyncio.run(run())


def test_workers_do_not_outlive_a_server_that_is_killed() -> None:
    code = """
import asyncio, sys
from mainmatter.workbench.workers import Workers
from workbench.page_tasks import sleep, sleep_in_c
async def main():
    workers = Workers(2, waiting=2, seconds=600, memory_mb=500)
    await workers.start()
    task = asyncio.create_task(workers.run(sleep))
    busy = asyncio.create_task(workers.run(sleep_in_c))
    await asyncio.sleep(0.1)
    print(*workers.pids(), flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        pids = [int(pid) for pid in server.stdout.readline().split()]
        assert len(pids) == 2
        server.kill()
        wait_until(lambda: not any(_is_alive(pid) for pid in pids))  # their work takes longer


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
