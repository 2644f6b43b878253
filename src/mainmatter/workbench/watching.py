"""/api/health and /api/metrics: how the server is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, PlainTextResponse

from mainmatter import __version__
from mainmatter.workbench.counting import to_prometheus
from mainmatter.workbench.workbench import Workbench, workbench_of

router = APIRouter(tags=["server"])


class Health(BaseModel):
    """How the server is."""

    alive: bool = Field(description="True: it answers.")
    ready: bool = Field(description="Whether its workers have started.")
    version: str = Field(examples=[__version__])


@router.get(
    "/api/health",
    response_model=Health,
    responses={503: {"model": Health, "description": "It answers, but its workers are not there yet."}},
    summary="Whether the server is there",
)
async def health(workbench: Annotated[Workbench, Depends(workbench_of)]) -> JSONResponse:
    """Needs no token, so that a supervisor can ask."""
    ready = workbench.workers.is_ready
    return JSONResponse({"alive": True, "ready": ready, "version": __version__}, 200 if ready else 503)


@router.get("/api/metrics", response_class=PlainTextResponse, summary="Figures for Prometheus")
async def metrics(workbench: Annotated[Workbench, Depends(workbench_of)]) -> PlainTextResponse:
    """Requests by route and status, their times, workers, the queue before them, and memory, as Prometheus reads it."""
    text = to_prometheus(workbench.counts, workbench.workers)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
