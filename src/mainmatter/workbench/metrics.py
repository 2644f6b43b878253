"""/api/health and /api/metrics: the server's health, and its figures so far in Prometheus format."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends
from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from pydantic import BaseModel, Field
from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotation
from starlette.responses import JSONResponse, PlainTextResponse

from mainmatter import __version__
from mainmatter.isolation.memory import resident_mb
from mainmatter.workbench.workbench import Workbench, workbench_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mainmatter.workbench.workers import Workers

router = APIRouter(tags=["server"])

NO_ROUTE = "none"  # requests for what is not there: their paths are the clients' choice, and have no end
COUNTED_AS = "mainmatter.counted_as"  # in the scope of a request that is answered before it has a route
CLIENT_GONE = 499  # as nginx calls it
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class ServerMetrics(Collector):
    """The figures of one server: its requests, counted as they come, and its workers, at the time of the request.

    Args:
        workers: the server's.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._started = time.time()
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter(
            "mainmatter_requests_total", "Requests by route and status.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "mainmatter_request_seconds",
            "How long requests took, by route.",
            ("route",),
            buckets=_BOUNDS,
            registry=self._registry,
        )

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """All figures, without their creation times, which nobody needs."""
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
        workers = self._workers
        yield GaugeMetricFamily("mainmatter_workers", "Worker processes.", workers.count)
        yield GaugeMetricFamily("mainmatter_workers_busy", "Workers that are busy or being replaced.", workers.busy)
        yield GaugeMetricFamily("mainmatter_waiting", "Requests that wait for a worker.", workers.waiting)
        replaced = CounterMetricFamily(
            "mainmatter_workers_replaced", "Workers that had to be replaced, by reason.", labels=("reason",)
        )
        for reason, count in sorted(workers.ended.items()):
            replaced.add_metric((reason,), count)
        yield replaced
        memory = GaugeMetricFamily("mainmatter_memory_bytes", "Resident memory.", labels=("of",))
        memory.add_metric(("server",), (resident_mb(None) or 0) * 1e6)
        memory.add_metric(("workers",), workers.resident_mb() * 1e6)
        yield memory
        yield GaugeMetricFamily("mainmatter_start_time_seconds", "When the server was started.", self._started)


class CountRequests:
    """Middleware that counts every request."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self._app = app
        self._metrics = metrics

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
            self._metrics.add(scope["method"], _route(scope), status, time.perf_counter() - start)


def _route(scope: Scope) -> str:
    """The path as the router declares it, such as /frame/{key}."""
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    found: str = scope.get(COUNTED_AS, "/static" if scope["path"].startswith("/static/") else NO_ROUTE)
    return found


class Health(BaseModel):
    """The server's health."""

    alive: bool = Field(description="True: it answers.")
    ready: bool = Field(description="Whether its workers have started.")
    version: str = Field(examples=[__version__])


@router.get(
    "/api/health",
    response_model=Health,
    responses={503: {"model": Health, "description": "It answers, but its workers have not started yet."}},
    summary="Whether the server is up",
)
async def health(workbench: Annotated[Workbench, Depends(workbench_of)]) -> JSONResponse:
    """Needs no token, so that a supervisor can call it."""
    ready = workbench.workers.is_ready
    return JSONResponse({"alive": True, "ready": ready, "version": __version__}, 200 if ready else 503)


@router.get("/api/metrics", response_class=PlainTextResponse, summary="Figures for Prometheus")
async def metrics(request: Request) -> PlainTextResponse:
    """Requests by route and status, their times, workers, their queue, and memory, in Prometheus format."""
    text = generate_latest(request.app.state.metrics).decode()
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
