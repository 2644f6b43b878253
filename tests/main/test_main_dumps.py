"""`main` on plain-text dumps, of which its net knows nothing unless it has learned from some."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import mainmatter
from main_pages import gold_pages, prose, trained
from mainmatter.lab.training.examples import make_example
from mainmatter.main.choice import PAGE_TYPES
from mainmatter.main.method import Main
from mainmatter.records import Page

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("separator", ["\n\n", "\n"])
def test_of_a_plain_text_dump_ncleaners_models_judge(separator: str) -> None:
    lines = ["Home", "News", "Imprint | Privacy | Contact | Help", prose(3), prose(4), "(c) 2026"]
    page = Page(separator.join(lines), format="text", lines_are_blocks=separator == "\n")
    found = mainmatter.clean(page)
    assert found.kept.tolist() == [False, False, False, True, True, False]
    assert found.reasons[2].endswith(": short fields between vertical bars: a navigation bar or a footer")
    assert found.reasons[3].endswith(": its letters are likelier in main matter than in boilerplate")
    assert mainmatter.clean(page, dial=1.0).kept.all()
    assert mainmatter.clean(page, dial=0.0).kept.sum() == 1


def test_a_net_that_has_learned_from_dumps_judges_them_itself(tmp_path: Path) -> None:
    pages = gold_pages(2)
    dumps = [replace(page, page=Page(page.gold.text or "", format="text")) for page in pages]
    method = Main(epochs=1).fit([make_example(page) for page in (*pages, *dumps)])
    method.save(tmp_path / "model")
    for one in (method, Main.load(tmp_path / "model")):
        assert one.knows_dumps_
        assert mainmatter.clean(dumps[0].page, method=one).page_type in PAGE_TYPES
    assert not trained().knows_dumps_
