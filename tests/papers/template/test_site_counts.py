"""Counting what sites repeat: exact in its sample, whatever the order, in bounded memory; and the tables it ends in."""

from __future__ import annotations

import hashlib
import math
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter.api import read
from mainmatter.errors import InputError, ModelError
from mainmatter.models.store import Model, save
from mainmatter.papers.template.chunks import find_chunks
from mainmatter.papers.template.site_counts import SAMPLE, SiteCounts, SiteSummary, SiteTemplates, cluster_sets
from mainmatter.records import Page
from site_pages import MENU, site, site_page, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def count(pages: Iterable[Page], **parameters: int) -> SiteCounts:
    counts = SiteCounts(**parameters)  # type: ignore[arg-type]
    for page in pages:
        counts.add(read(page))
    return counts


def counts_on(templates: SiteTemplates, page: Page) -> list[int]:
    return [int(count) for count in templates.look_up(read(page)).counts]


def test_chunks_are_counted_by_page_and_site() -> None:
    templates = count([*site(10), *site(3, "other.example")]).templates()
    assert counts_on(templates, site_page(4)) == [10, 1, 10]
    assert counts_on(templates, site_page(400)) == [10, 1, 10]  # a page that was not counted
    assert counts_on(templates, site_page(1, "other.example")) == [3, 1, 3]
    assert templates.look_up(read(site_page(1, "www.other.example"))).pages == 3
    unknown = templates.look_up(read(site_page(1, "third.example")))
    assert (unknown.pages, unknown.counts.tolist()) == (0, [1, 1, 1])


def test_a_chunk_that_a_page_has_twice_counts_once() -> None:
    pages = [site_page(number, extra=MENU) for number in range(5)]
    assert counts_on(count(pages).templates(), pages[0]) == [5, 1, 5, 5]


def test_pages_without_a_url_are_one_site_and_need_no_name() -> None:
    pages = [Page(page.html) for page in site(6)]
    assert counts_on(count([*pages, *pages]).templates(), pages[0]) == [6, 1, 6]


def test_pages_are_told_apart_where_only_the_host_is_known() -> None:
    pages = [Page(page.html, "https://harbour.example/", page.id) for page in site(6)]
    assert len(count(pages)) == 6


def test_duplicates_count_once() -> None:
    copies = [Page(site_page(1).html, f"https://harbour.example/copy/{n}", f"copy {n}") for n in range(6)]
    counts = count([*site(10), *copies])
    assert counts_on(counts.templates(), site_page(1)) == [10, 1, 10]
    assert counts_on(counts.templates(drop_duplicates=False), site_page(1)) == [16, 7, 16]


def test_a_copy_with_an_advert_that_others_have_is_one_and_with_a_list_of_its_own_is_none() -> None:
    adverts = [f"<aside>Advert {number}</aside>" for number in range(3)]
    pages = [site_page(number, extra=adverts[number % 3]) for number in range(16)]
    url = "https://harbour.example/copy"
    other_advert = Page(site_page(1, extra=adverts[2]).html, url, "advert")
    other_list = Page(site_page(1, extra="<aside>Stories of its own</aside>").html, url, "list")
    assert counts_on(count([*pages, other_advert]).templates(), pages[1])[0] == 16
    assert counts_on(count([*pages, other_list]).templates(), pages[1])[0] == 17


def test_the_order_and_the_shards_do_not_matter() -> None:
    pages = [*site(30), *site(7, "other.example"), *site(1, "third.example")]
    whole = count(pages, sample=8).to_bytes()
    for seed in range(3):
        shuffled = Random(seed).sample(pages, len(pages))
        assert count(shuffled, sample=8).to_bytes() == whole
        merged = SiteCounts(sample=8)
        for start in range(0, len(pages), 7):
            merged.merge(SiteCounts.from_bytes(count(shuffled[start : start + 7], sample=8).to_bytes()))
        assert merged.to_bytes() == whole
    again = count(pages, sample=8)
    again.merge(again)
    assert again.to_bytes() == whole


def test_memory_is_bounded_by_halving_the_samples_whatever_the_order() -> None:
    pages = [page for number in range(6) for page in site(20 - 3 * number, f"s{number}.example")]
    results = set()
    for seed in range(4):
        shuffled = Random(seed).sample(pages, len(pages))
        merged = SiteCounts(sample=16, most_pages=40)
        for start in range(0, len(pages), 11):
            merged.merge(count(shuffled[start : start + 11], sample=16, most_pages=40))
            assert len(merged) <= 40
        results.add(merged.to_bytes())
    results.add(count(pages, sample=16, most_pages=40).to_bytes())
    assert len(results) == 1


def test_samples_are_not_halved_below_four_pages() -> None:
    counts = count([page for number in range(5) for page in site(6, f"s{number}.example")], most_pages=8)
    assert len(counts) == 20


def test_a_page_outside_of_the_sample_is_not_wanted() -> None:
    pages = site(40)
    counts = count(pages, sample=5)
    assert len(counts) == 5
    assert not any(counts.wants(page) for page in pages)
    assert counts.wants(site_page(1, "other.example"))
    before = counts.to_bytes()
    for page in pages:
        counts.add(read(page))
    assert counts.to_bytes() == before


def test_the_error_of_a_sample_is_what_the_docstring_says() -> None:
    """A third of 600 pages have a notice; samples of 50 may miss its share by more than the bound once in twenty."""
    notice = "<div>The ferry does not run today.</div>"
    notice_hash = find_chunks(read(Page(notice))).hashes[0]
    bound, misses = math.sqrt(math.log(2 / 0.05) / (2 * 50)), 0
    for site_number in range(20):
        host = f"s{site_number}.example"
        counts = SiteCounts(sample=50)
        for number in range(600):
            page = site_page(number, host, notice if number % 3 == 0 else "")
            if counts.wants(page):
                counts.add(read(page))
        (pages,) = counts._pages.values()
        share = sum(notice_hash in np.frombuffer(hashes, np.uint64) for hashes in pages.values()) / len(pages)
        misses += bool(abs(share - 1 / 3) > bound)
    assert misses <= 3


def test_a_page_of_very_many_chunks_is_counted_by_some_of_them() -> None:
    pages = [Page("".join(f"<div>{n}</div>" for n in range(3000)) + f"<p>{page}", None, str(page)) for page in range(3)]
    counts = count(pages)
    assert len(counts.to_bytes()) < 3 * 2100 * 8
    # What the pages have of their own may be among the rest, so that they look like duplicates.
    assert counts_on(counts.templates(drop_duplicates=False), pages[0]).count(3) >= 2040


def test_counts_take_few_bytes() -> None:
    data = count(site(SAMPLE)).to_bytes()
    assert len(data) < SAMPLE * 60


@pytest.mark.parametrize(
    "data", [b"", b"x", b"PK\3\4", b"mainmatter site counts 2\n{}", b"mainmatter site counts 3\n{}"]
)
def test_what_is_no_counts(data: bytes) -> None:
    with pytest.raises(InputError, match="site counts"):
        SiteCounts.from_bytes(data)


def test_damaged_counts() -> None:
    data = count(site(5)).to_bytes()
    assert SiteCounts.from_bytes(data).to_bytes() == data
    for end in range(30, len(data), 37):
        with pytest.raises(InputError, match="damaged site counts"):
            SiteCounts.from_bytes(data[:end])
    for place in range(25, len(data)):
        with pytest.raises(InputError, match="damaged site counts"):
            SiteCounts.from_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])


def test_counts_of_other_parameters_cannot_be_merged() -> None:
    with pytest.raises(InputError, match="other parameters"):
        SiteCounts().merge(SiteCounts(unit="table"))


@pytest.mark.parametrize("parameters", [{"sample": 3}, {"sample": 2.5}, {"most_pages": 0}, {"unit": "page"}])
def test_wrong_parameters(parameters: dict[str, int]) -> None:
    with pytest.raises(InputError, match="template"):
        SiteCounts(**parameters)  # type: ignore[arg-type]


def test_clusters_are_counted_by_themselves() -> None:
    other = "<aside><p>Weather of the week: fog, and then some more of it.</p></aside><div><p>Tides</p></div>"
    shop = [
        Page(f"{other}<article><p>{text_of(number)}</p></article>", f"https://harbour.example/shop/{number}")
        for number in range(20, 25)
    ]
    counts = count([*site(10), *shop])
    alone, clustered = counts.templates(), counts.templates(cluster=True)
    assert alone.clusters.tolist() == [1]
    assert clustered.clusters.tolist() == [2]
    assert alone.look_up(read(shop[0])).pages == 15
    assert clustered.look_up(read(shop[0])).pages == 5
    assert clustered.look_up(read(site_page(3))).pages == 10
    assert counts_on(clustered, site_page(3)) == [10, 1, 10]


def test_templates_are_saved_and_loaded(tmp_path: Path) -> None:
    templates = count([*site(10), *site(4, "other.example")]).templates()
    size = templates.save(tmp_path / "sites")
    assert size < 3000
    again = SiteTemplates.load(tmp_path / "sites")
    for page in (site_page(3), site_page(77), site_page(0, "other.example"), Page("")):
        assert counts_on(again, page) == counts_on(templates, page)


def test_no_templates(tmp_path: Path) -> None:
    templates = SiteCounts().templates()
    assert templates.look_up(read(site_page(1))).pages == 0
    templates.save(tmp_path / "none")
    assert SiteTemplates.load(tmp_path / "none").look_up(read(Page(""))).pages == 0


def test_damaged_templates(tmp_path: Path) -> None:
    facts, arrays = count(site(10)).templates().facts_and_arrays()
    with pytest.raises(ModelError, match="not a model"):
        SiteTemplates.load(tmp_path)
    damaged = [
        ({}, arrays),
        ({"unit": "page"}, arrays),
        (facts, {**arrays, "keys": arrays["keys"][::-1]}),
        (facts, {**arrays, "counts": arrays["counts"][:1]}),
        (facts, {**arrays, "pages": arrays["pages"].astype("f8")}),
        (facts, {**arrays, "clusters": arrays["clusters"] + 1}),
        (facts, {**arrays, "sites": arrays["sites"].reshape(1, -1)}),
        *((facts, {name: array for name, array in arrays.items() if name != left_out}) for left_out in arrays),
    ]
    for some_facts, some_arrays in damaged:
        save(Model("template", 1, {}, some_facts, some_arrays), tmp_path / "model")
        with pytest.raises(ModelError, match="damaged"):
            SiteTemplates.load(tmp_path / "model")
    save(Model("density", 1, {}, facts, arrays), tmp_path / "model")
    with pytest.raises(ModelError, match="a model of density"):
        SiteTemplates.load(tmp_path / "model")


def test_of_each_site_two_hundred_pages_are_counted() -> None:
    assert len(count(site(199))) == 199
    assert len(count(site(201))) == 200


def test_of_all_sites_a_million_pages_are_counted() -> None:
    counts = SiteCounts()
    counts._count = (1 << 20) - 1  # as if all the others had been counted
    counts.add(read(site_page(1)))
    assert counts._sample == 200
    counts.add(read(site_page(2)))
    assert counts._sample == 100


def test_a_chunk_of_two_pages_is_one_of_several() -> None:
    assert counts_on(count(site(2)).templates(), site_page(0)) == [2, 1, 2]


def test_copies_are_told_by_what_at_most_the_square_root_of_all_pages_has() -> None:
    # Three copies of a text, with adverts that a third of the pages have each: 9 is not more than 16 pages.
    adverts = [f"<aside>Advert {number}</aside>" for number in range(3)]
    pages = [site_page(number, extra=adverts[number % 3]) for number in range(13)]
    copies = [
        Page(site_page(50, extra=advert).html, f"https://harbour.example/copy/{advert[-9]}", advert)
        for advert in adverts
    ]
    assert counts_on(count([*pages, *copies]).templates(), pages[0])[0] == 14


def test_what_was_written_before_is_read_today() -> None:
    # Both formats are open, and made of these numbers: a version that has others must have another name or number.
    data = count([site_page(1)]).to_bytes()
    magic, digest, rest = data[:25], data[25:41], data[41:]
    assert magic == b"mainmatter site counts 2\n"
    assert digest == hashlib.blake2b(rest, digest_size=16).digest()
    assert rest.startswith(b'{"most_pages": 1048576, "pages": 1, "reduced": 200, "sample": 200, "sites": 1, "unit": ')
    summary = SiteSummary(7, [(3, np.array([5, 6], np.uint64), np.array([2, 3], np.intp))])
    assert SiteTemplates.of("container", [summary]).keys.tolist() == [9636871837269910655, 16682901113285979678]


# Min-max clustering


def sets(*members: list[int]) -> list[np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    return [np.array(sorted(one), np.uint64) for one in members]


def test_sets_that_share_most_are_together() -> None:
    pages = sets([1, 2, 3, 100], [1, 2, 3, 101], [7, 8, 9, 102], [1, 2, 3, 103], [7, 8, 9, 104])
    assert cluster_sets(pages).tolist() == [0, 0, 1, 0, 1]


def test_clusters_are_numbered_by_their_first_sets() -> None:
    pages = sets([7, 8, 9], [1, 2, 3], [1, 2, 3], [1, 2, 3], [7, 8, 9])
    assert cluster_sets(pages).tolist() == [0, 1, 1, 1, 0]


def test_what_is_not_far_stays_together() -> None:
    pages = sets([1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 4], [1, 2, 3, 5])  # 3 of 5 are common
    assert cluster_sets(pages, far=0.5).tolist() == [0, 0, 0, 0]
    assert cluster_sets(pages, far=0.3).tolist() == [0, 1, 0, 1]


def test_members_of_one_set_do_not_count() -> None:
    pages = sets([1, 2, *range(100, 150)], [1, 2, *range(200, 250)])
    assert cluster_sets(pages).tolist() == [0, 0]


def test_no_more_clusters_than_asked_for() -> None:
    pages = sets(*([number, number + 50] for number in range(20) for _ in range(2)))
    assert cluster_sets(pages).max() == 19
    assert cluster_sets(pages, most=3).max() == 2


@pytest.mark.parametrize("pages", [[], sets([]), sets([], []), sets([1]), sets([1], [2]), sets([], [1], [1])])
def test_little_to_cluster(pages: list[np.ndarray[tuple[int], np.dtype[np.uint64]]]) -> None:
    labels = cluster_sets(pages)
    assert labels.tolist() == [0] * len(pages)
