from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench import floors, gate
from mainmatter.errors import DatasetError, InputError
from mainmatter.lab.datasets import GoldPage, load_dataset
from mainmatter.records import Gold, Page
from toys import write_gold_folder

PINNED = gate.PinnedSet(sha256="a" * 64, floors={"bag f1": 0.8, "bag f1 page_type=forum": 0.7})
GOOD = {"bag f1": 0.81, "bag f1 page_type=forum": 0.7}


def test_the_gated_method_is_main_if_there_is_one() -> None:
    assert gate.GATED_METHOD == "main"


# Comparing


def test_figures_on_or_over_their_floors_are_well() -> None:
    assert gate.complaints(PINNED, GOOD, "a" * 64) == []


@pytest.mark.parametrize("worse", [0.6999, float("nan")])
def test_a_worse_figure_is_told(worse: float) -> None:
    (complaint,) = gate.complaints(PINNED, GOOD | {"bag f1 page_type=forum": worse}, "a" * 64)
    assert complaint == f"bag f1 page_type=forum is {worse:.4f}, below its floor, 0.7000"


def test_changed_data_is_told_instead_of_figures() -> None:
    (complaint,) = gate.complaints(PINNED, {"bag f1": 0.0}, "b" * 64)
    assert complaint.startswith("the data changed (SHA-256 bbbbbbbbbbbb, pinned aaaaaaaaaaaa)")


def test_a_floor_without_figure_and_a_figure_without_floor_are_told() -> None:
    found = gate.complaints(PINNED, {"bag f1": 0.9, "snippet f1": 0.9}, "a" * 64)
    assert found == ["bag f1 page_type=forum has a floor, 0.7000, but was not measured", "snippet f1 has no floor"]
    assert gate.complaints(gate.PinnedSet(), GOOD, "a" * 64) == ["nothing is pinned yet"]


# Raising and lowering


def test_raising_lifts_to_what_was_measured_less_the_tolerance_and_lowers_nothing() -> None:
    better = gate.raised(PINNED, {"bag f1": 0.91239, "bag f1 page_type=forum": 0.5, "snippet f1": 0.6}, "a" * 64)
    assert better.floors == {"bag f1": 0.9073, "bag f1 page_type=forum": 0.7, "snippet f1": 0.595}
    assert (
        gate.complaints(better, {"bag f1": 0.91239, "bag f1 page_type=forum": 0.7, "snippet f1": 0.6}, "a" * 64) == []
    )


def test_raising_on_other_data_is_refused() -> None:
    with pytest.raises(InputError, match="the data changed"):
        gate.raised(PINNED, GOOD, "b" * 64)
    assert gate.raised(gate.PinnedSet(), {"bag f1": 0.5}, "b" * 64).sha256 == "b" * 64


def test_lowering_takes_a_reason_and_the_name_of_a_floor() -> None:
    worse = {"bag f1": 0.5, "bag f1 page_type=forum": 0.5}
    with pytest.raises(InputError, match="needs a reason"):
        gate.lowered("mine", PINNED, worse, "  ")
    with pytest.raises(InputError, match="no floor 'bag'; there are: bag f1, "):
        gate.lowered("mine", PINNED, worse, "why", "bag")
    one, changes = gate.lowered("mine", PINNED, worse, "why", "bag f1")
    assert one.floors == {"bag f1": 0.495, "bag f1 page_type=forum": 0.7}
    assert changes == [gate.LoweredFloor("mine", "bag f1", 0.8, 0.495, "why")]
    both, changes = gate.lowered("mine", PINNED, worse, "why")
    assert both.floors == {"bag f1": 0.495, "bag f1 page_type=forum": 0.495}
    assert len(changes) == 2


def test_a_floor_whose_figure_is_gone_can_be_removed_and_that_is_recorded() -> None:
    pinned, changes = gate.lowered("mine", PINNED, {"bag f1": 0.9}, "no forum pages")
    assert pinned.floors == {"bag f1": 0.8}
    assert changes == [gate.LoweredFloor("mine", "bag f1 page_type=forum", 0.7, 0.0, "no forum pages")]


def test_other_data_can_be_pinned_with_a_reason() -> None:
    with pytest.raises(InputError, match="needs a reason"):
        gate.repinned("mine", PINNED, GOOD, "b" * 64, "")
    pinned, changes = gate.repinned("mine", PINNED, {"bag f1": 0.9, "bag f1 page_type=forum": 0.6}, "b" * 64, "new")
    assert pinned.sha256 == "b" * 64
    assert pinned.floors == {"bag f1": 0.895, "bag f1 page_type=forum": 0.595}
    assert [change.figure for change in changes] == ["bag f1 page_type=forum"]


# Files and pages


def test_floors_are_read_as_they_were_written(tmp_path: Path) -> None:
    floors = gate.Floors(
        "density", {"mine": replace(PINNED, pages=5)}, (gate.LoweredFloor("mine", "bag f1", 0.9, 0.8, "x"),)
    )
    gate.write_floors(floors, tmp_path / "floors.json")
    assert gate.read_floors(tmp_path / "floors.json") == floors


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"method": "x", "sets": {"a": {"floor": 1}}, "lowered": []}'])
def test_a_damaged_file_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "floors.json").write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"floors\.json: not a file of floors"):
        gate.read_floors(tmp_path / "floors.json")


def test_the_digest_sees_contents_and_names(tmp_path: Path) -> None:
    folder = write_gold_folder(tmp_path / "mine", 2)
    first = gate.digest(folder)
    (folder / ".hidden").write_text("x", "utf-8")
    assert gate.digest(folder) == first
    (folder / "gold" / "00.txt").write_text("other", "utf-8")
    second = gate.digest(folder)
    (folder / "gold" / "00.txt").rename(folder / "gold" / "02.txt")
    assert len({first, second, gate.digest(folder), gate.digest(folder / "gold" / "02.txt")}) == 4
    with pytest.raises(DatasetError, match="no such file or folder"):
        gate.digest(tmp_path / "none")


def test_the_sample_does_not_depend_on_the_order() -> None:
    pages = [GoldPage(Page("", id=str(n)), Gold(text=""), {}) for n in range(40)]
    chosen = [page.page.id for page in gate.choose(pages, 10)]
    assert len(set(chosen)) == 10
    assert [page.page.id for page in gate.choose(pages[::-1], 10)] == chosen
    assert chosen != [page.page.id for page in pages[:10]]
    assert gate.choose(pages, None) == gate.choose(pages, 99) == pages


def test_a_folder_beside_the_floors_is_measured_with_its_groups(tmp_path: Path) -> None:
    folder = write_gold_folder(tmp_path / "mine", 4)
    index: dict[str, Any] = {f"{n:02}": {"page_type": "forum" if n else "article"} for n in range(4)}
    index["01"]["must_have"] = ["no such text"]
    (folder / "index.json").write_text(json.dumps(index), "utf-8")
    assert gate.place_of("mine", tmp_path / "floors.json", Path("data")) == folder
    assert gate.place_of("theirs", tmp_path / "floors.json", Path("data")) == Path("data/theirs.parquet")
    pinned = gate.PinnedSet(("bag", "snippet"), groups=("page_type",), methods=("ice-baseline",))
    figures = gate.measure("mine", pinned, folder, "ice-heuristic")
    assert list(figures)[:4] == [
        "bag f1",
        "bag f1 page_type=article",
        "bag f1 page_type=forum",
        "bag f1 method=ice-baseline",
    ]
    assert figures["bag f1"] > figures["bag f1 method=ice-baseline"] > 0.5
    assert figures["snippet f1"] == figures["snippet f1 page_type=forum"] == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "not an index"),
        ('{"00": 3}', "not an index"),
        ('{"00": {"must_have": "x"}}', "00: must_have is not a list of strings"),
    ],
)
def test_a_damaged_index_is_told(tmp_path: Path, content: str, message: str) -> None:
    folder = write_gold_folder(tmp_path / "mine", 1)
    (folder / "index.json").write_text(content, "utf-8")
    with pytest.raises(DatasetError, match=rf"index\.json.*{message}"):
        load_dataset(str(folder))


# The command


def run(tmp_path: Path, *arguments: str) -> Result:
    options = ["--floors", str(tmp_path / "floors.json"), "--data", str(tmp_path), "--method", "ice-heuristic"]
    return CliRunner().invoke(floors.command, [*options, *arguments])


@pytest.fixture
def pinned_folder(tmp_path: Path) -> Path:
    """A file of floors, raised to what is measured on a folder beside it; another set is missing."""
    write_gold_folder(tmp_path / "mine", 3)
    gate.write_floors(gate.Floors("none", {"mine": gate.PinnedSet(), "away": PINNED}), tmp_path / "floors.json")
    done = run(tmp_path, "raise")
    assert done.exit_code == 0, done.output
    assert "away: left out" in done.output
    return tmp_path


def floors_of(folder: Path) -> gate.Floors:
    return gate.read_floors(folder / "floors.json")


def set_floor(folder: Path, floor: float) -> None:
    text = re.sub(
        r'("bag f1": )0\.[5-9]\d*(\n)', rf"\g<1>{floor}\2", (folder / "floors.json").read_text("utf-8"), count=1
    )
    (folder / "floors.json").write_text(text, "utf-8")
    assert floors_of(folder).sets["mine"].floors == {"bag f1": floor}


def test_check_passes_on_what_was_pinned_and_fails_below_a_floor(pinned_folder: Path) -> None:
    assert floors_of(pinned_folder).method == "ice-heuristic"
    assert floors_of(pinned_folder).sets["away"] == PINNED
    assert run(pinned_folder, "check").exit_code == 0
    set_floor(pinned_folder, 0.9999)
    done = run(pinned_folder, "check")
    assert done.exit_code == 1
    assert "mine: bag f1 is" in done.output


def test_sets_for_tests_only_are_measured_when_all_has_been_chosen(tmp_path: Path) -> None:
    write_gold_folder(tmp_path / "dragnet", 1)  # a set of that name
    gate.write_floors(gate.Floors("none", {"dragnet": gate.PinnedSet()}), tmp_path / "floors.json")
    for command in ("check", "raise"):
        done = run(tmp_path, command)
        assert (done.exit_code, done.output) == (0, "dragnet: left out, for tests only; --final measures it\n")
    assert floors_of(tmp_path).sets["dragnet"] == gate.PinnedSet()
    assert "dragnet: bag f1: 0.0000 -> " in run(tmp_path, "--final", "raise").output


def test_raise_alone_does_not_lower(pinned_folder: Path) -> None:
    set_floor(pinned_folder, 0.9999)
    done = run(pinned_folder, "raise")
    assert "below its floor, 0.9999; --lower 'mine' --reason WHY lowers it" in done.output
    assert floors_of(pinned_folder).sets["mine"].floors == {"bag f1": 0.9999}
    done = run(pinned_folder, "raise", "--lower", "mine: bag f1")
    assert done.exit_code == 1
    assert "needs a reason" in done.output
    assert floors_of(pinned_folder).sets["mine"].floors == {"bag f1": 0.9999}


@pytest.mark.parametrize("named", ["mine", "mine: bag f1"])
def test_lowering_by_name_and_with_a_reason_is_recorded(pinned_folder: Path, named: str) -> None:
    measured = floors_of(pinned_folder).sets["mine"].floors["bag f1"]
    set_floor(pinned_folder, 0.9999)
    done = run(pinned_folder, "raise", "--lower", named, "--reason", "headings go")
    assert done.exit_code == 0, done.output
    assert floors_of(pinned_folder).sets["mine"].floors == {"bag f1": measured}
    assert floors_of(pinned_folder).lowered == (gate.LoweredFloor("mine", "bag f1", 0.9999, measured, "headings go"),)
    assert run(pinned_folder, "check").exit_code == 0


def test_changed_pages_are_noticed_and_pinned_only_on_demand(pinned_folder: Path) -> None:
    (pinned_folder / "mine" / "gold" / "00.txt").write_text("something else", "utf-8")
    assert "the data changed" in run(pinned_folder, "check").output
    done = run(pinned_folder, "raise")
    assert done.exit_code == 1
    assert "pin it with --new-data mine --reason WHY" in done.output
    done = run(pinned_folder, "raise", "--new-data", "mine", "--reason", "a new gold text")
    assert done.exit_code == 0, done.output
    assert floors_of(pinned_folder).lowered[0].reason == "a new gold text"
    assert run(pinned_folder, "check").exit_code == 0


@pytest.mark.parametrize("option", ["--lower", "--new-data"])
def test_an_unknown_set_is_told(pinned_folder: Path, option: str) -> None:
    done = run(pinned_folder, "raise", option, "yours", "--reason", "x")
    assert done.exit_code == 1
    assert "no set 'yours'; there are: mine, away" in done.output
