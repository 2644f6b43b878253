"""How fast contestants are: the arithmetic, with a clock of our own."""

from __future__ import annotations

import pytest

from mainmatter.errors import UnknownName
from mainmatter.evaluation import speed
from mainmatter.evaluation.peers import PEERS
from mainmatter.evaluation.speed import Speed, measure_speed
from mainmatter.metrics import Output
from mainmatter.records import Page

PAGES = [Page(b"x" * 1000, id="a"), Page(b"x" * 3000, id="b")]


class Clock:
    """Stands still until a contestant moves it."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(speed, "time", found)
    return found


def test_each_page_counts_with_its_fastest_time(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []
    # Seconds for each call: one to warm up, then pages a and b, twice.
    seconds = {"turbohtml": iter([9.0, 0.002, 0.006, 0.003, 0.004]), "resiliparse": iter([9.0, 0.5, 0.02, 0.004, 0.5])}

    def contestant(name: str) -> None:
        def run(page: Page, with_metadata: bool) -> Output:
            turns.append(f"{name} {page.id}")
            clock.now += next(seconds[name])
            return Output("")

        monkeypatch.setitem(PEERS, name, run)

    contestant("turbohtml")
    contestant("resiliparse")
    monkeypatch.setattr("mainmatter.evaluation.peers.find_spec", lambda name: True)
    rounds: list[None] = []
    found = measure_speed(["turbohtml", "resiliparse"], PAGES, rounds=2, on_round=lambda: rounds.append(None))
    assert [one.name for one in found] == ["turbohtml", "resiliparse"]
    assert [one.ms_per_page for one in found] == pytest.approx([3.0, 12.0])  # (2 + 4) / 2 and (4 + 20) / 2
    assert [one.mb_per_second for one in found] == pytest.approx([4 / 6, 4 / 24])
    assert [one.ratio for one in found] == pytest.approx([1.0, 4.0])
    assert turns[2:6] == ["turbohtml a", "resiliparse a", "turbohtml b", "resiliparse b"]
    assert len(rounds) == 2


def test_methods_are_timed_too() -> None:
    (found,) = measure_speed(["density"], [Page(b"<p>one</p>" * 100)], rounds=1)
    assert isinstance(found, Speed)
    assert (found.name, found.ratio) == ("density", 1.0)
    assert 0 < found.ms_per_page < 10_000


def test_unknown_method() -> None:
    with pytest.raises(UnknownName, match="unknown method 'densty'"):
        measure_speed(["densty"], PAGES)
