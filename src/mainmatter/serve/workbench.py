"""What all parts of the server share: `request.app.state.workbench`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotation

from mainmatter.serve.counting import Counts
from mainmatter.serve.frames import Frames
from mainmatter.serve.workers import Workers

if TYPE_CHECKING:
    from pathlib import Path

    from mainmatter.serve.settings import Settings


class Workbench:
    """The settings, the workers and the folder of a server.

    Args:
        settings: how the server runs.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.workers = Workers(
            settings.workers, waiting=settings.most_waiting, seconds=settings.seconds, memory_mb=settings.memory_mb
        )
        self.counts = Counts()
        self.frames = Frames()  # the marked pages that are shown

    @property
    def database(self) -> Path:
        """The annotations."""
        return self.settings.folder.absolute() / "annotations.db"

    @property
    def models(self) -> Path:
        """The folder of the models that were trained here; it may not be there yet."""
        return self.settings.folder.absolute() / "models"


def workbench_of(request: Request) -> Workbench:
    """The workbench of the server that got a request; for `Depends`, too."""
    workbench: Workbench = request.app.state.workbench
    return workbench
