"""What reproduce/papers.toml says is so: docs/results/papers.md is made from it."""

from __future__ import annotations

import shlex
from importlib import import_module
from pathlib import Path

import click
import pytest

from mainmatter.api import read
from mainmatter.cli import group
from mainmatter.records import Page
from mainmatter.registry import METHODS, get_method
from reproduce.papers import PAPERS, REPRODUCTIONS, PaperSection

SECTIONS = [(name, section) for name, paper in PAPERS.items() for section in paper.sections]
DOCS = Path(__file__).parents[2] / "docs"


def test_every_method_but_main_is_of_one_paper() -> None:
    assert sorted(name for paper in PAPERS.values() for name in paper.methods) == sorted({*METHODS} - {"main"})


@pytest.mark.parametrize("name", sorted({*METHODS} - {"main"}))
def test_a_method_runs_as_in_its_paper_and_its_page_says_how_that_differs(name: str) -> None:
    method = get_method(f"{name}:preset=paper")
    document = read(Page("<ul><li><a href=/>Home</a></ul><h1>Bridge</h1><p>" + "The river rose in the night. " * 9))
    assert method.extract(document).kept.shape == (len(document.blocks),)
    page = (DOCS / "explanation" / "methods" / f"{name}.md").read_text(encoding="utf-8")
    assert f"{name}:preset=paper" in page
    assert "\n## As in the paper\n" in page


@pytest.mark.parametrize("room", list(PAPERS))
def test_a_paper_is_described_and_its_reproductions_are_part_of_it(room: str) -> None:
    paper = PAPERS[room]
    assert paper.sections
    assert {section.reproduction for section in paper.sections if section.reproduction} == {*paper.reproductions}


@pytest.mark.parametrize(("room", "section"), SECTIONS, ids=[f"{room} {section.number}" for room, section in SECTIONS])
def test_a_section_is_where_it_is_said_to_be(room: str, section: PaperSection) -> None:
    assert section.here or section.note
    for place in section.here:
        module, _, name = place.partition(":")
        here = import_module(module if module.startswith("reproduce.") else f"mainmatter.{module}")
        assert not name or hasattr(here, name), place
    if section.command:
        program, command, *arguments = shlex.split(section.command)
        assert program == "mainmatter"
        context = click.Context(group, **group.context_settings)  # a command remembers the names of its --help
        chosen = group.get_command(context, command)
        assert chosen is not None
        chosen.make_context(command, arguments, context)


@pytest.mark.parametrize("name", sorted(REPRODUCTIONS))
def test_a_reproduction_has_its_page(name: str) -> None:
    assert (DOCS / "results" / f"{name}.md").is_file()
