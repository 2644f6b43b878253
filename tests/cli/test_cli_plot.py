"""`mainmatter plot`, through the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from mainmatter.cli import group

if TYPE_CHECKING:
    from click.testing import Result

RIVER = Path(__file__).parents[1] / "pages" / "river.html"


def plot(*args: str | Path) -> Result:
    return CliRunner().invoke(group, ["plot", str(RIVER), "-m", "density", *map(str, args)])


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)


def test_picture_is_drawn_and_named() -> None:
    result = plot("-o", "river.svg")
    assert (result.exit_code, result.stdout) == (0, "river.svg: 2 of 7 blocks kept by density\n")
    assert Path("river.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_default_name() -> None:
    assert plot().stdout == "plot.png: 2 of 7 blocks kept by density\n"
    assert Path("plot.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("name", ["river.docx", "river", "river.pgf"])
def test_unknown_ending(name: str) -> None:
    result = plot("-o", name)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {name}: unknown picture format; use a name that ends in .png, .svg or .pdf\n"
    assert not Path(name).exists()


def test_folder_that_does_not_exist_yet() -> None:
    assert plot("-o", "no/such/river.png").exit_code == 0
    assert Path("no/such/river.png").is_file()


def test_picture_that_cannot_be_written() -> None:
    Path("taken").touch()
    result = plot("-o", "taken/river.png")
    assert (result.exit_code, result.stderr) == (1, "Error: taken: File exists\n")
