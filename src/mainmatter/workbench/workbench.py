"""What all parts of the server share: `request.app.state.workbench`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotation

from mainmatter.workbench.choosing import without_folder
from mainmatter.workbench.frames import Frames
from mainmatter.workbench.workers import Busy, Workers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    from mainmatter.workbench.settings import Settings

Given = ParamSpec("Given")
Result = TypeVar("Result")

# Requests that wait for the store wait in threads, of which the server has 40: some are left for everything else.
MOST_AT_STORE = 24


class Workbench:
    """The settings, the workers and the folder of a server.

    Args:
        settings: how the server runs.
        corpora: the paths of its corpora, by name.
    """

    def __init__(self, settings: Settings, corpora: Mapping[str, str]) -> None:
        self.settings = settings
        self.corpora = corpora
        self.workers = Workers(
            settings.workers, waiting=settings.most_waiting, seconds=settings.seconds, memory_mb=settings.memory_mb
        )
        self.frames = Frames()  # the marked pages that are shown
        self.at_store = 0  # requests that use the store now

    @property
    def database(self) -> Path:
        """The annotations."""
        return self.settings.folder.absolute() / "annotations.db"

    @property
    def models(self) -> Path:
        """The folder of the models that were trained here; it may not exist yet."""
        return self.settings.folder.absolute() / "models"

    def run(self, task: Callable[Given, Result], /, *_: Given.args, **arguments: Given.kwargs) -> Awaitable[Result]:
        """Have a worker call a function of a module, with named arguments.

        Raises:
            Busy: all workers are busy, and the queue is full.
            TookTooLong: it took longer than it may.
            Crashed: it ended its worker, or failed unexpectedly.
            MainmatterError: what the function raised, if it is one of ours.
        """
        return self.workers.run(task, **arguments)

    def run_for(
        self, seconds: float, task: Callable[Given, Result], /, *_: Given.args, **arguments: Given.kwargs
    ) -> Awaitable[Result]:
        """As `run`, with a time limit of its own."""
        return self.workers.run_for(seconds, task, **arguments)

    def tell(self, error: Exception) -> str:
        """An error's message as one line that does not reveal the path of the workbench."""
        return without_folder(" ".join(str(error).split()), self.settings.folder.absolute())


async def workbench_of(request: Request) -> Workbench:
    """The workbench of the server that got a request; for `Depends`, which calls what is not async in a thread."""
    workbench: Workbench = request.app.state.workbench
    return workbench


async def take_turn_at_store(request: Request) -> AsyncIterator[None]:
    """For `Depends`: let a limited number of requests use the store at once, however long others lock it.

    Raises:
        Busy: there are too many.
    """
    workbench: Workbench = request.app.state.workbench
    if workbench.at_store >= MOST_AT_STORE:
        raise Busy
    workbench.at_store += 1
    try:
        yield
    finally:
        workbench.at_store -= 1
