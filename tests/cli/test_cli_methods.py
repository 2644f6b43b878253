"""`mainmatter methods` and the group itself: help, version, unknown commands."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint

import click
import pytest
from click.testing import CliRunner

import mainmatter
from mainmatter import compiled, registry
from mainmatter.cli import _COMMANDS, group
from mainmatter.registry import DEFAULT_METHOD, METHODS, method_names

COMMANDS = (
    "annotations clean completion corpus evaluate explain index mcp methods plot render search serve teach train use"
).split()


def test_every_method_is_listed_with_its_parameters() -> None:
    result = CliRunner().invoke(group, ["methods"])
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == method_names()
    density = lines.index("density")
    assert lines[density + 1 : density + 3] == [
        "    the region with the longest texts and the fewest tags between them (Density 4)",
        "    parameters: c1=0.333, c2=4, strings=blocks, smoothing=0, edge=cutoff",
    ]


def test_the_default_is_marked() -> None:
    lines = CliRunner().invoke(group, ["methods"]).stdout.splitlines()
    assert [line for line in lines if line.endswith("(the default)")] == [f"{DEFAULT_METHOD} (the default)"]
    assert set(METHODS) <= set(method_names())


def test_methods_that_cannot_be_used_are_listed_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "broken": EntryPoint("broken", "no_such_package:Method", "mainmatter.methods"),
        "demanding": EntryPoint("demanding", "fractions:Fraction.from_float", "mainmatter.methods"),
        "no-method": EntryPoint("no-method", "fractions:Fraction", "mainmatter.methods"),
    }
    monkeypatch.setattr(registry, "_plugins", lambda: points)
    result = CliRunner().invoke(group, ["methods"])
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert [line for line in lines if not line.startswith(" ")] == [
        f"{name} (the default)" if name == DEFAULT_METHOD else name for name in method_names()
    ]
    assert lines[lines.index("broken") + 1] == (
        "    cannot be used: method 'broken': no_such_package:Method cannot be loaded: "
        "ModuleNotFoundError: No module named 'no_such_package'"
    )
    for name in ("demanding", "no-method"):
        assert lines[lines.index(name) + 1].startswith("    cannot be used: ")


def test_version() -> None:
    result = CliRunner().invoke(group, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"mainmatter {mainmatter.__version__} ({compiled.status()})\n")


def test_help_lists_every_command_and_keeps_the_examples_in_lines() -> None:
    result = CliRunner().invoke(group, ["--help"])
    assert result.exit_code == 0
    assert re.findall(r"^  ([a-z]+)  ", result.stdout.partition("Commands:\n")[2], re.MULTILINE) == COMMANDS
    assert "\n  mainmatter clean site/ -o texts/        of all pages in a folder\n" in result.stdout
    assert "\\b" not in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_of_every_command_what_it_says_itself(command: str) -> None:
    told = group.get_command(click.Context(group), command)
    assert told is not None
    assert " ".join((told.help or "").partition("\n\n")[0].split()) == _COMMANDS[command]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    long = CliRunner().invoke(group, [command, "--help"], prog_name="mainmatter")
    short = CliRunner().invoke(group, [command, "-h"], prog_name="mainmatter")
    assert long.exit_code == 0
    assert long.stdout.startswith(f"Usage: mainmatter {command} ")
    assert long.stdout == short.stdout


def test_no_command_and_unknown_command() -> None:
    assert CliRunner().invoke(group, []).exit_code == 2
    result = CliRunner().invoke(group, ["tidy"])
    assert result.exit_code == 2
    assert "No such command 'tidy'; commands: annotations, clean, " in result.stderr


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("claen", "did you mean 'clean'?"),
        ("Explain", "did you mean 'explain'?"),
        ("https://news.example/", "to clean a page: mainmatter clean https://news.example/"),
        (".", "to clean a page: mainmatter clean ."),
    ],
)
def test_what_was_probably_meant(name: str, meant: str) -> None:
    result = CliRunner().invoke(group, [name])
    assert result.exit_code == 2
    assert result.stderr.endswith(f"Error: No such command '{name}'; {meant}\n")
