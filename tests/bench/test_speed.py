"""How fast contestants are: the arithmetic, with contestants of our own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import pytest

from bench.contestant import Turn
from bench.speed import FEWEST_PAGES, Scaling, measure_scaling, measure_speed
from mainmatter.errors import UnknownName
from mainmatter.records import Page
from mainmatter.registry import get_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.lab.datasets import GoldPage

PAGES = [Page(b"x" * 1000, id="a"), Page(b"x" * 3000, id="b")]


@dataclass
class Racing:
    """A contestant whose times are known."""

    name: str
    seconds: Callable[[Page], float]
    turns: list[str] = field(default_factory=list)
    fails_on: str = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.turns.append(f"{self.name} goes")

    def take(self, page: GoldPage) -> Turn:
        self.turns.append(f"{self.name} {page.page.id}")
        error = "ValueError: no" if page.page.id == self.fails_on else None
        return Turn(self.seconds(page.page), {}, error)

    def peak_mb(self) -> float:
        return 12.5


def test_each_page_counts_with_its_fastest_time() -> None:
    turns: list[str] = []
    # Seconds of pages a and b, twice.
    seconds = {"turbohtml": iter([0.002, 0.006, 0.003, 0.004]), "density": iter([0.5, 0.02, 0.004, 0.5])}
    rounds: list[None] = []
    found = measure_speed(
        ["turbohtml", "density"],
        PAGES,
        rounds=2,
        on_round=lambda: rounds.append(None),
        start=lambda name: Racing(name, lambda _: next(seconds[name]), turns),
    )
    assert [one.name for one in found] == ["turbohtml", "density"]
    assert [one.ms_per_page for one in found] == pytest.approx([3.0, 12.0])  # (2 + 4) / 2 and (4 + 20) / 2
    assert [one.mb_per_second for one in found] == pytest.approx([4 / 6, 4 / 24])
    assert [one.ratio for one in found] == pytest.approx([1.0, 4.0])
    assert [one.median_ratio for one in found] == pytest.approx([1.0, 3.5])  # of 4 / 2 and 20 / 4
    assert [(one.pages, one.rounds, one.peak_mb) for one in found] == [(2, 2, 12.5)] * 2
    assert turns[:4] == ["turbohtml a", "density a", "turbohtml b", "density b"]
    assert sorted(turns[8:]) == ["density goes", "turbohtml goes"]
    assert len(rounds) == 2


def test_a_slow_one_gets_fewer_rounds_or_fewer_pages() -> None:
    pages = [Page(b"x", id=str(n)) for n in range(FEWEST_PAGES + 10)]
    # Seconds for each page, times its number: 0.21, 2.1 and 210 for all of them.
    factors = {"turbohtml": 1e-3, "density": 1e-2, "ice-tree": 1.0}
    found = measure_speed(
        list(factors),
        pages,
        rounds=5,
        budget=3.0,
        start=lambda name: Racing(name, lambda page: factors[name] * (1 + int(page.id or 0))),
    )
    assert [(one.pages, one.rounds) for one in found] == [(20, 5), (20, 2), (FEWEST_PAGES, 1)]
    assert [one.ratio for one in found] == pytest.approx([1.0, 10.0, 1000.0])  # over the same pages
    assert found[2].ms_per_page == pytest.approx(5500)


def test_pages_on_which_one_fails_do_not_count() -> None:
    turns: list[str] = []
    first, second = measure_speed(
        ["turbohtml", "density"],
        PAGES,
        rounds=3,
        start=lambda name: Racing(
            name, lambda page: len(page.html) / 1e6, turns, fails_on="b" if name == "density" else ""
        ),
    )
    assert (first.pages, first.failures) == (2, ())
    assert (second.pages, second.failures) == (1, (("b", "ValueError: no"),))
    assert (first.ms_per_page, second.ms_per_page) == pytest.approx((2.0, 1.0))
    assert second.ratio == pytest.approx(1.0)
    assert turns.count("density b") == 1  # it is not asked again


def test_one_that_fails_everywhere_has_no_figures() -> None:
    (found,) = measure_speed(
        ["density"], PAGES[:1], rounds=1, start=lambda name: Racing(name, lambda _: 1.0, fails_on="a")
    )
    assert math.isnan(found.ms_per_page)
    assert math.isnan(found.ratio)
    assert math.isnan(found.median_ratio)


@pytest.mark.parametrize("name", ["density", "density@pure"])
def test_methods_are_timed_in_their_own_process(name: str) -> None:
    (found,) = measure_speed([name], [Page(b"<p>one</p>" * 100)], rounds=1)
    assert (found.name, found.ratio, found.median_ratio, found.pages) == (name, 1.0, 1.0, 1)
    assert 0 < found.ms_per_page < 10_000


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("densty", "densty"),
        ("densty@pure", "densty"),
        ("density@pur", "density@pur"),
        ("turbohtml@pure", "turbohtml@pure"),
    ],
)
def test_unknown_method(name: str, told: str) -> None:
    with pytest.raises(UnknownName, match=f"unknown method '{told}'"):
        measure_speed([name], PAGES)


@pytest.mark.parametrize("threads", [False, True])
def test_scaling(threads: bool) -> None:
    assert Scaling("density", 2, 100, 200.0, 380.0).ratio == pytest.approx(1.9)
    found = measure_scaling("density", get_method("density"), PAGES, workers=2, threads=threads, repeats=5, rounds=1)
    assert (found.method, found.workers, found.pages) == ("density", 2, 10)
    assert found.alone > 0
    assert found.together > 0
