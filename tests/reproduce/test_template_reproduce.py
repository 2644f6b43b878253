"""The Template reproductions: the sites that are made up, and what the tables of them must show."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.api import read
from mainmatter.lab.datasets import GoldPage
from mainmatter.papers.template.method import Template
from mainmatter.records import Gold, Page
from reproduce.__main__ import _closing
from reproduce.papers import PAPERS, load_reproduction
from reproduce.run import Run, read_comparison
from reproduce.template import (
    LAYOUTS,
    SETS,
    Discovery,
    as_the_paper,
    count_right,
    discover,
    dropped_blocks,
    measure,
    read_site,
    sample_size,
    sites_of,
)
from reproduce.template_sites import LARGE, SHAPES, SiteShape, make_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reproduce.template_sites import MadePage

shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)


@contextmanager
def silent(label: str, length: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


@pytest.fixture(name="run")
def make_run(tmp_path: Path) -> Run:
    return Run(tmp_path, 1, silent, print)


def without_copies(shape: SiteShape) -> list[MadePage]:
    return [one for one in make_site(shape) if not one.is_copy]


def gold_pages(shape: SiteShape) -> list[GoldPage]:
    """A site that is made up, as if it were one of a gold standard: nothing is known but the texts of its pages."""
    return [
        GoldPage(one.page, Gold(text="\n".join(text for part, its in one.pieces if part == "text" for text in its)), {})
        for one in without_copies(shape)
    ]


@pytest.fixture(name="gold_run")
def make_gold_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose gold standards are sites that are made up."""
    sets = {SETS[0]: gold_pages(SHAPES[0]), SETS[1]: [*gold_pages(SHAPES[0]), *gold_pages(SHAPES[1])]}
    monkeypatch.setattr(run, "load", sets.__getitem__)
    return run


@shapes
def test_sites_are_what_they_are_said_to_be(shape: SiteShape) -> None:
    made = make_site(shape)
    assert made == make_site(shape)
    assert made != make_site(shape, seed=1)
    assert sum(not one.is_copy for one in made) == shape.pages
    assert {one.template for one in made} == set(range(shape.templates))
    assert len({one.page.url for one in made}) == len(made)
    if shape.rare:
        assert sum(one.template == shape.templates - 1 for one in made) == shape.rare
    for one in made:
        assert read(one.page).texts == [text for _, texts in one.pieces for text in texts]


def test_texts_have_words_of_their_own() -> None:
    pages = [
        {
            word.lower().strip(".")
            for part, texts in one.pieces
            if part == "text"
            for text in texts
            for word in text.split()
        }
        for one in without_copies(SHAPES[0])
    ]
    elsewhere = set().union(*pages[1:])
    assert len(pages[0] & elsewhere) >= 25  # the thirty that all texts share
    assert len(pages[0] - elsewhere) >= 10  # made of two of these: one word in five


@shapes
def test_templates_are_found_and_texts_spared(shape: SiteShape) -> None:
    made = make_site(shape)
    found = discover(Template().fit(one.page for one in made), made)
    assert found.precision == 1
    assert found.ttdr >= (0.8 if shape.clock or shape.rare else 1)


def test_of_all_sites_together_at_least_95_percent() -> None:
    found = Discovery()
    for shape in SHAPES:
        made = make_site(shape)
        found += discover(Template().fit(one.page for one in made), made)
    assert found.ttdr >= 0.95


def test_discovery_counts_what_is_missed_and_what_is_lost() -> None:
    made = make_site(SHAPES[0])
    nothing = discover(Template(), made)
    assert (nothing.found, nothing.ttdr, nothing.precision) == (0, 0, 1)
    everything = Template(threshold=2, drop_duplicates=False).fit(one.page for one in made)
    assert discover(everything, made).precision < 1


@shapes
def test_what_pages_repeat_and_no_gold_text_has_is_the_template(shape: SiteShape) -> None:
    made, site = without_copies(shape), read_site(gold_pages(shape))
    counts = np.zeros(2, int)  # of blocks that are and that are not taken for the template, of the template itself
    for one, found in zip(made, site.is_template, strict=True):
        parts = np.array([part for part, texts in one.pieces for _ in texts])
        assert not found[parts == "text"].any()
        counts += [int(found[parts == "template"].sum()), int((~found)[parts == "template"].sum())]
    if shape.templates == 1:
        assert counts[1] == 0
    assert counts[0] > 0


def test_measures_of_a_real_site() -> None:
    shape = next(shape for shape in SHAPES if shape.pages == 30)  # too many for one story on half of them
    site = read_site(gold_pages(shape))
    nothing = measure(dropped_blocks(Template(), site), site)
    assert (nothing.ratio, nothing.outside, nothing.precision) == (0, 0, 1)
    found = measure(dropped_blocks(Template().fit(site.documents), site), site)
    assert (found.ratio, found.precision) == (1, 1)
    assert 0.5 < found.outside < 1  # what changes is no template
    everything = measure([np.ones(len(one), np.bool_) for one in site.documents], site)
    assert (everything.ratio, everything.outside) == (1, 1)
    assert everything.precision < 1


def test_a_site_that_repeats_nothing_has_no_ratio() -> None:
    pages = [GoldPage(Page(f"<p>Page {n}</p>", f"https://a.example/{n}"), Gold(text=""), {}) for n in range(8)]
    site = read_site(pages)
    assert site.template_blocks == 0
    assert measure(dropped_blocks(Template().fit(site.documents), site), site).ratio is None


def test_only_sites_with_many_pages_count_the_largest_first() -> None:
    small = [GoldPage(Page("<p>x", f"https://small.example/{n}"), Gold(text="x"), {}) for n in range(7)]
    first, second = gold_pages(SHAPES[0]), gold_pages(SHAPES[1])
    assert [len(its) for its in sites_of([*small, *first, *second])] == [len(second), len(first)]


@pytest.fixture(name="quick_run")
def make_quick_run(gold_run: Run) -> Run:
    gold_run.quick = True
    return gold_run


def test_the_table_of_discovery(quick_run: Run) -> None:
    report = load_reproduction("template-discovery")(quick_run)
    text = "\n".join(report.parts)
    assert "**daniel-a**: 21 pages of the 2 sites with 8 pages or more" in text
    assert "**precision, mean**" in text
    assert all(shape.name in text for shape in SHAPES[:2])
    assert "ours, duplicates kept" in text
    assert "gives 201 pages for its 90 % and 5.8%" in text
    what, paper, as_paper, ours = read_comparison(text)[1]
    assert "made up, laid out by containers" in what
    assert (paper, as_paper, ours) == ("", "0.000", "1.000")


def test_the_size_of_a_sample() -> None:
    # Z is 1.645 at 90 %, 1.96 at 95 %: (1.645 * .5 / .058) ** 2, and (1.96 * .1 / .05) ** 2.
    assert sample_size(0.058) == pytest.approx(201.1, abs=0.05)
    assert sample_size(0.05, deviation=0.1, confidence=0.95) == pytest.approx(15.37, abs=0.01)


def test_the_ratio_counts_texts_that_are_taken_for_a_template() -> None:
    assert Discovery(pieces=6, found=6).ttdr == 1
    assert Discovery(pieces=6, found=6, mistaken=1).ttdr == pytest.approx(7 / 6)
    made = make_site(SHAPES[0])
    kept = discover(Template(drop_duplicates=False).fit(one.page for one in made), made)
    assert (kept.found, kept.mistaken) == (kept.pieces, 5)  # the page that is there five times
    assert kept.ttdr > 1


def test_as_the_paper_finds_what_tables_hold_and_nothing_without_them() -> None:
    table, div = (make_site(replace(SHAPES[0], layout=layout)) for layout in LAYOUTS)
    assert discover(as_the_paper().fit(one.page for one in table), table).ttdr == 1
    assert discover(as_the_paper().fit(one.page for one in div), div).ttdr == 0


def test_a_large_site_has_large_and_small_sections() -> None:
    made = make_site(replace(LARGE, pages=1000))
    sizes = sorted(Counter(one.template for one in made if not one.is_copy).values())
    assert sizes[-1] > 80  # of 1,000: log 2 / log 500
    assert sizes[0] == 1
    assert LARGE.pages == 5571


def test_the_curve_over_pages(quick_run: Run) -> None:
    pytest.importorskip("matplotlib")
    report = load_reproduction("template-pages")(quick_run)
    assert list(report.pictures) == ["template-pages.png", "template-pages-real.png"]
    of_daniel = next(part for part in report.parts if "sites that have so many" in part and " 2 " in part)
    found = [line for line in of_daniel.splitlines() if "of what all pages find" in line]
    assert len(found) == 2  # as the paper, ours
    few, many = (float(cell) for cell in found[1].strip("|").split("|")[2:])
    assert few < many <= 1
    text = "\n".join(report.parts)
    assert "The paper has 27 % for 9 of 41 pages" in text
    assert all("made up" in row[0] or "sites of" in row[0] for row in read_comparison(text))


def test_clusters(run: Run) -> None:
    report = load_reproduction("template-clusters")(run)
    text = "\n".join(report.parts)
    assert "made up" in report.title
    assert "All sites here are **made up**" in text
    tables, containers = read_comparison(text)
    assert tables[1:] == ["96.7 %", "100.0%", "100.0%"]
    assert containers[1] == ""
    assert containers[3] == "100.0%"
    assert all("made up" in row[0] for row in (tables, containers))


@pytest.mark.parametrize("name", list(PAPERS["template"].reproductions))
@pytest.mark.parametrize("pages", [1, 6])
def test_a_few_pages_of_as_many_sites_are_no_error(
    name: str, pages: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("matplotlib", "tantivy"):
        pytest.importorskip(package)
    few = [
        replace(page, page=replace(page.page, url=f"https://s{n}.example/"))
        for n, page in enumerate(gold_pages(SHAPES[0]))
    ]
    monkeypatch.setattr(run, "load", lambda _: few[:pages])
    run.quick = True
    report = load_reproduction(name)(run)
    assert read_comparison("\n".join(report.parts))


def test_a_page_tells_of_data_only_if_there_is_any(run: Run) -> None:
    assert "in 3 s, 1 process:\n" in _closing("template-clusters", run, 3)
    run.used["made up"] = 1180
    assert "in 3 s, 1 process, from made up (1,180 pages):\n" in _closing("template-clusters", run, 3)


def test_pages_in_a_second_cluster_of_their_template_are_wrong() -> None:
    assert count_right([0, 0, 1, 1], [5, 5, 6, 6]) == 4
    assert count_right([0, 1, 2, 3], [5, 5, 6, 6]) == 2
    assert count_right([0, 0, 0, 0], [5, 5, 5, 6]) == 3
