"""The class for Ray Data's `map_batches`, in Ray's own pipeline; without Ray where Ray does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mainmatter
from mainmatter.corpus.adapters.ray_data import CleanBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ADDED = {
    *("text", "error", "page_title", "page_author", "page_date", "page_site"),
    *("page_description", "page_language", "page_type", "page_confidence"),
}
PAGE = "<title>Tides</title><p>The tide comes in twice a day, and it goes out twice a day, and that is all it does.</p>"
TEXT = mainmatter.clean(PAGE).text


@pytest.fixture(scope="module")
def ray_of_one() -> Iterator[None]:
    """A Ray of our own, with as little as it needs."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    ray.init(num_cpus=2, object_store_memory=80_000_000, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


# What Ray warns itself of.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context")
@pytest.mark.usefixtures("ray_of_one")
def test_a_dataset_from_parquet_to_parquet(
    tmp_path: Path,
    pages: dict[str, bytes],
    texts: dict[str, str],
    program: Callable[[str, Path], str],
) -> None:
    import pyarrow as pa  # Ray Data brings it
    import pyarrow.parquet as pq

    (tmp_path / "pages").mkdir()
    table = pa.table({"url": [*pages, "none", "empty"], "html": pa.array([*pages.values(), None, b""], pa.binary())})
    pq.write_table(table, tmp_path / "pages" / "site.parquet")
    exec(program("Ray Data", tmp_path), {})
    rows = pq.read_table(tmp_path / "texts").to_pylist()
    assert {row["url"]: row["text"] for row in rows} == {**texts, "none": None, "empty": None}
    assert {row["url"]: row["error"] for row in rows if row["error"]} == {
        "none": "there is no page",
        "empty": "nothing was kept",
    }
    assert set(rows[0]) == {"url", *ADDED}
    assert {row["page_type"] for row in rows if row["text"]} >= {"article", "product", "forum"}


def batch_of(kind: str) -> Any:
    columns = {"url": ["https://x.example/", None], "html": [PAGE, None]}
    if kind == "numpy":
        return {name: np.array(values, object) for name, values in columns.items()}
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    return pytest.importorskip("pandas").DataFrame(columns)


def columns_of(batch: Any) -> dict[str, list[Any]]:
    if isinstance(batch, dict):
        return {name: values.tolist() for name, values in batch.items()}
    return dict(batch.to_pydict() if hasattr(batch, "to_pydict") else batch.to_dict("list"))


@pytest.mark.parametrize("kind", ["numpy", "pyarrow", "pandas"])
def test_a_batch_of_any_kind(kind: str) -> None:
    batch = batch_of(kind)
    added = CleanBatch()(batch)
    assert type(added) is type(batch)
    columns = columns_of(added)
    assert set(columns) == {"url", "html", *ADDED}
    assert columns["text"] == [TEXT, None]
    assert columns["error"] == [None, "there is no page"]
    assert columns["page_title"] == ["Tides", None]
    assert columns_of(batch).keys() == {"url", "html"}  # what was given is as it was


@pytest.mark.parametrize("kind", ["numpy", "pyarrow", "pandas"])
def test_columns_can_be_named(kind: str) -> None:
    clean = CleanBatch("html", None, text="html", error="why", prefix="p_", method="density", c1=0.3)
    columns = columns_of(clean(batch_of(kind)))
    assert columns["html"] == [mainmatter.clean(PAGE, method="density:c1=0.3").text, None]
    assert columns["why"] == [None, "there is no page"]
    assert columns["p_title"] == ["Tides", None]


@pytest.mark.parametrize("kind", ["numpy", "pyarrow", "pandas"])
def test_a_missing_column_is_named(kind: str) -> None:
    with pytest.raises(mainmatter.InputError, match="no column 'content'; the columns are url, html"):
        CleanBatch("content")(batch_of(kind))


def test_arrow_columns_have_types_even_if_all_is_null() -> None:
    pa = pytest.importorskip("pyarrow")
    added = CleanBatch()(pa.table({"url": pa.array([None], pa.string()), "html": pa.array([None], pa.binary())}))
    types = {name: str(added.schema.field(name).type) for name in ADDED}
    assert types.pop("page_confidence") == "double"
    assert set(types.values()) == {"string"}
