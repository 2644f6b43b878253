"""Splitting by site."""

from __future__ import annotations

from collections import Counter

import pytest

from mainmatter.lab.datasets import GoldPage, folds_by_site, sample_by_site, site_of
from mainmatter.records import Gold, Page


def page(url: str | None, name: str = "p") -> GoldPage:
    return GoldPage(Page("", url, name), Gold(), {})


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.example.org/a/b?c", "example.org"),
        ("http://news.bbc.co.uk/1", "bbc.co.uk"),
        ("http://a.b.com.au:8080/", "b.com.au"),
        ("http://co.uk/", "co.uk"),
        ("http://localhost/x", "localhost"),
        ("http://192.168.3.4/x", "192.168.3.4"),
        ("http://EXAMPLE.org", "example.org"),
        (None, "page p"),
        ("", "page p"),
        ("no address", "page p"),
        ("http://[broken", "page p"),
    ],
)
def test_site_of(url: str | None, site: str) -> None:
    assert site_of(page(url)) == site


def test_no_site_is_in_two_folds_and_no_page_is_lost() -> None:
    pages = [page(f"https://w{n % 3}.site{n % 17}.org/{n}") for n in range(100)]
    folds = folds_by_site(pages, 5)
    assert sorted(number for fold in folds for number in fold) == list(range(100))
    sites = [{site_of(pages[n]) for n in fold} for fold in folds]
    assert sum(map(len, sites)) == len(set.union(*sites)) == 17
    assert max(map(len, folds)) - min(map(len, folds)) <= 6
    assert folds == folds_by_site(pages, 5)
    assert folds != folds_by_site(pages, 5, seed=1)


def test_fewer_sites_than_folds() -> None:
    assert [len(fold) for fold in folds_by_site([page("http://a.org/"), page("http://a.org/2")], 3)] == [2, 0, 0]


def test_a_sample_is_of_many_sites() -> None:
    pages = [page(f"https://site{n % 4}.org/{n}") for n in range(40)] + [page("https://other.org/")]
    assert len(sample_by_site(pages, None)) == len(sample_by_site(pages, 99)) == 41
    assert {site_of(each) for each in sample_by_site(pages, 5)} == {site_of(each) for each in pages}
    some = sample_by_site(pages, 13)
    assert sorted(Counter(map(site_of, some)).values()) == [1, 3, 3, 3, 3]
    assert list(some) == [each for each in pages if each in some]
    assert some == sample_by_site(pages, 13)
    assert some != sample_by_site(pages, 13, seed=1)
