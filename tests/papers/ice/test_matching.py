"""Matching until nothing is left to match, and interrupting what has no end."""

from __future__ import annotations

import re
import sys
import threading
from typing import Any

import pytest

from mainmatter.errors import MissingExtra
from mainmatter.papers.ice.regex import captured_in_lines, captured_in_time, compile_for_time_out
from timing import PATIENCE


@pytest.mark.parametrize(
    ("expression", "spans"),
    [
        (r"^(\w+)", [(0, 3), (8, 11), (14, 15)]),
        # Two groups beside each other are one span; one in another is nothing new.
        (r"^((\w)(\w))", [(0, 2), (8, 10)]),
        (r"^(\w)\w(\w)", [(0, 1), (2, 3), (8, 9), (10, 11)]),
        # A match over the end of a line: the next one starts after it.
        (r"^(\w+) \w+\n\w+", [(0, 3), (14, 15)]),
        # A group that takes no part, and one that holds nothing.
        (r"^(?:(x)|o(n*))", [(1, 2)]),
        (r"^()", []),
    ],
)
def test_captured_in_lines(expression: str, spans: list[tuple[int, int]]) -> None:
    text = "one two\nsix b\nq rs\nt\n"
    assert captured_in_lines(re.compile(expression, re.MULTILINE), text, [0, 8, 14]) == spans


# Two to the power of sixty ways to cut the letters into words, and none of them ends before the equals sign.
CATASTROPHE, LETTERS = r"(?:(\w+\s*)*\w*?)*=", "w" * 60 + "?="


def test_a_time_out_interrupts() -> None:
    pytest.importorskip("regex")
    pattern = compile_for_time_out(CATASTROPHE)
    assert captured_in_time(pattern, LETTERS, 0.2) is None  # without a time-out, this would not end
    # In time: all matches, as with the other one.
    assert captured_in_time(compile_for_time_out(r"(\w+) (\w)\w*"), "one two six", PATIENCE) == [(0, 3), (4, 5)]


def test_a_time_out_interrupts_in_any_thread() -> None:
    """Where signals, which can interrupt Python's own matcher, do not reach."""
    pytest.importorskip("regex")
    found: list[Any] = []
    pattern = compile_for_time_out(CATASTROPHE)
    thread = threading.Thread(target=lambda: found.append(captured_in_time(pattern, LETTERS, 0.2)))
    thread.start()
    thread.join(PATIENCE)
    assert found == [None]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(MissingExtra, match=r"needs regex.*mainmatter\[train\]"):
        compile_for_time_out("a")
