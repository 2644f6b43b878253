"""`mainmatter use`: the method that other commands take."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from mainmatter import clean
from mainmatter.cli import group
from mainmatter.models.in_use import CONFIG, choice_file
from mainmatter.models.store import SHIPPED

PAGE = "<title>Fog</title><nav><a href=/>Home</a></nav><h1>Fog signals</h1><p>Ships need them in fog.</p>"


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONFIG, str(tmp_path / "config"))


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(group, arguments, input=PAGE)
    return result.exit_code, result.stdout, result.stderr


def test_a_method_is_chosen_told_and_left(tmp_path: Path) -> None:
    assert run("use") == (0, "main\n", "")
    model = tmp_path / "ours"
    shutil.copytree(SHIPPED / "ncleaner", model)
    code, said, _ = run("use", str(model))
    assert (code, f"{model} is now the default method" in said) == (0, True)
    assert run("use")[1] == f"{model}\n"
    for command in ("clean", "explain"):
        code, _, told = run(command, "-")
        assert (code, told) == (0, f"method: {model} (chosen with `mainmatter use`)\n"), command
    assert run("explain", "-")[1].splitlines()[-1].startswith("ncleaner: kept ")
    assert run("explain", "-", "-m", "density")[2] == ""
    assert clean(PAGE).method == "main"  # Python's functions do not go by it
    assert run("use", "main")[0] == 0
    assert run("clean", "-")[2] == ""
    assert not choice_file().exists()


def test_a_model_that_is_gone_is_told(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED / "ncleaner", tmp_path / "ours")
    run("use", str(tmp_path / "ours"))
    shutil.rmtree(tmp_path / "ours")
    code, _, told = run("clean", "-")
    assert code == 1
    assert "the model that `mainmatter use` chose is no longer there" in told
    assert "`mainmatter use main`" in told
    assert run("clean", "-", "-m", "main")[0] == 0
    assert run("use", "main")[0] == 0
    assert run("clean", "-")[0] == 0


def test_parameters_are_kept_and_wrong_names_refused() -> None:
    assert run("use", "main:dial=0.2")[0] == 0
    assert run("clean", "-")[2].startswith("method: main:dial=0.2 ")
    code, _, told = run("use", "mani")
    assert (code, "did you mean 'main'" in told) == (1, True)
    assert run("use")[1] == "main:dial=0.2\n"


def test_where_the_choice_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CONFIG)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere")
    assert choice_file() == Path("/somewhere/mainmatter/default-method")
