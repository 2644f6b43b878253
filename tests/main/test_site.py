"""`main` with site templates: what many pages of the site have is less likely; without them nothing changes."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mainmatter
from mainmatter.errors import ModelError
from mainmatter.main.site import SiteKnowledge, know_site
from mainmatter.papers.template.method import Template
from mainmatter.records import Page
from mainmatter.registry import get_method
from site_pages import NOTICE, notice_page, site, site_page, text_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(name="counts")
def make_counts(tmp_path: Path) -> str:
    Template().fit(notice_page(number) for number in range(12)).save(tmp_path / "sites")
    return str(tmp_path / "sites")


def test_the_more_pages_have_it_the_less_likely_it_is() -> None:
    chances = np.array([0.0, 0.5, 0.9, 1.0])
    unchanged = SiteKnowledge(np.zeros(4), np.ones(4, np.intp), 10).adjust(chances)
    assert unchanged.tolist() == chances.tolist()
    some, all_ = (SiteKnowledge(np.full(4, share), np.ones(4, np.intp), 10).adjust(chances) for share in (0.3, 0.9))
    assert (all_[1:3] < some[1:3]).all()
    assert (some[1:3] < chances[1:3]).all()
    assert some.tolist()[0::3] == all_.tolist()[0::3] == [0, 1]


def test_the_notice_of_a_site_is_dropped_and_the_text_stays(counts: str) -> None:
    page = notice_page(50)
    without, with_ = mainmatter.clean(page), mainmatter.clean(page, site_templates=counts)
    assert "goats travel free" in without.text
    assert "goats travel free" not in with_.text
    assert text_of(50) in with_.text
    notice = without.document.texts.index(next(text for text in without.document.texts if "goats" in text))
    assert with_.reasons[notice].startswith("its chunk is on 12 of 12 pages of the site; probability 0.")
    assert with_.reasons[notice - 1].startswith("probability")


def test_of_plain_text_dumps_too(tmp_path: Path) -> None:
    notice = "The office at the old pier is open every day but Sunday, and the goats of our guests travel free."

    def dump(number: int) -> Page:
        return Page(f"{text_of(number)}\n\n{notice}", f"https://harbour.example/{number}", format="text")

    Template().fit(map(dump, range(12))).save(tmp_path / "sites")
    without, with_ = mainmatter.clean(dump(50)), mainmatter.clean(dump(50), site_templates=str(tmp_path / "sites"))
    assert without.kept.tolist() == [True, True]
    assert with_.kept.tolist() == [True, False]
    assert with_.reasons[1].startswith("its chunk is on 12 of 12 pages of the site; probability 0.")


def test_a_site_that_was_not_counted_is_cleaned_as_ever(counts: str) -> None:
    for page in (site_page(1, "other.example", NOTICE), Page(""), Page("Some words.\n\nMore words.", format="text")):
        before, after = mainmatter.clean(page), mainmatter.clean(page, site_templates=counts)
        assert before.scores.tolist() == after.scores.tolist()
        assert before.kept.tolist() == after.kept.tolist()
        assert list(before.reasons) == list(after.reasons)


def test_without_site_templates_nothing_changes() -> None:
    page = notice_page(50)
    assert mainmatter.clean(page).json == mainmatter.clean(page, site_templates="").json


def test_one_page_of_a_site_tells_nothing(tmp_path: Path) -> None:
    Template().fit([site_page(1)]).save(tmp_path / "sites")
    assert know_site(str(tmp_path / "sites"), mainmatter.read(site_page(1))) is None


def test_a_headline_that_all_pages_have_is_none(tmp_path: Path) -> None:
    pages = [
        Page(
            f"<title>Harbour paper</title><header><h1>Harbour paper</h1></header><div><p>{text_of(n)}</p></div>",
            None,
            str(n),
        )
        for n in range(20)
    ]
    Template().fit(pages).save(tmp_path / "sites")
    before, after = (mainmatter.clean(pages[3], site_templates=path) for path in ("", str(tmp_path / "sites")))
    assert before.text == f"Harbour paper\n\n{text_of(3)}"
    assert after.text == text_of(3)


def test_several_processes_and_journeys(counts: str) -> None:
    pages = [notice_page(number) for number in range(50, 54)]
    alone = [mainmatter.clean(page, site_templates=counts) for page in pages]
    together = list(mainmatter.clean_many(pages, workers=2, site_templates=counts))
    assert [found.json for found in alone] == [found.json for found in together]  # type: ignore[union-attr]
    method = pickle.loads(pickle.dumps(get_method("main", site_templates=counts)))
    assert mainmatter.clean(pages[0], method=method).json == alone[0].json


def test_counts_that_were_changed_are_read_anew(counts: str) -> None:
    page = notice_page(50)
    assert "goats travel free" not in mainmatter.clean(page, site_templates=counts).text
    Template().fit(site(5, "other.example")).save(counts)
    assert "goats travel free" in mainmatter.clean(page, site_templates=counts).text


def test_no_counts(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a model"):
        get_method("main", site_templates=str(tmp_path))


def test_how_much_less_likely_a_chunk_is_that_all_pages_have() -> None:
    known = SiteKnowledge(np.array([1.0, 0.5]), np.full(2, 9), 9)
    expected = [1 / (1 + np.exp(4.6)), 1 / (1 + np.exp(2.3))]
    assert known.adjust(np.full(2, 0.5)).tolist() == pytest.approx(expected, rel=1e-6)


def test_a_block_is_repeated_if_it_is_on_more_than_half() -> None:
    known = SiteKnowledge(np.array([0.49, 0.5, 0.51]), np.ones(3, np.intp), 9)
    assert [known.is_repeated(block) for block in range(3)] == [False, False, True]


@pytest.mark.parametrize(("pages", "share"), [(2, 1 / 3), (3, 2 / 4), (11, 10 / 12)])
def test_few_pages_tell_less(tmp_path: Path, pages: int, share: float) -> None:
    Template().fit(site(pages)).save(tmp_path / "sites")
    known = know_site(str(tmp_path / "sites"), mainmatter.read(site_page(0)))
    assert known is not None
    assert known.pages == pages
    # Menu and footer are on all of them; two stand for the doubt about the pages that were not counted.
    assert known.repeated.tolist() == pytest.approx([share, share, share, 0, 0, share])


def test_two_pages_are_enough_for_a_reason(tmp_path: Path) -> None:
    Template().fit(site(2)).save(tmp_path / "sites")
    found = mainmatter.clean(site_page(0), site_templates=str(tmp_path / "sites"))
    told = [reason.partition(";")[0] for reason in found.reasons]
    assert [reason == "its chunk is on 2 of 2 pages of the site" for reason in told] == [True] * 3 + [False] * 2 + [
        True
    ]
