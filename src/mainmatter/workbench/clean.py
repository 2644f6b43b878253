"""/api/clean and /api/methods: the heart of the API."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field, model_validator
from starlette.exceptions import HTTPException

from mainmatter import __version__
from mainmatter.api import clean as clean_page
from mainmatter.errors import MainmatterError
from mainmatter.models.store import load
from mainmatter.records import Page
from mainmatter.registry import DEFAULT_METHOD, FORMATS, get_method, make_untrained, method_names, trainable_names
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.choosing import (
    LONGEST_NAME,
    MODELS,
    choose_method,
    method_in_use,
    model_names,
    needs_model,
    offered_method,
    parameters_of,
    without_paths,
)
from mainmatter.workbench.page_source import PageSource, Payload, to_json, to_source
from mainmatter.workbench.reading import (
    FORM,
    JSON,
    Options,
    StrictModel,
    check,
    content_type,
    invalid,
    read_form,
    read_json,
    texts_of,
    wrong_type,
)
from mainmatter.workbench.workbench import Workbench, workbench_of

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.records import Extraction

router = APIRouter(tags=["pages"])

HTML_TYPES = ("text/html", "application/xhtml+xml")
TEXT_TYPES = ("text/plain",)
Format = Literal["cleaneval", "html", "json", "jsonl", "markdown", "tei", "text"]
# What a client accepts, and the format that gives it.
_ACCEPTED: dict[str, Format] = {
    "text/plain": "text",
    "text/markdown": "markdown",
    "text/html": "html",
    "application/tei+xml": "tei",
}
_ENVELOPE = ("application/json", "application/*", "*/*")
_MEDIA_TYPES = {
    "cleaneval": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": JSON,
    "jsonl": "application/jsonl; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "tei": "application/tei+xml",
    "text": "text/plain; charset=utf-8",
}
_RENDER_OPTIONS = {
    "markdown": ("links", "images", "tables", "headings", "front_matter"),
    "html": ("images",),
    "tei": ("images",),
}
_SWITCHES = ("blocks", "front_matter", "images", "links", "raw", "tables")
# The page's own markup must not become part of our site, whatever it holds.
_HARMLESS = "sandbox; default-src 'none'; frame-ancestors 'none'"
_EXAMPLE_PAGE = "<title>Fog</title><nav><a href=/>Home</a></nav><h1>Fog signals</h1><p>Ships need them in fog.</p>"


class CleanRequest(StrictModel):
    """A page, and what to return of it."""

    html: str | None = Field(None, description="The page's HTML.", examples=[_EXAMPLE_PAGE])
    text: str | None = Field(None, description="Or a plain-text dump of a page, such as `lynx -dump` makes.")
    url: str | None = Field(
        None,
        max_length=8000,
        description="The page's address. Without html and text, the server fetches the page from there.",
    )
    method: str | None = Field(
        None,
        max_length=LONGEST_NAME,
        description="The method; /api/methods lists all and the default. Parameters may follow: `density:c1=0.25`.",
    )
    format: Format | None = Field(None, description="The output format; text by default.", examples=["markdown"])
    options: Options = Field(
        default_factory=dict,
        description="Parameters of the method, such as dial and comments of `main`; /api/methods lists them.",
        examples=[{"dial": 0.5, "comments": "drop"}],
    )
    links: bool = Field(True, description="Keep links (markdown).")
    images: bool = Field(False, description="Keep images (markdown, html, tei).")
    tables: bool = Field(True, description="Write tables as tables, instead of each row as a line of text (markdown).")
    headings: Literal["atx", "setext"] = Field("atx", description="Mark headings with #, or underline them (markdown).")
    front_matter: bool = Field(False, description="Begin with the metadata, as YAML (markdown).")
    blocks: bool = Field(False, description="Also return every block, with its score, verdict and reason.")
    raw: bool = Field(False, description="Return the content alone, instead of a JSON object.")

    @model_validator(mode="after")
    def _has_one_page(self) -> CleanRequest:
        if self.html is not None and self.text is not None:
            raise ValueError("send html or text, not both")
        return self


class CleanAnswer(BaseModel):
    """What was kept."""

    method: str = Field(description="The method that decided.", examples=["main"])
    version: str = Field(description="The version of mainmatter.", examples=["0.1.0"])
    format: str = Field(examples=["text"])
    content: str | dict[str, Any] = Field(description="The main matter; an object if the format is json.")
    title: str | None = Field(description="The page's headline.", examples=["Fog signals"])
    metadata: dict[str, str | None] = Field(description="The page's metadata.")
    url: str | None = Field(description="The page's address, after redirects.")
    encoding: str | None = Field(description="The encoding in which the page's bytes were read.")
    page_type: str | None = Field(description="The page type, as the method sees it.", examples=["article"])
    confidence: float | None = Field(description="How sure the method is, from 0 to 1.", examples=[0.93])
    seconds: float = Field(description="How long cleaning took, without queueing and fetching.", examples=[0.004])
    blocks: list[dict[str, Any]] | None = Field(None, description="Every block of the page, if requested.")


class ParameterAnswer(BaseModel):
    """A parameter of a method."""

    name: str
    type: str = Field(description="`bool`, `int`, `float`, `str` or `choice`.")
    default: bool | int | float | str | None
    choices: list[str] = Field(description="The values of a choice; empty for other types.")
    settable: bool = Field(description="Whether it can be set in `options`; others are only for the command line.")


class MethodAnswer(BaseModel):
    """A method."""

    name: str
    summary: str = Field(description="What it does, in one line, or why it cannot be used.")
    trainable: bool = Field(description="Whether it can learn.")
    needs_model: bool = Field(description="Whether it needs a model.")
    parameters: list[ParameterAnswer]


class ModelAnswer(BaseModel):
    """A model of the workbench."""

    name: str = Field(description="The value for `method`: `models/NAME`.")
    method: str | None = Field(description="Its method; null if it cannot be read.")
    problem: str | None = Field(description="Why it cannot be read; null if it can.")
    card: dict[str, Any] = Field(description="Its origin and figures.")


class FormatAnswer(BaseModel):
    """An output format."""

    name: str
    ending: str = Field(description="The ending of its files, such as `.md`.")


class MethodsAnswer(BaseModel):
    """What a client can choose from."""

    default: str = Field(description="The default method or model.")
    methods: list[MethodAnswer]
    models: list[ModelAnswer]
    formats: list[FormatAnswer]


def _bodies() -> dict[str, Any]:
    """How a request can carry its page, for the documentation."""
    schema = CleanRequest.model_json_schema()
    texts = {name: each for name, each in schema["properties"].items() if name not in ("html", "text")}
    file = {"type": "string", "format": "binary", "description": "An HTML file, or a dump whose name ends in .txt."}
    form = {"type": "object", "required": ["file"], "properties": {"file": file} | texts, "additionalProperties": False}
    page = {"schema": {"type": "string"}, "example": _EXAMPLE_PAGE}
    examples = {
        "html": {"summary": "A page", "value": {"html": _EXAMPLE_PAGE}},
        "url": {"summary": "An address", "value": {"url": "https://example.org/", "format": "markdown"}},
        "dial": {
            "summary": "Keep only what is sure, with reasons",
            "value": {"html": _EXAMPLE_PAGE, "options": {"dial": 0.1}, "blocks": True},
        },
    }
    return {
        "required": True,
        "content": {JSON: {"schema": schema, "examples": examples}, FORM: {"schema": form}}
        | dict.fromkeys(HTML_TYPES[:1] + TEXT_TYPES, page),
    }


def _query() -> list[dict[str, Any]]:
    """The query parameters, for the documentation."""
    schema = CleanRequest.model_json_schema()["properties"]
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": each.get("description", ""),
            "schema": {"type": "string", "description": "A JSON object."} if name == "options" else each,
        }
        for name, each in schema.items()
        if name not in ("html", "text")
    ]


@dataclass(frozen=True, slots=True)
class CleanTask:
    """What a client asked for; see `CleanRequest` for the other fields."""

    source: PageSource
    models: Path
    method: str = DEFAULT_METHOD
    options: dict[str, Any] = field(default_factory=dict)
    format: str = "text"
    links: bool = True
    images: bool = False
    tables: bool = True
    headings: Literal["atx", "setext"] = "atx"
    front_matter: bool = False
    blocks: bool = False
    raw: bool = False


@router.post(
    "/api/clean",
    response_model=CleanAnswer,
    responses=error_answers(400, 401, 403, 413, 415, 422, 429, 500, 502, 504),
    openapi_extra={"requestBody": _bodies(), "parameters": _query()},
    summary="Keep the main matter of a page",
)
async def clean(request: Request, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """Send the page as JSON (html, text or url), as a file in a form, or as the body itself, with its own Content-Type.

    All fields but html and text may also be query parameters. A request that accepts `text/plain`, `text/markdown`,
    `text/html` or `application/tei+xml`, or that sets `raw`, gets the content alone.
    """
    task = await _read(request, workbench)
    payload = await workbench.run(run_clean, task=task)
    headers = {"Vary": "Accept"}
    if task.raw and task.format in ("html", "tei"):
        name = "page.html" if task.format == "html" else "page.xml"
        headers |= {"Content-Security-Policy": _HARMLESS, "Content-Disposition": f'attachment; filename="{name}"'}
    return payload.to_response(headers)


@router.get("/api/methods", response_model=MethodsAnswer, summary="The methods, their parameters, models and formats")
async def methods(workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """List what a request can choose from."""
    return (await workbench.run(describe_methods, models=workbench.models)).to_response()


async def _read(request: Request, workbench: Workbench) -> CleanTask:
    media_type, charset = content_type(request)
    fields = texts_of(request.query_params.multi_items(), switches=_SWITCHES)
    page: Page | None = None
    if media_type == JSON:
        fields |= await read_json(request)
    elif media_type == FORM:
        file, others = await read_form(request)
        fields |= texts_of(others, switches=_SWITCHES)
        page = Page(file.data, format="text" if file.name.lower().endswith(".txt") else "html")
    elif media_type in HTML_TYPES + TEXT_TYPES:
        page = Page(await request.body(), charset=charset, format="text" if media_type in TEXT_TYPES else "html")
    else:
        raise wrong_type(media_type, (JSON, FORM, *HTML_TYPES, *TEXT_TYPES))
    if page is not None and fields.keys() & {"html", "text"}:
        raise invalid("html and text are for JSON requests; here the page is the body or the file")
    return _to_task(check(CleanRequest, fields), page, request, workbench)


def _to_task(asked: CleanRequest, page: Page | None, request: Request, workbench: Workbench) -> CleanTask:
    accepted = _accepted(request.headers.get("accept", "*/*"))
    if page is None and (asked.html is not None or asked.text is not None):
        page = Page(asked.text or "", format="text") if asked.html is None else Page(asked.html)
    return CleanTask(
        to_source(page, asked.url, workbench.settings),
        workbench.models,
        asked.method or method_in_use(workbench.models),
        asked.options,
        asked.format or accepted or "text",
        asked.links,
        asked.images,
        asked.tables,
        asked.headings,
        asked.front_matter,
        asked.blocks,
        raw=asked.raw or accepted is not None,
    )


def _accepted(header: str) -> Format | None:
    """The format that a client prefers; None for our own JSON object.

    Raises:
        HTTPException: it accepts no available format.
    """
    ranked = []
    for number, each in enumerate(header.split(",")):
        name, *parameters = (part.strip().lower() for part in each.split(";"))
        ranked.append((-_quality(parameters), number, name))
    for quality, _, name in sorted(ranked):
        if quality == 0:
            break
        if name in _ENVELOPE or not name:
            return None
        if name in _ACCEPTED:
            return _ACCEPTED[name]
        if name == "text/*":
            return "text"
    raise HTTPException(406, f"{header[:100]!r} is not available; use {', '.join(('application/json', *_ACCEPTED))}")


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return min(1.0, max(0.0, float(parameter[2:])))
            except ValueError:
                return 0.0
    return 1.0


def run_clean(task: CleanTask) -> Payload:
    """Get a page, clean it, and make the answer. Done in a worker.

    Raises:
        MainmatterError: anything that is wrong with the task or the page.
    """
    page = task.source.get()
    start = time.perf_counter()
    try:
        method, parameters = choose_method(task.method, task.options, task.models)
        extraction = clean_page(page, method=method, limits=task.source.limits, parameters=parameters)
    except MainmatterError as error:
        raise without_paths(error, task.models) from error
    wanted = _RENDER_OPTIONS.get(task.format, ())
    content = extraction.render(task.format, **{name: getattr(task, name) for name in wanted})
    if task.raw:
        return Payload(content.encode("utf-8", "replace"), _MEDIA_TYPES[task.format])
    return to_json(_envelope(task, extraction, content, time.perf_counter() - start))


def _envelope(task: CleanTask, extraction: Extraction, content: str, seconds: float) -> dict[str, Any]:
    page, confidence = extraction.document.page, extraction.confidence
    answer: dict[str, Any] = {
        "method": task.method,
        "version": __version__,
        "format": task.format,
        "content": json.loads(content) if task.format == "json" else content,
        "title": extraction.metadata.title,
        "metadata": asdict(extraction.metadata),
        "url": page.url,
        "encoding": extraction.document.encoding,
        "page_type": extraction.page_type,
        "confidence": None if confidence is None else round(float(confidence), 4),
        "seconds": round(seconds, 6),
    }
    if task.blocks:
        answer["blocks"] = extraction.to_dict(blocks=True)["blocks"]
    return answer


def describe_methods(models: Path) -> Payload:
    """Everything a client can choose from. Done in a worker."""
    found = {
        "default": offered_method(models),
        "methods": [_describe(name) for name in method_names()],
        "models": [_describe_model(name, models) for name in model_names(models)],
        "formats": [{"name": name, "ending": ending} for name, (_, ending) in FORMATS.items()],
    }
    return to_json(found)


def _describe(name: str) -> dict[str, Any]:
    try:
        learns = name in trainable_names()
        method: Any = make_untrained(name) if learns else get_method(name)
        return {
            "name": name,
            "summary": method.summary,
            "trainable": learns,
            "needs_model": needs_model(name),
            "parameters": parameters_of(name) if is_dataclass(method) else [],
        }
    except Exception as error:  # another package's method may be broken in any way
        problem = " ".join(str(error).split()) or type(error).__name__
        summary = f"cannot be used: {problem}"
        return {"name": name, "summary": summary, "trainable": False, "needs_model": False, "parameters": []}


def _describe_model(name: str, models: Path) -> dict[str, Any]:
    try:
        model = load(models / name.removeprefix(MODELS))
    except MainmatterError as error:
        return {"name": name, "method": None, "problem": str(without_paths(error, models)), "card": {}}
    return {"name": name, "method": model.method, "problem": None, "card": model.card}
