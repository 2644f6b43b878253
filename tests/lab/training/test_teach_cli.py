"""`mainmatter teach`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mainmatter import registry
from mainmatter.cli import group
from mainmatter.errors import InputError
from mainmatter.workbench.labels import Label, Store
from mainmatter.workbench.labels.gold import count_ready, load_teaching_pages
from teaching_pages import annotate_boards, boards, write_boards
from timing import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "cutoff", "toys:Cutoff")


@pytest.fixture
def workbench(tmp_path: Path) -> Path:
    folder = tmp_path / "workbench"
    folder.mkdir()
    annotate_boards(folder / "annotations.db", 5)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["teach", *map(str, arguments)])


def test_annotations_to_a_model(workbench: Path, tmp_path: Path) -> None:
    model = workbench / "models" / "boards"
    curve = tmp_path / "curve.svg"
    result = run(workbench, "-o", model, "-m", "ncleaner", "--curve", curve, "--licence", "CC0")
    assert result.exit_code == 0, result.output
    assert "5 pages of 5 sites" in result.stderr
    assert "   4 pages taught: bag f1 " in result.stderr
    assert result.stdout.startswith("Probably better (9")
    assert f"use it: mainmatter clean PAGE --method {model}" in result.stdout
    assert curve.read_bytes().startswith(b"<svg")
    card = json.loads((model / "model.json").read_bytes())["card"]
    assert card["data"][0] | {"sha256": ""} == {"name": "workbench", "pages": 5, "licence": "CC0", "sha256": ""}
    lessons = (workbench / "models" / "lessons.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["name"] for line in lessons] == ["boards"]


def test_a_database_and_a_gold_standard_do_as_well(workbench: Path, tmp_path: Path) -> None:
    gold = write_boards(tmp_path / "gold", 4)
    result = run(gold, "-o", tmp_path / "a", "-m", "cutoff", "--no-points")
    assert result.exit_code == 0, result.output
    assert not (tmp_path / "lessons.jsonl").exists()
    result = run(workbench / "annotations.db", "-o", tmp_path / "b", "-m", "cutoff", "--no-points")
    assert result.exit_code == 0, result.output
    assert (workbench / "models" / "lessons.jsonl").exists()


def test_json_lines(workbench: Path, tmp_path: Path) -> None:
    result = run(workbench, "-o", tmp_path / "model", "-m", "ncleaner", "--json")
    assert result.exit_code == 0, result.output
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert events[0]["event"] == "start"
    assert [event["pages"] for event in events if event["event"] == "point"] == [1, 2, 4]
    assert events[-1]["event"] == "lesson"
    assert events[-1]["recommended"] is True
    steps = [event["done"] for event in events if event["event"] == "step"]
    assert steps == sorted(steps)
    assert result.stderr == ""


def test_errors_are_json_too(tmp_path: Path) -> None:
    result = run(tmp_path / "nowhere", "-o", tmp_path / "model", "--json")
    assert result.exit_code == 1
    last = json.loads(result.stdout.splitlines()[-1])
    assert last["event"] == "error"
    assert "no such file or folder" in last["error"]
    result = run(tmp_path, "-o", tmp_path / "model")
    assert f"{tmp_path} has no annotations.db, so it was read as a gold standard: " in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("-m", "density"), 1, "does not learn"),
        (("-m", "mani"), 1, "did you mean 'main'"),
        (("--curve", "curve.gif"), 1, "must end in .svg"),
        (("--split", "luck"), 2, "is not one of"),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = run(tmp_path / "nowhere", "-o", tmp_path / "model", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("x", encoding="utf-8")
    result = run(tmp_path, "-o", tmp_path / "letters")
    assert result.exit_code == 2
    assert "something other than a model" in " ".join(result.stderr.split())


def test_too_few_pages_say_what_is_missing(tmp_path: Path) -> None:
    database = tmp_path / "annotations.db"
    annotate_boards(database, 3)
    with Store(database) as store:
        fourth = store.add_page(boards(4)[3].page, "tests", name="fourth")
        first_ref = store.blocks(fourth)[0].ref
        store.set_labels(fourth, "ada", {first_ref: Label(kept=True)})
    result = run(tmp_path, "-o", tmp_path / "model")
    assert result.exit_code == 1
    assert "3 of 4 pages ready, and teaching needs at least 4" in result.stderr
    assert "fourth: nobody has finished it" in result.stderr
    assert not (tmp_path / "model").exists()


def test_readiness(tmp_path: Path) -> None:
    database = tmp_path / "annotations.db"
    annotate_boards(database, 5)
    with Store(database) as store:
        pages = store.pages()
        single, agreed, conflict, merged, unfinished = (page.id for page in pages)
        store.add_page(boards(6)[5].page, "tests")
        for page_id, kept in ((agreed, None), (conflict, True), (merged, True)):
            labels = store.labels(page_id, "ada").by_ref
            other = {ref: label if kept is None else Label(kept=not label.kept) for ref, label in labels.items()}
            store.set_labels(page_id, "bob", other)
            store.set_done(page_id, "bob", done=True)
        store.set_labels(merged, "merged", store.labels(merged, "ada").by_ref, by="cleo")
        store.set_done(unfinished, "ada", done=False)
        assert store.labels(single, "ada").done
        counts = count_ready(store)
    assert counts == dict.fromkeys(("single", "agreed", "conflict", "merged", "unfinished", "new"), 1)
    with pytest.raises(InputError, match="3 of 6 pages ready"):
        load_teaching_pages(str(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing(workbench: Path, number: signal.Signals) -> None:
    model = workbench / "models" / "boards"
    command = [sys.executable, "-m", "mainmatter", "teach", str(workbench), "-o", str(model), "-m", "main:epochs=5000"]
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        end = time.monotonic() + PATIENCE
        for line in process.stdout:
            assert time.monotonic() < end
            if "learning from" in line:
                process.send_signal(number)
                break
        try:
            rest, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # one that does not listen is not waited for
    assert process.returncode != 0
    assert '{"event": "interrupted"}' in rest
    assert "Traceback" not in errors
    assert list((workbench / "models").glob("*")) == []
