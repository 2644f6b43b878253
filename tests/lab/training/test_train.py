"""Observation, cross-validation and training as a whole."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mainmatter import registry
from mainmatter.errors import InputError, MissingExtra
from mainmatter.lab.datasets import GoldPage, load_dataset
from mainmatter.lab.learned import CARD_ENTRY, learned_by, pack_digests, short_digest, unpack_digests
from mainmatter.lab.training.train import (
    Training,
    card_page,
    check_may_ship,
    cross_validate,
    data_entry,
    gold_pages_digest,
    observe_pages,
    train,
)
from mainmatter.models.store import SHIPPED
from mainmatter.records import Gold, Page
from mainmatter.registry import make_untrained
from toys import LONG, Cutoff, write_gold_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mainmatter.method import Example


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "cutoff", "toys:Cutoff")


@pytest.fixture
def pages(tmp_path: Path) -> list[GoldPage]:
    return load_dataset(str(write_gold_folder(tmp_path / "gold")))


@contextmanager
def no_progress(label: str, length: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


def test_pages_without_gold_text_are_skipped_and_told(pages: list[GoldPage]) -> None:
    snippets_only = GoldPage(Page("<p>x", id="lonely"), Gold(must_have=("x",)), {})
    done: list[None] = []
    observed = observe_pages(Cutoff(), [snippets_only, *pages], workers=2, on_page=lambda: done.append(None))
    assert observed.skipped == [("lonely", "has no gold text")]
    assert observed.pages == pages
    assert observed.observations == [(len(f"A short heading {n}"), len(f"{LONG} {n}.")) for n in range(12)]
    assert observed.oracle == pytest.approx(1)
    assert len(done) == 12


class Patient(Cutoff):
    """A method that can do with snippets."""

    name = "patient"
    learns_from_snippets = True

    def observe(self, example: Example) -> tuple[int, int]:
        return int(np.isnan(example.shares).sum()), int(example.kept.sum())


SNIPPETS = GoldPage(Page(f"<p>Imprint</p><p>{LONG}</p><p>x", id="snippets"), Gold(must_have=("tells it",)), {})


def test_pages_with_snippets_only_are_of_use_to_those_who_learn_from_them(pages: list[GoldPage]) -> None:
    unwanted = replace(SNIPPETS, gold=Gold(must_not_have=("Imprint",)))
    nothing = replace(SNIPPETS, gold=Gold(title="A title"), page=Page("<p>x", id="nothing"))
    for workers in (1, 2):
        observed = observe_pages(Patient(), [SNIPPETS, nothing, pages[0], unwanted], workers=workers)
        assert observed.skipped == [("nothing", "has no gold text")]
        assert observed.pages == [SNIPPETS, pages[0], unwanted]
        assert observed.observations == [(2, 1), (0, 2), (2, 0)]
        assert observed.oracle_scores == [None, pytest.approx(1), None]
        assert observed.oracle == pytest.approx(1)  # of the pages that have a text


def test_nothing_but_snippets_has_no_oracle() -> None:
    observed = observe_pages(Patient(), [SNIPPETS])
    assert observed.oracle_scores == [None]
    assert observed.oracle == 0


def test_those_who_learn_from_whole_pages_skip_snippets(pages: list[GoldPage]) -> None:
    observed = observe_pages(Cutoff(), [SNIPPETS, pages[0]])
    assert observed.skipped == [("snippets", "has no gold text")]
    assert observed.pages == [pages[0]]


def test_training_with_snippets(pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cutoff, "learns_from_snippets", True)
    with_snippets = [replace(SNIPPETS, page=replace(SNIPPETS.page, url=f"https://{n}.org/")) for n in range(3)]
    some = [replace(page, page=replace(page.page, html=f"{n}{LONG}")) for n, page in enumerate(with_snippets)]
    lines: list[str] = []
    _, card = train(Training("cutoff", {"mine": pages, "snippets": some}), no_progress, lines.append)
    assert lines[0].startswith("15 pages labelled, 0 skipped; keeping exactly the blocks")
    assert lines[0].endswith("would give bag f1 1.000")  # on those that have a text
    assert card["pages"]["learned_from"] == 15
    assert [data["pages"] for data in card["data"]] == [12, 3]


def test_cross_validation_with_snippets(pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cutoff, "learns_from_snippets", True)
    observed = observe_pages(Cutoff(), [*pages, SNIPPETS])
    found = cross_validate("cutoff", observed, ["bag"], folds=3)
    assert len(found.pages) == 13
    assert found.scores["bag"]["pages"] == 12


def test_a_page_that_a_method_cannot_observe_is_skipped_and_told(
    pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Cutoff, example: object) -> None:
        raise KeyError("no")

    monkeypatch.setattr(Cutoff, "observe", fails)
    observed = observe_pages(Cutoff(), pages[:1])
    assert observed.skipped == [("00", "KeyError: 'no'")]
    assert observed.pages == observed.observations == []


def test_cross_validation_judges_each_page_once(pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[int] = []
    learn = Cutoff.learn

    def counting(self: Cutoff, observations: list[tuple[int, int]], report: object = None) -> Cutoff:
        learned.append(len(observations))
        return learn(self, observations)

    monkeypatch.setattr(Cutoff, "learn", counting)
    lines: list[str] = []
    found = cross_validate("cutoff", observe_pages(Cutoff(), pages), ["bag"], folds=4, report=lines.append)
    assert learned == [9] * 4  # never from the pages that are judged
    assert [name for name, _ in found.pages] == [page.page.id for page in pages]
    assert found.scores["bag"]["pages"] == 12
    assert found.scores["bag"]["f1"] == pytest.approx(1)
    assert lines == [f"fold {n} of 4: bag f1 1.000" for n in (1, 2, 3, 4)]


def test_cross_validation_has_ten_folds_unless_there_are_fewer_sites(pages: list[GoldPage]) -> None:
    for some, folds in ((pages, 10), (pages[:3], 3)):
        lines: list[str] = []
        cross_validate("cutoff", observe_pages(Cutoff(), some), ["bag"], report=lines.append)
        assert [line.partition(":")[0] for line in lines] == [f"fold {n + 1} of {folds}" for n in range(folds)]


def test_training_tells_how_it_goes(pages: list[GoldPage]) -> None:
    lines: list[str] = []
    training = Training("cutoff:margin=1", {"mine": pages}, {"other": pages[:3]}, licence="CC0")
    method, card = train(training, no_progress, lines.append)
    assert isinstance(method, Cutoff)
    assert method.margin == 1
    assert lines == [
        "12 pages labelled, 0 skipped; keeping exactly the blocks labelled as main matter would give bag f1 1.000",
        f"check: {lines[1].removeprefix('check: ')}",  # what learning without the page reports
        f"check: on 4 pages {LEFT_OUT}: bag f1 1.000 (all text: bag f1 {ALL_TEXT:.3f})",
        "learning from 12 pages",
        f"cutoff {method.cutoff_}",
        "other: bag f1 1.000 on 3 pages, 3 of which it has learned from",
    ]
    assert card["data"] == [{"name": "mine", "pages": 12, "licence": "CC0", "sha256": gold_pages_digest(pages)}]
    assert card["check"]["all_text"]["bag_f1"] == pytest.approx(ALL_TEXT, abs=0.001)
    figures = {"bag_precision": 1, "bag_recall": 1, "bag_f1": 1}
    assert card["valid"] == [{"name": "other", "pages": 3, "learned_from": 3, **figures}]
    page = card_page(method, card, 1234)
    assert "| mine | 12 | CC0 | `" in page
    assert "| other (3 of them learned from) | 3 | 1.000 | 1.000 | 1.000 |" in page
    assert "1,234 bytes" in page


LEFT_OUT = "from sites left out of a first training (12 of 12 pages have no URL, and each counts as a site of its own)"
# 7 words of menu and heading beside twice the 21 words of LONG, a number each and the word "page".
ALL_TEXT = 2 * 45 / (45 + 52)


def test_a_set_without_gold_texts(pages: list[GoldPage]) -> None:
    bare = [GoldPage(page.page, Gold(must_have=("x",)), {}) for page in pages]
    with pytest.raises(InputError, match="all 12 pages were skipped, the first: has no gold text"):
        train(Training("cutoff", {"bare": bare}), no_progress)


def test_one_site_cannot_be_checked(pages: list[GoldPage]) -> None:
    lines: list[str] = []
    _, card = train(Training("cutoff", {"one": pages[:1]}), no_progress, lines.append)
    assert card["check"] is None
    assert "no check: all pages are from one site" in lines


def test_a_digest_is_of_pages_and_gold_texts(pages: list[GoldPage]) -> None:
    other = GoldPage(pages[0].page, Gold("other"), {})
    text = GoldPage(Page(pages[0].page.html.decode()), pages[0].gold, {"lang": "en"})  # type: ignore[union-attr]
    assert gold_pages_digest(pages) == gold_pages_digest(list(pages))
    assert (
        len(
            {
                gold_pages_digest(pages),
                gold_pages_digest(pages[1:]),
                gold_pages_digest([other, *pages[1:]]),
                gold_pages_digest(pages[::-1]),
            }
        )
        == 4
    )
    assert gold_pages_digest([text, *pages[1:]]) == gold_pages_digest(pages)
    assert data_entry("wcxb-dev", pages)["licence"] == "CC BY 4.0"
    assert data_entry("mine", pages)["licence"] == "not said"


def test_copies_are_left_out_and_told(pages: list[GoldPage]) -> None:
    lines: list[str] = []
    _, card = train(Training("cutoff", {"mine": pages, "again": pages[:5]}, check=False), no_progress, lines.append)
    assert card["pages"]["learned_from"] == 12
    assert lines[0] == "5 of 17 pages are copies of others and were left out"


def test_learning_from_a_test_set_is_told(pages: list[GoldPage]) -> None:
    lines: list[str] = []
    train(Training("cutoff", {"dragnet": pages}, check=False), no_progress, lines.append)
    assert lines[0].startswith("dragnet is a test set")


def test_learning_from_what_is_free_for_research_is_told(pages: list[GoldPage]) -> None:
    lines: list[str] = []
    train(Training("cutoff", {"cleaneval-dev": pages}, check=False), no_progress, lines.append)
    assert lines[0] == "the data of cleaneval-dev is free for research: so is a model that learns from it"


@pytest.mark.parametrize(
    ("method", "name", "may"),
    [
        ("main", "wcxb-dev", True),
        ("main", "cleaneval-dev", False),
        ("ncleaner:lexical=False", "cleaneval-dev", False),
        ("ncleaner:preset=paper", "cleaneval-dev", True),
        ("ncleaner:preset=paper", "cleaneval-final", False),
        ("main", "mine.parquet", False),
    ],
)
def test_what_a_model_that_ships_may_learn_from(method: str, name: str, may: bool, tmp_path: Path) -> None:
    learner = make_untrained(method)
    check_may_ship(learner, [name], tmp_path / "elsewhere")
    with nullcontext() if may else pytest.raises(InputError, match=rf"a model that ships may not learn from {name} \("):
        check_may_ship(learner, ["readability", name], SHIPPED / learner.weights())


def test_one_large_site_is_not_what_is_left_out(pages: list[GoldPage]) -> None:
    of_one_site = [replace(page, page=replace(page.page, url="https://big.org/")) for page in pages[:9]]
    _, card = train(Training("cutoff", {"mine": [*of_one_site, *pages[9:]]}), no_progress)
    assert card["check"]["pages"] == 2  # not the nine of one site


def test_a_check_that_cannot_learn_does_not_stop_the_training(
    pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = Cutoff.learn

    def needs_all(self: Cutoff, observations: list[tuple[int, int]], report: object = None) -> Cutoff:
        if len(observations) < 12:
            raise InputError("cutoff: too few pages")
        return learn(self, observations)

    monkeypatch.setattr(Cutoff, "learn", needs_all)
    lines: list[str] = []
    _, card = train(Training("cutoff", {"mine": pages}), no_progress, lines.append)
    assert card["check"] is None
    assert "no check: without 4 pages, cutoff: too few pages" in lines


def test_what_is_missing_is_told_before_any_work(pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks(self: Cutoff) -> None:
        raise MissingExtra("scissors", "train")

    monkeypatch.setattr(Cutoff, "need_extras", lacks)
    monkeypatch.setattr(Cutoff, "observe", lambda self, example: pytest.fail("worked"))
    with pytest.raises(MissingExtra, match="scissors"):
        train(Training("cutoff", {"mine": pages}), no_progress)


def test_gold_texts_of_other_pages_are_told(pages: list[GoldPage]) -> None:
    swapped = [replace(page, gold=Gold("Nothing of this is on that page.")) for page in pages]
    lines: list[str] = []
    train(Training("cutoff", {"mine": swapped}, check=False), no_progress, lines.append)
    assert lines[1].startswith("that is low: do the gold texts belong to these pages? Look at 0")


def test_a_method_that_learns_nothing_is_told(pages: list[GoldPage]) -> None:
    lines: list[str] = []
    train(Training("cutoff:margin=-1000", {"mine": pages}), no_progress, lines.append)
    assert any(line.startswith("that is no better than keeping everything") for line in lines)


def test_main_goes_on_from_the_model_that_ships_unless_told_otherwise(pages: list[GoldPage]) -> None:
    data = {"mine": pages[:2]}
    assert Training("main:seed=1", data).make_method().parameters["start"] == "main"
    assert Training("main", data, from_scratch=True).make_method().parameters["start"] == ""
    assert Training("main:start=none", data).make_method().parameters["start"] == "none"
    assert Training("main:start=none", data, from_scratch=True).make_method().parameters["start"] == "none"
    assert Training("main:start=some/model", data).make_method().parameters["start"] == "some/model"
    assert isinstance(Training("cutoff", data, from_scratch=True).make_method(), Cutoff)  # it always does
    with pytest.raises(InputError, match="start=main goes on from a model, which --from-scratch forbids"):
        Training("main:start=main", data, from_scratch=True).make_method()


@pytest.mark.parametrize(
    ("parameters", "line", "start"),
    [
        ("", "starting from the model of main that ships; --from-scratch starts from nothing", "main"),
        (",start=none", "starting from nothing", ""),
    ],
)
def test_what_training_starts_from_is_told(pages: list[GoldPage], parameters: str, line: str, start: str) -> None:
    lines: list[str] = []
    training = Training(f"main:epochs=1{parameters}", {"mine": pages[:3]}, check=False)
    method, card = train(training, no_progress, lines.append)
    assert lines[0] == line
    assert card["start"] == start
    assert f"starting from {'the model of main that ships' if start else 'nothing'}, in" in card_page(method, card, 1)
    known = unpack_digests(card)
    assert known is not None
    assert known == {*map(short_digest, pages[:3])} | (learned_by("main") or set() if start else set())


def test_the_model_that_ships_stands_beside_what_was_trained(
    pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = Cutoff()
    shipped.cutoff_ = 1000.0  # it keeps nothing
    shipped.save(tmp_path / "cutoff", {CARD_ENTRY: pack_digests(map(short_digest, pages[:2]))})
    monkeypatch.setattr("mainmatter.method.SHIPPED", tmp_path)
    monkeypatch.setattr("mainmatter.lab.learned.SHIPPED", tmp_path)
    lines: list[str] = []
    training = Training("cutoff:unit=words", {"mine": pages}, {"other": pages[:3]})  # for which none ships
    method, card = train(training, no_progress, lines.append)
    [check] = [line for line in lines if line.startswith("check: on")]
    assert "(the model that ships: bag f1 0.000" in check
    assert check.endswith(f"; all text: bag f1 {ALL_TEXT:.3f})")
    assert card["check"]["shipped"]["bag_f1"] == 0
    beside = "the model that ships: bag f1 0.000, which has learned from 2 of them"
    assert lines[-1] == f"other: bag f1 1.000 on 3 pages, 3 of which it has learned from ({beside})"
    assert card["valid"][0]["shipped"]["learned_from"] == 2
    page = card_page(method, card, 1)
    assert "| the same, by the model that ships (2 of them learned from) | 3 | 0.000 | 0.000 | 0.000 |" in page
    assert not any(line.startswith("that is below") for line in lines)


def test_pages_that_the_first_model_has_learned_from_are_told(
    pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = train(Training("cutoff", {"mine": pages[:2]}, check=False), no_progress)[0]
    first.save(tmp_path / "first", {CARD_ENTRY: pack_digests(map(short_digest, pages[:2]))})
    monkeypatch.setattr(Cutoff, "start", str(tmp_path / "first"), raising=False)
    lines: list[str] = []
    _, card = train(
        Training("cutoff", {"mine": pages[4:]}, {"other": pages[1:5]}, check=False), no_progress, lines.append
    )
    assert "on 4 pages, 2 of which it has learned from" in lines[-1]  # one before, one now
    assert card["valid"][0]["learned_from"] == 2


def test_a_model_below_the_one_that_ships_is_told(
    pages: list[GoldPage], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    train(Training("cutoff", {"mine": pages}, check=False), no_progress)[0].save(tmp_path / "cutoff")
    monkeypatch.setattr("mainmatter.method.SHIPPED", tmp_path)
    monkeypatch.setattr("mainmatter.lab.learned.SHIPPED", tmp_path)
    below = "that is below the model that ships, which needs no training: more pages may help"
    for parameters, is_below in (("unit=words,margin=-1000", True), ("margin=-1000", False), ("unit=words", False)):
        lines: list[str] = []
        _, card = train(Training(f"cutoff:{parameters}", {"mine": pages}), no_progress, lines.append)
        assert (below in lines) is is_below
        assert card["check"]["shipped"]["learned_from"] is None  # it is not known
