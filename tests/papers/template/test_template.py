"""`template`: what many pages of a site have is dropped (Template, section 3)."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest

import mainmatter
from mainmatter.api import read
from mainmatter.errors import InputError, ModelError
from mainmatter.lab.training.examples import make_example
from mainmatter.models.store import Model, save
from mainmatter.papers.template.method import Template
from mainmatter.records import Gold, Page
from mainmatter.registry import get_method, make_untrained
from site_pages import MENU, site, site_page, text_of

if TYPE_CHECKING:
    from pathlib import Path


def test_what_many_pages_have_is_dropped() -> None:
    method = Template().fit(site(10))
    for number in (3, 300):
        found = mainmatter.clean(site_page(number), method=method)
        assert found.text == f"Boat {number}\n\n{text_of(number)}"
        assert found.scores.tolist() == [0, 0, 0, 0.9, 0.9, 0]
        assert found.threshold == 0.6  # what 4 of 10 pages have


def test_reasons_count_pages() -> None:
    found = mainmatter.clean(site_page(3), method=Template().fit(site(10)))
    assert list(found.reasons) == [
        *["its chunk is on 10 of 10 pages of the site"] * 3,
        *["its chunk is on no other of 10 pages of the site"] * 2,
        "its chunk is on 10 of 10 pages of the site",
    ]


def test_without_any_site_everything_is_kept() -> None:
    found = mainmatter.clean(site_page(1), method="template")
    assert found.kept.all()
    assert set(found.reasons) == {"no site was counted"}
    other = mainmatter.clean(site_page(1, "other.example"), method=Template().fit(site(10)))
    assert other.kept.all()
    assert set(other.reasons) == {"no page of this site was counted"}


def test_the_threshold_is_a_number_of_pages_and_a_share_of_them() -> None:
    pages = site(40)
    notice = "<div>The ferry does not run today.</div>"
    pages[:5] = [site_page(number, extra=notice) for number in range(5)]

    def keeps_notice(**parameters: Any) -> bool:
        found = mainmatter.clean(pages[0], method=Template(**parameters).fit(pages))
        assert "Home" not in found.text
        return "ferry" in found.text

    assert not keeps_notice()  # on 5 of 40
    assert keeps_notice(threshold=6)
    assert keeps_notice(share=0.2)
    assert not keeps_notice(share=0.125)
    few = mainmatter.clean(site_page(0), method=Template().fit(site(3)))
    assert few.kept.all()
    assert not mainmatter.clean(site_page(0), method=Template(threshold=3).fit(site(3))).kept.all()


def test_pages_documents_and_examples_are_the_same() -> None:
    pages = site(6)
    facts = [
        Template().fit(examples).facts_and_arrays()[1]["counts"].tolist()
        for examples in (pages, [read(page) for page in pages], iter(pages))
    ]
    gold_pages = [mainmatter_gold(page) for page in pages]
    facts.append(Template().fit(gold_pages).facts_and_arrays()[1]["counts"].tolist())
    assert facts == [[6, 6]] * 4


def mainmatter_gold(page: Page) -> Any:
    from mainmatter.lab.datasets import GoldPage  # here only

    return make_example(GoldPage(page, Gold("any text"), {}))


def test_observations_of_parts_can_be_put_together() -> None:
    pages = site(9)
    method = Template()
    parts = [method.observe(page) for page in pages]
    assert method.learn(parts).facts_and_arrays()[1]["counts"].tolist() == [9, 9]


def test_dumps_have_sites_too() -> None:
    pages = [
        Page(
            f"Home\n\nNews and weather\n\n{text_of(number)}\n\n(c) harbour",
            f"https://h.example/{number}",
            format="text",
        )
        for number in range(6)
    ]
    assert mainmatter.clean(pages[2], method=Template().fit(pages)).text == text_of(2)


def test_by_table_as_in_the_paper() -> None:
    pages = [
        Page(
            f"<table><tr><td>Home<tr><td>News</table><p>{text_of(number)}</p><table><tr><td>©</table>",
            None,
            str(number),
        )
        for number in range(6)
    ]
    assert mainmatter.clean(pages[2], method=Template(unit="table").fit(pages)).text == text_of(2)
    divs = [Page(page.html, page.url, page.id) for page in site(6)]
    assert mainmatter.clean(divs[2], method=Template(unit="table").fit(divs)).kept.all()


def test_a_sample_is_enough() -> None:
    method = Template(sample=5).fit(site(50))
    assert mainmatter.clean(site_page(3), method=method).text == f"Boat 3\n\n{text_of(3)}"
    assert method.sites_.pages.tolist() == [5]


def test_it_is_saved_and_loaded_and_can_be_named(tmp_path: Path) -> None:
    method = Template(threshold=5).fit(site(10))
    method.save(tmp_path / "sites")
    for again in (
        Template.load(tmp_path / "sites"),
        get_method(str(tmp_path / "sites")),
        pickle.loads(pickle.dumps(method)),
    ):
        assert isinstance(again, Template)
        assert again.parameters == method.parameters
        assert mainmatter.clean(site_page(3), method=again).text == mainmatter.clean(site_page(3), method=method).text
    assert mainmatter.clean(site_page(3), method=f"{tmp_path / 'sites'}:threshold=11").kept.all()
    with pytest.raises(ModelError, match="trained with unit=container, not table"):
        get_method(f"{tmp_path / 'sites'}:unit=table")


def test_models_that_lack_something(tmp_path: Path) -> None:
    facts, arrays = Template().fit(site(10)).facts_and_arrays()
    parameters = Template().parameters
    save(Model("template", 1, parameters, {}, arrays), tmp_path / "model")
    with pytest.raises(ModelError, match="damaged"):
        get_method(str(tmp_path / "model"))
    for name in arrays:
        lacking = {other: array for other, array in arrays.items() if other != name}
        save(Model("template", 1, parameters, facts, lacking), tmp_path / "model")
        with pytest.raises(ModelError, match="damaged"):
            get_method(str(tmp_path / "model"))
    save(Model("template", 1, parameters, {"unit": "block"}, arrays), tmp_path / "model")
    with pytest.raises(ModelError, match="counted by block, not by container"):
        get_method(str(tmp_path / "model"))


def test_nothing_to_save_and_nothing_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has not counted any site"):
        Template().save(tmp_path / "model")
    with pytest.raises(InputError, match="template: no pages to learn from"):
        Template().fit([])


@pytest.mark.parametrize(
    "listed", ["unit=page", "threshold=1", "threshold=2.5", "share=1.5", "share=-1", "sample=1", "cluster=3"]
)
def test_wrong_parameters(listed: str) -> None:
    with pytest.raises(InputError, match=f"method 'template': {listed.partition('=')[0]} must be"):
        make_untrained(f"template:{listed}")


def test_a_page_that_is_nothing_but_template_keeps_nothing() -> None:
    found = mainmatter.clean(Page(MENU, "https://harbour.example/empty"), method=Template().fit(site(10)))
    assert found.text == ""


def test_copies_of_a_page_do_not_make_its_text_a_template() -> None:
    copies = [Page(site_page(1).html, f"https://harbour.example/copy/{n}", f"copy {n}") for n in range(6)]
    pages = [*site(10), *copies]
    assert text_of(1) in mainmatter.clean(site_page(1), method=Template().fit(pages)).text
    assert text_of(1) not in mainmatter.clean(site_page(1), method=Template(drop_duplicates=False).fit(pages)).text


def test_two_pages_are_enough_for_a_reason() -> None:
    found = mainmatter.clean(site_page(0), method=Template().fit(site(2)))
    assert found.reasons[0] == "its chunk is on 2 of 2 pages of the site"
    assert found.reasons[3] == "its chunk is on no other of 2 pages of the site"
    alone = mainmatter.clean(site_page(0), method=Template().fit(site(1)))
    assert set(alone.reasons) == {"no other page of the site was counted"}
