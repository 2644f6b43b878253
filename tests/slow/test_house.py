"""scripts/house.py: how many files a page passes through, which it traces in a process of its own."""

from __future__ import annotations

from script_modules import SCRIPTS, load_script

ROOT = SCRIPTS.parent

house = load_script("house")


def test_a_page_passes_through_few_files() -> None:
    [(prelude, statement)] = [traced for what, traced in house.STATEMENTS.items() if "clean(html)" in what]
    traced = house.trace(ROOT / "src", prelude, statement)
    assert traced is not None
    functions, files = traced
    assert 50 < functions <= 120
    assert {"clean.py", "main/method.py", "render/text.py"} <= set(files)
    assert len(files) <= 16
