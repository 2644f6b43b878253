"""What engines say when they cannot start, and how Spark is started."""

from __future__ import annotations

import sys

import pyspark
import pytest
import ray as ray_library

from mainmatter.corpus.engines import ray, spark
from mainmatter.errors import InputError


def test_a_cluster_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(InputError, match=r"cannot connect to the Ray cluster at 127\.0\.0\.1:1"):
        list(ray.run_all(abs, [1], 1))


def test_a_missing_token_of_a_cluster_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ray_library.exceptions.AuthenticationError("no token was found")

    monkeypatch.setenv("RAY_ADDRESS", "auto")
    monkeypatch.setattr(ray_library, "init", refuse)
    with pytest.raises(InputError, match=r"at auto \(RAY_ADDRESS\): no token was found.*set RAY_AUTH_MODE=token and"):
        list(ray.run_all(abs, [1], 1))


def test_spark_connect_is_told_to_be_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(InputError, match="SPARK_REMOTE is set"):
        list(spark.run_all(abs, [1], 1))


@pytest.mark.parametrize("given", [set(), {"spark.speculation"}])
def test_spark_repeats_slow_tasks_unless_the_user_says_otherwise(
    given: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
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
