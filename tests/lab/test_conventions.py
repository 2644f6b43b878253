"""Methods that know the rules of several gold standards are measured by those of each page's own, or by ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from bench import accuracy, gate
from bench.contestant import load_runner
from lab.training.test_train import no_progress
from main_pages import article, trained
from mainmatter import registry
from mainmatter.cli import group
from mainmatter.errors import UnknownName
from mainmatter.lab.datasets import DATASETS, GoldPage, gold, load_dataset
from mainmatter.lab.evaluation import MethodByConvention, evaluate, spell_conventions
from mainmatter.lab.reports.study import study
from mainmatter.lab.training.train import Training, cross_validate, observe_pages, train
from mainmatter.main.method import Main
from mainmatter.method import OUR_CONVENTION
from mainmatter.papers.density.method import Density
from mainmatter.records import Extraction, Gold, Page
from mainmatter.registry import get_method
from toys import LONG, RuledCutoff, write_gold_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mainmatter.lab.evaluation import Evaluation

HTML = f"<p>Home</p><p>{LONG}</p>"
OURS = GoldPage(Page(HTML, id="ours"), Gold(LONG), {})
THEIRS = GoldPage(Page(HTML, id="theirs"), Gold("Home"), {}, convention="short")
UNKNOWN = GoldPage(Page(HTML, id="unknown"), Gold(LONG), {}, convention="of nobody")
PAGES = [OURS, THEIRS, UNKNOWN]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a trained model that knows two conventions."""
    monkeypatch.setitem(registry.METHODS, "ruled", "toys:RuledCutoff")
    ruled().save(tmp_path / "model")
    return str(tmp_path / "model")


def ruled(convention: str = OUR_CONVENTION) -> RuledCutoff:
    return RuledCutoff(convention=convention).learn([(10, 50)])


def f1(found: Evaluation) -> list[float]:
    return [scores["bag"]["f1"] for _, scores in found.pages if scores["bag"] is not None]


def test_a_method_by_another_convention_has_learned_the_same() -> None:
    method = ruled()
    other = method.by_convention("short")
    assert (other.convention, other.cutoff_, method.convention) == ("short", method.cutoff_, OUR_CONVENTION)
    assert method.by_convention("of nobody") is method


def test_main_that_ships_knows_the_conventions_of_the_sets_that_it_may_learn_from() -> None:
    shipped = get_method("main")
    assert isinstance(shipped, Main)
    assert set(shipped.conventions) == {known.convention for known in DATASETS.values() if known.use == "training"}


def test_main_follows_the_convention_of_a_set() -> None:
    by_wcxb = trained().by_convention("wcxb")
    assert (by_wcxb.convention, by_wcxb.net_) == ("wcxb", trained().net_)
    page = replace(article(1), convention="wcxb")
    assert evaluate(trained(), "", [page], ["bag"]).pages == evaluate(by_wcxb, "", [page], ["bag"]).pages


@pytest.mark.parametrize("workers", [1, 2])
def test_each_page_is_measured_by_the_convention_of_its_set(workers: int) -> None:
    assert f1(evaluate(ruled(), "", PAGES * 5, ["bag"], workers=workers)) == [1, 1, 1] * 5


def test_all_pages_may_be_measured_by_ours() -> None:
    found = evaluate(ruled(), "", PAGES, ["bag"], convention="house")
    assert (f1(found), found.convention) == ([1, 0, 1], "house")


def test_a_convention_that_was_chosen_wins(model: str) -> None:
    assert f1(evaluate(model, "", PAGES, ["bag"])) == [1, 1, 1]
    assert f1(evaluate(f"{model}:convention=house", "", PAGES, ["bag"])) == [1, 0, 1]
    assert f1(evaluate(f"{model}:convention=short", "", PAGES, ["bag"])) == [0, 1, 0]
    assert f1(evaluate(ruled("short"), "", PAGES, ["bag"])) == [0, 1, 0]


def test_methods_without_conventions_and_peers_are_run_as_they_are() -> None:
    for method in (Density(), "turbohtml"):
        runner = MethodByConvention(method)
        assert not runner.follows
        assert runner.on(THEIRS) is runner.on(OURS) is method


def test_names_say_which_conventions_are_wanted(model: str) -> None:
    names = [model, f"{model}:margin=1", f"{model}:convention=short", "density", "turbohtml"]
    others = names[2:]
    assert spell_conventions(names, "own") == names
    ours = [f"{model}:convention=house", f"{model}:margin=1,convention=house"]
    assert spell_conventions(names, "house") == [*ours, *others]
    assert spell_conventions(names, "both") == [names[0], ours[0], names[1], ours[1], *others]
    with pytest.raises(UnknownName):
        spell_conventions(["nothing"], "both")


def test_the_command_shows_both(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiny.parquet").touch()
    monkeypatch.setattr("mainmatter.cli.evaluate.load_dataset", lambda *_: PAGES)
    arguments = ["evaluate", model, "density", "--on", "tiny", "-j", "1", "--convention"]

    def rows(convention: str) -> list[tuple[str, str]]:
        result = CliRunner().invoke(group, [*arguments, convention])
        assert result.exit_code == 0, result.output
        cells = [line.strip("| ").split("|") for line in result.stdout.splitlines()[2:]]
        return [(row[1].strip().removeprefix(model), row[5].strip()) for row in cells]

    own, house, density = ("", "1.000"), (":convention=house", "0.667"), ("density", "0.667")
    assert rows("own") == [own, density]
    assert rows("house") == [house, density]
    assert rows("both") == [own, house, density]


def test_a_convention_that_was_not_learned_is_told_with_the_command_that_learns_it(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny.parquet").touch()
    theirs = replace(THEIRS, convention="cleaneval")
    monkeypatch.setattr("mainmatter.cli.evaluate.load_dataset", lambda *_: [OURS, theirs])

    def told(method: str) -> str:
        return CliRunner().invoke(group, ["evaluate", method, "--on", "tiny", "-j", "1"]).stderr

    assert "has not learned that of cleaneval" in told(model)
    assert f"mainmatter train main:freeze=True,start={model} --on cleaneval-dev -o MODEL" in told(model)
    for other in (f"{model}:convention=house", "density"):
        assert "convention" not in told(other)


def test_benchmarks_follow_the_set_and_keep_its_figures_apart(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = load_runner(model)
    kept = [run(page) for page in PAGES]
    assert [one.text for one in kept if isinstance(one, Extraction)] == [LONG, "Home", LONG]
    files: list[str] = []

    def read_cell(file: Path) -> None:
        files.append(file.name)
        raise KeyboardInterrupt  # before a process is started

    monkeypatch.setattr(accuracy, "read_cell", read_cell)
    as_ours = [replace(page, convention=OUR_CONVENTION) for page in PAGES]
    for name in (model, f"{model}:convention=house"):
        for pages in (PAGES, as_ours):
            with pytest.raises(KeyboardInterrupt):
                accuracy.measure_accuracy([name], "tiny", pages, tmp_path)
    assert len(set(files[:2])) == 2
    assert files[2] == files[3]


def test_reports_show_what_was_measured(model: str) -> None:
    pytest.importorskip("rapidfuzz")
    found = [evaluate(name, "", PAGES, ["bag"]) for name in (model, f"{model}:convention=house")]
    choices = study("", PAGES, found).choices
    assert [len(choices[one.method].worst) for one in found] == [0, 1]
    diff = choices[found[1].method].worst[0].diff
    assert diff is not None
    assert diff.missed == 1  # "Home"
    by_ours = evaluate(ruled(), "", PAGES, ["bag"], convention="house")
    (shown,) = study("", PAGES, [by_ours], methods={"ruled": ruled()}).choices["ruled"].worst
    assert shown.diff == diff


def test_the_gate_knows_the_convention_of_a_set_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wcxb-dev.parquet").touch()
    monkeypatch.setattr(gold, "_read_parquet", lambda _: iter([OURS]))
    seen: list[str] = []

    def measure(method: str, name: str, pages: Sequence[GoldPage], metrics: Sequence[str]) -> Evaluation:
        seen.extend(page.convention for page in pages)
        return evaluate("ice-baseline", name, pages, metrics)

    monkeypatch.setattr(gate, "evaluate", measure)
    place = gate.place_of("wcxb-dev", tmp_path / "floors.json", tmp_path)
    gate.measure("wcxb-dev", gate.PinnedSet(), place)
    gate.measure("mine", gate.PinnedSet(), write_gold_folder(tmp_path / "mine", pages=1))
    assert seen == ["wcxb", OUR_CONVENTION]


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(("name", "is_right"), [("ruled", True), ("ruled:convention=house", False)])
def test_what_is_left_out_of_training_is_measured_by_its_convention(
    name: str, is_right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def learn(self: RuledCutoff, *_: object) -> RuledCutoff:
        self.cutoff_ = 30.0
        return self

    monkeypatch.setattr(RuledCutoff, "learn", learn)
    pages = [
        replace(page, gold=Gold(f"Home\nMenu {number}\nA short heading {number}"), convention="short")
        for number, page in enumerate(load_dataset(str(write_gold_folder(tmp_path / "gold"))))
    ]
    observed = observe_pages(RuledCutoff(), pages)
    assert (cross_validate(name, observed, ["bag"], folds=2).scores["bag"]["f1"] == 1) is is_right
    _, card = train(Training(name, {"mine": pages}, {"again": pages[:1]}), no_progress)
    assert (card["check"]["bag_f1"] == 1) is (card["valid"][0]["bag_f1"] == 1) is is_right
