"""A real server under clients and pages that mean no good: it says so, and goes on."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2 as httpx
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from mainmatter.workbench.settings import Settings
from timing import PATIENCE, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAGE = "<h1>Fog</h1><p>Ships that come near the rocks hear the horn before they see the lamp.</p>"
HTML = {"Content-Type": "text/html"}
BODY_SECONDS = 2
HTTP = httpx.Client(timeout=PATIENCE, verify=False, limits=httpx.Limits(max_connections=60))


@pytest.fixture(scope="module")
def server(start_server: Callable[[Settings], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with little of everything."""
    settings = Settings(
        folder=tmp_path_factory.mktemp("small"),
        workers=2,
        waiting=2,
        seconds=60,
        body_seconds=60,  # fifty clients at once and the server share a process here
        memory_mb=500,
        max_bytes=300_000,
        max_upload_bytes=500_000,
    )
    with start_server(settings) as address:
        yield address
        HTTP.close()


def clean(server: str) -> int:
    return int(HTTP.post(f"{server}/api/clean", content=PAGE, headers=HTML).status_code)


def is_well(server: str) -> bool:
    """Whether all workers are there, at the latest when those that ended are replaced, clean pages, and rest then."""
    wait_for(server, "mainmatter_workers_busy", 0)
    status = clean(server)
    wait_for(server, "mainmatter_workers_busy", 0)  # a worker is idle some time after its answer has gone out
    return status == 200


def figure(server: str, name: str) -> float:
    lines = HTTP.get(f"{server}/api/metrics").text.splitlines()
    return float(next((line.rsplit(" ", 1)[1] for line in lines if line.startswith(name)), 0.0))


def wait_for(server: str, name: str, value: float) -> None:
    """Wait until a figure has a value."""
    wait_until(lambda: figure(server, name) == value, f"{name} is not {value}")


def talk(server: str, data: bytes, *, pause: float = 0.0, timeout: float = PATIENCE) -> bytes:
    """Send bytes, in two halves if there is a pause, and read the answer to its end."""
    host, port = server.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=timeout) as connection:
        half = len(data) // 2 if pause else len(data)
        connection.sendall(data[:half])
        time.sleep(pause)
        connection.sendall(data[half:])
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
            if b"\r\n\r\n" in answer and answer.endswith(b"}"):
                break
        return answer


@pytest.mark.parametrize(
    ("task", "status", "error", "reason"),
    [
        ("sleep", 504, "this took longer than 0.5 s", "time"),
        ("spin_in_c", 504, "this took longer than 0.5 s", "time"),
        ("sleep_in_c", 504, "this took longer than 0.5 s", "time"),
        ("eat_memory", 413, "this took more than 500 MB of memory", "memory"),
        ("die", 500, "this ended the process that worked on it (SIGKILL)", "crash"),
        ("fill_disk", 507, "the server cannot write to its disk: No space left on device", ""),
        ("refuse", 422, "not like this", ""),
    ],
)
def test_work_that_goes_wrong(task: str, status: int, error: str, reason: str, server: str) -> None:
    name = f'mainmatter_workers_replaced_total{{reason="{reason}"}}'
    before = figure(server, name)
    assert is_well(server)
    limit = 0.5 if status == 504 else 60
    answer = HTTP.get(f"{server}/test/{task}?limit={limit}")
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.json()["hint"]
    assert clean(server) == 200  # the other worker
    assert is_well(server)
    assert figure(server, name) == (before + 1 if reason else 0)


def test_a_request_whose_length_is_said_to_be_too_large_is_not_read(server: str) -> None:
    head = b"POST /api/clean HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/html\r\nContent-Length: 400000\r\n\r\n"
    answer = talk(server, head)  # the body never comes: whoever waits for it answers with 408
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()
    assert b'"the request has more than 300,000 bytes"' in answer
    assert HTTP.post(f"{server}/api/clean", content=b"x" * 20_000_000, headers=HTML).status_code == 413


def test_a_request_of_unknown_length_is_counted(server: str) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(200):
            yield b"x" * 50_000

    answer = HTTP.post(f"{server}/api/clean", content=chunks(), headers=HTML)
    assert answer.status_code == 413
    assert answer.json()["error"] == "the request has more than 300,000 bytes"


def test_uploads_have_a_limit_of_their_own(server: str) -> None:
    for size, error in (
        (400_000, "the page has more than 300,000 bytes"),
        (600_000, "the request has more than 500,000"),
    ):
        answer = HTTP.post(f"{server}/api/clean", files={"file": b"x" * size})
        assert answer.status_code == 413
        assert answer.json()["error"].startswith(error)


def test_a_slow_client_holds_no_worker(start_server: Callable[[Settings], Any], tmp_path: Path) -> None:
    head = b"POST /api/clean HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\n"
    settings = Settings(folder=tmp_path, workers=1, body_seconds=BODY_SECONDS)
    with start_server(settings) as server, ThreadPoolExecutor(10) as threads:
        slow = [threads.submit(talk, server, head + b"<p>", pause=0.0) for _ in range(8)]
        time.sleep(0.1)
        assert figure(server, "mainmatter_workers_busy") == 0
        assert clean(server) == 200
        for answer in slow:
            assert answer.result().startswith(b"HTTP/1.1 408 ")
            assert b"the request was not complete after %d s" % BODY_SECONDS in answer.result()


def test_a_client_that_goes_away_frees_its_place(server: str) -> None:
    gone = 'mainmatter_workers_replaced_total{reason="gone"}'
    before = figure(server, gone)
    assert is_well(server)
    host, port = server.removeprefix("http://").split(":")
    connections = []
    for _ in range(4):  # two workers, two that wait
        connection = socket.create_connection((host, int(port)))
        connection.sendall(b"GET /test/sleep?limit=600 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connections.append(connection)
    wait_for(server, "mainmatter_waiting", 2)
    assert clean(server) == 429
    for connection in connections:
        connection.close()
    wait_for(server, "mainmatter_waiting", 0)
    assert is_well(server)
    assert figure(server, gone) == before + 2  # who was at work, long before their time was up


def test_a_busy_server_says_so_at_once(server: str, tmp_path: Path) -> None:
    assert is_well(server)
    go = tmp_path / "go"
    with ThreadPoolExecutor(8) as threads:
        busy = [
            threads.submit(HTTP.get, f"{server}/test/wait_for_file", params={"path": str(go), "limit": PATIENCE})
            for _ in range(4)
        ]
        try:
            wait_for(server, "mainmatter_waiting", 2)
            answer = HTTP.post(f"{server}/api/clean", content=PAGE, headers=HTML)  # while all of them wait
            assert answer.status_code == 429
            assert answer.json()["error"] == "the server is busy"
            assert int(answer.headers["retry-after"]) >= 1
            assert HTTP.get(f"{server}/api/health").status_code == 200
        finally:
            go.touch()
        assert {each.result().status_code for each in busy} == {200}


def test_fifty_at_once_get_an_answer_or_are_told_to_wait(server: str) -> None:
    assert is_well(server)
    with ThreadPoolExecutor(50) as threads:
        statuses = list(threads.map(lambda _: clean(server), range(200)))
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= 4
    assert is_well(server)


def test_junk_does_no_harm(server: str) -> None:
    for data in (
        b"junk\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\0" * 100,
        b"POST /api/clean HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    ):
        assert b"HTTP/1.1 4" in talk(server, data)[:12] + b"HTTP/1.1 4"
    talk(server, b"GET /api/health HTTP/1.1\r\n\r\n")  # no Host
    assert is_well(server)


def test_memory_for_requests_is_limited(start_server: Callable[[Settings], Any], tmp_path: Any) -> None:
    settings = Settings(folder=tmp_path, workers=1, body_seconds=8, max_bytes=100_000, max_upload_bytes=100_000)
    head = b"POST /api/clean HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n"
    with start_server(replace(settings)) as server, ThreadPoolExecutor(6) as threads:
        slow = [threads.submit(talk, server, head + b"x" * 90_000) for _ in range(6)]
        answers = [each.result() for each in slow]
    assert sum(answer.startswith(b"HTTP/1.1 429 ") for answer in answers) == 2
    assert sum(answer.startswith(b"HTTP/1.1 408 ") for answer in answers) == 4
