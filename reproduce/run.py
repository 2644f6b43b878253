"""The papers' tables and figures, redone on data that exists today; `python -m reproduce` runs them.

Each is a function `(run: Run) -> ResultsPage` in the module of its paper, named in papers.toml.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar

from mainmatter.errors import InputError, MissingExtra
from mainmatter.files import write_whole
from mainmatter.isolation.parallel import Failure, ordered_map
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.evaluation import evaluate, format_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.evaluation import Evaluation
    from mainmatter.method import Method

    Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]

_DOTS_PER_INCH = 120
COMPARISON = ("", "the paper", "as the paper", "ours")

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class Run:
    """What a reproduction works with: data, processes, and callbacks for the progress.

    Attributes:
        data: the folder of the gold standards.
        workers: how many processes.
        progress: shows how far a piece of work has come, as `cli/printing.py` does.
        say: called with a line to show.
        pages: take only so many pages of each set, for a quick look; all if None.
        quick: take short cuts, such as few folds and short searches: all of the code runs, the figures mean nothing.
        used: the data that was loaded so far: name and number of pages.
    """

    data: Path
    workers: int
    progress: Progress
    say: Callable[[str], object]
    pages: int | None = None
    quick: bool = False
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

    def evaluate(
        self, label: str, method: str | Method, dataset: str, pages: Sequence[GoldPage], metrics: Sequence[str]
    ) -> Evaluation:
        """Measure a method, or one of that name, showing progress."""
        with self.progress(label, len(pages)) as advance:
            return evaluate(method, dataset, pages, metrics, workers=self.workers, on_page=advance)


@dataclass
class ResultsPage:
    """Results in the making: text, tables and pictures, written as Markdown.

    Attributes:
        title: its heading.
        parts: what it says so far, as Markdown.
        pictures: the pictures that it shows, by the names of their files.
    """

    title: str
    parts: list[str] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)

    def text(self, text: str) -> None:
        """Add a paragraph, a list, a heading: anything in Markdown."""
        self.parts.append(text.strip())

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table; the first row is its head."""
        self.parts.append(format_table(rows))

    def compare(self, rows: Sequence[tuple[str, str, str, str]]) -> None:
        """Add the page's main figures, from which the index of the papers takes them; once a page, near its top.

        Args:
            rows: what was measured, and on what; the paper's figure; that of the method with the preset "paper", on
                data as near to the paper's as there is; that of the method as it ships. "" where there is none.
        """
        self.table([COMPARISON, *rows])

    def picture(self, name: str, caption: str, figure: Figure) -> None:
        """Add a picture, which becomes the file NAME.png beside the page."""
        buffer = BytesIO()
        figure.savefig(buffer, format="png", dpi=_DOTS_PER_INCH, bbox_inches="tight", metadata={"Software": None})
        self.pictures[f"{name}.png"] = buffer.getvalue()
        self.parts.append(f"![{caption}]({name}.png)\n\n*{caption}*")

    def write(self, folder: Path, name: str, closing: str) -> Path:
        """Write the page and its pictures into a folder; `closing` says how it was made."""
        for file, data in self.pictures.items():
            write_whole(folder / file, data)
        page = folder / f"{name}.md"
        text = "\n\n".join([f"# {self.title}", *self.parts, closing.strip()]) + "\n"
        write_whole(page, text.encode("utf-8"))
        return page


def read_comparison(page: str) -> list[list[str]]:
    """The main figures of a results page that was written before, as `ResultsPage.compare` got them."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    head = list(COMPARISON)
    return list(takewhile(lambda row: len(row) == len(head), rows[rows.index(head) + 2 :])) if head in rows else []


def new_figure(width: float, height: float, **options: Any) -> Figure:  # they are matplotlib's
    """An empty picture, in inches.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # an extra
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot") from error
    return Figure(figsize=(width, height), **options)


def new_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty picture with axes and a light grid, in inches."""
    figure = new_figure(width, height)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)
    return figure, axes
