"""scripts/size.py: its limits, what it counts, and what it must not find."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from script_modules import load_script

ROOT = Path(__file__).parents[1]

size = load_script("size")


def trees(**sources: str) -> dict[str, ast.Module]:
    """Files of a package, by names without their ending."""
    return {f"{name}.py": ast.parse(source) for name, source in sources.items()}


def test_classes_of_the_same_name() -> None:
    found = size.classes_defined_twice(trees(a="class A: ...\nclass B: ...", b="def f():\n class A: ...", c="B = 1"))
    assert found == ["A"]


def test_no_class_of_ours_has_the_name_of_another() -> None:
    files = sorted((ROOT / "src" / "mainmatter").rglob("*.py"))
    assert size.classes_defined_twice({str(file): ast.parse(file.read_text("utf-8")) for file in files}) == []


def test_private_functions_that_are_called_once() -> None:
    source = "def _once(): ...\ndef _twice(): ...\ndef _never(): ...\ndef open(): _once(), _twice(), _twice()"
    assert size.private_functions_called_once(trees(a=source, b="_never()")) == (1, 3)


def test_modules_that_one_other_imports() -> None:
    found = size.modules_imported_once(
        trees(
            a="from mainmatter.b import x\nfrom mainmatter import c",
            b="def f():\n import mainmatter.c",
            c="import numpy\nfrom mainmatter.c import y",
        )
    )
    assert found == ["b"]


@pytest.mark.parametrize("part", size.PARTS, ids=lambda part: part.name)
def test_no_part_of_the_house_is_over_its_limit(part: Any) -> None:
    lines = part.lines()
    assert lines > 0, "its folder is not where scripts/size.py looks for it"
    assert lines <= part.limit, (
        "take something away, or raise the limit and say in docs/explanation/budgets.md what users get"
    )
