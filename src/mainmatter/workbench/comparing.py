"""/api/compare: one page, several methods and peers, side by side."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field, field_validator
from pydantic_core import from_json

from mainmatter.workbench.choosing import LONGEST_NAME
from mainmatter.workbench.clean_task import Source
from mainmatter.workbench.compare_task import Contribution, check_names
from mainmatter.workbench.inspecting import ERRORS, PageRequest, describe_body, find_source, read_page_request
from mainmatter.workbench.workbench import Workbench, workbench_of
from mainmatter.workbench.workers import Crashed, TookTooLong

if TYPE_CHECKING:
    from mainmatter.workbench.clean_task import Answer

router = APIRouter(tags=["workbench"])

MOST_CONTESTANTS = 12
_AT_ONCE = 2  # of a request: others want workers, too


class CompareRequest(PageRequest):
    """A page, who is to clean it, and what should come of it."""

    methods: list[Annotated[str, Field(max_length=LONGEST_NAME)]] = Field(
        min_length=1,
        max_length=MOST_CONTESTANTS,
        description="Methods, models (models/NAME) and peers; parameters of a method may follow its name.",
        examples=[["main", "density"]],
    )
    gold: str | None = Field(
        None, max_length=5_000_000, description="The text that should be found, with CleanEval's markup or without."
    )

    @field_validator("methods", mode="before")
    @classmethod
    def _read_list(cls, value: Any) -> Any:  # noqa: ANN401 - whatever was sent
        """In a form, the list is a text: JSON."""
        return from_json(value) if isinstance(value, str) else value


@router.get("/api/compare", responses=ERRORS, summary="What can be compared")
async def contestants(workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """The methods, the models of this workbench, and the peers that are installed."""
    answer: Answer = await workbench.workers.run(
        "mainmatter.workbench.compare_task:describe_contestants", models=workbench.models
    )
    return Response(answer.body, media_type=answer.media_type)


@router.post(
    "/api/compare",
    responses=ERRORS,
    openapi_extra=describe_body(CompareRequest),
    summary="What several methods make of a page",
)
async def compare(request: Request, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """Takes JSON (html, text, url or frame; methods; gold) or a form with a file.

    Each text comes in `parts`: "=" the same as the reference, "+" added, "-" missing. The reference is the gold text
    or, without one, the first method's. A peer that fails or hangs has an `error` instead of a text.
    """
    asked, file = await read_page_request(request, CompareRequest)
    check_names(asked.methods, workbench.models)
    source = find_source(asked, file, workbench)
    page = await workbench.workers.run("mainmatter.workbench.compare_task:get_page", source=source)
    source = Source(page, limits=source.limits)
    turns = asyncio.Semaphore(_AT_ONCE)
    contributions = await asyncio.gather(*(_contribute(workbench, turns, source, name) for name in asked.methods))
    gold = asked.gold if asked.gold and asked.gold.strip() else None
    answer: Answer = await workbench.workers.run(
        "mainmatter.workbench.compare_task:compare", contributions=contributions, gold=gold
    )
    return Response(answer.body, media_type=answer.media_type)


async def _contribute(workbench: Workbench, turns: asyncio.Semaphore, source: Source, name: str) -> Contribution:
    """What a contestant makes of the page. One that crashes or hangs costs its column, not the answer."""
    async with turns:
        try:
            contribution: Contribution = await workbench.workers.run(
                "mainmatter.workbench.compare_task:contribute", source=source, name=name, models=workbench.models
            )
        except (Crashed, TookTooLong) as error:
            return Contribution(name, error=str(error))
        return contribution
