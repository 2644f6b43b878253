"""Teach mode over HTTP: pages to correct, suggestions, the queue, what sites repeat, teaching in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotating_calls import API, add, html, send, served, show
from mainmatter.api import clean
from mainmatter.records import Page
from mainmatter.workbench.labels import Store
from mainmatter.workbench.teach import TeachingJobs
from teaching_pages import annotate_boards, notice_board
from timing import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastapi.testclient import TestClient


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("suggesting")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with served(folder) as client:
        yield client


def correct(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/correct", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_page_is_corrected_from_what_a_method_kept(client: TestClient) -> None:
    page = {"html": html("Correct"), "url": "http://ferry.example/1"}
    found = correct(client, **page, annotator="Ada", options={"dial": 0.9})
    assert found == {"page": found["page"], "labelled": 5, "url": f"/annotate#/page/{found['page']}"}
    view = show(client, found["page"], "Ada")
    kept = clean(Page(page["html"], page["url"]), dial=0.9).kept.tolist()
    assert [view["labels"][block["ref"]]["kept"] for block in view["blocks"]] == kept
    assert {label["suggested_by"] for label in view["labels"].values()} == {"main"}
    assert (view["name"], view["done"]) == ("Correct", False)
    flipped = {view["blocks"][0]["ref"]: {"kept": True, "kind": "paragraph"}}
    send(client, found["page"], "labels", annotator="Ada", revision=view["revision"], labels=flipped)
    assert correct(client, **page, annotator="Ada")["labelled"] == 0, "what she said is never overwritten"
    assert show(client, found["page"], "Ada")["labels"][view["blocks"][0]["ref"]]["kept"]
    again = correct(client, **page, annotator="Bob", method="ice-heuristic")
    assert (again["page"], again["labelled"]) == (found["page"], 5)
    labels = show(client, found["page"], "Bob")["labels"]
    assert {label["suggested_by"] for label in labels.values()} == {"ice-heuristic"}
    frame = view["frame"].removeprefix("/frame/")
    assert correct(client, frame=frame, annotator="Cyn")["labelled"] == 5


def test_what_cannot_be_corrected_is_told(client: TestClient) -> None:
    for body, word in (
        ({"annotator": "Ada"}, "no page"),
        ({"html": "<p>a", "annotator": "best"}, "reserved name"),
        ({"html": "<p>a", "annotator": "Ada", "method": "nothing"}, "nothing"),
        ({"html": "<p>a"}, "annotator"),
    ):
        answer = client.post(f"{API}/correct", json=body)
        assert (answer.status_code, word in answer.text) == (422, True), body


def test_suggestions_are_one_for_each_block(client: TestClient) -> None:
    page = add(client, "Suggest")
    answer = client.get(f"{API}/pages/{page}/suggestion").json()
    assert (answer["model"], answer["version"], answer["pages"]) == ("main", "0", None)
    blocks = show(client, page, "Ada")["blocks"]
    assert len(answer["labels"]) == len(answer["scores"]) == len(answer["alike"]) == len(blocks)
    assert answer["labels"][2] == {"kept": True, "kind": "paragraph", "suggested_by": "main"}
    assert answer["scores"][2] > 0.5
    assert show(client, page, "Ada")["labels"] == {}
    assert client.get(f"{API}/pages/999999/suggestion").status_code == 404


def test_the_queue_begins_with_what_the_model_is_least_sure_of(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        sure, same_site, unsure = (
            store.add_page(Page(content, url), "test")
            for content, url in (
                (
                    "<main>" + "<p>A long story of the ferry, told at length and with care.</p>" * 8,
                    "http://a.example/1",
                ),
                ("<p>A story.</p>" * 3, "http://a.example/2"),
                ("<p>Perhaps</p><p>words</p><p>or a menu</p>", "http://b.example/1"),
            )
        )
        store.add_page(Page("<script>nothing()</script>"), "test")
    with served(tmp_path) as client:
        wait_until(lambda: not client.get(f"{API}/queue?annotator=Ada").json()["waiting"])
        queue = client.get(f"{API}/queue?annotator=Ada").json()
        known = {page["id"]: page["sure"] for page in queue["pages"]}
        assert sorted(known) == [sure, same_site, unsure]
        assert min(known, key=lambda page: known[page]) == queue["pages"][0]["id"]
        assert max(known.values()) > known[queue["pages"][0]["id"]]
        after = client.get(f"{API}/queue?annotator=Ada&after={same_site}").json()["pages"]
        assert [page["id"] for page in after] == [unsure, sure, same_site], "another site first"
        send(client, unsure, "done", annotator="Ada", revision=0, done=True)
        left = client.get(f"{API}/queue?annotator=Ada").json()["pages"]
        assert unsure not in [page["id"] for page in left]
        of_bob = client.get(f"{API}/queue?annotator=Bob").json()["pages"]
        assert of_bob == queue["pages"]


def test_what_a_site_repeats_is_dropped_over_http(client: TestClient) -> None:
    pages = []
    for number in range(3):
        content = notice_board(number).page.html
        assert isinstance(content, bytes)
        pages.append(correct(client, html=content.decode(), url=f"http://site.example/{number}", annotator="x"))
    path = f"{API}/pages/{pages[0]['page']}/recurring"
    found = client.get(path, params={"annotator": "Rae"}).json()
    assert (found["site"], found["pages"]) == ("site.example", 3)
    assert [block["text"] for block in found["blocks"]][:3] == ["Home", "All notices", "Write one"]
    keys = [block["key"] for block in found["blocks"]][:3]
    assert client.post(path, json={"annotator": "Rae", "keys": keys}).json() == {"pages": 3, "blocks": 9}
    assert client.post(path, json={"annotator": "Rae", "keys": keys}).json() == {"pages": 0, "blocks": 0}
    assert client.post(path, json={"annotator": "gold", "keys": keys}).status_code == 422
    assert len(show(client, pages[2]["page"], "Rae")["labels"]) == 3


def test_teaching_starts_by_itself_when_it_is_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, str]] = []

    def note(_: TeachingJobs, name: str, method: str, arguments: object) -> None:
        started.append((name, method))

    monkeypatch.setattr(TeachingJobs, "start", note)
    annotate_boards(tmp_path, 7)
    with Store(tmp_path) as store:
        for page in range(4, 8):
            store.set_done(page, "ada", False)
    with served(tmp_path) as client:

        def teach() -> tuple[int, int, int]:
            stand = client.post(f"{API}/teaching").json()
            return stand["done"], stand["next_at"], len(started)

        def is_done(page: int) -> None:
            revision = show(client, page, "ada")["revision"]
            send(client, page, "done", annotator="ada", revision=revision, done=True)

        assert client.get(f"{API}/teaching").json()["state"] == "waiting"
        assert teach() == (3, 4, 0)
        is_done(4)
        assert teach() == (4, 6, 1)
        is_done(5)
        assert teach() == (5, 6, 1), "two more pages, not one"
        is_done(6)
        assert teach() == (6, 8, 2)
        assert client.get(f"{API}/teaching").json()["next_at"] == 8
    assert started == [("auto", "main")] * 2
