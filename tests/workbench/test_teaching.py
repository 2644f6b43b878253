"""/api/teach: a job's life, from its start to its model, through cancels, deaths and restarts of the server."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from mainmatter.workbench.choosing import model_names
from mainmatter.workbench.teach import AlreadyTeaching, TeachingJobs
from teaching_pages import annotate_boards
from timing import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fastapi.testclient import TestClient

    from mainmatter.workbench.teach import TeachingJob

FOREVER = "main:epochs=100000"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("teaching") / "workbench"
    folder.mkdir()
    annotate_boards(folder / "annotations.db", 5)
    yield folder
    TeachingJobs(folder).cancel()  # no process is left


@pytest.fixture
def client(make_client: Callable[..., TestClient], folder: Path) -> Iterator[TestClient]:
    yield make_client(folder=folder)
    TeachingJobs(folder).cancel()


def wait_for(look: Callable[[], Any], is_it: Callable[[Any], bool]) -> Any:
    found = None

    def is_there() -> bool:
        nonlocal found
        found = look()
        return is_it(found)

    wait_until(is_there)
    return found


def job_of(client: TestClient) -> dict[str, Any]:
    answer = client.get("/api/teach")
    assert answer.status_code == 200, answer.text
    job: dict[str, Any] = answer.json()["job"]
    return job


def wait_for_end(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = wait_for(lambda: job_of(client), lambda job: job["state"] != "running")
    return found


def wait_for_work(jobs: TeachingJobs) -> TeachingJob:
    job: TeachingJob = wait_for(jobs.current, lambda job: job.doing.startswith("learning"))
    return job


def test_an_empty_workbench(make_client: Callable[..., TestClient], tmp_path: Path) -> None:
    client = make_client(folder=tmp_path / "none")
    stand = client.get("/api/teach").json()
    assert stand["ready"] == {"pages": 0, "usable": 0, "needed": 4}
    assert (stand["job"], stand["lessons"], stand["models"]) == (None, [], [])
    assert stand["methods"][0]["name"] == "main"
    assert {"ncleaner", "fiasco"} <= {method["name"] for method in stand["methods"]}
    assert "template" not in {method["name"] for method in stand["methods"]}  # it does not look at labels
    answer = client.post("/api/teach", json={"name": "x"})
    assert answer.status_code == 422
    assert "teaching needs at least 4" in answer.text
    assert client.post("/api/teach/cancel").json() == {"job": None}
    assert not (tmp_path / "none").exists()


def test_from_start_to_model(client: TestClient, folder: Path) -> None:
    assert client.get("/api/teach").json()["ready"]["single"] == 5
    answer = client.post("/api/teach", json={"name": "boards", "method": "ncleaner"})
    assert answer.status_code == 202, answer.text
    assert answer.json()["job"]["state"] == "running"
    job = wait_for_end(client)
    assert job["state"] == "finished", job
    assert job["lesson"]["recommended"] is True
    assert job["lesson"]["model"] == "models/boards"
    assert [point["pages"] for point in job["points"]] == [1, 2, 4]
    assert job["done"] == job["of"]
    assert "5 pages of 5 sites, left out by site in 5 parts" in job["log"]
    assert job["command"] == "mainmatter teach workbench -o workbench/models/boards -m ncleaner"
    stand = client.get("/api/teach").json()
    assert [lesson["name"] for lesson in stand["lessons"]] == ["boards"]
    assert [(model["name"], model["pages"], model["recommended"]) for model in stand["models"]] == [("boards", 5, True)]
    assert str(folder) not in json.dumps(stand)
    assert model_names(folder / "models") == ["models/boards"]
    # A second one may follow at once, under the same name.
    again = client.post("/api/teach", json={"name": "boards", "method": "ncleaner", "curve": False, "split": "page"})
    assert again.status_code == 202, again.text
    job = wait_for_end(client)
    assert (job["id"], job["state"], len(job["points"])) == (2, "finished", 1)
    assert job["command"].endswith("-m ncleaner --split page --no-points")


def test_models_are_deleted_and_nothing_else(client: TestClient, folder: Path) -> None:
    model = folder / "models" / "boards"
    model.mkdir(parents=True, exist_ok=True)
    (model / "model.json").write_text("{}", encoding="utf-8")
    listed = client.get("/api/teach").json()["models"]
    assert [(one["name"], "not a model" in one["problem"]) for one in listed] == [("boards", True)]
    for name in ("nothing", "..", "%2e%2e", "..%2fannotations.db", "lessons.jsonl", "boards%00"):
        assert client.delete(f"/api/teach/models/{name}").status_code in (404, 405, 422), name
    assert client.delete("/api/teach/models/boards").json() == {"deleted": "boards"}
    assert not model.exists()
    assert (folder / "annotations.db").exists()
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "model.json").write_text("{}", encoding="utf-8")
    model.symlink_to(elsewhere)
    assert client.delete("/api/teach/models/boards").status_code == 422
    assert (elsewhere / "model.json").exists()
    model.unlink()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"name": "../x"}, "name"),
        ({"name": "a/b"}, "name"),
        ({"name": ".hidden"}, "name"),
        ({"name": "-m"}, "name"),
        ({"name": "x\n"}, "name"),
        ({"name": "density"}, "is the name of a method"),
        ({"name": "x", "method": "density"}, "density"),
        ({"name": "x", "method": "main:start=/etc"}, "main:start"),
        ({"name": "x", "other": 1}, "other"),
        ({}, "name"),
    ],
)
def test_what_may_not_be_asked(client: TestClient, asked: dict[str, Any], message: str) -> None:
    before = job_of(client)
    answer = client.post("/api/teach", json=asked)
    assert answer.status_code == 422
    assert message in answer.json()["error"]
    assert job_of(client) == before


def test_one_at_a_time_and_cancel(client: TestClient, folder: Path) -> None:
    jobs = TeachingJobs(folder)
    jobs.start("endless", FOREVER)
    with pytest.raises(AlreadyTeaching):
        jobs.start("second", "ncleaner")
    answer = client.post("/api/teach", json={"name": "second"})
    assert answer.status_code == 409
    assert answer.json() == {"error": "a model is being taught already", "hint": "wait for it, or cancel it"}
    wait_for_work(jobs)
    assert job_of(client)["name"] == "endless"
    cancelled = client.post("/api/teach/cancel").json()["job"]
    assert (cancelled["state"], cancelled["error"]) == ("cancelled", "")
    assert not jobs._is_held()
    assert list((folder / "models").glob("*endless*")) == []
    assert client.post("/api/teach/cancel").json()["job"] == cancelled  # nothing more to do


def test_a_job_outlives_the_server_and_is_found_again(folder: Path) -> None:
    TeachingJobs(folder).start("survivor", FOREVER)
    after_restart = TeachingJobs(folder)
    job = wait_for_work(after_restart)
    assert (job.name, job.state) == ("survivor", "running")
    with pytest.raises(AlreadyTeaching):
        after_restart.start("other", "ncleaner")
    last = after_restart.cancel()
    assert last is not None
    assert last.state == "cancelled"


def test_a_job_whose_process_died_is_told_so(folder: Path) -> None:
    jobs = TeachingJobs(folder)
    jobs.start("endless", FOREVER)
    wait_for_work(jobs)
    pid = json.loads((folder / "teaching" / "job.json").read_bytes())["pid"]
    os.kill(pid, signal.SIGKILL)
    job = wait_for(TeachingJobs(folder).current, lambda job: job.state != "running")
    assert job.state == "died"
    assert "it was killed" in job.error
    assert "start it again" in job.error


def test_a_process_that_does_not_listen_is_killed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainmatter.workbench.teach._PATIENCE", 0.3)
    jobs = TeachingJobs(folder)
    jobs.start("deaf", FOREVER)
    wait_for_work(jobs)
    pid = json.loads((folder / "teaching" / "job.json").read_bytes())["pid"]
    os.kill(pid, signal.SIGSTOP)
    last = jobs.cancel()
    assert last is not None
    assert last.state == "cancelled"


def test_an_error_of_the_job_is_told(folder: Path) -> None:
    jobs = TeachingJobs(folder)
    jobs.start("wrong", "main:epochs=0")
    job = wait_for(jobs.current, lambda job: job.state != "running")
    assert job.state == "failed"
    assert "epochs must be a whole number from 1" in job.error


def test_damaged_files_are_no_job(tmp_path: Path) -> None:
    jobs = TeachingJobs(tmp_path)
    assert jobs.current() is None
    (tmp_path / "teaching").mkdir()
    for content in (b"", b"{", b"[]", b'{"id": 1}'):
        (tmp_path / "teaching" / "job.json").write_bytes(content)
        assert jobs.current() is None
    facts = {"id": 3, "name": "x", "method": "main", "command": "y", "started": "now"}
    (tmp_path / "teaching" / "job.json").write_text(json.dumps(facts), encoding="utf-8")
    (tmp_path / "teaching" / "log.jsonl").write_bytes(
        b'{"event": "point", "pages": 1}\n\xff\n[]\n{"event": "step", "do'
    )
    job = jobs.current()
    assert job is not None
    assert (job.state, job.points) == ("died", [{"pages": 1}])
