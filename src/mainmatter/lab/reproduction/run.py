"""What a reproduction works with: data, processes, and somebody who watches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from mainmatter.errors import InputError
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.datasets import load_dataset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mainmatter.lab.datasets import GoldPage

    Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class Run:
    """One run of a reproduction.

    Attributes:
        data: the folder of the gold standards.
        workers: how many processes.
        progress: shows how far a piece of work has come, as `cli/progress.py` does.
        say: tells one line.
        pages: take only so many pages of each set, for a quick look; all if None.
        used: the data that was loaded so far: name and number of pages.
    """

    data: Path
    workers: int
    progress: Progress
    say: Callable[[str], object]
    pages: int | None = None
    used: dict[str, int] = field(default_factory=dict)

    def load(self, name: str) -> list[GoldPage]:
        """The pages of a gold standard."""
        pages = load_dataset(name, self.data)
        if self.pages is not None:
            pages = pages[:: max(1, len(pages) // self.pages)][: self.pages]
        self.used[name] = len(pages)
        return pages

    def map(self, label: str, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Apply a function to items in several processes, showing progress; it must be importable.

        Raises:
            InputError: it failed on an item; a table of the rest would be another table.
        """
        results: list[Result] = []
        with self.progress(label, len(items)) as advance:
            for result in ordered_map(function, items, self.workers):
                if isinstance(result, Failure):
                    raise InputError(f"{label}: item {len(results)}: {result.error}")
                results.append(result)
                advance()
        return results
