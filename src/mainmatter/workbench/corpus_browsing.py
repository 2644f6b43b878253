"""/api/corpora: the corpora that the operator named when the server was started, to look at.

Nothing that a client sends is a path: a corpus is chosen by its name in the list, a page by a part's number and a
place in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from fastapi import Path as PathParameter
from pydantic import Field
from starlette.exceptions import HTTPException

from mainmatter.corpus.browse import ListingQuery, Place
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.corpus_names import LONGEST_NAME
from mainmatter.workbench.corpus_task import CorpusSource, Key
from mainmatter.workbench.reading import StrictModel
from mainmatter.workbench.workbench import Workbench, workbench_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mainmatter.workbench.clean_task import Answer

router = APIRouter(prefix="/api/corpora", tags=["workbench"])

PAGES = 50  # in a list
SECONDS = 3.0  # that a search goes on
LONGEST_FIND = 200
_KEY = r"^(kept|rejected)-\d{1,9}-\d{1,15}$"
_ERRORS = error_answers(401, 403, 422, 429, 500, 504)

Bench = Annotated[Workbench, Depends(workbench_of)]
Name = Annotated[str, PathParameter(max_length=LONGEST_NAME, description="A corpus, as /api/corpora names it.")]


class CorpusPage(StrictModel):
    """A page of one of the server's corpora."""

    name: str = Field(max_length=LONGEST_NAME, description="A corpus, as /api/corpora names it.")
    page: str = Field(pattern=_KEY, description="The key of a page, as its list gives it.")


def source_of(asked: CorpusPage, workbench: Workbench) -> CorpusSource:
    """Where a page of a corpus comes from, for the worker that gets it.

    Raises:
        HTTPException: there is no such corpus.
    """
    out = _path(workbench.corpora, asked.name)
    return CorpusSource(limits=workbench.settings.limits, out=out, key=Key.parse(asked.page))


@router.get("", responses=error_answers(401, 403), summary="The corpora that can be looked at")
async def list_corpora(bench: Bench) -> dict[str, Any]:
    """The names of those that the server was started with: `mainmatter serve --corpus OUT`."""
    return {"corpora": [{"name": name} for name in bench.corpora]}


@router.get("/{name}", responses=_ERRORS, summary="What came of a corpus run")
async def describe(bench: Bench, name: Name) -> Response:
    """Pages in, kept, rejected by reason; the method; the inputs."""
    return await _ask(bench, "describe", out=_path(bench.corpora, name))


@router.get("/{name}/pages", responses=_ERRORS, summary="Some pages of a corpus")
async def list_pages(
    bench: Bench,
    name: Name,
    rejected: Annotated[bool, Query(description="Those that were rejected, and not those that were kept.")] = False,
    reason: Annotated[str, Query(max_length=100, description="Of the rejected, only those for this reason.")] = "",
    find: Annotated[
        str, Query(max_length=LONGEST_FIND, description="Words that the title, the address or the id holds.")
    ] = "",
    start: Annotated[str, Query(pattern=r"^\d{1,9}-\d{1,15}$", description="`next` of an earlier answer.")] = "0-0",
) -> Response:
    """At most 50 pages, and where the next ones begin.

    A search stops after some seconds; `ran_out` then says so, `looked_at` how far it came, and `next` goes on.
    """
    part, at = map(int, start.split("-"))
    words = tuple(find.split())
    wish = ListingQuery(not rejected, reason if rejected else "", words, Place(part, at), PAGES, SECONDS)
    return await _ask(bench, "list_pages", out=_path(bench.corpora, name), wish=wish, limits=bench.settings.limits)


@router.get("/{name}/pages/{key}", responses=_ERRORS, summary="What a corpus holds of a page")
async def show_page(bench: Bench, name: Name, key: Annotated[str, PathParameter(pattern=_KEY)]) -> Response:
    """Its text, if it was kept, and all else that is known of it. /api/inspect with `corpus` shows the page itself."""
    return await _ask(
        bench, "show_page", out=_path(bench.corpora, name), key=Key.parse(key), limits=bench.settings.limits
    )


async def _ask(bench: Workbench, task: str, **arguments: Any) -> Response:  # noqa: ANN401
    answer: Answer = await bench.workers.run(f"mainmatter.workbench.corpus_task:{task}", **arguments)
    return Response(answer.body, media_type=answer.media_type)


def _path(corpora: Mapping[str, str], name: str) -> str:
    if name not in corpora:
        raise HTTPException(422, "this server has no such corpus; /api/corpora lists those that it has")
    return corpora[name]
