"""What Annotate keeps while the server runs: the open store, and the pages that annotators look at."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotation

from mainmatter.workbench.annotating_models import BlockModel
from mainmatter.workbench.labels import Store

if TYPE_CHECKING:
    from mainmatter.workbench.annotating_task import Shown
    from mainmatter.workbench.workbench import Workbench

MOST_SHOWN = 32  # pages whose blocks are kept at hand


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
    """The store of a workbench, opened when somebody needs it, and the pages that were shown last.

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
        shown, html, page = await self._workbench.workers.run(
            "mainmatter.workbench.annotating_task:show", database=str(self._workbench.database), page_id=page_id
        )
        view = _view(shown, frames.put(html, page))
        self._shown[page_id] = view
        while len(self._shown) > MOST_SHOWN:
            self._shown.popitem(last=False)
        return view


def _view(shown: Shown, key: str) -> PageView:
    blocks = [BlockModel.model_construct(**block) for block in shown.blocks]
    return PageView(shown.facts | {"blocks": blocks}, {block.ref: block.text for block in blocks}, key)


_all: WeakKeyDictionary[Workbench, Annotating] = WeakKeyDictionary()


def annotating_of(workbench: Workbench) -> Annotating:
    """What Annotate keeps for a workbench."""
    if workbench not in _all:
        _all[workbench] = Annotating(workbench)
    return _all[workbench]


async def annotating(request: Request) -> Annotating:
    """What Annotate keeps for the server that got a request; for `Depends`."""
    return annotating_of(request.app.state.workbench)
