"""Template, table 2: which part of the templates is discovered, and what is taken for one by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

from mainmatter.clean import read
from mainmatter.lab.reproduction import ResultsPage
from mainmatter.papers.template.chunks import UNITS
from mainmatter.papers.template.method import Template
from mainmatter.papers.template.reproduce_gold import describe, dropped_blocks, load_sites, measure, read_site
from mainmatter.papers.template.reproduce_sites import MADE_UP, SHAPES, make_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction import Run
    from mainmatter.papers.template.reproduce_gold import Found
    from mainmatter.papers.template.reproduce_sites import MadePage, SiteShape

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


def reproduce(run: Run) -> ResultsPage:
    """Find the templates of sites that were made up, and of those of two gold standards, by each unit."""
    report = ResultsPage("Template: template table discovery ratio (table 2)")
    methods = [Template(unit=unit) for unit in UNITS]  # type: ignore[arg-type] # they are units
    methods.append(Template(cluster=True))
    methods.append(Template(drop_duplicates=False))
    heads = [*UNITS, "container, clusters", "container, duplicates kept"]
    _made_up(run, report, methods, heads)
    _real(run, report, methods, heads)
    return report


def _made_up(run: Run, report: ResultsPage, methods: Sequence[Template], heads: Sequence[str]) -> None:
    tasks = [(shape, seed) for shape in SHAPES for seed in SEEDS]
    found = run.map("sites", _Discoverer(tuple(methods)), tasks)
    run.used[MADE_UP] = sum(shape.pages for shape, _ in tasks)
    report.text(
        "## Sites that are made up\n\nEight sites with known templates (`papers/template/reproduce_sites.py`), each "
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


def _real(run: Run, report: ResultsPage, methods: Sequence[Template], heads: Sequence[str]) -> None:
    report.text(
        "## Real sites\n\nThe paper's authors looked at pages and counted their template tables. Nobody has done that "
        "for these sites. In place of that judgement stands a gold standard: a block is part of the template if at "
        "least half of the site's pages have its text, without regard to case, and on none of them it is part of the "
        "gold text (most of its words aligned with it, as for training). The ratio is that of such blocks that were "
        "dropped, on all pages of a site that have them; the method is fitted on the same pages, without the gold "
        "texts. Precision: of all characters dropped, those in blocks that are not part of the gold text. Outside: of "
        "all characters that are not part of the gold texts, those dropped; much of them no template has, such as "
        "lists of other stories. Nothing was chosen by these figures.\n\n"
        "By single blocks the ratio is 1 by its making, but for duplicates: half of eight pages are four. It is there "
        "for its precision. What `container` misses are chunks in which something changes: a clock, a counter, the "
        "place in a menu. A site without such blocks has no ratio. Two sites of daniel-a lose text: newsru.com a "
        "notice about copyright that is part of five gold texts, and zdrowiutko.info an article that is there four "
        "times with other lists beside it, so that I-Match misses the copies."
    )
    for name, sites in load_sites(run).items():
        found = run.map(name, _GoldDiscoverer(tuple(methods)), sites)
        report.text(f"{describe(name, sites)}. The ratio:")
        by_method = list(zip(*(one.found for one in found), strict=True))
        rows = [["site", "pages", "template blocks a page", *heads], *map(_site_row, found)]
        means = (_mean(of_site.ratio for of_site in ways if of_site.ratio is not None) for ways in by_method)
        report.table([*rows, ["**mean**", "", "", *(f"**{one}**" for one in means)]])
        report.text("Precision of each site, and means over the sites:")
        rows = [["site", *heads], *([one.site, *(f"{way.precision:.3f}" for way in one.found)] for one in found)]
        rows.append(["**precision, mean**", *(f"**{_mean(one.precision for one in ways)}**" for ways in by_method)])
        rows.append(["**outside, mean**", *(f"**{_mean(one.outside for one in ways)}**" for ways in by_method)])
        report.table(rows)


def _site_row(one: _OfSite) -> list[str]:
    ratios = ["" if way.ratio is None else f"{way.ratio:.2f}" for way in one.found]
    return [one.site, str(one.pages), f"{one.blocks / one.pages:.0f}", *ratios]


def _mean(values: Iterable[float]) -> str:
    figures = list(values)
    return f"{mean(figures):.3f}" if figures else ""


@dataclass(frozen=True)
class _OfSite:
    """What each method found on a real site: how many blocks there are to find, and which share of them."""

    site: str
    pages: int
    blocks: int
    found: list[Found]


@dataclass(frozen=True)
class _GoldDiscoverer:
    """Fits each method to a real site, and looks what it finds; travels between processes."""

    methods: tuple[Template, ...]

    def __call__(self, pages: Sequence[GoldPage]) -> _OfSite:
        site = read_site(pages)
        found = []
        for method in self.methods:
            fitted = Template(**method.parameters).fit(site.documents)
            found.append(measure(dropped_blocks(fitted, site), site))
        return _OfSite(site.name, len(site), site.template_blocks, found)


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
