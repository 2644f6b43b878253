"""Where a method's time goes: each step once, with a clock that the steps move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from bench import speed as module
from bench.speed import WITH_MODEL, WITHOUT_MODEL, profile
from mainmatter.html.parse import decode, parse
from mainmatter.html.read import parse_and_segment
from mainmatter.records import Extraction, Page
from mainmatter.registry import FORMATS, get_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from mainmatter.records import Document

PAGE = Page(b"<h1>Title</h1><p>Some words of a text.</p>")


class Clock:
    """Stands still until a step moves it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def moved(self, function: Callable[..., Any], milliseconds: float) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            self.now += milliseconds / 1e3
            return function(*arguments, **options)

        return run


class Modelled:
    """A method with the two inner steps of `main`."""

    name: ClassVar[str] = "modelled"
    summary: ClassVar[str] = "ice-baseline, in two steps"

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.inner = get_method("ice-baseline")

    def describe(self, document: Document) -> int:
        self.clock.now += 0.004
        return len(document)

    def judge(self, features: int) -> int:
        assert features == 2
        self.clock.now += 0.005
        return features

    def extract(self, document: Document) -> Extraction:
        self.judge(self.describe(document))
        self.clock.now += 0.006
        return self.inner.extract(document)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "decode", found.moved(decode, 1))
    monkeypatch.setattr(module, "parse", found.moved(parse, 2))
    monkeypatch.setattr(module, "parse_and_segment", found.moved(parse_and_segment, 5))
    return found


def test_steps_of_a_method_with_a_model(clock: Clock) -> None:
    rounds: list[None] = []
    found = profile("m", Modelled(clock), [PAGE] * 3, rounds=2, clock=clock, on_round=lambda: rounds.append(None))
    assert tuple(found.steps) == WITH_MODEL
    assert found.steps == pytest.approx(
        {"decode": 1, "parse": 2, "segment": 3, "features": 4, "model": 5, "decide": 6, "render": 0}
    )
    assert found.whole == pytest.approx(15)  # clean() itself decodes and parses at no cost here
    assert len(rounds) == 2


def test_steps_of_any_other_method(clock: Clock) -> None:
    found = profile("b", get_method("ice-baseline"), [PAGE], rounds=1, clock=clock)
    assert tuple(found.steps) == WITHOUT_MODEL
    assert found.steps == pytest.approx({"decode": 1, "parse": 2, "segment": 3, "decide": 0, "render": 0})


def test_text_needs_no_decoding(clock: Clock) -> None:
    found = profile("b", get_method("ice-baseline"), [Page("<p>one")], rounds=1, clock=clock)
    assert found.steps["decode"] == 0


def test_steps_add_up_on_a_real_clock() -> None:
    page = Page(b"<p>Some words of a text, again and again.</p>" * 500)
    found = profile("b", get_method("ice-heuristic"), [page], rounds=3)
    assert all(milliseconds > 0 for milliseconds in found.steps.values())
    assert sum(found.steps.values()) == pytest.approx(found.whole, rel=0.6)


def test_what_other_formats_take_beyond_text(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    render = Extraction.render

    def slow_markdown(extraction: Extraction, name: str) -> str:
        clock.now += 0.007 if name == "markdown" else 0
        return render(extraction, name)

    monkeypatch.setattr(Extraction, "render", slow_markdown)
    found = profile("m", Modelled(clock), [PAGE] * 2, rounds=1, clock=clock)
    assert found.formats.keys() == FORMATS.keys() - {"text"}
    assert {name for name, ms in found.formats.items() if ms > 0} == {"markdown"}
    assert found.formats["markdown"] == pytest.approx(7)
