"""Engines by name, and what they say when their library is missing."""

from __future__ import annotations

import sys

import pytest

from mainmatter.corpus.engines import DEFAULT_ENGINE, ENGINES, get_engine, local, ray, spark
from mainmatter.errors import MissingExtra, UnknownName


def test_engines_are_found_by_name() -> None:
    assert {name: get_engine(name) for name in ENGINES} == {
        "local": local.run_all,
        "ray": ray.run_all,
        "spark": spark.run_all,
    }
    assert DEFAULT_ENGINE in ENGINES


def test_an_unknown_engine_is_told() -> None:
    with pytest.raises(UnknownName, match="unknown engine 'rya'; did you mean 'ray'"):
        get_engine("rya")


@pytest.mark.parametrize(("engine", "package"), [("ray", "ray"), ("spark", "pyspark")])
def test_a_missing_library_is_named_with_its_extra(engine: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"needs {package}, .*mainmatter\[{engine}\]"):
        list(get_engine(engine)(abs, [1], 1))


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_nothing_to_do_starts_nothing(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert list(get_engine(engine)(abs, [], 1)) == []
