"""The function for Spark's columns, in a real Spark session."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

import mainmatter
from mainmatter.errors import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not on this machine", allow_module_level=True)

import pyarrow as pa
import pyarrow.parquet as pq


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session of our own, with as little as it needs."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[1]").appName("mainmatter tests")
        builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "512m")
        session = builder.getOrCreate()
        yield session
        session.stop()


def test_a_frame_from_parquet_to_parquet(
    spark: Any,
    tmp_path: Path,
    pages: dict[str, bytes],
    texts: dict[str, str],
    program: Callable[[str, Path], str],
) -> None:
    (tmp_path / "pages").mkdir()
    urls: list[str | None] = [*pages, "empty", None]
    table = pa.table({"url": urls, "html": pa.array([*pages.values(), b"", None], pa.binary())})
    pq.write_table(table, tmp_path / "pages" / "site.parquet")
    exec(program("Spark", tmp_path), {})
    rows = [row for file in (tmp_path / "texts").glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    assert {row["url"]: row["text"] for row in rows if row["text"]} == texts
    assert len(rows) == len(texts) + 2
    assert {row["url"]: row["error"] for row in rows if row["error"]} == {
        "empty": "nothing was kept",
        None: "there is no page",
    }
    (lens,) = (row for row in rows if row["title"] == "Grinding a lens by hand")
    assert (lens["author"], lens["date"], lens["language"]) == ("Inês Carvalho", "2026-03-14", "en")
    assert lens["page_type"] == "article"
    assert 0 < lens["confidence"] <= 1


def test_strings_parameters_and_no_url(spark: Any) -> None:
    from pyspark.sql.functions import lit

    from mainmatter.corpus.adapters.spark import clean_udf

    page = "<h1>Tides</h1><p>The tide comes in twice a day, and it goes out twice a day, and that is all.</p>"
    frame = spark.createDataFrame([(page,), ("x" * 300,)], "html string")
    clean = clean_udf(limits=mainmatter.Limits(size=200), format="markdown", headings=False)
    rows = frame.select(clean("html", lit(None).cast("string")).alias("page")).select("page.*").collect()
    assert [row.text for row in rows] == [mainmatter.clean(page, headings=False).text, None]
    assert rows[1].error.startswith("PageTooLarge")


def test_what_is_wrong_is_told_before_a_job_starts() -> None:
    from mainmatter.corpus.adapters.spark import clean_udf

    with pytest.raises(UnknownName):
        clean_udf("densty")
