"""How `mainmatter serve` does under load: many clients at once, on loopback, with the pages of examples/site.

    python scripts/load_test.py                    200 clients for 30 s, each asks again as soon as it has an answer
    python scripts/load_test.py --patient          the same, but a client that gets 429 waits as Retry-After says

Prints how often each status came, the times of answers, and the memory of the server and its workers. The exit code is
1 if there was any status but 200 and 429, a connection that was dropped, or memory that grew by more than a tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

PAGES = Path(__file__).parents[1] / "examples" / "site"
SETTLED = 5.0  # seconds until all that is made once has been made
MOST_GROWTH = 0.1
ALLOWED = {200, 429}


@dataclass
class Tally:
    """What the clients saw: the seconds of each answer by its status, and what went wrong with connections."""

    seconds: defaultdict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    dropped: list[str] = field(default_factory=list)


async def be_client(port: int, requests: list[bytes], end: float, tally: Tally, *, patient: bool) -> None:
    """Send requests over one connection, one after the other, until it is time to stop."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in cycle(requests):
            if time.monotonic() >= end:
                break
            start = time.perf_counter()
            writer.write(request)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            await reader.readexactly(int(re.search(r"(?i)^content-length: (\d+)", head, re.MULTILINE)[1]))  # type: ignore[index]
            status = int(head.split(" ", 2)[1])
            tally.seconds[status].append(time.perf_counter() - start)
            if status == 429 and patient:
                wait = re.search(r"(?i)^retry-after: (\d+)", head, re.MULTILINE)
                await asyncio.sleep(float(wait[1]) if wait else 1.0)
        writer.close()
        await writer.wait_closed()
    except (OSError, asyncio.IncompleteReadError) as error:
        tally.dropped.append(f"{type(error).__name__}: {error}")


def make_requests() -> list[bytes]:
    """A request for each example page."""
    requests = []
    for file in sorted(PAGES.rglob("*.html")):
        body = file.read_bytes()
        head = f"POST /api/clean HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
        requests.append(f"{head}\r\n\r\n".encode() + body)
    return requests


def resident_mb(server: int) -> tuple[float, float]:
    """The memory of the server and of its workers, in megabytes."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii").split()
    others = [child for task in Path(f"/proc/{server}/task").iterdir() for child in _children(task)]
    return _resident(server), sum(_resident(int(child)) for child in {*children, *others})


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text(encoding="ascii").split()
    except OSError:
        return []


def _resident(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1000 if found else 0.0


async def attack(port: int, server: int, arguments: argparse.Namespace) -> tuple[Tally, list[tuple[float, float]]]:
    """All clients at once; what they saw, and the memory at the start, after some seconds and at the end."""
    tally = Tally()
    requests = make_requests()
    memory = [resident_mb(server)]
    end = time.monotonic() + arguments.seconds
    clients = [
        asyncio.create_task(
            be_client(port, requests[n % len(requests) :] + requests, end, tally, patient=arguments.patient)
        )
        for n in range(arguments.clients)
    ]
    await asyncio.sleep(min(SETTLED, arguments.seconds / 2))
    memory.append(resident_mb(server))
    await asyncio.sleep(max(0.0, end - time.monotonic() - 0.5))
    memory.append(resident_mb(server))
    await asyncio.wait(clients, timeout=60)
    late = sum(not client.done() for client in clients)
    if late:
        tally.dropped.append(f"{late} clients got no answer")
    return tally, memory


def percentile(seconds: list[float], share: float) -> str:
    """In milliseconds."""
    return f"{sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))] * 1000:,.1f}"


def report(tally: Tally, memory: list[tuple[float, float]], arguments: argparse.Namespace) -> list[str]:
    """Print what was seen; returns what is wrong with it."""
    patience = "wait as Retry-After says" if arguments.patient else "ask again at once"
    print(f"{arguments.clients} clients for {arguments.seconds:g} s, which {patience}; {os.cpu_count()} cores\n")
    print("| Status | Answers | a second | p50 ms | p95 ms | p99 ms | longest ms |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for status, seconds in sorted(tally.seconds.items()):
        figures = " | ".join(percentile(seconds, share) for share in (0.5, 0.95, 0.99, 1.0))
        print(f"| {status} | {len(seconds):,} | {len(seconds) / arguments.seconds:,.0f} | {figures} |")
    print("\n| Memory, MB | at the start | after 5 s | at the end |\n| --- | ---: | ---: | ---: |")
    for name, part in (("server", 0), ("workers", 1)):
        print(f"| {name} | " + " | ".join(f"{each[part]:.0f}" for each in memory) + " |")
    print(f"\nconnections dropped: {len(tally.dropped)}")
    problems = [f"status {status}: {len(tally.seconds[status])} times" for status in set(tally.seconds) - ALLOWED]
    problems += sorted(set(tally.dropped))
    settled, last = sum(memory[1]), sum(memory[2])
    if last > settled * (1 + MOST_GROWTH):
        problems.append(f"memory grew from {settled:.0f} to {last:.0f} MB")
    if not tally.seconds[200]:
        problems.append("no page was cleaned")
    return problems


def main() -> None:
    """Start a server, load it, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--workers", type=int, default=None, help="of the server")
    parser.add_argument("--patient", action="store_true", help="clients wait as Retry-After says")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mainmatter", "serve", "--port", "0", "--folder", folder]
        command += [] if arguments.workers is None else ["--workers", str(arguments.workers)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                port = int(re.search(r":(\d+)/", server.stdout.readline())[1])  # type: ignore[index]
                tally, memory = asyncio.run(attack(port, server.pid, arguments))
            finally:
                server.terminate()
    problems = report(tally, memory, arguments)
    for problem in problems:
        print(f"PROBLEM: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
