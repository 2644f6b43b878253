"""Blind comparisons, and the model that is in use."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.lab.training.verdict import weigh_answers
from mainmatter.models.in_use import read_choice
from mainmatter.models.store import SHIPPED, load, save
from mainmatter.workbench.labels import Store
from teaching_pages import annotate_boards, boards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fastapi.testclient import TestClient

LESSON = {"probability": 0.8, "recommended": False, "below_default": False, "shipped": "main", "verdict": "?"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workbench with four labelled pages, three that nobody labelled, and a model that keeps all text."""
    monkeypatch.setenv("MAINMATTER_CONFIG", str(tmp_path / "config"))
    folder = tmp_path / "workbench"
    folder.mkdir()
    annotate_boards(folder / "annotations.db", 4)
    with Store(folder / "annotations.db") as store:
        for page in boards(7)[4:]:
            store.add_page(page.page, "tests", name=page.page.id)
    model = load(SHIPPED / "ncleaner")
    model.card["lesson"] = LESSON
    save(model, folder / "models" / "ours")
    del model.card["lesson"]
    return folder


@pytest.fixture
def client(make_client: Callable[..., TestClient], folder: Path) -> Iterator[TestClient]:
    with make_client(folder=folder, workers=1) as client:
        yield client


def model_of(client: TestClient) -> dict[str, Any]:
    (model,) = client.get("/api/teach").json()["models"]
    found: dict[str, Any] = model
    return found


def taught_sides(folder: Path) -> dict[int, str]:
    """Which side was the taught model, as the server knows it."""
    lines = (folder / "teaching" / "blind.jsonl").read_text("utf-8").splitlines()
    begun = json.loads(lines[0])
    return dict(zip(begun["pages"], begun["taught"], strict=True))


def test_a_comparison_from_page_to_page(client: TestClient, folder: Path) -> None:
    assert model_of(client)["probability"] == pytest.approx(0.8)
    answer = client.post("/api/teach/blind", json={"model": "ours"})
    assert answer.status_code == 201, answer.text
    state = answer.json()
    assert (state["answered"], state["of"], state["result"]) == (0, 3, None)
    sides = taught_sides(folder)
    seen = []
    for turn in range(3):
        page = state["page"]
        seen.append(page["id"])
        assert any(block["a"] != block["b"] for block in page["blocks"])
        assert all(block["a"] or block["b"] for block in page["blocks"])
        assert "taught" not in json.dumps(state).replace('"result": null', "")  # nothing tells which is which
        assert model_of(client)["probability"] == pytest.approx(0.8)
        assert client.get(f"/api/teach/blind/{state['id']}").json() == state  # a reload shows the same
        said = sides[page["id"]] if turn < 2 else "same"
        answer = client.post(f"/api/teach/blind/{state['id']}", json={"page": page["id"], "answer": said})
        assert answer.status_code == 200, answer.text
        state = answer.json()
    assert sorted(seen) == [5, 6, 7]  # those without labels
    assert (state["page"], state["result"]) == (None, {"taught": 2, "shipped": 0, "same": 1})
    model = model_of(client)
    assert model["preferred"] == {"taught": 2, "shipped": 0, "same": 1}
    assert model["probability"] == pytest.approx(weigh_answers(0.8, 2, 0))
    assert model["recommended"] is True
    again = client.post("/api/teach/blind", json={"model": "ours"})  # each page is compared once
    assert (again.status_code, "there are none left" in again.json()["error"]) == (422, True)


def test_what_both_sides_keep_is_theirs(client: TestClient, folder: Path) -> None:
    state = client.post("/api/teach/blind", json={"model": "ours"}).json()
    page = state["page"]
    sides = taught_sides(folder)
    with Store(folder / "annotations.db") as store:
        html = store.page(page["id"]).html
    assert isinstance(html, bytes)
    for side in "ab":
        method = "models/ours" if sides[page["id"]] == side else "main"
        kept = client.post("/api/clean", json={"html": html.decode(), "method": method, "blocks": True}).json()[
            "blocks"
        ]
        assert [each["text"] for each in kept if each["kept"]] == [b["text"] for b in page["blocks"] if b[side]]


def test_answers_that_are_not_asked_for(client: TestClient) -> None:
    state = client.post("/api/teach/blind", json={"model": "ours"}).json()
    place = f"/api/teach/blind/{state['id']}"
    for wrong in ({"page": 1, "answer": "a"}, {"page": state["page"]["id"], "answer": "c"}, {"page": "x"}):
        assert client.post(place, json=wrong).status_code == 422
    assert client.get("/api/teach/blind/0123456789abcdef").status_code == 422
    assert client.post("/api/teach/blind", json={"model": "other"}).status_code == 422
    ended = client.post(f"{place}/end").json()
    assert ended["result"] == {"taught": 0, "shipped": 0, "same": 0}
    late = client.post(place, json={"page": state["page"]["id"], "answer": "a"})
    assert late.status_code == 422


def test_a_model_that_was_taught_again_begins_anew(client: TestClient, folder: Path) -> None:
    state = client.post("/api/teach/blind", json={"model": "ours"}).json()
    page = state["page"]["id"]
    client.post(f"/api/teach/blind/{state['id']}", json={"page": page, "answer": taught_sides(folder)[page]})
    with (folder / "teaching" / "blind.jsonl").open("ab") as lines:
        lines.write(b'{"event": "answer", "id')  # as a crash leaves it
    client.post(f"/api/teach/blind/{state['id']}/end")
    assert model_of(client)["preferred"]["taught"] == 1
    model = load(folder / "models" / "ours")
    model.card["note"] = "another one"
    save(model, folder / "models" / "ours")
    assert model_of(client)["preferred"]["taught"] == 0


def test_a_model_is_used_from_now_on(client: TestClient, folder: Path) -> None:
    page = {"html": "<nav><a href=/>Home</a></nav><h1>Fog</h1><p>Ships need signals in fog.</p>"}
    stand = client.get("/api/teach").json()
    assert (stand["in_use"], stand["in_use_problem"]) == ("main", "")
    assert client.post("/api/teach/use", json={"model": "nothing"}).status_code == 422
    used = client.post("/api/teach/use", json={"model": "ours"})
    assert used.json() == {"in_use": "models/ours", "in_use_problem": "", "on_command_line": True}
    assert read_choice() == str((folder / "models" / "ours").resolve())
    assert client.post("/api/clean", json=page).json()["method"] == "models/ours"
    assert client.get("/api/methods").json()["default"] == "models/ours"
    assert model_of(client)["in_use"] is True
    refused = client.delete("/api/teach/models/ours")
    assert (refused.status_code, "in use" in refused.json()["error"]) == (422, True)
    shutil.rmtree(folder / "models" / "ours")
    gone = client.post("/api/clean", json=page)
    assert gone.status_code == 422
    assert "models/ours, the model in use, no longer exists" in gone.json()["error"]
    assert "no longer exists" in client.get("/api/teach").json()["in_use_problem"]
    assert client.get("/api/methods").json()["default"] == "main"
    assert client.post("/api/teach/use", json={"model": "main"}).json()["in_use"] == "main"
    assert read_choice() is None
    assert client.post("/api/clean", json=page).json()["method"] == "main"


def test_what_the_command_line_chose_counts_here_if_it_is_a_model_of_this_workbench(
    client: TestClient, folder: Path, make_client: Callable[..., TestClient]
) -> None:
    config = folder.parent / "config"
    config.mkdir()
    (config / "default-method").write_text(f"{(folder / 'models' / 'ours').resolve()}\n", "utf-8")
    assert client.get("/api/teach").json()["in_use"] == "models/ours"
    (config / "default-method").write_text(f"{SHIPPED / 'ncleaner'}\n", "utf-8")
    assert client.get("/api/teach").json()["in_use"] == "main"
    remote = make_client(folder=folder, host="192.0.2.1", token="0123456789")
    headers = {"Authorization": "Bearer 0123456789"}
    used = remote.post("/api/teach/use", json={"model": "ours"}, headers=headers).json()
    assert (used["in_use"], used["on_command_line"]) == ("models/ours", False)
    assert read_choice() == str(SHIPPED / "ncleaner")
