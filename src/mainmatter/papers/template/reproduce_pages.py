"""Template, figure 3: how many pages are enough, and what time that saves (section 4.4)."""

from __future__ import annotations

import time
from random import Random
from statistics import mean
from typing import TYPE_CHECKING

from mainmatter.clean import read
from mainmatter.lab.reproduction import ResultsPage, new_axes
from mainmatter.papers.template.method import Template
from mainmatter.papers.template.reproduce_discovery import discover
from mainmatter.papers.template.reproduce_gold import describe, dropped_blocks, load_sites, measure, read_site
from mainmatter.papers.template.reproduce_sites import MADE_UP, SHAPES, make_site
from mainmatter.papers.template.site_counts import SiteCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from mainmatter.lab.datasets import GoldPage
    from mainmatter.lab.reproduction import Run
    from mainmatter.papers.template.reproduce_sites import SiteShape
    from mainmatter.records import Page

_SIZES = (4, 5, 6, 7, 9, 11, 13, 16, 20, 25, 30, 40, 50)
_DRAWS = 10
_SAMPLE = 9  # the paper's, of eBay's 41 pages
_ROUNDS = 5
_COLOURS = ("#1b4965", "#c8553d", "#588157", "#8d5a97", "#e09f3e", "#5f6f7a", "#2a9d8f", "#7f5539")
_MEASURES = {
    "template blocks found": "-",
    "of what all pages find": "--",
    "precision": ":",
}


def reproduce(run: Run) -> ResultsPage:
    """Fit on more and more pages of each site, drawn at random, and measure on all of them."""
    report = ResultsPage("Template: how many pages are enough (figure 3)")
    _made_up(run, report)
    _times(report)
    _real(run, report)
    return report


def _made_up(run: Run, report: ResultsPage) -> None:
    tasks = [(shape, size) for shape in SHAPES for size in _sizes(shape)]
    ratios = run.map("sites", _ratio_of_sample, tasks)
    run.used[MADE_UP] = sum(shape.pages for shape in SHAPES)
    by_shape = {
        shape: [(size, ratio) for (other, size), ratio in zip(tasks, ratios, strict=True) if other is shape]
        for shape in SHAPES
    }
    report.text(
        "## Sites that are made up\n\n"
        f"`template` learns from so many of a site's pages, drawn at random ({_DRAWS} times; the figures are means), "
        "and is measured on all of them. Threshold: 4 pages. The paper: 9 of Amazon's 13 pages, "
        "with one template, give 0.86; 9 of eBay's 41 give 1. Where a site has several templates, each of them needs "
        "its four pages."
    )
    figure, axes = new_axes(6.5, 4.2)
    for colour, (shape, curve) in zip(_COLOURS, by_shape.items(), strict=True):
        templates = f"{shape.templates} template{'s' if shape.templates > 1 else ''}"
        label = f"{shape.name.removesuffix('.example')}: {templates}"
        sizes, found_ratios = zip(*curve, strict=True)
        axes.plot(sizes, found_ratios, color=colour, marker="o", markersize=3, linewidth=1.4, label=label)
    _finish(axes, "template discovery ratio")
    report.picture("template-pages", "Template discovery ratio by the number of pages; threshold 4", figure)
    rows = [["site", *map(str, _SIZES)]]
    for shape, curve in by_shape.items():
        found = dict(curve)
        rows.append([shape.name, *(f"{found[size]:.2f}" if size in found else "" for size in _SIZES)])
    report.table(rows)


def _real(run: Run, report: ResultsPage) -> None:
    """The same curve over the sites of two gold standards."""
    report.text(
        "## Real sites\n\nHere nobody knows the templates; what stands for them is told with "
        "[table 2](template-discovery.md): blocks that at least half of a site's pages have, and no gold text of the "
        f"site. `template` (by container, threshold 4) learns from so many pages of each site, or from all if there "
        f"are fewer, drawn at random {_DRAWS} times, and is measured on all pages of the site. The figures are means "
        "over the draws, and then over the sites.\n\n"
        "- template blocks found: the share of these blocks that is dropped, over the sites that have any.\n"
        "- of what all pages find: of the blocks that are dropped when all pages of the site are learned from, the "
        "share that is dropped; this needs no gold text.\n"
        "- precision: of the characters dropped, those that are in no gold text; 1 where nothing is dropped."
    )
    figure, axes = new_axes(6.5, 4.2)
    for colour, (name, sites) in zip(_COLOURS, load_sites(run).items(), strict=False):
        sizes = _sizes_of_set(sites)
        found = run.map(name, _sample_real_site, [(its, sizes) for its in sites])
        curves = _mean_curves(found)
        for (label, style), curve in zip(_MEASURES.items(), curves, strict=True):
            axes.plot(
                sizes, curve, style, color=colour, marker="o", markersize=3, linewidth=1.4, label=f"{name}: {label}"
            )
        report.text(f"{describe(name, sites)}:")
        rows = [["pages", *map(str, sizes)]]
        rows.append(["sites that have so many", *(str(sum(len(its) >= size for its in sites)) for size in sizes)])
        rows += [[label, *(f"{one:.3f}" for one in curve)] for label, curve in zip(_MEASURES, curves, strict=True)]
        report.table(rows)
    _finish(axes, "share")
    report.picture("template-pages-real", "Real sites, by the number of pages; threshold 4", figure)


def _finish(axes: Axes, what: str) -> None:
    axes.set_xlabel("pages that the template is learned from")
    axes.set_ylabel(what)
    axes.set_ylim(0, 1.05)
    axes.legend(frameon=False, fontsize=7)


def _sizes_of_set(sites: Sequence[Sequence[GoldPage]]) -> list[int]:
    """The sizes up to that of the largest site."""
    return [size for size in _SIZES if size <= max(map(len, sites), default=0)]


def _mean_curves(found: Sequence[Sequence[Sequence[float | None]]]) -> list[list[float]]:
    """For each measure its curve: at each size the mean over the sites where it is defined."""
    sizes = len(found[0]) if found else 0
    return [
        [mean([value for site in found if (value := site[size][what]) is not None] or [0.0]) for size in range(sizes)]
        for what in range(len(_MEASURES))
    ]


def _sample_real_site(task: tuple[Sequence[GoldPage], Sequence[int]]) -> list[list[float | None]]:
    """The three measures of a real site, by the number of pages that are learned from."""
    pages, sizes = task
    site = read_site(pages)
    of_all = dropped_blocks(Template().fit(site.documents), site)
    whole = sum(int(mask.sum()) for mask in of_all)
    figures: list[list[float | None]] = []
    for size in sizes:
        of_draws = []
        for draw in range(_DRAWS if size < len(site) else 1):
            chosen = Random(draw).sample(site.documents, min(size, len(site)))  # noqa: S311 - no secret
            dropped = dropped_blocks(Template().fit(chosen), site)
            again = sum(int((mask & before).sum()) for mask, before in zip(dropped, of_all, strict=True))
            found = measure(dropped, site)
            of_draws.append((found.ratio, again / whole if whole else None, found.precision))
        figures.append([_mean_or_none(column) for column in zip(*of_draws, strict=True)])
    return figures


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _times(report: ResultsPage) -> None:
    """What sampling saves: the paper's 27 % of the time with 9 of 41 pages."""
    shape = next(shape for shape in SHAPES if shape.pages == 41)
    pages = [one.page for one in make_site(shape)]
    of_all, of_sample = (_seconds(pages, sample) for sample in (len(pages), _SAMPLE))
    documents = [read(page) for page in pages]
    begin = time.process_time()
    for _ in range(_ROUNDS):
        counts = SiteCounts()
        for document in documents:
            counts.add(document)
    counting = (time.process_time() - begin) / _ROUNDS / len(pages)
    report.text(
        f"Time to learn {shape.name}, {len(pages)} pages with its copies: {1000 * of_all:.1f} ms from all of them, "
        f"{1000 * of_sample:.1f} ms with `sample={_SAMPLE}`, {of_sample / of_all:.0%} of it; the paper has 27 % for "
        f"9 of 41 "
        "pages. A page that is not in the sample is not even parsed. Of a page's time, counting its chunks takes "
        f"{1000 * counting:.2f} ms; the rest is parsing, which cleaning needs too."
    )


def _seconds(pages: Sequence[Page], sample: int) -> float:
    times = []
    for _ in range(_ROUNDS):
        begin = time.process_time()
        Template(sample=sample).fit(pages)
        times.append(time.process_time() - begin)
    return min(times)


def _sizes(shape: SiteShape) -> list[int]:
    return [size for size in _SIZES if size <= shape.pages]


def _ratio_of_sample(task: tuple[SiteShape, int]) -> float:
    shape, size = task
    made = make_site(shape)
    without_copies = [one for one in made if not one.is_copy]
    ratios = []
    for draw in range(_DRAWS):
        chosen = Random(draw).sample(without_copies, size)  # noqa: S311 - no secret
        ratios.append(discover(Template().fit(one.page for one in chosen), made).ratio)
    return mean(ratios)
