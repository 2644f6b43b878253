"""NCleaner, section 6: words an hour, and the size of the models."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mainmatter.clean import clean, read
from mainmatter.lab.reproduction.report import Report
from mainmatter.limits import format_size
from mainmatter.models.store import SHIPPED
from mainmatter.papers.ncleaner.reproduce_pages import dump
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.lab.reproduction.run import Run

_ROUNDS = 3
_AN_HOUR = 3600
_PAPER_C = 120e6


def reproduce(run: Run) -> Report:
    """Time the shipped models on one core: blocks to decisions, text dumps to text, HTML to text."""
    pages = run.load("cleaneval-final")
    dumps = [page.page for page in run.map("text dumps", dump, pages)]
    documents = [read(page) for page in dumps]
    words = sum(len(text.split()) for document in documents for text in document.texts)
    rows = [["", "million words an hour", "times the paper's 120"]]
    rows += [["paper, Perl", "20", "0.2"], ["paper, Perl and C", "120", "1"]]
    for name in ("ncleaner", "ncleaner:lexical=False"):
        method = get_method(name)
        tasks: dict[str, Callable[[], object]] = {
            "blocks to decisions": lambda method=method: [method.extract(document).kept for document in documents],  # type: ignore[misc]
            "text dump to text": lambda method=method: [clean(page, method=method).text for page in dumps],  # type: ignore[misc]
            "HTML to text": lambda method=method: [clean(page.page, method=method).text for page in pages],  # type: ignore[misc]
        }
        for what, task in tasks.items():
            run.say(f"{name}: {what}")
            rate = words / _best_time(task) * _AN_HOUR
            rows.append([f"{name}, {what}", f"{rate / 1e6:.0f}", f"{rate / _PAPER_C:.0f}"])
    report = Report("NCleaner: words an hour, size of the models")
    report.text(
        f"{len(pages)} pages of cleaneval-final, {words / 1e6:.2f} million words, boilerplate included; one core, the "
        f"best of {_ROUNDS} rounds. The paper measured on a server of its time, so only the order of magnitude "
        "compares. *Blocks to decisions* is what the models themselves take: from the segments of a page, as "
        "strings, to which of them are kept."
    )
    report.table(rows)
    report.text("The paper's model takes 2.3 MB as text and 600 KB compressed. Ours, as they ship:")
    report.table([["model", "size on disk"], *([name, _size(name)] for name in ("ncleaner", "ncleaner-non-lexical"))])
    return report


def _best_time(task: Callable[[], object]) -> float:
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return max(min(times), 1e-9)


def _size(name: str) -> str:
    return format_size(
        sum(file.stat().st_size for file in (SHIPPED / name).iterdir() if file.suffix in (".json", ".npz"))
    )
