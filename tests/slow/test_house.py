"""scripts/size.py: how many files a page passes through, which it traces in a process of its own."""

from __future__ import annotations

from script_modules import SCRIPTS, load_script

ROOT = SCRIPTS.parent

size = load_script("size")


def test_a_page_passes_through_few_files() -> None:
    [(prelude, statement)] = [traced for what, traced in size.STATEMENTS.items() if "clean(html).text" in what]
    traced = size.trace(ROOT / "src", prelude, statement)
    assert traced is not None
    functions, files = traced
    assert 50 < functions <= 120
    assert {"api.py", "main/method.py", "render/text.py"} <= set(files)
    assert len(files) <= 16
