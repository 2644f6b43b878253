"""The papers' tables and figures, redone on data that exists today; `mainmatter reproduce` runs them.

Each is a function `(run: Run) -> ResultsPage` in the `reproduce.py` of its paper (papers/), named in `REPRODUCTIONS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mainmatter.errors import InputError, MissingExtra, UnknownName
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

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class Run:
    """What a reproduction works with: data, processes, and somebody who watches.

    Attributes:
        data: the folder of the gold standards.
        workers: how many processes.
        progress: shows how far a piece of work has come, as `cli/printing.py` does.
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


def new_figure(width: float, height: float, **options: Any) -> Figure:  # noqa: ANN401 - they are matplotlib's
    """An empty picture, in inches.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
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


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A part of a paper that can be redone.

    Attributes:
        what: one line for people.
        reference: the function that does it, as MODULE:FUNCTION of papers/; loaded when asked for, since it measures
            with packages of the extras.
    """

    what: str
    reference: str

    def load(self) -> Callable[[Run], ResultsPage]:
        """The function that does it."""
        module, _, function = self.reference.partition(":")
        return cast("Callable[[Run], ResultsPage]", getattr(import_module(f"mainmatter.papers.{module}"), function))


REPRODUCTIONS: dict[str, Reproduction] = {
    "alignment": Reproduction(
        "FIASCO 5.1: gold text to labels, and how many pages align well", "fiasco.reproduce:alignment"
    ),
    "fiasco-features": Reproduction("FIASCO tables 2 and 3: feature subsets", "fiasco.reproduce:feature_subsets"),
    "fiasco-kernels": Reproduction("FIASCO 4.1: grid search, kernels, trees", "fiasco.reproduce:kernels"),
    "fiasco-system": Reproduction(
        "FIASCO 6: word-level precision and recall of the whole system", "fiasco.reproduce:system"
    ),
    "ice-regex": Reproduction("ICE 3.5: genetic search for a regular expression", "ice.reproduce:regex"),
    "ice-table-1": Reproduction("ICE table 1: CleanEval scores of all its methods", "ice.reproduce:table_1"),
    "ice-tree": Reproduction(
        "ICE 3.3: ten-fold error of the decision tree, and figure 2", "ice.reproduce:decision_tree"
    ),
    "ncleaner-external": Reproduction("NCleaner tables 3 and 4: CleanEval's test set", "ncleaner.reproduce:external"),
    "ncleaner-internal": Reproduction(
        "NCleaner table 2, figure 3, t-tests: cross-validation", "ncleaner.reproduce:internal"
    ),
    "ncleaner-learning-curve": Reproduction(
        "NCleaner figure 4: how much training data", "ncleaner.reproduce:learning_curve"
    ),
    "ncleaner-speed": Reproduction("NCleaner 6: words an hour, size of the model", "ncleaner.reproduce:speed"),
    "ncleaner-tuning": Reproduction("NCleaner figure 2: cross-entropy by n and q", "ncleaner.reproduce:tuning"),
    "retrieval": Reproduction(
        "Template 4.3, figure 2: search with and without the template", "template.reproduce_retrieval:retrieval"
    ),
    "template-clusters": Reproduction("Template 4.2: min-max clustering of pages", "template.reproduce:clusters"),
    "template-discovery": Reproduction(
        "Template table 2: how much of the templates is found", "template.reproduce:discovery"
    ),
    "template-main": Reproduction(
        "what `main` gains if it knows what sites repeat", "template.reproduce:main_with_templates"
    ),
    "template-pages": Reproduction(
        "Template figure 3: how many pages are enough", "template.reproduce:number_of_pages"
    ),
    "template-ratio": Reproduction("Template table 1: how much of sites is template", "template.reproduce:ratio"),
}


def find_reproduction(name: str) -> Reproduction:
    """The reproduction of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in REPRODUCTIONS:
        raise UnknownName("reproduction", name, REPRODUCTIONS)
    return REPRODUCTIONS[name]
