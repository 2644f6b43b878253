"""The Template reproductions: the sites that are made up, and what the tables of them must show."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import mainmatter.reproduction.template_discovery as discovery
import mainmatter.reproduction.template_pages as pages_module
from mainmatter.clean import read
from mainmatter.cli.reproduce import _closing
from mainmatter.methods.template import Template
from mainmatter.reproduction.run import Run
from mainmatter.reproduction.table import find_reproduction
from mainmatter.reproduction.template_clusters import count_right
from mainmatter.reproduction.template_discovery import Discovery, discover
from mainmatter.reproduction.template_sites import SHAPES, SiteShape, make_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)


@contextmanager
def silent(label: str, length: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


@pytest.fixture(name="run")
def make_run(tmp_path: Path) -> Run:
    return Run(tmp_path, 1, silent, print)


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


@shapes
def test_templates_are_found_and_texts_spared(shape: SiteShape) -> None:
    made = make_site(shape)
    found = discover(Template().fit(one.page for one in made), made)
    assert found.precision == 1
    assert found.ratio >= (0.8 if shape.clock or shape.rare else 1)


def test_of_all_sites_together_at_least_95_percent() -> None:
    found = Discovery()
    for shape in SHAPES:
        made = make_site(shape)
        found += discover(Template().fit(one.page for one in made), made)
    assert found.ratio >= 0.95


def test_discovery_counts_what_is_missed_and_what_is_lost() -> None:
    made = make_site(SHAPES[0])
    nothing = discover(Template(), made)
    assert (nothing.found, nothing.ratio, nothing.precision) == (0, 0, 1)
    everything = Template(threshold=2, drop_duplicates=False).fit(one.page for one in made)
    assert discover(everything, made).precision < 1


def test_the_table_of_discovery(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "SEEDS", range(1))
    report = find_reproduction("template-discovery").load()(run)
    text = "\n".join(report.parts)
    assert all(shape.name in text for shape in SHAPES)
    assert "duplicates kept" in text


def test_the_curve_over_pages(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(pages_module, "_DRAWS", 1)
    monkeypatch.setattr(pages_module, "_SIZES", (4, 8))
    monkeypatch.setattr(pages_module, "_ROUNDS", 1)
    report = find_reproduction("template-pages").load()(run)
    assert list(report.pictures) == ["template-pages.png"]
    assert "of it; the paper has 27 %" in "\n".join(report.parts)


def test_clusters(run: Run) -> None:
    text = "\n".join(find_reproduction("template-clusters").load()(run).parts)
    assert "96.7 %" in text
    assert "**100.0%**" in text


def test_a_page_tells_of_data_only_if_there_is_any(run: Run) -> None:
    assert "in 3 s, 1 process:\n" in _closing("template-clusters", run, 3)
    run.used["made up"] = 1180
    assert "in 3 s, 1 process, from made up (1,180 pages):\n" in _closing("template-clusters", run, 3)


def test_pages_in_a_second_cluster_of_their_template_are_wrong() -> None:
    assert count_right([0, 0, 1, 1], [5, 5, 6, 6]) == 4
    assert count_right([0, 1, 2, 3], [5, 5, 6, 6]) == 2
    assert count_right([0, 0, 0, 0], [5, 5, 5, 6]) == 3
