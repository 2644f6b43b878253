"""What a newcomer meets first tells the truth: the README's figures and claims, the demo, `make results`."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from mainmatter.cli import group
from mainmatter.lab.datasets import DATASETS

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[1]
OURS = "main"
TRAFILATURA = ("trafilatura", "trafilatura, no comments")


def _load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"front_door_{Path(path).stem}", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


picture = _load("scripts/peers_picture.py")
PAGE = picture.PAGE.read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLES = picture.read_tables(PAGE)
BY_SET = TABLES["Test only"] | TABLES["Cross-validated"]


def _numbers(row: dict[str, str]) -> dict[str, float]:
    return {name: float(figure) for name, figure in row.items() if figure != "-"}


def test_the_figures_in_the_readme_are_those_of_the_results() -> None:
    rows = picture.read_tables(README)[""]
    assert set(rows) == set(BY_SET["wcxb-dev"])
    for tool, row in rows.items():
        assert float(row.pop("time")) == float(TABLES["One core"][tool]["times `main`"]), tool
        assert row == {name: BY_SET[name][tool] for name in row}, tool


def test_main_is_ahead_of_trafilatura_by_what_the_readme_says() -> None:
    gains = {}
    for name, row in BY_SET.items():
        figures = _numbers(row)
        gains[name] = round(figures[OURS] - max(figures[tool] for tool in TRAFILATURA), 3)
    assert f"all {len(gains)} gold standards on which both were measured" in README
    assert f"by {min(gains.values()):.3f} to {max(gains.values()):.3f} F1".replace("0.", ".") in README
    assert min(gains.values()) > 0


def test_each_set_is_in_the_table_where_it_belongs() -> None:
    trains = {name: DATASETS[name].trains for name in BY_SET}
    assert trains == dict.fromkeys(TABLES["Test only"], False) | dict.fromkeys(TABLES["Cross-validated"], True)
    assert set(DATASETS) - set(BY_SET) == {"zh-news-a"}


def test_where_others_are_ahead_is_said() -> None:
    said = PAGE.partition("## Where others are ahead")[2].partition("\n## ")[0]
    ahead = {
        (row, tool, figure)
        for table in ("Test only", "Cross-validated", "wcxb-dev", "daniel-a")
        for row, cells in TABLES[table].items()
        for tool, figure in _numbers(cells).items()
        if figure > float(cells[OURS])
    }
    times = {tool: float(row["ms a page"]) for tool, row in TABLES["One core"].items()}
    faster = {tool for tool, time in times.items() if time < times[OURS]}
    assert {row for row, _, _ in ahead} == {"readability", "Greek", "Russian"}
    for row, tool, figure in ahead:
        assert re.search(rf"{tool}( has)? {figure:.3f}".replace(" 0.", r" \."), said), (row, tool)
    assert faster == {"turbohtml", "Resiliparse"}
    assert all(tool in said for tool in faster)


def test_the_best_figure_of_each_row_is_bold() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    for table in ("Test only", "Cross-validated", "wcxb-dev", "daniel-a"):
        for row, cells in TABLES[table].items():
            best = f"{max(_numbers(cells).values()):.3f}".removeprefix("0")
            [line] = [line for line in lines if line.startswith(f"| {row} (")]
            assert [cell.strip() for cell in line.split("|") if "**" in cell] == [f"**{best}**"], row


def test_the_picture_shows_each_tool_where_its_figures_are() -> None:
    timed, final = (points for _, points in picture.panels(PAGE))
    assert [point.name for point in timed] == [point.name for point in final] == list(BY_SET["wcxb-dev"])
    [ours] = [point for point in timed if point.ours]
    assert (ours.name, ours.score) == (OURS, float(BY_SET["wcxb-dev"][OURS]))
    assert ours.milliseconds == float(TABLES["One core"][OURS]["ms a page"])


def test_tables_are_read() -> None:
    page = "| a | b | **c** |\n| --- | ---: | --- |\n| x (1,000) | **.5** | - |\n\n| d | e |\n|---|---|\n| y | 2 |\n"
    assert picture.read_tables(page) == {"a": {"x": {"b": ".5", "c": "-"}}, "d": {"y": {"e": "2"}}}


def _commands_of_make(*targets: str) -> list[list[str]]:
    """What make would run, without NAME=VALUE before it."""
    done = subprocess.run(["make", "-n", *targets], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.replace("\\\n", " ").splitlines()
    return [[word for word in shlex.split(line, comments=True) if "=" not in word or word[0] == "-"] for line in lines]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_the_commands_of_make_results_exist_with_their_options() -> None:
    parsed = set()
    for words in _commands_of_make("results", "results-teaching"):
        program = Path(words[0]).name if words else ""
        if program == "mainmatter":
            _parse(group, words[1:])
            parsed.add(words[1])
        elif program == "python" and words[1].startswith("scripts/"):
            module = _load(words[1])
            if isinstance(getattr(module, "main", None), click.Command):
                _parse(module.main, words[2:])
                parsed.add(words[1])
    assert {"bench", "evaluate", "reproduce", "scripts/cross_validate.py", "scripts/make_crawl.py"} <= parsed


def _parse(command: click.Command, words: list[str]) -> None:
    """Raises if there is no such command or option."""
    context = click.Context(command)
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    command.make_context("", list(words))


def test_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    demo: Any = _load("examples/demo.py")
    monkeypatch.setattr(demo, "OUT", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    demo.main()
    lines = capsys.readouterr().out.splitlines()
    path = str(tmp_path)
    assert [line for line in lines if len(line) > 80 and path not in line] == []
    text = " ".join(" ".join(lines).split())
    kept = text.partition("clean examples/site/forum/thread-41.html")[2].partition("2. A CRAWL")[0]
    for post in ("I have tried the grey stuff", "Lime wash, and nothing but lime wash.", "Thank you, I will try that"):
        assert post in kept
    assert "marlow Posts: 212" not in kept
    assert "https://courier.example/tickets/ferry" in text
    assert (tmp_path / "report.html").is_file()


def test_a_demo_that_fails_says_which_command() -> None:
    demo: Any = _load("examples/demo.py")
    with pytest.raises(SystemExit, match=r"this command failed: mainmatter clean nothing\.html\n.*no such file"):
        demo.output_of("clean", "nothing.html")
