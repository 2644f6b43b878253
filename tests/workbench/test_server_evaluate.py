"""/api/evaluate: small sets."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from mainmatter.lab.metrics import METRICS

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

PAGE = {
    "id": "fog",
    "html": "<nav><a href=/>Home</a></nav><h1>Fog</h1><p>Ships that come near the rocks hear the horn first.</p>",
    "gold": "Fog\n\nShips that come near the rocks hear the horn first.",
    "gold_marked": "<h> Fog\n<p> Ships that come near the rocks hear the horn first.",
}


def error_of(answer: Any, status: int = 422) -> str:
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "hint"}
    return str(answer.json()["error"])


def test_every_metric_gives_json(client: TestClient) -> None:
    asked = {"pages": [PAGE, {"html": "<p>x"}], "metrics": sorted(METRICS), "name": "two"}
    (row,) = client.post("/api/evaluate", json=asked).json()
    assert row["dataset"] == "two"
    assert set(row["scores"]) == set(METRICS)


def test_a_parquet_file(client: TestClient) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([PAGE, {**PAGE, "id": "b"}]), file)
    form = {"methods": ["main", "density"], "metrics": "bag"}
    rows = client.post("/api/evaluate", files={"file": ("fog.parquet", file.getvalue())}, data=form).json()
    assert [(row["method"], row["dataset"]) for row in rows] == [("main", "fog.parquet"), ("density", "fog.parquet")]
    assert [page[0] for page in rows[0]["pages"]] == ["fog", "b"]
    answer = client.post("/api/evaluate", files={"file": ("fog.parquet", b"PAR1nonsense")})
    assert error_of(answer).startswith("fog.parquet: cannot be read as a Parquet file: ")
    large = BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([{**PAGE, "html": "x" * 1_000_001}]), large)
    answer = client.post("/api/evaluate", files={"file": ("large.parquet", large.getvalue())})
    assert error_of(answer, 413) == "fog has more than 1.0 MB"
    answer = client.post("/api/evaluate", files={"file": ("x", file.getvalue())}, data={"foo": "1"})
    assert error_of(answer) == "there is no field foo"


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({}, "pages: Field required"),
        ({"pages": []}, "pages: List should have at least 1 item"),
        ({"pages": [{"gold": "x"}]}, "pages.0.html: Field required"),
        ({"pages": [{"html": "x", "path": "/etc"}]}, "there is no field pages.0.path"),
        ({"pages": [PAGE], "methods": []}, "methods: List should have at least 1 item"),
        ({"pages": [PAGE], "methods": ["x"] * 11}, "methods: List should have at most 10 items"),
        ({"pages": [PAGE], "methods": ["nonsense"]}, "unknown method 'nonsense'"),
        ({"pages": [PAGE], "metrics": ["nonsense"]}, "unknown metric 'nonsense'"),
        ({"pages": [PAGE] * 101}, "set: holds more than 100 pages"),
    ],
)
def test_wrong_requests(asked: dict[str, Any], error: str, client: TestClient) -> None:
    assert error_of(client.post("/api/evaluate", json=asked)).startswith(error)


def test_other_types(client: TestClient) -> None:
    answer = client.post("/api/evaluate", content=b"x", headers={"Content-Type": "text/html"})
    assert error_of(answer, 415) == "the request is text/html; it may be application/json, multipart/form-data"
