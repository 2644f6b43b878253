"""Cross-validation over gold standards that share sites and pages, and the scripts that use it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from main_pages import gold_pages, trained
from mainmatter import registry
from mainmatter.api import read
from mainmatter.errors import DatasetError, ModelError
from mainmatter.lab.datasets import DATASETS, GoldPage
from mainmatter.lab.evaluation import evaluate
from mainmatter.lab.metrics.bag import bag_of_words
from mainmatter.lab.training import folds
from mainmatter.lab.training.folds import FoldPage, assign_folds, load_fold_pages, load_folds, train_folds
from mainmatter.main.method import Main
from mainmatter.records import Gold, Page
from script_modules import load_script
from toys import LONG, Cutoff

if TYPE_CHECKING:
    from pathlib import Path


def page(html: str, url: str | None = None, text: str | None = LONG) -> GoldPage:
    return GoldPage(Page(html, url), Gold(text), {})


def test_what_sets_share_is_in_one_fold() -> None:
    pages = [
        page("a", "https://one.org/1"),
        page("b", "https://two.org/1"),
        page("c", "https://www.one.org/2"),  # the first one's site
        page("b", "https://three.org/"),  # the second one's bytes, under another address
        page("c"),  # the third one's bytes, without an address
        page("d", "https://three.org/2"),
        *(page(f"other {number}") for number in range(6)),
    ]
    numbers = assign_folds(pages, 3)
    assert numbers == assign_folds(pages, 3)
    assert numbers[0] == numbers[2] == numbers[4] != numbers[1] == numbers[3] == numbers[5]
    assert [numbers.count(fold) for fold in range(3)] == [4, 4, 4]


def test_all_sets_that_are_not_for_tests_only_are_split_together(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def load(name: str, data: object) -> list[GoldPage]:
        read.append(name)
        return [page(f"{name} {number}") for number in range(2)]

    monkeypatch.setattr(folds, "load_dataset", load)
    found = load_fold_pages("data", 4)
    assert read == [name for name, dataset in DATASETS.items() if dataset.use != "tests"]
    assert [(each.dataset, each.gold.page.html) for each in found[:2]] == [
        (read[0], f"{read[0]} {number}") for number in range(2)
    ]
    assert {each.fold for each in found} == {0, 1, 2, 3}
    with pytest.raises(DatasetError, match="at least two folds, not 1"):
        load_fold_pages("data", 1)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "cutoff", "toys:Cutoff")


@pytest.mark.usefixtures("known")
def test_models_learn_from_other_folds_and_not_from_snippets_of_the_same_pages() -> None:
    def fold_page(dataset: str, fold: int, words: int) -> FoldPage:
        text = "kept " * words
        return FoldPage(dataset, page(f"<p>{text}</p>", text=text), fold)

    pages = [fold_page("house-a", fold, words) for fold, words in enumerate((10, 20, 30))]
    pages.append(fold_page("trafilatura-eval-a", 0, 1))
    lines: list[str] = []
    models = list(train_folds("cutoff:unit=words", pages, report=lines.append))
    assert [model.cutoff_ for model in models if isinstance(model, Cutoff)] == [10, 5, 5]  # half of the fewest words
    assert lines[0] == "fold 0: learning from 2 pages"


@pytest.mark.usefixtures("known")
def test_models_of_folds_are_read_from_a_folder(tmp_path: Path) -> None:
    for fold in range(2):
        Cutoff().learn([(fold, fold)]).save(tmp_path / str(fold))
    assert [model.cutoff_ for model in load_folds(tmp_path, 2) if isinstance(model, Cutoff)] == [0, 1]
    with pytest.raises(ModelError):
        load_folds(tmp_path, 3)


@pytest.fixture
def pages() -> list[FoldPage]:
    """Pages of two sets, one by our guide with all pieces apart, in two folds."""
    found = []
    for number, one in enumerate(gold_pages(2)):
        gold = replace(one.gold, byline="", captions="", comments="Me too, I saw 0 of them.")
        found.append(FoldPage("house-a", replace(one, gold=gold), number % 2))
    of_wcxb = [replace(one, gold=Gold(one.gold.text), convention="wcxb") for one in gold_pages(1)]
    return [*found, *(FoldPage("wcxb-dev", one, number % 2) for number, one in enumerate(of_wcxb))]


@pytest.fixture
def models(tmp_path: Path) -> Path:
    for fold in range(2):
        trained().save(tmp_path / "models" / str(fold))
    return tmp_path / "models"


def run(name: str, pages: list[FoldPage], monkeypatch: pytest.MonkeyPatch, *arguments: Any, **changes: Any) -> str:
    script = load_script(name)
    for attribute, value in {"load_fold_pages": lambda *_: pages, **changes}.items():
        monkeypatch.setattr(script, attribute, value)
    common = ["--data", "data", "--folds", "2", "--workers", "1"]
    result = CliRunner().invoke(script.main, [*map(str, arguments), *common])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_script_measures_both_ways(
    pages: list[FoldPage], models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rapidfuzz")
    file = tmp_path / "found.json"
    shown = run("cross_validate", pages, monkeypatch, "main", "--models", models, "-o", file)
    found = json.loads(file.read_text("utf-8"))["main"]
    assert found["sets"]["house-a"]["pages"] == 6
    assert found["sets"]["house-a"]["bag f1 own"] == found["sets"]["house-a"]["bag f1 house"] > 0.8
    assert found["page_types"]["wcxb-dev: forum"]["pages"] == 1
    assert found["page_type_is_right"] == {"pages": 9, "share": 1.0}
    assert set(found["labels"]) == {"house-a"}
    assert found["labels"]["house-a"]["comment"]["blocks"] >= 1
    kept = found["kept"]["wcxb-dev: headline"]
    assert (kept["blocks"], kept["kept"]) == (3, 1.0)
    bins = found["confidence"]["all sets, each by its own convention"].values()
    assert sum(each["pages"] for each in bins) == 9
    assert "| wcxb-dev |     3 |" in shown
    own = [one for one in found["pages"] if one["set"] == "wcxb-dev"]
    by_wcxb = trained().by_convention("wcxb")
    expected = evaluate(by_wcxb, "", [pages[-1].gold], ["bag", "snippet"]).pages[0][1]
    assert expected in [one["own"]["scores"] for one in own]
    again = run("cross_validate", pages, monkeypatch, "main", "--models", models, "--beside", file)
    assert "| before |" in again


def test_the_script_keeps_the_models_that_it_trains(
    pages: list[FoldPage], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rapidfuzz")
    run("cross_validate", pages, monkeypatch, "main:epochs=1", "--save", tmp_path / "kept")
    assert [isinstance(model, Main) for model in load_folds(tmp_path / "kept", 2)] == [True, True]


def test_thresholds_are_tried_on_what_the_net_said_once(
    pages: list[FoldPage], models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rapidfuzz")
    file = tmp_path / "thresholds.json"
    thresholds = (1e-9, 0.5, 1 - 1e-9)  # the net of these tests is sure of most
    shown = run("choose_thresholds", pages, monkeypatch, "--models", models, "-o", file, THRESHOLDS=thresholds)
    found = json.loads(file.read_text("utf-8"))
    assert len(found) == len(pages)
    ends: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for result in found:
        assert len(set(result["betas"]) - {"as it is"}) == 11
        assert bool(result["labels"]) is (result["set"] == "house-a")
        for label, figures in result["labels"].items():
            counts = [each[2] for name, each in figures.items() if name != "as it is"]
            ends[label].append((counts[0], counts[-1]))
    # The higher a threshold, the fewer blocks have a label.
    assert all(first >= last for each in ends.values() for first, last in each)
    for label in ("headline", "comment"):
        assert any(first > last for first, last in ends[label]), label
    assert "comment, on pages by our guide" in shown


def test_tables_are_made_by_models_of_folds_unless_all_has_been_chosen(
    pages: list[FoldPage], models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run("main_tables", pages, monkeypatch, "--models", models)
    expected = evaluate(trained(), "", [each.gold for each in pages[:6]], ["bag"]).scores["bag"]["f1"]
    figure = f"{expected:.3f}"
    assert (
        f"| convention | house-a | wcxb-dev |\n|------------|--------:|---------:|\n| of the set |   {figure} |"
        in shown
    )
    assert "F1 without one family of signals" in shown
    script = load_script("main_tables")
    for arguments in ([], ["--final", "--models", str(models)], ["--final", "--dumps"]):
        result = CliRunner().invoke(script.main, ["--data", "data", *arguments])
        assert (result.exit_code, "say --models FOLDER, --final or --dumps" in result.output) == (2, True)


@pytest.mark.parametrize("number", range(6))
def test_the_score_of_a_choice_is_that_of_its_text(number: int) -> None:
    gold = gold_pages(2)[number]
    document = read(gold.page)
    kept = trained().extract(document)
    scorer = load_script("choose_thresholds").PageScorer(document, gold.gold.text)
    assert scorer.f1(kept.kept) == pytest.approx(bag_of_words(kept.text, gold.gold.text or "").f1)
