"""What `main` gains where a collection is at hand: it is told on how many pages of its site each chunk is."""

from __future__ import annotations

import time
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mainmatter.clean import read
from mainmatter.lab.datasets import site_of
from mainmatter.lab.evaluation import evaluate, summarise
from mainmatter.lab.reproduction import ResultsPage
from mainmatter.papers.template.site_counts import SiteCounts
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.evaluation import Evaluation
    from mainmatter.lab.metrics import Row
    from mainmatter.lab.reproduction import Run
    from mainmatter.method import Method

_SETS = ("cleanportaleval", "daniel-a")
_LANGUAGE = "lang="
_BAG = "bag"
_ROUNDS = 3


def reproduce(run: Run) -> ResultsPage:
    """Count what the sites of a gold standard repeat, then clean its pages with and without that."""
    report = ResultsPage("Template: `main` with site templates")
    report.text(
        "What the pages of a gold standard repeat is counted on these very pages, as in a crawl that is cleaned; no "
        "gold text is used for that. `main` then knows, of each block, on how many pages of the site its chunk is "
        "(`mainmatter clean FOLDER --site-templates`, `main:site_templates=COUNTS`). Bag of words, mean over all "
        "pages. The rule and its two constants were found on training sets ([template](../methods/template.md)). The "
        "weight, 4.8, is from a regression with an error that was seen only after these figures; without the error it "
        "would be 3.8, and it was left."
    )
    for name in _SETS:
        _one_set(run, report, name)
    return report


def _one_set(run: Run, report: ResultsPage, name: str) -> None:
    pages = run.load(name)
    with TemporaryDirectory() as folder:
        counting = _count(pages, folder)
        methods = {"without": get_method("main"), "with": get_method("main", site_templates=folder)}
        found = {label: _evaluate(run, f"{name}, {label}", method, name, pages) for label, method in methods.items()}
        seconds = _times(pages, list(methods.values()))
    without, with_ = found["without"], found["with"]
    sites = {site_of(page) for page in pages}
    report.text(f"## {name}\n\n{len(pages)} pages of {len(sites)} sites.")
    rows = [["", "precision without", "with", "recall without", "with", "F1 without", "with", "gain"]]
    rows.append(["all", *_cells(without.scores[_BAG], with_.scores[_BAG])])
    rows += [
        [group.removeprefix(_LANGUAGE), *_cells(scores[_BAG], with_.groups[group][_BAG])]
        for group, scores in without.groups.items()
        if group.startswith(_LANGUAGE)
    ]
    report.table(rows)
    gains = [after - before for before, after in zip(_f1s(without), _f1s(with_), strict=True)]
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    report.text(
        f"{better} pages are better with it, {worse} worse, {len(gains) - better - worse} the same. Counting takes "
        f"{1000 * counting:.2f} ms a page beside reading it; reading and cleaning {1000 * seconds[0]:.2f} ms without "
        f"and {1000 * seconds[1]:.2f} ms with site templates (processor time)."
    )


def _count(pages: Sequence[GoldPage], folder: str) -> float:
    """Count the pages and write the counts; gives the seconds a page that counting took."""
    documents = [read(page.page) for page in pages]
    begin = time.process_time()
    counts = SiteCounts()
    for document in documents:
        counts.add(document)
    templates = counts.templates()
    seconds = time.process_time() - begin
    templates.save(folder)
    return seconds / len(pages)


def _evaluate(run: Run, label: str, method: Method, name: str, pages: Sequence[GoldPage]) -> Evaluation:
    measured = run.map(label, partial(_measure, method), pages)
    return summarise("main", name, pages, [_BAG], [{_BAG: row} for row in measured], [])


def _measure(method: Method, page: GoldPage) -> Row | None:
    return evaluate(method, "", [page], [_BAG]).pages[0][1][_BAG]


def _times(pages: Sequence[GoldPage], methods: Sequence[Method]) -> list[float]:
    """The seconds that reading and judging a page takes each method, in the best of some rounds."""
    best = [float("inf")] * len(methods)
    for _ in range(_ROUNDS):
        for number, method in enumerate(methods):
            begin = time.process_time()
            for page in pages:
                method.extract(read(page.page))
            best[number] = min(best[number], (time.process_time() - begin) / len(pages))
    return best


def _f1s(evaluation: Evaluation) -> list[float]:
    return [float(scores[_BAG]["f1"]) if scores[_BAG] else 0.0 for _, scores in evaluation.pages]  # type: ignore[index]


def _cells(without: Row, with_: Row) -> list[str]:
    figures = [f"{row[name]:.4f}" for name in ("precision", "recall", "f1") for row in (without, with_)]
    return [*figures, f"{with_['f1'] - without['f1']:+.4f}"]
