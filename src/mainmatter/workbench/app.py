"""The web application, put together: `make_app(settings)`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.staticfiles import StaticFiles

from mainmatter import __version__
from mainmatter.errors import InputError
from mainmatter.workbench import annotate, clean, compare, corpus, evaluate, inspect, metrics, suggestions, teach
from mainmatter.workbench.annotate import Annotating
from mainmatter.workbench.answers import add_handlers
from mainmatter.workbench.bodies import Bodies
from mainmatter.workbench.corpus import CorpusMemory, name_corpora
from mainmatter.workbench.html_pages import html_page
from mainmatter.workbench.imports import Imports, remove_leftovers
from mainmatter.workbench.metrics import CountRequests, ServerMetrics
from mainmatter.workbench.security import Security
from mainmatter.workbench.suggestions import Suggesting
from mainmatter.workbench.teach import TeachingJobs
from mainmatter.workbench.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.responses import Response
    from starlette.types import Scope

    from mainmatter.workbench.settings import Settings

STATIC = Path(__file__).parent / "static"
PAGES = {
    "/": "inspect",
    "/corpus": "corpus",
    "/compare": "compare",
    "/annotate": "annotate",
    "/teach": "teach",
    "/api": "api",
}
WORK = frozenset(("/api/clean", "/api/evaluate"))  # requests of programs: refused before they are read if all are busy
_DESCRIPTION = """\
Keeps the main matter of web pages and drops the boilerplate.

Every error is JSON: `{"error": "what is wrong", "hint": "what to do about it"}`. If the server has a token, send
`Authorization: Bearer TOKEN`. If it is busy, it answers 429 at once, with a header `Retry-After`.
"""


def make_app(settings: Settings) -> FastAPI:
    """The whole application. Its workers start and end with its lifespan.

    Raises:
        InputError: other machines could reach it, and it has no token; or one of its corpora is not a corpus.
    """
    if not settings.is_local and not settings.token:
        raise InputError(f"{settings.host} can be reached from other machines, and there is no token; give one")
    workbench = Workbench(settings, name_corpora(settings.corpora))
    annotating, imports, suggesting = Annotating(workbench), Imports(workbench), Suggesting(workbench)
    counted = ServerMetrics(workbench.workers)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await workbench.workers.start()
        try:
            await run_in_threadpool(remove_leftovers, workbench.database.parent)
            yield
        finally:
            await imports.close()
            suggesting.close()
            annotating.close()
            await workbench.workers.close()

    app = FastAPI(
        title="mainmatter",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's pages load their scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.workbench = workbench
    app.state.annotating = annotating
    app.state.imports = imports
    app.state.corpora = CorpusMemory()
    app.state.suggesting = suggesting
    app.state.teaching = TeachingJobs(settings.folder.absolute())
    app.state.metrics = counted
    add_handlers(app)
    for feature in (clean, evaluate, metrics, inspect, corpus, compare, annotate, suggestions, teach):
        app.include_router(feature.router)
    _add_pages(app)
    # The last one that is added is the first to see a request.
    app.add_middleware(Bodies, settings=settings, workers=workbench.workers, work=WORK)
    app.add_middleware(Security, settings=settings)
    app.add_middleware(CountRequests, metrics=counted)
    return app


def _add_pages(app: FastAPI) -> None:
    for path, name in PAGES.items():
        app.add_api_route(path, _page(name), methods=["GET", "HEAD"], include_in_schema=False)
    app.mount("/static", _Static(directory=STATIC), name="static")


def _page(name: str) -> Callable[[], Awaitable[HTMLResponse]]:
    async def show() -> HTMLResponse:
        return HTMLResponse(html_page(name), headers={"Cache-Control": "no-cache"})

    return show


class _Static(StaticFiles):
    """Files that browsers revalidate each time, so that old and new versions never mix."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        answer.headers["Cache-Control"] = "no-cache"
        return answer
