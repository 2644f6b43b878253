"""What others made of what we ship has its licence in NOTICE; each model's card names the licences of its data."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from mainmatter.lab.datasets import DATASETS
from mainmatter.models.store import DESCRIPTION, SHIPPED

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "NOTICE").read_text("utf-8")
MODELS = sorted(path.parent for path in SHIPPED.glob(f"*/{DESCRIPTION}"))
FILES = [
    path
    for path in sorted((ROOT / "src" / "mainmatter").rglob("*"))
    if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyd")
]
# What we write ourselves. Fonts, minified scripts, archives and the like would be somebody else's.
OUR_ENDINGS = {"", ".py", ".typed", ".js", ".css", ".html", ".svg", ".json", ".npz", ".md"}
FOREIGN = re.compile(r"copyright (\(c\)|©|\d)|SPDX-License|@license|@preserve|licen[sc]ed under", re.IGNORECASE)
LONG_LINE = 1000  # characters: a script or style sheet with a longer one is minified


def is_foreign(file: Path) -> bool:
    """Whether a file looks like somebody else's."""
    if file.suffix not in OUR_ENDINGS:
        return True
    if file.suffix == ".npz" or file.parent in MODELS:
        return False
    text = file.read_text("utf-8")
    is_minified = file.suffix in (".js", ".css") and max(map(len, text.splitlines())) > LONG_LINE
    return is_minified or any(FOREIGN.search(line) for line in text.splitlines()[:20])


def test_files_of_others_are_in_the_notice() -> None:
    foreign = [file.relative_to(ROOT / "src").as_posix() for file in FILES if is_foreign(file)]
    assert [name for name in foreign if name not in NOTICE] == []


@pytest.mark.parametrize(
    ("name", "content", "answer"),
    [
        ("body.woff2", "", True),
        ("SHA256SUMS", "", False),
        ("chart.min.js", "/*! x */" + "a" * LONG_LINE, True),
        ("chart.js", "// Copyright (c) 2020 Somebody\n", True),
        ("chart.js", "// Ours.\n", False),
    ],
)
def test_what_is_taken_for_somebody_elses(tmp_path: Path, name: str, content: str, answer: bool) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert is_foreign(tmp_path / name) is answer


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_the_licences_of_a_models_data(folder: Path) -> None:
    card = json.loads((folder / DESCRIPTION).read_bytes())["card"]
    page = (folder / "README.md").read_text("utf-8")
    for entry in card["data"]:
        name, licence = entry["name"], entry["licence"]
        assert licence == DATASETS[name].licence
        assert f"| {name} | {entry['pages']} | {licence} | `{entry['sha256']}` |" in page
        assert re.search(rf"^{name}: .*?\bLicence: {licence}\.$", NOTICE, re.MULTILINE | re.DOTALL)


def test_the_page_of_models_has_what_their_cards_say() -> None:
    page = (ROOT / "docs" / "reference" / "models.md").read_text("utf-8")
    rows = []
    for folder in MODELS:
        card = json.loads((folder / DESCRIPTION).read_bytes())["card"]
        names = ", ".join(f"`{entry['name']}`" for entry in card["data"])
        rows.append(f"| `{folder.name}` | {card['pages']['learned_from']:,} | {names} |")
    assert "\n".join(["| Folder | Pages | Sets |", "| --- | ---: | --- |", *rows, ""]) in page


def test_licence_and_notice_are_in_what_is_built() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["license-files"] == ["LICENSE", "NOTICE"]
    assert {"LICENSE", "NOTICE"} <= set(project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
