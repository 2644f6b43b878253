"""The script that changes the source to see whether tests notice."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from script_modules import load_script

SOURCE = '''\
"""Numbers in texts and in names of things stay: 7."""
_LIMIT, SIZES = 0.5, {"a": 3, "b": 2_000}
_WORDS = range(4)
lower = 9


class Shop:
    dial: float = 0.25

    def open(self, hour: int = 8, *, workers: int = 2) -> bool:
        if not hour or hour[3] == "é" and -1 < hour <= 2 * self.dial:
            return hour in (1, 2)
        return hour is None
'''


@pytest.fixture(scope="module")
def script() -> Any:
    return load_script("mutate")


def changed(script: Any, kind: str) -> list[str]:
    """The lines as they become."""
    source = SOURCE.encode()
    found = [mutant for mutant in script.find_mutants("shop.py", source) if mutant.kind == kind]
    for mutant in found:
        ast.parse(mutant.mutate(source))
        assert mutant.mutate(source) != source
    return [mutant.lines(source)[1] for mutant in found]


def test_named_numbers_and_defaults_are_changed_a_little(script: Any) -> None:
    assert changed(script, "constant") == [
        '_LIMIT, SIZES = 0.45, {"a": 3, "b": 2_000}',
        '_LIMIT, SIZES = 0.55, {"a": 3, "b": 2_000}',
        '_LIMIT, SIZES = 0.5, {"a": 2, "b": 2_000}',
        '_LIMIT, SIZES = 0.5, {"a": 4, "b": 2_000}',
        '_LIMIT, SIZES = 0.5, {"a": 3, "b": 1800}',
        '_LIMIT, SIZES = 0.5, {"a": 3, "b": 2200}',
        "dial: float = 0.225",
        "dial: float = 0.275",
        "def open(self, hour: int = 7, *, workers: int = 2) -> bool:",
        "def open(self, hour: int = 9, *, workers: int = 2) -> bool:",
    ]


def test_comparisons_are_changed(script: Any) -> None:
    before = 'if not hour or hour[3] == "é" and -1 < hour <= 2 * self.dial:'
    assert changed(script, "literal") == [
        before.replace("-1 <", "-0 <"),
        before.replace("-1 <", "-2 <"),
        before.replace("2 *", "1 *"),
        before.replace("2 *", "3 *"),
    ]
    assert changed(script, "compare") == [
        before.replace("==", "!="),
        before.replace("<", "<=", 1),
        before.replace("<= 2", "< 2"),
        "return hour not in (1, 2)",
        "return hour is not None",
    ]


def test_logic_is_changed(script: Any) -> None:
    assert changed(script, "not") == ['if (hour) or hour[3] == "é" and -1 < hour <= 2 * self.dial:']
    assert changed(script, "boolean") == [
        'if ((not hour) and (hour[3] == "é" and -1 < hour <= 2 * self.dial)):',
        'if not hour or ((hour[3] == "é") or (-1 < hour <= 2 * self.dial)):',
    ]


def test_what_is_drawn_depends_on_the_seed_alone(script: Any) -> None:
    everything = script.choose((), True, None, 0)
    assert len(everything) > 500
    some = script.choose((), True, 20, 1)
    assert some == script.choose((), True, 20, 1) != script.choose((), True, 20, 2)
    assert len(some) == 20
    assert [mutant for mutant in everything if mutant in some] == some  # in order


def test_every_file_that_is_looked_at_has_tests_and_every_exception_a_line(script: Any) -> None:
    lines = set()
    for path in script.SOURCE.rglob("*.py"):
        file = path.relative_to(script.SOURCE).as_posix()
        source = path.read_bytes()
        assert not script.package_of(file) or not script.find_mutants(file, source) or script.tests_of(file), file
        lines |= {" ".join(line.split()) for line in source.decode().splitlines()}
    assert {before for before, _ in script.SAME_BEHAVIOUR} <= lines
