"""Annotate over HTTP: pages, labels, history, merging, agreement (FIASCO, section 5).

Names tell annotators apart and are no protection: who may use the server may use any name. What others said of a page
is not told to somebody who is still labelling it, so that annotators stay independent.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.concurrency import run_in_threadpool

from mainmatter.workbench import annotating_export, importing
from mainmatter.workbench.annotating_errors import StillLabelling, error_answers
from mainmatter.workbench.annotating_models import (
    LARGEST_ID,
    AgreementAnswer,
    AnnotatorLabels,
    AnnotatorsAnswer,
    ChangeModel,
    ComparisonAnswer,
    DoneChange,
    EventModel,
    HistoryAnswer,
    LabelModel,
    LabelsChange,
    Name,
    OtherAnnotator,
    PageAnswer,
    PageRow,
    PagesAnswer,
    Seen,
    Standing,
    SuggestionAnswer,
)
from mainmatter.workbench.annotating_report import agreement_answer, pair_models
from mainmatter.workbench.annotating_state import Annotating, annotating, annotating_of
from mainmatter.workbench.labels import MERGED, AnnotationError, Store
from mainmatter.workbench.labels.records import BEST, GOLD
from mainmatter.workbench.workbench import Workbench, take_turn_at_store, workbench_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from fastapi import FastAPI

    from mainmatter.workbench.labels import Conflict, Event, Labels, PageSummary

_TASKS = "mainmatter.workbench.annotating_task"
_AGREEMENT_SECONDS = 120.0  # over all pages


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Clear up after a server that was killed; close the store when this one ends."""
    await run_in_threadpool(importing.remove_leftovers, app.state.workbench.database.parent)
    try:
        yield
    finally:
        await importing.close_imports(app.state.workbench)
        annotating_of(app.state.workbench).close()


router = APIRouter(
    prefix="/api/annotate",
    tags=["Annotate"],
    lifespan=_lifespan,
    dependencies=[Depends(take_turn_at_store)],
    responses=error_answers(404, 409, 413, 422, 429),
)
router.include_router(importing.router)
router.include_router(annotating_export.router)

State = Annotated[Annotating, Depends(annotating)]
Bench = Annotated[Workbench, Depends(workbench_of)]
PageNumber = Annotated[int, Path(ge=1, le=LARGEST_ID, description="The page's number.")]
Asking = Annotated[Name, Query(description="Who asks.")]


@router.get("/annotators", summary="Everybody who labelled something")
def list_annotators(state: State) -> AnnotatorsAnswer:
    """The names of all annotators."""
    return AnnotatorsAnswer(annotators=_without_gold(state.store.annotators()))


@router.get("/pages", summary="All pages")
def list_pages(state: State, annotator: Asking) -> PagesAnswer:
    """All pages, with how far each annotator is; what others said is not told."""
    rows = [_row(summary, annotator) for summary in state.store.pages()]
    return PagesAnswer(pages=rows, annotators=_without_gold(state.store.annotators()))


@router.get("/pages/{page_id}", summary="A page to label")
async def show_page(state: State, page_id: PageNumber, annotator: Asking) -> PageAnswer:
    """A page's blocks, its frame, and the labels of the annotator who asks."""
    standing = await run_in_threadpool(lambda: Standing.of(state.store.labels(page_id, annotator)))
    view = await state.show(page_id)
    return PageAnswer.model_construct(**view.facts, frame=view.frame, **dict(standing))


@router.get("/pages/{page_id}/labels", summary="The labels of an annotator")
def show_labels(state: State, page_id: PageNumber, annotator: Asking) -> Standing:
    """What an annotator said of a page, as it is stored now."""
    return Standing.of(state.store.labels(page_id, annotator))


@router.post("/pages/{page_id}/labels", summary="Label blocks")
def set_labels(state: State, page_id: PageNumber, change: LabelsChange) -> Standing:
    """Store labels. When this has answered they are on disk. 409 if they were changed after `revision`."""
    labels = {ref: None if label is None else label.to_label() for ref, label in change.labels.items()}

    def store_it(store: Store) -> int:
        return store.set_labels(page_id, change.annotator, labels, by=change.by, based_on=change.revision)

    return _change(state, page_id, change, store_it)


@router.post("/pages/{page_id}/undo", summary="Take the last change back")
def undo(state: State, page_id: PageNumber, change: Seen) -> Standing:
    """Take back the annotator's last change of labels, whenever it was made."""

    def store_it(store: Store) -> None:
        store.undo(page_id, change.annotator, by=change.by, based_on=change.revision)

    return _change(state, page_id, change, store_it)


@router.post("/pages/{page_id}/redo", summary="Make a change again that was taken back")
def redo(state: State, page_id: PageNumber, change: Seen) -> Standing:
    """Make the last change that was taken back again."""

    def store_it(store: Store) -> None:
        store.redo(page_id, change.annotator, by=change.by, based_on=change.revision)

    return _change(state, page_id, change, store_it)


@router.post("/pages/{page_id}/done", summary="Be done with a page")
def set_done(state: State, page_id: PageNumber, change: DoneChange) -> Standing:
    """Say that an annotator is done with a page, or is not."""

    def store_it(store: Store) -> int:
        return store.set_done(page_id, change.annotator, change.done, by=change.by, based_on=change.revision)

    return _change(state, page_id, change, store_it)


@router.post("/pages/{page_id}/accept-agreed", summary="Merge what all agree on")
def accept_agreed(state: State, page_id: PageNumber, change: Seen) -> Standing:
    """Take over into the merged labels what all who labelled a block agree on; what is merged stays."""
    by = change.by
    if change.annotator != MERGED or not by:
        raise AnnotationError(f"this is for the merged labels; send annotator {MERGED!r}, and by")

    def store_it(store: Store) -> None:
        store.accept_agreed(page_id, by=by, based_on=change.revision)

    return _change(state, page_id, change, store_it)


@router.get("/pages/{page_id}/suggestion", summary="What the default method would say")
async def suggest(state: State, bench: Bench, page_id: PageNumber) -> SuggestionAnswer:
    """The verdicts of the default method as labels. They bias annotators: leave them off for a gold standard."""
    await run_in_threadpool(lambda: state.store.summary(page_id))
    labels = await bench.workers.run(f"{_TASKS}:suggest", database=str(bench.database), page_id=page_id)
    return SuggestionAnswer(method="main", labels=[LabelModel.of(label) for label in labels])


@router.get("/pages/{page_id}/history", summary="Who changed what, and when")
async def show_history(state: State, page_id: PageNumber, annotator: Asking) -> HistoryAnswer:
    """All changes of a page, the oldest first; those of others when the annotator who asks is done with it."""
    summary = await run_in_threadpool(lambda: state.store.summary(page_id))
    at_work = _is_at_work(summary, annotator)
    view = await state.show(page_id)

    def look() -> HistoryAnswer:
        events = state.store.history(page_id)
        told = [event for event in events if not at_work or event.annotator == annotator]
        return HistoryAnswer(events=[_event(each, view.texts) for each in told], hidden=len(events) - len(told))

    return await run_in_threadpool(look)


@router.get("/pages/{page_id}/comparison", summary="A page to merge")
async def compare(
    state: State, bench: Bench, page_id: PageNumber, by: Asking, anyway: bool = False
) -> ComparisonAnswer:
    """What everybody said of a page. 409 if who asks is still labelling it, unless `anyway` is given."""
    summary = await run_in_threadpool(lambda: state.store.summary(page_id))
    if _is_at_work(summary, by) and not anyway:
        raise StillLabelling("you are still labelling this page; mark it as done before you see what others said of it")
    view = await state.show(page_id)
    said, conflicts, merged = await run_in_threadpool(_said, state.store, page_id)
    pairs = []
    names = [name for name in said if name != MERGED]
    if len(names) > 1:
        report = await bench.workers.run(f"{_TASKS}:agreement", database=str(bench.database), page_id=page_id)
        pairs = pair_models(report.pairs)
    return ComparisonAnswer.model_construct(
        **view.facts,
        frame=view.frame,
        annotators=[AnnotatorLabels(name=name, done=said[name].done) for name in names],
        labels={name: {ref: LabelModel.of(label) for ref, label in said[name].by_ref.items()} for name in names},
        conflicts=[conflict.ref for conflict in conflicts],
        merged=Standing.of(merged),
        agreement=pairs,
    )


@router.get("/agreement", summary="How well annotators agree")
async def show_agreement(state: State, bench: Bench, annotator: Asking) -> AgreementAnswer:
    """Text agreement (FIASCO) and Cohen's kappa, over all pages that at least two annotators labelled.

    Those that who asks is still labelling are left out of all figures.
    """
    summaries = await run_in_threadpool(lambda: state.store.pages(check=False))
    at_work = [summary for summary in summaries if _is_at_work(summary, annotator)]
    without = frozenset(summary.id for summary in at_work)
    report = await bench.workers.run_for(
        _AGREEMENT_SECONDS, f"{_TASKS}:agreement", database=str(bench.database), without=without
    )
    hidden = sum(bool({*summary.labelled, *summary.done} - {annotator, MERGED}) for summary in at_work)
    return agreement_answer(report, hidden)


def _change(state: Annotating, page_id: int, change: Seen, store_it: Callable[[Store], int | None]) -> Standing:
    """Make a change of what somebody saw, and say how things stand then.

    `store_it` gives the revision if the client knows the labels after it. That one is told, not one that somebody else
    may have made since: it would let the client overwrite what it never saw.
    """
    if change.annotator in (BEST, GOLD):
        raise AnnotationError(f"{change.annotator!r} has a meaning of its own here; take another name")
    revision = store_it(state.store)
    standing = Standing.of(state.store.labels(page_id, change.annotator), with_labels=revision is None)
    return standing if revision is None else standing.model_copy(update={"revision": revision})


def _said(store: Store, page_id: int) -> tuple[dict[str, Labels], list[Conflict], Labels]:
    return store.all_labels(page_id), store.conflicts(page_id), store.labels(page_id, MERGED)


def _row(summary: PageSummary, annotator: str) -> PageRow:
    at_work = _is_at_work(summary, annotator)
    others = summary.labelled.keys() - {annotator, MERGED, GOLD}
    return PageRow(
        id=summary.id,
        name=summary.name,
        url=summary.url,
        source=summary.source,
        note=summary.note,
        blocks=summary.blocks,
        status="labelled" if at_work and summary.status == "conflict" else summary.status,
        labelled=summary.labelled.get(annotator, 0),
        done=annotator in summary.done,
        others=[
            OtherAnnotator(annotator=name, labelled=summary.labelled[name], done=name in summary.done)
            for name in sorted(others)
        ],
        merged=summary.labelled.get(MERGED, 0),
        conflicts=None if at_work else summary.conflicts,
        lost=summary.lost,
    )


def _is_at_work(summary: PageSummary, annotator: str) -> bool:
    """Whether somebody has begun to label a page, and is not done: then what others said would bias them."""
    return bool(summary.labelled.get(annotator)) and annotator not in summary.done


def _event(event: Event, texts: dict[str, str]) -> EventModel:
    changes = [
        ChangeModel(
            ref=each.ref,
            text=texts.get(each.ref),
            before=None if each.before is None else LabelModel.of(each.before),
            after=None if each.after is None else LabelModel.of(each.after),
        )
        for each in event.changes
    ]
    return EventModel(
        revision=event.revision,
        annotator=event.annotator,
        by=event.by,
        action=event.action,
        time=event.time,
        of=event.of,
        changes=changes,
    )


def _without_gold(names: list[str]) -> list[str]:
    """The names of people: an imported gold standard is nobody."""
    return [name for name in names if name != GOLD]
