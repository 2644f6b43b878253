"""Whatever goes wrong, the answer says what to do about it."""

from __future__ import annotations

import gzip
import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.exceptions import HTTPException

from mainmatter.errors import MainmatterError, MissingExtra, UnknownName
from mainmatter.isolation.child import ChildExited
from mainmatter.workbench.answers import STATUSES, add_handlers
from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings
from mainmatter.workbench.workers import Busy
from small_web import serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ADDRESS = "http://127.0.0.1:8000"
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def kinds_below(kind: type[MainmatterError]) -> Iterator[type[MainmatterError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__.startswith("mainmatter."):
            yield from kinds_below(below)


def make(kind: type[MainmatterError]) -> MainmatterError:
    """An error of a kind, whose message does not say what to do."""
    if issubclass(kind, UnknownName):
        return kind("method", "densty", ["density"])
    if issubclass(kind, MissingExtra):
        return kind("fastwarc", "corpus")
    if issubclass(kind, ChildExited):
        return kind("crash", 1)
    return kind() if kind is Busy else kind("something is wrong")


def test_no_kind_of_error_is_without_a_hint() -> None:
    app = FastAPI()
    app.state.workbench = SimpleNamespace(tell=str)
    add_handlers(app)
    raised: list[Exception] = []

    @app.get("/")
    def fail() -> None:
        raise raised[-1]

    client = TestClient(app)
    kinds = set(kinds_below(MainmatterError))
    assert len(kinds) >= 14
    assert set(STATUSES) <= kinds
    for error in (*map(make, kinds), *(HTTPException(status, "wrong") for status in (404, 405, 406, 410, 415, 422))):
        raised.append(error)
        answer = client.get("/").json()
        assert answer["error"], error
        assert answer["hint"], error


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with TestClient(make_app(Settings(folder=tmp_path_factory.mktemp("hints"), workers=1)), base_url=ADDRESS) as client:
        yield client


PDF, WARC = b"%PDF-1.4 x", b"WARC/1.0\r\nWARC-Type: warcinfo\r\n"
NOISE = random.Random(1).randbytes(1000)
CASES: list[tuple[dict[str, Any], int, str]] = [
    ({"json": {"url": "http://127.0.0.1:8765/"}}, 422, "--allow-private"),
    ({"files": {"file": ("a.pdf", PDF)}}, 422, "convert it to HTML or text first"),
    ({"files": {"file": ("a.bin", NOISE)}}, 422, "give HTML"),
    ({"files": {"file": ("a.html.gz", b"\x1f\x8bno gzip")}}, 422, "send HTML"),
    ({"files": {"file": ("a.warc", WARC)}}, 422, "`mainmatter serve --corpus`"),
    ({"files": {"file": ("a.warc.gz", gzip.compress(WARC))}}, 422, "the import of Annotate"),
    ({"files": {"file": ("a.jsonl", b'{"html": "<p>Fog", "url": "x"}\n')}}, 422, "`mainmatter corpus`"),
    ({"json": {"html": "<p>Fog", "options": {"dial": 7}}}, 422, "/api/methods"),
]


@pytest.mark.parametrize("path", ["/api/clean", "/api/inspect"])
@pytest.mark.parametrize(("sent", "status", "hint"), CASES)
def test_what_to_do(client: TestClient, path: str, sent: dict[str, Any], status: int, hint: str) -> None:
    answer = client.post(path, **sent)
    assert (answer.status_code, hint in answer.json()["hint"]) == (status, True), answer.json()


def test_what_is_no_page_is_refused_also_if_it_is_fetched(tmp_path: Path) -> None:
    served = {
        "/picture": ("image/png", b"\x89PNG\r\n\x1a\n", "image/png"),
        "/noise": ("text/html", NOISE, "neither HTML nor text"),
        "/paper": ("", PDF, "a PDF document"),
    }
    chosen = Settings(folder=tmp_path, workers=1, allow_private=True)
    files = {path: (media_type, data) for path, (media_type, data, _) in served.items()}
    with serve(files) as address, TestClient(make_app(chosen), base_url=ADDRESS) as client:
        for path, (_, _, words) in served.items():
            for door in ("/api/clean", "/api/inspect"):
                answer = client.post(door, json={"url": address + path})
                assert answer.status_code == 422
                assert answer.json()["error"] == f"{address}{path}: is {words}, not a web page"
                assert answer.json()["hint"].startswith(("give", "convert"))


def test_a_page_that_curl_sends_as_a_form(client: TestClient) -> None:
    answer = client.post("/api/clean", content=b"<p>Fog", headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 415
    assert answer.json()["hint"].endswith("curl -H 'Content-Type: text/html'")


def test_requests_of_other_sites_are_told_what_to_do(client: TestClient) -> None:
    answer = client.post("/api/clean", json={"html": "x"}, headers={"Origin": "http://elsewhere.example"})
    assert (answer.status_code, bool(answer.json()["hint"])) == (403, True)


@pytest.mark.parametrize("path", ["/nowhere", "/static/nowhere.js", "/api/nowhere"])
def test_who_goes_to_an_unknown_address_gets_a_page(client: TestClient, path: str) -> None:
    answer = client.get(path, headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert '<a href="/">' in answer.text
    assert answer.headers["content-security-policy"]
    assert client.get(path).json()["error"] == "there is nothing here"
    assert client.post(path, headers=BROWSER).headers["content-type"] == "application/json"
