"""What a worker does for /api/inspect: a page's blocks, what a method says of them, and what the dial would do."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mainmatter.clean import read
from mainmatter.errors import InputError, MainmatterError, PageTooLarge
from mainmatter.html.safe import safe_html
from mainmatter.main.choice import SWITCHES
from mainmatter.main.method import Main
from mainmatter.papers.density.method import Density
from mainmatter.registry import DEFAULT_METHOD, get_method
from mainmatter.workbench.choosing import choose_method, without_paths
from mainmatter.workbench.clean_task import Answer, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from mainmatter.method import Method
    from mainmatter.records import Document, Extraction, Page
    from mainmatter.workbench.clean_task import Source

DIAL_STEPS = tuple(step / 20 for step in range(21))
MOST_REASONS = 5_000  # that come with the page; 100,000 would take six seconds
MOST_BLOCKS = 20_000  # of a page whose reasons come with it: before the first one, `main` looks at it fifteen times
MOST_SHOWN = 100_000  # blocks of a page that can be looked at: beyond that, answers and browsers grow out of hand
FORMATS = ("text", "markdown", "cleaneval")
_CONTROLS = ("dial", "comments", *SWITCHES)


@dataclass(frozen=True, slots=True)
class Question:
    """A page, and the method that is asked about it.

    Attributes:
        source: where the page comes from.
        models: the folder of the workbench's models.
        method: a method or model, as clients name it.
        options: its parameters.
    """

    source: Source
    models: Path
    method: str = DEFAULT_METHOD
    options: dict[str, Any] = field(default_factory=dict)

    def ask(self) -> tuple[Method, Extraction]:
        """The method, and what it decided.

        Raises:
            MainmatterError: anything that is wrong with the question or the page.
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
                f"the page has {len(document):,} blocks, and up to {MOST_SHOWN:,} can be looked at; "
                "`mainmatter clean` and /api/clean take pages of any number"
            )
        return method, method.extract(document)


class Inspection(NamedTuple):
    """What came of it: the answer, the page as it was read, and the page as its frame shows it ("" if not wanted)."""

    answer: Answer
    page: Page
    marked: str


def inspect(question: Question, *, with_frame: bool = True) -> Inspection:
    """All that Inspect shows of a page.

    Args:
        question: the page and the method.
        with_frame: whether the page for the frame is wanted.

    Raises:
        MainmatterError: anything that is wrong with the question or the page.
    """
    method, extraction = question.ask()
    document, page = extraction.document, extraction.document.page
    content = {
        "page": {"url": page.url, "format": page.format, "encoding": document.encoding},
        "method": question.method,
        "controls": [name for name in _CONTROLS if name in _parameters(method)],
        "metadata": asdict(document.metadata),
        "page_type": extraction.page_type,
        "confidence": extraction.confidence,
        "marks_comments": extraction.marks_comments,
        "blocks": _columns(document, extraction),
        "kept": _runs(extraction.kept),
        "dial": _dial(method, document),
        "density": _dense_region(document),
    }
    return Inspection(to_json(content), page, safe_html(document) if with_frame else "")


def tell_reasons(question: Question, blocks: list[int]) -> Answer:
    """The reasons of some blocks; numbers that the page has not are left out.

    Raises:
        MainmatterError: anything that is wrong with the question or the page.
    """
    reasons = question.ask()[1].reasons
    return to_json({"reasons": {block: reasons[block] for block in blocks if 0 <= block < len(reasons)}})


def render(question: Question, format_: str) -> Answer:
    """The clean text of a page in one of `FORMATS`.

    Raises:
        InputError: Inspect has no such format.
        MainmatterError: anything else that is wrong with the question or the page.
    """
    if format_ not in FORMATS:
        raise InputError(f"format is {', '.join(FORMATS)}, not {format_!r}")
    return to_json({"text": question.ask()[1].render(format_)})


def _parameters(method: Method) -> set[str]:
    return {each.name for each in fields(method)} if is_dataclass(method) else set()


def _columns(document: Document, extraction: Extraction) -> dict[str, list[Any]]:
    """The blocks as parallel lists: as objects, their names would be most of the answer."""
    is_comment = extraction.is_comment
    scores = np.nan_to_num(extraction.scores.astype(np.float64), posinf=1e6, neginf=-1e6)  # JSON has no infinity
    return {
        "texts": document.texts,
        "kinds": [kind.value for kind in document.columns.kinds],
        "seen_as": [kind.value for kind in extraction.kinds],
        "positions": document.columns.positions,
        "scores": np.round(scores, 4).tolist(),
        "comments": [] if is_comment is None else is_comment.nonzero()[0].tolist(),
        "reasons": list(extraction.reasons[:MOST_REASONS]) if len(document) <= MOST_BLOCKS else [],
    }


def _dial(method: Method, document: Document) -> dict[str, Any] | None:
    """What is kept at each step of the dial, and how sure the method is then; None if the method has no dial."""
    if "dial" not in _parameters(method):
        return None
    steps = list(_at_all_steps(method, document))
    return {
        "at": method.dial,  # type: ignore[attr-defined] # as was just found out
        "steps": list(DIAL_STEPS),
        "kept": [_runs(step.kept) for step in steps],
        "confidence": [step.confidence for step in steps],
    }


def _at_all_steps(method: Any, document: Document) -> Iterable[Extraction]:  # noqa: ANN401 - any method with a dial
    """The method's decisions at each step; `main` looks at the page once, since the dial comes after the look."""
    method = copy.copy(method)
    if isinstance(method, Main):
        described = method.describe(document)
        judged = method.judge(described)
        vars(method).update(describe=lambda _: described, judge=lambda _: judged)  # of this copy
    for step in DIAL_STEPS:
        method.dial = step
        yield method.extract(document)


def _dense_region(document: Document) -> dict[str, Any] | None:
    """Where `density` sees the main matter: its first and last block, and how long a text must be to count as long."""
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
    """How many blocks are dropped, then kept, then dropped, and so on: short, where a page has 100,000 blocks."""
    if not len(kept):
        return []
    ends = np.flatnonzero(np.diff(kept)) + 1
    runs = np.diff(np.concatenate(([0], ends, [len(kept)]))).tolist()
    return [0, *runs] if kept[0] else runs
