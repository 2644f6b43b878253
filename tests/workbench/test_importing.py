"""Annotate's imports over HTTP: what is added, what is refused, and what may take how much."""

from __future__ import annotations

import gzip
import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient

from annotating_calls import ADDRESS, API, html, served, upload, wait
from mainmatter.corpus.build import build_corpus
from mainmatter.corpus.filters import Filters
from mainmatter.corpus.job import Job
from mainmatter.workbench.app import make_app
from mainmatter.workbench.settings import Settings
from timing import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("annotating")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with served(folder) as client:
        yield client


def test_files_are_added_once_and_what_is_no_page_is_told(client: TestClient) -> None:
    files = [("../../etc/one.html", html("Import one").encode()), ("photo.png", b"\x89PNG\r\n\x1a\n0")]
    job = upload(client, *files)
    assert (job["state"], job["added"], job["known"], job["rejected"]) == ("done", 1, 0, 1)
    (told,) = job["rejects"]
    assert told["name"] == "photo.png"
    assert told["why"].startswith("photo.png: is a PNG picture, not a web page; ")
    again = upload(client, *files)
    assert (again["added"], again["known"], again["rejected"]) == (0, 1, 1)
    names = [row["name"] for row in client.get(f"{API}/pages?annotator=Ada").json()["pages"]]
    assert names.count("one.html") == 1


def test_a_packed_page_is_unpacked(client: TestClient) -> None:
    job = upload(client, ("packed.html.gz", gzip.compress(html("A packed page").encode())))
    assert (job["state"], job["added"]) == ("done", 1)
    pages = client.get(f"{API}/pages?annotator=Ada").json()["pages"]
    assert [row["blocks"] for row in pages if row["name"] == "packed.html.gz"] == [5]


def test_archives_are_read_and_lists_of_addresses_are_not_fetched(client: TestClient, folder: Path) -> None:
    lines = [json.dumps({"id": f"line-{i}", "html": html(f"Line {i}")}) for i in range(3)]
    job = upload(client, ("pages.jsonl", "\n".join(lines).encode()), ("list.urls", b"http://127.0.0.1:9/\n"))
    assert (job["added"], job["rejected"]) == (4, 0)  # the list is a page like any other
    pages = client.get(f"{API}/pages?annotator=Ada").json()["pages"]
    assert {"line-0", "line-2", "list.urls"} <= {page["name"] for page in pages}
    assert not any(str(folder) in json.dumps(page) for page in pages), "tells where the server keeps its files"
    assert not list(folder.glob(".import-*")), "uploaded files are left behind"


def test_only_the_pages_that_methods_disagree_on_most_are_added(client: TestClient) -> None:
    lines = [json.dumps({"id": f"contested-{i}", "html": html(f"Contested {i}") * (i + 1)}) for i in range(4)]
    job = upload(client, ("contested.jsonl", "\n".join(lines).encode()), most="1")
    assert (job["state"], job["added"]) == ("done", 1), job
    pages = client.get(f"{API}/pages?annotator=Ada").json()["pages"]
    [note] = [page["note"] for page in pages if page["name"].startswith("contested-")]
    assert "methods disagree on" in note


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/x", "http://169.254.169.254/latest", "http://[::1]/", "http://10.0.0.1/"]
)
def test_addresses_of_the_inner_network_are_refused(client: TestClient, url: str) -> None:
    job = wait(client, client.post(f"{API}/imports/url", json={"url": url}))
    assert job["state"] == "failed"
    assert "is not fetched" in job["message"]


def test_what_is_no_address_of_a_page_is_refused(client: TestClient) -> None:
    answer = client.post(f"{API}/imports/url", json={"url": "file:///etc/passwd"})
    assert answer.status_code == 422
    assert "must begin with http" in answer.json()["hint"]


def test_the_import_folder_has_no_way_out(client: TestClient, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text(html("Secret"), "utf-8")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "linked.html").write_text(html("Linked"), "utf-8")
    inside = folder / "import" / "pages"
    inside.mkdir(parents=True)
    (inside / "inner.html").write_text(html("Inner"), "utf-8")
    (inside / "way-out.html").symlink_to(tmp_path / "secret.html")
    (folder / "import" / "shared").symlink_to(tmp_path / "shared")  # the operator's own word
    entries = client.get(f"{API}/imports/folder").json()["entries"]
    assert [entry["name"] for entry in entries] == ["pages", "shared"]
    for name in ("../annotations.db", "..", ".", "", "/etc/passwd", "pages/inner.html", "pages/../../annotations.db"):
        answer = client.post(f"{API}/imports/folder", json={"name": name})
        assert answer.status_code == 422, name
    assert wait(client, client.post(f"{API}/imports/folder", json={"name": "pages"}))["added"] == 1
    assert wait(client, client.post(f"{API}/imports/folder", json={"name": "shared"}))["added"] == 1
    names = {page["name"] for page in client.get(f"{API}/pages?annotator=Ada").json()["pages"]}
    assert {"pages/inner.html", "shared/linked.html"} <= names
    assert "Secret" not in json.dumps(client.get(f"{API}/pages?annotator=Ada").json())


def test_the_rejects_of_a_corpus_are_read_from_archives_that_the_operator_allowed(
    client: TestClient, folder: Path, tmp_path: Path
) -> None:
    archive = folder / "import" / "crawl.jsonl"
    archive.parent.mkdir(exist_ok=True)
    archive.write_text(json.dumps({"id": "short", "html": html("Rejected once")}) + "\n", "utf-8")
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text(archive.read_text("utf-8"), "utf-8")
    for name, source in (("corpus", archive), ("foreign", elsewhere)):
        rejects = folder / "import" / name / "rejects"
        rejects.mkdir(parents=True)
        reject = {
            "reason": "length",
            "detail": "too short",
            "source": str(source),
            "position": 0,
            "id": "short",
            "url": None,
        }
        (rejects / "part-00000.jsonl").write_text(json.dumps(reject) + "\n", "utf-8")
    refused = wait(client, client.post(f"{API}/imports/folder", json={"name": "foreign"}))
    assert (refused["state"], refused["added"]) == ("failed", 0)
    assert "not in the import folder" in refused["message"]
    job = wait(client, client.post(f"{API}/imports/folder", json={"name": "corpus"}))
    assert job["added"] == 1, job
    pages = client.get(f"{API}/pages?annotator=Ada").json()["pages"]
    [page] = [page for page in pages if page["name"] == "short"]
    assert (page["note"], page["source"]) == ("rejected: length: too short", "crawl.jsonl#0")


def test_the_rejects_of_a_corpus_that_lies_beside_its_archive(
    client: TestClient, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"beside {number}", "html": html(f"Beside {number}")} for number in range(2)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    Path("lost.jsonl").write_text(json.dumps({"id": "lost", "html": html("Lost")}) + "\n", "utf-8")
    wanted = Job(method="density", filters=Filters(min_words=1000))
    build_corpus(["rows.jsonl", str(tmp_path / "lost.jsonl")], "beside", wanted, workers=1)
    into = folder / "import"
    into.mkdir(exist_ok=True)
    shutil.move("beside", into / "beside")
    refused = wait(client, client.post(f"{API}/imports/folder", json={"name": "beside"}))
    assert "lost.jsonl and others, which is not in the import folder" in refused["message"], refused
    shutil.move("rows.jsonl", into / "rows.jsonl")
    job = wait(client, client.post(f"{API}/imports/folder", json={"name": "beside"}))
    assert (job["state"], job["added"], job["rejected"]) == ("done", 2, 1), job
    [lost] = job["rejects"]
    assert lost["name"] == "lost"
    assert lost["why"].startswith("lost.jsonl#0: lost.jsonl was not found"), lost  # and no word on other folders


def test_an_upload_that_unpacks_to_too_much_is_stopped(client: TestClient) -> None:
    rows = [json.dumps({"id": f"bomb-{n}", "html": f"<p>{n}</p>" + " " * 250_000}) for n in range(12)]
    packed = gzip.compress("\n".join(rows).encode())
    assert len(packed) < 20_000
    job = upload(client, ("bomb.jsonl.gz", packed))
    assert (job["state"], job["added"]) == ("failed", 7)
    assert job["message"] == (
        "the upload unpacks to more than 2.0 MB; send less at once, put it into the import folder, or start the server "
        "with a larger --max-unpacked"
    )


def test_an_import_leaves_the_only_worker_to_others(tmp_path: Path) -> None:
    asked, free = threading.Event(), threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.set()
            free.wait(PATIENCE)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html("Slow").encode())

        def log_message(self, *_: object) -> None:
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=web.serve_forever).start()
    chosen = Settings(folder=tmp_path, workers=1, seconds=15, allow_private=True)
    try:
        with TestClient(make_app(chosen), base_url=ADDRESS) as client:
            url = f"http://127.0.0.1:{web.server_port}/"
            started = client.post(f"{API}/imports/url", json={"url": url})
            assert asked.wait(PATIENCE)  # the import is at work, and waits
            assert client.post("/api/clean", json={"html": html("Quick")}).status_code == 200
            assert client.get(f"{API}/imports/{started.json()['id']}").json()["state"] == "running"
            free.set()
            assert wait(client, started)["added"] == 1
    finally:
        free.set()
        web.shutdown()
        web.server_close()
