"""What a newcomer meets first tells the truth: the README's figures and claims, the demo, `make results`."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

from bench import picture
from mainmatter.cli import group
from mainmatter.lab.datasets import DATASETS
from script_modules import load_script

ROOT = Path(__file__).parents[1]
OURS = "main"
TRAFILATURA = ("trafilatura", "trafilatura, no comments")


PAGE = picture.PAGE.read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLES = picture.read_tables(PAGE)
LEARNED = TABLES["Cross-validated"] | TABLES["Cross-validated, newer sets"]
BY_SET = TABLES["Test only"] | LEARNED
TIMES = {tool: float(time) for tool, time in TABLES["One core"]["ms a page"].items()}
COMPARED = ("Test only", "Cross-validated", "Cross-validated, newer sets", "wcxb-dev", "daniel-a")


def _numbers(column: dict[str, str]) -> dict[str, float]:
    return {tool: float(figure) for tool, figure in column.items()}


def test_the_figures_in_the_readme_are_those_of_the_results() -> None:
    columns = picture.read_tables(README)["F1"]
    times = columns.pop("time")
    assert columns == {name: BY_SET[name] for name in columns}
    assert {tool: float(time) for tool, time in times.items()} == {
        tool: float(TABLES["One core"]["times `main`"][tool]) for tool in BY_SET["wcxb-dev"]
    }


def test_main_is_ahead_of_trafilatura_by_what_the_readme_says() -> None:
    gains = {}
    for name, column in BY_SET.items():
        figures = _numbers(column)
        gains[name] = round(figures[OURS] - max(figures[tool] for tool in TRAFILATURA), 3)
    assert f"all {len(gains)} gold standards on which both were measured" in README
    assert f"by {min(gains.values()):.3f} to {max(gains.values()):.3f} F1".replace("0.", ".") in README
    assert min(gains.values()) > 0


def test_each_set_is_in_the_table_where_it_belongs() -> None:
    tests_only = {name for name in BY_SET if DATASETS[name].use == "tests"}
    assert (tests_only, set(BY_SET) - tests_only) == (set(TABLES["Test only"]), set(LEARNED))
    assert set(DATASETS) - set(BY_SET) == {"zh-news-a"}


def test_where_others_are_ahead_is_said() -> None:
    said = PAGE.partition("## Where others are ahead")[2].partition("\n## ")[0]
    ahead = {
        (name, tool, figure)
        for table in COMPARED
        for name, column in TABLES[table].items()
        for tool, figure in _numbers(column).items()
        if figure > float(column[OURS])
    }
    assert {name for name, _, _ in ahead} == {"cleanportaleval", "readability", "Greek", "Russian"}
    for name, tool, figure in ahead:
        assert re.search(rf"{tool}( has)? {figure:.3f}".replace(" 0.", r" \."), said), (name, tool)
    faster = {tool for tool, time in TIMES.items() if time < TIMES[OURS]}
    assert faster == {"turbohtml", "Resiliparse"}
    assert all(tool in said for tool in faster)


def test_the_best_figure_of_each_column_is_bold() -> None:
    for table in COMPARED:
        lines = PAGE[PAGE.index(f"\n| {table} |") :].partition("\n\n")[0].strip().splitlines()[2:]
        cells = [[cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines]
        for name, column, shown in zip(TABLES[table], TABLES[table].values(), zip(*cells, strict=True), strict=True):
            best = f"{max(_numbers(column).values()):.3f}".removeprefix("0")
            assert [cell for cell in shown if "*" in cell] == [f"**{best}**"], name


def test_the_picture_shows_each_tool_where_its_figures_are() -> None:
    timed, final = (points for _, points in picture.panels(PAGE))
    assert [point.name for point in timed] == [point.name for point in final] == list(BY_SET["wcxb-dev"])
    [ours] = [point for point in timed if point.ours]
    assert (ours.name, ours.score) == (OURS, float(BY_SET["wcxb-dev"][OURS]))
    assert ours.milliseconds == TIMES[OURS]


def test_tables_are_read() -> None:
    page = "| a | b (1,000) | c |\n| --- | ---: | --- |\n| **x** | **.5** | - |\n\n| d | e |\n|---|---|\n| y | 2 |\n"
    assert picture.read_tables(page) == {"a": {"b": {"x": ".5"}, "c": {"x": "-"}}, "d": {"e": {"y": "2"}}}


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
        elif program == "python" and words[1:2] == ["-m"] and words[2] in ("bench", "reproduce"):
            _parse(import_module(f"{words[2]}.__main__").command, words[3:])
            parsed.add(words[2])
        elif program == "python" and words[1].startswith("scripts/"):
            module = load_script(Path(words[1]).stem)
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
    demo: Any = load_script("demo", ROOT / "examples")
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
    demo: Any = load_script("demo", ROOT / "examples")
    with pytest.raises(SystemExit, match=r"this command failed: mainmatter clean nothing\.html\n.*no such file"):
        demo.output_of("clean", "nothing.html")
