"""Template, table 2: which part of the templates is discovered, and what is taken for one by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mainmatter.clean import read
from mainmatter.features.chunks import UNITS
from mainmatter.methods.template import Template
from mainmatter.reproduction.report import Report
from mainmatter.reproduction.template_sites import MADE_UP, SHAPES, make_site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainmatter.reproduction.run import Run
    from mainmatter.reproduction.template_sites import MadePage, SiteShape

_PAPER = "NBA.com .86, the seven others of table 2 1; of cnnfn's 55,711 pages, by a sample of 200, .923"
SEEDS = range(5)


@dataclass(frozen=True)
class Discovery:
    """What was found on pages with known templates.

    Attributes:
        pieces: of how many pieces the templates of all pages are made.
        found: how many of them were dropped, each to the last block.
        dropped: how many characters were dropped.
        rightly: how many of them are of a template, or of a list or an advert that changes.
    """

    pieces: int = 0
    found: int = 0
    dropped: int = 0
    rightly: int = 0

    def __add__(self, other: Discovery) -> Discovery:
        return Discovery(
            self.pieces + other.pieces,
            self.found + other.found,
            self.dropped + other.dropped,
            self.rightly + other.rightly,
        )

    @property
    def ratio(self) -> float:
        """The template discovery ratio; unlike the paper's it counts no mistakes, so it is at most 1."""
        return self.found / max(1, self.pieces)

    @property
    def precision(self) -> float:
        """The share of the characters that were dropped which is no page's own text."""
        return self.rightly / self.dropped if self.dropped else 1.0


def discover(method: Template, made: Sequence[MadePage]) -> Discovery:
    """Compare what a method drops with what the templates of pages are."""
    found = Discovery()
    for one in made:
        extraction = method.extract(read(one.page))
        blocks = list(zip(extraction.document.texts, extraction.kept.tolist(), strict=True))
        start = 0
        for part, texts in one.pieces:
            mine = blocks[start : start + len(texts)]
            assert tuple(text for text, _ in mine) == texts
            start += len(texts)
            dropped = sum(len(text) for text, kept in mine if not kept)
            is_template = part == "template"
            found += Discovery(
                is_template, is_template and not any(kept for _, kept in mine), dropped, dropped * (part != "text")
            )
    return found


def reproduce(run: Run) -> Report:
    """Find the templates of sites that were made up, by each unit."""
    methods = [Template(unit=unit) for unit in UNITS]  # type: ignore[arg-type] # they are units
    methods.append(Template(cluster=True))
    methods.append(Template(drop_duplicates=False))
    heads = [*UNITS, "container, clusters", "container, duplicates kept"]
    tasks = [(shape, seed) for shape in SHAPES for seed in SEEDS]
    found = run.map("sites", _Discoverer(tuple(methods)), tasks)
    run.used[MADE_UP] = sum(shape.pages for shape, _ in tasks)
    report = Report("Template: template table discovery ratio (table 2)")
    report.text(
        f"Eight sites that are made up with known templates (`reproduction/template_sites.py`), each "
        f"{len(SEEDS)} times, in six languages. A template is made of pieces: header, search, menu, notice, sidebar, "
        "footer. The ratio is that of pieces that were dropped whole among all pieces of all pages, with the "
        "paper's threshold of 4 pages. The paper's ratio also counts what is taken for a template by mistake, so that "
        "it can be above 1; here that is told apart as precision: of all characters dropped, those that are no page's "
        f"own text.\n\nThe paper: {_PAPER}."
    )
    rows = [["site", "layout", "pages", "templates", *heads]]
    precision = [["site", *heads]]
    for number, shape in enumerate(SHAPES):
        mine = [_sum(found[number * len(SEEDS) + seed][way] for seed in SEEDS) for way in range(len(methods))]
        rows.append([*_describe(shape), *(f"{one.ratio:.2f}" for one in mine)])
        precision.append([shape.name, *(f"{one.precision:.3f}" for one in mine)])
    whole = [_sum(of_site[way] for of_site in found) for way in range(len(methods))]
    rows.append(["**all**", "", "", "", *(f"**{one.ratio:.3f}**" for one in whole)])
    precision.append(["**all**", *(f"**{one.precision:.3f}**" for one in whole)])
    report.table(rows)
    report.text("Precision:")
    report.table(precision)
    report.text(
        "By tables, the paper's unit, nothing can be found where pages are not laid out by them: a page without "
        "tables is one chunk. What `container` misses are the pieces of a template that only three pages have, fewer "
        "than the threshold, and a header with a clock in it, which is another text on every page. By single blocks "
        "only the clock of that header is left, which a ratio of whole pieces does not show, but headings are dropped "
        "that several texts share. One page of each site is there five times, under other URLs: where duplicates are "
        "kept, its text is on more pages than the threshold, and is lost. In a first version of these sites each copy "
        "had another list of stories; I-Match missed them, and precision was .796."
    )
    return report


@dataclass(frozen=True)
class _Discoverer:
    """Fits each method to a site, and looks what it finds; travels between processes."""

    methods: tuple[Template, ...]

    def __call__(self, task: tuple[SiteShape, int]) -> list[Discovery]:
        made = make_site(*task)
        found = []
        for method in self.methods:
            fitted = Template(**method.parameters).fit(one.page for one in made)
            found.append(discover(fitted, made))
        return found


def _sum(found: object) -> Discovery:
    return sum(found, Discovery())  # type: ignore[call-overload,no-any-return] # of discoveries


def _describe(shape: SiteShape) -> list[str]:
    rare = f", one on {shape.rare} pages" if shape.rare else ""
    clock = ", clock" if shape.clock else ""
    return [shape.name, shape.layout, str(shape.pages), f"{shape.templates}{rare}{clock}"]
