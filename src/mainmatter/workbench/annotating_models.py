"""What Annotate sends and takes, as the OpenAPI page describes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from mainmatter.lab.datasets.labels import LabelKind  # noqa: TC001
from mainmatter.workbench.labels import Label, Labels
from mainmatter.workbench.labels.records import Action, Status  # noqa: TC001 - Pydantic reads the annotations
from mainmatter.workbench.reading import StrictModel

MOST_LABELS = 100_000  # in one change
LARGEST_ID = 2**63 - 1  # that SQLite can hold

Name = Annotated[str, Field(min_length=1, max_length=100, description="An annotator's name.", examples=["Ada"])]
Revision = Annotated[int, Field(ge=0, le=LARGEST_ID, description="The revision that the annotator saw last.")]


class LabelModel(StrictModel):
    """What an annotator says of a block."""

    kept: bool = Field(description="It is main matter.")
    kind: LabelKind = Field("paragraph", description="What it is.")

    def to_label(self) -> Label:
        """The label itself."""
        return Label(self.kept, self.kind)

    @classmethod
    def of(cls, label: Label) -> LabelModel:
        """The model of a label."""
        return cls.model_construct(kept=label.kept, kind=label.kind)


class Seen(StrictModel):
    """Who changes something, and what they saw last."""

    annotator: Name
    by: Name | None = Field(None, description='Who decides, where the annotator is "merged".')
    revision: Revision


class LabelsChange(Seen):
    """A change of labels: one step of the history."""

    labels: dict[Annotated[str, Field(max_length=200)], LabelModel | None] = Field(
        description="By the references of blocks; null takes a label away.", max_length=MOST_LABELS
    )


class DoneChange(Seen):
    """Whether an annotator is done with a page."""

    done: bool


class LostLabel(BaseModel):
    """A label that could not be carried over to the blocks of now."""

    text: str
    label: LabelModel


class Standing(BaseModel):
    """Where an annotator's work on a page stands."""

    revision: int = Field(description="The number of the last change; 0 if there was none.")
    labels: dict[str, LabelModel] | None = Field(None, description="null where they are what was just sent.")
    lost: list[LostLabel] = []
    done: bool
    can_undo: bool
    can_redo: bool

    @classmethod
    def of(cls, labels: Labels, *, with_labels: bool = True) -> Standing:
        """The model of what the store says."""
        return cls(
            revision=labels.revision,
            labels={ref: LabelModel.of(label) for ref, label in labels.by_ref.items()} if with_labels else None,
            lost=[LostLabel(text=lost.text, label=LabelModel.of(lost)) for lost in labels.lost],
            done=labels.done,
            can_undo=labels.can_undo,
            can_redo=labels.can_redo,
        )


class OtherAnnotator(BaseModel):
    """How far somebody else is with a page; what they said is not told."""

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
    labelled: int = Field(description="How many blocks the annotator who asks has labelled.")
    done: bool = Field(description="Whether the annotator who asks is done with it.")
    others: list[OtherAnnotator]
    merged: int = Field(description="How many blocks have a merged label.")
    conflicts: int | None = Field(description="null while the annotator who asks is still labelling the page.")
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
    frame: str = Field(description="Where the page is shown, for a frame without scripts.")


class PageAnswer(PageFacts, Standing):
    """A page, and what the annotator who asks said of it."""


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
    """What everybody said of a page, for whoever merges."""

    annotators: list[AnnotatorLabels]
    labels: dict[str, dict[str, LabelModel]] = Field(description="By annotator, then by reference.")
    conflicts: list[str] = Field(description="The references of the blocks that annotators differ on.")
    merged: Standing
    agreement: list[PairModel]


class ChangeModel(BaseModel):
    """What a change did to one label."""

    ref: str
    text: str | None = Field(description="null if the page is segmented otherwise by now.")
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
    hidden: int = Field(description="Changes by others, which are told when the annotator who asks is done.")


class SuggestionAnswer(BaseModel):
    """What a method would say of each block."""

    method: str
    labels: list[LabelModel]


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
    unfinished: int = Field(description="Pages that somebody is not done with: only what two labelled counts.")
    hidden: int = Field(description="Pages that who asks is still labelling: no figure tells of them.")


class LeftOutModel(BaseModel):
    """What is not part of an export."""

    id: int
    name: str
    why: str


class ExportAnswer(BaseModel):
    """What an export would hold."""

    pages: int
    labels: int
    left_out: list[LeftOutModel]


class RejectModel(BaseModel):
    """Something that was not added."""

    name: str
    why: str


class ImportAnswer(BaseModel):
    """An import, as far as it has come."""

    id: str
    what: str
    state: Literal["running", "done", "failed"]
    share: float = Field(description="How much of it is done, from 0 to 1.")
    read: int
    added: int
    known: int
    rejected: int
    rejects: list[RejectModel] = Field(description="The first of them.")
    message: str


class UrlImport(StrictModel):
    """A page to fetch from the web."""

    url: str = Field(max_length=4000, examples=["https://example.org/"])


class FolderImport(StrictModel):
    """Something in the workbench's import folder."""

    name: str = Field(max_length=500, description="One of those that GET lists.")
    most: int | None = Field(None, ge=1, le=1000, description="Only so many, those that methods disagree on most.")


class EntryModel(BaseModel):
    """Something in the workbench's import folder."""

    name: str
    about: str


class EntriesAnswer(BaseModel):
    """What is in the workbench's import folder."""

    entries: list[EntryModel]
