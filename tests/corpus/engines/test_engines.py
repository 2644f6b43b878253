"""Engines by name, and what they say when they cannot start."""

from __future__ import annotations

import sys

import pytest

from mainmatter.corpus.engines import DEFAULT_ENGINE, ENGINES, get_engine, local, ray, spark
from mainmatter.errors import InputError, MissingExtra, UnknownName


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


def test_a_cluster_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(InputError, match=r"cannot connect to the Ray cluster at 127\.0\.0\.1:1"):
        list(ray.run_all(abs, [1], 1))


def test_a_missing_token_of_a_cluster_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    library = pytest.importorskip("ray")

    def refuse(*_: object, **__: object) -> None:
        raise library.exceptions.AuthenticationError("no token was found")

    monkeypatch.setenv("RAY_ADDRESS", "auto")
    monkeypatch.setattr(library, "init", refuse)
    with pytest.raises(InputError, match=r"at auto \(RAY_ADDRESS\): no token was found.*set RAY_AUTH_MODE=token and"):
        list(ray.run_all(abs, [1], 1))


def test_spark_connect_is_told_to_be_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(InputError, match="SPARK_REMOTE is set"):
        list(spark.run_all(abs, [1], 1))


@pytest.mark.parametrize("given", [set(), {"spark.speculation"}])
def test_spark_repeats_slow_tasks_unless_the_user_says_otherwise(
    given: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pyspark = pytest.importorskip("pyspark")
    options: dict[str, str] = {}

    class Builder:
        def appName(self, _: str) -> Builder:  # noqa: N802 - Spark's name
            return self

        def config(self, name: str, value: str) -> Builder:
            options[name] = value
            return self

        def getOrCreate(self) -> None:  # noqa: N802
            raise RuntimeError("enough")

    monkeypatch.setenv("MASTER", "local[1]")  # is set otherwise, and stays
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setattr(pyspark.SparkContext, "_ensure_initialized", lambda: None)
    monkeypatch.setattr(pyspark.SparkConf, "contains", lambda _, name: name in given)
    monkeypatch.setattr("pyspark.sql.SparkSession.builder", Builder())
    with pytest.raises(InputError, match="cannot start Spark"):
        list(spark.run_all(abs, [1], 1))
    assert options.pop("spark.ui.showConsoleProgress") == "false"
    assert options.keys() == spark.SPECULATION.keys() - given
