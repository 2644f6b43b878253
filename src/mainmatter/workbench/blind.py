"""/api/teach/blind: which of two models is better, judged by a person who does not know which is which.

What a taught model and the shipped one keep of a page is shown side by side as A and B. A comparison takes up to ten
pages that nobody has labelled, and on which the two differ. Which of them is A is drawn for each page when the
comparison begins, and stays on the server until it ends. The draws and answers are appended to a file of the workbench,
line by line. Only comparisons that have ended count: a figure that changed midway would reveal which is which.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path
from pydantic import Field

from mainmatter.errors import InputError, UnknownName
from mainmatter.models.store import DESCRIPTION, load
from mainmatter.registry import DEFAULT_METHOD, get_method
from mainmatter.workbench.answers import error_answers
from mainmatter.workbench.choosing import MODELS, model_names
from mainmatter.workbench.labels.gold import unlabelled_pages
from mainmatter.workbench.labels.store import Store
from mainmatter.workbench.reading import StrictModel
from mainmatter.workbench.workbench import Workbench, workbench_of

if TYPE_CHECKING:
    import pathlib

    from mainmatter.records import Document

router = APIRouter(prefix="/blind")

MOST_PAGES = 10
_SECONDS = 10.0  # that looking for pages may take
_FILE = "blind.jsonl"  # in the workbench's folder `teaching`
Side = Literal["a", "b"]

Bench = Annotated[Workbench, Depends(workbench_of)]
ComparisonId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="The comparison's id.")]


class BlindRequest(StrictModel):
    """What to compare."""

    model: str = Field(max_length=100, description="A model of this workbench, by its plain name.")


class BlindAnswer(StrictModel):
    """A person's answer for a page."""

    page: int = Field(description="The page's id.")
    answer: Literal["a", "b", "same"]


@dataclass
class BlindComparison:
    """A blind comparison, as recorded in the file.

    Attributes:
        id: its id.
        model: the plain name of the taught model.
        digest: of that model; another one may be taught under the same name.
        shipped: the model that it is compared with.
        pages: the ids of the pages, in order.
        taught: for each page, which side is the taught model.
        answers: by page.
        is_ended: nothing more will be answered.
    """

    id: str
    model: str
    digest: str
    shipped: str
    pages: list[int]
    taught: list[Side]
    answers: dict[int, str] = field(default_factory=dict)
    is_ended: bool = False

    @property
    def next_page(self) -> int | None:
        """The first page without an answer; None if there is none, or the comparison has ended."""
        return None if self.is_ended else next((page for page in self.pages if page not in self.answers), None)

    @property
    def is_over(self) -> bool:
        """Whether it may be revealed which is which."""
        return self.next_page is None

    def count(self) -> tuple[int, int, int]:
        """On how many pages the taught model was preferred, the other one, and neither."""
        taught = dict(zip(self.pages, self.taught, strict=True))
        wins = sum(answer == taught[page] for page, answer in self.answers.items())
        same = sum(answer == "same" for answer in self.answers.values())
        return wins, len(self.answers) - wins - same, same


def count_preferences(workbench: Workbench, model: str) -> tuple[int, int, int]:
    """On how many pages a model, as it is now, was preferred, the other one was, and neither was."""
    digest = digest_of(workbench.models / model)
    counts = [each.count() for each in _read(workbench).values() if each.digest == digest and each.is_over]
    return (sum(each[0] for each in counts), sum(each[1] for each in counts), sum(each[2] for each in counts))


@router.post("", status_code=201, summary="Begin a blind comparison", responses=error_answers(400, 422))
async def begin(asked: BlindRequest, workbench: Bench) -> dict[str, Any]:
    """Choose up to ten pages that nobody has labelled and on which the model and the shipped one differ."""
    if MODELS + asked.model not in model_names(workbench.models):
        raise UnknownName("model", MODELS + asked.model, model_names(workbench.models))
    path = workbench.models / asked.model
    lesson = load(path).card.get("lesson") or {}
    shipped = str(lesson.get("shipped") or DEFAULT_METHOD)
    digest = digest_of(path)
    known = {page for each in _read(workbench).values() if each.digest == digest for page in each.answers}
    if not workbench.database.is_file():
        raise InputError(_NO_PAGES)
    id_ = secrets.token_hex(8)
    pages = await workbench.run(
        find_differing,
        database=str(workbench.database),
        model=str(path),
        shipped=shipped,
        known=sorted(known),
        seed=id_,
    )
    taught = [secrets.choice(("a", "b")) for _ in pages]
    started = datetime.now(UTC).isoformat(timespec="seconds")
    facts = {"model": asked.model, "digest": digest, "shipped": shipped, "pages": pages, "taught": taught}
    _add(workbench, {"event": "begin", "id": id_, "time": started, **facts})
    return await _state(workbench, id_)


@router.get("/{id_}", summary="The next page of a blind comparison, or its result", responses=error_answers(404, 422))
async def look(id_: ComparisonId, workbench: Bench) -> dict[str, Any]:
    """What both models keep of the next page, as A and B; once it has ended, which of them was preferred."""
    return await _state(workbench, id_)


@router.post("/{id_}", summary="Say which is better", responses=error_answers(400, 404, 422))
async def answer(id_: ComparisonId, given: BlindAnswer, workbench: Bench) -> dict[str, Any]:
    """Answer for a page, and get the next one. Each page can be answered once."""
    comparison = _find(workbench, id_)
    if given.page != comparison.next_page:
        raise InputError(f"page {given.page} is not the next one of this comparison; load it again")
    _add(workbench, {"event": "answer", "id": id_, "page": given.page, "answer": given.answer})
    return await _state(workbench, id_)


@router.post("/{id_}/end", summary="End a blind comparison", responses=error_answers(404, 422))
async def end(id_: ComparisonId, workbench: Bench) -> dict[str, Any]:
    """End it before all pages are answered; the answers so far count."""
    if not _find(workbench, id_).is_over:
        _add(workbench, {"event": "end", "id": id_})
    return await _state(workbench, id_)


async def _state(workbench: Workbench, id_: str) -> dict[str, Any]:
    comparison = _find(workbench, id_)
    page = comparison.next_page
    state: dict[str, Any] = {
        "id": id_,
        "model": comparison.model,
        "answered": len(comparison.answers),
        "of": len(comparison.pages),
        "page": None,
        "result": None,
    }
    if page is None:
        wins, losses, same = comparison.count()
        return state | {"result": {"taught": wins, "shipped": losses, "same": same}}
    path = workbench.models / comparison.model
    if digest_of(path) != comparison.digest:
        raise InputError(f"{comparison.model} was taught again or deleted; end this comparison and begin another")
    sides = [str(path), comparison.shipped]
    if comparison.taught[comparison.pages.index(page)] == "b":
        sides.reverse()
    shown = await workbench.run(show_both, database=str(workbench.database), page=page, a=sides[0], b=sides[1])
    return state | {"page": shown}


def find_differing(database: str, model: str, shipped: str, known: list[int], seed: str) -> list[int]:
    """Pages that nobody has labelled and of which the two models keep different blocks. Done in a worker.

    Args:
        database: the annotations.
        model: one of the models.
        shipped: the other one.
        known: pages that this model was compared on before.
        seed: of their order.

    Raises:
        InputError: there are none.
    """
    models = get_method(model), get_method(shipped)
    started = time.monotonic()
    found: list[int] = []
    with Store(database, create=False) as store:
        unlabelled = [page for page in unlabelled_pages(store) if page not in known]
        unlabelled.sort(key=lambda page: hashlib.sha256(f"{seed} {page}".encode()).digest())
        looked_at = 0
        for page in unlabelled:
            if len(found) == MOST_PAGES or (found and time.monotonic() - started > _SECONDS):
                break
            looked_at += 1
            document = store.document(page)
            one, other = (each.extract(document).kept for each in models)
            if (one != other).any():
                found.append(page)
    if not unlabelled:
        raise InputError(_NO_PAGES)
    if not found:
        raise InputError(
            f"both models keep the same of all {looked_at} unlabelled pages; "
            "import other pages, or rely on the probability"
        )
    return found


_NO_PAGES = (
    "a blind comparison needs pages that nobody has labelled, and there are none left; import more pages in Annotate"
)


def show_both(database: str, page: int, a: str, b: str) -> dict[str, Any]:
    """What two models keep of a page: the blocks that at least one of them keeps. Done in a worker."""
    with Store(database, create=False) as store:
        summary = store.summary(page)
        document: Document = store.document(page)
    both = [get_method(each).extract(document).kept.tolist() for each in (a, b)]
    blocks = [
        {"text": text, "kind": kind.value, "a": in_a, "b": in_b}
        for text, kind, in_a, in_b in zip(document.columns.texts, document.columns.kinds, *both, strict=True)
        if in_a or in_b
    ]
    return {"id": page, "name": summary.name, "url": summary.url, "blocks": blocks}


def digest_of(path: pathlib.Path) -> str:
    """A digest of a model, as it is now; "" if it is not there."""
    try:
        return hashlib.sha256((path / DESCRIPTION).read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def _add(workbench: Workbench, event: dict[str, Any]) -> None:
    """Add a line; it is on disk before the client gets its answer."""
    file = workbench.database.parent / "teaching" / _FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as lines:
        lines.seek(max(0, lines.tell() - 1))
        is_cut_short = lines.read() not in (b"", b"\n")  # by a crash: what follows stands on a line of its own
        lines.write(b"\n" * is_cut_short + json.dumps(event).encode() + b"\n")
        lines.flush()
        os.fsync(lines.fileno())


def _read(workbench: Workbench) -> dict[str, BlindComparison]:
    """All comparisons by id; lines that a crash cut short are left out."""
    found: dict[str, BlindComparison] = {}
    try:
        lines = (workbench.database.parent / "teaching" / _FILE).read_bytes().splitlines()
    except OSError:
        return found
    for line in lines:
        try:
            event = json.loads(line)
            id_ = event["id"]
            match event["event"]:
                case "begin":
                    names = ("model", "digest", "shipped", "pages", "taught")
                    found[id_] = BlindComparison(id_, **{name: event[name] for name in names})
                case "answer":
                    found[id_].answers.setdefault(event["page"], event["answer"])
                case "end":
                    found[id_].is_ended = True
        except (ValueError, TypeError, KeyError):
            continue
    return found


def _find(workbench: Workbench, id_: str) -> BlindComparison:
    found = _read(workbench).get(id_)
    if found is None:
        raise InputError("there is no such comparison; begin another")
    return found
