"""What all parts of the server share: `request.app.state.workbench`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotation

from mainmatter.workbench.choosing import without_folder
from mainmatter.workbench.corpus_names import name_corpora
from mainmatter.workbench.counting import Counts
from mainmatter.workbench.frames import Frames
from mainmatter.workbench.workers import Busy, Workers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mainmatter.workbench.settings import Settings

# Requests that wait for the store wait in threads, of which the server has 40: some are left for everything else.
MOST_AT_STORE = 24


class Workbench:
    """The settings, the workers and the folder of a server.

    Args:
        settings: how the server runs.

    Raises:
        InputError: one of its corpora is none.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.corpora = name_corpora(settings.corpora)  # their paths, by name
        self.workers = Workers(
            settings.workers, waiting=settings.most_waiting, seconds=settings.seconds, memory_mb=settings.memory_mb
        )
        self.counts = Counts()
        self.frames = Frames()  # the marked pages that are shown
        self.at_store = 0  # requests that use the store now

    @property
    def database(self) -> Path:
        """The annotations."""
        return self.settings.folder.absolute() / "annotations.db"

    @property
    def models(self) -> Path:
        """The folder of the models that were trained here; it may not be there yet."""
        return self.settings.folder.absolute() / "models"

    def tell(self, error: Exception) -> str:
        """What an error says, as one line that does not tell clients where the workbench lies."""
        return without_folder(" ".join(str(error).split()), self.settings.folder.absolute())


async def workbench_of(request: Request) -> Workbench:
    """The workbench of the server that got a request; for `Depends`, which calls what is not async in a thread."""
    workbench: Workbench = request.app.state.workbench
    return workbench


async def take_turn_at_store(request: Request) -> AsyncIterator[None]:
    """For `Depends`: one of the requests that may use the store at once, however long others keep it locked.

    Raises:
        Busy: there are enough of them.
    """
    workbench: Workbench = request.app.state.workbench
    if workbench.at_store >= MOST_AT_STORE:
        raise Busy
    workbench.at_store += 1
    try:
        yield
    finally:
        workbench.at_store -= 1
