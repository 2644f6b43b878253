"""`mainmatter train`."""

from __future__ import annotations

import fcntl
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mainmatter import registry
from mainmatter.cli import group
from toys import LONG, write_gold_folder

if TYPE_CHECKING:
    from click.testing import Result


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "cutoff", "toys:Cutoff")


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write_gold_folder(tmp_path / "gold")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def test_train_and_use(tmp_path: Path, gold: Path) -> None:
    model = tmp_path / "model"
    result = run("train", "cutoff", "--on", gold, "--valid", gold, "--licence", "CC0", "-o", model, "-j", 1)
    assert result.exit_code == 0, result.output
    assert "12 pages labelled, 0 skipped" in result.stderr
    assert f"{gold}: bag f1 1.000 on 12 pages, 12 of which it has learned from" in result.stderr
    assert result.stdout.startswith(f"model written to {model}: ")
    assert result.stdout.endswith(f"use it: mainmatter clean PAGE --method {model}\n")
    description = json.loads((model / "model.json").read_bytes())
    assert description["card"]["data"][0]["licence"] == "CC0"
    assert (model / "README.md").read_text(encoding="utf-8").startswith("# A model of cutoff\n")
    page = gold / "html" / "03.html"
    assert run("clean", page, "-m", model).stdout == f"{LONG} 3.\n\n{LONG} Page 3.\n"
    assert "cutoff: kept 0 of 5 blocks" in run("explain", page, "-m", f"{model}:margin=999").stdout
    table = run("evaluate", model, "cutoff", "--on", gold)
    assert table.exit_code == 1
    table = run("evaluate", model, "--on", gold, "-j", 1)
    assert f"| {model} |" in table.stdout


def test_a_log_has_a_few_lines_of_many_epochs(tmp_path: Path, gold: Path) -> None:
    result = run("train", "main:epochs=20", "--on", gold, "-o", tmp_path / "model", "--no-check", "-j", 1)
    assert result.exit_code == 0, result.output
    told = [line.partition(" of ")[0] for line in result.stderr.splitlines() if "epoch " in line]
    assert told == [f"{net}epoch {number}" for net in ("texts: ", "") for number in range(2, 21, 2)]


def test_an_older_model_is_replaced(tmp_path: Path, gold: Path) -> None:
    for unit in ("characters", "words"):
        result = run("train", f"cutoff:unit={unit}", "--on", gold, "-o", tmp_path / "model", "--no-check", "-j", 1)
        assert result.exit_code == 0, result.output
        assert "check" not in result.stderr
        is_said = f"replacing the older model in {tmp_path / 'model'}\n" in result.stderr
        assert is_said == (unit == "words")
        description = json.loads((tmp_path / "model" / "model.json").read_bytes())
        assert description["parameters"]["unit"] == unit


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("density",), 1, "'density' does not learn"),
        (("cut",), 1, "did you mean 'cutoff'"),
        (("cutoff:size=3",), 1, "has no parameter 'size'"),
        (("cutoff", "--on", "nowhere"), 1, "unknown dataset 'nowhere'"),
        (("cutoff", "--on", "./nowhere"), 1, "Error: ./nowhere: no such file or folder\n"),
        (("cutoff", "--labels", "luck"), 2, "'luck' is not one of"),
    ],
)
def test_bad_requests(tmp_path: Path, gold: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = run("train", *arguments, "--on", gold, "-o", tmp_path / "model")
    assert result.exit_code == code
    assert message in result.stderr
    assert not (tmp_path / "model").exists()


def test_the_guide_names_all_that_learn() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "how-to" / "training.md").read_text(encoding="utf-8")
    first = guide.split("\n\n")[1]
    assert sorted(re.findall(r"\[`([a-z-]+)`\]", first)) == sorted({*registry.trainable_names()} - {"cutoff"})


def test_nothing_is_written_over(gold: Path) -> None:
    result = run("train", "cutoff", "--on", gold, "-o", gold)
    assert result.exit_code == 2
    assert "holds something other than a model" in result.stderr


def test_what_cannot_begin_leaves_no_folder(tmp_path: Path, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    result = run("train", "cutoff", "--on", gold, "-o", tmp_path / "model")
    assert (result.exit_code, "pip install 'mainmatter[train]'" in result.stderr) == (1, True)
    assert not (tmp_path / "model").exists()
    assert run("teach", tmp_path / "nowhere", "-o", tmp_path / "new" / "model").exit_code == 1
    assert not (tmp_path / "new").exists()


def test_a_folder_that_has_the_name_of_a_checkpoint_stays(tmp_path: Path, gold: Path) -> None:
    (tmp_path / "model.unfinished").mkdir()
    (tmp_path / "model.unfinished/thesis.txt").write_text("dear")
    assert run("train", "cutoff", "--on", gold, "-o", tmp_path / "model", "-j", 1).exit_code == 0
    assert (tmp_path / "model.unfinished/thesis.txt").read_text() == "dear"


def test_a_damaged_model(tmp_path: Path, gold: Path) -> None:
    run("train", "cutoff", "--on", gold, "-o", tmp_path / "model", "-j", 1)
    (weights,) = (tmp_path / "model").glob("*.npz")
    weights.write_bytes(b"nothing")
    result = run("clean", gold / "html" / "03.html", "-m", tmp_path / "model")
    assert result.exit_code == 1
    assert ".npz: damaged, or from another model" in result.stderr


def test_an_interrupted_search_goes_on(tmp_path: Path, gold: Path) -> None:
    """Ctrl-C, then the same command again: the result is that of a search without an interrupt."""
    method = "ice-regex:population=12,generations=80,polishing=0"
    arguments = f"-m mainmatter train {method} --no-check -j 1 --on".split()
    command = [sys.executable, *arguments, str(gold), "-o"]
    with subprocess.Popen([*command, tmp_path / "one"], stderr=subprocess.PIPE, bufsize=0) as process:
        assert process.stderr is not None
        # It waits for its reader before it is done: it has more to say than fits into the pipe.
        fcntl.fcntl(process.stderr.fileno(), fcntl.F_SETPIPE_SZ, 4096)
        for line in iter(process.stderr.readline, b""):
            if line.startswith(b"generation 2 "):
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read().decode()
    checkpoint = tmp_path / "one.unfinished"
    assert process.returncode == 130
    assert f"interrupted; run the same command again to resume from {checkpoint}" in rest
    assert not (tmp_path / "one" / "model.json").exists()
    again = subprocess.run([*command, tmp_path / "one"], capture_output=True, text=True, check=True)
    assert "generation 1 of 80" not in again.stderr
    assert "generation 80 of 80" in again.stderr
    assert not checkpoint.exists()
    subprocess.run([*command, tmp_path / "two"], capture_output=True, check=True)
    one, two = (json.loads((tmp_path / name / "model.json").read_bytes()) for name in ("one", "two"))
    assert one["facts"] == two["facts"]
