"""Annotate over HTTP: labels, independence, merging, export, and what is refused."""

from __future__ import annotations

import io
import threading
import zipfile
from typing import TYPE_CHECKING, Any

import httpx2 as httpx
import pytest

from annotating_calls import API, add, label_all, send, served, show, upload
from mainmatter.lab.datasets import load_dataset
from mainmatter.workbench.labels import Label, Store
from mainmatter.workbench.settings import Settings
from timing import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fastapi.testclient import TestClient


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("annotating")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with served(folder) as client:
        yield client


def test_labels_are_stored_undone_and_made_again(client: TestClient) -> None:
    page = add(client, "Undo")
    view = show(client, page, "Ada")
    assert [block["text"] for block in view["blocks"]][1] == "Undo"
    assert client.get(view["frame"]).headers["content-security-policy"].startswith("default-src 'none'")
    ref = view["blocks"][1]["ref"]
    label = {"kept": True, "kind": "heading", "suggested_by": ""}
    first = send(client, page, "labels", annotator="Ada", revision=0, labels={ref: label})
    assert (first["labels"], first["can_undo"], first["can_redo"]) == (None, True, False)
    assert show(client, page, "Ada")["labels"] == {ref: label}
    back = send(client, page, "undo", annotator="Ada", revision=first["revision"])
    assert (back["labels"], back["can_redo"]) == ({}, True)
    again = send(client, page, "redo", annotator="Ada", revision=back["revision"])
    assert again["labels"] == {ref: label}
    gone = send(client, page, "labels", annotator="Ada", revision=again["revision"], labels={ref: None})
    assert gone["revision"] > again["revision"]
    events = client.get(f"{API}/pages/{page}/history?annotator=Ada").json()["events"]
    assert [event["action"] for event in events] == ["set", "undo", "redo", "set"]
    assert events[0]["changes"] == [{"ref": ref, "text": "Undo", "before": None, "after": label}]


def test_a_stale_window_is_told(client: TestClient) -> None:
    page = add(client, "Stale")
    refs = [block["ref"] for block in show(client, page, "Ada")["blocks"]]
    label = {"kept": True, "kind": "paragraph"}
    now = send(client, page, "labels", annotator="Ada", revision=0, labels={refs[0]: label})["revision"]
    for what, more in (("labels", {"labels": {refs[1]: label}}), ("undo", {}), ("done", {"done": True})):
        answer = client.post(f"{API}/pages/{page}/{what}", json={"annotator": "Ada", "revision": 0, **more})
        assert answer.status_code == 409, what
        assert "meanwhile" in answer.json()["error"]
    assert client.get(f"{API}/pages/{page}/labels?annotator=Ada").json()["revision"] == now


def test_errors_are_told_as_what_they_are(client: TestClient) -> None:
    page = add(client, "Errors")
    ref = show(client, page, "Ada")["blocks"][0]["ref"]
    label = {"kept": True, "kind": "paragraph"}

    def status(path: str, body: dict[str, Any]) -> int:
        answer = client.post(f"{API}{path}", json=body)
        assert set(answer.json()) == {"error", "hint"}
        return answer.status_code

    good: dict[str, Any] = {"annotator": "Ada", "revision": 0, "labels": {ref: label}}
    assert status("/pages/999999/labels", good) == 404
    assert client.get(f"{API}/pages/999999?annotator=Ada").status_code == 404
    assert client.get(f"{API}/pages/999999/comparison?by=Ada").status_code == 404
    assert client.get(f"{API}/imports/nothing").status_code == 404
    for number in ("..%2f..%2fetc%2fpasswd", "1;drop", "-1", "0", "99999999999999999999"):
        assert client.get(f"{API}/pages/{number}?annotator=Ada").status_code in (404, 422), number
    wrong: list[dict[str, Any]] = [
        good | {"labels": {ref: {"kept": True, "kind": "advert"}}},
        good | {"labels": {ref: {"kept": "perhaps"}}},
        good | {"labels": {"no-such-block": label}},
        good | {"annotator": ""},
        good | {"annotator": "a\u0000b"},
        good | {"annotator": "x" * 200},
        good | {"annotator": "best"},
        good | {"annotator": "merged"},  # by whom?
        good | {"surprise": 1},
        {"annotator": "Ada"},
    ]
    for body in wrong:
        assert status(f"/pages/{page}/labels", body) == 422, body
    assert status(f"/pages/{page}/accept-agreed", {"annotator": "Ada", "revision": 0}) == 422
    assert status(f"/pages/{page}/labels", good | {"annotator": "Ada", "by": "x" * 400_000}) == 413
    large = client.post(f"{API}/imports/files", files=[("files", ("big.html", b"x" * 1_100_000, "text/html"))])
    assert large.status_code == 413
    job = upload(client, ("large.html", b"<p>" + b"x" * 400_000))  # the upload may be that large, but no page
    assert (job["added"], job["rejected"]) == (0, 1)
    assert client.get(f"{API}/export/pages.parquet?whose=nobody").status_code == 422
    assert client.get(f"{API}/export/..%2fannotations.db").status_code in (404, 422)
    assert show(client, page, "Ada")["labels"] == {}


def test_annotators_do_not_see_each_other_until_they_are_done(client: TestClient) -> None:
    page = add(client, "Independent")
    label_all(client, page, "Ada", "dkkkd", "phplp")
    refs = [block["ref"] for block in show(client, page, "Bob")["blocks"]]
    drop = {"kept": False, "kind": "paragraph"}
    now = send(client, page, "labels", annotator="Bob", revision=0, labels={refs[1]: drop})["revision"]

    def row(name: str) -> dict[str, Any]:
        rows = client.get(f"{API}/pages", params={"annotator": name}).json()["pages"]
        return next(one for one in rows if one["id"] == page)

    history = client.get(f"{API}/pages/{page}/history?annotator=Bob").json()
    assert ({event["annotator"] for event in history["events"]}, history["hidden"]) == ({"Bob"}, 2)
    assert client.get(f"{API}/pages/{page}/comparison?by=Bob").status_code == 409
    assert (row("Bob")["conflicts"], row("Bob")["status"]) == (None, "labelled")
    seen_by_bob, by_ada = (client.get(f"{API}/agreement?annotator={name}").json() for name in ("Bob", "Ada"))
    assert page not in [one["id"] for one in seen_by_bob["pages"]]
    assert (seen_by_bob["hidden"], by_ada["hidden"]) == (1, 0)
    assert by_ada["unfinished"] - seen_by_bob["unfinished"] == 1
    blocks = [sum(pair["blocks"] for pair in report["pairs"]) for report in (by_ada, seen_by_bob)]
    assert blocks[0] - blocks[1] == 1  # no figure tells Bob of the block that he labelled
    send(client, page, "done", annotator="Bob", revision=now, done=True)
    assert client.get(f"{API}/pages/{page}/history?annotator=Bob").json()["hidden"] == 0
    assert client.get(f"{API}/pages/{page}/comparison?by=Bob").status_code == 200
    assert (row("Bob")["conflicts"], row("Bob")["status"]) == (1, "conflict")
    assert row("Bob")["others"] == [{"annotator": "Ada", "labelled": 5, "done": True}]


def test_a_third_person_merges_and_the_gold_standard_is_read_by_train(client: TestClient, tmp_path: Path) -> None:
    page = add(client, "Merge")
    label_all(client, page, "Ada", "dkkkd", "phplp")
    label_all(client, page, "Bob", "dkkdd", "phppp")
    view = client.get(f"{API}/pages/{page}/comparison?by=Chris").json()
    assert [each["name"] for each in view["annotators"]] == ["Ada", "Bob"]
    [conflict] = view["conflicts"]
    [pair] = view["agreement"]
    assert pair["kept"] == pytest.approx(0.8)
    assert pair["kept_kappa"] == pytest.approx(8 / 13)  # (0.8 - 0.48) / (1 - 0.48)
    assert 0 < pair["text"] < 100
    assert view["labels"]["Ada"][conflict]["kept"]
    assert not view["labels"]["Bob"][conflict]["kept"]
    merger = {"annotator": "merged", "by": "Chris"}
    agreed = send(client, page, "accept-agreed", **merger, revision=0)
    assert len(agreed["labels"]) == 4
    left_out = client.get(f"{API}/export?whose=merged").json()["left_out"]
    assert {"id": page, "name": "Merge.html", "why": "not all of it is merged"} in left_out
    decision = {conflict: {"kept": True, "kind": "list"}}
    now = send(client, page, "labels", **merger, revision=agreed["revision"], labels=decision)["revision"]
    send(client, page, "done", **merger, revision=now, done=True)
    events = client.get(f"{API}/pages/{page}/history?annotator=Ada").json()["events"]
    assert {event["by"] for event in events if event["annotator"] == "merged"} == {"Chris"}
    answer = client.get(f"{API}/export/folder.zip?whose=merged")
    assert answer.headers["content-disposition"] == 'attachment; filename="gold-standard.zip"'
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path)
    (tmp_path / "gold.parquet").write_bytes(client.get(f"{API}/export/pages.parquet?whose=merged").content)
    for name in ("gold-standard", "gold.parquet"):
        [gold] = load_dataset(str(tmp_path / name))
        assert gold.gold.text is not None
        assert gold.gold.text.split("\n")[0].strip() == "Merge"
        assert [label.kept for label in gold.labels or ()] == [False, True, True, True, False]
        assert [label.kind for label in gold.labels or ()][3] == "list"


def test_who_merges_a_moment_too_late_is_told(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = add(client, "Late")
    label_all(client, page, "Ada", "dkkkd", "phplp")
    real = Store.accept_agreed

    def after_another(store: Store, page_id: int, **given: Any) -> int:
        with Store(folder) as other:
            other.set_labels(page_id, "merged", {other.references(page_id)[1]: Label(kept=False)}, by="Dora")
        return real(store, page_id, **given)

    monkeypatch.setattr(Store, "accept_agreed", after_another)
    asked = {"annotator": "merged", "by": "Chris", "revision": 0}
    answer = client.post(f"{API}/pages/{page}/accept-agreed", json=asked)
    assert answer.status_code == 409
    assert f"somebody has merged blocks of page {page} meanwhile" in answer.text
    standing = client.get(f"{API}/pages/{page}/labels?annotator=merged").json()
    assert len(standing["labels"]) == 1  # what Dora said, and nothing that Chris did not see


def test_the_api_is_described(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()
    posts = described["paths"][f"{API}/pages/{{page_id}}/labels"]["post"]
    assert {"200", "404", "409", "413", "422"} <= set(posts["responses"])
    assert described["components"]["schemas"]["LabelModel"]["properties"]["kind"]["enum"] == [
        "heading",
        "paragraph",
        "list",
        "comment",
    ]


def test_two_annotators_who_save_at_once_lose_nothing(start_server: Callable[[Settings], Any], tmp_path: Path) -> None:
    changes = 30
    problems: list[str] = []

    def work(address: str, page: int, annotator: str) -> None:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            refs = [block["ref"] for block in show(client, page, annotator)["blocks"]]
            revision = 0
            for i in range(changes):
                label = {"kept": i % 2 == 0, "kind": "heading" if i % 3 else "list"}
                body = {"annotator": annotator, "revision": revision, "labels": {refs[i % len(refs)]: label}}
                answer = client.post(f"{API}/pages/{page}/labels", json=body)
                if answer.status_code != 200:
                    problems.append(answer.text)
                    return
                revision = answer.json()["revision"]

    settings = Settings(folder=tmp_path, workers=1)
    with start_server(settings) as address, httpx.Client(base_url=address, timeout=PATIENCE) as client:
        page = add(client, "At once")
        names = ["Ada", "Bob", "Chris"]
        threads = [threading.Thread(target=work, args=(address, page, name)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        events = client.get(f"{API}/pages/{page}/history?annotator=nobody").json()["events"]
        assert {name: sum(event["by"] == name for event in events) for name in names} == dict.fromkeys(names, changes)
        labels = [client.get(f"{API}/pages/{page}/labels?annotator={name}").json()["labels"] for name in names]
        assert labels[0] == labels[1] == labels[2]
        assert len(labels[0]) == 5
