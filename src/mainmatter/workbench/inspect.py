"""/api/inspect: what Inspect shows of a page: its blocks, a method's decisions on them, and the effect of the dial."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import numpy as np
from fastapi import APIRouter, Depends, Request, Response
from pydantic import FailFast, Field, model_validator
from starlette.exceptions import HTTPException

from mainmatter.api import read
from mainmatter.errors import InputError, MainmatterError, PageTooLarge
from mainmatter.html.safe import safe_html
from mainmatter.main.choice import PIECES, SWITCHES
from mainmatter.main.method import Main
from mainmatter.papers.density.method import Density
from mainmatter.records import LABELS, Page
from mainmatter.registry import DEFAULT_METHOD, get_method
from mainmatter.workbench import frames
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.choosing import LONGEST_NAME, choose_method, without_paths
from mainmatter.workbench.corpus import CorpusPage, source_of
from mainmatter.workbench.evidence import find_evidence
from mainmatter.workbench.page_source import PageSource, Payload, to_json, to_source
from mainmatter.workbench.reading import (
    FORM,
    JSON,
    Options,
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
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from mainmatter.method import Method
    from mainmatter.records import Document, Extraction

router = APIRouter(tags=["workbench"])
router.include_router(frames.router)

MOST_AT_ONCE = 500  # blocks whose reasons are asked for
ERRORS = error_answers(400, 401, 403, 413, 415, 422, 429, 500, 502, 504)
_DUMPS = (".txt", ".text")
DIAL_STEPS = 20  # that change about equally much text
_DIGITS_OF_STEPS = 4
_USUAL_DIAL = 0.5
MOST_REASONS = 5_000  # that come with the page; 100,000 would take six seconds
MOST_EVIDENCE = 1_000  # blocks whose evidence comes with the page: it is longer than a reason
MOST_BLOCKS = 20_000  # of a page whose reasons come with it: before the first one, `main` looks at it fifteen times
MOST_SHOWN = 100_000  # blocks of a page that Inspect shows: beyond that, answers are too large and browsers too slow
FORMATS = ("text", "markdown", "cleaneval")
_CONTROLS = ("dial", *PIECES, *SWITCHES)


class PageRequest(StrictModel):
    """A page: one of html, text, frame and corpus, or url alone to have it fetched."""

    html: str | None = Field(None, description="The page's HTML.")
    text: str | None = Field(None, description="Or a plain-text dump of a page.")
    url: str | None = Field(None, max_length=8000, description="The page's address, or where to fetch it from.")
    frame: str | None = Field(None, max_length=100, description="Or the key of a page that this server showed before.")
    corpus: CorpusPage | None = Field(None, description="Or the original of a page in one of the server's corpora.")

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

    method: str = Field(DEFAULT_METHOD, max_length=LONGEST_NAME, description="The method.")
    options: Options = Field(
        default_factory=dict, description="Its parameters; the answer has all steps of the dial, including this value."
    )


class TextRequest(InspectRequest):
    """A page, the method to ask, and the format of its text."""

    format: Literal["text", "markdown", "cleaneval"] = "text"


class ReasonsRequest(InspectRequest):
    """A page, the method to ask, and the blocks to ask about."""

    blocks: Annotated[list[int], FailFast()] = Field(max_length=MOST_AT_ONCE)


def describe_body(model: type[PageRequest]) -> dict[str, Any]:
    """How a request may carry its page and its fields, for the documentation."""
    schema = model.model_json_schema()
    file = {"type": "string", "format": "binary", "description": "An HTML file, or a dump whose name ends in .txt."}
    others = {
        name: each for name, each in schema["properties"].items() if name not in ("html", "text", "frame", "corpus")
    }
    form = {"type": "object", "required": ["file"], "properties": {"file": file} | others}
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}, FORM: {"schema": form}}}}


@dataclass(frozen=True, slots=True)
class Question:
    """A page, and the method to ask about it.

    Attributes:
        source: where the page comes from.
        models: the folder of the workbench's models.
        method: a method or model, as clients name it.
        options: its parameters.
    """

    source: PageSource
    models: Path
    method: str = DEFAULT_METHOD
    options: dict[str, Any] = field(default_factory=dict)

    def ask(self) -> tuple[Method, Extraction]:
        """The method, and its decisions.

        Raises:
            MainmatterError: anything that is wrong with the request or the page.
        """
        page = self.source.get()
        try:
            name, parameters = choose_method(self.method, self.options, self.models)
            method = get_method(name, **parameters)
        except MainmatterError as error:
            raise without_paths(error, self.models) from error
        document = read(page, self.source.limits)
        if len(document) > MOST_SHOWN:
            raise PageTooLarge(
                f"the page has {len(document):,} blocks, and Inspect shows up to {MOST_SHOWN:,}; "
                "`mainmatter clean` and /api/clean take pages of any number"
            )
        return method, method.extract(document)


class Inspection(NamedTuple):
    """The result: the answer, the page as it was read, and the page as its frame shows it ("" if not wanted)."""

    payload: Payload
    page: Page
    marked: str


def inspect_page(question: Question, *, with_frame: bool = True) -> Inspection:
    """Everything Inspect shows of a page. Done in a worker.

    Args:
        question: the page and the method.
        with_frame: whether to make the page for the frame.

    Raises:
        MainmatterError: anything that is wrong with the request or the page.
    """
    method, extraction = question.ask()
    document, page = extraction.document, extraction.document.page
    content = {
        "page": {"url": page.url, "format": page.format, "encoding": document.encoding},
        "method": question.method,
        "controls": [name for name in _CONTROLS if name in _parameters(method)],
        "metadata": asdict(extraction.metadata),
        "page_type": extraction.page_type,
        "confidence": extraction.confidence,
        "threshold": extraction.threshold,
        "marks_comments": extraction.marks_comments,
        "blocks": _columns(document, extraction),
        "kept": _runs(extraction.kept),
        "dial": _dial(method, extraction),
        "density": _dense_region(document),
    }
    return Inspection(to_json(content), page, safe_html(document) if with_frame else "")


@router.post(
    "/api/inspect",
    responses=ERRORS,
    openapi_extra=describe_body(InspectRequest),
    summary="Everything about a page: blocks, scores, reasons, dial",
)
async def inspect(request: Request, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """Takes JSON (html, text, url or frame; method; options) or a form with a file.

    In the answer, the blocks are parallel lists; `labels` has the numbers of the blocks that are headline, byline,
    caption or comment; `kept` has run lengths, dropped first; `dial.kept` has the same for each of `dial.steps`, which
    are spaced so that each changes about the same amount of text; `frame` is the key under which /frame/{frame} shows
    the page, and by which later requests can name it. `blocks.evidence` has the signals for and against each of the
    first blocks, [family, weight in log odds, words], and notes on what overruled them; it is empty for methods without
    signals.
    """
    asked, page = await read_page_request(request, InspectRequest)
    question = Question(find_source(asked, page, workbench), workbench.models, asked.method, asked.options)
    inspection = await workbench.run(inspect_page, question=question, with_frame=asked.frame is None)
    key = asked.frame or workbench.frames.put(inspection.marked, inspection.page)
    body = b'{"frame":"' + key.encode() + b'",' + inspection.payload.body[1:]
    return inspection.payload._replace(body=body).to_response()


@router.post("/api/inspect/text", responses=ERRORS, summary="The clean text of a page, in one of three formats")
async def text(asked: TextRequest, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """The text that a method keeps."""
    return await _ask(workbench, asked, render, format_=asked.format)


@router.post("/api/inspect/reasons", responses=ERRORS, summary="Why some blocks were kept or dropped")
async def reasons(asked: ReasonsRequest, workbench: Annotated[Workbench, Depends(workbench_of)]) -> Response:
    """For pages of very many blocks: the first answer does not have all reasons."""
    return await _ask(workbench, asked, tell_reasons, blocks=asked.blocks)


async def _ask(
    workbench: Workbench,
    asked: InspectRequest,
    task: Callable[..., Payload],
    **arguments: Any,
) -> Response:
    question = Question(find_source(asked, None, workbench), workbench.models, asked.method, asked.options)
    return (await workbench.run(task, question=question, **arguments)).to_response()


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


def find_source(asked: PageRequest, file: Page | None, workbench: Workbench) -> PageSource:
    """The source of a request's page.

    Args:
        asked: the request.
        file: the page, if it was sent as a file.
        workbench: the server's.

    Raises:
        HTTPException: the server no longer has the page of a frame, or there is no such corpus.
        InputError: there is no page, or this server does not fetch.
        PageTooLarge: it is over the limits.
    """
    if asked.corpus is not None:
        return source_of(asked.corpus, workbench)
    if asked.frame is None:
        return to_source(file or asked.page(), asked.url, workbench.settings)
    framed = workbench.frames.get(asked.frame)
    if framed is None or framed.page is None:
        raise HTTPException(410, "the server no longer has this page; send it again")
    return to_source(framed.page, framed.page.url, workbench.settings)


def tell_reasons(question: Question, blocks: list[int]) -> Payload:
    """The reasons and evidence of some blocks; numbers that the page does not have are left out.

    Raises:
        MainmatterError: anything that is wrong with the request or the page.
    """
    extraction = question.ask()[1]
    known = [block for block in blocks if 0 <= block < len(extraction.reasons)]
    told = {block: extraction.reasons[block] for block in known}
    return to_json({"reasons": told, "evidence": find_evidence(extraction, known)})


def render(question: Question, format_: str) -> Payload:
    """The clean text of a page in one of `FORMATS`.

    Raises:
        InputError: Inspect has no such format.
        MainmatterError: anything else that is wrong with the request or the page.
    """
    if format_ not in FORMATS:
        raise InputError(f"format is {', '.join(FORMATS)}, not {format_!r}")
    return to_json({"text": question.ask()[1].render(format_)})


def _parameters(method: Method) -> set[str]:
    return {each.name for each in fields(method)} if is_dataclass(method) else set()


def _columns(document: Document, extraction: Extraction) -> dict[str, Any]:
    """The blocks as parallel lists: as objects, field names would make up most of the answer."""
    labels = extraction.found_labels if extraction.found_labels is not None else np.zeros(len(document), np.intp)
    scores = np.nan_to_num(extraction.scores.astype(np.float64), posinf=1e6, neginf=-1e6)  # JSON has no infinity
    explained = range(min(len(document), MOST_REASONS) if len(document) <= MOST_BLOCKS else 0)
    return {
        "texts": document.texts,
        "kinds": [kind.value for kind in document.columns.kinds],
        "seen_as": [kind.value for kind in extraction.kinds],
        "positions": document.columns.positions,
        "scores": np.round(scores, 4).tolist(),
        "dials": None if extraction.dials is None else extraction.dials.tolist(),
        "labels": {LABELS[label]: np.flatnonzero(labels == label).tolist() for label in PIECES.values()},
        "reasons": list(extraction.reasons[: len(explained)]),
        "evidence": list(find_evidence(extraction, explained[:MOST_EVIDENCE]).values()),
    }


def _dial(method: Method, extraction: Extraction) -> dict[str, Any] | None:
    """What is kept at each step of the dial, and how sure the method is then; None if the method has no dial."""
    if extraction.dials is None or "dial" not in _parameters(method):
        return None
    here = float(method.dial)  # type: ignore[attr-defined] # as was just found out
    needed = {0.0, _USUAL_DIAL, here, 1.0}
    steps = sorted({*needed, *even_steps(extraction.dials, extraction.document.lengths)})
    decided = dict(zip(steps, _at_all_steps(method, extraction.document, steps), strict=True))
    for before, step in pairwise(steps):  # of steps that keep the same, one is enough
        same = bool((decided[before].kept == decided[step].kept).all()) if before in decided else False
        if same and not needed >= {before, step}:
            del decided[step if before in needed else before]
    return {
        "at": here,
        "steps": list(decided),
        "kept": [_runs(step.kept) for step in decided.values()],
        "confidence": [step.confidence for step in decided.values()],
        "threshold": [step.threshold for step in decided.values()],
    }


def even_steps(dials: NDArray[np.float64], sizes: NDArray[np.int64]) -> list[float]:
    """Steps of the dial that each change about the same amount of text; fewer than `DIAL_STEPS` with large blocks.

    Args:
        dials: for each block, the lowest dial that keeps it; NaN if the dial does not decide.
        sizes: the length of its text.
    """
    decides = ~np.isnan(dials)
    # Rounded up, so that a step keeps what it is for; finer than that, nobody turns or types a dial.
    finest = 10**_DIGITS_OF_STEPS
    levels, level_of = np.unique(np.ceil(np.round(dials[decides] * finest, 2)) / finest, return_inverse=True)
    if not len(levels):
        return []
    kept = np.bincount(level_of, sizes[decides]).cumsum()
    wanted = kept[0] + (kept[-1] - kept[0]) * np.arange(1, DIAL_STEPS + 1) / DIAL_STEPS
    chosen = np.unique(np.searchsorted(kept, wanted - 0.5)).tolist()
    ends = [*levels[1:].tolist(), np.inf]
    # The same is kept up to the next level: of the numbers between, the one that is quickest to read.
    return [min(_round_up(levels[i], ends[i]), 1.0) for i in chosen]


def _round_up(first: float, end: float) -> float:
    """The number with the fewest decimals, at least two, that is at least `first` and below `end`."""
    rounded = (ceil(round(first * 10**digits, 2)) / 10**digits for digits in range(2, _DIGITS_OF_STEPS))
    return float(next((number for number in rounded if number < end), first))


def _at_all_steps(
    method: Any, document: Document, steps: Iterable[float]
) -> Iterable[Extraction]:  # any method with a dial
    """The method's decisions at each step; `main` scores the page once, since the dial applies afterwards."""
    method = copy.copy(method)
    if isinstance(method, Main):
        described = method.describe(document)
        judged = method.judge(described)
        vars(method).update(describe=lambda _: described, judge=lambda _: judged)  # of this copy
    for step in steps:
        method.dial = step
        yield method.extract(document)


def _dense_region(document: Document) -> dict[str, Any] | None:
    """Where `density` sees the main matter: first and last block, and the length from which a text counts as long."""
    if not len(document):
        return None
    method = Density()
    kept = method.extract(document).kept.nonzero()[0]
    longest = int(document.lengths.argmax())
    return {
        "first": int(kept[0]),
        "last": int(kept[-1]),
        "longest": longest,
        "long": float(document.lengths[longest] * method.c1),
    }


def _runs(kept: NDArray[np.bool_]) -> list[int]:
    """Run lengths: how many blocks are dropped, then kept, then dropped, and so on; short even for 100,000 blocks."""
    if not len(kept):
        return []
    ends = np.flatnonzero(np.diff(kept)) + 1
    runs = np.diff(np.concatenate(([0], ends, [len(kept)]))).tolist()
    return [0, *runs] if kept[0] else runs
