"""Peers beside our methods in the workbench."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings
from timing import PATIENCE
from workbench import bad_peers
from workbench.test_server_evaluate import PAGE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr("mainmatter.workbench.workers.START_LIMIT", PATIENCE)
    settings = Settings(folder=tmp_path, workers=2, seconds=6)
    with TestClient(make_app(settings), base_url="http://127.0.0.1:8000") as client:
        yield client


def test_methods_and_a_peer_on_a_page(client: TestClient) -> None:
    asked = {"pages": [PAGE], "methods": ["main", "density:c1=0.5", "trafilatura"], "metrics": ["bag", "cleaneval"]}
    rows = client.post("/api/evaluate", json=asked).json()
    assert [row["method"] for row in rows] == asked["methods"]
    assert rows[0]["dataset"] == "set"
    assert rows[0]["scores"]["bag"]["f1"] == 1.0
    assert set(rows[0]["scores"]) == {"bag", "cleaneval"}
    assert rows[0]["pages"][0][0] == "fog"
    assert rows[0]["failures"] == []


def test_a_peer_that_hangs_or_crashes_costs_its_column(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainmatter.workbench.compare.contribute", bad_peers.contribute)
    answer = client.post("/api/compare", json={"html": "<p>Words of a page.", "methods": ["main", "justext", "goose3"]})
    columns = answer.json()["columns"]
    assert columns[0]["error"] is None
    assert "longer than 6 s" in columns[1]["error"]
    assert "ended the process" in columns[2]["error"]
