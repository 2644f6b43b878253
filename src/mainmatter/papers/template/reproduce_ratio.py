"""Template, table 1: which part of the text of sites is template, and what is left when it is dropped."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.clean import read
from mainmatter.lab.datasets import site_of
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.reproduction import ResultsPage
from mainmatter.papers.template.method import Template
from mainmatter.papers.template.reproduce_gold import FEWEST_PAGES, SETS
from mainmatter.papers.template.reproduce_sites import MADE_UP, SHAPES, make_site
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction import Run
    from mainmatter.method import Method
    from mainmatter.papers.template.chunks import Unit
    from mainmatter.papers.template.reproduce_sites import MadePage
    from mainmatter.records import Page

_UNITS: tuple[Unit, ...] = ("table", "container")
_PAPER = (
    "cnnfn 34.1 %, Netflix 17.8 %, NBA 18.1 %, Amazon 19.3 %, eBay 22.5 %, Disneylandsource 54.1 %, Elle 19.3 %, "
    "Launch 29.3 %; the whole of cnnfn 21.3 %"
)


@dataclass(frozen=True)
class _Measurer:
    """Measures a method on a page; travels between processes."""

    method: Method
    dataset: str

    def __call__(self, page: GoldPage) -> tuple[float, float, float]:
        row = evaluate(self.method, self.dataset, [page], ["bag"]).scores["bag"]
        return row["precision"], row["recall"], row["f1"]


def reproduce(run: Run) -> ResultsPage:
    """The template ratio of made-up sites and of two gold standards, and what dropping it is worth there."""
    report = ResultsPage("Template: template ratio (table 1)")
    report.text(
        "The share of a site's characters that is in chunks of its template: on at least 4 pages, and a tenth of the "
        f"pages, of the site. The paper's, by tables: {_PAPER}.\n\nSites that are made up, whose template is known "
        "(adverts and lists that change are no template):"
    )
    rows = [["site", "layout", "pages", "true ratio", *(f"by {unit}" for unit in _UNITS)]]
    for shape in SHAPES:
        made = make_site(shape)
        pages = [one.page for one in made]
        ratios = [_ratio(Template(unit=unit).fit(pages), pages) for unit in _UNITS]
        rows.append(
            [shape.name, shape.layout, str(len(pages)), f"{_true_ratio(made):.1%}", *(f"{r:.1%}" for r in ratios)]
        )
    report.table(rows)
    run.used[MADE_UP] = sum(shape.pages for shape in SHAPES)
    for name in SETS:
        _one_set(run, report, name)
    return report


def _one_set(run: Run, report: ResultsPage, name: str) -> None:
    gold_pages = run.load(name)
    pages = [one.page for one in gold_pages]
    fitted = [Template(unit=unit).fit(pages) for unit in _UNITS]
    by_site: dict[str, list[Page]] = defaultdict(list)
    for one in gold_pages:
        by_site[site_of(one)].append(one.page)
    rows = [["site", "pages", *(f"by {unit}" for unit in _UNITS)]]
    for site, its in sorted(by_site.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(its) >= FEWEST_PAGES:
            rows.append([site, str(len(its)), *(f"{_ratio(method, its):.1%}" for method in fitted)])
    report.text(
        f"**{name}**: {len(pages)} pages of {len(by_site)} sites; those with {FEWEST_PAGES} pages or more (no gold "
        "text is looked at):"
    )
    report.table(rows)
    methods: list[tuple[str, Method]] = [("everything is kept", get_method("ice-baseline"))]
    methods += [(f"`template:unit={method.unit}`", method) for method in fitted]
    rows = [["method", "precision", "recall", "F1"]]
    for label, method in methods:
        figures = run.map(f"{name}: {label}", _Measurer(method, name), gold_pages)
        rows.append([label, *(f"{sum(column) / len(column):.3f}" for column in zip(*figures, strict=True))])
    report.text("What dropping it is worth, with nothing else dropped: bag of words, mean over all pages of the set:")
    report.table(rows)


def _ratio(method: Template, pages: Sequence[Page]) -> float:
    """The share of the pages' characters that the method drops."""
    dropped = whole = 0
    for page in pages:
        found = method.extract(read(page))
        dropped += int(found.document.lengths[~found.kept].sum())
        whole += int(found.document.lengths.sum())
    return dropped / max(1, whole)


def _true_ratio(made: Sequence[MadePage]) -> float:
    sizes = [(part, sum(map(len, texts))) for one in made for part, texts in one.pieces]
    return sum(size for part, size in sizes if part == "template") / sum(size for _, size in sizes)
