"""/api/inspect: all that Inspect shows of a page; and the frames that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field, model_validator
from starlette.exceptions import HTTPException

from mainmatter.records import Page
from mainmatter.registry import DEFAULT_METHOD
from mainmatter.workbench import frames
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.choosing import LONGEST_NAME
from mainmatter.workbench.cleaning import to_source
from mainmatter.workbench.corpus_browsing import CorpusPage, source_of
from mainmatter.workbench.inspect_task import Question
from mainmatter.workbench.reading import (
    FORM,
    JSON,
    StrictModel,
    check,
    content_type,
    read_form,
    read_json,
    texts_of,
    wrong_type,
)
from mainmatter.workbench.workbench import Workbench, workbench_of

if TYPE_CHECKING:
    from mainmatter.workbench.clean_task import Answer, Source
    from mainmatter.workbench.inspect_task import Inspection

router = APIRouter(tags=["workbench"])
router.include_router(frames.router)

MOST_AT_ONCE = 500  # blocks whose reasons are asked for
ERRORS = error_answers(401, 403, 413, 415, 422, 429, 500, 502, 504)
_DUMPS = (".txt", ".text")


class PageRequest(StrictModel):
    """A page: one of html, text, frame and corpus, or url alone to have it fetched."""

    html: str | None = Field(None, description="The page's HTML.")
    text: str | None = Field(None, description="Or a plain-text dump of a page.")
    url: str | None = Field(None, max_length=8000, description="Where the page came from, or is to be fetched from.")
    frame: str | None = Field(None, max_length=100, description="Or a page that this server showed before.")
    corpus: CorpusPage | None = Field(None, description="Or a page of one of the server's corpora, as it was.")

    @model_validator(mode="after")
    def _has_one_page(self) -> PageRequest:
        given = [name for name in ("html", "text", "frame", "corpus") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"send {' or '.join(given)}, not both")
        return self

    def page(self) -> Page | None:
        """The page, if the client sent it."""
        if self.html is not None:
            return Page(self.html)
        return None if self.text is None else Page(self.text, format="text")


Asked = TypeVar("Asked", bound=PageRequest)


class InspectRequest(PageRequest):
    """A page, and the method to ask."""

    method: str = Field(DEFAULT_METHOD, max_length=LONGEST_NAME, description="Which method decides.")
    options: dict[str, bool | int | float | str | None] = Field(
        default_factory=dict, description="Its parameters; the dial needs none: all its steps are in the answer."
    )


class TextRequest(InspectRequest):
    """A page, the method to ask, and the format of its text."""

    format: Literal["text", "markdown", "cleaneval"] = "text"


class ReasonsRequest(InspectRequest):
    """A page, the method to ask, and the blocks to ask about."""

    blocks: list[int] = Field(max_length=MOST_AT_ONCE)


def describe_body(model: type[PageRequest]) -> dict[str, Any]:
    """How a request may carry its page and its fields, for the documentation."""
    schema = model.model_json_schema()
    file = {"type": "string", "format": "binary", "description": "An HTML file, or a dump whose name ends in .txt."}
    others = {
        name: each for name, each in schema["properties"].items() if name not in ("html", "text", "frame", "corpus")
    }
    form = {"type": "object", "required": ["file"], "properties": {"file": file} | others}
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}, FORM: {"schema": form}}}}


@router.post(
    "/api/inspect",
    responses=ERRORS,
    openapi_extra=describe_body(InspectRequest),
    summary="Everything about a page: blocks, scores, reasons, dial",
)
async def inspect(request: Request, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """Takes JSON (html, text, url or frame; method; options) or a form with a file.

    The answer has the blocks as parallel lists; `kept` as lengths of runs, dropped first; `dial.kept` the same for each
    step of the dial; `frame`, under which /frame/{frame} shows the page and later questions may name it.
    """
    asked, page = await read_page_request(request, InspectRequest)
    question = Question(find_source(asked, page, workbench), workbench.models, asked.method, asked.options)
    inspection: Inspection = await workbench.workers.run(
        "mainmatter.workbench.inspect_task:inspect", question=question, with_frame=asked.frame is None
    )
    key = asked.frame or workbench.frames.put(inspection.marked, inspection.page)
    body = b'{"frame":"' + key.encode() + b'",' + inspection.answer.body[1:]
    return Response(body, media_type=inspection.answer.media_type)


@router.post("/api/inspect/text", responses=ERRORS, summary="The clean text of a page, in one of three formats")
async def text(asked: TextRequest, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """The text that a method keeps."""
    return await _ask(workbench, asked, "render", format_=asked.format)


@router.post("/api/inspect/reasons", responses=ERRORS, summary="Why some blocks were kept or dropped")
async def reasons(asked: ReasonsRequest, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """For pages of very many blocks, whose reasons do not come with the first answer."""
    return await _ask(workbench, asked, "tell_reasons", blocks=asked.blocks)


async def _ask(workbench: Workbench, asked: InspectRequest, task: str, **arguments: Any) -> Response:  # noqa: ANN401
    question = Question(find_source(asked, None, workbench), workbench.models, asked.method, asked.options)
    answer: Answer = await workbench.workers.run(
        f"mainmatter.workbench.inspect_task:{task}", question=question, **arguments
    )
    return Response(answer.body, media_type=answer.media_type)


async def read_page_request(request: Request, model: type[Asked]) -> tuple[Asked, Page | None]:
    """A request about a page: its fields, and the page if it was sent as a file.

    Raises:
        RequestValidationError: a field is wrong.
        HTTPException: the request is neither JSON nor a form.
    """
    media_type, _ = content_type(request)
    if media_type == JSON:
        return check(model, await read_json(request)), None
    if media_type != FORM:
        raise wrong_type(media_type, (JSON, FORM))
    file, fields = await read_form(request)
    page = Page(file.data, format="text" if file.name.lower().endswith(_DUMPS) else "html")
    return check(model, texts_of(fields, switches=())), page


def find_source(asked: PageRequest, file: Page | None, workbench: Workbench) -> Source:
    """Where the page of a request comes from.

    Args:
        asked: the request.
        file: the page, if it was sent as a file.
        workbench: the server's.

    Raises:
        HTTPException: the page of a frame is not remembered any more, or there is no such corpus.
        InputError: there is no page, or nothing is fetched here.
        PageTooLarge: it is over the limits.
    """
    if asked.corpus is not None:
        return source_of(asked.corpus, workbench)
    if asked.frame is None:
        return to_source(file or asked.page(), asked.url, workbench.settings)
    framed = workbench.frames.get(asked.frame)
    if framed is None or framed.page is None:
        raise HTTPException(410, "this page is no longer remembered; send it once more")
    return to_source(framed.page, framed.page.url, workbench.settings)
