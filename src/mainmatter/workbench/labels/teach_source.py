"""Where the pages to teach with come from: a workbench, a database of annotations, or a gold standard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from mainmatter.errors import InputError
from mainmatter.lab.datasets import load_dataset
from mainmatter.lab.training.teach import FEWEST, need_enough
from mainmatter.lab.training.teach_save import LESSONS
from mainmatter.workbench.labels.database import DATABASE
from mainmatter.workbench.labels.gold import collect
from mainmatter.workbench.labels.records import MERGED
from mainmatter.workbench.labels.store import Store

if TYPE_CHECKING:
    from mainmatter.lab.datasets import GoldPage
    from mainmatter.workbench.labels.records import PageSummary

Readiness = Literal["merged", "agreed", "single", "conflict", "unfinished", "new"]
READY: tuple[Readiness, ...] = ("merged", "agreed", "single")
MODELS = "models"  # the folder of a workbench that holds its models
_MOST_TOLD = 5  # pages of which an error tells why they are not ready
_SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Source:
    """Pages to teach with.

    Attributes:
        name: what they are called.
        pages: the pages.
        lessons: the file that lists all lessons of the workbench; None if they are of none.
        left_out: pages of the workbench that are not ready, with the reason.
    """

    name: str
    pages: list[GoldPage]
    lessons: Path | None
    left_out: tuple[str, ...] = ()


def load_source(name: str, data: str | Path | None = None) -> Source:
    """Read pages to teach with.

    Args:
        name: the folder of a workbench, a database of annotations, or the name or path of a gold standard.
        data: the folder where named gold standards are.

    Raises:
        InputError: too few pages are labelled; the message says what is missing.
        UnknownName: it is none of these.
        DatasetError: the gold standard is damaged.
    """
    path = Path(name)
    database = path / DATABASE if (path / DATABASE).is_file() else path
    if not _is_database(database):
        return Source(path.name, load_dataset(name, data), None)
    with Store(database, create=False) as store:
        found = collect(store)
    pages = [page.gold_page for page in found.pages]
    reasons = [f"{each.name}: {each.reason}" for each in found.left_out]
    if len(pages) < FEWEST:
        _refuse(name, len(pages), reasons)
    folder = database.resolve().parent
    return Source(folder.name or "annotations", pages, folder / MODELS / LESSONS, tuple(reasons))


def count_ready(store: Store) -> dict[Readiness, int]:
    """How many pages of a store are ready for teaching, and how many are not yet, by the reason.

    "merged", "agreed" (by all who are done) and "single" (one is done) are ready; "conflict", "unfinished" (nobody is
    done) and "new" are not.
    """
    counts: dict[Readiness, int] = dict.fromkeys(get_args(Readiness), 0)
    for page in store.pages():
        counts[_readiness(page)] += 1
    return counts


def _readiness(page: PageSummary) -> Readiness:
    if page.status == "merged":
        return "merged"
    done = len([name for name in page.done if name != MERGED])
    if not done:
        return "unfinished" if page.labelled else "new"
    if done == 1:
        return "single"
    return "conflict" if page.conflicts else "agreed"


def _refuse(name: str, ready: int, reasons: list[str]) -> None:
    """Say which pages are not ready, and why."""
    try:
        need_enough(ready, ready + len(reasons))
    except InputError as error:
        told = "; ".join(reasons[:_MOST_TOLD]) + ("; ..." if len(reasons) > _MOST_TOLD else "")
        raise InputError(f"{name}: {error}{f' ({told})' if told else ''}") from error


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False
