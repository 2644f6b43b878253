"""A contestant in its own process: what it does with a page, and what becomes of pages that it cannot do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from bench.contestant import Contestant, load_runner, split_pure
from contestants import load_fatally, load_moody, load_nothing, load_telling
from mainmatter import compiled
from mainmatter.errors import InputError
from mainmatter.lab.datasets import GoldPage
from mainmatter.lab.metrics import Output
from mainmatter.records import Extraction, Gold, Page

if TYPE_CHECKING:
    from collections.abc import Iterator


def gold_page(html: bytes, text: str = "moody") -> GoldPage:
    return GoldPage(Page(html), Gold(text, f"<p> {text}"), {})


@pytest.fixture(scope="module")
def moody() -> Iterator[Contestant]:
    with Contestant("moody", limit=5.0, load=load_moody) as found:
        yield found


def test_a_page_is_timed_and_compared(moody: Contestant) -> None:
    pytest.importorskip("rapidfuzz")
    turn = moody.take(gold_page(b"slow"), ["bag", "align"])
    assert turn.seconds >= 0.05
    assert turn.error is None
    assert turn.scores["bag"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert turn.scores["align"] is not None
    assert turn.scores["align"]["words_f1"] == 1.0
    assert moody.take(gold_page(b"fine")).scores == {}


@pytest.mark.parametrize(
    ("html", "error"),
    [(b"raise", "ValueError: no such page"), (b"die", "its process died"), (b"hang", "took longer than 5 s")],
)
def test_a_page_that_goes_wrong_costs_that_page(moody: Contestant, html: bytes, error: str) -> None:
    turn = moody.take(gold_page(html), ["bag"])
    assert turn.error == error
    assert turn.scores == {"bag": {"precision": 0.0, "recall": 0.0, "f1": 0.0}}
    after = moody.take(gold_page(b"fine"), ["bag"])
    assert (after.error, after.scores["bag"]) == (None, {"precision": 1.0, "recall": 1.0, "f1": 1.0})


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_memory_is_what_it_needs_above_its_start() -> None:
    with Contestant("moody", load=load_moody) as found:
        found.take(gold_page(b"fine"))
        before = found.peak_mb()
        found.take(gold_page(b"grow"))
        after = found.peak_mb()
        assert before is not None
        assert after is not None
        assert found.start_mb is not None
        assert found.start_mb > 5
        assert before < 30
        assert 55 <= after - before <= 100
    assert found.peak_mb() == after  # what was seen stays known


def test_one_that_cannot_be_loaded_is_told() -> None:
    with pytest.raises(InputError, match=r"^ghost: cannot be loaded: RuntimeError: no ghost here$"):
        Contestant("ghost", load=load_nothing)
    with pytest.raises(InputError, match=r"^bomb: its process died while it was loaded$"):
        Contestant("bomb", load=load_fatally)


def test_a_method_can_run_as_pure_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.REQUIRE_COMPILED, "1")  # which would contradict
    with Contestant("tell@pure", load=load_telling) as found:
        assert found.take(gold_page(b"", "tell pure Python: MAINMATTER_PURE is set"), ["bag"]).scores["bag"] == {
            "precision": 1.0,
            "recall": 1.0,
            "f1": 1.0,
        }
    assert split_pure("main:dial=0.2@pure") == ("main:dial=0.2", True)
    assert split_pure("main") == ("main", False)
    assert split_pure("turbohtml@pure") == ("turbohtml@pure", False)  # is nobody's name


def test_runners_of_methods_and_peers() -> None:
    page = gold_page(b"<p>one two</p>")
    extraction = load_runner("ice-baseline")(page)
    assert isinstance(extraction, Extraction)
    assert "text" in vars(extraction)  # rendered while the clock ran
    assert isinstance(load_runner("turbohtml")(page), Output)
