"""Annotate over HTTP: pages, labels, history, merging, agreement, export (FIASCO, section 5).

Names distinguish annotators but protect nothing: anyone who can use the server can use any name. Annotators do not see
what others said of a page while they still label it, so that they stay independent.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as PathParameter
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse

from mainmatter.html.safe import safe_html
from mainmatter.lab.datasets.labels import Label, LabelKind
from mainmatter.workbench import imports
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.choosing import LONGEST_NAME
from mainmatter.workbench.labels import MERGED, AnnotationError, Labels, Store
from mainmatter.workbench.labels.gold import GoldStandard, collect, export
from mainmatter.workbench.labels.records import BEST, GOLD, Action, Status, StillLabelling
from mainmatter.workbench.reading import IN_PIECES, StrictModel, at_most
from mainmatter.workbench.workbench import Workbench, take_turn_at_store, workbench_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mainmatter.records import Page
    from mainmatter.workbench.labels import Event, PageSummary
    from mainmatter.workbench.labels.agreement import AgreementReport, PairAgreement

MOST_LABELS = 10_000  # in one change; the script of the page sends more in several
LARGEST_ID = 2**63 - 1  # that SQLite can hold
MOST_SHOWN = 32  # pages whose blocks are kept at hand
EXPORT_NAME = "gold-standard"
_AGREEMENT_SECONDS = 120.0  # over all pages
_EXPORT_SECONDS = 600.0  # for collecting and writing all pages
_EXPORT_TYPES = {"folder.zip": "application/zip", "pages.parquet": "application/vnd.apache.parquet"}

router = APIRouter(
    prefix="/api/annotate",
    tags=["Annotate"],
    dependencies=[Depends(take_turn_at_store)],
    responses=error_answers(400, 404, 409, 413, 422, 429, 507),
)
router.include_router(imports.router)

Name = Annotated[str, Field(min_length=1, max_length=100, description="An annotator's name.", examples=["Ada"])]
Revision = Annotated[int, Field(ge=0, le=LARGEST_ID, description="The revision that the annotator saw last.")]


class LabelModel(StrictModel):
    """An annotator's label of a block."""

    kept: bool = Field(description="Whether it is main matter.")
    kind: LabelKind = Field("paragraph", description="Its kind.")
    suggested_by: str = Field(
        "", max_length=LONGEST_NAME, description="What suggested it, if the annotator only accepted it."
    )

    def to_label(self) -> Label:
        """The label itself."""
        return Label(self.kept, self.kind, suggested_by=self.suggested_by)

    @classmethod
    def of(cls, label: Label) -> LabelModel:
        """The model of a label."""
        return cls.model_construct(kept=label.kept, kind=label.kind, suggested_by=label.suggested_by)


class Seen(StrictModel):
    """Who makes a change, and what they saw last."""

    annotator: Name
    by: Name | None = Field(None, description='Who decides, if the annotator is "merged".')
    revision: Revision


class LabelsChange(Seen):
    """A change of labels: one step of the history."""

    labels: Annotated[
        dict[Annotated[str, Field(max_length=200)], LabelModel | None], IN_PIECES, at_most(MOST_LABELS)
    ] = Field(description="By the references of blocks; null removes a label.")


class DoneChange(Seen):
    """Whether an annotator is done with a page."""

    done: bool


class LostLabel(BaseModel):
    """A label that could not be carried over to the current blocks."""

    text: str
    label: LabelModel


class LabelsAnswer(BaseModel):
    """The state of an annotator's work on a page."""

    revision: int = Field(description="The number of the last change; 0 if there was none.")
    labels: dict[str, LabelModel] | None = Field(None, description="null if they are what was just sent.")
    lost: list[LostLabel] = []
    done: bool
    can_undo: bool
    can_redo: bool
    changed: str = Field(description='When the last change was made, as ISO 8601; "" if there was none.')

    @classmethod
    def of(cls, labels: Labels, *, with_labels: bool = True) -> LabelsAnswer:
        """The model of the store's labels."""
        return cls(
            revision=labels.revision,
            labels={ref: LabelModel.of(label) for ref, label in labels.by_ref.items()} if with_labels else None,
            lost=[LostLabel(text=lost.text, label=LabelModel.of(lost)) for lost in labels.lost],
            done=labels.done,
            can_undo=labels.can_undo,
            can_redo=labels.can_redo,
            changed=labels.changed,
        )


class OtherAnnotator(BaseModel):
    """How far another annotator is with a page, without their labels."""

    annotator: str
    labelled: int
    done: bool


class PageRow(BaseModel):
    """A page in the list of all pages."""

    id: int
    name: str
    url: str | None
    source: str
    note: str
    blocks: int
    status: Status
    labelled: int = Field(description="How many blocks the requesting annotator has labelled.")
    done: bool = Field(description="Whether the requesting annotator is done with it.")
    others: list[OtherAnnotator]
    merged: int = Field(description="How many blocks have a merged label.")
    conflicts: int | None = Field(description="null while the requesting annotator is still labelling the page.")
    lost: int | None


class PagesAnswer(BaseModel):
    """All pages."""

    pages: list[PageRow]
    annotators: list[str]


class AnnotatorsAnswer(BaseModel):
    """Everybody who labelled something."""

    annotators: list[str]


class BlockModel(BaseModel):
    """A block of a page."""

    index: int
    ref: str = Field(description="Its reference: the same after a restart and in every browser.")
    text: str
    kind: str
    level: int
    hidden: bool


class PageFacts(BaseModel):
    """A page, ready to be shown."""

    id: int
    name: str
    url: str | None
    note: str
    blocks: list[BlockModel]
    frame: str = Field(description="The address of the page, for a frame without scripts.")


class PageAnswer(PageFacts, LabelsAnswer):
    """A page, and the labels of the requesting annotator."""


class AnnotatorLabels(BaseModel):
    """Somebody who labelled a page."""

    name: str
    done: bool


class PairModel(BaseModel):
    """How well two annotators agree."""

    annotators: tuple[str, str]
    pages: int
    blocks: int
    text: float | None = Field(description="FIASCO's agreement of the two texts, in percent.")
    kept: float | None
    kept_kappa: float | None
    kind: float | None
    kind_kappa: float | None


class ComparisonAnswer(PageFacts):
    """Everybody's labels of a page, for the person who merges."""

    annotators: list[AnnotatorLabels]
    labels: dict[str, dict[str, LabelModel]] = Field(description="By annotator, then by reference.")
    conflicts: list[str] = Field(description="The references of the blocks that annotators disagree on.")
    merged: LabelsAnswer
    agreement: list[PairModel]


class ChangeModel(BaseModel):
    """What a change did to one label."""

    ref: str
    text: str | None = Field(description="null if the page is now cut into different blocks.")
    before: LabelModel | None
    after: LabelModel | None


class EventModel(BaseModel):
    """One change in the history of a page."""

    revision: int
    annotator: str
    by: str
    action: Action
    time: str
    of: int | None
    changes: list[ChangeModel]


class HistoryAnswer(BaseModel):
    """The history of a page, the oldest change first."""

    events: list[EventModel]
    hidden: int = Field(description="How many changes by others are hidden until this annotator is done.")


class PageAgreementModel(BaseModel):
    """The agreement on one page: the mean of all pairs."""

    id: int
    text: float | None
    kept_kappa: float | None
    kind_kappa: float | None


class AgreementAnswer(BaseModel):
    """How well annotators agree."""

    pages: list[PageAgreementModel]
    pairs: list[PairModel]
    text: float | None
    kept: float | None
    kept_kappa: float | None
    kind: float | None
    kind_kappa: float | None
    lost: int
    accepted: int = Field(description="How many labels were suggested and only accepted; their blocks do not count.")
    unfinished: int = Field(
        description="How many pages somebody has not finished; there, only blocks that two labelled count."
    )
    hidden: int = Field(description="How many pages this annotator is still labelling; no figure includes them.")


class LeftOutModel(BaseModel):
    """What is not part of an export."""

    id: int
    name: str
    why: str


class ExportAnswer(BaseModel):
    """What an export would contain."""

    pages: int
    labels: int
    accepted: int = Field(description="How many of the labels were suggested and only accepted.")
    left_out: list[LeftOutModel]


@dataclass(frozen=True, slots=True)
class PageView:
    """A page as annotators see it.

    Attributes:
        facts: its number, name, URL, note and blocks, for `PageFacts`.
        texts: the text of each block, by its reference.
        key: the key of its frame.
    """

    facts: dict[str, Any]
    texts: dict[str, str]
    key: str

    @property
    def frame(self) -> str:
        """Where the page is shown."""
        return f"/frame/{self.key}"


class Annotating:
    """The store of a workbench, opened on first use, and the pages that were shown last.

    Args:
        workbench: the server's.
    """

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._store: Store | None = None
        self._shown: OrderedDict[int, PageView] = OrderedDict()
        self._lock = Lock()

    @property
    def store(self) -> Store:
        """The open store. Several threads may use it.

        Raises:
            AnnotationError: it cannot be opened.
        """
        with self._lock:
            if self._store is None:
                self._store = Store(self._workbench.database)
            return self._store

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    async def show(self, page_id: int) -> PageView:
        """A page as annotators see it. A page never changes, so it is read and marked once.

        Raises:
            AnnotationError: there is no such page.
            MainmatterError: the worker failed.
        """
        frames = self._workbench.frames
        known = self._shown.get(page_id)
        if known is not None and frames.get(known.key) is not None:
            self._shown.move_to_end(page_id)
            return known
        facts, rows, html, page = await self._workbench.run(
            read_page, database=str(self._workbench.database), page_id=page_id
        )
        blocks = [BlockModel.model_construct(**row) for row in rows]
        texts = {block.ref: block.text for block in blocks}
        view = PageView(facts | {"blocks": blocks}, texts, frames.put(html, page))
        self._shown[page_id] = view
        while len(self._shown) > MOST_SHOWN:
            self._shown.popitem(last=False)
        return view


async def annotating_of(request: Request) -> Annotating:
    """What Annotate keeps for the server that got a request; for `Depends`."""
    annotating: Annotating = request.app.state.annotating
    return annotating


State = Annotated[Annotating, Depends(annotating_of)]
Bench = Annotated[Workbench, Depends(workbench_of)]
PageNumber = Annotated[int, PathParameter(ge=1, le=LARGEST_ID, description="The page's number.")]
Asking = Annotated[Name, Query(description="Who asks.")]
Whose = Annotated[Name, Query(description='Whose labels: a name, "merged", or "best".')]
Unfinished = Annotated[bool, Query(description="Include pages that nobody has finished.")]


@router.get("/annotators", summary="Everybody who labelled something")
def list_annotators(state: State) -> AnnotatorsAnswer:
    """The names of all annotators."""
    return AnnotatorsAnswer(annotators=_without_gold(state.store.annotators()))


@router.get("/pages", summary="All pages")
def list_pages(state: State, annotator: Asking) -> PagesAnswer:
    """All pages, with each annotator's progress, but not the labels of others."""
    rows = [_row(summary, annotator) for summary in state.store.pages()]
    return PagesAnswer(pages=rows, annotators=_without_gold(state.store.annotators()))


@router.get("/pages/{page_id}", summary="A page to label")
async def show_page(state: State, page_id: PageNumber, annotator: Asking) -> PageAnswer:
    """A page's blocks, its frame, and the labels of the requesting annotator."""
    answer = await run_in_threadpool(lambda: LabelsAnswer.of(state.store.labels(page_id, annotator)))
    view = await state.show(page_id)
    return PageAnswer.model_construct(**view.facts, frame=view.frame, **dict(answer))


@router.get("/pages/{page_id}/labels", summary="The labels of an annotator")
def show_labels(state: State, page_id: PageNumber, annotator: Asking) -> LabelsAnswer:
    """An annotator's labels of a page, as they are stored now."""
    return LabelsAnswer.of(state.store.labels(page_id, annotator))


@router.post("/pages/{page_id}/labels", summary="Label blocks")
def set_labels(state: State, page_id: PageNumber, change: LabelsChange) -> LabelsAnswer:
    """Store labels. They are on disk when this answers. 409 if they were changed after `revision`."""
    labels = {ref: None if label is None else label.to_label() for ref, label in change.labels.items()}
    return _change(state, page_id, change, lambda store, **who: store.set_labels(page_id, labels=labels, **who))


@router.post("/pages/{page_id}/undo", summary="Undo the last change")
def undo(state: State, page_id: PageNumber, change: Seen) -> LabelsAnswer:
    """Undo the annotator's last change of labels, whenever it was made."""
    return _change(state, page_id, change, lambda store, **who: store.undo(page_id, **who), with_labels=True)


@router.post("/pages/{page_id}/redo", summary="Redo an undone change")
def redo(state: State, page_id: PageNumber, change: Seen) -> LabelsAnswer:
    """Redo the change that was undone last."""
    return _change(state, page_id, change, lambda store, **who: store.redo(page_id, **who), with_labels=True)


@router.post("/pages/{page_id}/done", summary="Mark a page as done")
def set_done(state: State, page_id: PageNumber, change: DoneChange) -> LabelsAnswer:
    """Record that an annotator is done with a page, or reopens it."""
    return _change(state, page_id, change, lambda store, **who: store.set_done(page_id, done=change.done, **who))


@router.post("/pages/{page_id}/accept-agreed", summary="Merge the labels that all agree on")
def accept_agreed(state: State, page_id: PageNumber, change: Seen) -> LabelsAnswer:
    """Copy labels that all annotators of a block agree on to the merged labels. Existing merged labels stay."""
    if change.annotator != MERGED or not change.by:
        raise AnnotationError(f"only merged labels can be merged; send annotator {MERGED!r}, and by")
    by = change.by
    return _change(
        state,
        page_id,
        change,
        lambda store, **_: store.accept_agreed(page_id, by=by, based_on=change.revision),
        with_labels=True,
    )


@router.get("/pages/{page_id}/history", summary="Who changed what, and when")
async def show_history(state: State, page_id: PageNumber, annotator: Asking) -> HistoryAnswer:
    """All changes of a page, oldest first; those of others only once the requesting annotator is done with it."""
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
    """Everybody's labels of a page. 409 if the person who asks is still labelling it, unless `anyway` is true."""
    summary = await run_in_threadpool(lambda: state.store.summary(page_id))
    if _is_at_work(summary, by) and not anyway:
        raise StillLabelling("you are still labelling this page; mark it as done before you see what others said of it")
    view = await state.show(page_id)
    store = state.store
    said, conflicts, merged = await run_in_threadpool(
        lambda: (store.all_labels(page_id), store.conflicts(page_id), store.labels(page_id, MERGED))
    )
    pairs = []
    names = [name for name in said if name != MERGED]
    if len(names) > 1:
        report = await bench.run(measure_agreement, database=str(bench.database), page_id=page_id)
        pairs = _pairs(report.pairs)
    return ComparisonAnswer.model_construct(
        **view.facts,
        frame=view.frame,
        annotators=[AnnotatorLabels(name=name, done=said[name].done) for name in names],
        labels={name: {ref: LabelModel.of(label) for ref, label in said[name].by_ref.items()} for name in names},
        conflicts=[conflict.ref for conflict in conflicts],
        merged=LabelsAnswer.of(merged),
        agreement=pairs,
    )


@router.get("/agreement", summary="How well annotators agree")
async def show_agreement(state: State, bench: Bench, annotator: Asking) -> AgreementAnswer:
    """Text agreement (FIASCO) and Cohen's kappa, over all pages that at least two annotators labelled.

    Pages that the requesting annotator is still labelling are left out of all figures.
    """
    summaries = await run_in_threadpool(lambda: state.store.pages(check=False))
    at_work = [summary for summary in summaries if _is_at_work(summary, annotator)]
    without = frozenset(summary.id for summary in at_work)
    report = await bench.run_for(_AGREEMENT_SECONDS, measure_agreement, database=str(bench.database), without=without)
    hidden = sum(bool({*summary.labelled, *summary.done} - {annotator, MERGED}) for summary in at_work)
    pages = [
        PageAgreementModel(
            id=page.page_id,
            text=_mean(pair.text for pair in page.pairs),
            kept_kappa=_mean(pair.kept_kappa for pair in page.pairs),
            kind_kappa=_mean(pair.kind_kappa for pair in page.pairs),
        )
        for page in report.pages
    ]
    figures = {name: getattr(report, name) for name in ("text", "kept", "kept_kappa", "kind", "kind_kappa")}
    told = {"lost": report.lost, "accepted": report.accepted, "unfinished": report.unfinished, "hidden": hidden}
    return AgreementAnswer(pages=pages, pairs=_pairs(report.pairs), **figures, **told)


@router.get("/export", summary="What an export would contain")
async def preview(bench: Bench, whose: Whose = BEST, unfinished: Unfinished = False) -> ExportAnswer:
    """How many pages and labels an export would contain, what is left out, and why."""
    await run_in_threadpool(_make_sure_of, bench.database)
    return await bench.run_for(
        _EXPORT_SECONDS, look_at_export, database=str(bench.database), whose=whose, unfinished=unfinished
    )


@router.get("/export/{name}", summary="Download the gold standard", response_class=FileResponse)
async def download(
    bench: Bench, name: Literal["folder.zip", "pages.parquet"], whose: Whose = BEST, unfinished: Unfinished = False
) -> FileResponse:
    """The gold standard as `mainmatter train` and `mainmatter evaluate` read it; a folder comes as a zip archive."""
    await run_in_threadpool(_make_sure_of, bench.database)
    folder = await run_in_threadpool(tempfile.mkdtemp, prefix=".export-", dir=bench.database.parent)
    try:
        file = await bench.run_for(
            _EXPORT_SECONDS,
            write_export,
            database=str(bench.database),
            whose=whose,
            unfinished=unfinished,
            folder=folder,
            name=name,
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shown = f"{EXPORT_NAME}.{name.rpartition('.')[2]}"
    cleaning = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(file, media_type=_EXPORT_TYPES[name], filename=shown, background=cleaning)


def check_annotator(name: str) -> None:
    """Refuse a reserved name.

    Raises:
        AnnotationError: it does.
    """
    if name in (BEST, GOLD):
        raise AnnotationError(f"{name!r} is a reserved name; choose another")


def _change(
    state: Annotating, page_id: int, change: Seen, make: Callable[..., int | None], *, with_labels: bool = False
) -> LabelsAnswer:
    """Make a change based on what the client saw, and return the new state.

    `with_labels` is for changes after which the client does not know the labels. If it knows them, this returns the
    revision of this change, not a later one by somebody else: with that, the client could overwrite what it never saw.
    """
    check_annotator(change.annotator)
    revision = make(state.store, annotator=change.annotator, by=change.by, based_on=change.revision)
    answer = LabelsAnswer.of(state.store.labels(page_id, change.annotator), with_labels=with_labels)
    return answer if with_labels else answer.model_copy(update={"revision": revision})


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
    """Whether somebody has started to label a page and is not done: others' labels would bias them."""
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
    facts = {name: getattr(event, name) for name in ("revision", "annotator", "by", "action", "time", "of")}
    return EventModel(**facts, changes=changes)


def _without_gold(names: list[str]) -> list[str]:
    """The names of people; an imported gold standard is not a person."""
    return [name for name in names if name != GOLD]


def _pairs(pairs: Iterable[PairAgreement]) -> list[PairModel]:
    return [PairModel(**asdict(pair)) for pair in pairs]


def _mean(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None


def read_page(database: str, page_id: int) -> tuple[dict[str, Any], list[dict[str, Any]], str, Page]:
    """A page's facts and its blocks, as `PageFacts` has them; the marked page for its frame; and the page itself.

    Done in a worker.

    Raises:
        AnnotationError: there is no such page.
    """
    with Store(database, create=False) as store:
        summary = store.summary(page_id)
        page = store.page(page_id)
        html = safe_html(store.document(page_id))
        blocks: list[dict[str, Any]] = [
            {
                "index": block.index,
                "ref": ref,
                "text": block.text,
                "kind": block.kind.value,
                "level": block.level,
                "hidden": block.hidden,
            }
            for ref, block in ((each.ref, each.block) for each in store.blocks(page_id))
        ]
    facts = {"id": page_id, "name": summary.name, "url": summary.url, "note": summary.note}
    return facts, blocks, html, page


def measure_agreement(
    database: str, page_id: int | None = None, without: frozenset[int] = frozenset()
) -> AgreementReport:
    """How well annotators agree, on one page or on all but some. Done in a worker.

    Raises:
        AnnotationError: there is no such page.
        MissingExtra: rapidfuzz is not installed.
    """
    with Store(database, create=False) as store:
        return store.agreement(page_id, without=without)


def look_at_export(database: str, whose: str, unfinished: bool) -> ExportAnswer:
    """What an export would contain. Done in a worker.

    Raises:
        AnnotationError: nobody of that name labelled anything.
    """
    with Store(database, create=False) as store:
        found = collect(store, whose, unfinished=unfinished)
    labels = sum(len(page.gold_page.labels or ()) for page in found.pages)
    accepted = sum(page.accepted for page in found.pages)
    return ExportAnswer(pages=len(found.pages), labels=labels, accepted=accepted, left_out=_left_out(found))


def write_export(database: str, whose: str, unfinished: bool, folder: str, name: str) -> str:
    """Write an export into a folder; gives its file. Done in a worker.

    Raises:
        AnnotationError: nobody of that name labelled anything, or there is no page to export.
        MissingExtra: Parquet needs pyarrow.
    """
    with Store(database, create=False) as store:
        pages = collect(store, whose, unfinished=unfinished).pages
        if name.endswith(".parquet"):
            target = Path(folder, f"{EXPORT_NAME}.parquet")
            export(pages, target)
            return str(target)
        target = Path(folder, EXPORT_NAME)
        export(pages, target)
    return shutil.make_archive(str(target), "zip", folder, EXPORT_NAME)


def _left_out(found: GoldStandard) -> list[LeftOutModel]:
    """Pages that are left out, and missing labels in those that are not."""
    told = [LeftOutModel(id=one.page_id, name=one.name, why=one.reason) for one in found.left_out]
    for page in found.pages:
        name = page.gold_page.page.id or str(page.page_id)
        missing = []
        if page.lost:
            missing.append(f"{page.lost} labels could not be carried over to the current blocks")
        if page.unlabelled:
            missing.append(f"{page.unlabelled} of its blocks have no label")
        if missing:
            told.append(LeftOutModel(id=page.page_id, name=name, why="; ".join(missing)))
    return told


def _make_sure_of(database: Path) -> None:
    """Make an empty database where there is none yet."""
    if not database.is_file():
        Store(database).close()
