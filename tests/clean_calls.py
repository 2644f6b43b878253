"""`mainmatter clean`, called on a small site, for its tests."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from mainmatter.cli import group

if TYPE_CHECKING:
    from click.testing import Result

PAGES = Path(__file__).parent / "pages"
HEADING = "The river rises"
FIRST = "The river rose by two metres in the night, and the people of the village carried their goods to the church."
SECOND = (
    "By the morning the water had reached the bridge, where the old mill has stood for more than three hundred years."
)
RIVER = f"{HEADING}\n\n{FIRST}\n\n{SECOND}\n"
FERRY = (
    "The ferry between the two towns will not run this week, since the river is too high, said the ferryman on Monday."
)


def mainmatter(*args: str | Path, **options: Any) -> Result:
    """What a command prints, and its exit code."""
    return CliRunner().invoke(group, [str(arg) for arg in args], prog_name="mainmatter", **options)


def clean(*args: str | Path, **options: Any) -> Result:
    """`mainmatter clean` by a method that needs no model, in this process."""
    return mainmatter("clean", "--method", "ice-heuristic", "--workers", "1", *args, **options)


def write_site(folder: Path) -> Path:
    """A folder with site/river.html and site/old/dump.txt."""
    (folder / "site" / "old").mkdir(parents=True)
    shutil.copy(PAGES / "river.html", folder / "site" / "river.html")
    shutil.copy(PAGES / "dump.txt", folder / "site" / "old" / "dump.txt")
    return folder


def texts(folder: Path) -> dict[str, str]:
    """The files below a folder that are none of the site, and what is in them."""
    return {
        str(file.relative_to(folder)): file.read_text(encoding="utf-8")
        for file in folder.rglob("*")
        if file.is_file() and "site" not in file.relative_to(folder).parts
    }
