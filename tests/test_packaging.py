"""What goes into a source distribution."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_a_source_distribution_can_be_checked_and_its_documentation_built() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"src", "tests", "docs", "examples", "scripts", "Makefile", "mkdocs.yml"} <= set(included)
    assert [name for name in included if not (ROOT / name).exists()] == []
