"""Teach mode over HTTP: suggestions, the order of pages, recurring blocks, teaching in the background.

One person labels, and corrects what the newest model suggests. None of this is for a gold standard: suggestions bias
annotators towards what the model already does. So every label that was only accepted records what suggested it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, FailFast, Field
from starlette.concurrency import run_in_threadpool

from mainmatter.errors import MainmatterError, ModelError
from mainmatter.inputs.sites import site_of_page
from mainmatter.lab.training.teach import FEWEST
from mainmatter.models.store import load
from mainmatter.records import Page
from mainmatter.workbench.annotate import (
    LARGEST_ID,
    Asking,
    Bench,
    LabelModel,
    Name,
    PageNumber,
    State,
    check_annotator,
)
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.inspect import InspectRequest, Question, describe_body, find_source, read_page_request
from mainmatter.workbench.labels.gold import READY, count_ready
from mainmatter.workbench.labels.recurring import drop_recurring, find_recurring
from mainmatter.workbench.labels.store import Store
from mainmatter.workbench.labels.suggestions import labels_of, mix_sites, newest_model, suggest
from mainmatter.workbench.reading import StrictModel
from mainmatter.workbench.teach import AlreadyTeaching, TeachingJobs, jobs_of
from mainmatter.workbench.workbench import take_turn_at_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.workbench.labels.recurring import Recurring
    from mainmatter.workbench.labels.suggestions import SuggestingModel, Suggestion
    from mainmatter.workbench.workbench import Workbench

MODEL = "auto"  # the name of the model that is taught in the background
MORE_PAGES = 2  # that are done since the last time, before it is taught again
_ARGUMENTS = ("--quick",)  # of `mainmatter teach`
_METHOD = "main"
_PAUSE = 0.2  # seconds until the server may be less busy
_SITE_SECONDS = 60.0  # for comparing the pages of a site
MOST_KEYS = 20_000

router = APIRouter(
    prefix="/api/annotate",
    tags=["Annotate"],
    dependencies=[Depends(take_turn_at_store)],
    responses=error_answers(400, 404, 409, 413, 422, 429, 507),
)


class CorrectRequest(InspectRequest):
    """A page, a method's decision on it, and who corrects it."""

    annotator: Name


class CorrectAnswer(BaseModel):
    """The address at which the page is corrected."""

    page: int
    labelled: int = Field(description="How many blocks got suggested labels; 0 if the annotator already had labels.")
    url: str


class SuggestionAnswer(BaseModel):
    """The newest model's suggestion for each block."""

    model: str = Field(description='What suggests: "main", or a model of the workbench.')
    version: str = Field(description="Changes with each teaching.")
    pages: int | None = Field(description="How many pages it was taught with; null for the shipped model.")
    sure: float = Field(description="How sure it is of the page, from 0 to 1.")
    labels: list[LabelModel]
    scores: list[float] = Field(description="The probability of being main matter.")
    alike: list[int] = Field(description="Equal numbers for blocks with the same structure, such as authors of posts.")


class QueuedPage(BaseModel):
    """A page to label, and why it is useful."""

    id: int
    sure: float | None = Field(description="How sure the newest model is of it; null if it has not been scored yet.")
    differs: float | None = Field(description="The share of words that this model and the shipped one disagree on.")


class QueueAnswer(BaseModel):
    """The pages to label, the most useful first, alternating between sites."""

    model: str
    pages: list[QueuedPage]
    waiting: int = Field(description="How many of them the model has not scored yet.")


class RecurringModel(BaseModel):
    """Blocks with the same text on several pages of a site."""

    key: str
    text: str
    pages: int
    open: int = Field(description="How many of these blocks the annotator has not decided on.")


class RecurringAnswer(BaseModel):
    """The recurring blocks of a page's site."""

    site: str
    pages: int
    blocks: list[RecurringModel]


class DropRequest(StrictModel):
    """What to drop on all pages of a site."""

    annotator: Name
    keys: Annotated[list[Annotated[str, Field(max_length=40)]], FailFast()] = Field(
        max_length=MOST_KEYS, description="The keys of recurring blocks, as GET gives them."
    )


class DropAnswer(BaseModel):
    """What was dropped."""

    pages: int
    blocks: int


class TeachingAnswer(BaseModel):
    """The state of teaching in the background."""

    state: Literal["waiting", "running", "failed"]
    model: str = Field(description="The newest model.")
    version: str
    done: int = Field(description="How many pages are ready to teach with.")
    learned_from: int = Field(description="How many pages the last job used.")
    next_at: int = Field(description="The number of pages at which the next job starts.")
    share: float = Field(description="The progress of the running job, from 0 to 1.")
    error: str = ""


@dataclass(frozen=True, slots=True)
class PageWorth:
    """How sure a model is of a page, and how far it differs from the shipped one; None if it could not be scored."""

    sure: float | None
    differs: float | None

    @property
    def worth(self) -> float:
        """The larger, the more its labels teach."""
        return -1.0 if self.sure is None or self.differs is None else 1 - self.sure + self.differs


class Suggesting:
    """What Teach mode caches: the newest model's score of each page, and how many pages it was last taught with.

    Args:
        workbench: the server's.
    """

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._worths: dict[int, tuple[SuggestingModel, PageWorth]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._looks_for: SuggestingModel | None = None
        self._closing = False
        self.tried = 0  # pages that the last job of this server had

    def close(self) -> None:
        """Score no more pages."""
        self._closing = True
        if self._looking is not None:
            self._looking.cancel()

    def worths(self, model: SuggestingModel, pages: Sequence[int]) -> tuple[dict[int, PageWorth], int]:
        """The scores known so far, perhaps from the previous model, and how many pages are still to be scored.

        That happens in the background, one page at a time, when a worker is free.
        """
        unknown = [page for page in pages if page not in self._worths or self._worths[page][0] != model]
        if self._looks_for != model and self._looking is not None:
            self._looking.cancel()
            self._looking = None
        if unknown and not self._closing and (self._looking is None or self._looking.done()):
            self._looks_for = model
            self._looking = asyncio.get_running_loop().create_task(self._look(model, unknown))
        return {page: worth for page, (_, worth) in self._worths.items()}, len(unknown)

    async def _look(self, model: SuggestingModel, pages: Sequence[int]) -> None:
        for page in pages:
            while self._workbench.workers.is_full or self._workbench.workers.waiting:
                await asyncio.sleep(_PAUSE)
            worth = PageWorth(None, None)
            with suppress(MainmatterError):
                found = await self._workbench.run(
                    suggest_labels, database=str(self._workbench.database), page_id=page, model=model
                )
                worth = PageWorth(found.sure, found.differs)
            self._worths[page] = model, worth


async def suggesting_of(request: Request) -> Suggesting:
    """The suggestion cache of the server that got a request; for `Depends`."""
    suggesting: Suggesting = request.app.state.suggesting
    return suggesting


Remembered = Annotated[Suggesting, Depends(suggesting_of)]
Jobs = Annotated[TeachingJobs, Depends(jobs_of)]


@router.post("/correct", summary="Correct what a method kept", openapi_extra=describe_body(CorrectRequest))
async def correct(request: Request, state: State, bench: Bench) -> CorrectAnswer:
    """Add a page with the method's decisions as suggested labels, and return the address at which to correct them.

    Takes a page as /api/inspect does: JSON (html, text, url, frame or corpus) or a form with a file; method, options
    (its parameters, including the dial) and annotator. Labels that the annotator already has on the page stay as they
    are.
    """
    asked, page = await read_page_request(request, CorrectRequest)
    check_annotator(asked.annotator)
    source = find_source(asked, page, bench)
    question = Question(source, bench.models, asked.method, asked.options)
    await run_in_threadpool(lambda: state.store)  # makes the database where there is none
    page_id, labelled = await bench.run(
        correct_page, question=question, database=str(bench.database), annotator=asked.annotator
    )
    return CorrectAnswer(page=page_id, labelled=labelled, url=f"/annotate#/page/{page_id}")


@router.get("/pages/{page_id}/suggestion", summary="Suggestions by the newest model")
async def suggest_for(state: State, bench: Bench, page_id: PageNumber) -> SuggestionAnswer:
    """The suggestion of the workbench's newest model, else `main`, for each block, and how sure it is.

    Suggestions bias annotators: do not use them for a gold standard.
    """
    await run_in_threadpool(lambda: state.store.summary(page_id))
    model = await run_in_threadpool(newest_model, bench.models)
    found = await bench.run(suggest_labels, database=str(bench.database), page_id=page_id, model=model)
    return SuggestionAnswer.model_construct(
        model=model.name,
        version=str(model.version),
        pages=_learned_from(model.method) if model.version else None,
        sure=found.sure,
        labels=[LabelModel.of(label) for label in found.labels],
        scores=found.scores,
        alike=found.alike,
    )


@router.get("/queue", summary="Which page to label next")
async def show_queue(
    state: State,
    bench: Bench,
    remembered: Remembered,
    annotator: Asking,
    after: Annotated[int, Field(ge=0, le=LARGEST_ID, description="The page that was labelled last.")] = 0,
) -> QueueAnswer:
    """The pages that the annotator is not done with, beginning with those that the newest model is least sure of.

    Pages are scored in the background, and again after each teaching; until then, the previous model's scores or,
    without any, the page numbers decide. No site comes twice in a row while others wait.
    """
    summaries = await run_in_threadpool(lambda: state.store.pages(check=False))
    model = await run_in_threadpool(newest_model, bench.models)
    sites = {each.id: site_of_page(Page("", each.url, str(each.id))) for each in summaries}
    waiting = [each.id for each in summaries if each.blocks and annotator not in each.done and each.status != "merged"]
    worths, unlooked = remembered.worths(model, waiting)
    unknown = PageWorth(None, None)
    best_first = sorted(waiting, key=lambda page: -worths.get(page, unknown).worth)
    order = mix_sites([(page, sites[page]) for page in best_first if page != after], sites.get(after, ""))
    pages = [
        QueuedPage(id=page, sure=worth.sure, differs=worth.differs)
        for page in [*order, *([after] if after in waiting else [])]
        for worth in [worths.get(page, unknown)]
    ]
    return QueueAnswer(model=model.name, pages=pages, waiting=unlooked)


@router.get("/pages/{page_id}/recurring", summary="The recurring blocks of a page's site")
async def show_recurring(state: State, bench: Bench, page_id: PageNumber, annotator: Asking) -> RecurringAnswer:
    """Blocks that recur on the pages of this site and that the annotator has not decided on."""
    await run_in_threadpool(lambda: state.store.summary(page_id))
    found = await bench.run_for(
        _SITE_SECONDS, look_for_recurring, database=str(bench.database), page_id=page_id, annotator=annotator
    )
    blocks = [
        RecurringModel.model_construct(key=each.key, text=each.text, pages=each.pages, open=each.open)
        for each in found.blocks
    ]
    return RecurringAnswer.model_construct(site=found.site, pages=len(found.pages), blocks=blocks)


@router.post("/pages/{page_id}/recurring", summary="Drop recurring blocks on all pages of a site")
async def drop_everywhere(state: State, bench: Bench, page_id: PageNumber, asked: DropRequest) -> DropAnswer:
    """Drop recurring blocks on all pages of this site, unless the annotator has labelled them: one change per page."""
    check_annotator(asked.annotator)
    await run_in_threadpool(lambda: state.store.summary(page_id))
    dropped = await bench.run_for(
        _SITE_SECONDS,
        drop_on_site,
        database=str(bench.database),
        page_id=page_id,
        annotator=asked.annotator,
        keys=asked.keys,
    )
    return DropAnswer(pages=len(dropped), blocks=sum(dropped.values()))


@router.get("/teaching", summary="The state of teaching in the background")
def show_teaching(state: State, bench: Bench, remembered: Remembered, jobs: Jobs) -> TeachingAnswer:
    """Whether a model is being taught now, how many pages the newest one learned from, and when the next job starts."""
    return _stand(state.store, bench, remembered, jobs)


@router.post("/teaching", summary="Teach in the background, if a job is due")
def teach_if_due(state: State, bench: Bench, remembered: Remembered, jobs: Jobs) -> TeachingAnswer:
    """Start a job once four pages are done, and again after every two more; one job at a time."""
    stand = _stand(state.store, bench, remembered, jobs)
    if stand.state != "running" and stand.done >= stand.next_at:
        remembered.tried = stand.done
        with suppress(AlreadyTeaching):
            jobs.start(MODEL, _METHOD, _ARGUMENTS)
        return _stand(state.store, bench, remembered, jobs)
    return stand


def _stand(store: Store, bench: Workbench, remembered: Suggesting, jobs: TeachingJobs) -> TeachingAnswer:
    counts = count_ready(store)
    done = sum(counts[readiness] for readiness in READY)
    job = jobs.current()
    model = newest_model(bench.models)
    learned = max(remembered.tried, _learned_from(str(bench.models / MODEL)) or 0)
    is_failed = job is not None and job.name == MODEL and job.state in ("failed", "died")
    return TeachingAnswer(
        state="running" if job is not None and job.state == "running" else "failed" if is_failed else "waiting",
        model=model.name,
        version=str(model.version),
        done=done,
        learned_from=learned,
        next_at=max(FEWEST, learned + MORE_PAGES) if learned else FEWEST,
        share=job.done / max(1, job.of) if job is not None and job.state == "running" else 0.0,
        error=bench.tell(MainmatterError(job.error)) if is_failed and job is not None else "",
    )


def _learned_from(model: str) -> int | None:
    """From how many pages a model has learned, as its card says."""
    try:
        card: dict[str, Any] = load(model).card
    except ModelError:
        return None
    return (card.get("pages") or {}).get("learned_from")


def correct_page(question: Question, database: str, annotator: str) -> tuple[int, int]:
    """Add a page, and label it as a method decided; returns its number, and how many labels are new. Done in a worker.

    Raises:
        MainmatterError: anything that is wrong with the question or the page.
    """
    _, extraction = question.ask()
    page = extraction.document.page
    name = extraction.metadata.title or page.url or page.id
    with Store(database) as store:
        page_id = store.add_page(
            page, page.url or "the workbench", name=name, note="to correct", limits=question.source.limits
        )
        before = store.labels(page_id, annotator)
        if before.by_ref or before.lost:
            return page_id, 0
        suggested = labels_of(extraction, question.method)
        labels = dict(zip(store.references(page_id), suggested, strict=True))
        store.set_labels(page_id, annotator, labels, based_on=before.revision)
    return page_id, len(labels)


def suggest_labels(database: str, page_id: int, model: SuggestingModel) -> Suggestion:
    """A model's suggestion for each block. Done in a worker.

    Raises:
        AnnotationError: there is no such page.
    """
    with Store(database, create=False) as store:
        return suggest(store.document(page_id), model)


def look_for_recurring(database: str, page_id: int, annotator: str) -> Recurring:
    """The recurring blocks of a page's site. Done in a worker.

    Raises:
        AnnotationError: there is no such page.
    """
    with Store(database, create=False) as store:
        return find_recurring(store, page_id, annotator)


def drop_on_site(database: str, page_id: int, annotator: str, keys: list[str]) -> dict[int, int]:
    """Drop what recurs on all pages of a page's site; how many blocks of each. Done in a worker.

    Raises:
        AnnotationError: there is no such page.
    """
    with Store(database, create=False) as store:
        return drop_recurring(store, find_recurring(store, page_id, annotator).pages, annotator, keys)
