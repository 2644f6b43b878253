"""Teaching: pages to a model, and an honest word about what it gains."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mainmatter import clean, registry
from mainmatter.errors import InputError, MissingExtra, ModelError, UnknownName
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training.examples import make_example
from mainmatter.lab.training.teach import (
    STRENGTHS,
    CurvePoint,
    Learner,
    Step,
    Teaching,
    best_strength,
    choose_strengths,
    measure_gain,
    read_lessons,
    record_lesson,
    save_lesson,
    split_pages,
    teach,
)
from mainmatter.lab.training.train import CARD_PAGE
from mainmatter.main.method import Main
from mainmatter.main.rehearsal import REHEARSAL, load_rehearsal
from mainmatter.models.store import SHIPPED, load
from mainmatter.records import Gold, Page
from mainmatter.registry import get_method
from teaching_pages import boards, notice_board

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mainmatter.lab.training.teach import Lesson, Told


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "cutoff", "toys:Cutoff")


@pytest.fixture(autouse=True, scope="module")
def few_pages_for_rehearsal() -> Iterator[None]:
    """With all of them, each model takes five seconds."""
    few = load_rehearsal(SHIPPED / "main" / REHEARSAL)[:20]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mainmatter.lab.training.teach.load_rehearsal", lambda _: few)
        patch.setattr("mainmatter.lab.training.teach.LEARNED_AGAIN", 16)
        yield


@pytest.fixture(scope="module")
def lesson(few_pages_for_rehearsal: None) -> Lesson:
    return teach(boards(6))


@pytest.fixture(scope="module")
def quick() -> Lesson:
    return teach(boards(6), "ncleaner")


def test_main_learns_what_it_got_wrong(lesson: Lesson) -> None:
    assert lesson.gain.metric == "bag f1"
    assert lesson.gain.shipped < 0.2
    assert lesson.gain.taught > 0.8
    assert (lesson.gain.wins, lesson.gain.losses, lesson.gain.pages) == (6, 0, 6)
    assert lesson.is_recommended
    assert lesson.outlook.probability > 0.9
    assert lesson.verdict.startswith("Probably better (9")
    assert lesson.verdict.endswith("Use the taught model.")
    assert (lesson.pages, lesson.sites, lesson.splitting, lesson.folds) == (6, 6, "site", 5)
    assert (lesson.start, lesson.shipped, lesson.default) == ("main", "main", None)
    unseen = notice_board(77)
    assert bag_of_words(clean(unseen.page, method=lesson.model).text, unseen.gold.text or "").f1 > 0.9


def test_the_curve_ends_at_the_gain(lesson: Lesson) -> None:
    assert [point.pages for point in lesson.curve] == [1, 2, 5]
    assert lesson.curve[-1].gain == lesson.gain
    assert lesson.curve[0].gain.taught <= lesson.curve[-1].gain.taught
    assert all(point.gain.low > 0 for point in lesson.curve)  # one page is enough to be better for sure
    words = [point.words for point in lesson.curve]
    assert words == sorted(words)
    assert all(point.gain.shipped == lesson.gain.shipped for point in lesson.curve)
    assert lesson.curve[1].to_json()["pages"] == 2
    assert lesson.curve[1].to_json()["measured"] == 6


def test_a_lesson_is_json(lesson: Lesson) -> None:
    told = json.loads(json.dumps(lesson.to_json()))
    assert told["recommended"] is True
    assert told["gains"][0]["gain"] == pytest.approx(lesson.gain.gain)
    assert [page["page"] for page in told["by_page"]] == [f"board-{number:02}" for number in range(6)]


def test_the_same_pages_give_the_same_model() -> None:
    teaching = Teaching("main:epochs=2", curve=False)
    first, second = (teach(boards(4), teaching=teaching) for _ in range(2))
    assert first.to_json() | {"seconds": 0} == second.to_json() | {"seconds": 0}
    for name, array in first.model.facts_and_arrays()[1].items():
        assert (array == second.model.facts_and_arrays()[1][name]).all(), name


def test_what_happens_is_told_in_order() -> None:
    told: list[Told] = []
    found = teach(boards(5), "ncleaner", listen=told.append)
    steps = [each for each in told if isinstance(each, Step)]
    assert all(0 <= each.done <= each.of for each in steps)
    assert steps[-1].done == steps[-1].of
    fractions = [each.done / each.of for each in steps[5:]]  # after the pages are read, all work is known
    assert fractions == sorted(fractions)
    assert tuple(each for each in told if isinstance(each, CurvePoint)) == found.curve
    assert "5 pages of 5 sites, left out by site in 5 parts" in told


def test_others_begin_from_nothing_and_say_so(quick: Lesson) -> None:
    assert (quick.start, quick.shipped, quick.strength) == ("", "ncleaner", 1.0)
    assert any("learns from these pages only" in note for note in quick.notes)
    assert quick.gain.taught > quick.gain.shipped
    assert quick.default is not None
    assert quick.default < 0.2


def test_a_taught_method_that_main_beats_is_not_recommended(quick: Lesson) -> None:
    beaten = replace(quick, default=1.1)
    assert not beaten.is_recommended
    assert beaten.verdict.startswith("Better than ncleaner as shipped (9")
    assert "but not as good as main" in beaten.verdict
    assert beaten.verdict.endswith("Use main.")


def test_no_gain_is_told_plainly() -> None:
    """Pages on which the shipped model is right already."""
    agreed = [replace(page, gold=Gold(text=clean(page.page).text)) for page in boards(4)]
    found = teach(agreed, teaching=Teaching("main:epochs=1", curve=False))
    assert found.gain.shipped == pytest.approx(1)
    assert not found.is_recommended
    assert found.verdict.endswith("Keep the shipped model.")


def test_a_method_that_does_not_ship_is_compared_with_the_default() -> None:
    found = teach(boards(4), "cutoff")
    assert found.shipped == "main"
    assert any("no model of cutoff ships" in note for note in found.notes)


def test_going_on_from_an_own_model(tmp_path: Path, lesson: Lesson) -> None:
    save_lesson(lesson, tmp_path / "first")
    found = teach(boards(4), teaching=Teaching(f"main:start={tmp_path / 'first'},epochs=1", curve=False))
    assert found.shipped == str(tmp_path / "first")
    assert found.gain.shipped > 0.9
    assert found.default is not None
    assert any("from which learning continued" in note for note in found.notes)


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        ("density", InputError, "'density' does not learn"),
        ("mani", UnknownName, "did you mean 'main'"),
        ("main:epochs=0", InputError, "epochs must be a whole number from 1"),
        ("main:start=nowhere", ModelError, "nowhere: no such file or folder"),
    ],
)
def test_wrong_methods_are_refused_before_any_work(method: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        teach([], method)


def test_a_model_is_no_method(tmp_path: Path, quick: Lesson) -> None:
    save_lesson(quick, tmp_path / "model")
    with pytest.raises(InputError, match=r"to go on from it: main:start="):
        Learner(str(tmp_path / "model"))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_pages(count: int) -> None:
    with pytest.raises(InputError, match=r"teaching needs at least 4"):
        teach(boards(count), "ncleaner")


def test_pages_that_are_of_no_use_are_left_out_and_told() -> None:
    pages = boards(4)
    without_text = replace(pages[0], page=Page("<p>x", id="none"), gold=Gold(must_have=("x",)))
    found = teach([*pages, pages[1], without_text], teaching=Teaching("ncleaner", curve=False))
    assert found.pages == 4
    assert set(found.skipped) == {("1 page", "without gold text"), ("1 page", "the same as others")}
    with pytest.raises(InputError, match="3 of 5 pages ready"):
        teach([*pages[:3], pages[0], without_text], "ncleaner")


def test_a_missing_package_is_told_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingExtra):
        teach(boards(4), "cutoff")


def test_sites_stay_together() -> None:
    split = split_pages(boards(12, sites=3))
    assert (split.by, split.sites, len(split.folds)) == ("site", 3, 3)
    for fold in split.folds:
        assert len({number % 3 for number in fold}) == 1
        assert sorted([*fold, *split.rest(fold)]) == list(range(12))
    assert split.notes == ()


def test_pages_of_one_site_are_split_by_page_and_that_is_told() -> None:
    split = split_pages(boards(6, sites=1))
    assert (split.by, split.sites, len(split.folds)) == ("page", 1, 5)
    assert "all pages are from one site" in split.notes[0]
    assert split_pages(boards(6, sites=1), "site").by == "page"
    by_page = split_pages(boards(6, sites=2), "page")
    assert (by_page.by, len(by_page.folds)) == ("page", 5)
    assert "single pages were left out, not sites" in by_page.notes[0]


def test_pages_without_url_are_told() -> None:
    pages = [replace(page, page=replace(page.page, url=None)) for page in boards(5)]
    split = split_pages(pages)
    assert (split.by, len(split.folds)) == ("site", 5)
    assert "5 of 5 pages have no URL" in split.notes[0]


def test_pages_make_five_folds() -> None:
    assert len(split_pages(boards(20)).folds) == 5
    assert len(split_pages(boards(20), folds=4).folds) == 4
    assert len(split_pages(boards(3)).folds) == 3


def test_a_page_has_no_say_in_the_choice_of_its_strength() -> None:
    # The second strength is better on the last page only: that page must be measured with the first.
    scores = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.9]])
    assert choose_strengths(scores, [(0,), (1,), (2,)]).tolist() == [1, 1, 0]
    assert best_strength(scores) == 1
    assert best_strength(scores[:, :2]) == 0  # as good: the gentlest


def test_what_forgets_too_much_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = [0.001, 0.5, 0.9]
    monkeypatch.setattr(Learner, "forgotten", lambda _, models: lost[: len(models)])
    found = teach(boards(4), teaching=Teaching("main:epochs=1", curve=False, folds=2, metrics=("bag",)))
    assert (found.strength, found.forgotten) == (STRENGTHS[0], 0.001)
    assert found.to_json()["forgotten"] == 0.001
    assert [gain.metric for gain in found.gains] == ["bag f1"]


def test_other_pages_are_looked_at_again_and_count_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner("main:epochs=1")
    observed = [learner.make().observe(make_example(page)) for page in boards(2)]
    learned: list[Any] = []

    def remember(self: Main, pages: list[Any], *_: object, dumps: bool) -> Main:
        learned.extend(pages)
        return self.load_shipped()

    monkeypatch.setattr(Main, "learn", remember)
    models = learner.learn(observed)
    assert len(learned) == 2 * 4 + 16
    assert sum(page.example.weight for page in learned[:8]) == 16
    assert learned[8:] == learner.rehearsal[:16]
    assert learner.forgotten(models) == pytest.approx([0, 0, 0], abs=1e-3)  # nothing was learned
    assert Learner("ncleaner").forgotten([1]) == [0]


def test_strength_is_between_start_and_end() -> None:
    learner = Learner("main:epochs=1")
    observed = [learner.make().observe(make_example(page)) for page in boards(2)]
    gentle, *_, full = learner.learn(observed)
    shipped: Any = get_method("main")
    start = shipped.facts_and_arrays()[1]
    part = learner.strengths[0]
    for name, array in gentle.facts_and_arrays()[1].items():
        whole = full.facts_and_arrays()[1][name]
        assert np.allclose(array, (1 - part) * start[name] + part * whole, atol=1e-5), name


def test_gain_by_hand() -> None:
    gain = measure_gain("bag f1", [0.5, 0.6, 0.7, 0.8], [0.6, 0.8, 0.7, 0.7])
    assert gain.gain == pytest.approx(0.05)
    assert (gain.wins, gain.losses, gain.pages) == (2, 1, 4)
    # Differences 0.1, 0.2, 0, -0.1: deviation 0.1291, error 0.06455, t(3, 0.975) = 3.182
    assert gain.low == pytest.approx(0.05 - 0.2054, abs=1e-4)
    assert gain.high == pytest.approx(0.05 + 0.2054, abs=1e-4)
    assert gain.p == pytest.approx(0.495, abs=1e-3)


def test_a_lesson_is_saved_with_its_card(tmp_path: Path, lesson: Lesson) -> None:
    size = save_lesson(lesson, tmp_path / "models" / "boards")
    model = load(tmp_path / "models" / "boards")
    assert (model.method, model.parameters["start"]) == ("main", "main")
    assert model.card["data"][0]["pages"] == 6
    assert model.card["lesson"]["verdict"] == lesson.verdict
    page = (tmp_path / "models" / "boards" / CARD_PAGE).read_text("utf-8")
    assert lesson.verdict in page
    assert "| 2 | " in page
    assert size > 100_000
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["boards"]
    unseen = notice_board(50).page
    assert clean(unseen, method=tmp_path / "models" / "boards").text == clean(unseen, method=lesson.model).text


def test_an_older_model_is_replaced_and_nothing_else_is(tmp_path: Path, lesson: Lesson, quick: Lesson) -> None:
    save_lesson(lesson, tmp_path / "model")
    save_lesson(quick, tmp_path / "model")
    assert load(tmp_path / "model").method == "ncleaner"
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="something other than a model"):
        save_lesson(lesson, tmp_path / "letters")


def test_whoever_interrupts_saving_finds_nothing(
    tmp_path: Path, quick: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("mainmatter.lab.training.train.card_page", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_lesson(quick, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_lessons_are_listed_in_order(tmp_path: Path, lesson: Lesson, quick: Lesson) -> None:
    file = tmp_path / "models" / "lessons.jsonl"
    assert read_lessons(file) == []
    record_lesson(file, "first", lesson)
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"cut sho\n[1]\n')
    record_lesson(file, "second", quick)
    found = read_lessons(file)
    assert [(each["name"], each["pages"]) for each in found] == [("first", 6), ("second", 6)]
    assert found[0]["gain"] == pytest.approx(lesson.gain.gain)
    assert [point["pages"] for point in found[0]["curve"]] == [1, 2, 5]
    assert found[0]["probability"] == lesson.outlook.probability
