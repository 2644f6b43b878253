"""What the server has done so far, in the text form that Prometheus reads."""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mainmatter.lab.bench.memory import resident_mb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mainmatter.workbench.workers import Workers

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
NO_ROUTE = "none"  # requests for what is not there: their paths are the clients' choice, and have no end
COUNTED_AS = "mainmatter.counted_as"  # in the scope of a request that is answered before it has a route
CLIENT_GONE = 499  # as nginx calls it
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


@dataclass
class Counts:
    """Requests by method, route and status, and how long they took by route."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    within: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0] * (len(BOUNDS) + 1)))
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    started: float = field(default_factory=time.time)

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[method if method in _METHODS else "other", route, status] += 1
        self.within[route][bisect_left(BOUNDS, seconds)] += 1
        self.seconds[route] += seconds


class Counting:
    """Middleware that counts every request."""

    def __init__(self, app: ASGIApp, counts: Counts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when it is over."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = CLIENT_GONE  # if nobody answers

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        start = time.perf_counter()
        try:
            await self._app(scope, receive, note_status)
        finally:
            self._counts.add(scope["method"], _route(scope), status, time.perf_counter() - start)


def _route(scope: Scope) -> str:
    """The path as the router declares it, such as /frame/{key}."""
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    found: str = scope.get(COUNTED_AS, "/static" if scope["path"].startswith("/static/") else NO_ROUTE)
    return found


def to_prometheus(counts: Counts, workers: Workers) -> str:
    """All figures, in Prometheus' text format."""
    lines: list[str] = []
    lines += _family("requests_total", "counter", "Requests by route and status.", _requests(counts))
    lines += _family("request_seconds", "histogram", "How long requests took, by route.", _seconds(counts))
    lines += _family("workers", "gauge", "Worker processes.", [("", workers.count)])
    lines += _family("workers_busy", "gauge", "Workers that are at work or being replaced.", [("", workers.busy)])
    lines += _family("waiting", "gauge", "Requests that wait for a worker.", [("", workers.waiting)])
    ended = [(f'{{reason="{reason}"}}', count) for reason, count in sorted(workers.ended.items())]
    lines += _family("workers_replaced_total", "counter", "Workers that had to be replaced, by reason.", ended)
    memory = [('{of="server"}', (resident_mb(None) or 0) * 1e6), ('{of="workers"}', workers.resident_mb() * 1e6)]
    lines += _family("memory_bytes", "gauge", "Resident memory.", memory)
    lines += _family("start_time_seconds", "gauge", "When the server was started.", [("", counts.started)])
    return "\n".join(lines) + "\n"


def _family(name: str, kind: str, words: str, samples: Iterable[tuple[str, float]]) -> Iterator[str]:
    yield f"# HELP mainmatter_{name} {words}"
    yield f"# TYPE mainmatter_{name} {kind}"
    for label, value in samples:
        yield f"mainmatter_{name}{label} {value:.15g}"


def _requests(counts: Counts) -> Iterator[tuple[str, float]]:
    for (method, route, status), count in sorted(counts.requests.items()):
        yield f'{{method="{method}",route="{_quoted(route)}",status="{status}"}}', count


def _seconds(counts: Counts) -> Iterator[tuple[str, float]]:
    for route, within in sorted(counts.within.items()):
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), within, strict=True):
            total += count
            yield f'_bucket{{route="{_quoted(route)}",le="{bound}"}}', total
        yield f'_sum{{route="{_quoted(route)}"}}', counts.seconds[route]
        yield f'_count{{route="{_quoted(route)}"}}', total


def _quoted(text: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", text)
